// The gradient flow: equation, order of the integrator, scales.

#include "lib/gauge/su3.hpp"
#include "lib/meas/flow.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

GaugeField weak_field() {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  return u;
}

GaugeField flowed(GaugeField v, const LoopAction& action, double time, int steps) {
  for (int i = 0; i < steps; ++i) flow_step(v, action, time / steps);
  return v;
}

GaugeField thermal_field() {
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  return tests::read_field("SCIDAC", file);
}

}  // namespace

TEST_CASE("the Wilson flow starts as stout smearing with rho = eps") {
  GaugeField u = weak_field();
  const double eps = 1e-4;
  const GaugeField v = flowed(u, wilson_flow_action(), eps, 1);
  for (int mu = 0; mu < Nd; ++mu) {
    std::vector<WeightedPath> around;  // staples parallel to the link
    for (int nu = 0; nu < Nd; ++nu)
      if (nu != mu)
        for (const Step& side : {forward(nu), backward(nu)}) around.push_back({{side, forward(mu), -side}, 1});
    const LatticeColorMatrix c = weighted_sum(u, around);
    const LatticeColorMatrix stout = su3_exp(Real(eps) * taproj(c * adj(u[mu]))) * u[mu];
    const double moved = distance(v[mu], u[mu]);
    CHECK(distance(v[mu], stout) < 10 * eps * moved + base_tol(1e-15) * distance(u[mu], LatticeColorMatrix(zero)));
  }
}

TEST_CASE("the integrator is of third order for both actions") {
  tests::use_lattice({4, 4, 2, 2});
  const GaugeField start = tests::random_field();
  for (const LoopAction& action : {wilson_flow_action(), symanzik_flow_action()}) {
    const GaugeField fine = flowed(start, action, 0.2, 64);
    const double coarse = distance(flowed(start, action, 0.2, 4), fine);
    const double half = distance(flowed(start, action, 0.2, 8), fine);
    CHECK(std::log2(coarse / half) == doctest::Approx(3).epsilon(0.1));
  }
}

TEST_CASE("the flow lowers its action at the rate of the squared force") {
  // d/dt sum_l c_l Re tr W_l = sum over links of |Z|^2 with Z the exponent per unit time, for the first instant.
  const GaugeField u = weak_field();
  const LoopAction action = symanzik_flow_action();
  GaugeField force;
  action.force(force, u);
  double rate = 0;
  for (int mu = 0; mu < Nd; ++mu) rate += 4.0 * Nc * Nc * toDouble(norm2(force[mu]));
  const double eps = 1e-3;
  const auto trace_sum = [&](const GaugeField& v) { return -Nc * toDouble(action.action(v)); };
  const double forward_sum = trace_sum(flowed(u, action, eps, 1)), here = trace_sum(u),
               later = trace_sum(flowed(u, action, 2 * eps, 2));
  // Second-order difference quotient at t = 0.
  CHECK((4 * forward_sum - 3 * here - later) / (2 * eps) == doctest::Approx(rate).epsilon(1e-3));
}

TEST_CASE("the flow is gauge covariant and directions can be left out") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  GaugeField turned = tests::gauge_transformed(u, g), straight = u;
  const LoopAction action = wilson_flow_action();
  flow_step(turned, action, 0.05);
  flow_step(straight, action, 0.05);
  GaugeField expected(Nd);
  for (int mu = 0; mu < Nd; ++mu) expected[mu] = g * straight[mu] * adj(shift(g, FORWARD, mu));
  CHECK(distance(turned, expected) < base_tol(1e-12));

  if (Nd == 2) return;  // one direction alone has no plaquettes
  GaugeField spatial = u;
  std::vector<bool> spatial_only(Nd, true);
  spatial_only.back() = false;
  flow_step(spatial, wilson_flow_action(spatial_only), 0.05);
  CHECK(distance(spatial[Nd - 1], u[Nd - 1]) < base_tol(1e-12));
  CHECK(distance(spatial[0], u[0]) > 0.1);
}

// Chroma's test t_meas_wilson_flow: DISORDERED field on 4^4, steps of 0.01, single precision.
TEST_CASE("energies along the flow agree with Chroma's") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  tests::use_lattice({4, 4, 4, 4});
  GaugeField v(Nd);
  disordered_start(v);
  CHECK(toDouble(average_plaquette(v)) == doctest::Approx(-0.00209272940773252).epsilon(1e-6));
  const FlowResult flow = gradient_flow(v, wilson_flow_action(), 10, 0.01, 3, false);
  const double gact4i[] = {1.12543636501968, 1.14601716864881, 1.16630680680981, 1.18620977779834,
                           1.20563805207632, 1.22451238727801, 1.24276302827747, 1.26032978446947,
                           1.27716155363737, 1.29321542871904, 1.30845556806451};
  const double gactij[] = {1.12254233311078, 1.14304291792315, 1.16318841777896, 1.18287062508113,
                           1.20198975531584, 1.22045723817336, 1.2381980278158,  1.25515224969536,
                           1.27127605771806, 1.28654164973972, 1.30093647082356};
  for (std::size_t i = 0; i <= 10; ++i) {
    CHECK(toDouble(flow.points[i].energy.time) == doctest::Approx(gact4i[i]).epsilon(base_tol(1e-6)));
    CHECK(toDouble(flow.points[i].energy.space) == doctest::Approx(gactij[i]).epsilon(base_tol(1e-6)));
  }
}

TEST_CASE("t^2 E starts as t^2 E(0), and grows with flow time to the scales t0 and w0 of a thermal field") {
  TESSERA_NEEDS_QCD("a file");
  const GaugeField u = thermal_field();
  const auto run = [&](double eps, int steps) {
    GaugeField v = u;
    return gradient_flow(v, wilson_flow_action(), steps, eps, 3, false);
  };
  const FlowResult coarse = run(0.02, 30), fine = run(0.01, 60);
  const double p0 = toDouble(coarse.points[0].energy.plaquette);
  CHECK(p0 == doctest::Approx(36 * (1 - 0.57107711169452713)).epsilon(base_tol(1e-12)));
  CHECK(coarse.t2_energy(&EnergyDensity::plaquette)[0] == 0);
  const double tiny = 1e-4;
  CHECK(run(tiny, 1).t2_energy(&EnergyDensity::plaquette)[1] == doctest::Approx(tiny * tiny * p0).epsilon(0.01));

  // The lattice is too small for 0.3; halving the step is the independent scheme.
  for (const auto& [energy, level] :
       {std::pair{&EnergyDensity::plaquette, 0.05}, std::pair{&EnergyDensity::clover, 0.03}}) {
    const auto a = coarse.t0(energy, level), b = fine.t0(energy, level);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(*a == doctest::Approx(*b).epsilon(3e-3));
    const auto c = coarse.w0(energy, level), d = fine.w0(energy, level);
    REQUIRE(c);
    REQUIRE(d);
    CHECK(*c == doctest::Approx(*d).epsilon(3e-3));
  }
  CHECK(!run(0.01, 2).t0());
}

TEST_CASE("scales of t^2 E = c t are where the formula says") {
  // E = c/t: t^2 E = c t and t d/dt (t^2 E) = c t, so t0 = level/c and w0 = sqrt(level/c).
  FlowResult flow;
  for (int i = 0; i <= 50; ++i) {
    FlowPoint point;
    point.t = 0.02 * i;
    point.energy.clover = i == 0 ? Double(0) : Double(0.5 / point.t);
    flow.points.push_back(point);
  }
  CHECK(*flow.t0() == doctest::Approx(0.6).epsilon(base_tol(1e-12)));
  CHECK(*flow.w0() == doctest::Approx(std::sqrt(0.6)).epsilon(base_tol(1e-12)));
  CHECK(*flow.t0(&EnergyDensity::clover, 0.1) == doctest::Approx(0.2).epsilon(base_tol(1e-12)));
}

TEST_CASE("scales of a curve of straight lines: the first crossing upwards, in whichever step it is") {
  const double step = 0.1, heights[] = {0, 0.4, 0.1, 0.3, 0.8};  // t^2 E
  FlowResult flow;
  for (int i = 0; i < 5; ++i) {
    FlowPoint point;
    point.t = step * i;
    point.energy.clover = i == 0 ? Double(0) : Double(heights[i] / (point.t * point.t));
    flow.points.push_back(point);
  }
  const auto t0 = [&](double level) { return flow.t0(&EnergyDensity::clover, level).value(); };
  CHECK(t0(0.2) == doctest::Approx(0.5 * step).epsilon(base_tol(1e-12)));
  CHECK(t0(0.4) == doctest::Approx(step).epsilon(base_tol(1e-12)));
  CHECK(t0(0.55) == doctest::Approx(3.5 * step).epsilon(base_tol(1e-12)));
  CHECK(!flow.t0(&EnergyDensity::clover, 0.81));
}

TEST_CASE("w0 is from differences to both sides, of the energy and at the level that is asked for") {
  FlowResult flow;  // t^2 E = c t^2, so that t d/dt(t^2 E) is 2 c t^2 by differences over two steps
  for (int i = 0; i <= 6; ++i) {
    FlowPoint point;
    point.t = 0.1 * i;
    point.energy.clover = 1;
    point.energy.plaquette = 0.5;
    flow.points.push_back(point);
  }
  const auto is = [](const std::optional<double>& found, double squared) {
    CHECK(found.value() == doctest::Approx(std::sqrt(squared)).epsilon(base_tol(1e-12)));
  };
  is(flow.w0(), 0.3 + 0.1 * (0.3 - 0.18) / (0.32 - 0.18));
  is(flow.w0(&EnergyDensity::clover, 0.1), 0.2 + 0.1 * (0.1 - 0.08) / (0.18 - 0.08));
  CHECK(!flow.w0(&EnergyDensity::plaquette));  // at most 0.25
  is(flow.w0(&EnergyDensity::plaquette, 0.05), 0.2 + 0.1 * (0.05 - 0.04) / (0.09 - 0.04));
  CHECK(!flow.w0(&EnergyDensity::clover, 0.51));  // the last point has one side only
  is(flow.w0(&EnergyDensity::clover, 0.499), 0.4 + 0.1 * (0.499 - 0.32) / (0.5 - 0.32));
}

TEST_CASE("time is the last direction unless a flow is told") {
  GaugeField u = weak_field(), v = u;
  const EnergyDensity unsaid = gradient_flow(u, wilson_flow_action(), 1, 0.01).points[1].energy;
  const EnergyDensity last = gradient_flow(v, wilson_flow_action(), 1, 0.01, Nd - 1).points[1].energy;
  CHECK(toDouble(unsaid.time) == toDouble(last.time));
  CHECK(toDouble(unsaid.space) == toDouble(last.space));
}

TEST_CASE("flows ask for a positive step and one flag per direction") {
  GaugeField u = weak_field();
  CHECK_THROWS_WITH_AS(gradient_flow(u, wilson_flow_action(), 3, 0.0), doctest::Contains("positive step"), ShapeError);
  CHECK_THROWS_AS(gradient_flow(u, wilson_flow_action(), -1, 0.1), ShapeError);
  CHECK(gradient_flow(u, wilson_flow_action(), 0, 0.1).points.size() == 1);
  CHECK_THROWS_WITH_AS(wilson_flow_action({true}), doctest::Contains("one flag per direction"), ShapeError);
  GaugeField few(Nd - 1);
  CHECK_THROWS_AS(flow_step(few, wilson_flow_action(), 0.1), ShapeError);
}
