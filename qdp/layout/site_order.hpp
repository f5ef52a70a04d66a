// The order of the sites on a device (design D2): which sites form a group that one vector instruction works on.
//
// Virtual nodes: k directions are cut in two halves, 2^k = lanes, and a group is the same site of each of the 2^k
// sub-lattices. Then the neighbours of a group are again a group, in the same lanes, or, where the neighbourhood
// crosses the edge of a sub-lattice in a cut direction, with lanes l -> l ^ bit(direction). Groups are ordered like the
// sites of a sub-lattice in host order: even ones first.
#pragma once

#include "jit/memory/sites.hpp"
#include "qdp/layout/geometry.hpp"

#include <optional>

namespace QDP::detail {

/// Which directions are cut in two.
struct LaneCut {
  /// Lane bit of a direction, 0 if the direction is not cut. Later directions have higher bits.
  Coord lane_bit{};
  /// Extents of a sub-lattice.
  Coord extents{};
};

/// The cut of a box into `lanes` sub-lattices that keeps all sites of a group at one parity: extents of cut
/// directions are divisible by four. Of several, the one that cuts directions in which there is one rank only, so that what
/// a rank needs from elsewhere are whole groups; then the longest, where edges are rarest; the later of equals. None if
/// there is no such cut, or lanes is not a power of two up to 2^Nd. `ranks`: in each direction.
std::optional<LaneCut> find_lane_cut(const Coord& extents, int lanes, const Coord& ranks = kOneRank);

/// Its sub-lattice of lane 0, whose sites in host order are the groups.
Geometry sub_lattice(const Geometry& box, const LaneCut& cut);

/// The order of a box's sites in groups of `lanes` sites (1 to 64). Virtual nodes where the box can be cut;
/// otherwise the sites of each parity fill groups in host order, and the last group of a parity is padded.
/// One lane is host order. Throws jit::UserError if positions would not fit 32 bits.
jit::SiteOrder make_site_order(const Geometry& box, int lanes, const Coord& ranks = kOneRank);

}  // namespace QDP::detail
