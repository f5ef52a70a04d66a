// Memory that the ranks of a job on one machine share: what one of them has made is there for the others.
//
// It has no name once all have opened it, so nothing is left behind, however processes end. At first it holds zeros. Pages are given
// when they are reserved: memory that is promised and not there would be a signal at the first write.
#pragma once

#include <cstddef>
#include <string>

#include "jit/support/file.hpp"

namespace jit {

class HostMemory {
 public:
  /// Makes it, for this user alone; `name` is what others open. Throws FileError.
  static HostMemory make(std::size_t bytes, std::string& name);
  /// Opens what another process of this user has made. Throws FileError.
  static HostMemory open(const std::string& name);
  /// Takes the name away.
  static void forget(const std::string& name) noexcept;

  HostMemory(HostMemory&& other) noexcept;
  ~HostMemory();

  std::byte* at(std::size_t byte) const { return memory_ + byte; }
  std::size_t size() const { return bytes_; }
  /// Whether these bytes may be written now: false if the machine has no more to give.
  bool reserve(std::size_t byte, std::size_t bytes) const noexcept;

 private:
  HostMemory(Descriptor file, std::size_t bytes, const std::string& name);

  Descriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// That of this process's job; nullptr: none.
HostMemory* memory_of_host();
/// For the start of a process. It stays to the end.
void use_memory_of_host(HostMemory memory);

}  // namespace jit
