#include "qdp/layout/map.hpp"

#include "jit/support/error.hpp"

#include <string>

namespace QDP {

ArrayBiDirectionalMap shift;

namespace detail {

namespace {

/// Host index of the source of each site, from the user's function.
std::vector<std::int32_t> sources(const char* what, const ArrayMapFunc& function, int sign, int dir) {
  const Geometry& lattice = layout(what).lattice;
  std::vector<std::int32_t> source(lattice.volume());
  for (std::int64_t site = 0; site < lattice.volume(); ++site) {
    const Coord x = lattice.coord(site);
    const Coord y = to_coord(function(to_multi1d(x), sign, dir), what);
    if (!lattice.contains(y))
      throw jit::UserError({.what = std::string(what) + ": map function, sign " + std::to_string(sign) +
                                    ", direction " + std::to_string(dir),
                            .expected = "a source site on the lattice " + to_string(lattice.extents()),
                            .got = to_string(y),
                            .where = "for site " + to_string(x),
                            .what_now = "periodic maps wrap coordinates themselves, with Layout::lattSize()"});
    source[site] = static_cast<std::int32_t>(lattice.index(y));
  }
  return source;
}

/// Shift by sign * mu, threaded.
std::vector<std::int32_t> neighbours(const Geometry& lattice, int sign, int mu) {
  const int extent = lattice.extents()[mu];
  std::vector<std::int32_t> source(lattice.volume());
#pragma omp parallel for if (lattice.volume() >= kThreadedSites)
  for (std::int64_t site = 0; site < lattice.volume(); ++site) {
    Coord x = lattice.coord(site);
    x[mu] = (x[mu] + sign + extent) % extent;
    source[site] = static_cast<std::int32_t>(lattice.index(x));
  }
  return source;
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
  const auto& order = layout(what).order;
  for (int sign = 1; sign >= (both_signs ? -1 : 1); sign -= 2)
    for (int dir = 0; dir < family.directions_; ++dir)
      family.tables_.push_back(make_map_table(order, sources(what, function, sign, dir)));
  return family;
}

MapFamily MapFamily::nearest_neighbours() {
  const LayoutState& present = layout("shift");
  MapFamily family;
  family.what_ = "shift";
  family.directions_ = QDP_ND;
  for (int sign : {1, -1})
    for (int mu = 0; mu < QDP_ND; ++mu)
      family.tables_.push_back(make_map_table(present.order, neighbours(present.lattice, sign, mu)));
  return family;
}

void MapFamily::fail(int sign, int dir) const {
  if (directions_ == 0)
    throw jit::UserError({.what = what_,
                          .expected = "a map that was made",
                          .got = "an empty one",
                          .what_now = "call make(function), for shift Layout::create(), before its first use"});
  if (sign == 0)
    throw jit::UserError(
        {.what = std::string(what_) + ": sign", .expected = "FORWARD (+1) or BACKWARD (-1)", .got = "0"});
  throw jit::UserError({.what = std::string(what_) + ": direction",
                        .expected = "0.." + std::to_string(directions_ - 1),
                        .got = std::to_string(dir)});
}

void MapFamily::fail_layout() const {
  throw jit::UserError({.what = what_,
                        .expected = "a map of the present layout",
                        .got = "one made before the last Layout::create()",
                        .what_now = "make maps again after Layout::create()"});
}

}  // namespace detail

void Map::make(const MapFunc& function) { family_ = detail::MapFamily::make("Map", detail::OneMap(function), false); }

multi1d<int> Map::goffset() const {
  const std::vector<std::int32_t> source = detail::host_sources(table());
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

void initDefaultMaps() { shift.family_ = detail::MapFamily::nearest_neighbours(); }

}  // namespace QDP
