// Every monomial: its force is the derivative of its action; and staggered dynamics against numbers computed elsewhere.
#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/action/pseudofermion.hpp"
#include "lib/dirac/quark_operator.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/meas/glue.hpp"
#include "lib/rational/rational.hpp"
#include "lib/rational/spectrum_check.hpp"
#include "lib/smear/stout.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/lanczos.hpp"
#include "lib/solver/multi_shift.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <sstream>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::check_force;
using tests::tag;

namespace {

/// Stout links that count what is asked of them.
class CountedStout : public StoutLinks {
 public:
  using StoutLinks::StoutLinks;
  inline static int applied = 0, pulled_back = 0;

  GaugeField apply(const GaugeField& u) const override {
    ++applied;
    return StoutLinks::apply(u);
  }
  void pull_back(GaugeField& g, const GaugeField& u) const override {
    ++pulled_back;
    StoutLinks::pull_back(g, u);
  }
};

}  // namespace

TEST_CASE("every monomial has an input here") {
  const auto inputs = tests::monomial_inputs();
  for (const auto& row : monomial_table().rows()) CHECK_MESSAGE(inputs.contains(row.name), row.name);
}

TEST_CASE("the force of every monomial is the derivative of its action, to 1e-7 along three random directions") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  for (const auto& [name, elements] : tests::monomial_inputs()) check_force(name, elements, u);
}

TEST_CASE("a ratio smears once per kind of links, and carries one derivative back through each") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  using F = LatticeFermion;
  const auto quark = [](double mass, double rho) {
    const LinkMaps maps = {std::make_shared<CountedStout>(stout_weights(rho))};
    return Quark<F>{std::make_shared<OperatorAction<F, WilsonOperator, WilsonParameters>>(
                        maps, WilsonParameters{.mass = mass}, Preconditioning::even_odd),
                    Preconditioning::even_odd};
  };
  const auto solver = std::make_shared<CG<F>>(StoppingCriterion{1e-8, 1000});
  const auto ratio = [&](const Quark<F>& light, const Quark<F>& heavy) {
    return DeterminantRatio<F>{light, {solver, std::make_shared<ZeroGuess<F>>()}, heavy, solver};
  };
  RatioMonomial<F> same({ratio(quark(0.3, 0.1), quark(0.6, 0.1)), ratio(quark(0.6, 0.1), quark(0.9, 0.1))});
  RatioMonomial<F> different({ratio(quark(0.3, 0.1), quark(0.6, 0.1)), ratio(quark(0.6, 0.1), quark(0.9, 0.2))});
  for (auto& [monomial, kinds] : {std::pair<RatioMonomial<F>&, int>{same, 1}, {different, 2}}) {
    CountedStout::applied = CountedStout::pulled_back = 0;
    monomial.refresh(u);
    CHECK(CountedStout::applied == kinds);
    monomial.action(u, {});
    CHECK(CountedStout::applied == 2 * kinds);
    GaugeField f;
    monomial.force(f, u, {});
    CHECK(CountedStout::applied == 3 * kinds);
    CHECK(CountedStout::pulled_back == kinds);
  }
}

namespace {

using Field = LatticeFermion;

/// CG that remembers what its solves took.
class Noting : public NormalSolver<Field> {
 public:
  mutable std::vector<int> iterations;
  SolveResult solve(Field& x, const SystemOperator<Field>& system, const Field& b) const override {
    const SolveResult result = cg_.solve(x, system, b);
    iterations.push_back(result.iterations);
    return result;
  }
  const StoppingCriterion& criterion() const override { return cg_.criterion(); }

 private:
  CG<Field> cg_{StoppingCriterion{1e-6, 1000}};
};
class NotingShifts : public MultiShiftSolver<Field> {
 public:
  mutable std::vector<int> iterations;
  SolveResult solve(std::vector<Field>& x, const SystemOperator<Field>& system, const Field& b,
                    const std::vector<double>& shifts) const override {
    // So that no two take the same number.
    const StoppingCriterion criterion{std::pow(0.1, 4 + static_cast<double>(iterations.size() % 3)), 1000};
    SolveResult result = MultiShiftCG<Field>(criterion).solve(x, system, b, shifts);
    iterations.push_back(result.iterations);
    return result;
  }
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_{1e-4, 1000};
};

/// All numbers in the elements n_count of what `call` logs, in their order.
template <class Call>
std::vector<int> logged_counts(const Call& call) {
  XMLBufferWriter text;
  push(text, "log");
  call(Log{&text});
  pop(text);
  std::istringstream stream(text.str());
  XMLReader xml(stream);
  std::vector<int> all;
  for (int i = 1; i <= xml.count("//n_count"); ++i) {
    multi1d<int> some;
    read(xml, "(//n_count)[" + std::to_string(i) + "]", some);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

TEST_CASE("actions and forces log the iterations of each of their solves") {
  tests::use_lattice({2, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const auto quark = [](double mass) {
    return Quark<Field>{std::make_shared<OperatorAction<Field, WilsonOperator, WilsonParameters>>(
                            LinkMaps{}, WilsonParameters{.mass = mass}, Preconditioning::even_odd),
                        Preconditioning::even_odd};
  };
  const auto zero_guess = std::make_shared<ZeroGuess<Field>>();
  const auto check = [&](Monomial& monomial, const std::vector<int>& iterations, std::size_t solves) {
    monomial.refresh(u);
    GaugeField f;
    for (const bool is_force : {false, true}) {
      const std::size_t before = iterations.size();
      const std::vector<int> logged = logged_counts(
          [&](const Log& log) { is_force ? monomial.force(f, u, log) : static_cast<void>(monomial.action(u, log)); });
      CHECK(logged.size() == solves);
      CHECK(logged == std::vector<int>(iterations.begin() + static_cast<std::ptrdiff_t>(before), iterations.end()));
    }
  };
  const auto solver = std::make_shared<Noting>();
  TwoFlavorMonomial<Field> two(quark(0.3), {solver, zero_guess});
  check(two, solver->iterations, 1);
  const auto of_heavy = std::make_shared<CG<Field>>(StoppingCriterion{1e-6, 1000});
  RatioMonomial<Field> ratio({{quark(0.2), {solver, zero_guess}, quark(0.9), of_heavy},
                              {quark(0.9), {solver, zero_guess}, quark(2.5), of_heavy}});
  check(ratio, solver->iterations, 2);
  const auto shifts = std::make_shared<NotingShifts>();
  RationalMonomial<Field> rational(quark(0.3), 2, {remez({-1, 8}, 0.1, 80, 6), shifts},
                                   {remez({-1, 4}, 0.1, 80, 6), shifts}, {});
  check(rational, shifts->iterations, 2);
}

TEST_CASE("the same text describes the same links, another text others") {
  tests::use_lattice({4, 4, 4, 4});
  const auto stout = [](const char* rho) {
    return tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", rho) + tag("n_smear", "2") +
                                tag("orthog_dir", "3") + tests::fermion_bc());
  };
  const auto schroedinger = [](const char* factor) {
    return tag("FermionBC",
               tag("FermBC", "SCHROEDINGER_NONPERT_FERMBC") + tag("SchrPhiMult", factor) + tag("theta", "0.1 0 0"));
  };
  const std::string hisq = tag("FermState", tag("Name", "HISQ_FERM_STATE") + tests::fermion_bc());
  const std::string texts[] = {
      tests::fermion_bc(),
      tag("boundary", "1 1 1 1"),
      tag("boundary", "1 1 -1 1"),
      tests::fermion_bc() + tag("ImaginaryChemicalPotential", tag("MuByT", "0.3")),
      tests::fermion_bc() + tag("ExternalField", tag("elem", tag("plane", "0 1") + tag("quanta", "1"))),
      tests::fermion_bc() + tag("ExternalField", tag("elem", tag("plane", "0 1") + tag("quanta", "2"))),
      stout("0.1"),
      stout("0.12"),
      hisq,
      schroedinger("2.0"),
      schroedinger("1.0"),
  };
  const GaugeField u = tests::random_field();
  LinkStates states(u);
  const auto state = [&](const std::string& text) {
    const InputFile document = tests::input(tag("FermionAction", text));
    const auto made = states.of(read_fermion_state(document.root()));
    document.require_valid();
    return made;
  };
  std::vector<std::shared_ptr<const LinkState>> seen;
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto first = state(text);
    CHECK(state(text) == first);
    for (const auto& other : seen) CHECK(other != first);
    seen.push_back(first);
  }
}

TEST_CASE("the force of a ratio of operators on the same and on different smeared links") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const auto quark = [](const std::string& mass, const std::string& rho) {
    return tag("FermionAction",
               tag("FermAct", "WILSON") + tag("Mass", mass) +
                   tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", rho) + tag("n_smear", "2") +
                                        tag("orthog_dir", "3") + tests::fermion_bc())) +
           tests::inverter();
  };
  for (const char* heavy_rho : {"0.12", "0.1"})
    check_force("TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL",
                tag("Action", quark("0.3", "0.12")) + tag("PrecAction", quark("0.8", heavy_rho)), u);
}

TEST_CASE("forces in single precision agree with double to 1e-4, and integrate reversibly") {
  TESSERA_NEEDS_DOUBLES("nothing to compare with");
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u = tests::random_field();
  for (const auto& [name, elements] : tests::monomial_inputs()) {
    CAPTURE(name);
    const auto monomial = tests::make_monomial(name, elements);
    monomial->refresh(u);
    GaugeField f, single;
    monomial->force(f, u, {});
    monomial->force_in_single(single, u, {});
    const double size = std::sqrt(tests::inner(f, f));
    CHECK(tests::distance(f, single) < 1e-4 * size);  // ratios are differences of larger forces
    const bool quark = !name.starts_with("N_FLAVOR_LOGDET") && name != "GAUGE_MONOMIAL" && !name.starts_with("FIXED");
    CHECK((tests::distance(f, single) > 1e-9 * size) == quark);  // it is another precision
  }

  const auto inputs = tests::monomial_inputs();
  const std::string name = "TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL";
  MonomialMap monomials{{"gauge", tests::make_monomial("GAUGE_MONOMIAL", inputs.at("GAUGE_MONOMIAL"))},
                        {"quarks", tests::make_monomial(name, inputs.at(name))}};
  Hamiltonian hamiltonian(monomials, {"gauge", "quarks"});
  PhaseSpace start;
  weak_field_start(start.u);
  refresh_momenta(start.p);
  hamiltonian.refresh(start.u);
  const auto integrator = [&](const std::string& precision) {
    const InputFile document = tests::input(tag(
        "MDIntegrator", tag("tau0", "0.5") + tag("MDPrecision", precision) +
                            tag("Integrator", tag("Name", "LCM_STS_MIN_NORM_2") + tag("n_steps", "10") +
                                                  tag("monomial_ids", tag("elem", "gauge") + tag("elem", "quarks")))));
    Integrator made = Integrator::read(document.root(), monomials);
    document.require_valid();
    return made;
  };
  const auto energy = [&](const PhaseSpace& s) {
    const Energies e = hamiltonian.measure(s, {});
    return toDouble(e.kinetic + e.potential);
  };
  PhaseSpace in_double = start, in_single = start;
  integrator("double").run(in_double);
  const Integrator single = integrator("single");
  single.run(in_single);
  CHECK(energy(in_single) - energy(start) == doctest::Approx(energy(in_double) - energy(start)).epsilon(1e-3));
  for (int mu = 0; mu < Nd; ++mu) in_single.p[mu] = -in_single.p[mu];
  single.run(in_single);
  CHECK(tests::distance(in_single.u, start.u) < 1e-5);
  CHECK_THROWS_AS(integrator("half"), InputError);
}

TEST_CASE("refreshed pseudofermions have the action of their noise") {
  // S = eta^+ eta - components for the noise that made phi, for every determinant: the sum over draws is a chi^2.
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  for (const auto& [name, elements] : tests::monomial_inputs()) {
    if (name.find("LOGDET") != std::string::npos || name.find("FLAVOR") == std::string::npos) continue;
    CAPTURE(name);
    const auto monomial = tests::make_monomial(name, elements);
    double total = 0;
    const int draws = 4;
    for (int k = 0; k < draws; ++k) {
      monomial->refresh(u);
      total += toDouble(monomial->action(u, {}));
    }
    const double components = 2.0 * 12 * 256;  // at most; two pseudofermions on half the sites, or one on all
    CHECK(std::fabs(total) < 4 * std::sqrt(draws * components));
  }
}

TEST_CASE("staggered molecular dynamics from conf.00200: energies computed elsewhere") {
  TESSERA_NEEDS_DOUBLES("energy violations to seven digits");
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  PhaseSpace start;
  start.u = tests::read_field("SCIDAC", file);
  for (int mu = 0; mu < Nd; ++mu) start.p[mu] = zero;

  const std::string action = tag("FermAct", "STAGGERED") + tag("Mass", "0.1") + tests::fermion_bc();
  const auto staggered = tests::make_monomial("FOUR_TASTE_STAGGERED_FERM_MONOMIAL",
                                              tag("FermionAction", action) + tests::inverter("1.0e-14"));
  auto& pseudofermion = dynamic_cast<TwoFlavorMonomial<LatticeStaggeredFermion>&>(*staggered);
  pseudofermion.fields().resize(1);
  LatticeStaggeredFermion& phi = pseudofermion.fields()[0];
  LatticeColorVector ones = zero;
  for (int c = 0; c < Nc; ++c) pokeColor(ones, LatticeComplex(Complex(1.0)), c);
  phi = zero;
  pokeSpin(phi, ones, 0);
  const double components = 3.0 * 128;

  SUBCASE("start: action and force") {
    CHECK(toDouble(staggered->action(start.u, {})) + components == doctest::Approx(562.1289828975).epsilon(1e-11));
    GaugeField f;
    staggered->force(f, start.u, {});
    double squares = 0;  // 1/2 sum_a F_a^2 = |F|^2
    for (int mu = 0; mu < Nd; ++mu) squares += toDouble(norm2(f[mu]));
    CHECK(squares == doctest::Approx(22541.0179274).epsilon(1e-9));
  }

  SUBCASE("a trajectory") {
    MonomialMap monomials{{"gauge", std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(wilson_action(5.69)))},
                          {"staggered", staggered}};
    const Hamiltonian hamiltonian(monomials, {"gauge", "staggered"});
    const auto energy = [&](const PhaseSpace& s) {
      const Energies e = hamiltonian.measure(s, {});
      return toDouble(e.kinetic + e.potential);
    };
    const double before = energy(start);
    const auto run = [&](const std::string& name, int steps) {
      PhaseSpace state = start;
      const InputFile document = tests::input(
          tag("MDIntegrator",
              tag("tau0", "0.5") +
                  tag("Integrator", tag("Name", name) + tag("n_steps", std::to_string(steps)) +
                                        tag("monomial_ids", tag("elem", "gauge") + tag("elem", "staggered")))));
      const Integrator integrator = Integrator::read(document.root(), monomials);
      document.require_valid();
      integrator.run(state);
      return state;
    };
    struct Row {
      const char* name;
      int steps;
      double violation;
    };
    for (const Row& row : {Row{"LCM_STS_LEAPFROG", 10, -15.19620}, Row{"LCM_STS_LEAPFROG", 20, -3.746189},
                           Row{"LCM_STS_LEAPFROG", 40, -0.9336944}, Row{"LCM_STS_MIN_NORM_2", 10, 0.4740154},
                           Row{"LCM_STS_MIN_NORM_2", 20, 0.09709295}, Row{"LCM_STS_MIN_NORM_2", 40, 0.02310316}}) {
      CAPTURE(row.name);
      CAPTURE(row.steps);
      CHECK(energy(run(row.name, row.steps)) - before == doctest::Approx(row.violation).epsilon(4e-7));  // digits given
    }
    const PhaseSpace exact = run("LCM_4MN5FV", 80);
    CHECK(toDouble(average_plaquette(exact.u)) == doctest::Approx(0.8481143108).epsilon(1e-9));
    double kinetic = 0;
    for (int mu = 0; mu < Nd; ++mu) kinetic += toDouble(norm2(exact.p[mu]));
    CHECK(kinetic == doctest::Approx(2803.4627668).epsilon(1e-9));
  }
}

TEST_CASE("no monomial goes on with a solution that was not reached") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  int solving = 0;
  for (auto [name, input] : tests::monomial_inputs()) {
    if (input.find("<MaxCG>") == std::string::npos) continue;
    CAPTURE(name);
    const auto good = tests::make_monomial(name, input);
    for (std::size_t at = 0; (at = input.find("<MaxCG>", at)) != std::string::npos; ++at)
      input.replace(at, input.find('<', at + 1) - at, "<MaxCG>2");
    const auto hasty = tests::make_monomial(name, input);
    GaugeField f;
    good->refresh(u);
    bool copied = true;
    try {
      hasty->copy_fields_from(*good);
    } catch (const InputError&) {
      copied = false;  // it has none
    }
    if (!copied) continue;
    ++solving;
    CHECK_NOTHROW(good->force(f, u, {}));
    CHECK_THROWS_AS(hasty->force(f, u, {}), NumericsError);
    CHECK_THROWS_AS(hasty->action(u, {}), NumericsError);
  }
  CHECK(solving > 10);
}

TEST_CASE("pseudofermion monomials: wrong use says what is wrong") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const auto inputs = tests::monomial_inputs();
  for (const char* name : {"TWO_FLAVOR_UNPREC_FERM_MONOMIAL", "ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL",
                           "TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL"}) {
    const auto monomial = tests::make_monomial(name, inputs.at(name));
    GaugeField f;
    CHECK_THROWS_AS(monomial->action(u, {}), ShapeError);  // nothing drawn yet
    CHECK_THROWS_AS(monomial->force(f, u, {}), ShapeError);
    CHECK_THROWS_AS(monomial->copy_fields_from(*tests::make_monomial("GAUGE_MONOMIAL", inputs.at("GAUGE_MONOMIAL"))),
                    InputError);
  }
  const auto refused = [](const std::string& name, const std::string& elements) {
    CHECK_THROWS_AS(tests::make_monomial(name, elements), InputError);
  };
  refused("TWO_FLAVOR_UNPREC_FERM_MONOMIAL", tests::wilson_action("WILSON", "0.1") + tests::inverter());
  refused("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", tests::wilson_action("WILSON", "0.1"));
  refused("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL",
          tests::wilson_action("NO_SUCH_ACTION", "0.1") + tests::inverter());
}

TEST_CASE("a ratio of operators that are not square is refused: its pseudofermions would have flat directions") {
  tests::use_lattice({4, 4, 4, 4});
  using F = LatticeStaggeredFermion;
  const InputFile document =
      tests::input(tag("FermionAction", tag("FermAct", "STAGGERED") + tag("Mass", "0.5") + tests::fermion_bc()));
  const Input group = document.root();
  const Quark<F> quark{staggered_type_action_table().find(group, "FermAct")->make(group), Preconditioning::even_source,
                       0};
  document.require_valid();
  const auto cg = std::make_shared<CG<F>>(StoppingCriterion{});
  RatioMonomial<F> ratio({{quark, {cg, std::make_shared<ZeroGuess<F>>()}, quark, cg}});
  CHECK_THROWS_AS(ratio.refresh(tests::random_field()), ShapeError);
}

TEST_CASE("rational monomial: a spectrum outside the approximation is an error, or widens it if asked") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const std::string action = tests::wilson_action("WILSON", "0.3");
  const auto elements = [&](const std::string& lower, const std::string& upper, const std::string& more) {
    return tag("num_pf", "1") + more +
           tag("Action", action + tag("ActionApprox", tests::approximation("-1", "4", lower, upper)) +
                             tag("ForceApprox", tests::approximation("-1", "2", lower, upper)));
  };
  const std::string name = "ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL";
  const std::string check = tag("BoundsCheckFrequency", "1");
  CHECK_NOTHROW(tests::make_monomial(name, elements("0.01", "80", check))->refresh(u));
  CHECK_THROWS_AS(tests::make_monomial(name, elements("0.01", "20", check))->refresh(u), NumericsError);
  CHECK_THROWS_AS(tests::make_monomial(name, elements("20", "80", check))->refresh(u), NumericsError);
  const auto widened = tests::make_monomial(name, elements("0.01", "20", check + tag("WidenBounds", "true")));
  CHECK_NOTHROW(widened->refresh(u));
}

namespace {

const std::string kOneFlavour = "ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL";

/// With this interval of action and force.
std::shared_ptr<Monomial> one_flavour(const std::string& more, const std::string& lower, const std::string& upper) {
  return tests::make_monomial(kOneFlavour,
                              tag("num_pf", "1") + more +
                                  tag("Action", tests::wilson_action("WILSON", "0.3") +
                                                    tag("ActionApprox", tests::approximation("-1", "4", lower, upper)) +
                                                    tag("ForceApprox", tests::approximation("-1", "2", lower, upper))));
}

/// The extreme eigenvalues of its M^+ M.
SpectrumBounds spectrum_of_one_flavour(const GaugeField& u) {
  const InputFile input = tests::input(tag("m", tests::wilson_action("WILSON", "0.3")));
  const Input group = input.root().group("FermionAction");
  const QuarkOperator<LatticeFermion> quark(fermion_action_table<LatticeFermion>().find(group, "FermAct")->make(group),
                                            u);
  const auto end = [&](SpectrumEnd which) {
    LanczosParameters p;
    p.end = which;
    p.tolerance = 1e-12;
    const auto pairs = lanczos(quark.m(), p);
    CHECK(pairs.converged);
    return pairs.values[0];
  };
  return {end(SpectrumEnd::lowest), end(SpectrumEnd::highest)};
}

}  // namespace

TEST_CASE("rational monomial: a widened interval is the spectrum's with a margin, as exactly known as asked for") {
  TESSERA_NEEDS_DOUBLES("accurate eigenvalues");
  tests::use_lattice({4, 2, 4, 2});
  const GaugeField u = tests::random_field();
  const SpectrumBounds exact = spectrum_of_one_flavour(u);
  for (const auto& [asked, accuracy] : {std::pair{"", 1e-2}, {"0.1", 0.1}, {"1e-7", 1e-7}}) {
    CAPTURE(accuracy);
    const std::string more =
        tag("BoundsCheckFrequency", "1") + tag("WidenBounds", "true") + (*asked ? tag("BoundsAccuracy", asked) : "");
    const auto monomial = one_flavour(more, "10", "12");
    monomial->refresh(u);
    int refreshes = 0;
    double ends[4];
    REQUIRE(std::sscanf(monomial->state().c_str(), "%d,%lf,%lf,%lf,%lf", &refreshes, &ends[0], &ends[1], &ends[2],
                        &ends[3]) == 5);
    CHECK(refreshes == 1);
    for (const int k : {0, 2}) {  // of the action, of the force
      CHECK(1.2 * ends[k] <= exact.lower * (1 + 1e-9));
      CHECK(1.2 * ends[k] >= exact.lower * (1 - 2 * accuracy));
      CHECK(ends[k + 1] / 1.2 >= exact.upper * (1 - 1e-9));
      CHECK(ends[k + 1] / 1.2 <= exact.upper * (1 + 2 * accuracy));
    }
  }
}

TEST_CASE("rational monomial: bounds are checked at the first refresh and every few after it, or never") {
  tests::use_lattice({4, 2, 4, 2});
  const GaugeField good = tests::random_field();
  GaugeField bad(Nd);
  unit_start(bad);
  const double low = spectrum_of_one_flavour(good).lower, lower = spectrum_of_one_flavour(bad).lower;
  REQUIRE(lower < 0.9 * low);
  std::ostringstream between;
  between << std::sqrt(low * lower);
  const auto fails = [&](Monomial& monomial, const GaugeField& u) {
    try {
      monomial.refresh(u);
    } catch (const NumericsError&) {
      return 1;
    }
    return 0;
  };
  for (const int interval : {0, 1, 2, 3}) {
    CAPTURE(interval);
    const auto monomial =
        one_flavour(interval > 0 ? tag("BoundsCheckFrequency", std::to_string(interval)) : "", between.str(), "90");
    CHECK(fails(*monomial, good) == 0);
    for (int n = 1; n < 5; ++n) CHECK(fails(*monomial, bad) == (interval > 0 && n % interval == 0 ? 1 : 0));
    const auto another =
        one_flavour(interval > 0 ? tag("BoundsCheckFrequency", std::to_string(interval)) : "", between.str(), "90");
    CHECK(fails(*another, bad) == (interval > 0 ? 1 : 0));
  }
}

TEST_CASE("rational monomial: an interval too short below or above is made wide enough for action and force alike") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const std::string action = tests::wilson_action("WILSON", "0.3");
  for (const auto& [lower, upper] : {std::pair{"0.01", "4"}, {"20", "80"}}) {
    CAPTURE(lower);
    // Both too short, and each of the two beside one that holds the spectrum.
    for (const auto& [good_action, good_force] : {std::pair{false, false}, {true, false}, {false, true}}) {
      CAPTURE(good_action);
      CAPTURE(good_force);
      const std::string of_action =
          tests::approximation("-1", "4", good_action ? "0.01" : lower, good_action ? "80" : upper);
      const std::string of_force =
          tests::approximation("-1", "2", good_force ? "0.01" : lower, good_force ? "80" : upper);
      check_force("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL",
                  tag("num_pf", "1") + tag("BoundsCheckFrequency", "1") + tag("WidenBounds", "true") +
                      tag("Action", action + tag("ActionApprox", of_action) + tag("ForceApprox", of_force)),
                  u);
    }
  }
}
