#include "lattices.hpp"

#include "jit/support/error.hpp"
#include "qdp/layout/domain.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/types/primitives.hpp"
#include "tests/message_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

using namespace QDP;
using tests::contains;
using tests::Extents;
using tests::message_of;

namespace {

/// A set from a lambda.
class Coloring : public SetFunc {
 public:
  Coloring(int colors, std::function<int(const Extents&)> color) : colors_(colors), color_(std::move(color)) {}
  int operator()(const multi1d<int>& x) const override { return color_(tests::to_extents(x)); }
  int numSubsets() const override { return colors_; }

 private:
  int colors_;
  std::function<int(const Extents&)> color_;
};

int sum(const Extents& x, int dims) {
  int s = 0;
  for (int mu = 0; mu < dims; ++mu) s += x[mu];
  return s;
}

/// Host indices that a kernel over the domain visits, ascending; -1 for every padding lane.
std::vector<int> visited(const jit::Domain& domain, const jit::SiteOrder& order) {
  std::vector<int> sites;
  const auto visit = [&](std::int64_t group, std::uint64_t mask) {
    for (int lane = 0; lane < order.lanes; ++lane)
      if (mask >> lane & 1) sites.push_back(order.host_index[group * order.lanes + lane]);
  };
  for (std::int64_t i = domain.begin; i < domain.end; ++i)
    domain.listed ? visit(domain.groups[i], domain.masks[i]) : visit(i, ~std::uint64_t{0});
  std::sort(sites.begin(), sites.end());
  return sites;
}

/// The definition of a subset, against a loop over the sites.
void check_set(const Set& set, int colors, const std::function<int(const Extents&)>& color, const Extents& extents) {
  const auto sites = tests::sites_here(extents);
  REQUIRE(set.numSubsets() == colors);
  REQUIRE(set.latticeColoring().size() == static_cast<int>(sites.size()));
  for (int c = 0; c < colors; ++c) {
    std::vector<int> expected;
    for (int i = 0; i < static_cast<int>(sites.size()); ++i)
      if (color(sites[i]) == c) expected.push_back(i);
    const Subset& subset = set[c];
    CHECK(subset.color() == c);
    CHECK(subset.numSiteTable() == static_cast<int>(expected.size()));
    CHECK(globalSites(subset) == tests::total(static_cast<std::int64_t>(expected.size())));
    CHECK(std::vector<int>(subset.siteTable().begin(), subset.siteTable().end()) == expected);
    CHECK(visited(subset.domain(), *detail::present_lattice("test")) == expected);
    CHECK(subset.domain().sites == static_cast<int>(expected.size()));
    CHECK(subset.domain().whole == (expected.size() == sites.size()));
    const bool ordered =
        !expected.empty() && expected.back() - expected.front() == static_cast<int>(expected.size()) - 1;
    CHECK(subset.hasOrderedRep() == ordered);
    CHECK(subset.start() == (ordered ? expected.front() : -1));
    CHECK(subset.end() == (ordered ? expected.back() : -1));
  }
  for (int i = 0; i < static_cast<int>(sites.size()); ++i) CHECK(set.latticeColoring()[i] == color(sites[i]));
}

}  // namespace

TEST_CASE("default sets hold the sites that their definitions say") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    check_set(rb, 2, [](const Extents& x) { return sum(x, Nd) & 1; }, extents);
    check_set(rb3, 2, [](const Extents& x) { return sum(x, 3) & 1; }, extents);
    check_set(
        mcb, 2 << Nd,
        [](const Extents& x) {
          const int cube = x[0] / 2 + x[1] / 2 + x[2] / 2 + x[3] / 2;
          return x[0] % 2 + 2 * (x[1] % 2) + 4 * (x[2] % 2) + 8 * (x[3] % 2) + (1 << Nd) * (cube % 2);
        },
        extents);
    check_set(all.getSet(), 1, [](const Extents&) { return 0; }, extents);
    CHECK(all.domain().whole);
    CHECK(even.color() == 0);
    CHECK(odd.color() == 1);
    CHECK(even.numSiteTable() == rb[0].numSiteTable());
    CHECK(odd.numSiteTable() == rb[1].numSiteTable());
  }
}

TEST_CASE("checkerboards are contiguous on the host, and ranges of groups on a cut lattice") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  CHECK(all.hasOrderedRep());
  const int here = 512 / tests::job_ranks();
  CHECK(all.end() == here - 1);
  CHECK(rb[1].hasOrderedRep());
  CHECK(rb[1].start() == here / 2);
  CHECK(rb3[0].hasOrderedRep() == (Layout::subgridLattSize()[3] == 1));

  const detail::Geometry lattice(Extents{4, 4, 4, 8});
  const auto order = detail::make_site_order(lattice, 16);
  multi1d<int> parity(512);
  for (int i = 0; i < 512; ++i) parity[i] = i < 256 ? 0 : 1;
  const auto domains = detail::make_domains(order, parity, 2);
  CHECK_FALSE(domains[0].listed);
  CHECK(domains[0].end == 16);
  CHECK_FALSE(domains[1].listed);
  CHECK(domains[1].begin == 16);
  CHECK(domains[1].end == 32);
}

TEST_CASE("domains visit their sites and no padding, for any number of lanes") {
  for (const Extents& extents : tests::lattices()) {
    const detail::Geometry lattice(extents);
    const auto sites = tests::sites_in_host_order(extents);
    const int n = 5;
    multi1d<int> colors(static_cast<int>(sites.size()));
    for (std::size_t i = 0; i < sites.size(); ++i)
      colors[static_cast<int>(i)] = (sites[i][0] + 3 * sites[i][3]) % (n - 1);
    for (int lanes : {1, 2, 4, 8, 16, 32, 64}) {
      const auto order = detail::make_site_order(lattice, lanes);
      const auto domains = detail::make_domains(order, colors, n);
      for (int color = 0; color < n; ++color) {
        std::vector<int> expected;
        for (int i = 0; i < colors.size(); ++i)
          if (colors[i] == color) expected.push_back(i);
        CHECK(visited(domains[color], order) == expected);
      }
      CHECK(domains[n - 1].sites == 0);
      CHECK_FALSE(domains[n - 1].listed);
    }
  }
}

TEST_CASE("users make sets at any time, with empty colours too") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    const auto timeslice = [](const Extents& x) { return x[Nd - 1]; };
    const Set timeslices(Coloring(extents[Nd - 1], timeslice));
    check_set(timeslices, extents[Nd - 1], timeslice, extents);
    const auto sparse = [](const Extents& x) { return x[0] == 0 && x[3] == 0 ? 3 : 1; };
    Set set;
    set.make(Coloring(6, sparse));
    check_set(set, 6, sparse, extents);
    CHECK(set[0].numSiteTable() == 0);
    CHECK_FALSE(set[0].hasOrderedRep());
  }
}

TEST_CASE("a subset outlives its set, and copies share its tables") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  Subset kept;
  {
    Set set(Coloring(2, [](const Extents& x) { return x[1] == 2; }));
    kept = set[1];
    CHECK(&kept.siteTable() == &set[1].siteTable());
    Set copy;
    copy = set;
    CHECK(&copy[1].siteTable() == &kept.siteTable());
  }
  CHECK(tests::total(kept.numSiteTable()) == 128);
  CHECK(kept.color() == 1);
  CHECK(kept.getSet().numSubsets() == 2);
  CHECK(tests::total(kept.getSet()[0].numSiteTable()) == 384);
  Subset made;
  made.make(kept);
  CHECK(&made.domain() == &kept.domain());
}

TEST_CASE("making a set again changes the set, not the subsets taken before") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  Set set(Coloring(2, [](const Extents& x) { return x[0] == 0; }));
  const Subset before = set[1];
  set.make(Coloring(8, [](const Extents& x) { return x[3]; }));
  CHECK(set.numSubsets() == 8);
  CHECK(tests::total(before.numSiteTable()) == 128);
  CHECK(before.getSet().numSubsets() == 2);
}

TEST_CASE("default subsets are those of the field's lattice, subsets of the user belong to one") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites written out");
  tests::create_lattice({4, 4, 4, 8});
  const Subset kept = rb3[1];
  const Set slices(Coloring(8, [](const Extents& x) { return x[3]; }));
  const auto first = detail::present_lattice("test");
  CHECK(tests::total(kept.domain_for(*first).sites) == 256);
  CHECK(tests::total(kept.numSiteTable()) == 256);
  tests::create_lattice({2, 2, 2, 2});
  const auto second = detail::present_lattice("test");
  CHECK(tests::total(rb3[1].domain_for(*second).sites) == 8);
  CHECK(tests::total(kept.domain_for(*second).sites) == 8);
  CHECK(tests::total(kept.domain_for(*first).sites) == 256);
  CHECK(tests::total(kept.numSiteTable()) == 8);
  CHECK(tests::total(slices[3].numSiteTable()) == 64);
  CHECK(tests::total(slices[3].domain_for(*first).sites) == 64);
  const std::string message = message_of([&] { slices[3].domain_for(*second); });
  CHECK(contains(message, "subset set[3]"));
  CHECK(contains(message, "(4, 4, 4, 8)"));
  CHECK(contains(message, "(2, 2, 2, 2)"));
}

TEST_CASE("an index out of range says how many subsets there are") {
  tests::create_lattice({2, 2, 2, 2});
  const std::string message = message_of([] { rb3[2]; });
  CHECK(contains(message, "rb3[2]"));
  CHECK(contains(message, "set rb3 has 2 subsets"));
  CHECK(contains(message, "got 2"));
  CHECK(contains(message, "Did you mean rb3[1]"));
  CHECK(contains(message_of([] { rb[-1]; }), "rb[0]"));
}

TEST_CASE("a colour out of range names the site") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites written out");
  tests::create_lattice({2, 2, 2, 4});
  Set set;
  const std::string high = message_of([&] { set.make(Coloring(3, [](const Extents& x) { return x[3]; })); });
  CHECK(contains(high, "(1, 0, 0, 3)"));
  CHECK(contains(high, "0..2"));
  CHECK(contains(high, "got 3"));
  const std::string low = message_of([&] { set.make(Coloring(3, [](const Extents& x) { return -x[0]; })); });
  CHECK(contains(low, "got -1"));
  CHECK(contains(message_of([&] { set.make(Coloring(0, [](const Extents&) { return 0; })); }), "numSubsets()"));
  CHECK(set.numSubsets() == 0);
}

TEST_CASE("empty sets and subsets, and sets before create(), say what to do") {
  CHECK(contains(message_of([] { Subset().siteTable(); }), "assign it from a set"));
  CHECK(contains(message_of([] { Set()[0]; }), "make(function)"));
  CHECK(contains(message_of([] { Set().latticeColoring(); }), "make(function)"));
  Layout::destroy();
  CHECK(contains(message_of([] { Set(Coloring(1, [](const Extents&) { return 0; })); }), "Layout::create()"));
}
