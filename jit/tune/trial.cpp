#include "jit/tune/trial.hpp"

#include <algorithm>

#include "jit/tune/median.hpp"

namespace jit {

void Trial::record(double seconds) {
  if (running_++ > 0) seconds_[way_].push_back(seconds);
  if (running_ <= kSamples) return;
  running_ = 0;
  if (++way_ < seconds_.size()) return;
  way_ = 0;
  if (--rounds_left_ > 0) return;
  const auto best =
      std::ranges::min_element(seconds_, {}, [](const std::vector<double>& of_way) { return median(of_way); });
  way_ = static_cast<std::size_t>(best - seconds_.begin());
}

}  // namespace jit
