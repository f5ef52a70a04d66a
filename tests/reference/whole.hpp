// A field as one rank would have it: every site of the lattice, in host order, wherever it lies. Where the lattice is shared
// out over ranks these are collective, and every rank gets all of it; a test's own formulas need not know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "qdp.h"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"

namespace reference {

/// [host index on a rank] host index in the whole lattice.
inline std::vector<std::size_t> places_of(const QDP::detail::LatticeState& lattice, int rank) {
  const QDP::detail::Geometry box = lattice.grid().box(rank);
  std::vector<std::size_t> places(static_cast<std::size_t>(box.volume()));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::size_t>(lattice.whole().index(box.coord(static_cast<std::int64_t>(i))));
  return places;
}
/// Of this rank and the present lattice.
inline std::vector<std::size_t> places_here() {
  const auto& lattice = *QDP::detail::present_lattice("places_here");
  return places_of(lattice, lattice.rank());
}
inline std::size_t sites_of(const QDP::detail::LatticeState& lattice) {
  return static_cast<std::size_t>(lattice.whole().volume());
}

/// What each rank has of its sites, `bytes` of each in host order, as that of all sites.
inline std::vector<std::byte> whole(const QDP::detail::LatticeState& lattice, const void* here, std::size_t bytes) {
  const std::size_t sites = sites_of(lattice);
  const int ranks = lattice.grid().size();
  const auto* mine = static_cast<const std::byte*>(here);
  if (ranks == 1) return {mine, mine + sites * bytes};
  std::vector<std::byte> gathered(sites * bytes), ordered(sites * bytes);
  const std::size_t part = gathered.size() / static_cast<std::size_t>(ranks);
  jit::process_communicator().gather(mine, part, gathered.data());
  const std::byte* from = gathered.data();
  for (int rank = 0; rank < ranks; ++rank)
    for (const std::size_t place : places_of(lattice, rank)) {
      std::memcpy(ordered.data() + place * bytes, from, bytes);
      from += bytes;
    }
  return ordered;
}
template <class T>
std::vector<T> whole(const QDP::OLattice<T>& x) {
  const auto bytes = whole(QDP::detail::lattice_of(*x.field()), x.getF(), sizeof(T));
  std::vector<T> sites(bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(sites.data()), bytes.data(), bytes.size());
  return sites;
}

/// The reverse: each rank takes its sites.
template <class T>
void put(QDP::OLattice<T>& x, const std::vector<T>& sites) {
  const auto& lattice = QDP::detail::lattice_of(*x.field());
  T* to = x.getF();
  for (const std::size_t place : places_of(lattice, lattice.rank())) *to++ = sites[place];
}

}  // namespace reference
