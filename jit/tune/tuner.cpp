#include "jit/tune/tuner.hpp"

#include <algorithm>

namespace jit {

Tuner::Tuner(const TuningSpace& space) : try_streaming_(space.try_streaming), by_block_(!space.blocks.empty()) {
  if (by_block_) {
    for (const int block : space.blocks) {
      candidates_.push_back({space.start, 0, {}});
      candidates_.back().options.block = block;
    }
    return;
  }
  candidates_.push_back({space.start, 0, {}});
  for (const int distance : space.prefetch) {
    Configuration options = space.start;
    options.code.prefetch = distance;
    if (!(options == space.start)) candidates_.push_back({options, 0, {}});
  }
}

double Tuner::Candidate::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

int Tuner::best() const {
  int winner = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (candidates_[i].median() < candidates_[static_cast<std::size_t>(winner)].median()) winner = static_cast<int>(i);
  return winner;
}

/// Ends the trial of blocks, from the largest down, where each further one is slower still: the candidate just timed and
/// all smaller ones go if it is a third slower than a larger one.
void Tuner::drop_slow() {
  const auto present = static_cast<std::size_t>(next_);
  if (candidates_[present].seconds.empty()) return;
  for (std::size_t i = 0; i < present; ++i)
    if (!candidates_[i].seconds.empty() && candidates_[present].median() > kTooSlow * candidates_[i].median()) {
      candidates_.resize(present);
      return;
    }
}

bool Tuner::refuse() {
  candidates_.erase(candidates_.begin(), candidates_.begin() + next_ + 1);
  next_ = 0;
  return !candidates_.empty();
}

void Tuner::record(double seconds) {
  if (done_) return;
  Candidate& present = candidates_[static_cast<std::size_t>(next_)];
  if (present.launches++ > 0) present.seconds.push_back(seconds);
  if (by_block_) drop_slow();

  // In turn, so that a disturbance of the machine hits all alike.
  const auto least = std::min_element(candidates_.begin(), candidates_.end(),
                                      [](const Candidate& a, const Candidate& b) { return a.launches < b.launches; });
  next_ = static_cast<int>(least - candidates_.begin());
  if (least->launches <= kSamples) return;

  next_ = best();
  if (try_streaming_) {
    try_streaming_ = false;
    Candidate plain{candidates_[static_cast<std::size_t>(next_)].options, 0, {}};
    Candidate other = plain;
    other.options.code.streaming = !other.options.code.streaming;
    candidates_ = {plain, other};
    next_ = 0;
    return;
  }
  done_ = true;
}

}  // namespace jit
