// The order of the sites on a device (design D2): which sites form a group that one vector instruction works on.
//
// Virtual nodes: directions are cut in two, four or more pieces, 2^k sub-lattices in all, 2^k = lanes, and a group is the same
// site of each of them. Then the neighbours of a group are again a group, in the same lanes, or, where the neighbourhood
// leaves the sub-lattice in a cut direction, in those of the pieces next door (jit::LaneExchange). Groups are ordered like
// the sites of a sub-lattice in host order: even ones first.
//
// Pieces of odd extent would mix parities. Where they are needed each next one is turned: moved around the lattice by half the
// extent, an odd number, of another direction, which is not cut. In other words: lanes are a group of translations of the lattice
// that keep parity, and the sites of a group go over into each other by these.
#pragma once

#include "jit/memory/sites.hpp"
#include "qdp/layout/geometry.hpp"

#include <optional>

namespace QDP::detail {

/// In how many pieces directions are cut.
struct LaneCut {
  Coord pieces{};   ///< powers of two; 1: the direction is not cut
  Coord stride{};   ///< of cut directions: the lane of a piece's next one is so many lanes on
  Coord extents{};  ///< of a sub-lattice
  int turned = -1;  ///< the direction in which pieces of odd extent are turned, if there are any

  bool turns(int mu) const { return turned >= 0 && pieces[mu] > 1 && extents[mu] % 2 != 0; }
};

/// The cut of a box into `lanes` sub-lattices that keeps all sites of a group at one parity: pieces have even extents, or are turned
/// in a direction of extent 2, 6, 10 ...; neither has several ranks then. Of several, the one
///   that cuts the fewest directions in which there is more than one rank, so that what a rank needs from elsewhere are whole
///     groups;
///   that turns nothing;
///   with the fewest pieces of directions in four or more, since registers exchange halves at less cost;
///   with the fewest groups at edges;
///   that cuts later directions.
/// Pieces of directions in four or more are counted in the lowest bits of a lane, where words of 8 bytes have them in one
/// register, too. None if there is no such cut, or lanes is not a power of two. `ranks`: in each direction.
std::optional<LaneCut> find_lane_cut(const Coord& extents, int lanes, const Coord& ranks = kOneRank);

/// How many lanes groups of a box have best, `most` at the most: as many as have a cut, unless these are fewer than a quarter, or
/// than four, since gathering the sites of full groups costs less than that.
int fitting_lanes(const Coord& extents, int most, const Coord& ranks = kOneRank);

/// A site, and the one half around the sub-lattice in direction mu.
void turn(Coord& x, const Geometry& sublattice, int mu);

/// The sub-lattice of lane 0 of a cut, whose sites in host order are the groups.
Geometry sub_lattice(const Geometry& box, const LaneCut& cut);

/// The order of a box's sites in groups of `lanes` sites (1 to 64). Virtual nodes where the box can be cut;
/// otherwise the sites of each parity fill groups in host order, and the last group of a parity is padded.
/// One lane is host order. Throws jit::UserError if positions would not fit 32 bits.
jit::SiteOrder make_site_order(const Geometry& box, int lanes, const Coord& ranks = kOneRank);

}  // namespace QDP::detail
