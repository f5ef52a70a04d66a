// How a compiled kernel is called: the contract between code generators and the run time.
#pragma once

#include <cstdint>

namespace jit {

constexpr int kMaxLanes = 64;

/// One floating-point sum, exact in order (see sum.hpp for the arithmetic). One object per thread and reduction.
struct alignas(64) SumAccumulator {
  double level[3][kMaxLanes];  ///< partial sums per lane: multiples of 2^(top-28), 2^(top-56), 2^(top-84)
  double extract[3];           ///< 1.5 * 2^(top - 28 (k+1) + 52): adding and subtracting rounds to the level's unit
  double limit;                ///< 2^top: |x| >= limit (or NaN) takes the slow path. 0 before the first summand.
  double special;              ///< plain sum of infinities and NaN
  std::int64_t top;            ///< multiple of 28
  double extremum[kMaxLanes];  ///< max/min reductions use this only
};

struct LaunchArguments {
  void* const* fields;                ///< [leaves] device addresses
  const std::int32_t* const* tables;  ///< [slots], entry 0 unused
  const std::uint64_t* scalars;       ///< [arguments] bit pattern in the low bytes
  const std::int32_t* groups;         ///< [n] listed domains: group numbers
  const std::uint64_t* masks;         ///< [n] listed domains: bit l = lane l takes part
  SumAccumulator* sums;               ///< [reductions] of this thread
};

/// Runs groups [begin, end) of a range domain, or list entries [begin, end) of a listed one. Thread safe.
using KernelFunction = void (*)(const LaunchArguments*, std::int64_t begin, std::int64_t end);

/// Called by kernels when a block of `lanes` summands does not fit the accumulator's present window; adds them all.
extern "C" void tessera_sum_slow(SumAccumulator* acc, const double* x, int lanes);

}  // namespace jit
