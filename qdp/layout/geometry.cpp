#include "qdp/layout/geometry.hpp"

#include "jit/support/error.hpp"

#include <algorithm>
#include <map>

namespace QDP::detail {

std::string to_string(const Coord& x) {
  std::string text = "(";
  for (int mu = 0; mu < QDP_ND; ++mu) text += (mu ? ", " : "") + std::to_string(x[mu]);
  return text + ")";
}

Geometry::Geometry(const Coord& extents, const Coord& corner)
    : extents_(extents), corner_(corner), corner_parity_(parity(corner)) {
  box_[0] = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) box_[mu + 1] = box_[mu] * extents[mu];
}

bool Geometry::contains(const Coord& x) const {
  for (int mu = 0; mu < QDP_ND; ++mu)
    if (x[mu] < corner_[mu] || x[mu] - corner_[mu] >= extents_[mu]) return false;
  return true;
}

// Both directions go from the slowest coordinate to the fastest. A slice of fixed coordinate c in direction mu is a box
// of mu dimensions, and two slices next to each other hold every site of such a box once, whatever the parity asked
// for.

std::int64_t Geometry::index(const Coord& x) const {
  const int site_parity = parity(x);
  std::int64_t before = site_parity == 0 ? 0 : volume(0);
  int relative = site_parity ^ corner_parity_;  // parity asked for, seen from the corner of the present slice
  for (int mu = QDP_ND - 1; mu >= 0; --mu) {
    const int c = x[mu] - corner_[mu];
    before += (c >> 1) * box_[mu];
    if (c & 1) before += in_box(mu, relative);
    relative ^= c & 1;
  }
  return before;
}

Coord Geometry::coord(std::int64_t index) const {
  const int site_parity = index < volume(0) ? 0 : 1;
  int relative = site_parity ^ corner_parity_;
  std::int64_t rest = site_parity == 0 ? index : index - volume(0);
  Coord x;
  for (int mu = QDP_ND - 1; mu >= 0; --mu) {
    const std::int64_t pairs = rest / box_[mu];
    rest -= pairs * box_[mu];
    const std::int64_t in_first = in_box(mu, relative);
    const int second = rest >= in_first ? 1 : 0;
    if (second) rest -= in_first;
    x[mu] = corner_[mu] + static_cast<int>(2 * pairs) + second;
    relative ^= second;
  }
  return x;
}

std::int64_t Geometry::lexicographic(const Coord& x) const {
  std::int64_t number = 0;
  for (int mu = 0; mu < QDP_ND; ++mu) number += (x[mu] - corner_[mu]) * box_[mu];
  return number;
}

Coord Geometry::from_lexicographic(std::int64_t number) const {
  Coord x;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    x[mu] = corner_[mu] + static_cast<int>(number % extents_[mu]);
    number /= extents_[mu];
  }
  return x;
}

RankGrid::RankGrid(const char* what, const Coord& lattice, const Coord& ranks) : grid_(ranks), part_(lattice) {
  for (int mu = 0; mu < QDP_ND; ++mu) {
    if (ranks[mu] < 1 || lattice[mu] % ranks[mu] != 0)
      throw jit::UserError(
          {.what = what,
           .expected = "a grid of ranks that divides the lattice " + to_string(lattice),
           .got = to_string(ranks),
           .what_now = "choose the number of ranks in each direction among the divisors of the extent there"});
    part_[mu] = lattice[mu] / ranks[mu];
  }
}

std::int64_t RankGrid::surface_between(std::span<const int> hosts) const {
  std::int64_t sites = 0;
  const Geometry part(part_);
  for (int number = 0; number < size(); ++number)
    for (int mu = 0; mu < QDP_ND; ++mu)
      for (const int step : {1, ranks()[mu] - 1}) {
        Coord next = place(number);
        next[mu] = (next[mu] + step) % ranks()[mu];
        if (hosts[static_cast<std::size_t>(number)] != hosts[static_cast<std::size_t>(rank(next))])
          sites += part.volume() / part_[mu];
      }
  return sites;
}

void RankGrid::keep_together(std::span<const int> hosts) {
  std::map<int, std::vector<int>> of_host;
  for (int rank = 0; rank < size(); ++rank) of_host[hosts[static_cast<std::size_t>(rank)]].push_back(rank);
  std::vector<std::vector<int>> machines;
  for (auto& [host, ranks] : of_host) machines.push_back(std::move(ranks));
  std::ranges::sort(machines);  // by their lowest ranks, so that rank 0 keeps the origin
  const std::size_t each = machines[0].size();
  if (each == 1 || machines.size() == 1 ||
      std::ranges::any_of(machines, [&](const std::vector<int>& ranks) { return ranks.size() != each; }))
    return;
  std::int64_t least = surface_between(hosts);
  for_each_grid(ranks(), static_cast<int>(each), [&](const Coord& extents) {
    const Geometry block(extents);
    Coord blocks;
    for (int mu = 0; mu < QDP_ND; ++mu) blocks[mu] = ranks()[mu] / extents[mu];
    const Geometry of_machines(blocks);
    RankGrid other = *this;
    other.numbers_.resize(static_cast<std::size_t>(size()));
    other.ranks_.resize(other.numbers_.size());
    for (std::size_t m = 0; m < machines.size(); ++m)
      for (std::size_t r = 0; r < each; ++r) {
        Coord place = of_machines.from_lexicographic(static_cast<std::int64_t>(m));
        const Coord within = block.from_lexicographic(static_cast<std::int64_t>(r));
        for (int mu = 0; mu < QDP_ND; ++mu) place[mu] = place[mu] * extents[mu] + within[mu];
        const auto number = static_cast<int>(grid_.lexicographic(place));
        other.numbers_[static_cast<std::size_t>(machines[m][r])] = number;
        other.ranks_[static_cast<std::size_t>(number)] = machines[m][r];
      }
    const std::int64_t surface = other.surface_between(hosts);
    if (surface >= least) return;
    least = surface;
    *this = std::move(other);
  });
}

Coord RankGrid::place_of_site(const Coord& x) const {
  Coord place;
  for (int mu = 0; mu < QDP_ND; ++mu) place[mu] = x[mu] / part_[mu];
  return place;
}

Geometry RankGrid::box(int rank) const {
  Coord corner = place(rank);
  for (int mu = 0; mu < QDP_ND; ++mu) corner[mu] *= part_[mu];
  return Geometry(part_, corner);
}

}  // namespace QDP::detail
