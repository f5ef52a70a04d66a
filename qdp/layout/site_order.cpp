#include "qdp/layout/site_order.hpp"

#include "jit/support/error.hpp"

#include <algorithm>
#include <bit>
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
      for (int mu = 0; mu < QDP_ND; ++mu)
        if (lane & cut.lane_bit[mu]) x[mu] += cut.extents[mu];
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

}  // namespace

std::optional<LaneCut> find_lane_cut(const Coord& extents, int lanes, const Coord& ranks) {
  if (lanes < 1 || !std::has_single_bit(static_cast<unsigned>(lanes))) return {};
  const int cuts = std::countr_zero(static_cast<unsigned>(lanes));

  std::vector<int> directions;
  for (int mu = QDP_ND - 1; mu >= 0; --mu)
    if (extents[mu] % 4 == 0) directions.push_back(mu);
  if (static_cast<int>(directions.size()) < cuts) return {};
  std::stable_sort(directions.begin(), directions.end(), [&](int a, int b) {
    const bool alone_a = ranks[a] == 1, alone_b = ranks[b] == 1;
    return alone_a != alone_b ? alone_a : extents[a] > extents[b];
  });
  directions.resize(cuts);
  std::sort(directions.begin(), directions.end());

  LaneCut cut{.extents = extents};
  for (int bit = 0; bit < cuts; ++bit) {
    cut.lane_bit[directions[bit]] = 1 << bit;
    cut.extents[directions[bit]] /= 2;
  }
  return cut;
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
