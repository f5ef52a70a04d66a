#include "lattices.hpp"

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/types/shift.hpp"
#include "tests/message_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace QDP;
using tests::contains;
using tests::Extents;
using tests::message_of;

namespace {

const std::vector<int> kLanes{1, 2, 4, 8, 16, 32, 64};

int parity(const Extents& x) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

}  // namespace

TEST_CASE("host order: even sites first, lexicographic within each parity") {
  for (const Extents& extents : tests::lattices()) {
    const detail::Geometry lattice(extents);
    const auto sites = tests::sites_in_host_order(extents);
    REQUIRE(lattice.volume() == static_cast<int>(sites.size()));
    int even = 0;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      CHECK(lattice.coord(i) == sites[i]);
      CHECK(lattice.index(sites[i]) == static_cast<int>(i));
      even += parity(sites[i]) == 0;
    }
    CHECK(lattice.volume(0) == even);
    CHECK(lattice.volume(1) == lattice.volume() - even);
  }
}

TEST_CASE("host order is QDP++'s cb2 formula where that exists, the first extent even") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  const Extents extents{4, 3, 2, 5};
  const detail::Geometry lattice(extents);
  const int half = tests::volume(extents) / 2;
  for (int n = 0; n < 2 * half; ++n) {
    const Extents x = tests::lexicographic_coordinates(n, extents);
    const int place = x[0] / 2 + 2 * (x[1] + 3 * (x[2] + 2 * x[3]));
    CHECK(lattice.index(x) == place + parity(x) * half);
  }
}

TEST_CASE("device order: every site once, even groups first, one parity per group, padding only where needed") {
  for (const Extents& extents : tests::lattices())
    for (int lanes : kLanes) {
      CAPTURE(lanes);
      const detail::Geometry lattice(extents);
      const auto sites = tests::sites_in_host_order(extents);
      const auto order = detail::make_site_order(lattice, lanes);
      REQUIRE(order.lanes == lanes);
      REQUIRE(order.sites == lattice.volume());
      REQUIRE(order.first_odd == (lattice.volume(0) + lanes - 1) / lanes);
      REQUIRE(order.host_index.size() == static_cast<std::size_t>(order.groups * lanes));
      REQUIRE(order.position.size() == sites.size());
      std::set<int> seen;
      int last_parity = 0;
      for (std::int64_t group = 0; group < order.groups; ++group) {
        std::set<int> parities;
        for (int lane = 0; lane < lanes; ++lane) {
          const int site = order.host_index[group * lanes + lane];
          if (site < 0) continue;
          CHECK(order.position[site] == group * lanes + lane);
          seen.insert(site);
          parities.insert(parity(sites[site]));
        }
        REQUIRE(parities.size() == 1);
        CHECK(*parities.begin() >= last_parity);
        CHECK(*parities.begin() == (group >= order.first_odd ? 1 : 0));
        last_parity = *parities.begin();
      }
      CHECK(seen.size() == sites.size());
      const std::int64_t padding = order.groups * lanes - order.sites;
      if (detail::find_lane_cut(extents, lanes))
        CHECK(padding == 0);
      else
        CHECK(padding <= 2 * (lanes - 1));
    }
}

TEST_CASE("one lane is host order") {
  for (const Extents& extents : tests::lattices()) {
    const auto order = detail::make_site_order(detail::Geometry(extents), 1);
    for (std::int64_t i = 0; i < order.sites; ++i) CHECK(order.host_index[i] == i);
  }
}

TEST_CASE("lanes of a cut lattice are halves of directions, the last cut direction on the highest bit") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  const Extents extents{4, 8, 8, 12};
  const detail::Geometry lattice(extents);
  const auto sites = tests::sites_in_host_order(extents);
  const auto order = detail::make_site_order(lattice, 16);
  for (std::int64_t group = 0; group < order.groups; ++group) {
    const Extents corner = sites[order.host_index[group * 16]];
    for (int lane = 0; lane < 16; ++lane) {
      Extents x = corner;
      for (int mu = 0; mu < Nd; ++mu)
        if (lane >> mu & 1) x[mu] += extents[mu] / 2;
      CHECK(sites[order.host_index[group * 16 + lane]] == x);
    }
  }
}

TEST_CASE("cuts keep parity: extents divisible by four, the longest first") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  TESSERA_NEEDS_FOUR_DIMENSIONS("the bits of lanes are those of a cut in four directions");
  const auto eight = detail::find_lane_cut(Extents{8, 16, 8, 4}, 8);
  REQUIRE(eight);
  CHECK(eight->pieces == Extents{2, 2, 2, 1});
  CHECK(eight->stride == Extents{1, 2, 4, 0});
  CHECK(eight->extents == Extents{4, 8, 4, 4});
  const auto two = detail::find_lane_cut(Extents{8, 16, 8, 4}, 2);
  REQUIRE(two);
  CHECK(two->stride == Extents{0, 1, 0, 0});
  const auto equal = detail::find_lane_cut(Extents{8, 8, 8, 8}, 4);
  REQUIRE(equal);
  CHECK(equal->stride == Extents{0, 0, 1, 2});
  CHECK_FALSE(detail::find_lane_cut(Extents{4, 4, 4, 5}, 16));
  CHECK_FALSE(detail::find_lane_cut(Extents{4, 4, 4, 4}, 32));
  CHECK_FALSE(detail::find_lane_cut(Extents{4, 4, 4, 4}, 3));
  // Lattices take as many lanes as fit, down to four or a quarter; else all, which gather.
  CHECK(detail::fitting_lanes(Extents{4, 4, 4, 4}, 16) == 16);
  CHECK(detail::fitting_lanes(Extents{4, 4, 4, 5}, 16) == 8);
  CHECK(detail::fitting_lanes(Extents{4, 4, 4, 2}, 16) == 16);
  CHECK(detail::fitting_lanes(Extents{6, 4, 6, 8}, 16) == 16);
  CHECK(detail::fitting_lanes(Extents{6, 4, 4, 6}, 16) == 16);
  CHECK(detail::fitting_lanes(Extents{6, 6, 6, 6}, 16) == 8);
  CHECK(detail::fitting_lanes(Extents{6, 6, 6, 6}, 16, Extents{1, 1, 1, 2}) == 4);
  CHECK(detail::fitting_lanes(Extents{6, 6, 6, 6}, 16, Extents{1, 1, 2, 2}) == 16);  // of two, too few, all
  CHECK(detail::fitting_lanes(Extents{6, 6, 6, 4}, 16) == 16);
  CHECK(detail::fitting_lanes(Extents{6, 4, 4, 6}, 32) == 32);
  CHECK(detail::fitting_lanes(Extents{4, 4, 6, 5}, 32) == 8);
  CHECK(detail::fitting_lanes(Extents{4, 4, 6, 6}, 8) == 8);
  CHECK(detail::fitting_lanes(Extents{6, 6, 6, 4}, 8) == 8);
  CHECK(detail::fitting_lanes(Extents{4, 3, 5, 3}, 16) == 16);  // two lanes are too few
  CHECK(detail::fitting_lanes(Extents{3, 5, 3, 3}, 1) == 1);
}

TEST_CASE(
    "directions are cut in four or more where halves are not enough, or would be of directions with several ranks") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  struct Case {
    Extents extents, ranks;
    int lanes;
    Extents pieces, stride;
  };
  const Extents one{1, 1, 1, 1};
  for (const auto& [extents, ranks, lanes, pieces, stride] :
       {Case{{16, 16, 16, 16}, one, 32, {2, 2, 2, 4}, {4, 8, 16, 1}},
        Case{{16, 16, 16, 8}, {1, 1, 1, 2}, 16, {2, 2, 4, 1}, {4, 8, 1, 0}},
        Case{{8, 16, 16, 16}, {2, 1, 1, 1}, 16, {1, 2, 2, 4}, {0, 4, 8, 1}},
        Case{{4, 4, 4, 16}, {1, 1, 2, 1}, 16, {2, 2, 1, 4}, {4, 8, 0, 1}},
        Case{{4, 4, 4, 8}, {1, 1, 2, 1}, 16, {2, 2, 1, 4}, {4, 8, 0, 1}},
        Case{{4, 4, 4, 4}, {1, 1, 2, 2}, 16, {2, 2, 2, 2}, {1, 2, 4, 8}},  // nothing else is there
        Case{{3, 16, 4, 2}, one, 16, {1, 8, 2, 1}, {0, 1, 8, 0}},
        Case{{16, 8, 3, 16}, one, 64, {4, 2, 1, 8}, {1, 32, 0, 4}}}) {
    CAPTURE(detail::to_string(extents));
    const auto cut = detail::find_lane_cut(extents, lanes, ranks);
    REQUIRE(cut);
    CHECK(cut->pieces == pieces);
    CHECK(cut->stride == stride);
    for (int mu = 0; mu < Nd; ++mu) CHECK(cut->extents[mu] * cut->pieces[mu] == extents[mu]);
  }
  // Pieces of odd extents are turned in another direction; not if there is another way.
  for (const auto& [extents, lanes, pieces, turned] : {std::tuple{Extents{6, 6, 6, 6}, 8, Extents{1, 2, 2, 2}, 0},
                                                       {Extents{6, 10, 4, 2}, 8, Extents{2, 2, 2, 1}, 3},
                                                       {Extents{12, 6, 3, 5}, 2, Extents{2, 1, 1, 1}, -1},
                                                       {Extents{20, 6, 3, 5}, 8, Extents{}, -2},
                                                       {Extents{4, 12, 6, 5}, 8, Extents{2, 4, 1, 1}, 2},
                                                       {Extents{6, 3, 6, 5}, 2, Extents{1, 1, 2, 1}, 0}}) {
    CAPTURE(detail::to_string(extents));
    const auto cut = detail::find_lane_cut(extents, lanes);
    REQUIRE(cut.has_value() == (turned != -2));
    if (!cut) continue;
    CHECK(cut->pieces == pieces);
    CHECK(cut->turned == turned);
  }
  CHECK_FALSE(detail::find_lane_cut(Extents{6, 6, 6, 6}, 8, Extents{1, 1, 1, 2}));
  // Words of 8 bytes fill half a group in a register: four pieces of one direction are too many for four lanes.
  CHECK_FALSE(detail::find_lane_cut(Extents{3, 16, 3, 3}, 4));
  CHECK_FALSE(detail::find_lane_cut(Extents{3, 64, 3, 3}, 16));
}

TEST_CASE("Layout answers as QDP++ does") {
  const int ranks = tests::job_ranks(), rank = tests::job_rank();
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    const auto sites = tests::sites_in_host_order(extents), here = tests::sites_here(extents);
    const Extents grid = tests::to_extents(Layout::logicalSize());
    const Extents place = tests::lexicographic_coordinates(rank, grid);
    Extents part;
    for (int mu = 0; mu < Nd; ++mu) part[mu] = extents[mu] / grid[mu];
    CHECK(tests::volume(grid) == ranks);
    CHECK(Layout::vol() == sites.size());
    CHECK(Layout::sitesOnNode() == static_cast<int>(sites.size()) / ranks);
    CHECK(Layout::sitesOnNode() == static_cast<int>(here.size()));
    CHECK(tests::to_extents(Layout::lattSize()) == extents);
    CHECK(tests::to_extents(Layout::subgridLattSize()) == part);
    CHECK(tests::to_extents(Layout::nodeCoord()) == place);
    CHECK(Layout::numNodes() == ranks);
    CHECK(Layout::nodeNumber() == rank);
    CHECK(Layout::primaryNode() == (rank == 0));
    CHECK(Layout::getNodeNumberFrom(Layout::nodeCoord()) == rank);
    CHECK(tests::to_extents(Layout::getLogicalCoordFrom(rank)) == place);
    CHECK(Layout::isIOGridDefined() == (ranks == 1));
    CHECK(Layout::numIONodeGrid() == 1);
    CHECK(tests::to_extents(Layout::getIONodeGrid()) == Extents{1, 1, 1, 1});
    std::vector<const std::int32_t*> coordinates;
    for (int mu = 0; mu < Nd; ++mu)
      coordinates.push_back(static_cast<const std::int32_t*>(
          detail::coordinate_field(*detail::present_lattice("test"), mu)->host_read()));
    for (int i = 0; i < static_cast<int>(here.size()); ++i) {
      const auto x = tests::to_multi1d(here[i]);
      CHECK(tests::to_extents(Layout::siteCoords(rank, i)) == here[i]);
      CHECK(Layout::linearSiteIndex(x) == i);
      int c[4] = {};
      Layout::QDPXX_getSiteCoords(c, rank, i);
      CHECK(Extents{c[0], c[1], c[2], c[3]} == here[i]);
      CHECK(Layout::QDPXX_getLinearSiteIndex(c) == i);
      for (int mu = 0; mu < Nd; ++mu) CHECK(coordinates[mu][i] == here[i][mu]);
      CHECK(tests::to_extents(Layout::localLexiCoordFromLinear(i)) == tests::lexicographic_coordinates(i, part));
    }
    for (int i = 0; i < static_cast<int>(sites.size()); ++i) {
      const Extents lexicographic = tests::lexicographic_coordinates(i, extents);
      const auto x = tests::to_multi1d(lexicographic);
      CHECK(Layout::linearSiteIndex(i) == Layout::linearSiteIndex(x));
      Extents owner;  // its place in the grid
      for (int mu = 0; mu < Nd; ++mu) owner[mu] = lexicographic[mu] / part[mu];
      CHECK(tests::to_extents(Layout::nodeCoord(x)) == owner);
      CHECK(tests::lexicographic_coordinates(Layout::nodeNumber(x), grid) == owner);
      CHECK(Layout::QDPXX_nodeNumber(lexicographic.data()) == Layout::nodeNumber(x));
    }
  }
}

TEST_CASE("crtesn and local_site number the sites of a box of any dimension, the first direction fastest") {
  for (const std::vector<int>& extents : {std::vector{5}, {3, 4}, {2, 5, 3}, {4, 3, 2, 5}}) {
    multi1d<int> box(static_cast<int>(extents.size())), x(box.size());
    box = extents.data();
    x = 0;
    int number = 0;
    for (bool more = true; more; ++number) {
      CAPTURE(number);
      CHECK(local_site(x, box) == number);
      const multi1d<int> found = crtesn(number, box);
      CHECK(std::equal(found.begin(), found.end(), x.begin(), x.end()));
      more = false;
      for (int mu = 0; mu < box.size() && !more; ++mu) {
        more = ++x[mu] < box[mu];
        if (!more) x[mu] = 0;
      }
    }
    CHECK_THROWS_WITH_AS(crtesn(number, box), doctest::Contains(std::to_string(number).c_str()), jit::UserError);
    CHECK_THROWS_AS(crtesn(-1, box), jit::UserError);
    x[0] = box[0];
    CHECK_THROWS_WITH_AS(local_site(x, box), doctest::Contains("direction 0"), jit::UserError);
  }
}

TEST_CASE("a second create() makes a new lattice, and the old one lives on with its users") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  const auto old = detail::present_lattice("test");
  tests::create_lattice({2, 2, 2, 2});
  CHECK(detail::present_lattice("test") != old);
  CHECK(tests::total(detail::present_lattice("test")->sites) == 16);
  CHECK(tests::total(old->sites) == 512);
}

TEST_CASE("use before create() names the remedy") {
  Layout::destroy();
  for (const std::string& message :
       {message_of([] { Layout::vol(); }), message_of([] { Layout::siteCoords(0, 0); }),
        message_of([] { detail::present_lattice("lattice field"); }), message_of([] { Layout::subgridLattSize(); })}) {
    CAPTURE(message);
    CHECK(contains(message, "Layout::create()"));
  }
}

TEST_CASE("wrong extents are named") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  const auto create = [](std::vector<int> extents) {
    multi1d<int> nrow(static_cast<int>(extents.size()));
    for (std::size_t i = 0; i < extents.size(); ++i) nrow[static_cast<int>(i)] = extents[i];
    Layout::setLattSize(nrow);
    Layout::create();
  };
  CHECK(contains(message_of([&] { create({4, 4, 4}); }), "got 4 4 4"));
  CHECK(contains(message_of([&] { create({4, 4, 0, 4}); }), "at least 1"));
  CHECK(contains(message_of([&] { create({4, -4, -4, 4}); }), "got 4 -4 -4 4"));
  CHECK(contains(message_of([&] { create({4096, 4096, 4096, 4096}); }), "2^31 sites"));
  CHECK(contains(message_of([&] { create({100000, 100000, 100000, 100000}); }), "2^31 sites"));
}

TEST_CASE("a failed create() leaves the old lattice in place") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  tests::create_lattice({2, 2, 2, 4});
  CHECK_THROWS_AS(tests::create_lattice({2, 0, 2, 4}), jit::UserError);
  CHECK(Layout::vol() == 32);
}

TEST_CASE("coordinates, indices and ranks outside the lattice are named") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  CHECK(contains(message_of([] { Layout::linearSiteIndex(tests::to_multi1d({0, 4, 0, 0})); }), "(0, 4, 0, 0)"));
  CHECK(contains(message_of([] { Layout::linearSiteIndex(multi1d<int>(3)); }), "4 coordinates"));
  CHECK(contains(message_of([] { Layout::linearSiteIndex(512); }), "0..511"));
  CHECK(contains(message_of([] { Layout::siteCoords(0, -1); }), "got -1"));
  CHECK(contains(message_of([] { Layout::siteCoords(tests::job_ranks(), 0); }),
                 tests::job_ranks() == 1 ? "rank 0 of 1" : "a rank 0.." + std::to_string(tests::job_ranks() - 1)));
  CHECK(contains(message_of([] { Layout::nodeNumber(tests::to_multi1d({-1, 0, 0, 0})); }), "(-1, 0, 0, 0)"));
  CHECK(contains(message_of([] { Layout::latticeCoordinate(4); }), "direction 0..3"));
  CHECK(contains(message_of([] { detail::make_site_order(detail::Geometry(Extents{2, 2, 2, 2}), 65); }),
                 "1 to 64 lanes"));
}
