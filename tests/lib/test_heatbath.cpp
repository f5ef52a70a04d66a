// Heatbath and over-relaxation: distributions, invariants, Chroma's sequences, exact averages.

#include "lib/action/gauge_actions.hpp"
#include "lib/gauge/boundary.hpp"
#include "lib/heatbath/heatbath.hpp"
#include "lib/heatbath/su2.hpp"
#include "lib/meas/glue.hpp"
#include "lib/smear/stout.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

std::shared_ptr<const LoopAction> shared(LoopAction action) { return std::make_shared<LoopAction>(std::move(action)); }

/// Plaquettes of plane (0,1) only: independent two-dimensional theories.
std::shared_ptr<const LoopAction> plane_action(double beta) {
  return shared(LoopAction({{plaquette_loop(1, 0), beta}}));
}

double mean(const LatticeReal& x) { return toDouble(sum(x)) / static_cast<double>(Layout::vol()); }

}  // namespace

TEST_CASE("links that change together do not occur in each other's staples") {
  const auto check_independence = [](const LoopAction& action) {
    const GaugeField u = tests::random_field(), other = tests::random_field();
    for (int mu = 0; mu < Nd; ++mu) {
      const Set set = independent_links(action, mu);
      CAPTURE(mu);
      CAPTURE(set.numSubsets());
      std::int64_t sites = 0;
      for (int c = 0; c < set.numSubsets(); ++c) {
        sites += globalSites(set[c]);
        GaugeField v = u;
        v[mu][set[c]] = other[mu];
        const LatticeColorMatrix before = weighted_sum(u, action.staples_of(mu), {forward(mu)});
        const LatticeColorMatrix after = weighted_sum(v, action.staples_of(mu), {forward(mu)});
        CHECK(toDouble(norm2(before - after, set[c])) == 0);
      }
      CHECK(sites == static_cast<std::int64_t>(Layout::vol()));
    }
  };
  for (const std::vector<int>& extents : {std::vector{4, 4, 4, 4}, {8, 4, 4, 8}, {6, 4, 4, 4}, {3, 4, 4, 4}}) {
    if (!tests::can_share_out(extents.data())) continue;
    tests::use_lattice(extents);
    for (const auto& action : {wilson_action(6), improved_action(6, -0.1)}) check_independence(action);
  }
  // Odd extents: two colours do not go round.
  for (const std::vector<int>& extents : {std::vector{3, 3, 3, 3}, {5, 5, 5, 5}, {3, 5, 4, 7}, {2, 3, 2, 5}}) {
    if (!tests::can_share_out(extents.data())) continue;
    tests::use_lattice(extents);
    check_independence(wilson_action(6));
  }
  tests::use_lattice({4, 4, 4, 4});
  CHECK(independent_links(wilson_action(6), 0).numSubsets() == 2);
  CHECK(independent_links(improved_action(6, -0.1), 0).numSubsets() == 4);
}

TEST_CASE("actions that are not linear in a link are refused") {
  tests::use_lattice({4, 2, 4, 4});
  CHECK_NOTHROW(independent_links(wilson_action(6), 0));
  CHECK_THROWS_WITH_AS(independent_links(improved_action(6, -0.1), 0), doctest::Contains("linear in each link"),
                       InputError);
  const Step a = forward(0), b = forward(Nd - 1);
  const LoopAction twice({{{a, b, -a, -b, a, b, -a, -b}, 1.0}});
  CHECK_THROWS_WITH_AS(independent_links(twice, 0), doctest::Contains("linear in each link"), InputError);
  tests::use_lattice({3, 3, 4, 4});
  CHECK_THROWS_WITH_AS(independent_links(improved_action(6, -0.1), 0), doctest::Contains("colours"), InputError);
  CHECK_THROWS_WITH_AS(Heatbath(shared(wilson_action(6)), stout_links(stout_weights(0.1), 1), {}),
                       doctest::Contains("smeared"), InputError);
}

TEST_CASE("the SU(2) heatbath draws the components of its weight") {
  tests::use_lattice({8, 8, 8, 8});
  for (const HeatbathTrial trial : {HeatbathTrial::creutz, HeatbathTrial::kennedy_pendleton})
    for (const double w : {0.3, 3.0, 30.0}) {
      CAPTURE(w);
      CAPTURE(static_cast<int>(trial));
      LatticeReal weight;
      weight = Real(w);
      HeatbathParameters parameters;
      parameters.trial = trial;
      const HeatbathDraw h = draw_heatbath(weight, parameters, all);
      const double bessel1 = std::cyl_bessel_i(1, w), ratio = std::cyl_bessel_i(2, w) / bessel1;
      // <a0> = I2/I1, <1 - a0^2> = 3 I2/(w I1).
      const double variance = 1 - 3 * ratio / w - ratio * ratio, volume = static_cast<double>(Layout::vol());
      CHECK(std::fabs(mean(h.a[0]) - ratio) < 4 * std::sqrt(variance / volume));
      double squares = 0;
      for (int i = 1; i < 4; ++i) {
        const LatticeReal square = h.a[i] * h.a[i];
        const double size = ratio / w, spread = std::sqrt(mean(square * square) - size * size);
        CHECK(std::fabs(mean(square) - size) < 4 * spread / std::sqrt(volume));
        CHECK(std::fabs(mean(h.a[i])) < 4 * std::sqrt(size / volume));
        squares += mean(square);
      }
      CHECK(squares + mean(h.a[0] * h.a[0]) == doctest::Approx(1).epsilon(base_tol(1e-12)));
    }
}

TEST_CASE("a few trials leave alone what they reject") {
  tests::use_lattice({4, 4, 4, 8});
  LatticeReal weight;
  weight = Real(8);
  const double tried = static_cast<double>(globalSites(rb[1]));
  const double i1 = std::cyl_bessel_i(1, 8.0);
  for (const int trials : {1, 2}) {
    CAPTURE(trials);
    const auto check = [&](HeatbathTrial trial, double accepted_by_one) {
      const HeatbathDraw h = draw_heatbath(weight, {.max_trials = trials, .trial = trial}, rb[1]);
      const double accepted = toDouble(sum(where(h.accepted, LatticeReal(1), LatticeReal(0)), rb[1])) / tried;
      const double expected = 1 - std::pow(1 - accepted_by_one, trials);
      CHECK(std::fabs(accepted - expected) < 4 * std::sqrt(expected * (1 - expected) / tried));
    };
    // The integral of sqrt(1 - a^2) exp(w a) over that of exp(w a), and over sqrt(2) that of sqrt(1 - a) exp(w a) for
    // all a < 1, that is sqrt(pi)/2 exp(w) w^(-3/2).
    const double weighed = 3.14159265358979 / 8 * i1;
    check(HeatbathTrial::creutz, weighed / (std::sinh(8.0) / 4));
    check(HeatbathTrial::kennedy_pendleton,
          weighed / (std::sqrt(2.0) * std::sqrt(3.14159265358979) / 2 * std::exp(8.0) * std::pow(8.0, -1.5)));
  }
}

TEST_CASE("over-relaxation moves links far and keeps the action and the group") {
  if (Nc == 1) TESSERA_SKIP("QDP_NC is 1: no SU(2) subgroups");
  tests::use_lattice({4, 4, 4, 4});
  for (const auto& action : {wilson_action(5.7), improved_action(2.6, -0.331)}) {
    const GaugeField u = tests::random_field();
    GaugeField v = u;
    Heatbath heatbath(shared(action), {}, {});
    for (int i = 0; i < 3; ++i) heatbath.overrelax_sweep(v);
    CHECK(toDouble(action.action(v)) == doctest::Approx(toDouble(action.action(u))).epsilon(base_tol(1e-12)));
    CHECK(tests::distance(u, v) > 10);
    for (int mu = 0; mu < Nd; ++mu) CHECK_NOTHROW(check_unitarity(v[mu], "after over-relaxation"));
  }
  // Once forth and once back: q^-2 twice.
  GaugeField u = tests::random_field();
  const GaugeField w = tests::random_field();
  for (int subgroup = 0; subgroup < su2_subgroups(); ++subgroup) {
    const LatticeColorMatrix before = u[0];
    overrelax(u[0], w[0], subgroup, all);
    CHECK(tests::distance(before, u[0]) > 1);
    overrelax(u[0], w[0], subgroup, all);
    CHECK(tests::distance(before, u[0]) < base_tol(1e-11));
  }
  CHECK_THROWS_AS(overrelax(u[0], w[0], su2_subgroups(), all), ShapeError);
}

TEST_CASE("links in no loop are left alone by over-relaxation, and drawn from the whole group by the heatbath") {
  if (Nc == 1 || Nd < 3) TESSERA_SKIP("needs SU(2) subgroups and a direction beside a plane");
  tests::use_lattice({4, 6, 4, 8});
  const GaugeField u = tests::random_field();
  Heatbath heatbath(plane_action(5), {}, {.over_relaxation = 1});
  GaugeField v = u;
  heatbath.overrelax_sweep(v);
  CHECK(toDouble(norm2(v[0] - u[0])) > 10);
  CHECK(toDouble(norm2(v[Nd - 1] - u[Nd - 1])) == 0);
  v = zero;
  for (int mu = 0; mu < Nd; ++mu) v[mu] = Real(1);
  for (int i = 0; i < 6; ++i) heatbath.heat_sweep(v);
  // <|tr U|^2> = 1, <|tr U|^4> = 2, and 1 and 2 for SU(2) too, of which tr U is real.
  const LatticeReal squares = localNorm2(trace(v[Nd - 1]));
  CHECK(std::fabs(mean(squares) - 1) < 4 / std::sqrt(static_cast<double>(Layout::vol())));
  CHECK_NOTHROW(check_unitarity(v[Nd - 1], "after the heatbath"));

  // Too small a k tells no direction: the least one, times the unit matrix.
  LatticeColorMatrix w;
  w = zero;
  LatticeReal k;
  Quaternion q;
  for (int subgroup = 0; subgroup < su2_subgroups(); ++subgroup) {
    extract_quaternion(k, q, u[0], w, subgroup, all);
    CHECK(toDouble(globalMax(k)) == doctest::Approx(sizeof(REAL) == 4 ? 1e-3 : 1e-6));
    CHECK(toDouble(norm2(q.alpha - Complex(1))) == 0);
    CHECK(toDouble(norm2(q.beta)) == 0);
  }
}

TEST_CASE("plaquettes of independent planes have the average of a single one") {
  TESSERA_NEEDS_THREE_COLORS("averages of SU(3); test_sizes has those of others");
  tests::use_lattice({8, 8, 4, 4});
  // u(beta) of one plaquette; a torus of 64 plaquettes differs by u^64.
  for (const auto& [beta, exact] : {std::pair{2.0, 0.128627785322}, {6.0, 0.422531739650}})
    for (const HeatbathTrial trial : {HeatbathTrial::creutz, HeatbathTrial::kennedy_pendleton}) {
      CAPTURE(beta);
      Heatbath heatbath(plane_action(beta), {}, {.over_relaxation = 1, .max_trials = 0, .trial = trial});
      GaugeField u = tests::random_field();
      for (int i = 0; i < 10; ++i) heatbath.update(u);
      double sum = 0, squares = 0;
      const int n = 100;
      for (int i = 0; i < n; ++i) {
        heatbath.update(u);
        const double p = toDouble(measure_plaquettes(u).plane(0, 1));
        sum += p;
        squares += p * p;
      }
      const double average = sum / n, spread = squares / n - average * average;
      // Successive updates of a plane are weakly correlated: twice the naive error.
      CHECK(std::fabs(average - exact) < 4 * 2 * std::sqrt(spread / n));
      CHECK(4 * 2 * std::sqrt(spread / n) < 0.01);
    }
}

TEST_CASE("the plaquettes of Chroma's purgaug runs") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  // Chroma 3.38 in single precision: its tests/purgaug with warm-up and production updates in order. The decisions to
  // accept are the same until rounding has grown, so the first updates agree to 1e-6.
  struct Run {
    std::vector<int> lattice;
    std::string action;
    std::vector<double> plaquette;
    double link;
  };
  const auto plaquettes = [](const auto& weight) {
    std::vector<WeightedPath> loops;
    for (int mu = 1; mu < Nd; ++mu)
      for (int nu = 0; nu < mu; ++nu) loops.push_back({plaquette_loop(mu, nu), weight(mu, nu)});
    return std::make_shared<LoopAction>(loops);
  };
  const auto check = [](const std::vector<int>& lattice, std::shared_ptr<const LoopAction> action,
                        const LinkMaps& links, const std::vector<double>& expected, double link) {
    tests::use_lattice(lattice);
    GaugeField u(Nd);
    weak_field_start(u);
    RNG::setrn(make_seed({11, 0, 0, 0}));
    Heatbath heatbath(std::move(action), links, {.over_relaxation = 3, .max_trials = 1});
    for (double p : expected) {
      heatbath.update(u);
      CHECK(toDouble(average_plaquette(u)) == doctest::Approx(p).epsilon(1e-5));
    }
    CHECK(toDouble(average_link(u)) == doctest::Approx(link).epsilon(2e-3));
  };
  const auto coarse = [](int mu, int nu) { return (mu < 2) + (nu < 2); };
  const auto anisotropic = shared(wilson_action(6, {.on = true, .t_dir = 3, .xi_0 = 2.464}));
  check(
      {4, 4, 4, 8}, anisotropic, {},
      {0.910299801319424, 0.84092655867183, 0.789994931288271, 0.755298923726918, 0.72119205192818, 0.697887576148787},
      0.00886135751473679);
  check({4, 4, 8, 8}, plaquettes([&](int mu, int nu) { return std::vector{20.0, 10.0, 25.0}[coarse(mu, nu)]; }), {},
        {0.961256540354548, 0.934513576302884, 0.914722678135149, 0.898914058259429, 0.885827328485902,
         0.875713436405123},
        0.0100195900231483);
  check({4, 4, 8, 8},
        plaquettes([&](int mu, int nu) { return std::vector{6 * 1.2 * 9, 6.0, 6 * 1.3 / 9}[coarse(mu, nu)]; }), {},
        {0.891440668419818, 0.816860515669557, 0.768760265030222, 0.722234229218884, 0.701903232030923,
         0.678110778085991},
        0.0200579774389856);
  const auto boundary =
      std::make_shared<SchroedingerBoundary>(SchroedingerParameters{SchroedingerField::nonperturbative, 2, 1, 3});
  check({4, 4, 4, 8}, anisotropic, {boundary}, {0.808066682708967, 0.761150755714172, 0.747915952586077},
        0.21969529814487);
}

TEST_CASE("fixed boundaries stay fixed, and the links between them feel them") {
  TESSERA_NEEDS_QCD("the Schroedinger functional");
  tests::use_lattice({4, 4, 4, 6});
  const auto boundary =
      std::make_shared<SchroedingerBoundary>(SchroedingerParameters{SchroedingerField::coupling, 1, 1, 3});
  Heatbath heatbath(shared(wilson_action(6)), {boundary}, {.over_relaxation = 1});
  GaugeField u = tests::random_field();
  heatbath.update(u);
  CHECK(tests::distance(u, boundary->apply(u)) == 0);
  for (int mu = 0; mu < Nd; ++mu) CHECK_NOTHROW(check_unitarity(u[mu], "after the heatbath"));
}
