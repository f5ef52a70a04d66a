// Re-ordering of fields between host order [site][component] and device order [block][component][lane].
#pragma once

#include <array>

#include "jit/device/device.hpp"
#include "jit/ir/type.hpp"
#include "jit/runtime/sites.hpp"

namespace jit {

/// The groups [begin, end) cut at the middle of an order of `groups` groups: its halves are the checkerboards, and a
/// thread that has the same share of each works in one region of space, on the memory that it touched first.
inline std::array<Range, 2> halves(std::int64_t groups, std::int64_t begin, std::int64_t end) {
  const std::int64_t middle = groups / 2;
  const std::int64_t cut = begin > middle ? begin : end < middle ? end : middle;
  return {Range{begin, cut}, Range{cut, end}};
}

/// Both sides hold order.sites (host) or order.groups * order.lanes (device) values of `components` words.
/// Padding of the device side is set to zero. All threads work; blocks until done.
void host_to_device(Device& device, const SiteOrder& order, ir::Type word, int components, const void* host, void* image);
void device_to_host(Device& device, const SiteOrder& order, ir::Type word, int components, const void* image, void* host);

}  // namespace jit
