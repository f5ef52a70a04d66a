#include "qdp/io/volume_sites.hpp"

#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace QDP::io {

namespace {

using Lattice = std::shared_ptr<const detail::LatticeState>;

/// The sites of a box, by the numbers that `coord` gives them there.
template <class CoordOf>
SiteList sites_of(const Lattice& lattice, const detail::Geometry& box, CoordOf coord) {
  const auto sites = static_cast<std::uint64_t>(box.volume());
  return {sites, [lattice, box, coord, sites](const SiteList::Take& take) {
            std::vector<std::uint64_t> numbers;
            for (std::uint64_t begin = 0; begin < sites; begin += SiteList::kPiece) {
              numbers.clear();
              for (std::uint64_t i = begin; i < std::min(sites, begin + SiteList::kPiece); ++i)
                numbers.push_back(static_cast<std::uint64_t>(
                    lattice->whole().lexicographic(coord(box, static_cast<std::int64_t>(i)))));
              take(numbers);
            }
          }};
}

/// Blocks of ranks, those at the upper end with what is left.
std::vector<Volume> parts_of_blocks(const Lattice& lattice) {
  const detail::RankGrid& grid = lattice->grid();
  detail::Coord blocks = grid.ranks(), size;  // how many; ranks in each
  if (Layout::isIOGridDefined()) blocks = detail::to_coord(Layout::getIONodeGrid(), "Layout::getIONodeGrid");
  for (std::size_t mu = 0; mu < size.size(); ++mu) size[mu] = (grid.ranks()[mu] + blocks[mu] - 1) / blocks[mu];
  std::vector<Volume> volumes;
  for (int rank = 0; rank < grid.size(); ++rank) {
    const detail::Coord place = grid.place(rank);
    detail::Coord corner, extents;
    bool first = true;  // of its block
    for (std::size_t mu = 0; mu < place.size(); ++mu) {
      first = first && place[mu] % size[mu] == 0;
      corner[mu] = place[mu] * grid.part()[mu];
      extents[mu] = std::min(size[mu], grid.ranks()[mu] - place[mu]) * grid.part()[mu];
    }
    if (!first) continue;
    const detail::Geometry box(extents, corner);
    volumes.push_back({rank, sites_of(lattice, box, [](const detail::Geometry& of, std::int64_t i) {
                         return of.from_lexicographic(i);
                       })});
  }
  return volumes;
}

}  // namespace

Volumes volumes_of_ranks(VolumeFormat format) {
  const Lattice& lattice = detail::present_lattice("files of a field");
  if (format == VolumeFormat::single || lattice->grid().size() == 1) return {};
  if (format == VolumeFormat::parts) return {format, parts_of_blocks(lattice)};
  Volumes volumes{format, {}};
  for (int rank = 0; rank < lattice->grid().size(); ++rank)
    volumes.files.push_back({rank, sites_of(lattice, lattice->grid().box(rank),
                                            [](const detail::Geometry& box, std::int64_t i) { return box.coord(i); })});
  return volumes;
}

}  // namespace QDP::io
