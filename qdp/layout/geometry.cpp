#include "qdp/layout/geometry.hpp"

namespace QDP::detail {

std::string to_string(const Coord& x) {
  std::string text = "(";
  for (int mu = 0; mu < QDP_ND; ++mu) text += (mu ? ", " : "") + std::to_string(x[mu]);
  return text + ")";
}

Geometry::Geometry(const Coord& extents) : extents_(extents) {
  box_[0] = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) box_[mu + 1] = box_[mu] * extents[mu];
}

bool Geometry::contains(const Coord& x) const {
  for (int mu = 0; mu < QDP_ND; ++mu)
    if (x[mu] < 0 || x[mu] >= extents_[mu]) return false;
  return true;
}

// Both directions go from the slowest coordinate to the fastest. A slice of fixed coordinate c in direction mu is a box
// of mu dimensions, and two slices next to each other hold every site of such a box once, whatever the parity asked
// for.

std::int64_t Geometry::index(const Coord& x) const {
  const int site_parity = parity(x);
  std::int64_t before = site_parity == 0 ? 0 : volume(0);
  int relative = site_parity;  // parity asked for, seen from the corner of the present slice
  for (int mu = QDP_ND - 1; mu >= 0; --mu) {
    before += (x[mu] >> 1) * box_[mu];
    if (x[mu] & 1) before += in_box(mu, relative);
    relative ^= x[mu] & 1;
  }
  return before;
}

Coord Geometry::coord(std::int64_t index) const {
  int relative = index < volume(0) ? 0 : 1;
  std::int64_t rest = relative == 0 ? index : index - volume(0);
  Coord x;
  for (int mu = QDP_ND - 1; mu >= 0; --mu) {
    const std::int64_t pairs = rest / box_[mu];
    rest -= pairs * box_[mu];
    const std::int64_t in_first = in_box(mu, relative);
    const int second = rest >= in_first ? 1 : 0;
    if (second) rest -= in_first;
    x[mu] = static_cast<int>(2 * pairs) + second;
    relative ^= second;
  }
  return x;
}

std::int64_t Geometry::lexicographic(const Coord& x) const {
  std::int64_t number = 0;
  for (int mu = 0; mu < QDP_ND; ++mu) number += x[mu] * box_[mu];
  return number;
}

}  // namespace QDP::detail
