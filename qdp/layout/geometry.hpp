// A lattice as pure arithmetic: coordinates, parity, and the host order of the sites.
//
// Host order is QDP++'s red-black ("cb2") order: even sites first, and lexicographic, x fastest, within each parity.
// QDP++ stops if the first extent is odd; here any extents will do (if all are odd, there is one even site more).
#pragma once

#include "qdp_config.h"

#include <array>
#include <cstdint>
#include <string>

namespace QDP::detail {

/// Coordinates of a site, or extents of a lattice.
using Coord = std::array<int, QDP_ND>;

/// Loops over fewer sites run on one thread, since waking a team costs more.
constexpr std::int64_t kThreadedSites = 1 << 15;

/// "(1, 0, 2, 3)", for messages.
std::string to_string(const Coord& x);

/// Parity of a site: 0 even, 1 odd.
inline int parity(const Coord& x) {
  int sum = 0;
  for (int c : x) sum += c;
  return sum & 1;
}

class Geometry {
 public:
  /// Extents are at least 1.
  explicit Geometry(const Coord& extents);

  const Coord& extents() const { return extents_; }
  std::int64_t volume() const { return box_[QDP_ND]; }
  /// Sites of one parity.
  std::int64_t volume(int parity) const { return in_box(QDP_ND, parity); }
  bool contains(const Coord& x) const;

  /// Host index of a site of the lattice, and back.
  std::int64_t index(const Coord& x) const;
  Coord coord(std::int64_t index) const;

  /// Lexicographic number of a site, x fastest.
  std::int64_t lexicographic(const Coord& x) const;

 private:
  /// Sites in a box of the first `dims` extents that have the parity of its corner (0) or the other (1).
  std::int64_t in_box(int dims, int parity) const { return (box_[dims] + 1 - parity) / 2; }

  Coord extents_;
  std::array<std::int64_t, QDP_ND + 1> box_;  ///< [d] sites in a box of the first d extents
};

}  // namespace QDP::detail
