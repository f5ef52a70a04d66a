// Each check of a run in a case in which it fires, and each number that a run reports about itself where it is known.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/hmc/force_monitor.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/lib/measurements.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

/// 2 i T_3, of squared length 2; for one colour i sqrt(2).
LatticeColorMatrix generator() {
  LatticeColorMatrix x = zero;
  const auto poke = [&](double entry, int c) {
    pokeColor(x, LatticeComplex(Complex(cmplx(Real(0), Real(entry)))), c, c);
  };
  poke(Nc == 1 ? std::sqrt(2.0) : 1.0, 0);
  if (Nc > 1) poke(-1, 1);
  return x;
}

/// A monomial of given action and force, for the cases that none of ours should produce.
class Scripted : public Monomial {
 public:
  std::function<double(const GaugeField&)> s = [](const GaugeField&) { return 0.0; };
  std::function<double()> pull = [] { return 0.0; };  ///< F is this multiple of one element of the algebra

  Double action(const GaugeField& u, const Log&) override { return Double(s(u)); }
  void force(GaugeField& f, const GaugeField&, const Log&) override {
    const double size = pull();
    f.resize(Nd);
    for (int mu = 0; mu < Nd; ++mu) {
      f[mu] = Real(size) * generator();
    }
  }
  std::string log_tag() const override { return "Scripted"; }
};

/// The parameters of a run of tests::params with `monomial` alone.
HmcParameters parameters_with(const std::string& xml, const std::shared_ptr<Monomial>& monomial) {
  const InputFile file = tests::input(xml);
  HmcParameters parameters = read_hmc_parameters(file.root());
  file.require_valid();
  parameters.dynamics.monomials = {{"gauge", monomial}};
  parameters.dynamics.integrator = std::make_unique<Integrator>(
      0.3, make_evolution(find_scheme("LCM_STS_LEAPFROG").stages({}), 3, {{"gauge", monomial}}));
  tests::use_lattice(parameters.dynamics.lattice);
  return parameters;
}

struct Documents {
  explicit Documents(const tests::ScratchFolder& folder)
      : name(folder.file("data.xml")), data(name), log(folder.file("log.xml")) {
    push(data, "hmc");
    push(log, "hmc");
  }
  ~Documents() { close(); }
  void close() {
    if (closed) return;
    closed = true;
    for (XMLFileWriter* document : {&data, &log}) {
      pop(*document);
      document->close();
    }
  }
  /// The data document, which ends here.
  std::string text() {
    close();
    return tests::read_text(name);
  }
  std::string name;
  XMLFileWriter data, log;
  bool closed = false;
};

RunSummary run(HmcParameters& parameters, Documents& documents) {
  return run_simulation(parameters, documents.data, documents.log, {});
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Not reversible: momenta double and links turn by the same element each time.
class OneWay : public Evolution {
 public:
  explicit OneWay(const LatticeColorMatrix& turn) : turn_(turn) {}
  void run(PhaseSpace& state, double, const StepContext&) const override {
    for (int mu = 0; mu < Nd; ++mu) {
      state.p[mu] = Real(2) * state.p[mu];
      state.u[mu] = turn_ * state.u[mu];
    }
  }

 private:
  LatticeColorMatrix turn_;
};

}  // namespace

// ---- checks ----------------------------------------------------------------------------------------------------------------

TEST_CASE("ReproCheck stops a run whose trajectories do not repeat, at the first update that is checked") {
  const tests::ScratchFolder folder("repro");
  const std::string often = "<ReproCheckFrequency>2</ReproCheckFrequency><ReverseCheckP>false</ReverseCheckP>";
  const auto forgetful = std::make_shared<Scripted>();
  int forces = 0;
  forgetful->pull = [&] { return 1e-3 * ++forces; };
  {
    HmcParameters parameters = parameters_with(tests::params(folder.file("a"), 6, 100, often), forgetful);
    Documents documents(folder);
    CHECK_THROWS_WITH_AS(run(parameters, documents), doctest::Contains("update 2: the same trajectory done twice"),
                         NumericsError);
    const std::string text = documents.text();
    CHECK(count(text, "<update_no>1</update_no>") > 0);
    CHECK(count(text, "<ReproCheck>false</ReproCheck>") == 1);
    CHECK(count(text, "<ReproCheck>true</ReproCheck>") == 0);
  }
  {  // one that does repeat
    const auto steady = std::make_shared<Scripted>();
    HmcParameters parameters = parameters_with(tests::params(folder.file("b"), 6, 100, often), steady);
    Documents documents(folder);
    CHECK(run(parameters, documents).updates == 6);
    CHECK(count(documents.text(), "<ReproCheck>true</ReproCheck>") == 3);
  }
  {  // nobody asks
    HmcParameters parameters = parameters_with(
        tests::params(folder.file("c"), 6, 100, "<ReproCheckP>false</ReproCheckP><ReverseCheckP>false</ReverseCheckP>"),
        forgetful);
    Documents documents(folder);
    CHECK(run(parameters, documents).updates == 6);
    CHECK(count(documents.text(), "ReproCheck>") == 0);
  }
}

TEST_CASE("ReproCheck finds an action that differs where links and momenta agree") {
  const tests::ScratchFolder folder("repro_action");
  const auto forgetful = std::make_shared<Scripted>();
  double s = 0, step = 0;
  forgetful->s = [&](const GaugeField&) { return s += step += 1e-9; };
  HmcParameters parameters = parameters_with(
      tests::params(folder.file("a"), 2, 100, "<ReproCheckFrequency>1</ReproCheckFrequency>"), forgetful);
  Documents documents(folder);
  CHECK_THROWS_AS(run(parameters, documents), NumericsError);
}

TEST_CASE("the way back of a trajectory that is not reversible: every distance is known, and the tolerance stops it") {
  tests::use_lattice({2, 2, 2, 4});
  const auto gauge = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(wilson_action(5.5)));
  Hamiltonian hamiltonian({{"gauge", gauge}}, {"gauge"});
  LatticeColorMatrix x = tests::random_algebra(0.2)[0], turn = su3_exp(x), twice = su3_exp(Real(2) * x);
  const Integrator integrator(1, std::make_unique<OneWay>(turn));
  GaugeField u = tests::random_field();
  const double links = static_cast<double>(Nd * Layout::vol());

  GaugeField p, v(Nd);
  double p_distance = 0, p_squares = 0, u_distance = 0;
  RNG::setrn(make_seed({4, 3, 2, 1}));
  refresh_momenta(p);
  for (int mu = 0; mu < Nd; ++mu) {
    v[mu] = twice * u[mu];
    p_squares += toDouble(norm2(p[mu]));
    p_distance += 3 * std::sqrt(toDouble(norm2(p[mu]))) / links;
    u_distance += std::sqrt(toDouble(norm2(twice - LatticeColorMatrix(Real(1))))) / links;
  }
  const double kinetic = 15 * p_squares, potential = toDouble(gauge->action(v, {})) - toDouble(gauge->action(u, {}));

  TrajectoryOptions options;
  options.check_reversibility = true;
  options.monitor_forces = false;
  XMLBufferWriter xml;
  push(xml, "out");
  RNG::setrn(make_seed({4, 3, 2, 1}));
  GaugeField w = u;
  run_trajectory(w, hamiltonian, integrator, options, {}, Log{&xml});
  pop(xml);
  tests::Output out(xml.str());
  const auto number = [&](const char* name) { return out.number(std::string("/out/ReversibilityMetrics/") + name); };
  CHECK(number("DeltaPPerSite") == doctest::Approx(p_distance).epsilon(base_tol(1e-12)));
  CHECK(number("DeltaQPerSite") == doctest::Approx(u_distance).epsilon(base_tol(1e-12)));
  CHECK(number("DeltaDeltaKE") == doctest::Approx(kinetic).epsilon(base_tol(1e-11)));
  CHECK(number("DeltaDeltaPE") == doctest::Approx(std::fabs(potential)).epsilon(base_tol(1e-11)));
  CHECK(number("DeltaDeltaH") == doctest::Approx(std::fabs(kinetic + potential)).epsilon(base_tol(1e-11)));

  for (const double share : {0.99, 1.01}) {
    options.reversibility_tolerance = share * std::fabs(kinetic + potential);
    RNG::setrn(make_seed({4, 3, 2, 1}));
    GaugeField again = u;
    if (share < 1) {
      CHECK_THROWS_WITH_AS(run_trajectory(again, hamiltonian, integrator, options),
                           doctest::Contains("ReverseCheckTolerance"), NumericsError);
      CHECK(tests::distance(again, u) == 0);
    } else {
      run_trajectory(again, hamiltonian, integrator, options);
    }
  }
}

TEST_CASE("ReverseCheckTolerance of an input stops the run, and a restart file keeps it") {
  const tests::ScratchFolder folder("reverse");
  // A force that depends on how often it was asked for: the way back is another one.
  const auto changing = std::make_shared<Scripted>();
  int forces = 0;
  changing->pull = [&] { return 0.01 * ++forces; };
  const auto more = [](const std::string& tolerance) {
    return "<ReproCheckP>false</ReproCheckP><ReverseCheckFrequency>2</ReverseCheckFrequency>" + tolerance;
  };
  {
    HmcParameters parameters = parameters_with(tests::params(folder.file("a"), 4, 100, more("")), changing);
    CHECK(parameters.control.reverse_tolerance == 0.1);
    Documents documents(folder);
    CHECK_THROWS_WITH_AS(run(parameters, documents), doctest::Contains("reversibility"), NumericsError);
    CHECK(count(documents.text(), "<update_no>1</update_no>") > 0);  // the first was not checked
  }
  forces = 0;
  {
    HmcParameters parameters = parameters_with(
        tests::params(folder.file("b"), 4, 100, more("<ReverseCheckTolerance>1.0e6</ReverseCheckTolerance>")),
        changing);
    Documents documents(folder);
    const RunSummary summary = run(parameters, documents);
    CHECK(summary.updates == 4);
    CHECK(tests::read_text(summary.last_checkpoint.restart).find("<ReverseCheckTolerance>1000000<") !=
          std::string::npos);
  }
}

TEST_CASE("Metropolis is not asked in warm-up, and is from the first update after it") {
  const tests::ScratchFolder folder("warm_up");
  const auto rising = std::make_shared<Scripted>();
  double s = 0;
  rising->s = [&](const GaugeField&) { return s += 1000; };
  HmcParameters parameters = parameters_with(
      tests::params(folder.file("a"), 5, 100, "<ReproCheckP>false</ReproCheckP><ReverseCheckP>false</ReverseCheckP>"),
      rising);
  REQUIRE(parameters.control.warm_up_updates == 2);
  Documents documents(folder);
  std::vector<bool> accepted, warm_up;
  std::vector<double> plaquettes;
  RunHooks hooks;
  hooks.report = [&](const UpdateReport& report) {
    accepted.push_back(report.trajectory.accepted);
    warm_up.push_back(report.warm_up);
    plaquettes.push_back(report.plaquette);
  };
  const RunSummary summary = run_simulation(parameters, documents.data, documents.log, hooks);
  CHECK(accepted == std::vector<bool>{true, true, false, false, false});
  CHECK(warm_up == std::vector<bool>{true, true, false, false, false});
  CHECK(plaquettes[0] != plaquettes[1]);
  CHECK(plaquettes[4] == plaquettes[1]);  // nothing moved since
  CHECK(summary.acceptance == 0);
  CHECK(summary.mean_exp_minus_dh == 0);  // exp(-1000)
  const std::string text = documents.text();
  CHECK(count(text, "<AcceptP>true</AcceptP>") == 2);
  CHECK(count(text, "<AcceptP>false</AcceptP>") == 3);
}

// ---- what is reported --------------------------------------------------------------------------------------------------------

TEST_CASE("acceptance, plaquette and exp(-dH) are averages over the updates after the warm-up") {
  class Prescribed : public UpdateMethod {
   public:
    TrajectoryResult update(GaugeField& u, unsigned long n, bool, const Log&, const Log&) override {
      static const double dh[] = {-3, 5, 0.5, -0.25, 1, 0.125};
      static const bool accepted[] = {true, true, true, false, false, true};
      unit_start(u);
      if (n % 2 == 0)
        u[0] = where(Layout::latticeCoordinate(1) == 0, LatticeColorMatrix(Real(1)), LatticeColorMatrix(-u[0]));
      TrajectoryResult result;
      result.delta_h = dh[n - 1];
      result.accepted = accepted[n - 1];
      return result;
    }
  };
  const tests::ScratchFolder folder("averages");
  HmcParameters parameters = parameters_with(tests::params(folder.file("a"), 6, 100), std::make_shared<Scripted>());
  Documents documents(folder);
  Prescribed method;
  std::vector<double> plaquettes, acceptance;
  RunHooks hooks;
  hooks.report = [&](const UpdateReport& report) {
    plaquettes.push_back(report.plaquette);
    acceptance.push_back(report.acceptance);
  };
  const RunSummary summary = run_updates(parameters, method, documents.data, documents.log, hooks);
  CHECK(summary.updates == 6);
  CHECK(summary.acceptance == doctest::Approx(0.5));
  CHECK(summary.mean_exp_minus_dh ==
        doctest::Approx((std::exp(-0.5) + std::exp(0.25) + std::exp(-1) + std::exp(-0.125)) / 4).epsilon(1e-14));
  // Links of either sign on two of the slices across: of the plaquettes of plane (0, 1) a share has one of each sign, those of
  // other planes two of one sign.
  const double cut = 2.0 / tests::run_extents()[1];
  const double odd = 1, even = 1 - 2.0 / (Nd * (Nd - 1) / 2) * cut;
  for (std::size_t n = 0; n < 6; ++n) CHECK(plaquettes[n] == doctest::Approx(n % 2 ? even : odd).epsilon(1e-14));
  CHECK(summary.mean_plaquette == doctest::Approx((odd + even) / 2).epsilon(1e-14));
  CHECK(acceptance == std::vector<double>{1, 1, 1, 0.5, 1.0 / 3, 0.5});
}

TEST_CASE("force norms of a force that is known") {
  tests::use_lattice({2, 2, 2, 4});
  // sqrt(2) |F| = c on even sites and 2 c on odd ones: a multiple of T_3. The largest is neither first nor last.
  const double sizes[] = {2, 5, 3, 1};
  GaugeField f(Nd);
  multi1d<Real> factor(Nd);
  const double factors[] = {1, 2, 0.25, 0.5};
  for (int mu = 0; mu < Nd; ++mu) {
    factor[mu] = Real(factors[mu]);
    for (int parity : {0, 1}) {
      const Real half = 0.5 * sizes[mu] * (parity + 1);
      f[mu][rb[parity]] = half * generator();
    }
  }
  XMLBufferWriter xml;
  push(xml, "out");
  ForceMonitor(f).write(Log{&xml}, factor);
  pop(xml);
  tests::Output out(xml.str());
  const auto list = [&](const char* name) {
    return out.numbers(std::string("/out/Forces/") + name + "_per_direction");
  };
  const auto one = [&](const char* name) { return out.number(std::string("/out/Forces/") + name); };
  const auto close = [](double a, double b) { CHECK(a == doctest::Approx(b).epsilon(base_tol(1e-13))); };
  for (std::size_t mu = 0; mu < Nd; ++mu) {
    const double c = sizes[mu];
    close(list("F_sq")[mu], 2.5 * c * c);
    close(list("F_avg")[mu], 1.5 * c);
    close(list("F_max")[mu], 2 * c);
    close(list("F_max_dt")[mu], 2 * c * factors[mu]);
  }
  double squares = 0, sum = 0;
  for (int mu = 0; mu < Nd; ++mu) squares += sizes[mu] * sizes[mu], sum += sizes[mu];
  close(one("F_sq"), 2.5 * squares / Nd);
  close(one("F_avg"), 1.5 * sum / Nd);
  close(one("F_max"), 2 * 5);
  close(one("F_max_dt"), 2 * 5 * 2);
}

TEST_CASE("the log of a trajectory holds the norms of the force that acted") {
  tests::use_lattice({2, 2, 2, 4});
  const auto pulling = std::make_shared<Scripted>();
  pulling->pull = [] { return 0.25; };  // sqrt(2) |F| = 0.5
  const Integrator integrator(0.3, make_evolution(find_scheme("LCM_STS_LEAPFROG").stages({}), 2, {{"gauge", pulling}}));
  PhaseSpace state;
  unit_start(state.u);
  refresh_momenta(state.p);
  XMLBufferWriter xml;
  push(xml, "out");
  integrator.run(state, Log{&xml}, true);
  pop(xml);
  tests::Output out(xml.str());
  const std::string forces = "//leapP/AbsHamiltonianForce/ForcesByMonomial/elem/Scripted/Forces";
  CHECK(out.count(forces) == 3);
  CHECK(out.number("(" + forces + ")[2]/F_avg") == doctest::Approx(0.5).epsilon(base_tol(1e-13)));
  CHECK(out.number("(//leapP)[1]/dt") == doctest::Approx(0.075).epsilon(base_tol(1e-13)));
  CHECK(out.number("(//leapP)[2]/dt") == doctest::Approx(0.15).epsilon(base_tol(1e-13)));
}
