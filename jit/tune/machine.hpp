// What this machine can do: the yardstick of the profile.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/device/device.hpp"

namespace jit {

/// Reading so many bytes again and again, at this rate.
struct ReadingRate {
  std::size_t bytes;
  double rate;  ///< bytes per second
};

/// The largest working set of these, which grow, that is read clearly faster than the last two; the first if none is.
std::size_t knee_of(std::span<const ReadingRate> rates);

/// What all threads of a device without memory of its own read again and again: sets of 1 MiB per thread and more, each twice the one
/// before. So what its caches hold. Measured in a third of a second, since what the system reports may be another machine's share (design
/// D19).
std::vector<ReadingRate> measure_reading(Device& device);

/// Bytes per second of a[i] = b[i] + s c[i] in doubles with ordinary stores, arrays far larger than the caches, all
/// threads of the device; 24 bytes counted per i. Best of a few passes; takes a fraction of a second. On a GPU the same
/// statement as a kernel, at its best block size. 0 if there is no memory for the arrays.
double measure_bandwidth(Device& device, Compiler& compiler);

/// Bytes per second, read and written, of the device's own copies of memory too large for its caches. Best of a few; 0
/// if there is no memory for them.
double measure_copies(Device& device);

/// Floating-point operations per second of independent fused multiply-adds of f32 or f64 words in registers, 2 each, by a
/// kernel on all threads of the device.
double measure_arithmetic(Device& device, Compiler& compiler, ir::Type word);

}  // namespace jit
