// The device that this process computes on.
#pragma once

#include "jit/device/device.hpp"

namespace jit {

/// The device that TESSERA_DEVICE asks for, opened at the first call and never closed: of the list the first that is
/// there; without a list the first GPU, or the CPU. Throws DeviceError if none of the wanted devices is there.
Device& process_device();

}  // namespace jit
