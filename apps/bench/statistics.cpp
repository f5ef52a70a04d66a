#include "apps/bench/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/runtime.hpp"

namespace bench {
namespace {

/// On the rank that takes longest, which all ranks learn: they repeat the work as often.
double seconds_for(const std::function<void(long)>& work, long repeats) {
  const auto start = std::chrono::steady_clock::now();
  work(repeats);
  jit::Runtime::instance().synchronize();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  jit::reduce(jit::process_communicator(), std::span(&seconds, 1), jit::ReductionValue::Kind::max);
  return seconds;
}

}  // namespace

Timing measure(const std::function<void(long)>& work, double min_seconds) {
  constexpr long kWarmup = 20;
  constexpr double kLongestTuning = 10;  // times min_seconds
  const double sample_seconds = min_seconds / kSamples;
  const jit::Runtime& runtime = jit::Runtime::instance();

  work(1);  // compiles
  double warmup_seconds = 0;
  bool tuning = true;
  for (long done = 0;
       tuning ? warmup_seconds < kLongestTuning * min_seconds : done < kWarmup && warmup_seconds < min_seconds;
       ++done) {
    const std::int64_t trials = runtime.trials();
    warmup_seconds += seconds_for(work, 1);
    tuning = jit::any_of(jit::process_communicator(), runtime.trials() > trials);
  }

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
