// Which of several ways to the same bits is the fastest, from the times of what the program does anyway.
#pragma once

#include <cstddef>
#include <vector>

namespace jit {

/// The ways take turns, some times running each: what one leaves in the caches is for the next, so the first of them is not counted. The
/// least median wins.
class Trial {
 public:
  static constexpr int kSamples = 3;

  /// `rounds`: how often each way comes on. More of them outlast what else the machine is at.
  explicit Trial(std::size_t ways, int rounds = 1) : seconds_(ways), rounds_left_(ways > 1 ? rounds : 0) {}

  /// The way for the next time.
  std::size_t way() const { return way_; }
  /// True while the times are wanted.
  bool trying() const { return rounds_left_ > 0; }
  /// Tells how long the way took. While trying() only.
  void record(double seconds);

 private:
  std::vector<std::vector<double>> seconds_;  ///< [way]
  int rounds_left_;
  std::size_t way_ = 0;
  int running_ = 0;  ///< times that it has run since it came on
};

}  // namespace jit
