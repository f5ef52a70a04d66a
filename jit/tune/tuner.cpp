#include "jit/tune/tuner.hpp"

#include <algorithm>
#include <cstdio>

#include "jit/tune/median.hpp"

namespace jit {

Tuner::Tuner(const TuningSpace& space, const TuningProgress& progress) : rounds_(space.rounds()), best_(space.start) {
  if (progress.rounds > 0) {
    round_ = std::min(static_cast<std::size_t>(progress.rounds), rounds_.size());
    best_ = progress.best;
    best_seconds_ = progress.seconds;
  }
  enter_round();
}

double Tuner::Candidate::median() const { return jit::median(seconds); }

double Tuner::Candidate::fastest() const { return *std::min_element(seconds.begin(), seconds.end()); }

/// The next round that has something to try; none if the tuner must rest before it, or is done.
void Tuner::enter_round() {
  for (; round_ < rounds_.size(); ++round_) {
    const Round& round = rounds_[round_];
    if (round.compiles && !may_compile_) return;
    candidates_.push_back({best_, 0, {}});
    for (const Configuration& other : round.alternatives(best_))
      if (!(other == best_)) candidates_.push_back({other, 0, {}});
    if (round.by_block)
      std::stable_sort(candidates_.begin(), candidates_.end(),
                       [](const Candidate& a, const Candidate& b) { return a.options.block > b.options.block; });
    next_ = 0;
    if (candidates_.size() > 1) return;
    candidates_.clear();
  }
}

void Tuner::go_on() {
  may_compile_ = true;
  enter_round();
}

void Tuner::record(double seconds) {
  Candidate& present = candidates_[next_];
  if (present.launches++ > 0) present.seconds.push_back(seconds);
  if (rounds_[round_].by_block) drop_slow();
  take_turns();
}

bool Tuner::refuse() {
  note(candidates_[next_]);
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(next_));
  if (candidates_.empty()) return false;
  take_turns();
  return true;
}

/// In turn, so that a disturbance of the machine hits all alike.
void Tuner::take_turns() {
  const auto least = std::min_element(candidates_.begin(), candidates_.end(),
                                      [](const Candidate& a, const Candidate& b) { return a.launches < b.launches; });
  next_ = static_cast<std::size_t>(least - candidates_.begin());
  const bool alone =
      candidates_.size() == 1 && best_seconds_ > 0;  // its time is known, and there is nothing to compare
  if (least->launches > kSamples || alone) end_round();
}

void Tuner::end_round() {
  const auto sampled = [](const Candidate& c) { return !c.seconds.empty(); };
  const auto faster = [&](const Candidate& a, const Candidate& b) {
    return sampled(a) && (!sampled(b) || a.median() < b.median());
  };
  const Candidate& winner = *std::min_element(candidates_.begin(), candidates_.end(), faster);
  best_ = winner.options;
  if (sampled(winner)) best_seconds_ = winner.median();
  for (const Candidate& candidate : candidates_) note(candidate);
  candidates_.clear();
  ++round_;
  enter_round();
}

/// From the largest block down each further one is slower still: the candidate just timed and all smaller ones go if it
/// is a third slower than a larger one. Its better of two samples counts, so that one disturbance ends no trial.
void Tuner::drop_slow() {
  const Candidate& present = candidates_[next_];
  if (present.seconds.size() < 2) return;
  for (std::size_t i = 0; i < next_; ++i)
    if (!candidates_[i].seconds.empty() && present.fastest() > kTooSlow * candidates_[i].fastest()) {
      for (std::size_t slow = next_; slow < candidates_.size(); ++slow) note(candidates_[slow]);
      candidates_.resize(next_);
      return;
    }
}

void Tuner::note(const Candidate& candidate) {
  const std::string words = describe(candidate.options);
  char time[32] = "no sample";
  if (!candidate.seconds.empty()) std::snprintf(time, sizeof time, "%.4g us", 1e6 * candidate.median());
  report_ += (report_.empty() ? "" : "; ") + (words.empty() ? "plain" : words) + " " + time;
}

}  // namespace jit
