// Integrators of molecular dynamics: order, reversibility, nesting, and energy violations computed elsewhere.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

struct System {
  MonomialMap monomials;
  std::unique_ptr<Hamiltonian> hamiltonian;

  explicit System(double beta) {
    monomials["gauge"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(wilson_action(beta)));
    hamiltonian = std::make_unique<Hamiltonian>(monomials, std::vector<std::string>{"gauge"});
  }
  double energy(const PhaseSpace& state) const {
    const Energies e = hamiltonian->measure(state, {});
    return toDouble(e.kinetic + e.potential);
  }
};

/// Integrator from the elements of MDIntegrator.
Integrator make(const std::string& elements, const MonomialMap& monomials) {
  const InputFile document = tests::input("<MDIntegrator>" + elements + "</MDIntegrator>");
  Integrator integrator = Integrator::read(document.root(), monomials);
  document.require_valid();
  return integrator;
}

std::string scheme(const std::string& name, int steps, const std::string& more = "") {
  return "<Name>" + name + "</Name><n_steps>" + std::to_string(steps) +
         "</n_steps><monomial_ids><elem>gauge</elem></monomial_ids>" + more;
}

Integrator simple(const std::string& name, int steps, double tau, const MonomialMap& monomials) {
  return make("<tau0>" + std::to_string(tau) + "</tau0><Integrator>" + scheme(name, steps) + "</Integrator>",
              monomials);
}

/// A random start on the present lattice.
PhaseSpace random_start() {
  PhaseSpace state;
  weak_field_start(state.u);
  refresh_momenta(state.p);
  return state;
}

/// dH of one trajectory from a copy of `start`.
double violation(const System& system, const PhaseSpace& start, const Integrator& integrator) {
  PhaseSpace state = start;
  integrator.run(state);
  return system.energy(state) - system.energy(start);
}

}  // namespace

TEST_CASE("the stages of each scheme add up to one step of momenta and links, and are palindromes") {
  for (const Scheme& scheme : schemes()) {
    CAPTURE(scheme.name);
    std::vector<double> parameters;
    for (const auto& parameter : scheme.parameters) parameters.push_back(parameter.value);
    const std::vector<Stage> stages = scheme.stages(parameters);
    double kicks = 0, drifts = 0;
    for (const Stage& stage : stages) (stage.kind == Stage::drift ? drifts : kicks) += stage.h;
    CHECK(kicks == doctest::Approx(1).epsilon(1e-15));
    CHECK(drifts == doctest::Approx(1).epsilon(1e-15));
    for (std::size_t k = 0; k < stages.size(); ++k) {
      CHECK(stages[k].kind == stages[stages.size() - 1 - k].kind);
      CHECK(stages[k].h == stages[stages.size() - 1 - k].h);
    }
  }
}

TEST_CASE("halving the step divides the energy violation by 2^order") {
  TESSERA_NEEDS_DOUBLES("violations of 1e-5 in energies of 1000");
  tests::use_lattice(Nd == 2 ? std::vector{8, 8} : std::vector{2, 2, 2, 4});
  const System system(5.7);
  // Of several starts: for a single one the leading terms at both ends may cancel. Disordered ones: near U = 1 one colour is a
  // set of oscillators, for which minimum-norm schemes have nearly no violation of second order.
  std::vector<PhaseSpace> starts;
  for (int i = 0; i < 8; ++i) {
    starts.push_back(random_start());
    if (Nc == 1) starts.back().u = tests::random_field();
  }
  const auto size = [&](const Integrator& integrator) {
    double squares = 0;
    for (const PhaseSpace& start : starts) squares += std::pow(violation(system, start, integrator), 2);
    return std::sqrt(squares);
  };
  struct Case {
    const char* name;
    int steps;
    double order;
  };
  const Case cases[] = {{"LCM_STS_LEAPFROG", 16, 2},  {"LCM_TST_LEAPFROG", 16, 2},
                        {"LCM_STS_MIN_NORM_2", 8, 2}, {"LCM_TST_MIN_NORM_2", 8, 2},
                        {"LCM_4MN4FP", 8, 4},         {"LCM_4MN5FP", 12, 4},
                        {"LCM_4MN5FV", 12, 4},        {"LCM_CREUTZ_GOCKSCH_4", 16, 4},
                        {"LCM_STS_FORCE_GRAD", 6, 4}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const double coarse = size(simple(c.name, c.steps, 0.5, system.monomials));
    const double fine = size(simple(c.name, 2 * c.steps, 0.5, system.monomials));
    CAPTURE(coarse);
    CAPTURE(fine);
    CHECK(std::log2(coarse / fine) == doctest::Approx(c.order).epsilon(0.06));
  }
}

TEST_CASE("integrating back with flipped momenta returns to the start") {
  tests::use_lattice({4, 2, 2, 2});
  const System system(5.7);
  const PhaseSpace start = random_start();
  for (const Scheme& scheme : schemes()) {
    if (scheme.step_from_delta_tau) continue;
    CAPTURE(scheme.name);
    const Integrator integrator = simple(scheme.name, 4, 0.5, system.monomials);
    PhaseSpace state = start;
    integrator.run(state);
    CHECK(tests::distance(state.u, start.u) > 0.1);
    for (int mu = 0; mu < Nd; ++mu) state.p[mu] = -state.p[mu];
    integrator.run(state);
    for (int mu = 0; mu < Nd; ++mu) state.p[mu] = -state.p[mu];
    CHECK(tests::distance(state.u, start.u) < base_tol(1e-11));
    CHECK(tests::distance(state.p, start.p) < base_tol(1e-11));
  }
}

TEST_CASE("links that are nearly in the group are in it after a step") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  PhaseSpace state = random_start();
  const Real defect = 0.1 * unitarity_tolerance();
  for (int mu = 0; mu < Nd; ++mu) state.u[mu] = state.u[mu] + defect * state.u[mu];
  const auto largest = [&] {
    double found = 0;
    for (int mu = 0; mu < Nd; ++mu) found = std::max(found, toDouble(globalMax(su3_defect(state.u[mu]))));
    return found;
  };
  const double before = largest();
  CHECK(before > 0.1 * unitarity_tolerance());
  simple("LCM_STS_LEAPFROG", 1, 0.1, system.monomials).run(state);
  CHECK(largest() < 0.2 * before);
}

TEST_CASE("an inner integrator of all the forces makes the outer steps exact") {
  tests::use_lattice({2, 2, 2, 4});
  System system(5.7);
  system.monomials["nothing"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>());
  const PhaseSpace start = random_start();

  const std::string inner = "<SubIntegrator>" + scheme("LCM_STS_MIN_NORM_2", 4) + "</SubIntegrator>";
  const Integrator nested = make(
      "<tau0>0.5</tau0><Integrator><Name>LCM_STS_LEAPFROG</Name><n_steps>3</n_steps><monomial_ids>"
      "<elem>nothing</elem></monomial_ids>" +
          inner + "</Integrator>",
      system.monomials);
  PhaseSpace a = start, b = start;
  nested.run(a);
  simple("LCM_STS_MIN_NORM_2", 12, 0.5, system.monomials).run(b);
  CHECK(tests::distance(a.u, b.u) < base_tol(1e-11));
  CHECK(tests::distance(a.p, b.p) < base_tol(1e-11));
}

TEST_CASE("splitting one action over two time scales keeps second order") {
  tests::use_lattice({2, 2, 2, 4});
  System system(5.7);
  MonomialMap parts;
  parts["plaquettes"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(all_plaquettes(9.5)));
  parts["rectangles"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(all_rectangles(-0.86)));
  const Hamiltonian hamiltonian(parts, {"plaquettes", "rectangles"});
  const PhaseSpace start = random_start();
  const auto violation_with = [&](int outer) {
    const Integrator integrator =
        make("<tau0>0.5</tau0><Integrator><Name>LCM_STS_MIN_NORM_2</Name><n_steps>" + std::to_string(outer) +
                 "</n_steps><monomial_ids><elem>rectangles</elem></monomial_ids><SubIntegrator><Name>LCM_TST_LEAPFROG</"
                 "Name><n_steps>2</n_steps>"
                 "<monomial_ids><elem>plaquettes</elem></monomial_ids></SubIntegrator></Integrator>",
             parts);
    PhaseSpace state = start;
    integrator.run(state);
    const Energies after = hamiltonian.measure(state, {}), before = hamiltonian.measure(start, {});
    return toDouble(after.kinetic - before.kinetic + after.potential - before.potential);
  };
  CHECK(std::log2(std::fabs(violation_with(8) / violation_with(16))) == doctest::Approx(2).epsilon(0.06));
}

TEST_CASE("delta_tau_max chooses the smallest number of steps that respects it") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  const PhaseSpace start = random_start();
  const Integrator limited = make(
      "<tau0>0.5</tau0><Integrator><Name>LCM_STS_MIN_NORM_2_DTAU</Name><delta_tau_max>0.11</delta_tau_max>"
      "<monomial_ids><elem>gauge</elem></monomial_ids></Integrator>",
      system.monomials);
  PhaseSpace a = start, b = start;
  limited.run(a);
  simple("LCM_STS_MIN_NORM_2", 5, 0.5, system.monomials).run(b);
  CHECK(tests::distance(a.u, b.u) == 0);
}

TEST_CASE("xi_mom scales the steps of one direction only") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  const PhaseSpace start = random_start();
  const Integrator drift = make("<tau0>0.3</tau0><anisoP>true</anisoP><t_dir>" + std::to_string(Nd - 1) +
                                    "</t_dir><xi_mom>3</xi_mom><Integrator><Name>LCM_EXP_T</Name>"
                                    "<n_steps>1</n_steps></Integrator>",
                                system.monomials);
  PhaseSpace state = start;
  drift.run(state);
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeColorMatrix expected = su3_exp(Real(mu == Nd - 1 ? 0.1 : 0.3) * start.p[mu]) * start.u[mu];
    CHECK(tests::distance(state.u[mu], expected) < base_tol(1e-12));
  }
}

TEST_CASE("a step far too long is reported, not carried on") {
  tests::use_lattice({2, 2, 2, 2});
  MonomialMap monomials;
  monomials["gauge"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(wilson_action(1e200)));
  PhaseSpace state = random_start();
  CHECK_THROWS_WITH_AS(simple("LCM_STS_LEAPFROG", 2, 1e150, monomials).run(state), doctest::Contains("step size"),
                       NumericsError);
}

TEST_CASE("energy violations from conf.00200 with P = 0, computed by another program") {
  TESSERA_NEEDS_QCD("a file");
  TESSERA_NEEDS_DOUBLES("violations of 1e-7 in energies of 5000");
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const System system(5.69);
  PhaseSpace start;
  start.u = tests::read_field("SCIDAC", file);
  for (int mu = 0; mu < Nd; ++mu) {
    start.u[mu] = su3_unitarize(start.u[mu]);  // the file is off by 1e-14, which would show in the last digits
    start.p[mu] = zero;
  }

  struct Row {
    const char* name;
    double at[3];  // 10, 20, 40 steps
  };
  const Row table[] = {{"LCM_STS_LEAPFROG", {-8.081018, -2.019949, -0.5049681}},
                       {"LCM_TST_LEAPFROG", {6.867234, 1.713249, 0.4280905}},
                       {"LCM_STS_MIN_NORM_2", {-0.2496393, -0.06267168, -0.01568428}},
                       {"LCM_4MN5FV", {-3.859945e-5, -2.409648e-6, -1.505455e-7}}};
  for (const Row& row : table)
    for (int i = 0; i < 3; ++i) {
      const int steps = 10 << i;
      CAPTURE(row.name);
      CAPTURE(steps);
      const double dh = violation(system, start, simple(row.name, steps, 0.5, system.monomials));
      // Six digits. The reference's energies of 5000 are rounded: its three values for 4MN5FV follow c4/n^4 + c6/n^6 to
      // 5e-11 only.
      CHECK(std::fabs(dh - row.at[i]) < 1e-6 * std::fabs(row.at[i]) + 6e-11);
    }

  PhaseSpace end = start;
  simple("LCM_4MN5FV", 20, 0.5, system.monomials).run(end);
  CHECK(toDouble(average_plaquette(end.u)) == doctest::Approx(0.8497286358).epsilon(base_tol(1e-9)));
  const double shift = 4.0 * Nd * static_cast<double>(Layout::vol());  // conv. 2: the mean is subtracted
  CHECK(toDouble(kinetic_energy(end.p)) + shift == doctest::Approx(2435.3697367).epsilon(base_tol(1e-9)));
}

namespace {

/// Notes the steps of the links.
class Drifts : public DynamicsObserver {
 public:
  std::vector<double> steps;
  void force(int, double, double, double) override {}
  void begin_run(int) override {}
  void drift(double dt) override { steps.push_back(dt); }
};

}  // namespace

TEST_CASE("no step of a scheme with delta_tau_max is longer, forward or backward, below whichever scheme it stands") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  const double limit = 0.03, tau = 0.2;
  int backward = 0;
  for (const Scheme& outer : schemes())
    for (const Scheme& inner : schemes()) {
      if (outer.step_from_delta_tau || !inner.step_from_delta_tau) continue;
      CAPTURE(outer.name);
      CAPTURE(inner.name);
      const std::string limited = "<SubIntegrator><Name>" + inner.name + "</Name><delta_tau_max>" +
                                  std::to_string(limit) +
                                  "</delta_tau_max><monomial_ids><elem>gauge</elem></monomial_ids></SubIntegrator>";
      Drifts drifts;
      PhaseSpace state = random_start();
      make("<tau0>" + std::to_string(tau) + "</tau0><Integrator>" + scheme(outer.name, 1, limited) + "</Integrator>",
           system.monomials)
          .run(state, {}, false, &drifts);
      double total = 0;
      for (const double dt : drifts.steps) {
        CHECK(std::fabs(dt) <= limit * (1 + 1e-12));
        total += dt;
        backward += dt < 0;
      }
      CHECK(total == doctest::Approx(tau).epsilon(1e-12));
    }
  CHECK(backward > 0);
}

namespace {

/// A part of a step: P or Q, and how long in units of the step.
using Parts = std::vector<std::pair<char, double>>;

Parts mirrored(Parts half, std::pair<char, double> middle) {
  Parts parts = half;
  parts.push_back(middle);
  parts.insert(parts.end(), half.rbegin(), half.rend());
  return parts;
}
Parts exchanged_parts(Parts parts) {
  for (auto& [kind, length] : parts) kind = kind == 'P' ? 'Q' : 'P';
  return parts;
}

}  // namespace

TEST_CASE(
    "the parameters of a scheme are those of the input by their names, its steps and their lengths those of the log") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  const PhaseSpace start = random_start();
  const double tau = 0.02, xi = 2.5;
  const double l = 0.21, rho = 0.17, theta = 0.06, mu = -0.03;
  const Parts norm = mirrored({{'P', l}, {'Q', 0.5}}, {'P', 1 - 2 * l});
  const Parts five =
      mirrored({{'P', theta}, {'Q', rho}, {'P', l}, {'Q', mu}, {'P', 0.5 - l - theta}}, {'Q', 1 - 2 * (mu + rho)});
  const double s = 1 / (2 - std::cbrt(2.0));
  const std::string steps = "<n_steps>1</n_steps>", at_most = "<delta_tau_max>0.5</delta_tau_max>",
                    lambda = "<lambda>0.21</lambda>", four_names = "<theta>0.06</theta><mu>-0.03</mu><rho>0.17</rho>";
  struct Case {
    std::string name, input;
    Parts parts;
  };
  for (const Case& c : std::vector<Case>{
           {"LCM_STS_LEAPFROG", steps, {{'P', 0.5}, {'Q', 1}, {'P', 0.5}}},
           {"LCM_TST_LEAPFROG", steps, {{'Q', 0.5}, {'P', 1}, {'Q', 0.5}}},
           {"LCM_STS_MIN_NORM_2", steps + lambda, norm},
           {"LCM_TST_MIN_NORM_2", steps + lambda, exchanged_parts(norm)},
           {"LCM_STS_MIN_NORM_2_DTAU", at_most + lambda, norm},
           {"LCM_TST_MIN_NORM_2_DTAU", at_most + lambda, exchanged_parts(norm)},
           {"LCM_4MN4FP", steps + lambda + "<theta>0.06</theta><rho>0.17</rho>",
            mirrored({{'Q', rho}, {'P', l}, {'Q', theta}, {'P', 0.5 - l}}, {'Q', 1 - 2 * (theta + rho)})},
           {"LCM_4MN5FV", steps + lambda + four_names, five},
           {"LCM_4MN5FP", steps + lambda + four_names, exchanged_parts(five)},
           {"LCM_CREUTZ_GOCKSCH_4", steps, mirrored({{'P', s / 2}, {'Q', s}, {'P', (1 - s) / 2}}, {'Q', 1 - 2 * s})}}) {
    CAPTURE(c.name);
    const Integrator integrator =
        make("<tau0>" + std::to_string(tau) +
                 "</tau0><anisoP>true</anisoP><t_dir>1</t_dir><xi_mom>2.5</xi_mom><Integrator><Name>" + c.name +
                 "</Name>" + c.input + "<monomial_ids><elem>gauge</elem></monomial_ids></Integrator>",
             system.monomials);
    PhaseSpace state = start;
    XMLBufferWriter xml;
    push(xml, "out");
    integrator.run(state, Log{&xml});
    pop(xml);
    tests::Output out(xml.str());
    REQUIRE(out.count("/out/leapP | /out/leapQ") == static_cast<int>(c.parts.size()));
    for (std::size_t k = 0; k < c.parts.size(); ++k) {
      CAPTURE(k);
      const std::string here = "(/out/leapP | /out/leapQ)[" + std::to_string(k + 1) + "]";
      const auto [kind, length] = c.parts[k];
      CHECK(out.count(here + "[self::leap" + kind + "]") == 1);
      CHECK(std::fabs(out.number(here + "/dt") - length * tau) < base_tol(1e-14));
      const std::vector<double> actual = out.numbers(here + "/dt_actual_per_dir");
      REQUIRE(actual.size() == static_cast<std::size_t>(Nd));
      for (std::size_t dir = 0; dir < actual.size(); ++dir)
        CHECK(std::fabs(actual[dir] - length * tau / (dir == 1 ? xi : 1)) < base_tol(1e-14));
    }
  }
}

TEST_CASE("kicks and drifts alone, several of them, with the steps of one direction scaled") {
  tests::use_lattice({2, 2, 2, 2});
  const System system(5.7);
  const PhaseSpace start = random_start();
  const auto evolved = [&](const std::string& name, const std::string& more) {
    PhaseSpace state = start;
    make("<tau0>0.3</tau0><anisoP>true</anisoP><t_dir>0</t_dir><xi_mom>2.5</xi_mom><Integrator><Name>" + name +
             "</Name><n_steps>3</n_steps>" + more + "</Integrator>",
         system.monomials)
        .run(state);
    return state;
  };
  const PhaseSpace kicked = evolved("LCM_EXP_S", "<monomial_list><elem>gauge</elem></monomial_list>"),
                   drifted = evolved("LCM_EXP_T", "");
  GaugeField f;
  system.monomials.at("gauge")->force(f, start.u, {});
  CHECK(tests::distance(kicked.u, start.u) == 0);
  CHECK(tests::distance(drifted.p, start.p) == 0);
  for (int mu = 0; mu < Nd; ++mu) {
    const Real time = mu == 0 ? 0.3 / 2.5 : 0.3;  // three steps are one of their length together
    CHECK(tests::distance(kicked.p[mu], LatticeColorMatrix(start.p[mu] + time * f[mu])) < base_tol(1e-11));
    CHECK(tests::distance(drifted.u[mu], LatticeColorMatrix(su3_exp(time * start.p[mu]) * start.u[mu])) <
          base_tol(1e-11));
  }
}

namespace {

/// The same force everywhere and always.
class Steady : public Monomial {
 public:
  explicit Steady(GaugeField f) : f_(std::move(f)) {}
  Double action(const GaugeField&, const Log&) override { return Double(0); }
  void force(GaugeField& f, const GaugeField&, const Log&) override { f = f_; }
  std::string log_tag() const override { return "Steady"; }

 private:
  GaugeField f_;
};

/// What an observer is told.
class Told : public DynamicsObserver {
 public:
  struct Force {
    int level, run;
    double time, squares, power, seconds;
  };
  std::vector<Force> forces;
  double time = 0;
  int runs[2] = {};

  void force(int level, double squares, double power, double seconds) override {
    forces.push_back({level, runs[level], time, squares, power, seconds});
  }
  void begin_run(int level) override { ++runs[level]; }
  void drift(double dt) override { time += dt; }
};

}  // namespace

TEST_CASE("an observer is told of each force its size, and its power with the momenta of the links' time") {
  tests::use_lattice({2, 4, 2, 2});
  PhaseSpace start;
  start.u = tests::random_field();
  start.p = tests::random_algebra();
  const GaugeField f[] = {tests::random_algebra(0.3), tests::random_algebra(0.7)};
  const MonomialMap monomials = {{"gauge", std::make_shared<Steady>(f[0])}, {"inner", std::make_shared<Steady>(f[1])}};
  const double xi = 2.5, tau = 0.2;
  for (const Scheme& outer : schemes()) {
    if (outer.step_from_delta_tau || outer.name == "LCM_STS_FORCE_GRAD") continue;
    CAPTURE(outer.name);
    for (const bool nested : {false, true}) {
      CAPTURE(nested);
      const std::string inner =
          "<SubIntegrator><Name>LCM_TST_LEAPFROG</Name><n_steps>2</n_steps><monomial_ids><elem>inner</elem>"
          "</monomial_ids></SubIntegrator>";
      Told told;
      PhaseSpace state = start;
      make("<tau0>0.2</tau0><anisoP>true</anisoP><t_dir>1</t_dir><xi_mom>2.5</xi_mom><Integrator>" +
               scheme(outer.name, 3, nested ? inner : "") + "</Integrator>",
           monomials)
          .run(state, {}, false, &told);
      CHECK(told.time == doctest::Approx(tau));
      CHECK(told.runs[0] == 1);
      double of_inner = 0;
      for (const Told::Force& one : told.forces) {
        double squares = 0, power = 0;
        for (int mu = 0; mu < Nd; ++mu) {
          const double factor = mu == 1 ? 1 / xi : 1, size = toDouble(norm2(f[one.level][mu]));
          squares += factor * factor * size;
          power += factor * (toDouble(innerProductReal(start.p[mu], f[one.level][mu])) + one.time * factor * size);
        }
        CHECK(one.squares == doctest::Approx(squares).epsilon(base_tol(1e-12)));
        // With two levels the momenta hold the kicks of the other one, too.
        if (!nested) CHECK(one.power == doctest::Approx(power).epsilon(base_tol(1e-12)).scale(1 + squares));
        CHECK(one.seconds > 0);
        CHECK(one.seconds < 10);
        of_inner += one.level;
        if (one.level == 1) CHECK(one.run >= 1);
      }
      CHECK((of_inner > 0) == nested);
      if (nested) CHECK(of_inner == 2 * told.runs[1]);  // two whole steps per run of the inner level
    }
  }
}
