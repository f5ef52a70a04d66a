// What this machine can do: the yardstick of the profile.
#pragma once

#include "jit/codegen/codegen.hpp"
#include "jit/device/device.hpp"

namespace jit {

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
