// How a compiled kernel is called: the contract between code generators and the run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jit {

constexpr int kMaxLanes = 64;

/// One floating-point sum, exact in order (see sum.hpp for the arithmetic). One object per thread and reduction. Zeroed memory is an
/// empty one, of kMaxLanes lanes.
struct alignas(64) SumAccumulator {
  double limit;        ///< 2^(top-1): |x| >= limit (or NaN) takes the slow path. 0 before the first summand.
  double extract[3];   ///< 1.5 * 2^(top - 28 (k+1) + 52): adding and subtracting rounds to the level's unit
  double special;      ///< plain sum of infinities and NaN
  std::int64_t top;    ///< multiple of 28
  std::int64_t lanes;  ///< that are in use, a multiple of four, from the first; 0: all of them
  /// Partial sums per lane: multiples of 2^(top-28), 2^(top-56), 2^(top-84). Undefined while limit is 0.
  double level[3][kMaxLanes];
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

/// Finished code as its device knows it: a KernelFunction of the CPU, a SimtFunction, a handle of a GPU's driver.
using KernelCode = const void*;

// ---- kernels of one thread per site (GPUs) --------------------------------------------------------------------------
//
// Parameters, 8 bytes each and in this order (the "packet"): addresses of the fields [leaves] and of the tables
// [slots - 1], scalars [arguments], addresses of groups and masks (if it is listed), of sums and results and
// the launch's number, not 0 (kernels with reductions only), begin, end. Code for s sites per thread: thread t of the
// launch handles positions begin * lanes + t * s + 0..s-1, or (s = 1) in a listed domain lane t % lanes of entry
// begin + t / lanes, up to `end`. In kernels with reductions, which are launched with few blocks, it goes on beyond the
// last thread of the grid; others need at least one thread per s positions.
//
// Sums and results are a SumHeader with SumBins [reductions] behind it. Threads add to the sums, in device memory, all
// zero before the launch. A block (on the host: a call of the SimtFunction) that has added all it has adds the number
// of its threads to the mark. The block that completes the launch's threads moves the bins to the results, which are in
// memory of the device or of the host that the device can write, leaves zeros for the next launch, and at last sets the
// mark of the results to the launch's number: who reads that may read the bins.

/// What stands before the bins.
struct SumHeader {
  std::uint64_t mark;
  std::uint64_t unused[7];  ///< the mark's cache line has nothing else: the host polls it while bins arrive
};

/// One reduction of such a kernel, all bits zero before the first summand: the exact sum as integers (sum.hpp), so that
/// threads may add in any order.
struct SumBins {
  std::uint64_t top;  ///< (top + 980) / 28 for the smallest multiple of 28 with |x| < 2^(top-1), the largest of all x
  std::uint64_t special;  ///< bit 0: a NaN, bit 1: +infinity, bit 2: -infinity was among the summands
  std::uint64_t
      extremum;  ///< max: ordered_bits(x) of the largest; min: ~ordered_bits(x) of the smallest; NaN are left out
  std::int64_t bin[75];  ///< bin[i]: the summands' digits of weight 2^(28 i - 1064), added up
};

constexpr std::size_t bytes_of_sums(std::size_t reductions) { return sizeof(SumHeader) + reductions * sizeof(SumBins); }
inline SumBins* bins_behind(SumHeader* header) { return reinterpret_cast<SumBins*>(header + 1); }

/// Doubles as integers in the same order, none of them 0.
constexpr std::uint64_t ordered_bits(std::uint64_t bits) {
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
constexpr std::uint64_t from_ordered_bits(std::uint64_t ordered) {
  return (ordered >> 63) != 0 ? ordered & ~(std::uint64_t{1} << 63) : ~ordered;
}

/// Such a kernel on the host: runs threads [first, last) of `threads` one after the other.
using SimtFunction = void (*)(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads);

/// Called by kernels when a block of `lanes` summands does not fit the accumulator's present window; adds them all.
extern "C" void tessera_sum_slow(SumAccumulator* acc, const double* x, int lanes);

}  // namespace jit
