// Repeating a piece of work until its time is known: warm-up, calibration, samples, median and spread.
#pragma once

#include <functional>

namespace bench {

struct Timing {
  double seconds = 0;  ///< median over the samples, per execution
  double spread = 0;   ///< interquartile range over the median
};

inline constexpr int kSamples = 11;

/// Collective. Times `work(n)`, which executes its subject n times in a row. Every sample repeats it often enough that all samples
/// together last `min_seconds`. The first executions (compilation, tuning, page faults) are not counted.
Timing measure(const std::function<void(long repeats)>& work, double min_seconds);

}  // namespace bench
