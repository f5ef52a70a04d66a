// How the programs of scripts/peers take a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace peers {

inline double budget = 0.2;  ///< seconds for a case

template <class Work>
double seconds_once(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median of samples that take long enough to be timed.
template <class Work>
double seconds_of(Work work) {
  constexpr int kSamples = 9;
  const auto timed = [&](long repeats) {
    return seconds_once([&] {
      for (long n = 0; n < repeats; ++n) work();
    });
  };
  for (double warm = 0; warm < budget;) warm += timed(1);  // compiles and tunes, if it is a language that does
  long repeats = 1;
  while (timed(repeats) < budget / kSamples) repeats *= 2;
  std::vector<double> samples;
  for (int n = 0; n < kSamples; ++n) samples.push_back(timed(repeats) / static_cast<double>(repeats));
  return median(samples);
}

/// The line of a case, which may stand behind something that the library has begun to print.
inline void tell(const char* name, const char* precision, double seconds) {
  std::printf("\n%s %s %.9g\n", name, precision, seconds);
  std::fflush(stdout);
}

}  // namespace peers
