// Gauge actions by name: values, forces against finite differences, normalisations.

#include "lib/action/gauge_actions.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;

namespace {

/// The action that an input asks for.
LoopAction make(const std::string& elements) {
  const InputFile document = tests::input("<GaugeAction>" + elements + "</GaugeAction>");
  const Input root = document.root();
  const auto* row = gauge_action_table().find(root);
  document.require_valid();
  LoopAction action = row->make(root);
  document.require_valid();
  return action;
}

const char* const kAniso = "<AnisoParam><anisoP>true</anisoP><t_dir>2</t_dir><xi_0>2.4</xi_0></AnisoParam>";

/// exp(t X) U.
GaugeField moved(const GaugeField& u, const GaugeField& x, double t) {
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) v[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
  return v;
}

}  // namespace

TEST_CASE("every action's force is the derivative of its value") {
  tests::use_lattice({2, 4, 4, 2});
  const GaugeField u = tests::random_field(), x = tests::random_algebra();
  const std::string names[] = {
      "<Name>WILSON_GAUGEACT</Name><beta>5.7</beta>",
      std::string("<Name>WILSON_GAUGEACT</Name><beta>5.7</beta>") + kAniso,
      "<Name>PLAQ_GAUGEACT</Name><coeffs><elem>0 1 2 3</elem><elem>1 0 4 5</elem><elem>2 4 0 6</elem><elem>3 5 6 "
      "0</elem></coeffs>",
      "<Name>RECT_GAUGEACT</Name><coeff>-0.4</coeff>",
      std::string(
          "<Name>RECT_GAUGEACT</Name><coeff_s>-0.4</coeff_s><coeff_t1>0.3</coeff_t1><coeff_t2>-0.2</coeff_t2>") +
          kAniso,
      "<Name>LW_TREE_GAUGEACT</Name><beta>6.8</beta><u0>0.85</u0>",
      "<Name>RG_GAUGEACT</Name><beta>9.5</beta><c1>-0.09</c1>",
      "<Name>RBC_GAUGEACT</Name><beta>2.6</beta><c1>-0.331</c1>",
  };
  for (const std::string& name : names) {
    CAPTURE(name);
    const LoopAction action = make(name);
    GaugeField f;
    action.force(f, u);
    // dS/dt along X is 2 sum tr(X F) = -2 <X, F>; the differences' error is of order h^4 after one extrapolation.
    const auto difference = [&](double h) {
      return (toDouble(action.action(moved(u, x, h))) - toDouble(action.action(moved(u, x, -h)))) / (2 * h);
    };
    const double slope = (4 * difference(5e-4) - difference(1e-3)) / 3;
    CHECK(-2 * tests::inner(x, f) == doctest::Approx(slope).epsilon(1e-8));
    for (int mu = 0; mu < Nd; ++mu) CHECK(tests::distance(LatticeColorMatrix(taproj(f[mu])), f[mu]) < 1e-11);
  }
}

TEST_CASE("a gauge transformation leaves the action and rotates the force") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  const LoopAction action = improved_action(2.6, -0.331);
  CHECK(toDouble(action.action(v)) == doctest::Approx(toDouble(action.action(u))).epsilon(1e-12));
  GaugeField fu, fv;
  action.force(fu, u);
  action.force(fv, v);
  for (int mu = 0; mu < Nd; ++mu) CHECK(tests::distance(fv[mu], LatticeColorMatrix(g * fu[mu] * adj(g))) < 1e-11);
}

TEST_CASE("values at U = 1 count the loops with Chroma's coefficients") {
  tests::use_lattice({4, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  const double v = static_cast<double>(Layout::vol()), plaquettes = 6 * v, rectangles = 12 * v;
  const auto value = [&](const std::string& text) { return toDouble(make(text).action(u)); };
  CHECK(value("<Name>WILSON_GAUGEACT</Name><beta>5.7</beta>") == doctest::Approx(-5.7 * plaquettes));
  CHECK(value("<Name>RECT_GAUGEACT</Name><coeff>0.5</coeff>") == doctest::Approx(-0.5 * rectangles));
  CHECK(value("<Name>LW_TREE_GAUGEACT</Name><beta>6</beta><u0>0.8</u0>") ==
        doctest::Approx(-6 * (plaquettes - rectangles / (20 * 0.64))));
  CHECK(value("<Name>RG_GAUGEACT</Name><beta>6</beta><c1>-0.1</c1>") ==
        doctest::Approx(-6 * (plaquettes - 0.1 * rectangles)));
  CHECK(value("<Name>RBC_GAUGEACT</Name><beta>6</beta><c1>-0.1</c1>") ==
        doctest::Approx(-6 * (1.8 * plaquettes - 0.1 * rectangles)));
  // Half of the plaquettes contain a given direction; of 12 rectangles per site 3 have their long side along it, 3
  // their short one.
  CHECK(value(std::string("<Name>WILSON_GAUGEACT</Name><beta>5.7</beta>") + kAniso) ==
        doctest::Approx(-5.7 * 3 * v * (2.4 + 1 / 2.4)));
  const std::string rect =
      std::string("<Name>RECT_GAUGEACT</Name><coeff_s>1</coeff_s><coeff_t1>10</coeff_t1><coeff_t2>100</coeff_t2>") +
      kAniso;
  CHECK(value(rect) == doctest::Approx(-v * (6 / 2.4 + 30 * 2.4 + 300 * 2.4)));
  CHECK(value(rect + "<no_temporal_2link>true</no_temporal_2link>") == doctest::Approx(-v * (6 / 2.4 + 300 * 2.4)));
}

TEST_CASE("the gauge action of Chroma's WEAK_FIELD start") {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  // hmc.prec_wilson, beta 5.7
  CHECK(toDouble(wilson_action(5.7).action(u)) == doctest::Approx(-8710.03760712626).epsilon(1e-12));
}

TEST_CASE("action and force of a thermal configuration computed elsewhere") {
  const auto file = tests::data_file("conf.00200");
  if (!file) TESSERA_SKIP("no reference configurations here");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", *file);

  // beta sum (1 - Re tr P/3) - beta 6 V
  CHECK(toDouble(wilson_action(5.69).action(u)) == doctest::Approx(-4991.1225838723).epsilon(1e-12));

  GaugeField f;
  wilson_action(5.69).force(f, u);
  CHECK(tests::inner(f, f) == doctest::Approx(13335.7408502983).epsilon(1e-12));  // 1/2 sum_a F_a^2 = |F|^2 (conv. 4)
  wilson_action(4).force(f, u);
  // The reference's generators and trace make each component twice ours: sum (2 F_a)^2 = 8 |F|^2.
  CHECK(8 * tests::inner(f, f) == doctest::Approx(52723.299867438494).epsilon(1e-12));
}
