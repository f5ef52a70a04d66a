#include "qdp/layout/geometry.hpp"

#include "jit/support/error.hpp"

#include <algorithm>

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
