// What a suite runs in: a lattice, a precision, a thread count, and a place for its results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/record.hpp"

namespace bench {

struct Options {
  std::vector<std::vector<int>> lattices;
  std::vector<Precision> precisions;
  std::vector<int> threads;
  std::string device;
  double min_seconds = 0.5;        ///< per case, all samples together
  std::string json_file;           ///< empty: none
  std::string folder = ".";        ///< where the suite io has its file
  std::vector<std::string> cases;  ///< those that are measured; none: all
};

/// Counted work of a statement, per site it writes or sums over.
struct Work {
  double flops = 0;
  double words = 0;           ///< each operand once, result once
  double share_of_sites = 1;  ///< of the lattice: 0.5 on a checkerboard
};

class Session {
 public:
  virtual ~Session() = default;
  /// A case of a suite: runs the statement in a way that is the session's business (timing it, looking at its kernels).
  virtual void run(const std::string& name, const Work& work, const std::function<void()>& statement) = 0;
  /// The same, where the statement needs values of other ranks: also what its messages cost.
  virtual void run_on_ranks(const std::string& name, const Work& work, const std::function<void()>& statement) {
    run(name, work, statement);
  }
};

/// Creates the lattice; fields of the one before must be gone.
void create_lattice(const std::vector<int>& extents);

/// Number of threads for kernels and for loops of the program itself.
void set_threads(int threads);

}  // namespace bench
