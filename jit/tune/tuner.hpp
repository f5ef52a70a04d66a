// Choice among variants of a kernel by timing the launches that the program makes anyway (design D9).
//
// Variants take turns, a few samples each; the best median wins. What is open comes in rounds: on the CPU first distances
// of prefetching, then streaming stores against plain ones at the best distance; on a GPU sizes of blocks, from the
// largest that launches down, each for as long as it is not a third slower than the best. Every variant gives the same
// bits.
#pragma once

#include <vector>

#include "jit/codegen/codegen.hpp"

namespace jit {

/// How a kernel is run: the options of its code, and the threads per block (GPU; 0: there is no such choice).
struct Configuration {
  CodeOptions code = {};
  int block = 0;
  bool operator==(const Configuration&) const = default;
};

/// The knobs that are open for a statement.
struct TuningSpace {
  Configuration start = {};            ///< the model's choice
  std::vector<int> prefetch = {};      ///< further distances to try
  bool try_streaming = false;          ///< whether the other kind of stores may be tried
  std::vector<int> blocks = {};        ///< sizes to try, largest first
  /// True if there is nothing to choose.
  bool settled() const { return prefetch.empty() && !try_streaming && blocks.size() < 2; }
};

class Tuner {
 public:
  static constexpr int kSamples = 5;
  static constexpr double kTooSlow = 4.0 / 3;  ///< QDP-JIT paper, section VII

  explicit Tuner(const TuningSpace& space);

  /// The variant for the next launch.
  const Configuration& options() const { return candidates_[static_cast<std::size_t>(next_)].options; }
  /// Tells how long that launch took. The first launch of a variant is not counted: its code and pages are cold.
  void record(double seconds);
  /// Tells that the device refused that launch: its block and larger ones are out. False if nothing smaller is left.
  bool refuse();
  bool done() const { return done_; }

 private:
  struct Candidate {
    Configuration options;
    int launches = 0;
    std::vector<double> seconds;
    double median() const;
  };

  int best() const;
  void drop_slow();

  std::vector<Candidate> candidates_;
  int next_ = 0;
  bool try_streaming_;
  bool by_block_;
  bool done_ = false;
};

}  // namespace jit
