// Time in ticks: two readings around every launch must not cost more than a few nanoseconds.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace jit {

/// Ticks of a clock with a constant rate.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Seconds per tick: measured against the system's clock since start_clock(), to 1e-6 after a second. `now`: a reading just taken.
double seconds_per_tick(std::uint64_t now = ticks());
/// Sets the origin of that measurement; called once when the run time starts.
void start_clock();

}  // namespace jit
