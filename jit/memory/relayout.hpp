// Re-ordering of fields between host order [site][component] and device order [block][component][lane].
#pragma once

#include <functional>

#include "jit/device/device.hpp"
#include "jit/ir/type.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/sites.hpp"

namespace jit {

// Host order holds order.sites values of `components` words, device order order.groups * order.lanes of them. In device
// order the padding is zero, or keeps its zeros.

/// Between two arrays in host memory, by all threads of `host`; blocks until done.
void reorder_to_device_order(Device& host, const SiteOrder& order, ir::Type word, int components, const void* from,
                             void* to);
void reorder_to_host_order(Device& host, const SiteOrder& order, ir::Type word, int components, const void* from,
                           void* to);

/// Between an array of the host and a field's device side, which memory of `device` holds; `host` is the pool beside it
/// (Memory::host). On a device with memory of its own the device re-orders if it can and has room for a second copy,
/// else the host does. Throws DeviceError when there is no memory or a copy fails; `from` is then as it was.
void host_to_device(Memory& device, Memory& host, const SiteOrder& order, ir::Type word, int components,
                    const void* from, void* to);
void device_to_host(Memory& device, Memory& host, const SiteOrder& order, ir::Type word, int components,
                    const void* from, void* to);

/// One re-ordering on a device with memory of its own; both addresses are the device's.
struct DeviceReordering {
  Device& device;
  const SiteOrder& order;
  ir::Type word;
  int components;
  void* host_order;
  void* device_order;
  bool to_device_order;
};

/// Queues the re-ordering behind what the device has to do. False: it cannot, nothing has happened and the host does
/// it. INVARIANT: it runs in the middle of statements, so it launches on the device directly (no
/// Residency::begin_statement) and moves no field.
using DeviceReorder = std::function<bool(const DeviceReordering&)>;
/// From now on; empty: devices do not re-order.
void set_device_reorder(DeviceReorder reorder);

}  // namespace jit
