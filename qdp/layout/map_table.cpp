#include "qdp/layout/map_table.hpp"

#include <atomic>

namespace QDP::detail {

namespace {

/// Entries past the end that prefetching kernels may read.
void pad(std::vector<std::int32_t>& table) { table.insert(table.end(), jit::kTablePadding, table.back()); }

/// Fills group_source and lane_xor if the map is structured. Lanes without a site take part in nothing.
void find_structure(const jit::SiteOrder& order, jit::SiteMap& map) {
  const int lanes = order.lanes;
  std::vector<std::int32_t> groups(order.groups);
  int exchange = 0;
  for (std::int64_t group = 0; group < order.groups; ++group) {
    std::int64_t from = -1;
    int lane_xor = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t position = group * lanes + lane;
      if (order.host_index[position] < 0) continue;
      const std::int64_t source = map.source[position];
      if (from < 0) {
        from = source / lanes;
        lane_xor = static_cast<int>(source % lanes) ^ lane;
      } else if (source / lanes != from || (static_cast<int>(source % lanes) ^ lane) != lane_xor) {
        return;
      }
    }
    if (lane_xor != 0) {
      if (exchange != 0 && lane_xor != exchange) return;
      exchange = lane_xor;
    }
    groups[group] = static_cast<std::int32_t>(2 * from + (lane_xor != 0 ? 1 : 0));
  }
  map.group_source = std::move(groups);
  map.lane_xor = exchange;
  pad(map.group_source);
}

}  // namespace

MapTable make_map_table(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<std::int32_t>& source) {
  static std::atomic<std::uint64_t> last_id{0};
  auto map = std::make_shared<jit::SiteMap>();
  const std::int64_t positions = order->groups * order->lanes;
  map->source.resize(positions);
#pragma omp parallel for if (positions >= kThreadedSites)
  for (std::int64_t p = 0; p < positions; ++p) {
    const std::int32_t site = order->host_index[p];
    map->source[p] = site < 0 ? static_cast<std::int32_t>(p) : order->position[source[site]];
  }
  find_structure(*order, *map);
  pad(map->source);
  return {std::move(map), order, ++last_id};
}

std::vector<std::int32_t> host_sources(const MapTable& table) {
  const jit::SiteOrder& order = *table.order;
  std::vector<std::int32_t> source(order.sites);
  for (std::int64_t site = 0; site < order.sites; ++site)
    source[site] = order.host_index[table.sites->source[order.position[site]]];
  return source;
}

}  // namespace QDP::detail
