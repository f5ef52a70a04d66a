// Sites as pure arithmetic: coordinates, parity, and the host order of a box of sites.
//
// Host order is QDP++'s red-black ("cb2") order: even sites first, and lexicographic, x fastest, within each parity.
// QDP++ stops if the first extent is odd; here any extents will do. Parity is that of the coordinates in the whole
// lattice, so a box with odd extents, or with an odd corner, may have more sites of either parity.
#pragma once

#include "qdp_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace QDP::detail {

/// Coordinates of a site, or extents of a lattice.
using Coord = std::array<int, QDP_ND>;

/// A grid of one rank.
inline constexpr Coord kOneRank = [] {
  Coord ones{};
  for (int& n : ones) n = 1;
  return ones;
}();

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

/// A box of sites: the whole lattice, or the part of one rank. Coordinates are those of the whole lattice.
class Geometry {
 public:
  /// Extents are at least 1; `corner` is the site with the lowest coordinates.
  explicit Geometry(const Coord& extents, const Coord& corner = {});

  const Coord& extents() const { return extents_; }
  const Coord& corner() const { return corner_; }
  std::int64_t volume() const { return box_[QDP_ND]; }
  /// Sites of one parity.
  std::int64_t volume(int parity) const { return in_box(QDP_ND, parity ^ corner_parity_); }
  bool contains(const Coord& x) const;

  /// Host index of a site of the box, and back.
  std::int64_t index(const Coord& x) const;
  Coord coord(std::int64_t index) const;

  /// Lexicographic number of a site within the box, x fastest, and back.
  std::int64_t lexicographic(const Coord& x) const;
  Coord from_lexicographic(std::int64_t number) const;

 private:
  /// Sites in a box of the first `dims` extents that have the parity of its corner (0) or the other (1).
  std::int64_t in_box(int dims, int parity) const { return (box_[dims] + 1 - parity) / 2; }

  Coord extents_, corner_;
  int corner_parity_;
  std::array<std::int64_t, QDP_ND + 1> box_;  ///< [d] sites in a box of the first d extents
};

/// A lattice cut into equal boxes, one for each rank. Ranks are numbered lexicographically, x fastest, as in QDP++, unless
/// another order keeps more of the boxes' surfaces within machines.
class RankGrid {
 public:
  /// Throws jit::UserError, naming `what`, unless there is at least one rank in every direction and each extent of the
  /// lattice is divisible by the number of ranks there.
  RankGrid(const char* what, const Coord& lattice, const Coord& ranks);

  /// Ranks of a machine take the boxes of a block where this leaves less surface between machines. `hosts`: [rank] the machine, by any
  /// number. Machines with unequal numbers of ranks leave the order as it is.
  void keep_together(std::span<const int> hosts);
  /// Sites of all ranks with neighbours on another machine, each counted for each such neighbour.
  std::int64_t surface_between(std::span<const int> hosts) const;

  /// Ranks per direction.
  const Coord& ranks() const { return grid_.extents(); }
  int size() const { return static_cast<int>(grid_.volume()); }
  /// Extents of one rank's box.
  const Coord& part() const { return part_; }

  Coord place(int rank) const {
    return grid_.from_lexicographic(numbers_.empty() ? rank : numbers_[static_cast<std::size_t>(rank)]);
  }
  int rank(const Coord& place) const {
    const std::int64_t number = grid_.lexicographic(place);
    return ranks_.empty() ? static_cast<int>(number) : ranks_[static_cast<std::size_t>(number)];
  }
  bool contains(const Coord& place) const { return grid_.contains(place); }
  /// Place of the rank that has a site.
  Coord place_of_site(const Coord& x) const;
  /// That rank, and the host index of the site there.
  struct Owner {
    int rank;
    std::int64_t index;
  };
  Owner owner(const Coord& x) const {
    const int number = rank(place_of_site(x));
    return {number, box(number).index(x)};
  }
  /// The sites of a rank.
  Geometry box(int rank) const;

 private:
  Geometry grid_;
  Coord part_;
  std::vector<int> numbers_;  ///< [rank] lexicographic number of its place; empty: the same
  std::vector<int> ranks_;    ///< and back
};

/// Calls use(grid) with each grid of `ranks` ranks whose extents divide those of `whole`, in lexicographic order.
template <class Use> void for_each_grid(const Coord& whole, int ranks, Use&& use) {
  Coord grid = kOneRank;
  const auto choose = [&](const auto& deeper, int mu, int left) -> void {
    if (mu == QDP_ND) {
      if (left == 1) use(std::as_const(grid));
      return;
    }
    for (int n = 1; n <= left; ++n)
      if (left % n == 0 && whole[mu] % n == 0) {
        grid[mu] = n;
        deeper(deeper, mu + 1, left / n);
      }
  };
  choose(choose, 0, ranks);
}

}  // namespace QDP::detail
