// The ranks of a job and their collective operations.
#pragma once

#include <cstddef>
#include <span>

namespace jit {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Every rank gets the element-wise sums over ranks. Blocks until done.
  virtual void sum(std::span<double> values) = 0;
  /// Every rank gets the bytes of `root`. Blocks until done. Throws UserError if there is no such rank.
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
};

/// The communicator of this process: a job of one rank.
Communicator& process_communicator();

}  // namespace jit
