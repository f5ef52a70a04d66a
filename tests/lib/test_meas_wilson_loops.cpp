// Wilson loops, planar and off the axes.

#include "lib/meas/glue.hpp"
#include "lib/meas/wilson_loops.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

constexpr int kTime = Nd - 1;

/// (1/(V Nc)) sum of Re tr of closed paths.
double loop_of_paths(const GaugeField& u, const std::vector<WeightedPath>& loops) {
  return toDouble(sum_real_trace(u, loops)) / (static_cast<double>(Layout::vol()) * Nc);
}

}  // namespace

TEST_CASE("small loops are the plaquette and the rectangles, in every orientation") {
  tests::use_lattice({4, 2, 4, 6});
  const GaugeField u = tests::random_field();
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu) {
      if (mu == nu) continue;
      const multi2d<Double> w = planar_wilson_loops(u, mu, nu, 2, 2);
      CHECK(toDouble(w(0, 0)) ==
            doctest::Approx(loop_of_paths(u, {{plaquette_loop(mu, nu), 1}})).epsilon(base_tol(1e-11)));
      CHECK(toDouble(w(1, 0)) ==
            doctest::Approx(loop_of_paths(u, {{rectangle_loop(mu, nu), 1}})).epsilon(base_tol(1e-11)));
      CHECK(toDouble(w(0, 1)) ==
            doctest::Approx(loop_of_paths(u, {{rectangle_loop(nu, mu), 1}})).epsilon(base_tol(1e-11)));
    }
}

TEST_CASE("large and off-axis loops agree with the product along the path, and with any gauge") {
  if (Nd == 2) TESSERA_SKIP("QDP_ND is 2: no diagonals across time");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const Step x = forward(0), y = forward(1), t = forward(kTime);
  const multi2d<Double> planar = planar_wilson_loops(u, 0, kTime, 3, 2);
  CHECK(toDouble(planar(2, 1)) ==
        doctest::Approx(loop_of_paths(u, {{{x, x, x, t, t, -x, -x, -x, -t, -t}, 1}})).epsilon(base_tol(1e-11)));

  // One diagonal step out and back, T = 1: four combinations of orders.
  const multi2d<Double> diagonal = wilson_loops(u, averaged_orders({x, -y}), kTime, 2, 1);
  std::vector<WeightedPath> loops;
  for (const Path& out : {Path{x, -y}, Path{-y, x}})
    for (const Path& back : {Path{x, -y}, Path{-y, x}})
      loops.push_back({{out[0], out[1], t, -back[1], -back[0], -t}, 0.25});
  CHECK(toDouble(diagonal(0, 0)) == doctest::Approx(loop_of_paths(u, loops)).epsilon(base_tol(1e-11)));

  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  CHECK(std::fabs(toDouble(planar_wilson_loops(v, 0, kTime, 3, 2)(2, 1)) - toDouble(planar(2, 1))) < base_tol(1e-13));
  CHECK(std::fabs(toDouble(wilson_loops(v, averaged_orders({x, -y}), kTime, 2, 1)(1, 0)) - toDouble(diagonal(1, 0))) <
        base_tol(1e-13));
}

TEST_CASE("averaged_orders lists every order once") {
  CHECK(averaged_orders({forward(0), forward(1), backward(2)}).size() == 6);
  CHECK(averaged_orders({forward(0), forward(0), forward(1)}).size() == 3);
  CHECK(averaged_orders({backward(2), forward(1), forward(0)}).size() == 6);  // in whatever order they are named
  CHECK(averaged_orders({forward(1), forward(0), forward(0)}).size() == 3);
  double weight = 0;
  for (const WeightedPath& path : averaged_orders({forward(0), forward(1), backward(2)})) weight += path.weight;
  CHECK(weight == doctest::Approx(1));
}

TEST_CASE("Wilson loops refuse steps that do not fit") {
  tests::use_lattice({2, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  CHECK_THROWS_WITH_AS(wilson_loops(u, {}, kTime, 1, 1), doctest::Contains("at least one path"), ShapeError);
  CHECK_THROWS_WITH_AS(wilson_loops(u, {{{forward(0)}, 1}, {{backward(0)}, 1}}, kTime, 1, 1),
                       doctest::Contains("one site"), ShapeError);
  CHECK_THROWS_WITH_AS(planar_wilson_loops(u, kTime, kTime, 1, 1), doctest::Contains("across time"), ShapeError);
  CHECK_THROWS_AS(planar_wilson_loops(u, 0, Nd, 1, 1), ShapeError);
}
