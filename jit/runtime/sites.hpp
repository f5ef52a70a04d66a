// Sites as the run time sees them: positions, groups of lanes, neighbour tables. What a site *means* is the layout's business.
//
// A position is p = group * lanes + lane. Groups of the even checkerboard come first. A position without a site (padding
// of lattices that do not fill their groups) has host index -1.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/memory/device_copy.hpp"

namespace jit {

/// A table as kernels see it. INVARIANT: tables do not change once a kernel has seen them.
template <class Entry>
const Entry* on_device(const std::vector<Entry>& table, const DeviceCopy& copy) {
  return static_cast<const Entry*>(copy.address(table.data(), table.size() * sizeof(Entry)));
}

/// The order of the sites of one rank's lattice on a device.
struct SiteOrder {
  int lanes = 1;           ///< sites per group
  std::int64_t sites = 0;  ///< real sites, without padding
  std::int64_t groups = 0;
  std::vector<std::int32_t> host_index;  ///< [groups * lanes]: index in host order, or -1
  std::vector<std::int32_t> position;    ///< [sites]: position of a host index
  DeviceCopy host_index_copy = {}, position_copy = {};
  const std::int32_t* host_index_on_device() const { return on_device(host_index, host_index_copy); }
  const std::int32_t* position_on_device() const { return on_device(position, position_copy); }
};

/// Where a field's value comes from under a shift or a user's map: target position -> source position.
struct SiteMap {
  /// [groups * lanes] source position of each target position (padding: itself), plus kTablePadding entries.
  std::vector<std::int32_t> source;
  /// Structured maps: [groups + kTablePadding] 2 * source group + wraps; wrapping exchanges lanes l -> l ^ lane_xor. Else empty.
  std::vector<std::int32_t> group_source;
  int lane_xor = 0;
  DeviceCopy source_copy = {}, group_source_copy = {};
  const std::int32_t* source_on_device() const { return on_device(source, source_copy); }
  const std::int32_t* group_source_on_device() const { return on_device(group_source, group_source_copy); }
  bool structured() const { return !group_source.empty(); }
};

/// Table entries after the end that prefetching kernels may read (copies of valid entries).
constexpr int kTablePadding = 16;

/// The sites that a statement covers: whole groups [begin, end), or a list of groups with masks of lanes.
struct Domain {
  bool listed = false;
  std::int64_t begin = 0, end = 0;  ///< range: groups; listed: [0, groups.size())
  std::vector<std::int32_t> groups;
  std::vector<std::uint64_t> masks;
  std::int64_t sites = 0;
  bool whole = false;  ///< every site of the lattice
  DeviceCopy groups_copy = {}, masks_copy = {};
  const std::int32_t* groups_on_device() const { return on_device(groups, groups_copy); }
  const std::uint64_t* masks_on_device() const { return on_device(masks, masks_copy); }
};

}  // namespace jit
