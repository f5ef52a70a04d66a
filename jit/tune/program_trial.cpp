#include "jit/tune/program_trial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "jit/tune/median.hpp"

namespace jit {

/// A turn ends with the next one's first launch, which reads what the other way has left: it counts for neither.
void ProgramTrial::record(Id kernel, double seconds) {
  if (kernel != subject_) {
    ++since_subject_;
    if (turns_.empty()) return;
  } else {
    since_subject_ = 0;
    if (launches_++ == 0) {
      if (turn_ >= 2 * kFewestPairs && turn_ % 4 == 0) look();
      if (trying()) turns_.emplace_back();
      return;
    }
    if (launches_ == kLaunches) {
      launches_ = 0;
      ++turn_;
    }
  }
  turns_.back()[kernel].push_back(seconds);
}

/// Decides, if it can. The middle half of the pairs counts; two and a half times its error, from their median deviation, is doubt.
void ProgramTrial::look() {
  std::vector<double> all = ratios();
  std::ranges::sort(all);
  const std::span<const double> middle = std::span(all).subspan(all.size() / 4, all.size() - 2 * (all.size() / 4));
  ratio_ = std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
  std::vector<double> deviations;
  for (const double one : all) deviations.push_back(std::abs(one - ratio_));
  constexpr double kError = 1.1 * 1.48;  // of normal deviates, in median deviations, times the root of their number
  const double doubt = 2.5 * kError * median(deviations) / std::sqrt(static_cast<double>(all.size()));
  other_is_better_ = ratio_ < kLess && ratio_ + doubt < 1;
  decided_ = other_is_better_ || ratio_ - doubt > kLess || all.size() >= kMostPairs;
}

/// The other way's cost over the first one's in each pair of turns, whose neighbours have the state of the machine in common. Of kernels
/// that were launched in all turns, by the medians of their times.
std::vector<double> ProgramTrial::ratios() const {
  std::vector<std::pair<Id, double>> weights;
  for (const auto& [kernel, times] : turns_.front()) {
    std::size_t launches = 0;
    const bool always = std::ranges::all_of(turns_, [&](const Turn& turn) {
      const auto found = turn.find(kernel);
      if (found != turn.end()) launches += found->second.size();
      return found != turn.end();
    });
    if (always) weights.emplace_back(kernel, launches);
  }
  const auto cost = [&](const Turn& turn) {
    double seconds = 0;
    for (const auto& [kernel, weight] : weights) seconds += weight * median(turn.at(kernel));
    return seconds;
  };
  std::vector<double> ratios;
  for (std::size_t t = 0; t + 1 < turns_.size(); t += 2) {
    const double ratio = cost(turns_[t + 1]) / cost(turns_[t]);
    ratios.push_back(is_other(t) ? 1 / ratio : ratio);
  }
  return ratios;
}

}  // namespace jit
