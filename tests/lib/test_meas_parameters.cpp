// Every element of a measurement's input reaches the function that it is meant for, with values that differ from the
// defaults and from each other, and every number of its output is what that function found.

#include "lib/action/gauge_actions.hpp"
#include "lib/dirac/quark_operator.hpp"
#include "lib/meas/condensate.hpp"
#include "lib/meas/field_strength.hpp"
#include "lib/meas/flow.hpp"
#include "lib/meas/gauge_fix.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/parameters.hpp"
#include "lib/meas/propagator.hpp"
#include "lib/meas/source.hpp"
#include "lib/smear/ape.hpp"
#include "lib/smear/hyp.hpp"
#include "lib/smear/stout.hpp"
#include "lib/solver/lanczos.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"
#include "tests/lib/sites.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::measurement;
using tests::Output;
using tests::run_measurements;
using tests::tag;

namespace {

const std::string kGauge = tag("gauge_id", "default_gauge_field");
std::string ids(const std::string& names) { return tag("NamedObject", names); }

std::string elem(const std::string& list, int n) { return "(" + list + ")[" + std::to_string(n) + "]"; }

bool near(double a, double b, double tolerance = 1e-12) {
  return std::fabs(a - b) <= base_tol(tolerance) * (1 + std::fabs(b));
}
bool near(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-12) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!near(a[i], b[i], tolerance)) return false;
  return true;
}

GaugeField field(const std::vector<int>& extents) {
  tests::use_lattice(extents);
  GaugeField u(Nd);
  weak_field_start(u);
  LatticeColorMatrix g;
  return tests::gauge_transformed(u, g);
}

}  // namespace

TEST_CASE("measurements start with the generator's seed, the projected links of Cfg, and what was found of both") {
  tests::use_lattice({2, 4, 2, 6});
  const tests::ScratchFolder folder("measure_start");
  const GaugeField in_group = tests::random_field();
  GaugeField u = in_group;
  const LatticeBoolean some = Layout::latticeCoordinate(3) == 1;
  for (const int mu : {1, 2, 3}) u[mu] = where(some, Real(1.001) * u[mu], u[mu]);
  {
    XMLBufferWriter file_xml, record_xml;
    for (XMLBufferWriter* xml : {&file_xml, &record_xml}) {
      push(*xml, "gauge");
      pop(*xml);
    }
    QDPFileWriter file(file_xml, folder.file("u.lime"), QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN);
    write(file, record_xml, u);
    close(file);
  }
  const std::string cfg = tag("Cfg", tag("cfg_type", "SZINQIO") + tag("cfg_file", folder.file("u.lime")));
  for (const auto& [rng, seed] :
       {std::pair<std::string, std::array<int, 4>>{"", {11, 0, 0, 0}},
        {tag("RNG", tag("Seed", "<elem>5</elem><elem>6</elem><elem>7</elem><elem>8</elem>")), {5, 6, 7, 8}}}) {
    CAPTURE(rng);
    const InputFile file = tests::input(tag("chroma", tag("Param", tag("nrow", "2 4 2 6")) + rng + cfg));
    const MeasureParameters parameters = read_measure_parameters(file.root());
    file.require_valid();
    CHECK(parameters.lattice == std::vector<int>{2, 4, 2, 6});
    CHECK(parameters.memory.kept == 2.0 * 2 * Nd * Nc * Nc * sizeof(REAL));
    CHECK(parameters.memory.working == 0);
    RNG::setrn(make_seed({1, 2, 3, 4}));
    XMLBufferWriter text;
    push(text, "out");
    const GaugeField start = start_measurements(parameters, Log{&text});
    pop(text);
    Seed now;
    RNG::savern(now);
    CHECK(toBool(now == make_seed(seed)));
    Output out(text.str());
    for (int i = 0; i < 4; ++i)
      CHECK(out.number("/out/RNG/Seed/elem[" + std::to_string(i + 1) + "]") == seed[static_cast<std::size_t>(i)]);
    CHECK(out.number("/out/Config_check/reunitarized_links") == 3.0 * 2 * 4 * 2);
    CHECK(out.count("/out/Config_check/checksum") == 1);
    CHECK(out.text("/out/Config_info/Cfg/cfg_type") == "SZINQIO");
    CHECK(tests::distance(start, in_group) < base_tol(1e-10));
    CHECK(near(out.number("/out/Observables/w_plaq"), toDouble(average_plaquette(start))));
    CHECK(near(out.number("/out/Observables/link"), toDouble(average_link(start))));
  }
}

TEST_CASE("LINK_SMEAR does what its function does with each of its parameters") {
  const GaugeField u = field({2, 4, 2, 4});
  ApeSmearing ape{.factor = 1.7, .steps = 2, .no_smear_dir = 1, .projection = {0.3, 3}};
  HypSmearing hyp{
      .alpha1 = 0.8, .alpha2 = 0.5, .alpha3 = 0.2, .steps = 2, .no_smear_dir = -1, .projection = {1e-20, 2}};
  const auto stout = [&](double rho, int steps, const std::vector<bool>& smear) {
    return LinkState(u, stout_links(stout_weights(rho, smear), steps)).links();
  };
  const std::string fact = "link_smear_fact", num = "link_smear_num";
  std::vector<std::pair<std::string, GaugeField>> cases = {
      {tag("LinkSmearingType", "APE_SMEAR") + tag(fact, "1.7") + tag(num, "2") + tag("no_smear_dir", "1") +
           tag("BlkAccu", "0.3") + tag("BlkMax", "3"),
       ape_smeared(u, ape)},
      {tag("LinkSmearingType", "HYP_SMEAR") + tag("alpha1", "0.8") + tag("alpha2", "0.5") + tag("alpha3", "0.2") +
           tag("num_smear", "2") + tag("BlkAccu", "1e-20") + tag("BlkMax", "2"),
       hyp_smeared(u, hyp)},
      {tag("LinkSmearingType", "STOUT_SMEAR") + tag(fact, "0.12") + tag(num, "3") + tag("smear_dirs", "1 0 1 1"),
       stout(0.12, 3, {true, false, true, true})},
      {tag("LinkSmearingType", "STOUT_SMEAR") + tag(fact, "0.12") + tag(num, "1") + tag("no_smear_dir", "2"),
       stout(0.12, 1, {true, true, false, true})},
      {tag("LinkSmearingType", "STOUT_SMEAR") + tag(fact, "0.12") + tag(num, "1") + tag("no_smear_dir", "4"),
       stout(0.12, 1, {true, true, true, true})}};
  // Chroma's defaults: one step of HYP, BlkAccu 1e-5, BlkMax 100; no_smear_dir none.
  hyp.steps = 1;
  hyp.projection = ape.projection = {1e-5, 100};
  ape.no_smear_dir = -1;
  cases.emplace_back(
      tag("LinkSmearingType", "HYP_SMEAR") + tag("alpha1", "0.8") + tag("alpha2", "0.5") + tag("alpha3", "0.2"),
      hyp_smeared(u, hyp));
  cases.emplace_back(tag("LinkSmearingType", "APE_SMEAR") + tag(fact, "1.7") + tag(num, "2"), ape_smeared(u, ape));
  cases.emplace_back(tag("LinkSmearingType", "NONE"), u);

  std::string list;
  for (std::size_t i = 0; i < cases.size(); ++i)
    list += measurement(
        "LINK_SMEAR", tag("Param", cases[i].first) + ids(kGauge + tag("linksmear_id", "smeared" + std::to_string(i))));
  Output out(run_measurements(list, u, 3));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].first);
    const std::string here = elem("//linksmear", static_cast<int>(i) + 1);
    for (const auto& [name, links] :
         {std::pair<std::string, const GaugeField&>{"/Observables", u}, {"/Link_observables", cases[i].second}}) {
      const Plaquettes p = measure_plaquettes(links);
      CHECK(near(out.number(here + name + "/w_plaq"), toDouble(p.average)));
      CHECK(near(out.number(here + name + "/s_plaq"), toDouble(p.space)));
      CHECK(near(out.number(here + name + "/t_plaq"), toDouble(p.time)));
      CHECK(near(out.number(here + name + "/link"), toDouble(p.link)));
      for (int mu = 0; mu < Nd; ++mu) {
        const DComplex loop = polyakov_loop(links, mu);
        const std::string at = here + name + "/pollp/elem[" + std::to_string(mu + 1) + "]";
        CHECK(near(out.number(at + "/re"), toDouble(real(loop))));
        CHECK(near(out.number(at + "/im"), toDouble(imag(loop))));
      }
    }
    CHECK(out.number(here + "/update_no") == 3);
  }
}

TEST_CASE("COULOMB_GAUGEFIX stops where its parameters say and reports what was reached") {
  const GaugeField u = field({2, 4, 2, 6});
  struct Case {
    std::string order;
    GaugeFixing how;
  };
  const std::string over = tag("OrDo", "true") + tag("OrPara", "1.3");
  const Case cases[] = {
      {over, {.j_decay = 1, .accuracy = 1e-4, .max_sweeps = 300, .over_relaxation = 1.3}},
      {over, {.j_decay = 4, .accuracy = 1e-30, .max_sweeps = 7, .over_relaxation = 1.3}},
      {tag("OrDo", "false") + tag("OrPara", "1.3"), {.j_decay = -1, .accuracy = 1e-3, .max_sweeps = 200}}};
  for (const Case& c : cases) {
    CAPTURE(c.how.j_decay);
    std::ostringstream accuracy;
    accuracy << c.how.accuracy;
    Output out(run_measurements(
        measurement("COULOMB_GAUGEFIX", tag("Param", tag("version", "1") + tag("GFAccu", accuracy.str()) +
                                                         tag("GFMax", std::to_string(c.how.max_sweeps)) + c.order +
                                                         tag("j_decay", std::to_string(c.how.j_decay))) +
                                            ids(kGauge + tag("gfix_id", "fixed") + tag("gauge_rot_id", "turn"))),
        u));
    GaugeField fixed = u;
    LatticeColorMatrix g;
    const GaugeFixingResult result = fix_gauge(fixed, g, c.how);
    const std::string here = "//Gauge_fixing_parameters/";
    CHECK(out.number(here + "iterations") == result.sweeps);
    CHECK(out.text(here + "converged") == (result.converged ? "true" : "false"));
    CHECK(result.converged == (c.how.max_sweeps != 7));
    CHECK(near(out.number(here + "functional"), result.functional));
    CHECK(near(out.number(here + "theta"), result.theta));
    CHECK(near(out.number(here + "GFAccu"), c.how.accuracy));
    CHECK(out.number(here + "GFMax") == c.how.max_sweeps);
    CHECK(near(out.number("//CoulGauge/Observables/link"), toDouble(average_link(u))));
    CHECK(out.count("//CoulGauge/Config_info") == 1);
    CHECK(near(out.number("//CoulGauge/Gfix_observables/link"), toDouble(average_link(fixed))));
  }
}

TEST_CASE("flows write times, energies, charges and scales of each step, and leave the field of the last") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const std::string action = tag("Name", "RBC_GAUGEACT") + tag("beta", "1") + tag("c1", "-0.08");
  const std::string flow_ids = tag("gauge_in", "default_gauge_field");
  Output out(run_measurements(
      measurement("WILSON_FLOW",
                  tag("Param", tag("version", "1") + tag("nstep", "24") + tag("wtime", "0.6") + tag("t_dir", "1")) +
                      ids(flow_ids + tag("gauge_out", "a"))) +
          measurement("GRADIENT_FLOW", tag("Param", tag("nstep", "24") + tag("eps", "0.02") + tag("t_dir", "2") +
                                                        tag("GaugeAction", action)) +
                                           ids(flow_ids + tag("gauge_out", "b"))) +
          measurement("PLAQUETTE", ids(tag("gauge_id", "a"))) + measurement("PLAQUETTE", ids(tag("gauge_id", "b"))),
      u));
  const LoopAction wilson = wilson_flow_action(), improved = improved_action(1, -0.08);
  int number = 0;
  for (const auto& [steps, loops, t_dir] : {std::tuple{0.025, &wilson, 1}, std::tuple{0.02, &improved, 2}}) {
    ++number;
    CAPTURE(number);
    GaugeField v = u;
    std::vector<double> time, mixed, spatial, plaquette, clover, charge;
    for (int i = 0; i <= 24; ++i) {
      if (i > 0) flow_step(v, *loops, steps);
      const EnergyDensity e = energy_density(v, t_dir);
      const double t = i * steps;
      time.push_back(t);
      mixed.push_back(toDouble(e.time));
      spatial.push_back(toDouble(e.space));
      plaquette.push_back(t * t * toDouble(e.plaquette));
      clover.push_back(t * t * toDouble(e.clover));
      charge.push_back(toDouble(topological_charge(v)));
    }
    const std::string here = elem("//wilson_flow_results", number) + "/";
    CHECK(near(out.numbers(here + "wflow_step"), time));
    CHECK(near(out.numbers(here + "wflow_gact4i"), mixed, 1e-9));
    CHECK(near(out.numbers(here + "wflow_gactij"), spatial, 1e-9));
    CHECK(near(out.numbers(here + "t2E_plaquette"), plaquette, 1e-9));
    CHECK(near(out.numbers(here + "t2E_clover"), clover, 1e-9));
    CHECK(near(out.numbers(here + "qtop"), charge, 1e-9));
    CHECK(near(out.number(elem("//Plaquette/w_plaq", number)), toDouble(average_plaquette(v)), 1e-10));

    const auto crossing = [](const std::vector<double>& x, const std::vector<double>& y) {
      for (std::size_t i = 1; i < x.size(); ++i)
        if (y[i - 1] < 0.3 && y[i] >= 0.3) return x[i - 1] + (0.3 - y[i - 1]) / (y[i] - y[i - 1]) * (x[i] - x[i - 1]);
      return -1.0;
    };
    int found = 0;
    for (const auto& [name, y] : {std::pair{"plaquette", plaquette}, std::pair{"clover", clover}}) {
      CAPTURE(name);
      std::vector<double> middle, slope;
      for (std::size_t i = 1; i + 1 < time.size(); ++i) {
        middle.push_back(time[i]);
        slope.push_back(time[i] * (y[i + 1] - y[i - 1]) / (2 * steps));
      }
      for (const auto& [tag, value] :
           {std::pair{"t0_", crossing(time, y)}, std::pair{"w0_", crossing(middle, slope)}}) {
        CAPTURE(tag);
        const std::string path = here + tag + name;
        REQUIRE(out.count(path) == (value > 0 ? 1 : 0));
        if (value <= 0) continue;
        ++found;
        CHECK(near(out.number(path), tag[0] == 'w' ? std::sqrt(value) : value, 1e-8));
      }
    }
    CHECK(found >= 3);
  }
}

TEST_CASE("an input without a version is of the newest") {
  const GaugeField u = field({2, 4, 2, 2});
  const auto flow = [&](const std::string& version, const std::string& directions) {
    Output out(run_measurements(
        measurement("WILSON_FLOW", tag("Param", version + tag("nstep", "2") + tag("wtime", "0.1") + tag("t_dir", "3") +
                                                    tag("smear_dirs", directions)) +
                                       ids(tag("gauge_in", "default_gauge_field"))),
        u));
    return out.number("//WilsonFlowGaugeObservables/w_plaq");
  };
  const double newest = flow(tag("version", "2"), "1 0 1 1");
  CHECK(flow("", "1 0 1 1") == newest);
  CHECK(flow("", "1 1 1 1") != newest);
}

TEST_CASE(
    "WILSON_FLOW's wtime is that of all steps, however few; GRADIENT_FLOW's time is the last direction unless told") {
  const GaugeField u = field({2, 4, 2, 2});
  for (const int steps : {1, 2, 3}) {
    Output out(run_measurements(
        measurement("WILSON_FLOW", tag("Param", tag("version", "1") + tag("nstep", std::to_string(steps)) +
                                                    tag("wtime", "0.12") + tag("t_dir", "3")) +
                                       ids(tag("gauge_in", "default_gauge_field") + tag("gauge_out", "a"))),
        u));
    const std::vector<double> times = out.numbers("//wilson_flow_results/wflow_step");
    REQUIRE(times.size() == static_cast<std::size_t>(steps) + 1);
    CHECK(near({times.back()}, {0.12}));
  }
  const auto flow = [&](const std::string& direction) {
    const std::string action = tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "3"));
    return measurement("GRADIENT_FLOW", tag("Param", tag("nstep", "1") + tag("eps", "0.02") + direction + action) +
                                            ids(tag("gauge_in", "default_gauge_field") + tag("gauge_out", "a")));
  };
  Output unsaid(run_measurements(flow(""), u)), last(run_measurements(flow(tag("t_dir", "3")), u));
  for (const char* name : {"//wflow_gact4i", "//wflow_gactij"}) CHECK(unsaid.numbers(name) == last.numbers(name));
  for (const char* outside : {"-1", "4"})
    CHECK_THROWS_WITH_AS(run_measurements(flow(tag("t_dir", outside)), u), doctest::Contains("t_dir"), InputError);
}

TEST_CASE("QTOP_NAIVE writes the charges of both definitions and both energies") {
  const GaugeField u = field({4, 2, 4, 6});
  Output out(run_measurements(measurement("QTOP_NAIVE", tag("Param", tag("version", "1") + tag("k5", "0.05"))) +
                                  measurement("QTOP_NAIVE", tag("Param", tag("version", "1") + tag("k5", "0"))) +
                                  measurement("QTOP_NAIVE", ""),
                              u));
  const double clover = toDouble(topological_charge(u));
  const double expected[] = {toDouble(topological_charge(u, five_loop_definition(0.05))),
                             toDouble(topological_charge(u, five_loop_definition(0))), clover};
  const EnergyDensity e = energy_density(u);
  CHECK(std::fabs(expected[0] - expected[1]) > 1e-9);
  for (int n = 0; n < 3; ++n) {
    const std::string here = elem("//QTop", n + 1) + "/";
    CHECK(std::fabs(out.number(here + "qtop") - expected[n]) < base_tol(1e-13));
    CHECK(std::fabs(out.number(here + "qtop_clover") - clover) < base_tol(1e-13));
    CHECK(out.number(here + "k5") == (n == 0 ? 0.05 : 0));
    CHECK(near(out.number(here + "energy_clover"), toDouble(e.clover)));
    CHECK(near(out.number(here + "energy_plaquette"), toDouble(e.plaquette)));
  }
}

namespace {

using reference::Color;
using reference::Links;

/// The average over sites of Re tr/3 of loops: the mean of `orders` of a step, r times, and t links along `time`.
double plain_loop(const Links& u, const std::vector<std::vector<int>>& orders, int time, int r, int t) {
  const auto& first = orders[0];
  const auto step = [&](int x) {
    Color mean{};
    for (const auto& order : orders)
      mean = mean + reference::Complex(1.0 / static_cast<double>(orders.size())) * u.walk(x, order);
    return mean;
  };
  const auto ahead = [&](int x) {
    for (const int s : first) x = u.neighbour(x, std::abs(s) - 1, s > 0 ? 1 : -1);
    return x;
  };
  const auto line = [&](int x) {
    Color product = reference::unit_color();
    for (int k = 0; k < r; ++k) {
      product = product * step(x);
      x = ahead(x);
    }
    return product;
  };
  const std::vector<int> up(static_cast<std::size_t>(t), time + 1);
  double total = 0;
  for (int x = 0; x < u.volume(); ++x) {
    int far = x;
    for (int k = 0; k < r; ++k) far = ahead(far);
    total += trace(line(x) * u.walk(far, up) * adjoint(u.walk(x, up) * line(u.neighbour(x, time, t)))).real() / 3;
  }
  return total / u.volume();
}

}  // namespace

TEST_CASE("WILSLP: loops in space and along j_decay, which is not t_dir, on plain arrays") {
  tests::use_lattice({4, 6, 4, 4});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u);
  // Of the directions with the extent 4 one is t_dir.
  Output out(run_measurements(measurement("WILSLP", tag("Param", tag("version", "3") + tag("kind", "7") +
                                                                     tag("j_decay", "1") + tag("t_dir", "2")) +
                                                        ids(kGauge)),
                              u));
  const int decay = 1, first = 0, second = 3;
  CHECK(out.number("//WilsonLoop/decay_dir") == decay);
  CHECK(out.number("//WilsonLoop/t_dir") == 2);
  CHECK(out.number("//wils_loop1/lengthr") == 4);
  CHECK(out.number("//wils_loop2/lengthr") == 4);
  CHECK(out.number("//wils_loop2/lengtht") == 3);
  CHECK(out.number("//wils_loop3/lengthr") == 4);
  CHECK(out.number("//wils_loop3/lengtht") == 3);
  CHECK(out.number("//wils_loop3/length") == 6);
  const auto loop = [&](const std::string& table, int row, int place) {
    const std::string here = "//" + table + "/elem[" + std::to_string(row) + "]";
    CHECK(out.number(here + "/r") == row - 1);
    return out.numbers(here + "/loop").at(static_cast<std::size_t>(place - 1));
  };
  REQUIRE(out.count("//wloop1/elem") == 4);
  REQUIRE(out.count("//wloop2/elem") == 4);
  REQUIRE(out.count("//wloop3/elem") == 6);
  for (int r = 1; r <= 4; ++r) {
    CAPTURE(r);
    for (const int t : {1, 4}) CHECK(near(loop("wloop1", r, t), plain_loop(plain, {{second + 1}}, first, r, t), 1e-11));
    for (const int t : {1, 3}) {
      const double planar =
          (plain_loop(plain, {{first + 1}}, decay, r, t) + plain_loop(plain, {{second + 1}}, decay, r, t)) / 2;
      CHECK(near(loop("wloop2", r, t), planar, 1e-11));
      double diagonal = 0;
      for (const int s : {second + 1, -(second + 1)})
        diagonal += plain_loop(plain, {{first + 1, s}, {s, first + 1}}, decay, r, t) / 2;
      CHECK(near(loop("wloop3", r, t), diagonal, 1e-11));
      if (r > 2) continue;
      double knights = 0;  // two steps along one, one along the other
      for (const auto& [far, near_by] : {std::pair{first, second}, std::pair{second, first}})
        for (const int s : {near_by + 1, -(near_by + 1)})
          knights += plain_loop(plain, {{far + 1, far + 1, s}, {s, far + 1, far + 1}}, decay, r, t) / 4;
      CHECK(near(loop("wloop3", 4 + r, t), knights, 1e-11));
    }
  }
}

namespace {

template <class F>
std::shared_ptr<const FermionAction<F>> action_from(const std::string& text) {
  const InputFile file = tests::input(tag("FermionAction", text));
  std::shared_ptr<const FermionAction<F>> action;
  if constexpr (std::is_same_v<F, LatticeFermion>)
    action = wilson_type_action_table().find(file.root(), "FermAct")->make(file.root());
  else
    action = staggered_type_action_table().find(file.root(), "FermAct")->make(file.root());
  file.require_valid();
  return action;
}

std::string direct_solver(const std::string& residual) {
  return tag("InvertParam",
             tag("invType", "BICGSTAB_INVERTER") + tag("RsdBiCGStab", residual) + tag("MaxBiCGStab", "500"));
}

template <class F>
QuarkInverter<F> inverter_of(const std::string& action, const std::string& solver, const GaugeField& u) {
  const InputFile file = tests::input(tag("p", solver));
  const auto made = read_direct_solver<F>(file.root().group("InvertParam"));
  file.require_valid();
  return QuarkInverter<F>(action_from<F>(action), made, u);
}

template <class F>
void check_condensates(const std::string& name, const std::string& action, const GaugeField& u) {
  const std::string solver = tests::inverter();
  const auto inverse = inverter_of<F>(action, solver, u);
  for (const char* sources : {"", "<n_sources>1</n_sources>"})
    CHECK(Output(run_measurements(measurement(name, tag("Param", tag("FermionAction", action) + solver + sources)), u))
              .count("//sources/elem") == 1);
  for (const auto& [noise, kind] :
       {std::pair{"Z2", TraceNoise::z2}, std::pair{"U1", TraceNoise::u1}, std::pair{"GAUSSIAN", TraceNoise::gaussian},
        std::pair{"UNIT", TraceNoise::unit}, std::pair{"", TraceNoise::z2}}) {
    CAPTURE(noise);
    RNG::setrn(make_seed({3, 1, 4, 1}));
    Output out(
        run_measurements(measurement(name, tag("Param", tag("FermionAction", action) + solver + tag("n_sources", "4") +
                                                            (*noise ? tag("noise", noise) : std::string()))),
                         u));
    RNG::setrn(make_seed({3, 1, 4, 1}));
    std::vector<double> scalar, pseudoscalar;
    REQUIRE(out.count("//sources/elem") == 4);
    for (int n = 1; n <= 4; ++n) {
      std::vector<SolveResult> results;
      const Condensate c = estimate_condensate(inverse, trace_source<F>(kind), &results);
      const std::string here = "//sources/elem[" + std::to_string(n) + "]/";
      CHECK(near(out.number(here + "scalar/re"), toDouble(real(c.scalar))));
      CHECK(near(out.number(here + "scalar/im"), toDouble(imag(c.scalar))));
      CHECK(near(out.number(here + "pseudoscalar/re"), toDouble(real(c.pseudoscalar))));
      CHECK(near(out.number(here + "pseudoscalar/im"), toDouble(imag(c.pseudoscalar))));
      CHECK(out.number(here + "iterations") == results.back().iterations);
      scalar.push_back(toDouble(real(c.scalar)));
      pseudoscalar.push_back(toDouble(real(c.pseudoscalar)));
    }
    for (const auto& [which, list] : {std::pair{"scalar", scalar}, std::pair{"pseudoscalar", pseudoscalar}}) {
      const double mean = (list[0] + list[1] + list[2] + list[3]) / 4;
      double squares = 0;
      for (const double x : list) squares += (x - mean) * (x - mean);
      const std::string here = std::string("//ChiralCondensate/") + which;
      CHECK(near(out.number(here + "_mean"), mean));
      CHECK(near(out.number(here + "_error"), std::sqrt(squares / 3 / 4)));
    }
  }
}

}  // namespace

TEST_CASE("CHIRAL_CONDENSATE: each noise by its name, each source, their mean and the error of the mean") {
  const GaugeField u = field({2, 2, 2, 4});
  check_condensates<LatticeFermion>(
      "CHIRAL_CONDENSATE", tag("FermAct", "CLOVER") + tag("Mass", "0.5") + tag("clovCoeff", "1") + tests::fermion_bc(),
      u);
  check_condensates<LatticeStaggeredFermion>("CHIRAL_CONDENSATE_STAG",
                                             tag("FermAct", "STAGGERED") + tag("Mass", "0.5") + tests::fermion_bc(), u);
}

TEST_CASE("EIGBNDSMDAGM: values, residuals and costs are those of the two ends, as many as asked for") {
  TESSERA_NEEDS_DOUBLES("eigenvalues to ten digits");
  const GaugeField u = field({2, 4, 2, 4});
  const std::string action = tag("FermAct", "WILSON") + tag("Mass", "0.5") + tests::fermion_bc();
  RNG::setrn(make_seed({3, 1, 4, 1}));
  Output out(run_measurements(
      measurement("EIGBNDSMDAGM", tag("Ritz", tag("RsdR", "1e-6") + tag("Neig", "3")) + tag("FermionAction", action)),
      u, 9));
  RNG::setrn(make_seed({3, 1, 4, 1}));
  const QuarkOperator<LatticeFermion> quark(Quark<LatticeFermion>(action_from<LatticeFermion>(action)), u);
  LanczosParameters p;
  p.end = SpectrumEnd::highest;
  p.tolerance = 1e-6;
  const auto highest = lanczos(quark.m(), p);
  p.end = SpectrumEnd::lowest;
  p.wanted = 3;
  p.tolerance = 1e-8;
  const auto lowest = lanczos(quark.m(), p);
  const auto check = [&](const std::string& end, const Eigenpairs<LatticeFermion>& pairs, double sign) {
    const std::string here = "//" + end + "/EigSpecRitzCG/";
    REQUIRE(out.count(here + "eValues/lambda") == static_cast<int>(pairs.values.size()));
    REQUIRE(out.count(here + "residuals/residual") == static_cast<int>(pairs.residuals.size()));
    for (std::size_t i = 0; i < pairs.values.size(); ++i) {
      const std::string n = "[" + std::to_string(i + 1) + "]";
      CHECK(near(out.number(here + "eValues/lambda" + n), sign * pairs.values[i], 1e-10));
      CHECK(std::fabs(out.number(here + "residuals/residual" + n) - pairs.residuals[i]) <=
            base_tol(1e-6) * pairs.residuals[i] + base_tol(1e-13));
    }
    CHECK(out.text(here + "converged") == "true");
    CHECK(out.number(here + "n_cg_tot") == static_cast<double>(pairs.applications));
  };
  CHECK(lowest.values.size() == 3);
  CHECK(highest.values.size() == 1);
  check("LowestEv", lowest, 1);
  check("HighestEv", highest, -1);
  CHECK(out.number("//EigBndsMdagM/update_no") == 9);
}

namespace {

template <class Q>
std::vector<double> norms(const Q& s, int j) {
  std::vector<double> sums(static_cast<std::size_t>(Layout::lattSize()[j]));
  for (int i = 0; i < tests::all_sites(); ++i)
    sums[static_cast<std::size_t>(tests::coordinates_of(i)[j])] +=
        toDouble(norm2(peekSite(s, tests::coordinates_of(i))));
  return sums;
}

template <class F>
void check_quark_measurements(const std::string& suffix, const std::string& action) {
  using Q = PropagatorOf<F>;
  CAPTURE(suffix);
  const GaugeField u = field({2, 4, 2, 6});
  const std::string wall = tag("SourceType", "WALL_SOURCE") + tag("j_decay", "1") + tag("t_source", "3");
  Output out(run_measurements(
      measurement("MAKE_SOURCE" + suffix,
                  tag("Param", tag("version", "6") + tag("Source", wall)) + ids(kGauge + tag("source_id", "s"))) +
          measurement("PROPAGATOR" + suffix, tag("Param", tag("version", "10") + tag("FermionAction", action) +
                                                              direct_solver(tests::solver_residual("1.0e-7"))) +
                                                 ids(kGauge + tag("source_id", "s") + tag("prop_id", "p"))) +
          measurement(
              "SINK_SMEAR" + suffix,
              tag("Param", tag("version", "5") + tag("Sink", tag("SinkType", "WALL_SINK") + tag("j_decay", "1"))) +
                  ids(kGauge + tag("prop_id", "p") + tag("smeared_prop_id", "w"))),
      u, 5));

  LatticeComplex ones;
  ones = cmplx(Real(1), Real(0));
  Q source;
  source = slice_profile(ones, 1, 3);
  std::vector<SolveResult> results;
  const auto inverse = inverter_of<F>(action, direct_solver(tests::solver_residual("1.0e-7")), u);
  const Q s = inverse.propagator(source, &results);
  const auto same = [&](const std::string& path, const std::vector<double>& expected) {
    CAPTURE(path);
    CHECK(near(out.numbers(path), expected, 1e-9));
  };
  same("//make_source/Source_correlator/source_corr", norms(source, Nd - 1));
  same("//propagator/Source_correlator/source_corr", norms(source, Nd - 1));
  same("//Prop_correlator/prop_corr", norms(s, Nd - 1));
  same("//sink_smear/Forward_prop_correlator/forward_prop_corr", norms(s, 1));
  Q total = zero;
  for (int t = 0; t < 4; ++t) {
    Q inside = where(Layout::latticeCoordinate(1) == t, s, Q(zero));
    const auto sum_of_slice = sum(inside);
    Q everywhere;
    everywhere = sum_of_slice;
    total = where(Layout::latticeCoordinate(1) == t, everywhere, total);
  }
  same("//sink_smear/SinkSmearedProp_correlator/sink_smeared_prop_corr", norms(total, 1));

  REQUIRE(out.count("//Solves/elem") == static_cast<int>(results.size()));
  double iterations = 0;
  const auto units = unit_vectors<F>();
  REQUIRE(results.size() == units.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string here = "//Solves/elem[" + std::to_string(i + 1) + "]/";
    CHECK(out.number(here + "iterations") == results[i].iterations);
    iterations += results[i].iterations;
    CHECK(out.number(here + "residual") / results[i].residual == doctest::Approx(1).epsilon(1e-6));
    CHECK(results[i].residual <= 1e-7);
    const F column = s * units[i], from = source * units[i];
    CHECK(results[i].residual / inverse.residual(column, from) == doctest::Approx(1).epsilon(1e-5));
  }
  CHECK(out.number("//Relaxation_Iterations/ncg_had") == iterations);
  for (const char* kind : {"make_source", "propagator", "sink_smear"})
    CHECK(out.number(std::string("//") + kind + "/update_no") == 5);
}

}  // namespace

TEST_CASE("MAKE_SOURCE, PROPAGATOR and SINK_SMEAR write the norms of their slices and what the solver did") {
  TESSERA_NEEDS_DOUBLES("the same iterations twice");
  check_quark_measurements<LatticeFermion>(
      "", tag("FermAct", "UNPRECONDITIONED_WILSON") + tag("Mass", "0.3") + tests::fermion_bc());
  check_quark_measurements<LatticeStaggeredFermion>(
      "_STAG", tag("FermAct", "STAGGERED") + tag("Mass", "0.5") + tests::fermion_bc());
}
