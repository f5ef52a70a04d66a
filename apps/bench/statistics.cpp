#include "apps/bench/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace bench {
namespace {

double seconds_for(const std::function<void(long)>& work, long repeats) {
  const auto start = std::chrono::steady_clock::now();
  work(repeats);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Timing measure(const std::function<void(long)>& work, double min_seconds) {
  constexpr long kWarmup = 20;  // more launches than the tuner needs to settle
  const double sample_seconds = min_seconds / kSamples;

  work(1);  // compiles
  double warmup_seconds = 0;
  for (long done = 0; done < kWarmup && warmup_seconds < min_seconds; ++done) warmup_seconds += seconds_for(work, 1);

  long repeats = 1;
  for (double seconds = seconds_for(work, repeats); seconds < sample_seconds; seconds = seconds_for(work, repeats)) {
    const double wanted = 1.2 * static_cast<double>(repeats) * sample_seconds / std::max(seconds, 1e-9);
    repeats = std::max(repeats + 1, static_cast<long>(std::min(wanted, 100.0 * static_cast<double>(repeats))));
  }

  std::array<double, kSamples> samples;
  for (double& sample : samples) sample = seconds_for(work, repeats) / static_cast<double>(repeats);
  std::sort(samples.begin(), samples.end());
  const double median = samples[kSamples / 2];
  return {.seconds = median, .spread = (samples[3 * kSamples / 4] - samples[kSamples / 4]) / median};
}

}  // namespace bench
