// How many of several computations take their next step together.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "jit/tune/turns.hpp"

namespace QDP::detail {

/// Computations that read the same links take less time in turn, unless what they have written leaves the caches meanwhile. Rounds of all,
/// of fewer and of one are timed, a few of each; then the fastest goes on. On several ranks all take every step
/// together.
class Rounds {
 public:
  /// Whether times may decide. Ranks might decide differently.
  static bool choose();

  explicit Rounds(int computations);
  /// Before each round: how many of those under way are to take a step in it, the first ones. At least one, if any is.
  int next(int under_way);

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<jit::Turns> turns_;
  int rounds_ = 0;  ///< of the present sample
  Clock::time_point begin_ = {};
  std::int64_t unsettled_ = 0;  ///< launches so far that were not as they will be, when it began
};

}  // namespace QDP::detail
