// Sites whose neighbours are on other ranks, and who sends what to whom (design D6).
//
// A statement with maps that leave the rank is computed on the sites that need nothing from elsewhere, its inner sites, and
// then on its faces, which consist of groups in which at least one site does. A face reads the values that come through such
// a map from buffers, like any other field: from what has arrived, where whole groups arrive; otherwise from one that has a
// group for each of the face's, filled in from here and from messages.
//
// Messages hold values in the order in which the receiver has asked for them, that of its positions. Buffers have a group
// for each of the receiver's, with the same lanes, of which those that others need are filled: so kernels load and store
// whole registers, and only what is needed travels. What that is follows from the map and the sites of the statement; the
// ranks tell each other once.
#pragma once

#include "jit/memory/sites.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace QDP::detail {

class LatticeState;

/// What of a buffer is of one other rank.
struct Segment {
  int rank;
  std::int64_t first_group, groups;
  std::int64_t first_site, sites;  ///< in host order
};

/// What one map moves for a statement.
struct Halo {
  std::shared_ptr<const jit::SiteOrder> outgoing, incoming;  ///< orders of the buffers; nullptr: nothing
  jit::Domain departures;                                    ///< all of `outgoing`
  jit::SiteMap departing;                                    ///< position in `outgoing` -> of the source, here
  std::vector<Segment> to, from;
};

/// Groups of the domain that need something of the same maps.
struct Face {
  /// Values through a map on the sites of the face.
  struct Values {
    int map;
    /// Position on the lattice -> in what arrives, if all of it does, in groups.
    std::optional<jit::SiteMap> arrived;
    // Otherwise, in the buffer's order:
    jit::Domain from_here, from_elsewhere;  ///< sites whose source is here; is not
    jit::SiteMap sources, arrivals;         ///< position -> that of the source here; in what arrives
  };
  jit::Domain domain;
  std::shared_ptr<const jit::SiteOrder> order;  ///< of a buffer: one group for each of the domain's
  jit::SiteMap to_buffer;                       ///< position on the lattice -> in it
  std::vector<Values> values;
};

struct Faces {
  std::vector<jit::Domain> inner;
  std::vector<jit::Domain> inner_pieces;  ///< the same, cut where messages are to be looked after in between
  /// Those that need one map alone, in the order of the maps, and one of the groups that need several, where values
  /// through all maps come from buffers. Without the empty ones.
  std::vector<Face> faces;
  std::vector<Halo> halos;  ///< [maps]
  /// What statements need to use this, which they keep for the next time (qdp/expr/exchange).
  mutable std::map<std::vector<std::uint64_t>, std::shared_ptr<void>> kept = {};
};

/// For a statement on the domain with these maps, all of which leave the rank. Collective: all ranks ask for the same in
/// the same order.
std::unique_ptr<Faces> make_faces(const LatticeState& lattice, const jit::Domain& domain,
                                  std::span<const jit::SiteMap* const> maps);

}  // namespace QDP::detail
