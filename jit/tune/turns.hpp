// How many computations that share operands are carried on in turn.
#pragma once

#include <cstddef>
#include <vector>

#include "jit/tune/trial.hpp"

namespace jit {

/// Solves for several right-hand sides read the links once if all take each step in turn, as long as what they touch meanwhile stays in the
/// caches. One after the other, each finds what it has just computed there. Which is better depends on the lattice and the machine:
/// all at once, fewer, and one after the other are timed with what the program does anyway.
class Turns {
 public:
  explicit Turns(std::size_t computations);

  /// So many at once, next time.
  std::size_t at_once() const { return numbers_[trial_.way()]; }
  /// True while the times are wanted.
  bool trying() const { return trial_.trying(); }
  /// Tells how long all of them took. While trying() only.
  void record(double seconds) { trial_.record(seconds); }

 private:
  std::vector<std::size_t> numbers_;
  Trial trial_;
};

}  // namespace jit
