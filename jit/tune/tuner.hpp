// Choice among variants of a kernel by timing the launches that the program makes anyway (design D9).
//
// In each round (space.hpp) the best so far and its alternatives take turns, a few samples each; the best median wins.
// Before the first round of alternatives that must be compiled the tuner rests, until it is told that the kernel has
// used enough time for that to pay. Every variant gives the same bits.
#pragma once

#include <string>
#include <vector>

#include "jit/tune/space.hpp"

namespace jit {

class Tuner {
 public:
  static constexpr int kSamples = 5;
  static constexpr double kTooSlow = 4.0 / 3;  ///< QDP-JIT paper, section VII

  /// Goes on from where an earlier tuner of the same space had come to.
  explicit Tuner(const TuningSpace& space, const TuningProgress& progress = {});

  /// The variant for the next launch.
  const Configuration& options() const { return trying() ? candidates_[next_].options : best_; }
  /// True while the times of launches are wanted; else the tuner rests or is done.
  bool trying() const { return !candidates_.empty(); }
  bool done() const { return !trying() && round_ == rounds_.size(); }

  /// Tells how long the launch of options() took. The first launch of a variant is not counted: its code and pages are
  /// cold. While trying() only.
  void record(double seconds);
  /// Tells that options() cannot be launched, or are not worth it: the variant drops out. While trying() only. False if
  /// none is left; then nothing more may be asked.
  bool refuse();
  /// Ends the rest.
  void go_on();

  /// The rounds that are over and what they found.
  TuningProgress progress() const { return {best_, static_cast<int>(round_), best_seconds_}; }
  /// What was tried, and the median time of each in microseconds.
  const std::string& report() const { return report_; }

 private:
  struct Candidate {
    Configuration options;
    int launches = 0;
    std::vector<double> seconds;
    double median() const;
    double fastest() const;
  };

  void enter_round();
  void take_turns();
  void end_round();
  void drop_slow();
  void note(const Candidate& candidate);

  std::vector<Round> rounds_;
  std::size_t round_ = 0;  ///< the present one, or the next
  bool may_compile_ = false;
  Configuration best_;
  double best_seconds_ = 0;
  std::vector<Candidate> candidates_;
  std::size_t next_ = 0;
  std::string report_;
};

}  // namespace jit
