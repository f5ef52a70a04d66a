// How many computations that share operands are carried on in turn.
#pragma once

#include <cstddef>
#include <vector>

namespace jit {

/// Solves for several right-hand sides read the links once if all take each step in turn, as long as what they touch meanwhile stays in the
/// caches. One after the other, each finds what it has just computed there. Which is better depends on the lattice and the machine:
/// all at once, fewer, and one after the other are timed with what the program does anyway. The least median wins.
class Turns {
 public:
  static constexpr int kSamples = 3;

  explicit Turns(std::size_t computations);

  /// So many at once, next time.
  std::size_t at_once() const { return candidates_[next_].at_once; }
  /// True while the times are wanted.
  bool trying() const { return candidates_.size() > 1; }
  /// Tells how long all of them took. The first time of a number is not counted: the caches have what another order left. While trying() only.
  void record(double seconds);

 private:
  struct Candidate {
    std::size_t at_once = 1;
    int runs = 0;
    std::vector<double> seconds = {};
  };

  std::vector<Candidate> candidates_;
  std::size_t next_ = 0;
};

}  // namespace jit
