#include "lattices.hpp"

#include "jit/support/error.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/map_sites.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/types/primitives.hpp"
#include "tests/message_of.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

using namespace QDP;
using tests::contains;
using tests::Extents;
using tests::message_of;

namespace {

Extents neighbour(Extents x, int sign, int mu, const Extents& extents) {
  x[mu] = (x[mu] + sign + extents[mu]) % extents[mu];
  return x;
}

/// Maps from lambdas.
class SimpleMap : public MapFunc {
 public:
  explicit SimpleMap(std::function<Extents(const Extents&, int)> f) : f_(std::move(f)) {}
  multi1d<int> operator()(const multi1d<int>& x, int sign) const override {
    return tests::to_multi1d(f_(tests::to_extents(x), sign));
  }

 private:
  std::function<Extents(const Extents&, int)> f_;
};

class FamilyMap : public ArrayMapFunc {
 public:
  FamilyMap(int n, std::function<Extents(const Extents&, int, int)> f) : n_(n), f_(std::move(f)) {}
  multi1d<int> operator()(const multi1d<int>& x, int sign, int dir) const override {
    return tests::to_multi1d(f_(tests::to_extents(x), sign, dir));
  }
  int numArray() const override { return n_; }

 private:
  int n_;
  std::function<Extents(const Extents&, int, int)> f_;
};

/// Host index of a site's source.
using Sources = std::function<Extents(const Extents&)>;

/// The table says what the function says, in both of its forms.
void check_map(const jit::SiteOrder& order, const jit::SiteMap& map, const Sources& source, const Extents& extents) {
  const auto sites = tests::sites_in_host_order(extents);
  std::map<Extents, int> index;
  for (std::size_t i = 0; i < sites.size(); ++i) index[sites[i]] = static_cast<int>(i);

  const std::int64_t positions = order.groups * order.lanes;
  REQUIRE(map.sources().size() == static_cast<std::size_t>(positions + jit::kTablePadding));
  for (std::int64_t p = 0; p < positions; ++p) {
    const int site = order.host_index[p];
    if (site < 0)  // read and thrown away: anything that is there
      CHECK((map.sources()[p] >= 0 && map.sources()[p] < positions));
    else
      CHECK(order.host_index[map.sources()[p]] == index.at(source(sites[site])));
  }
  for (int i = 0; i < jit::kTablePadding; ++i) CHECK(map.sources()[positions + i] == map.sources()[positions - 1]);

  if (!map.is_structured()) return;
  REQUIRE(map.group_sources().size() == static_cast<std::size_t>(order.groups + jit::kTablePadding));
  for (std::int64_t group = 0; group < order.groups; ++group) {
    const std::int64_t from = map.group_sources()[group] / 2;
    const jit::LaneExchange exchange = map.group_sources()[group] % 2 ? map.exchange() : jit::LaneExchange{};
    for (int lane = 0; lane < order.lanes; ++lane)
      if (order.host_index[group * order.lanes + lane] >= 0)
        CHECK(map.sources()[group * order.lanes + lane] == from * order.lanes + exchange.source(lane));
  }
  for (int i = 0; i < jit::kTablePadding; ++i)
    CHECK(map.group_sources()[order.groups + i] == map.group_sources()[order.groups - 1]);
}

jit::SiteMap map_of(const jit::SiteOrder& order, const Sources& source, const Extents& extents) {
  const detail::Geometry lattice(extents);
  std::vector<std::int32_t> host(order.sites);
  for (std::int64_t i = 0; i < order.sites; ++i)
    host[i] = static_cast<std::int32_t>(lattice.index(source(lattice.coord(i))));
  return detail::make_map(order, host);
}

/// Stands for the expression language: make_shift is found by the type of the family.
struct Probe {};

}  // namespace

namespace QDP::detail {
const jit::SiteMap* make_shift(const Probe&, const MapFamily& maps, int sign, int dir) {
  return maps.map(sign, dir).get();
}
}  // namespace QDP::detail

TEST_CASE("shift tables point to the periodic neighbours") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    for (int mu = 0; mu < QDP_ND; ++mu)
      for (int sign : {FORWARD, BACKWARD})
        check_map(
            *detail::present_lattice("test"), *shift.family().map(sign, mu),
            [&](const Extents& x) { return neighbour(x, sign, mu, extents); }, extents);
  }
}

TEST_CASE("shifts of a cut lattice are structured: a lane exchange in cut directions, none in the others") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  struct Case {
    Extents extents;
    int lanes;
  };
  for (const auto& [extents, lanes] :
       {Case{{4, 4, 4, 8}, 16},   Case{{4, 8, 4, 12}, 16}, Case{{4, 6, 8, 4}, 8},  Case{{3, 5, 4, 8}, 4},
        Case{{4, 4, 8, 8}, 4},    Case{{3, 5, 7, 2}, 1},   Case{{1, 1, 1, 1}, 1},  Case{{8, 4, 4, 5}, 16},
        Case{{3, 16, 4, 2}, 16},  Case{{5, 8, 3, 4}, 8},   Case{{8, 8, 2, 8}, 32}, Case{{32, 3, 3, 4}, 32},
        Case{{16, 8, 3, 16}, 64}, Case{{6, 6, 6, 6}, 8},   Case{{6, 2, 10, 4}, 8}, Case{{2, 6, 6, 3}, 4},
        Case{{4, 12, 6, 5}, 8},   Case{{6, 4, 6, 8}, 16},  Case{{2, 2, 2, 2}, 8},  Case{{20, 3, 6, 2}, 8}}) {
    const auto order = detail::make_site_order(detail::Geometry(extents), lanes);
    const auto cut = detail::find_lane_cut(extents, lanes);
    REQUIRE(cut);
    for (int mu = 0; mu < QDP_ND; ++mu)
      for (int sign : {1, -1}) {
        const auto source = [&, e = extents](const Extents& x) { return neighbour(x, sign, mu, e); };
        const auto map = map_of(order, source, extents);
        CHECK(map.is_structured());
        // Lanes of piece n take what those of the next piece have, or of the one before, around.
        const int pieces = cut->pieces[mu], stride = cut->stride[mu];
        CHECK(map.exchange().is_none() == (pieces == 1));
        for (int lane = 0; lane < lanes && pieces > 1; ++lane) {
          const int piece = lane / stride % pieces, next = (piece + sign + pieces) % pieces;
          CHECK(map.exchange().source(lane) == lane + (next - piece) * stride);
        }
        check_map(order, map, source, extents);
      }
  }
}

TEST_CASE("where the lattice cannot be cut, shifts gather") {
  const Extents extents{3, 5, 7, 2};
  const auto order = detail::make_site_order(detail::Geometry(extents), 16);
  const auto source = [&](const Extents& x) { return neighbour(x, 1, 0, extents); };
  const auto map = map_of(order, source, extents);
  CHECK_FALSE(map.is_structured());
  check_map(order, map, source, extents);
}

TEST_CASE("structure is found in any map that has it, and only there") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  const Extents extents{4, 4, 4, 8};
  const auto order = detail::make_site_order(detail::Geometry(extents), 16);
  const auto check = [&](const std::string& what, bool structured, std::uint8_t flip, const Sources& source) {
    CAPTURE(what);
    const auto map = map_of(order, source, extents);
    CHECK(map.is_structured() == structured);
    if (structured) CHECK(map.exchange() == jit::LaneExchange{.flip = flip});
    check_map(order, map, source, extents);
  };
  check("identity", true, 0, [](const Extents& x) { return x; });
  check("half way round t: every group wraps", true, 8, [](Extents x) {
    x[3] = (x[3] + 4) % 8;
    return x;
  });
  check("three sites in y", true, 2, [](Extents x) {
    x[1] = (x[1] + 3) % 4;
    return x;
  });
  check("diagonal: two exchanges", false, 0, [](Extents x) {
    x[0] = (x[0] + 1) % 4, x[1] = (x[1] + 1) % 4;
    return x;
  });
  check("time reversal", true, 8, [](Extents x) {
    x[3] = 7 - x[3];
    return x;
  });
  check("time reflection about 0", true, 8, [](Extents x) {
    x[3] = (8 - x[3]) % 8;
    return x;
  });
  check("reflection of half the lattice", false, 0, [](Extents x) {
    if (x[0] == 0) x[3] = 7 - x[3];
    return x;
  });
  check("all from the origin", false, 0, [](const Extents&) { return Extents{}; });
}

TEST_CASE("maps of the user: one, a family, with inverses") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    const auto knight = [&](Extents x, int sign) {
      x = neighbour(x, sign, 0, extents);
      x = neighbour(x, sign, Nd - 1, extents);
      return neighbour(x, sign, Nd - 1, extents);
    };
    const auto naik = [&](Extents x, int sign, int dir) {
      for (int i = 0; i < 3; ++i) x = neighbour(x, sign, dir, extents);
      return x;
    };
    const Map map(SimpleMap{knight});
    const auto lattice_state = detail::present_lattice("test");
    check_map(*lattice_state, *map.family().map(1, 0), [&](const Extents& x) { return knight(x, 1); }, extents);
    BiDirectionalMap both;
    both.make(SimpleMap{knight});
    ArrayMap family(FamilyMap(Nd, naik));
    ArrayBiDirectionalMap families(FamilyMap(Nd, naik));
    for (int sign : {1, -1}) {
      check_map(
          *lattice_state, *both.family().map(sign, 0), [&](const Extents& x) { return knight(x, sign); }, extents);
      for (int dir = 0; dir < Nd; ++dir)
        check_map(
            *lattice_state, *families.family().map(sign, dir), [&](const Extents& x) { return naik(x, sign, dir); },
            extents);
    }
    for (int dir = 0; dir < Nd; ++dir)
      check_map(
          *lattice_state, *family.family().map(1, dir), [&](const Extents& x) { return naik(x, 1, dir); }, extents);

    const auto offsets = map.goffset();
    const detail::Geometry lattice(extents);
    REQUIRE(offsets.size() == Layout::sitesOnNode());
    for (int i = 0; i < offsets.size(); ++i) CHECK(offsets[i] == lattice.index(knight(lattice.coord(i), 1)));
    CHECK(map.soffset().size() == 0);
  }
}

TEST_CASE("call operators hand sign and direction to the expression language") {
  tests::create_lattice({4, 4, 4, 8});
  const auto map_number = [](const detail::MapFamily& maps, int sign, int dir) { return maps.map(sign, dir).get(); };
  CHECK(shift(Probe{}, FORWARD, 1) == map_number(shift.family(), 1, 1));
  CHECK(shift(Probe{}, BACKWARD, 1) == map_number(shift.family(), -1, 1));
  const auto keep = [](const Extents& x, int, int) { return x; };
  const ArrayMap family(FamilyMap(2, keep));
  CHECK(family(Probe{}, 1) == map_number(family.family(), 1, 1));
  const Map map(SimpleMap([](const Extents& x, int) { return x; }));
  CHECK(map(Probe{}) == map_number(map.family(), 1, 0));
  const BiDirectionalMap both(SimpleMap([](const Extents& x, int) { return x; }));
  CHECK(both(Probe{}, -1) == map_number(both.family(), -1, 0));
}

TEST_CASE("every map is one object, copies of a family share them, and each lattice has its own shifts") {
  tests::create_lattice({2, 2, 2, 2});
  const auto first = detail::present_lattice("test");
  std::set<const jit::SiteMap*> maps;
  for (int mu = 0; mu < QDP_ND; ++mu)
    for (int sign : {1, -1}) maps.insert(shift.family().map(sign, mu).get());
  CHECK(maps.size() == 2 * Nd);
  const ArrayBiDirectionalMap copy = shift;
  const auto kept = shift.family().map(1, 0);
  CHECK(copy.family().map(1, 0) == kept);
  tests::create_lattice({2, 2, 2, 2});
  const auto second = detail::present_lattice("test");
  CHECK(shift.family().map(1, 0) != kept);
  CHECK(shift.family().on(*first, 1, 0) == kept);
  CHECK(shift.family().on(*second, 1, 0) == shift.family().map(1, 0));
  Map own(SimpleMap([](const Extents& x, int) { return x; }));
  tests::create_lattice({2, 2, 2, 2});
  CHECK(own.family().map(1, 0) == own.family().on(*second, 1, 0));
  CHECK(contains(message_of([&] { own.family().on(*first, 1, 0); }), "on another lattice"));
}

TEST_CASE("large lattices, tabulated by several threads: shifts forth and back are the identity") {
  const Extents extents{16, 8, 16, 32};
  tests::create_lattice(extents);
  const detail::Geometry lattice(extents);
  for (int mu = 0; mu < QDP_ND; ++mu) {
    const auto forward = detail::host_sources(*detail::present_lattice("test"), *shift.family().map(FORWARD, mu));
    const auto backward = detail::host_sources(*detail::present_lattice("test"), *shift.family().map(BACKWARD, mu));
    bool right = true;
    for (std::int64_t site = 0; site < lattice.volume(); ++site)
      right = right && lattice.coord(forward[site]) == neighbour(lattice.coord(site), 1, mu, extents) &&
              backward[forward[site]] == site;
    CHECK(right);
  }
}

TEST_CASE("a map that leaves the lattice names both sites") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  tests::create_lattice({4, 4, 4, 8});
  Map map;
  const std::string message = message_of([&] {
    map.make(SimpleMap([](Extents x, int) {
      ++x[1];
      return x;
    }));
  });
  CHECK(contains(message, "(1, 4, 0, 0)"));
  CHECK(contains(message, "for site (1, 3, 0, 0)"));
  CHECK(contains(message, "Layout::lattSize()"));
  class Short : public MapFunc {
    multi1d<int> operator()(const multi1d<int>&, int) const override { return multi1d<int>(3); }
  };
  CHECK(contains(message_of([&] { map.make(Short()); }), "4 coordinates"));
}

TEST_CASE("wrong directions and signs, and maps that were not made, are named") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  tests::create_lattice({4, 4, 4, 8});
  CHECK(contains(message_of([] { shift(Probe{}, FORWARD, 4); }), "shift: direction: expected 0..3, got 4"));
  CHECK(contains(message_of([] { shift(Probe{}, FORWARD, -1); }), "got -1"));
  CHECK(contains(message_of([] { shift(Probe{}, 0, 0); }), "FORWARD"));
  CHECK(contains(message_of([] { Map()(Probe{}); }), "make(function)"));
  const auto keep = [](const Extents& x, int, int) { return x; };
  CHECK(contains(message_of([&] { ArrayMap(FamilyMap(0, keep)); }), "numArray()"));
  Layout::destroy();
  CHECK(contains(message_of([&] { ArrayMap(FamilyMap(1, keep)); }), "Layout::create()"));
}
