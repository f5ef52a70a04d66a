#include "qdp/layout/map_sites.hpp"

#include "qdp/layout/site_order.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace QDP::detail {

namespace {

/// Of a direction cut in so many pieces, which are counted in steps of `stride` lanes: lanes take what those `steps` pieces on have.
jit::LaneExchange around(int pieces, int stride, int steps) {
  if (pieces == 1) return {};
  if (pieces == 2) return {.flip = static_cast<std::uint8_t>(stride)};
  const int ring = (pieces - 1) * stride;
  return {.ring = static_cast<std::uint8_t>(ring), .step = static_cast<std::uint8_t>(steps * stride & ring)};
}

/// The exchange in which lane l takes what lane source[l] has, where that is known; none if there is none that kernels
/// know.
std::optional<jit::LaneExchange> find_exchange(const std::vector<int>& source) {
  const int lanes = static_cast<int>(source.size());
  const auto fits = [&](jit::LaneExchange exchange) {
    for (int lane = 0; lane < lanes; ++lane)
      if (source[static_cast<std::size_t>(lane)] != kElsewhere &&
          exchange.source(lane) != source[static_cast<std::size_t>(lane)])
        return false;
    return true;
  };
  for (int flip = 0; flip < lanes; ++flip)
    if (const jit::LaneExchange exchange{.flip = static_cast<std::uint8_t>(flip)}; fits(exchange)) return exchange;
  for (int pieces = 4; pieces <= lanes / 2; pieces *= 2)
    for (int stride = 1; stride * pieces <= lanes / 2; stride *= 2)
      for (int steps = 1; steps < pieces; ++steps)
        if (const jit::LaneExchange exchange = around(pieces, stride, steps); fits(exchange)) return exchange;
  return {};
}

/// The map by groups, if it is structured. Lanes without a site, or with a source elsewhere, take part in nothing.
std::optional<jit::SiteMap> by_groups(const jit::SiteOrder& order, const std::vector<std::int32_t>& positions) {
  const int lanes = order.lanes;
  std::vector<std::int32_t> groups(order.groups);
  std::vector<int> exchanged(static_cast<std::size_t>(lanes), kElsewhere);  // as far as it is known
  for (std::int64_t group = 0; group < order.groups; ++group) {
    std::int64_t from = kElsewhere;
    bool stays = true;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t position = group * lanes + lane;
      if (order.host_index[position] < 0) continue;
      const std::int64_t source = positions[position];
      if (source == kElsewhere) continue;
      const int source_lane = static_cast<int>(source % lanes);
      if (from == kElsewhere) {
        from = source / lanes;
        stays = source_lane == lane;
      } else if (source / lanes != from || (source_lane == lane) != stays) {
        return {};
      }
      if (stays) continue;
      int& known = exchanged[static_cast<std::size_t>(lane)];
      if (known != kElsewhere && known != source_lane) return {};
      known = source_lane;
    }
    if (from == kElsewhere) from = 0;  // whatever there is
    groups[group] = static_cast<std::int32_t>(2 * from + (stays ? 0 : 1));
  }
  const auto exchange = find_exchange(exchanged);
  if (!exchange) return {};
  return jit::SiteMap::structured(std::move(groups), lanes, *exchange);
}

/// Coordinate mu moved by `sign`, and back into [first, first + extent); whether it had left.
bool step(Coord& x, int sign, int mu, int first, int extent) {
  x[mu] += sign;
  if (x[mu] >= first && x[mu] < first + extent) return false;
  x[mu] -= sign * extent;
  return true;
}

/// Groups are the sites of a sub-lattice. What leaves it comes back on its other side: in a cut direction in the lanes
/// of the sub-lattice next door, which may be turned, otherwise, since the lattice is periodic, in the same ones.
jit::SiteMap neighbours_of_groups(const Geometry& sublattice, const LaneCut& cut, int lanes, int sign, int mu) {
  std::vector<std::int32_t> groups(sublattice.volume());
#pragma omp parallel for if (sublattice.volume() >= kThreadedSites)
  for (std::int64_t group = 0; group < sublattice.volume(); ++group) {
    Coord x = sublattice.coord(group);
    const bool left = step(x, sign, mu, sublattice.corner()[mu], sublattice.extents()[mu]);
    if (left && cut.turns(mu)) turn(x, sublattice, cut.turned);
    groups[group] = static_cast<std::int32_t>(2 * sublattice.index(x) + (left && cut.pieces[mu] > 1 ? 1 : 0));
  }
  return jit::SiteMap::structured(std::move(groups), lanes, around(cut.pieces[mu], cut.stride[mu], sign));
}

}  // namespace

jit::SiteMap map_between(const jit::SiteOrder& target, const std::vector<std::int32_t>& source) {
  const std::int64_t positions = target.groups * target.lanes;
  std::vector<std::int32_t> sources(positions);
#pragma omp parallel for if (positions >= kThreadedSites)
  for (std::int64_t p = 0; p < positions; ++p) {
    const std::int32_t site = target.host_index[p];
    sources[p] = site < 0 ? kElsewhere : source[site];
  }
  if (auto structured = by_groups(target, sources)) return std::move(*structured);
  for (std::int32_t& one : sources) one = std::max(one, 0);
  return jit::SiteMap::gathered(std::move(sources));
}

jit::SiteMap make_map(const jit::SiteOrder& order, const std::vector<std::int32_t>& source) {
  std::vector<std::int32_t> positions(source.size());
#pragma omp parallel for if (order.sites >= kThreadedSites)
  for (std::size_t site = 0; site < source.size(); ++site)
    positions[site] = source[site] == kElsewhere ? kElsewhere : order.position[source[site]];
  return map_between(order, positions);
}

std::vector<std::int32_t> host_sources(const jit::SiteOrder& order, const jit::SiteMap& map) {
  std::vector<std::int32_t> source(order.sites);
  for (std::int64_t site = 0; site < order.sites; ++site)
    source[site] = order.host_index[map.sources()[order.position[site]]];
  return source;
}

namespace {

/// On a box that is periodic by itself.
jit::SiteMap neighbours_in_box(const Geometry& box, const RankGrid& grid, const jit::SiteOrder& order, int sign,
                               int mu) {
  if (const auto cut = find_lane_cut(box.extents(), order.lanes, grid.ranks()))
    return neighbours_of_groups(sub_lattice(box, *cut), *cut, order.lanes, sign, mu);
  std::vector<std::int32_t> source(box.volume());
#pragma omp parallel for if (box.volume() >= kThreadedSites)
  for (std::int64_t site = 0; site < box.volume(); ++site) {
    Coord x = box.coord(site);
    step(x, sign, mu, box.corner()[mu], box.extents()[mu]);
    source[site] = static_cast<std::int32_t>(box.index(x));
  }
  return make_map(order, source);
}

/// The rank next door.
int neighbour(const RankGrid& grid, int rank, int sign, int mu) {
  Coord place = grid.place(rank);
  step(place, sign, mu, 0, grid.ranks()[mu]);
  return grid.rank(place);
}

/// The last sites of a box before the one next door, in the order of their numbers.
jit::OffRank sources_next_door(const Geometry& lattice, const RankGrid& grid, int rank, const jit::SiteOrder& order,
                               int sign, int mu) {
  const Geometry here = grid.box(rank);
  Coord extents = here.extents(), corner = here.corner();
  if (sign > 0) corner[mu] += extents[mu] - 1;
  extents[mu] = 1;
  const Geometry face(extents, corner);
  jit::OffRank::Partner partner{.rank = neighbour(grid, rank, sign, mu), .sources = {}};
  const Geometry there = grid.box(partner.rank);
  partner.sources.reserve(static_cast<std::size_t>(face.volume()));
  for (std::int64_t i = 0; i < face.volume(); ++i) {
    Coord x = face.from_lexicographic(i);
    const std::int32_t position = order.position[static_cast<std::size_t>(here.index(x))];
    step(x, sign, mu, 0, lattice.extents()[mu]);
    partner.sources.push_back({position, static_cast<std::int32_t>(there.index(x))});
  }
  return {.from = {std::move(partner)}, .to = {neighbour(grid, rank, -sign, mu)}};
}

}  // namespace

jit::SiteMap make_neighbours(const Geometry& lattice, const RankGrid& grid, int rank, const jit::SiteOrder& order,
                             int sign, int mu) {
  jit::SiteMap map = neighbours_in_box(grid.box(rank), grid, order, sign, mu);
  if (grid.ranks()[mu] > 1) map.set_off_rank(sources_next_door(lattice, grid, rank, order, sign, mu));
  return map;
}

}  // namespace QDP::detail
