// What may be tried for a kernel, and in which order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jit/tune/configuration.hpp"

namespace jit {

/// What is tried against the best so far.
struct Round {
  std::function<std::vector<Configuration>(const Configuration& best)> alternatives;
  bool compiles = true;   ///< they are other code: tried only once the kernel has used more time than that costs
  bool by_block = false;  ///< they differ in the size of blocks: in descending order, which ends where it gets slow
};

/// The knobs that are open for a kernel.
///
/// A GPU's blocks come first, as in the QDP-JIT paper (section VII): they cost no compilation, and the largest may not
/// launch. Then code, one knob at a time: prefetching, sites per thread, streaming, bounds on registers, LLVM's. Code that
/// takes other registers may want other blocks: those beside the best come last.
struct TuningSpace {
  Configuration start = {};        ///< the model's choice
  std::vector<int> blocks = {};    ///< sizes to try, largest first, with that of `start`
  std::vector<int> prefetch = {};  ///< distances to try
  bool try_passing = false;        ///< whether short distances are tried into the nearest cache, too
  std::vector<int> sites = {};     ///< numbers per thread to try, ascending
  bool try_streaming = false;      ///< whether streaming is tried if the start has none, or the reverse
  bool try_optimised = false;      ///< whether LLVM's code is tried, too
  /// Bounds on the registers per thread that are worth trying, given the best so far, widest first; empty: none.
  std::function<std::vector<int>(const Configuration& best)> registers = {};

  /// More sites and tighter bounds are tried only where fewer and wider ones have won.
  bool thrifty = false;

  /// True if there is nothing to choose.
  bool settled() const;
  std::vector<Round> rounds() const;
  /// One line per knob: results are for spaces of the same text.
  std::string text() const;
};

}  // namespace jit
