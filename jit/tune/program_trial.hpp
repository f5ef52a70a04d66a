// Whether another way of running one kernel is better for the program.
//
// What a kernel leaves in the caches, or drives out of them, the others gain or pay for: its own time does not tell. So its two ways take
// turns, some launches each, and what an average turn's launches of all kernels take at the times of each turn is compared. The trial goes
// on until the answer is clear, which the machine's noise decides.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace jit {

class ProgramTrial {
 public:
  /// A kernel in a class of sizes.
  using Id = std::pair<const void*, std::size_t>;
  /// Of the subject in a turn: what alternates between two or three things has as many of each.
  static constexpr int kLaunches = 6;
  static constexpr std::size_t kFewestPairs = 6, kMostPairs = 18;  ///< of turns, one of each way
  /// The other way is to save so much.
  static constexpr double kLess = 0.99;

  explicit ProgramTrial(Id subject) : subject_(subject) {}

  /// Whether the subject is to be launched the other way the next time.
  bool other() const { return trying() ? is_other(turn_) : other_is_better_; }
  bool trying() const { return !decided_; }
  /// The subject has not been launched for so long that nothing can be found out.
  bool is_lost() const { return trying() && since_subject_ > kMostBetween; }
  /// What the program takes the other way, of what it takes the first, so far.
  double ratio() const { return ratio_; }
  /// Tells how long a launch took, of the subject or of what runs beside it. While trying() only.
  void record(Id kernel, double seconds);

 private:
  static constexpr int kMostBetween = 1000;
  using Turn = std::map<Id, std::vector<double>>;  ///< the times of each kernel's launches

  /// The pairs begin with the one way and with the other: what gets slower all the time is no reason.
  static bool is_other(std::size_t turn) { return turn % 4 == 1 || turn % 4 == 2; }
  std::vector<double> ratios() const;
  void look();

  Id subject_;
  std::vector<Turn> turns_;
  std::size_t turn_ = 0;  ///< that the subject's next launch belongs to
  int launches_ = 0, since_subject_ = 0;
  bool decided_ = false, other_is_better_ = false;
  double ratio_ = 1;
};

}  // namespace jit
