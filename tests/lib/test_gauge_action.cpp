// Gauge actions by name: values, forces against finite differences, normalisations.

#include "lib/action/gauge_actions.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

/// The action that an input asks for.
std::shared_ptr<const GaugeAction> make(const std::string& elements) {
  const InputFile document = tests::input("<GaugeAction>" + elements + "</GaugeAction>");
  const Input root = document.root();
  const auto* row = gauge_action_table().find(root);
  document.require_valid();
  std::shared_ptr<const GaugeAction> action = row->make(root);
  document.require_valid();
  return action;
}

/// The direction called time: not the last one where there are more than two.
constexpr int kTime = Nd > 2 ? 2 : 1;
const std::string kAniso =
    "<AnisoParam><anisoP>true</anisoP><t_dir>" + std::to_string(kTime) + "</t_dir><xi_0>2.4</xi_0></AnisoParam>";
/// The first Nd of four words.
std::string first(const std::string& four) { return four.substr(0, 2 * Nd - 1); }

/// exp(t X) U.
GaugeField moved(const GaugeField& u, const GaugeField& x, double t) {
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) v[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
  return v;
}

/// One input for every action that an input can name, and some variants.
std::vector<std::string> all_actions() {
  const std::string aniso = kAniso;
  const auto action = [](const std::string& name, const std::string& elements) {
    return "<Name>" + name + "_GAUGEACT</Name>" + elements;
  };
  const std::string fundamental_adjoint = "<beta_F>3.1</beta_F><beta_A>1.7</beta_A>",
                    power = "<beta>2</beta><gamma>3</gamma>";
  std::string coefficients;
  for (const std::string four : {"0 1 2 3", "1 0 4 5", "2 4 0 6", "3 5 6 0"})
    if (coefficients.size() < Nd * (first(four).size() + 13)) coefficients += "<elem>" + first(four) + "</elem>";
  const std::string coarse = "<coarse_dirs>" + std::string(Nd == 2 ? "1 1" : first("0 1 1 0")) + "</coarse_dirs>",
                    tadpoles = "<u_s>0.8</u_s><u_t>0.95</u_t>";
  std::vector<std::string> actions = {
      action("WILSON", "<beta>5.7</beta>"),
      action("WILSON", "<beta>5.7</beta>" + aniso),
      action("SPATIAL_WILSON", "<beta>5.7</beta>" + aniso),
      action("TEMPORAL_WILSON", "<beta>5.7</beta>" + aniso),
      action("WILSON_COARSE_FINE", coarse + "<coeff_ff>0.1</coeff_ff><coeff_cf>0.2</coeff_cf><coeff_cc>0.3</coeff_cc>"),
      action("WILSON_COARSE_FINE_1LOOP",
             coarse + "<beta>6</beta><xi>3</xi><coeff_ff>0.2</coeff_ff><coeff_cc>0.3</coeff_cc>"),
      action("PLAQ", "<coeffs>" + coefficients + "</coeffs>"),
      action("RECT", "<coeff>-0.4</coeff>"),
      action("RECT", "<coeff_s>-0.4</coeff_s><coeff_t1>0.3</coeff_t1><coeff_t2>-0.2</coeff_t2>" + aniso),
      action("PG", "<coeff>0.7</coeff>"),
      action("LW_TREE", "<beta>6.8</beta><u0>0.85</u0>"),
      action("LW_1LOOP", "<beta>6.8</beta><u0>0.85</u0>"),
      action("RG", "<beta>9.5</beta><c1>-0.09</c1>"),
      action("RBC", "<beta>2.6</beta><c1>-0.331</c1>"),
      action("ANISO_SYM_SPATIAL", "<beta>2</beta><u_s>0.8</u_s><ZeroEnergy>1.5</ZeroEnergy>" + aniso),
      action("ANISO_SYM_TEMPORAL", "<beta>2</beta>" + tadpoles + aniso),
      action("SPATIAL_TWO_PLAQ", "<coeff>-0.4</coeff>" + aniso),
      action("PLAQ_PLUS_SPATIAL_TWO_PLAQ",
             "<coeff_plaq_s>2</coeff_plaq_s><coeff_plaq_t>3</coeff_plaq_t>"
             "<coeff_two_plaq>-0.7</coeff_two_plaq>" +
                 aniso),
      action("ANISO_SPECTRUM", "<beta>1.7</beta><omega>3</omega>" + tadpoles + aniso),
      action("PLAQ_PLUS_ADJOINT", fundamental_adjoint),
      action("SF_PLAQ_PLUS_ADJOINT", fundamental_adjoint + "<decay_dir>1</decay_dir>"),
      action("PLAQ_PLUS_TWO_PLAQ", fundamental_adjoint),
      action("SF_PLAQ_PLUS_TWO_PLAQ", fundamental_adjoint + "<decay_dir>1</decay_dir>"),
      action("CHARACTER", fundamental_adjoint + "<beta_S>-2.3</beta_S>"),
      action("CONSTRAINED_PLAQ", power + "<q>2.5</q>"),
      action("PLAQ_PLUS_PLAQ_POWER", power + "<q>3</q>"),
      action("PLAQ_PLUS_PLAQ_POWER", power + "<q>1</q>"),
      action("PLAQ_PLUS_ADJ_POWER", power + "<q>6</q>"),
      action("PLAQ_PLUS_ADJ_POWER", power + "<q>2</q>"),
  };
  std::erase_if(actions, [](const std::string& text) {
    return std::none_of(gauge_action_table().rows().begin(), gauge_action_table().rows().end(),
                        [&](const auto& row) { return text.starts_with("<Name>" + row.name + "</Name>"); });
  });
  return actions;
}

}  // namespace

TEST_CASE("these tests know every action that an input can name") {
  const std::vector<std::string> actions = all_actions();
  CHECK(gauge_action_table().rows().size() == (Nd > 2 ? 25 : 24));
  for (const auto& row : gauge_action_table().rows()) {
    CAPTURE(row.name);
    CHECK(std::any_of(actions.begin(), actions.end(), [&](const std::string& action) {
      return action.find("<Name>" + row.name + "</Name>") != std::string::npos;
    }));
  }
}

TEST_CASE("every action's force is the derivative of its value, and so is what it gives for links out of the group") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice({2, 4, 4, 2});
  const GaugeField u = tests::random_field();
  for (const std::string& name : all_actions()) {
    CAPTURE(name);
    const auto action = make(name);
    GaugeField f;
    action->force(f, u);
    for (int direction = 0; direction < 3; ++direction) {
      // dS/dt along X is 2 sum tr(X F) = -2 <X, F>; the differences' error is of order h^4 after one extrapolation.
      const GaugeField x = tests::random_algebra();
      const auto difference = [&](double h) {
        return (toDouble(action->action(moved(u, x, h))) - toDouble(action->action(moved(u, x, -h)))) / (2 * h);
      };
      const double slope = (4 * difference(5e-4) - difference(1e-3)) / 3;
      CHECK(-2 * tests::inner(x, f) == doctest::Approx(slope).epsilon(1e-8));
    }
    if (std::dynamic_pointer_cast<const LoopAction>(action) && !name.starts_with("<Name>WILSON_GAUGEACT"))
      continue;  // all by the same code
    // Conv. 9 for any change of the links: dS = 2 sum Re tr(dV G).
    GaugeField change(Nd), g;
    action->derivative(g, u);
    for (int mu = 0; mu < Nd; ++mu) {
      CHECK(tests::distance(LatticeColorMatrix(taproj(u[mu] * g[mu])), f[mu]) < base_tol(1e-11));
      gaussian(change[mu]);
    }
    const auto difference = [&](double h) {
      GaugeField up(Nd), down(Nd);
      for (int mu = 0; mu < Nd; ++mu) {
        up[mu] = u[mu] + Real(h) * change[mu];
        down[mu] = u[mu] - Real(h) * change[mu];
      }
      return (toDouble(action->action(up)) - toDouble(action->action(down))) / (2 * h);
    };
    const double slope = (4 * difference(5e-5) - difference(1e-4)) / 3;
    double expected = 0;
    for (int mu = 0; mu < Nd; ++mu) expected += 2 * toDouble(sum(real(trace(change[mu] * g[mu]))));
    CHECK(expected == doctest::Approx(slope).epsilon(1e-7));
  }
}

TEST_CASE("a gauge transformation leaves every action and rotates its force") {
  tests::use_lattice({2, 4, 4, 2});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  for (const std::string& name : all_actions()) {
    CAPTURE(name);
    const auto action = make(name);
    CHECK(toDouble(action->action(v)) == doctest::Approx(toDouble(action->action(u))).epsilon(base_tol(1e-12)));
    GaugeField fu, fv;
    action->force(fu, u);
    action->force(fv, v);
    for (int mu = 0; mu < Nd; ++mu)
      CHECK(tests::distance(fv[mu], LatticeColorMatrix(g * fu[mu] * adj(g))) < base_tol(1e-9));
  }
}

TEST_CASE("values at U = 1 count the loops with Chroma's coefficients") {
  TESSERA_NEEDS_QCD("loops counted in four dimensions");
  tests::use_lattice({4, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  const double v = static_cast<double>(Layout::vol()), plaquettes = 6 * v, rectangles = 12 * v;
  const auto value = [&](const std::string& text) { return toDouble(make(text)->action(u)); };
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

  CHECK(value("<Name>PG_GAUGEACT</Name><coeff>0.5</coeff>") == doctest::Approx(-0.5 * 16 * v));
  const double alpha = -4 * std::log(0.8) / 3.06839;
  CHECK(value("<Name>LW_1LOOP_GAUGEACT</Name><beta>6</beta><u0>0.8</u0>") ==
        doctest::Approx(-6 * v * (6 - 12 * (1 + 0.4805 * alpha) / (20 * 0.64) - 16 * 0.03325 * alpha / 0.64)));
  const std::string aniso = kAniso;
  CHECK(value("<Name>SPATIAL_TWO_PLAQ_GAUGEACT</Name><coeff>0.5</coeff>" + aniso) ==
        doctest::Approx(-0.25 * 3 * v / 2.4));
  // 6 spatial rectangles per site, and 3 with one link in time.
  CHECK(value("<Name>ANISO_SYM_SPATIAL_GAUGEACT</Name><beta>2</beta><u_s>0.8</u_s><ZeroEnergy>1.5</ZeroEnergy>" +
              aniso) ==
        doctest::Approx(v * (-2 / 2.4 * (3 * 5 / (3 * std::pow(0.8, 4)) - 6 / (12 * std::pow(0.8, 6))) + 0.5)));
  CHECK(value("<Name>ANISO_SYM_TEMPORAL_GAUGEACT</Name><beta>2</beta><u_s>0.8</u_s><u_t>0.9</u_t>" + aniso) ==
        doctest::Approx(-2 * 2.4 * v * (3 * 4 / (3 * 0.64 * 0.81) - 3 / (12 * std::pow(0.8, 4) * 0.81))));
  CHECK(value("<Name>PLAQ_PLUS_TWO_PLAQ_GAUGEACT</Name><beta_F>3</beta_F><beta_A>2</beta_A>") ==
        doctest::Approx(-4 * plaquettes));
  // Half the weight for spatial plaquettes on two of four planes.
  CHECK(
      value(
          "<Name>SF_PLAQ_PLUS_TWO_PLAQ_GAUGEACT</Name><beta_F>3</beta_F><beta_A>2</beta_A><decay_dir>0</decay_dir>") ==
      doctest::Approx(-4 * v * (3 + 3 * 0.75)));
  const std::string power = "<beta>2</beta><gamma>3</gamma><q>4</q>";
  for (const std::string name : {"CONSTRAINED_PLAQ", "PLAQ_PLUS_PLAQ_POWER", "PLAQ_PLUS_ADJ_POWER"})
    CHECK(std::fabs(value("<Name>" + name + "_GAUGEACT</Name>" + power)) < base_tol(1e-10));
  const std::string characters = "<beta_F>3</beta_F><beta_A>2</beta_A><beta_S>1</beta_S>";
  for (const std::string name : {"CHARACTER", "PLAQ_PLUS_ADJOINT"})
    CHECK(std::fabs(value("<Name>" + name + "_GAUGEACT</Name>" + characters)) < base_tol(1e-10));
}

TEST_CASE("the characters of SU(3) plaquettes, from tr P alone") {
  TESSERA_NEEDS_QCD("the characters of SU(3)");
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField u = tests::random_field();
  double fundamental = 0, adjoint = 0, sextet = 0;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu) {
      const LatticeComplex t = trace(path_product(u, plaquette_loop(mu, nu)));
      fundamental += toDouble(sum(real(t)));
      adjoint += toDouble(norm2(t)) - static_cast<double>(Layout::vol());  // |tr P|^2 - 1
      sextet += toDouble(sum(real(t * t - conj(t))));                      // 3 x 3 = 6 + 3bar
    }
  const double plaquettes = 6.0 * static_cast<double>(Layout::vol());
  const auto value = [&](const std::string& f, const std::string& a, const std::string& s) {
    return toDouble(make("<Name>CHARACTER_GAUGEACT</Name><beta_F>" + f + "</beta_F><beta_A>" + a + "</beta_A><beta_S>" +
                         s + "</beta_S>")
                        ->action(u));
  };
  CHECK(value("1", "0", "0") == doctest::Approx(plaquettes - fundamental / 3).epsilon(base_tol(1e-12)));
  CHECK(value("0", "1", "0") == doctest::Approx(8 * plaquettes / 9 - adjoint / 9).epsilon(base_tol(1e-12)));
  CHECK(value("0", "0", "1") == doctest::Approx((plaquettes - sextet / 6) / 2).epsilon(base_tol(1e-12)));
}

TEST_CASE("the parallelograms of an action are all that there are, each once") {
  if (Nd == 2) TESSERA_SKIP("QDP_ND is 2: there are none");
  // All closed walks a b c -a -b -c along three axes, whatever their start and sense.
  const auto normal_form = [](const Path& loop) {
    Path smallest = loop;
    for (const Path& walk : {loop, loop.reversed()})
      for (int k = 0; k < walk.length(); ++k) smallest = std::min(smallest, walk.rotated(k));
    return smallest;
  };
  std::set<Path> walks;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu)
      for (int rho = 0; rho < Nd; ++rho)
        for (int signs = 0; signs < 8; ++signs) {
          if (mu == nu || nu == rho || mu == rho) continue;
          const Step a{mu, signs & 1 ? 1 : -1}, b{nu, signs & 2 ? 1 : -1}, c{rho, signs & 4 ? 1 : -1};
          walks.insert(normal_form({a, b, c, -a, -b, -c}));
        }
  const auto action = std::dynamic_pointer_cast<const LoopAction>(make("<Name>PG_GAUGEACT</Name><coeff>1</coeff>"));
  REQUIRE(action);
  std::set<Path> loops;
  for (const WeightedPath& loop : action->loops()) loops.insert(normal_form(loop.path));
  CHECK(loops.size() == action->loops().size());
  CHECK(loops == walks);
}

TEST_CASE("totals: nought of no part, the part of one, the sum of more; fields and directions mixed") {
  tests::use_lattice({4, 2, 2, 2});
  GaugeField a(Nd), b(Nd);
  for (GaugeField* const field : {&a, &b})
    for (LatticeColorMatrix& links : *field) gaussian(links);
  const auto distance = [](const LatticeColorMatrix& x, const LatticeColorMatrix& y) {
    return toDouble(norm2(LatticeColorMatrix(x - y)));
  };
  GaugeFieldTotal none;
  for (const LatticeColorMatrix& links : none.take()) CHECK(toDouble(norm2(links)) == 0);
  GaugeFieldTotal total;
  total[1].add(Real(2) * a[1]);
  CHECK(distance(total[1].value(), LatticeColorMatrix(Real(2) * a[1])) == 0);
  total.add(b);
  total[1].add(a[0]);
  CHECK(distance(total[0].value(), b[0]) == 0);
  const GaugeField sum = total.take();
  CHECK(distance(sum[0], b[0]) == 0);
  CHECK(distance(sum[1], LatticeColorMatrix(Real(2) * a[1] + b[1] + a[0])) < base_tol(1e-24));
  for (const LatticeColorMatrix& links : total.take()) CHECK(toDouble(norm2(links)) == 0);  // it has ended
}

TEST_CASE("the gauge action of Chroma's WEAK_FIELD start") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  // hmc.prec_wilson, beta 5.7
  CHECK(toDouble(wilson_action(5.7).action(u)) == doctest::Approx(-8710.03760712626).epsilon(base_tol(1e-12)));
}

TEST_CASE("action and force of a thermal configuration computed elsewhere") {
  TESSERA_NEEDS_QCD("a file");
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);

  // beta sum (1 - Re tr P/3) - beta 6 V
  CHECK(toDouble(wilson_action(5.69).action(u)) == doctest::Approx(-4991.1225838723).epsilon(base_tol(1e-12)));

  GaugeField f;
  wilson_action(5.69).force(f, u);
  CHECK(tests::inner(f, f) ==
        doctest::Approx(13335.7408502983).epsilon(base_tol(1e-12)));  // 1/2 sum_a F_a^2 = |F|^2 (conv. 4)
  wilson_action(4).force(f, u);
  // The reference's generators and trace make each component twice ours: sum (2 F_a)^2 = 8 |F|^2.
  CHECK(8 * tests::inner(f, f) == doctest::Approx(52723.299867438494).epsilon(base_tol(1e-12)));
}
