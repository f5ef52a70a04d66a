#include "jit/tune/turns.hpp"

#include <algorithm>
#include <utility>

#include "jit/tune/median.hpp"

namespace jit {

Turns::Turns(std::size_t computations) {
  candidates_.push_back({.at_once = computations});
  for (const std::size_t fewer : {4, 2, 1})
    if (fewer < computations) candidates_.push_back({.at_once = fewer});
}

/// Each number some times running: what one leaves in the caches is for the next.
void Turns::record(double seconds) {
  Candidate& present = candidates_[next_];
  if (present.runs++ > 0) present.seconds.push_back(seconds);
  if (present.runs <= kSamples || ++next_ < candidates_.size()) return;
  Candidate best = *std::ranges::min_element(candidates_, {}, [](const Candidate& c) { return median(c.seconds); });
  candidates_.assign(1, std::move(best));
  next_ = 0;
}

}  // namespace jit
