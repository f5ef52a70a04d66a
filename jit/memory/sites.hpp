// Sites as the run time sees them: positions, groups of lanes, neighbour tables. What a site *means* is the layout's business.
//
// A position is p = group * lanes + lane. A position without a site (padding
// of lattices that do not fill their groups) has host index -1.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "jit/ir/lane_exchange.hpp"
#include "jit/memory/device_copy.hpp"
#include "jit/support/on_demand.hpp"

namespace jit {

/// A table as kernels see it. INVARIANT: tables do not change once a kernel has seen them.
template <class Entry>
const Entry* on_device(const std::vector<Entry>& table, const DeviceCopy& copy) {
  return static_cast<const Entry*>(copy.address(table.data(), table.size() * sizeof(Entry)));
}

/// The order of the sites of one rank's part of a lattice on a device. Groups of the even checkerboard come first.
struct SiteOrder {
  int lanes = 1;                         ///< sites per group
  std::int64_t sites = 0;                ///< real sites, without padding
  std::int64_t groups = 0;               ///< of both checkerboards
  std::int64_t first_odd = 0;            ///< group with which the odd checkerboard begins
  std::vector<std::int32_t> host_index;  ///< [groups * lanes]: index in host order, or -1
  std::vector<std::int32_t> position;    ///< [sites]: position of a host index
  DeviceCopy host_index_copy = {}, position_copy = {};
  const std::int32_t* host_index_on_device() const { return on_device(host_index, host_index_copy); }
  const std::int32_t* position_on_device() const { return on_device(position, position_copy); }
};

/// Table entries after the end that prefetching kernels may read (copies of valid entries).
constexpr int kTablePadding = 16;

/// A number that no other object of the process has or had; copies share it. What is derived from several tables is kept
/// under their numbers.
class Identity {
 public:
  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t next();
  std::uint64_t value_ = next();
};

/// What a map takes from other ranks.
struct OffRank {
  struct Source {
    std::int32_t position;  ///< of the target, here
    std::int32_t site;      ///< host index of the source, there
  };
  struct Partner {
    int rank;
    std::vector<Source> sources;
  };
  std::vector<Partner> from;  ///< ranks that this one takes from, none of them twice
  std::vector<int> to;        ///< ranks that take from this one
};

/// Where a field's value comes from under a shift or a user's map: target position -> source position.
class SiteMap {
 public:
  /// `sources`: [groups * lanes] source position of each target position, for padding any position.
  static SiteMap gathered(std::vector<std::int32_t> sources);
  /// For maps that take each group from one group: [groups] 2 * source group + wraps, where wrapping exchanges lanes.
  static SiteMap structured(std::vector<std::int32_t> group_sources, int lanes, LaneExchange exchange = {});

  /// What the tables cannot say: the entries of these targets are positions here, but not their sources. A map has
  /// this on all ranks, though perhaps with no source, or on none.
  void set_off_rank(OffRank sources) { off_rank_ = std::make_shared<const OffRank>(std::move(sources)); }
  const OffRank* off_rank() const { return off_rank_.get(); }
  const Identity& identity() const { return identity_; }

  bool is_structured() const { return !groups_.empty(); }
  LaneExchange exchange() const { return exchange_; }
  /// Position of one target's source, for which no table is made.
  std::int32_t source(std::int32_t position) const {
    if (groups_.empty()) return positions_[static_cast<std::size_t>(position)];
    const std::int32_t entry = groups_[static_cast<std::size_t>(position / lanes_)], lane = position % lanes_;
    return entry / 2 * lanes_ + (entry % 2 != 0 ? exchange_.source(lane) : lane);
  }
  /// As they were given, and kTablePadding entries more. Of structured maps the positions are made at the first call.
  const std::vector<std::int32_t>& sources() const { return groups_.empty() ? positions_ : derived_sources(); }
  const std::vector<std::int32_t>& group_sources() const { return groups_; }

  /// Of the tables made so far.
  std::size_t bytes() const;

  const std::int32_t* sources_on_device() const { return on_device(sources(), positions_copy_); }
  const std::int32_t* group_sources_on_device() const { return on_device(groups_, groups_copy_); }

 private:
  const std::vector<std::int32_t>& derived_sources() const;

  std::vector<std::int32_t> positions_, groups_;
  int lanes_ = 1;
  LaneExchange exchange_;
  OnDemand<std::vector<std::int32_t>> derived_;
  std::shared_ptr<const OffRank> off_rank_;
  Identity identity_;
  DeviceCopy positions_copy_, groups_copy_;
};

/// The sites that a statement covers: whole groups [begin, end), or a list of groups with masks of lanes.
struct Domain {
  bool listed = false;
  std::int64_t begin = 0, end = 0;  ///< range: groups; listed: [0, groups.size())
  std::vector<std::int32_t> groups;
  std::vector<std::uint64_t> masks;
  std::int64_t sites = 0;
  bool whole = false;  ///< every site of the lattice
  Identity identity = {};
  DeviceCopy groups_copy = {}, masks_copy = {};
  const std::int32_t* groups_on_device() const { return on_device(groups, groups_copy); }
  const std::uint64_t* masks_on_device() const { return on_device(masks, masks_copy); }
};

}  // namespace jit
