#include "lattices.hpp"

#include "jit/support/error.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/types/primitives.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>

using namespace QDP;
using tests::Extents;

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
void check_table(const detail::MapTable& table, const Sources& source, const Extents& extents) {
  const auto sites = tests::sites_in_host_order(extents);
  std::map<Extents, int> index;
  for (std::size_t i = 0; i < sites.size(); ++i) index[sites[i]] = static_cast<int>(i);

  const jit::SiteOrder& order = *table.order;
  const jit::SiteMap& map = *table.sites;
  const std::int64_t positions = order.groups * order.lanes;
  REQUIRE(map.source.size() == static_cast<std::size_t>(positions + jit::kTablePadding));
  for (std::int64_t p = 0; p < positions; ++p) {
    const int site = order.host_index[p];
    if (site < 0)
      CHECK(map.source[p] == p);
    else
      CHECK(order.host_index[map.source[p]] == index.at(source(sites[site])));
  }
  for (int i = 0; i < jit::kTablePadding; ++i) CHECK(map.source[positions + i] == map.source[positions - 1]);

  if (!map.structured()) return;
  REQUIRE(map.group_source.size() == static_cast<std::size_t>(order.groups + jit::kTablePadding));
  for (std::int64_t group = 0; group < order.groups; ++group) {
    const std::int64_t from = map.group_source[group] / 2;
    const int lane_xor = map.group_source[group] % 2 ? map.lane_xor : 0;
    for (int lane = 0; lane < order.lanes; ++lane)
      if (order.host_index[group * order.lanes + lane] >= 0)
        CHECK(map.source[group * order.lanes + lane] == from * order.lanes + (lane ^ lane_xor));
  }
  for (int i = 0; i < jit::kTablePadding; ++i)
    CHECK(map.group_source[order.groups + i] == map.group_source[order.groups - 1]);
}

detail::MapTable table_of(const std::shared_ptr<const jit::SiteOrder>& order, const Sources& source,
                          const Extents& extents) {
  const detail::Geometry lattice(extents);
  std::vector<std::int32_t> host(order->sites);
  for (std::int64_t i = 0; i < order->sites; ++i)
    host[i] = static_cast<std::int32_t>(lattice.index(source(lattice.coord(i))));
  return detail::make_map_table(order, host);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const jit::UserError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Stands for the expression language: make_shift is found by the type of the table.
struct Probe {};

}  // namespace

namespace QDP::detail {
const MapTable& make_shift(const Probe&, const MapTable& table) { return table; }
}  // namespace QDP::detail

TEST_CASE("shift tables point to the periodic neighbours") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    for (int mu = 0; mu < QDP_ND; ++mu)
      for (int sign : {FORWARD, BACKWARD})
        check_table(shift.table(sign, mu), [&](const Extents& x) { return neighbour(x, sign, mu, extents); }, extents);
  }
}

TEST_CASE("shifts of a cut lattice are structured: a lane exchange in cut directions, none in the others") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  struct Case {
    Extents extents;
    int lanes;
  };
  for (const auto& [extents, lanes] :
       {Case{{4, 4, 4, 8}, 16}, Case{{4, 8, 4, 12}, 16}, Case{{4, 6, 8, 4}, 8}, Case{{3, 5, 4, 8}, 4},
        Case{{4, 4, 8, 8}, 4}, Case{{3, 5, 7, 2}, 1}, Case{{1, 1, 1, 1}, 1}}) {
    const auto order = detail::make_site_order(detail::Geometry(extents), lanes);
    const auto cut = detail::find_lane_cut(extents, lanes);
    REQUIRE(cut);
    for (int mu = 0; mu < QDP_ND; ++mu)
      for (int sign : {1, -1}) {
        const auto source = [&, e = extents](const Extents& x) { return neighbour(x, sign, mu, e); };
        const auto table = table_of(order, source, extents);
        CHECK(table.sites->structured());
        CHECK(table.sites->lane_xor == cut->lane_bit[mu]);
        check_table(table, source, extents);
      }
  }
}

TEST_CASE("where the lattice cannot be cut, shifts gather") {
  const Extents extents{3, 5, 7, 2};
  const auto order = detail::make_site_order(detail::Geometry(extents), 16);
  const auto source = [&](const Extents& x) { return neighbour(x, 1, 0, extents); };
  const auto table = table_of(order, source, extents);
  CHECK_FALSE(table.sites->structured());
  check_table(table, source, extents);
}

TEST_CASE("structure is found in any map that has it, and only there") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents, lanes and coordinates written out");
  const Extents extents{4, 4, 4, 8};
  const auto order = detail::make_site_order(detail::Geometry(extents), 16);
  const auto check = [&](const std::string& what, bool structured, int lane_xor, const Sources& source) {
    CAPTURE(what);
    const auto table = table_of(order, source, extents);
    CHECK(table.sites->structured() == structured);
    if (structured) CHECK(table.sites->lane_xor == lane_xor);
    check_table(table, source, extents);
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
    check_table(map.table(), [&](const Extents& x) { return knight(x, 1); }, extents);
    BiDirectionalMap both;
    both.make(SimpleMap{knight});
    ArrayMap family(FamilyMap(Nd, naik));
    ArrayBiDirectionalMap families(FamilyMap(Nd, naik));
    for (int sign : {1, -1}) {
      check_table(both.table(sign), [&](const Extents& x) { return knight(x, sign); }, extents);
      for (int dir = 0; dir < Nd; ++dir)
        check_table(families.table(sign, dir), [&](const Extents& x) { return naik(x, sign, dir); }, extents);
    }
    for (int dir = 0; dir < Nd; ++dir)
      check_table(family.table(dir), [&](const Extents& x) { return naik(x, 1, dir); }, extents);

    const auto offsets = map.goffset();
    const detail::Geometry lattice(extents);
    REQUIRE(offsets.size() == Layout::sitesOnNode());
    for (int i = 0; i < offsets.size(); ++i) CHECK(offsets[i] == lattice.index(knight(lattice.coord(i), 1)));
    CHECK(map.soffset().size() == 0);
  }
}

TEST_CASE("call operators hand the table of sign and direction to the expression language") {
  tests::create_lattice({4, 4, 4, 8});
  CHECK(shift(Probe{}, FORWARD, 1).id == shift.table(1, 1).id);
  CHECK(shift(Probe{}, BACKWARD, 1).id == shift.table(-1, 1).id);
  const auto keep = [](const Extents& x, int, int) { return x; };
  const ArrayMap family(FamilyMap(2, keep));
  CHECK(family(Probe{}, 1).id == family.table(1).id);
  const Map map(SimpleMap([](const Extents& x, int) { return x; }));
  CHECK(map(Probe{}).id == map.table().id);
  const BiDirectionalMap both(SimpleMap([](const Extents& x, int) { return x; }));
  CHECK(both(Probe{}, -1).id == both.table(-1).id);
}

TEST_CASE("every table has an id of its own, copies share it, and a new layout makes new tables") {
  tests::create_lattice({2, 2, 2, 2});
  std::map<std::uint64_t, int> ids;
  for (int mu = 0; mu < QDP_ND; ++mu)
    for (int sign : {1, -1}) ++ids[shift.table(sign, mu).id];
  CHECK(ids.size() == 2 * Nd);
  CHECK(ids.count(0) == 0);
  const ArrayBiDirectionalMap copy = shift;
  const std::uint64_t id = shift.table(1, 0).id;
  CHECK(copy.table(1, 0).id == id);
  tests::create_lattice({2, 2, 2, 2});
  CHECK(shift.table(1, 0).id != id);
  CHECK(shift.table(1, 0).order == detail::site_order());
  CHECK(contains(message_of([&] { copy.table(1, 0); }), "before the last Layout::create()"));
}

TEST_CASE("large lattices, tabulated by several threads: shifts forth and back are the identity") {
  const Extents extents{16, 8, 16, 32};
  tests::create_lattice(extents);
  const detail::Geometry lattice(extents);
  for (int mu = 0; mu < QDP_ND; ++mu) {
    const auto forward = detail::host_sources(shift.table(FORWARD, mu));
    const auto backward = detail::host_sources(shift.table(BACKWARD, mu));
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
