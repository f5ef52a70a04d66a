// What this machine can do: the yardstick of the profile.
#pragma once

#include "jit/device/device.hpp"

namespace jit {

/// Bytes per second of a[i] = b[i] + s c[i] in doubles with ordinary stores, arrays far larger than the caches, all host
/// threads of the device; 24 bytes counted per i. Best of a few passes; takes a fraction of a second.
/// 0 if there is no memory for the arrays.
double measure_triad(Device& device);

}  // namespace jit
