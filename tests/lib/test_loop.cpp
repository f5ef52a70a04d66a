// Paths, loops, and the derivative of loops.

#include "lib/gauge/loop.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

const Path kTwisted = {forward(0), forward(1), forward(2), backward(0), backward(1), backward(2)};

double weight_of(const std::vector<WeightedPath>& list, const Path& path) {
  for (const auto& [candidate, weight] : list)
    if (candidate == path) return weight;
  return 0;
}

}  // namespace

TEST_CASE("paths know whether they close, their reverse and their rotations") {
  CHECK(plaquette_loop(0, 3).str() == "+x+t-x-t");
  CHECK(rectangle_loop(1, 2).str() == "+y+y+z-y-y-z");
  CHECK(plaquette_loop(0, Nd - 1).closed());
  if (Nd > 2) CHECK(kTwisted.closed());
  CHECK_FALSE(Path{forward(0), forward(1)}.closed());
  CHECK(plaquette_loop(0, 1).reversed().str() == "+y+x-y-x");
  CHECK(plaquette_loop(0, 1).rotated(1).str() == "+y-x-y+x");
  CHECK(plaquette_loop(0, 1).reversed().reversed() == plaquette_loop(0, 1));
}

TEST_CASE("the plaquette's derivative is the six staples, the rectangle's eighteen") {
  const auto staple = staples(all_plaquettes(2.5), 0);
  CHECK(staple.size() == 2 * (Nd - 1));
  for (int nu = 1; nu < Nd; ++nu) {
    CHECK(weight_of(staple, {forward(nu), backward(0), backward(nu)}) == 2.5);
    CHECK(weight_of(staple, {backward(nu), backward(0), forward(nu)}) == 2.5);
  }
  CHECK(staples(all_rectangles(), Nd - 1).size() == 6 * (Nd - 1));
}

TEST_CASE("only closed loops have staples, only non-empty paths a product") {
  CHECK_THROWS_WITH_AS(staples({{Path{forward(0), forward(1)}, 1}}, 0), doctest::Contains("+x+y"), ShapeError);
  tests::use_lattice({2, 2, 2, 2});
  const GaugeField u = tests::random_field();
  CHECK_THROWS_AS(path_product(u, Path{}), ShapeError);
  CHECK_THROWS_AS(weighted_sum(u, {}), ShapeError);
  CHECK_THROWS_AS(sum_real_trace(GaugeField(1), all_plaquettes()), ShapeError);
}

TEST_CASE("a path's product is the product of its links, written out") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("a path through four directions");
  tests::use_lattice({2, 4, 6, 2});  // unequal extents catch directions mixed up
  const GaugeField u = tests::random_field();
  const LatticeColorMatrix by_hand = u[0] * shift(u[1], FORWARD, 0) * shift(shift(u[2], FORWARD, 1), FORWARD, 0) *
                                     adj(shift(shift(u[0], FORWARD, 1), FORWARD, 2)) * adj(shift(u[1], FORWARD, 2)) *
                                     adj(u[2]);
  CHECK(tests::distance(LatticeColorMatrix(path_product(u, kTwisted)), by_hand) < base_tol(1e-12));

  const LatticeColorMatrix down = shift(adj(u[3]), BACKWARD, 3) * shift(u[1], BACKWARD, 3);
  CHECK(tests::distance(LatticeColorMatrix(path_product(u, {backward(3), forward(1)})), down) < base_tol(1e-12));

  const LatticeColorMatrix from_next = shift(u[2], FORWARD, 1);
  CHECK(tests::distance(LatticeColorMatrix(path_product(u, {forward(2)}, {forward(1)})), from_next) == 0);
}

TEST_CASE("long sums, computed in parts, equal the sum of their terms") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const auto loops = all_rectangles(0.7);
  LatticeColorMatrix total = zero;
  for (const auto& [path, weight] : loops) total += Real(weight) * path_product(u, path);
  const LatticeColorMatrix in_parts = weighted_sum(u, loops);
  CHECK(tests::distance(in_parts, total) < base_tol(1e-11));
}

TEST_CASE("sums of paths that begin alike, end within each other, or are the same") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const int last = Nd - 1;
  const std::vector<WeightedPath> paths = {{{forward(0), backward(last), forward(0)}, 0.5},
                                           {{forward(0)}, -1.5},
                                           {{forward(0), backward(last)}, 2},
                                           {{forward(last), forward(0), forward(0)}, 0.25},
                                           {{forward(0), backward(last), forward(0)}, 3},
                                           {{backward(0), forward(last)}, 1},
                                           {{forward(0), backward(last), backward(0)}, -2},
                                           {{backward(0), forward(last)}, -1}};
  for (const Path& after : {Path{}, Path{forward(last), backward(0)}})
    for (std::size_t n = 1; n <= paths.size(); ++n) {
      const std::vector<WeightedPath> some(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(n));
      LatticeColorMatrix total = zero;
      for (const auto& [path, weight] : some) total += Real(weight) * path_product(u, path, after);
      CHECK(tests::distance(LatticeColorMatrix(weighted_sum(u, some, after)), total) < base_tol(1e-12));
    }
  CHECK_THROWS_AS(weighted_sum(u, {{{forward(0)}, 1}, {Path{}, 1}}), ShapeError);
}

TEST_CASE("traces of loops are gauge invariant, orientation and starting point do not matter") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("loops through four directions");
  tests::use_lattice({2, 4, 6, 2});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  for (const Path& loop : {plaquette_loop(0, 2), rectangle_loop(3, 1), rectangle_loop(1, 3), kTwisted}) {
    CAPTURE(loop.str());
    const double here = toDouble(sum_real_trace(u, {{loop, 1}}));
    CHECK(toDouble(sum_real_trace(v, {{loop, 1}})) == doctest::Approx(here).epsilon(base_tol(1e-11)));
    CHECK(toDouble(sum_real_trace(u, {{loop.reversed(), 1}})) == doctest::Approx(here).epsilon(base_tol(1e-11)));
    CHECK(toDouble(sum_real_trace(u, {{loop.rotated(2), 1}})) == doctest::Approx(here).epsilon(base_tol(1e-11)));
  }
}
