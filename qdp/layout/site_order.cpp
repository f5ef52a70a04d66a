#include "qdp/layout/site_order.hpp"

#include "jit/support/error.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <limits>
#include <vector>

namespace QDP::detail {

namespace {

// A table entry is 2 * group + 1 at most, or a position.
constexpr std::int64_t kMaxEntry = std::numeric_limits<std::int32_t>::max();

void check_size(const Geometry& lattice, std::int64_t groups, int lanes) {
  if (groups <= kMaxEntry / std::max(lanes, 2)) return;
  throw jit::UserError({.what = "lattice " + to_string(lattice.extents()),
                        .expected = "at most " + std::to_string(kMaxEntry / std::max(lanes, 2)) + " groups of " +
                                    std::to_string(lanes) + " sites on one rank",
                        .got = std::to_string(groups),
                        .what_now = "use a smaller local lattice"});
}

/// Fills one direction of the correspondence from the other.
void fill_positions(jit::SiteOrder& order) {
  order.position.resize(order.sites);
  const std::int64_t positions = order.groups * order.lanes;
#pragma omp parallel for if (order.sites >= kThreadedSites)
  for (std::int64_t p = 0; p < positions; ++p)
    if (order.host_index[p] >= 0) order.position[order.host_index[p]] = static_cast<std::int32_t>(p);
}

void fill_cut(const Geometry& lattice, const LaneCut& cut, const Geometry& sublattice, jit::SiteOrder& order) {
#pragma omp parallel for if (order.sites >= kThreadedSites)
  for (std::int64_t group = 0; group < order.groups; ++group) {
    const Coord corner = sublattice.coord(group);
    for (int lane = 0; lane < order.lanes; ++lane) {
      Coord x = corner;
      for (int mu = 0; mu < QDP_ND; ++mu) {
        if (cut.pieces[mu] == 1) continue;
        const int piece = lane / cut.stride[mu] % cut.pieces[mu];
        x[mu] += piece * cut.extents[mu];
        if (cut.turns(mu) && piece % 2 != 0) turn(x, sublattice, cut.turned);
      }
      order.host_index[group * order.lanes + lane] = static_cast<std::int32_t>(lattice.index(x));
    }
  }
}

void fill_linear(const Geometry& lattice, jit::SiteOrder& order) {
  std::int64_t position = 0, site = 0;
  for (int parity = 0; parity < 2; ++parity) {
    for (const std::int64_t end = site + lattice.volume(parity); site < end; ++site)
      order.host_index[position++] = static_cast<std::int32_t>(site);
    position = (position + order.lanes - 1) / order.lanes * order.lanes;
  }
}

/// The order of cuts that find_lane_cut describes: the smallest is the best.
struct CutCosts {
  int split, turned, rings;
  std::int64_t edges;  ///< groups
  Coord directions;    ///< [Nd] the last first: 0 if it is cut
  auto operator<=>(const CutCosts&) const = default;
};

CutCosts costs(const LaneCut& cut, const Coord& ranks) {
  CutCosts sum{};
  std::int64_t groups = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) groups *= cut.extents[mu];
  for (int mu = 0; mu < QDP_ND; ++mu) {
    const bool is_cut = cut.pieces[mu] > 1;
    sum.directions[QDP_ND - 1 - mu] = is_cut ? 0 : 1;
    if (!is_cut) continue;
    if (ranks[mu] > 1) ++sum.split;
    if (cut.turns(mu)) ++sum.turned;
    if (cut.pieces[mu] > 2) sum.rings += cut.pieces[mu];
    sum.edges += groups / cut.extents[mu];
  }
  return sum;
}

/// Lanes of the pieces: directions in four or more have the lowest bits, later directions higher ones.
void number_lanes(LaneCut& cut) {
  int lanes = 1;
  for (const bool rings : {true, false})
    for (int mu = 0; mu < QDP_ND; ++mu)
      if (cut.pieces[mu] > 1 && (cut.pieces[mu] > 2) == rings) {
        cut.stride[mu] = lanes;
        lanes *= cut.pieces[mu];
      }
}

/// Calls use(cut) for all cuts of the directions from mu on in so many pieces, whatever their extents.
template <class Use>
void for_each_cut(LaneCut& cut, int lanes, int mu, Use&& use) {
  if (mu == QDP_ND) {
    if (lanes == 1) use(cut);
    return;
  }
  const int extent = cut.extents[mu];
  for (int pieces = 1; lanes % pieces == 0 && extent % pieces == 0; pieces *= 2) {
    cut.pieces[mu] = pieces;
    cut.extents[mu] = extent / pieces;
    for_each_cut(cut, lanes / pieces, mu + 1, use);
  }
  cut.extents[mu] = extent;
}

/// Says in which direction pieces of odd extent are turned; false: they have to be and cannot.
bool keep_parity(LaneCut& cut, const Coord& ranks) {
  bool turns = false;
  int turned = -1;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    const bool is_cut = cut.pieces[mu] > 1;
    if (is_cut && cut.extents[mu] % 2 != 0) {
      if (ranks[mu] > 1) return false;
      turns = true;
    }
    if (!is_cut && ranks[mu] == 1 && cut.extents[mu] % 4 == 2) turned = mu;
  }
  cut.turned = turns ? turned : -1;
  return !turns || turned >= 0;
}

}  // namespace

std::optional<LaneCut> find_lane_cut(const Coord& extents, int lanes, const Coord& ranks) {
  if (lanes < 1 || !std::has_single_bit(static_cast<unsigned>(lanes))) return {};
  std::optional<LaneCut> best;
  LaneCut tried{.pieces = {}, .stride = {}, .extents = extents};
  for_each_cut(tried, lanes, 0, [&](LaneCut& cut) {
    if (!keep_parity(cut, ranks)) return;
    std::int64_t rings = 1;
    for (const int pieces : cut.pieces)
      if (pieces > 2) rings *= pieces;
    if (rings > std::max(lanes / 2, 1)) return;
    if (!best || costs(cut, ranks) < costs(*best, ranks)) best = cut;
  });
  if (best) number_lanes(*best);
  return best;
}

int fitting_lanes(const Coord& extents, int most, const Coord& ranks) {
  for (int lanes = most; lanes >= std::max(most / 4, 4); lanes /= 2)
    if (find_lane_cut(extents, lanes, ranks)) return lanes;
  return most;
}

void turn(Coord& x, const Geometry& sublattice, int mu) {
  const int first = sublattice.corner()[mu], extent = sublattice.extents()[mu];
  x[mu] = first + (x[mu] - first + extent / 2) % extent;
}

Geometry sub_lattice(const Geometry& box, const LaneCut& cut) { return Geometry(cut.extents, box.corner()); }

jit::SiteOrder make_site_order(const Geometry& box, int lanes, const Coord& ranks) {
  if (lanes < 1 || lanes > 64)
    throw jit::UserError({.what = "order of sites", .expected = "1 to 64 lanes", .got = std::to_string(lanes)});
  const auto cut = find_lane_cut(box.extents(), lanes, ranks);
  const auto groups_for = [&](int parity) { return (box.volume(parity) + lanes - 1) / lanes; };
  jit::SiteOrder order;
  order.lanes = lanes;
  order.sites = box.volume();
  order.first_odd = groups_for(0);
  order.groups = groups_for(0) + groups_for(1);
  check_size(box, order.groups, lanes);
  order.host_index.assign(order.groups * lanes, -1);
  if (cut)
    fill_cut(box, *cut, sub_lattice(box, *cut), order);
  else
    fill_linear(box, order);
  fill_positions(order);
  return order;
}

}  // namespace QDP::detail
