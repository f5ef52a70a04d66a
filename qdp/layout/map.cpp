#include "qdp/layout/map.hpp"

#include "jit/comm/communicator.hpp"
#include "jit/support/error.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/map_sites.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace QDP {

ArrayBiDirectionalMap shift(detail::MapFamily::nearest_neighbours());

namespace detail {

namespace {

/// The table of a user's function. Collective: ranks learn who takes from whom.
jit::SiteMap made(const LatticeState& lattice, const char* what, const ArrayMapFunc& function, int sign, int dir) {
  const RankGrid& grid = lattice.grid();
  std::vector<std::int32_t> source(lattice.sites);
  // By rank, and within it in the order of the targets' numbers: that of messages.
  std::map<int, std::map<std::int64_t, jit::OffRank::Source>> elsewhere;
  const auto ask = [&](std::int64_t site) {
    const Coord x = lattice.here().coord(site);
    const Coord y = to_coord(function(to_multi1d(x), sign, dir), what);
    if (!lattice.whole().contains(y))
      throw jit::UserError({.what = std::string(what) + ": map function, sign " + std::to_string(sign) +
                                    ", direction " + std::to_string(dir),
                            .expected = "a source site on the lattice " + to_string(lattice.whole().extents()),
                            .got = to_string(y),
                            .where = "for site " + to_string(x),
                            .what_now = "periodic maps wrap coordinates themselves, with Layout::lattSize()"});
    const auto [rank, number] = grid.owner(y);
    const auto index = static_cast<std::int32_t>(number);
    source[site] = rank == lattice.rank() ? index : kElsewhere;
    if (rank != lattice.rank())
      elsewhere[rank].emplace(lattice.whole().lexicographic(x), jit::OffRank::Source{lattice.position[site], index});
  };
  io::on_every_rank([&] {
    for (std::int64_t site = 0; site < lattice.sites; ++site) ask(site);
  });
  jit::SiteMap map = make_map(lattice, source);
  if (grid.size() == 1) return map;

  std::vector<std::uint8_t> takes(grid.size()), all(static_cast<std::size_t>(grid.size()) * grid.size());
  jit::OffRank off_rank;
  for (const auto& [rank, sources] : elsewhere) {
    takes[rank] = 1;
    off_rank.from.push_back({.rank = rank, .sources = {}});
    for (const auto& [number, one] : sources) off_rank.from.back().sources.push_back(one);
  }
  jit::process_communicator().gather(takes.data(), takes.size(), all.data());
  for (int rank = 0; rank < grid.size(); ++rank)
    if (all[static_cast<std::size_t>(rank) * takes.size() + static_cast<std::size_t>(lattice.rank())] != 0)
      off_rank.to.push_back(rank);
  if (std::ranges::find(all, 1) != all.end()) map.set_off_rank(std::move(off_rank));
  return map;
}

/// One map as a family of one.
class OneMap : public ArrayMapFunc {
 public:
  explicit OneMap(const MapFunc& function) : function_(function) {}
  multi1d<int> operator()(const multi1d<int>& coordinate, int sign, int) const override {
    return function_(coordinate, sign);
  }
  int numArray() const override { return 1; }

 private:
  const MapFunc& function_;
};

}  // namespace

MapFamily MapFamily::make(const char* what, const ArrayMapFunc& function, bool both_signs) {
  MapFamily family;
  family.what_ = what;
  family.directions_ = function.numArray();
  if (family.directions_ < 1)
    throw jit::UserError({.what = std::string(what) + ": numArray()",
                          .expected = "at least one direction",
                          .got = std::to_string(family.directions_)});
  family.lattice_ = present_lattice(what);
  for (int sign = 1; sign >= (both_signs ? -1 : 1); sign -= 2)
    for (int dir = 0; dir < family.directions_; ++dir)
      family.maps_.push_back(std::make_shared<const jit::SiteMap>(made(*family.lattice_, what, function, sign, dir)));
  return family;
}

MapFamily MapFamily::nearest_neighbours() {
  MapFamily family;
  family.what_ = "shift";
  family.directions_ = QDP_ND;
  return family;
}

const std::shared_ptr<const jit::SiteMap>& MapFamily::on(const LatticeState& lattice, int sign, int dir) const {
  if (dir < 0 || dir >= directions_ || sign == 0) [[unlikely]]
    check(sign, dir);
  if (!lattice_) return lattice.neighbours(sign, dir);
  if (lattice_.get() != &lattice)
    throw jit::UserError(
        {.what = what_,
         .expected = "a field on the lattice of the map, " + describe(*lattice_),
         .got = "one on another lattice, " + describe(lattice),
         .what_now = "make the map again on that lattice: after Layout::create(), or in a Layout::Scope"});
  return maps_[static_cast<std::size_t>(sign < 0 ? directions_ + dir : dir)];
}

const LatticeState& MapFamily::lattice() const { return lattice_ ? *lattice_ : *present_lattice(what_); }

const std::shared_ptr<const jit::SiteMap>& MapFamily::map(int sign, int dir) const { return on(lattice(), sign, dir); }

void MapFamily::check(int sign, int dir) const {
  if (directions_ == 0)
    throw jit::UserError({.what = what_,
                          .expected = "a map that was made",
                          .got = "an empty one",
                          .what_now = "call make(function) before its first use"});
  if (sign == 0)
    throw jit::UserError(
        {.what = std::string(what_) + ": sign", .expected = "FORWARD (+1) or BACKWARD (-1)", .got = "0"});
  if (dir < 0 || dir >= directions_)
    throw jit::UserError({.what = std::string(what_) + ": direction",
                          .expected = "0.." + std::to_string(directions_ - 1),
                          .got = std::to_string(dir)});
}

}  // namespace detail

void Map::make(const MapFunc& function) { family_ = detail::MapFamily::make("Map", detail::OneMap(function), false); }

multi1d<int> Map::goffset() const {
  const std::vector<std::int32_t> source = detail::host_sources(family_.lattice(), *family_.map(+1, 0));
  multi1d<int> offsets(static_cast<int>(source.size()));
  offsets = source.data();
  return offsets;
}

void ArrayMap::make(const ArrayMapFunc& function) { family_ = detail::MapFamily::make("ArrayMap", function, false); }

void BiDirectionalMap::make(const MapFunc& function) {
  family_ = detail::MapFamily::make("BiDirectionalMap", detail::OneMap(function), true);
}

void ArrayBiDirectionalMap::make(const ArrayMapFunc& function) {
  family_ = detail::MapFamily::make("ArrayBiDirectionalMap", function, true);
}

void initDefaultMaps() {}

}  // namespace QDP
