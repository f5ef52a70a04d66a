// The numbers of a run's documents are those of its configurations, and its counters and intervals those of the input:
// runs that do not start at update 0, several terms, every parameter of a heatbath.

#include "lib/action/gauge_actions.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/heatbath/heatbath.hpp"
#include "lib/heatbath/run.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/io/boundary.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/hmc_input.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/lib/measurements.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::tag;

namespace {

const std::string kSeed = tag("RNG", tag("Seed", "<elem>5</elem><elem>6</elem><elem>7</elem><elem>8</elem>"));

/// Numbers of updates: before this run, of warm-up and production in all, in this run, between saves.
struct Counts {
  int start, warm_up, production, this_run, interval;
};

std::string control(const std::string& prefix, const Counts& c, const std::string& more) {
  return tag("MCControl",
             tag("Cfg", tag("cfg_type", "DISORDERED")) + kSeed + tag("StartUpdateNum", std::to_string(c.start)) +
                 tag("NWarmUpUpdates", std::to_string(c.warm_up)) +
                 tag("NProductionUpdates", std::to_string(c.production)) +
                 tag("NUpdatesThisRun", std::to_string(c.this_run)) + tag("SaveInterval", std::to_string(c.interval)) +
                 tag("SavePrefix", prefix) + tag("SaveVolfmt", "SINGLEFILE") + more);
}

std::string two_terms() {
  const auto term = [](const std::string& action, const std::string& id) {
    return tests::list_element("GAUGE_MONOMIAL", tag("GaugeAction", action), id);
  };
  return tag("Monomials", term(tag("Name", "WILSON_GAUGEACT") + tag("beta", "4.5"), "plaquettes") +
                              term(tag("Name", "RECT_GAUGEACT") + tag("coeff", "-0.25"), "rectangles"));
}

std::string hmc_of(const std::string& prefix, const Counts& c, const std::string& more) {
  const std::string ids = tests::id_list({"rectangles", "plaquettes"});
  return tag(
      "Params",
      control(prefix, c, more) +
          tag("HMCTrj", tag("nrow", tests::extents_text(tests::run_extents())) + two_terms() + tag("Hamiltonian", ids) +
                            tag("MDIntegrator", tag("tau0", "0.3") + tag("Integrator", tests::leapfrog(ids)))));
}

std::string configuration(const std::string& prefix, unsigned long n) {
  return prefix + "_cfg_" + std::to_string(n) + ".lime";
}

/// The reported times of parts of updates are those of `elapsed` seconds of updates: no more, and not another unit.
void check_seconds(tests::Output& data, const std::vector<std::string>& parts, int updates, double elapsed) {
  double reported = 0;
  for (const std::string& part : parts) {
    CAPTURE(part);
    REQUIRE(data.count("//Update/" + part) == updates);
    for (int i = 1; i <= updates; ++i) {
      const double seconds = data.number("(//Update/" + part + ")[" + std::to_string(i) + "]");
      CHECK(seconds > 0);
      reported += seconds;
    }
  }
  const double of_writer = QDP::io::once([&] { return elapsed; });
  CHECK(reported <= of_writer * (1 + 1e-5));
  CHECK(reported > of_writer / 100);
}

bool near(double a, double b, double tolerance = 1e-11) {
  return std::fabs(a - b) <= base_tol(tolerance) * (1 + std::fabs(b));
}

}  // namespace

TEST_CASE("energies, plaquettes and decisions of each update are those of the configurations before and after it") {
  const tests::ScratchFolder folder("run_numbers");
  const std::string prefix = folder.file("run"), checks = tag("ReproCheckP", "false") + tag("ReverseCheckP", "false");
  const Counts counts{5, 7, 6, 6, 1};
  tests::run(tests::input(hmc_of(prefix, counts, checks)), folder.file("out.xml"), folder.file("log.xml"));

  const InputFile file = tests::input(tag("in", two_terms()));
  const MonomialMap terms = read_monomials(file.root());
  tests::use_lattice(tests::run_extents());
  GaugeField u(Nd);
  disordered_start(u);
  const double at_start = toDouble(average_plaquette(u));
  tests::Output data(tests::read_text(folder.file("out.xml"))), log(tests::read_text(folder.file("log.xml")));
  CHECK(near(data.number("//Config_info/w_plaq"), at_start));
  CHECK(data.text("//Config_info/cfg_type") == "DISORDERED");
  CHECK(data.number("//Config_info/reunitarized_links") == 0);
  REQUIRE(data.count("//Update") == 6);
  RNG::setrn(make_seed({5, 6, 7, 8}));
  GaugeField momenta;
  refresh_momenta(momenta);
  CHECK(near(data.number("(//KE_old)[1]"), toDouble(kinetic_energy(momenta))));
  // Each force is one of all terms, in the order of the input.
  const std::string forces = "//AbsHamiltonianForce";
  CHECK(log.count(forces) > 6);
  CHECK(log.count(forces + "[num_terms = 2 and count(ForcesByMonomial/elem) = 2]") == log.count(forces));
  for (const auto& [place, id] : {std::pair{"1", "rectangles"}, std::pair{"2", "plaquettes"}})
    CHECK(log.count(forces + "/ForcesByMonomial/elem[" + place + "][monomial_id = '" + id + "']") == log.count(forces));

  for (unsigned long n = 6; n <= 11; ++n) {
    CAPTURE(n);
    const std::string here = "//Update[update_no = " + std::to_string(n) + "]/",
                      in_trajectory = here + "HMCTrajectory/";
    const GaugeField after = tests::saved_field(configuration(prefix, n));
    const bool accepted = data.text(in_trajectory + "AcceptP") == "true";
    CHECK(data.text(here + "WarmUpP") == (n <= 7 ? "true" : "false"));
    CHECK(data.text(in_trajectory + "WarmUpP") == (n <= 7 ? "true" : "false"));
    if (n <= 7) CHECK(accepted);
    CHECK((tests::distance(u, after) == 0) == !accepted);
    double before = 0, behind = 0;
    for (const auto& [id, term] : terms) {
      // In the log all terms of both ends, with the kinetic energy before them.
      const auto s = [&](int end) {
        return log.number("(" + here + "HMCTrajectory/*/mesE)[" + std::to_string(end) +
                          "]/mesPE/PEByMonomials/elem[monomial_id = '" + id + "']/*/S");
      };
      const double old = toDouble(term->action(u, {}));
      CHECK(near(s(1), old));
      before += s(1);
      if (accepted) CHECK(near(s(2), toDouble(term->action(after, {}))));
      behind += s(2);
    }
    CHECK(log.number("(" + here + "HMCTrajectory/*/mesE)[1]/mesPE/num_terms") == 2);
    CHECK(near(data.number(in_trajectory + "H_old/PE_old"), before));
    CHECK(near(data.number(in_trajectory + "H_new/PE_new"), behind));
    const double kinetic = data.number(in_trajectory + "H_new/KE_new") - data.number(in_trajectory + "H_old/KE_old");
    CHECK(near(data.number(in_trajectory + "deltaKE"), kinetic));
    CHECK(near(log.number("(" + here + "HMCTrajectory/*/mesE)[2]/mesKE/KE"),
               data.number(in_trajectory + "H_new/KE_new")));
    CHECK(near(data.number(in_trajectory + "deltaPE"), behind - before));
    const double dh = kinetic + behind - before;
    CHECK(near(data.number(in_trajectory + "deltaH"), dh));
    CHECK(near(data.number(in_trajectory + "AccProb"), dh < 0 ? 1 : std::exp(-dh), 1e-9));
    CHECK(near(data.number(here + "InlineObservables/elem/Plaquette/w_plaq"), toDouble(average_plaquette(after))));
    CHECK(near(data.number(here + "InlineObservables/elem/Plaquette/link"), toDouble(average_link(after))));
    u = after;
  }
}

TEST_CASE("what stays the same during a run is drawn after its start field, before the seed of the input is set") {
  const tests::ScratchFolder folder("run_constants");
  const std::string ids = tests::id_list({"plaquettes", "fixed"}),
                    fixed = tests::list_element("FIXED_RANDOM_X_FERM_MONOMIAL", tag("boundary", "1 1 -1 1"), "fixed"),
                    plaquettes = tests::list_element(
                        "GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "4.5")),
                        "plaquettes");
  const std::string text =
      tag("Params",
          control(folder.file("run"), {0, 0, 2, 2, 2}, "") +
              tag("HMCTrj", tag("nrow", tests::extents_text(tests::run_extents())) +
                                tag("Monomials", plaquettes + fixed) + tag("Hamiltonian", ids) +
                                tag("MDIntegrator", tag("tau0", "0.1") + tag("Integrator", tests::leapfrog(ids)))));
  tests::run(tests::input(text), folder.file("out.xml"), folder.file("log.xml"));

  tests::use_lattice(tests::run_extents());
  GaugeField u(Nd);
  disordered_start(u);
  double expected = 0;  // 2 sum Re tr(V X), V antiperiodic in direction 2
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeColorMatrix x;
    gaussian(x);
    x = su3_unitarize(x);
    LatticeReal sign = Real(1);
    if (mu == 2) sign = where(Layout::latticeCoordinate(2) == Layout::lattSize()[2] - 1, Real(-1), Real(1));
    expected += 2 * toDouble(sum(sign * real(trace(u[mu] * x))));
  }
  tests::Output log(tests::read_text(folder.file("log.xml")));
  CHECK(near(log.number("(//mesPE/PEByMonomials/elem[monomial_id = 'fixed']/*/S)[1]"), expected));
}

TEST_CASE("links of a start field that are not in the group are counted, and projected") {
  const tests::ScratchFolder folder("run_projected");
  tests::use_lattice(tests::run_extents());
  GaugeField u = tests::random_field(), in_group = u;
  const LatticeBoolean some = Layout::latticeCoordinate(1) == 1;
  for (const int mu : {0, 2}) u[mu] = where(some, Real(1.001) * u[mu], u[mu]);
  const double expected = 2.0 * static_cast<double>(Layout::vol()) / tests::run_extents()[1];
  const double plaquette = toDouble(average_plaquette(in_group));
  {
    XMLBufferWriter file_xml, record_xml;
    for (XMLBufferWriter* xml : {&file_xml, &record_xml}) {
      push(*xml, "gauge");
      pop(*xml);
    }
    QDPFileWriter file(file_xml, folder.file("start.lime"), QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN);
    write(file, record_xml, u);
    close(file);
  }
  std::string text = hmc_of(folder.file("run"), {0, 1, 0, 1, 1}, "");
  const std::string disordered = tag("cfg_type", "DISORDERED");
  text.replace(text.find(disordered), disordered.size(),
               tag("cfg_type", "SZINQIO") + tag("cfg_file", folder.file("start.lime")));
  tests::run(tests::input(text), folder.file("out.xml"), folder.file("log.xml"));
  tests::Output data(tests::read_text(folder.file("out.xml")));
  CHECK(data.number("//Config_info/reunitarized_links") == expected);
  CHECK(near(data.number("//Config_info/w_plaq"), plaquette, 1e-10));
}

namespace {

/// The numbers of the updates that have this in their record.
std::vector<int> updates_with(tests::Output& xml, const std::string& what) {
  std::vector<int> list;
  const std::string path = "//Update[" + what + "]/update_no";
  for (int k = 1; k <= xml.count(path); ++k)
    list.push_back(static_cast<int>(xml.number("(" + path + ")[" + std::to_string(k) + "]")));
  return list;
}

}  // namespace

TEST_CASE("checks, measurements, saves and reports of a run come at the numbers of its updates, wherever it starts") {
  const tests::ScratchFolder folder("run_intervals");
  const auto run = [&](const std::string& name, const Counts& counts, const std::string& more) {
    std::vector<UpdateReport> reports;
    RunHooks hooks;
    hooks.report = [&](const UpdateReport& report) { reports.push_back(report); };
    const RunSummary summary = tests::run(tests::input(hmc_of(folder.file(name), counts, more)),
                                          folder.file(name + ".xml"), folder.file(name + ".log"), hooks);
    CHECK(summary.updates == reports.size());
    CHECK(summary.last_update == reports.back().update_no);
    CHECK_FALSE(summary.stopped);
    double elapsed = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const UpdateReport& r = reports[i];
      CHECK(r.update_no == static_cast<unsigned long>(counts.start) + i + 1);
      CHECK(r.done == i + 1);
      CHECK(r.to_do == reports.size());
      CHECK(r.warm_up == (r.update_no <= static_cast<unsigned long>(counts.warm_up)));
      CHECK(r.seconds > 0);
      elapsed += r.seconds;
      // The time of the run so far, which is a little more than that of its updates, for each update that is left.
      const double left = static_cast<double>(r.to_do - r.done);
      CHECK(r.seconds_left >= elapsed / static_cast<double>(r.done) * left);
      CHECK((r.seconds_left == 0) == (left == 0));
    }
    CHECK(summary.seconds >= elapsed);
    tests::Output data(tests::read_text(folder.file(name + ".xml")));
    check_seconds(data, {"seconds_for_trajectory", "seconds_for_measurements"}, static_cast<int>(reports.size()),
                  elapsed);
    return summary;
  };
  const std::string loop =
      tag("InlineMeasurements",
          tests::measurement("POLYAKOV_LOOP", tag("Frequency", "2") + tag("Param", tag("version", "2"))));
  const RunSummary first =
      run("a", {5, 7, 20, 5, 3}, tag("ReproCheckFrequency", "3") + tag("ReverseCheckFrequency", "4") + loop);
  CHECK(first.last_update == 10);
  tests::Output data(tests::read_text(folder.file("a.xml"))), log(tests::read_text(folder.file("a.log")));
  CHECK(updates_with(data, "ReproCheck") == std::vector<int>{6, 9});
  CHECK(updates_with(log, ".//ReversibilityMetrics") == std::vector<int>{8});
  CHECK(updates_with(data, ".//PolyakovLoop") == std::vector<int>{6, 8, 10});
  CHECK(updates_with(data, ".//PolyakovLoop/update_no = update_no") == std::vector<int>{6, 8, 10});
  CHECK(updates_with(log, ".//Forces") == std::vector<int>{6, 7, 8, 9, 10});
  for (int n = 5; n <= 11; ++n) {
    CAPTURE(n);
    const bool saved = n == 6 || n == 9 || n == 10;  // the last one is saved whatever the interval
    CHECK(std::filesystem::exists(configuration(folder.file("a"), static_cast<unsigned long>(n))) == saved);
    CHECK(std::filesystem::exists(folder.file("a") + "_restart_" + std::to_string(n) + ".xml") == saved);
  }

  // What continues the run measures as it did.
  tests::run(tests::input(tests::read_text(folder.file("a_restart_10.xml"))), folder.file("on.xml"),
             folder.file("on.log"));
  CHECK(updates_with(*std::make_unique<tests::Output>(tests::read_text(folder.file("on.xml"))), ".//PolyakovLoop") ==
        std::vector<int>{12, 14});

  // Chroma's defaults: both checks every ten updates. Fewer updates are left than this run would do.
  const RunSummary second = run("b", {4, 2, 10, 50, 100}, tag("MonitorForces", "false"));
  CHECK(second.last_update == 12);
  tests::Output quiet(tests::read_text(folder.file("b.xml"))), its_log(tests::read_text(folder.file("b.log")));
  CHECK(updates_with(quiet, "ReproCheck") == std::vector<int>{10});
  CHECK(updates_with(its_log, ".//ReversibilityMetrics") == std::vector<int>{10});
  CHECK(updates_with(its_log, ".//Forces").empty());
  run("c", {9, 2, 10, 50, 100}, tag("ReproCheckP", "false") + tag("ReverseCheckP", "false"));
  CHECK(updates_with(*std::make_unique<tests::Output>(tests::read_text(folder.file("c.xml"))), "ReproCheck").empty());
  CHECK(
      updates_with(*std::make_unique<tests::Output>(tests::read_text(folder.file("c.log"))), ".//ReversibilityMetrics")
          .empty());
}

TEST_CASE("a heatbath run is that of its parameters: sweeps, trials, anisotropy and boundary") {
  TESSERA_NEEDS_QCD("the Schroedinger functional");
  const tests::ScratchFolder folder("purgaug_parameters");
  const std::string aniso = tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", "1") + tag("xi_0", "1.5"));
  const std::string boundary =
      tag("GaugeState", tag("Name", "SIMPLE_GAUGE_STATE") +
                            tag("GaugeBC", tag("Name", "SCHROEDINGER_COUPLING_GAUGEBC") + tag("SchrPhiMult", "1.0") +
                                               tag("loop_extent", "1") + tag("decay_dir", "3")));
  struct Case {
    std::string state, parameters;
    HeatbathParameters expected;
  };
  const Case cases[] = {{"", tag("nOver", "3") + tag("NmaxHB", "2"), {.over_relaxation = 3, .max_trials = 2}},
                        {boundary, tag("nOver", "0") + tag("NmaxHB", "1"), {.max_trials = 1}},
                        {"",
                         tag("nOver", "1") + tag("NmaxHB", "-1") + tag("Trial", "KENNEDY_PENDLETON"),
                         {.over_relaxation = 1, .trial = HeatbathTrial::kennedy_pendleton}},
                        {"", tag("nOver", "1") + tag("NmaxHB", "0") + tag("Trial", "CREUTZ"), {.over_relaxation = 1}}};
  int number = 0;
  for (const Case& c : cases) {
    CAPTURE(c.parameters);
    const std::string prefix = folder.file("run" + std::to_string(++number));
    const std::string action = tag("Name", "WILSON_GAUGEACT") + tag("beta", "5.2") + aniso + c.state;
    const std::string text =
        tag("purgaug",
            tag("Cfg", tag("cfg_type", "DISORDERED")) + control(prefix, {0, 1, 2, 2, 2}, "") +
                tag("HBItr", tag("nrow", "2 2 4 6") + tag("GaugeAction", action) + tag("HBParams", c.parameters)));
    double elapsed = 0;
    {
      const InputFile file = tests::input(text);
      PurgaugParameters parameters = read_purgaug_parameters(file.root());
      file.require_valid();
      tests::use_lattice(parameters.nrow);
      XMLFileWriter data(folder.file("out.xml")), log(folder.file("log.xml"));
      push(data, "purgaug");
      push(log, "purgaug");
      RunHooks hooks;
      hooks.report = [&](const UpdateReport& report) { elapsed += report.seconds; };
      const RunSummary summary = run_heatbath(parameters, data, log, hooks);
      CHECK(summary.updates == 3);
      pop(data);
      pop(log);
    }
    tests::Output data(tests::read_text(folder.file("out.xml")));
    check_seconds(data, {"seconds_for_update", "seconds_for_measurements"}, 3, elapsed);
    tests::use_lattice({2, 2, 4, 6});
    LinkMaps links;
    if (!c.state.empty()) {
      const InputFile state = tests::input(tag("in", c.state));
      links = read_gauge_state(state.root());
    }
    GaugeField u(Nd);
    disordered_start(u);
    RNG::setrn(make_seed({5, 6, 7, 8}));
    Heatbath heatbath(std::make_shared<LoopAction>(wilson_action(5.2, {.on = true, .t_dir = 1, .xi_0 = 1.5})), links,
                      c.expected);
    for (int n = 0; n < 3; ++n) heatbath.update(u);  // one of warm-up, two numbered
    CHECK(tests::distance(u, tests::saved_field(configuration(prefix, 2))) < base_tol(1e-11));
  }
}
