// Choice among variants of a kernel by timing the launches that the program makes anyway (design D9).
//
// Variants take turns, a few samples each; the best median wins. Distances of prefetching are compared first, then
// streaming stores are compared with plain ones at the best distance. Every variant gives the same bits.
#pragma once

#include <vector>

#include "jit/codegen/codegen.hpp"

namespace jit {

/// The knobs that are open for a statement.
struct TuningSpace {
  CodeOptions start;                   ///< the model's choice
  std::vector<int> prefetch;           ///< further distances to try
  bool try_streaming = false;          ///< whether the other kind of stores may be tried
};

class Tuner {
 public:
  static constexpr int kSamples = 5;

  explicit Tuner(const TuningSpace& space);

  /// The variant for the next launch.
  const CodeOptions& options() const { return candidates_[static_cast<std::size_t>(next_)].options; }
  /// Tells how long that launch took. The first launch of a variant is not counted: its code and pages are cold.
  void record(double seconds);
  bool done() const { return done_; }

 private:
  struct Candidate {
    CodeOptions options;
    int launches = 0;
    std::vector<double> seconds;
    double median() const;
  };

  int best() const;

  std::vector<Candidate> candidates_;
  int next_ = 0;
  bool try_streaming_;
  bool done_ = false;
};

}  // namespace jit
