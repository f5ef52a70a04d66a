#include "qdp/layout/map_sites.hpp"

#include "qdp/layout/site_order.hpp"

#include <optional>
#include <utility>

namespace QDP::detail {

namespace {

/// The map by groups, if it is structured. Lanes without a site take part in nothing.
std::optional<jit::SiteMap> by_groups(const jit::SiteOrder& order, const std::vector<std::int32_t>& positions) {
  const int lanes = order.lanes;
  std::vector<std::int32_t> groups(order.groups);
  int exchange = 0;
  for (std::int64_t group = 0; group < order.groups; ++group) {
    std::int64_t from = -1;
    int lane_xor = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t position = group * lanes + lane;
      if (order.host_index[position] < 0) continue;
      const std::int64_t source = positions[position];
      if (from < 0) {
        from = source / lanes;
        lane_xor = static_cast<int>(source % lanes) ^ lane;
      } else if (source / lanes != from || (static_cast<int>(source % lanes) ^ lane) != lane_xor) {
        return {};
      }
    }
    if (lane_xor != 0) {
      if (exchange != 0 && lane_xor != exchange) return {};
      exchange = lane_xor;
    }
    groups[group] = static_cast<std::int32_t>(2 * from + (lane_xor != 0 ? 1 : 0));
  }
  return jit::SiteMap::structured(std::move(groups), lanes, exchange);
}

/// Coordinate mu moved by `sign`, and back into [first, first + extent); whether it had left.
bool step(Coord& x, int sign, int mu, int first, int extent) {
  x[mu] += sign;
  if (x[mu] >= first && x[mu] < first + extent) return false;
  x[mu] -= sign * extent;
  return true;
}

/// Groups are the sites of a sub-lattice. What leaves it comes back on its other side: in a cut direction in the lanes
/// of the sub-lattice next door, otherwise, since the lattice is periodic, in the same ones.
jit::SiteMap neighbours_of_groups(const Geometry& sublattice, const LaneCut& cut, int lanes, int sign, int mu) {
  std::vector<std::int32_t> groups(sublattice.volume());
#pragma omp parallel for if (sublattice.volume() >= kThreadedSites)
  for (std::int64_t group = 0; group < sublattice.volume(); ++group) {
    Coord x = sublattice.coord(group);
    const bool left = step(x, sign, mu, sublattice.corner()[mu], sublattice.extents()[mu]);
    groups[group] = static_cast<std::int32_t>(2 * sublattice.index(x) + (left && cut.lane_bit[mu] != 0 ? 1 : 0));
  }
  return jit::SiteMap::structured(std::move(groups), lanes, cut.lane_bit[mu]);
}

}  // namespace

jit::SiteMap make_map(const jit::SiteOrder& order, const std::vector<std::int32_t>& source) {
  const std::int64_t positions = order.groups * order.lanes;
  std::vector<std::int32_t> sources(positions);
#pragma omp parallel for if (positions >= kThreadedSites)
  for (std::int64_t p = 0; p < positions; ++p) {
    const std::int32_t site = order.host_index[p];
    sources[p] = site < 0 ? static_cast<std::int32_t>(p) : order.position[source[site]];
  }
  if (auto structured = by_groups(order, sources)) return std::move(*structured);
  return jit::SiteMap::gathered(std::move(sources));
}

std::vector<std::int32_t> host_sources(const jit::SiteOrder& order, const jit::SiteMap& map) {
  std::vector<std::int32_t> source(order.sites);
  for (std::int64_t site = 0; site < order.sites; ++site)
    source[site] = order.host_index[map.sources()[order.position[site]]];
  return source;
}

jit::SiteMap make_neighbours(const Geometry& lattice, const jit::SiteOrder& order, int sign, int mu) {
  if (const auto cut = find_lane_cut(lattice.extents(), order.lanes))
    return neighbours_of_groups(sub_lattice(lattice, *cut), *cut, order.lanes, sign, mu);
  std::vector<std::int32_t> source(lattice.volume());
#pragma omp parallel for if (lattice.volume() >= kThreadedSites)
  for (std::int64_t site = 0; site < lattice.volume(); ++site) {
    Coord x = lattice.coord(site);
    step(x, sign, mu, lattice.corner()[mu], lattice.extents()[mu]);
    source[site] = static_cast<std::int32_t>(lattice.index(x));
  }
  return make_map(order, source);
}

}  // namespace QDP::detail
