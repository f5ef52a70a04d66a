// Fields re-ordered by the device that holds them: kernels, made once per word and number of components.
#pragma once

#include <functional>

#include "jit/codegen/codegen.hpp"
#include "jit/device/device.hpp"

namespace jit {

/// For kernels that treat all components of a field alike: how many a trip takes. They divide the number of components
/// and are few, so that the code for a propagator is that for a few words.
int components_per_trip(int components);

/// Threads per block of kernels that the run time launches for itself: small ones, that any GPU takes.
constexpr int kServiceBlock = 128;

/// Lets a device with memory of its own re-order between host order and device order (memory/relayout.hpp). Both outlive
/// every field. What the compiler or the device refuses, the host does.
void reorder_on_device(Device& device, std::function<Compiler&()> compiler);

/// The kernel: word c of each position, for all `components`, from one order to the other. Leaf 0 is written, leaf 1 read,
/// through slot 1: to device order `SiteOrder::host_index`, to host order `SiteOrder::position`.
ir::Kernel reorder_kernel(int lanes, ir::Type word, int components, bool to_device_order);

}  // namespace jit
