// Quarks in the Schroedinger functional: where their fields vanish, operators, forces, theta, and Chroma's energies.
#include "jit/runtime.hpp"
#include "lib/action/pseudofermion.hpp"
#include "lib/dirac/clover.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/io/fermion_state.hpp"
#include "tests/lib/dirac.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::tag;

namespace {

const char* const kKinds[] = {"TRIVIAL", "NONPERT", "COUPLING", "CHROMOMAG", "DIRICHLET"};

struct BoundaryText {
  std::string kind = "NONPERT", loop_extent = "1", decay_dir = "3", theta = "0 0 0", factor = "2.0";
};

std::string boundary(const BoundaryText& b = {}) {
  return tag("FermionBC", tag("FermBC", "SCHROEDINGER_" + b.kind + "_FERMBC") + tag("SchrPhiMult", b.factor) +
                              tag("loop_extent", b.loop_extent) + tag("decay_dir", b.decay_dir) +
                              tag("theta", b.theta));
}

std::string stout(const std::string& bc, const std::string& steps = "2") {
  return tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.12") + tag("n_smear", steps) +
                              tag("orthog_dir", "3") + bc);
}

const std::string kMass = tag("Mass", "0.3"), kClover = tag("clovCoeff", "1.2");

std::string fermion_action(const std::string& name, const std::string& more) {
  return tag("FermionAction", tag("FermAct", name) + kMass + more);
}

std::shared_ptr<const WilsonTypeAction> make_action(const std::string& name, const std::string& more) {
  const InputFile document = tests::input(fermion_action(name, more));
  const auto action = wilson_type_action_table().find(document.root(), "FermAct")->make(document.root());
  document.require_valid();
  return action;
}

tests::Dirac dirac(const WilsonTypeAction& action, const GaugeField& u) {
  return action.make(LinkState(u, action.link_maps()).links());
}

/// Errors of reading this FermionAction.
std::size_t errors_of(const std::string& bc) {
  const InputFile document = tests::input(fermion_action("WILSON", bc));
  wilson_type_action_table().find(document.root(), "FermAct")->make(document.root());
  return document.errors().size();
}

LatticeBoolean boundary_sites(int extent = 1, int dir = 3) {
  LatticeBoolean sites;
  sites = Layout::latticeCoordinate(dir) < extent || Layout::latticeCoordinate(dir) >= Layout::lattSize()[dir] - extent;
  return sites;
}

/// psi on the sites of the mask, nought elsewhere.
LatticeFermion only(const LatticeBoolean& mask, const LatticeFermion& psi) {
  const LatticeFermion nought = zero;
  LatticeFermion part;
  part = where(mask, psi, nought);
  return part;
}

double size(const LatticeFermion& psi) { return std::sqrt(toDouble(norm2(psi))); }

/// The operators of the tests below: Wilson, clover, clover on stout links.
std::vector<std::shared_ptr<const WilsonTypeAction>> actions(const std::string& bc) {
  return {make_action("WILSON", bc), make_action("CLOVER", kClover + bc), make_action("CLOVER", kClover + stout(bc))};
}

}  // namespace

TEST_CASE("quark fields on the boundary neither reach the others nor are reached by them") {
  const auto check = [](const BoundaryText& text, int extent, int dir) {
    CAPTURE(text.kind);
    const GaugeField u = tests::random_field();
    const LatticeFermion psi = tests::random_fermion();
    const LatticeBoolean edge = boundary_sites(extent, dir);
    for (const char* name : {"WILSON", "CLOVER"}) {
      const tests::Dirac d = dirac(*make_action(name, (name[0] == 'C' ? kClover : "") + boundary(text)), u);
      const LatticeFermion outside = only(edge, psi), inside = psi - outside;
      for (const Preconditioning p : tests::kSchurForms) {
        const Subset& sites = make_preconditioned(d, p)->domain();
        CHECK(toDouble(norm2(tests::applied(d, p, outside) - outside, sites)) == 0);
        const LatticeFermion image = tests::applied(d, p, inside);
        CHECK(toDouble(norm2(only(edge, image), sites)) == 0);
        CHECK(toDouble(norm2(image, sites)) > 1);
      }
      LatticeFermion projected = psi;
      d->project(projected);
      CHECK(size(projected - inside) == 0);
    }
  };
  tests::use_lattice({4, 2, 4, 6});
  for (const char* kind : kKinds) check({.kind = kind}, 1, 3);
  check({.loop_extent = "2"}, 2, 3);
  tests::use_lattice({6, 4, 2, 4});
  check({.decay_dir = "0"}, 1, 0);
}

TEST_CASE("inside, the operator is the one on the links with the boundary's values, hops onto the boundary left out") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const LatticeBoolean edge = boundary_sites();
  const LatticeFermion inside = psi - only(edge, psi);
  const auto state = make_action("CLOVER", kClover + boundary());
  const GaugeField v = LinkState(u, state->link_maps()).links();
  const CloverOperator<LatticeFermion> whole(v, {.wilson = {.mass = 0.3}, .coeff_r = 1.2, .coeff_t = 1.2});
  const LatticeFermion image = whole.diagonal(+inside, Sign::plus) + whole.hop(+inside, Sign::plus);
  CHECK(tests::relative(tests::applied(dirac(*state, u), Preconditioning::none, inside), image - only(edge, image)) <
        base_tol(1e-14));
  // The links on the boundary matter: through the clover term beside it, for clover quarks only.
  for (const char* name : {"WILSON", "CLOVER"}) {
    CAPTURE(name);
    const bool clover = name[0] == 'C';
    const auto with = [&](const char* kind) {
      const auto action = make_action(name, (clover ? kClover : "") + boundary({.kind = kind}));
      return tests::applied(dirac(*action, u), Preconditioning::none, inside);
    };
    CHECK((tests::relative(with("NONPERT"), with("TRIVIAL")) > 1e-3) == clover);
  }
}

TEST_CASE("adjoint and gamma5-hermiticity, every preconditioning, on fields that do not vanish on the boundary") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  for (const auto& action : actions(boundary({.theta = "0.1 -0.2 0.3"}))) {
    const tests::Dirac d = dirac(*action, u);
    tests::check_adjoint(d);
    tests::check_gamma5_hermiticity(d, d);
  }
}

TEST_CASE("the boundary costs no kernel and no field: M is as many launches with it as without") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion x = tests::random_fermion();
  const auto launches = [&](const std::string& bc, Preconditioning p) {
    const tests::Dirac d = dirac(*make_action("CLOVER", kClover + bc), u);
    const auto m = make_preconditioned(d, p);
    LatticeFermion y;
    const auto before = jit::Runtime::instance().launches();
    m->apply(y, x, Sign::plus);
    return jit::Runtime::instance().launches() - before;
  };
  for (const Preconditioning p : tests::kSchurForms) CHECK(launches(boundary(), p) == launches(tests::fermion_bc(), p));
}

TEST_CASE("the single precision operator has the same boundary") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const auto action = make_action("CLOVER", kClover + boundary());
  const LatticeFermion psi = tests::random_fermion();
  const LatticeFermionF in = psi;
  LatticeFermionF out;
  const auto v = LinkState(u, action->link_maps()).links();
  make_preconditioned(action->make_single(converted_links<LinksOf<LatticeFermionF>>(v)), Preconditioning::none)
      ->apply(out, in, Sign::plus);
  CHECK(tests::relative(LatticeFermion(out), tests::applied(action->make(v), Preconditioning::none, psi)) < 1e-6);
}

TEST_CASE("derivatives of every M and of log det A with respect to U, against differences") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion x = tests::random_fermion(), y = tests::random_fermion();
  for (const auto& action : actions(boundary({.theta = "0.1 -0.2 0.3"}))) {
    const auto pulled_back = [&](GaugeField& g) { LinkState(u, action->link_maps()).force(g); };
    for (const Preconditioning p : tests::kSchurForms) {
      CAPTURE(static_cast<int>(p));
      const auto value = [&](const GaugeField& w) {
        const tests::Dirac d = dirac(*action, w);
        return 2 * toDouble(innerProductReal(y, tests::applied(d, p, x), make_preconditioned(d, p)->range()));
      };
      GaugeField g = tests::no_derivative();
      make_preconditioned(dirac(*action, u), p)->add_derivative(g, y, x, 1);
      pulled_back(g);
      tests::check_derivative(value, g, u);
    }
    if (dirac(*action, u)->constant_diagonal()) continue;
    GaugeField g = tests::no_derivative();
    dirac(*action, u)->add_log_det_derivative(g, rb[0], 1);
    pulled_back(g);
    tests::check_derivative([&](const GaugeField& w) { return toDouble(dirac(*action, w)->log_det_diagonal(rb[0])); },
                            g, u);
  }
}

TEST_CASE("forces are derivatives of actions and vanish on fixed links; pseudofermions vanish on the boundary") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeBoolean edge = boundary_sites();
  const auto two_flavor = [](const std::string& action) { return action + tests::inverter(); };
  const std::string rational =
      tag("num_pf", "1") + tag("Action", fermion_action("WILSON", boundary()) +
                                             tag("ActionApprox", tests::approximation("-1", "4", "0.01", "80")) +
                                             tag("ForceApprox", tests::approximation("-1", "2", "0.01", "80")));
  const std::pair<const char*, std::string> monomials[] = {
      {"TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", two_flavor(fermion_action("WILSON", boundary()))},
      {"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", two_flavor(fermion_action("CLOVER", kClover + stout(boundary())))},
      {"ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", rational},
      {"FIXED_RANDOM_X_FERM_MONOMIAL", stout(boundary())},
  };
  const LatticeColorMatrix nought = zero;
  for (const auto& [name, elements] : monomials) {
    CAPTURE(name);
    const auto monomial = tests::make_monomial(name, elements);
    monomial->refresh(u);
    GaugeField f;
    monomial->force(f, u, {});
    for (int mu = 0; mu < Nd; ++mu) {
      const LatticeBoolean fixed = mu == 3 ? LatticeBoolean(Layout::latticeCoordinate(3) == 3) : edge;
      const LatticeColorMatrix there = where(fixed, f[mu], nought);
      CHECK(toDouble(norm2(there)) == 0);
      CHECK(toDouble(norm2(f[mu])) > 1e-3);
    }
    const GaugeField x = tests::random_algebra();
    const auto value = [&](double t) {
      GaugeField w(Nd);
      for (int mu = 0; mu < Nd; ++mu) w[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
      return toDouble(monomial->action(w, {}));
    };
    double exact = 0;  // conv. 4
    for (int mu = 0; mu < Nd; ++mu) exact += 2 * toDouble(sum(real(trace(x[mu] * f[mu]))));
    const double h = 2e-3;
    const double difference = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
    if (tests::kDoubles) CHECK(difference == doctest::Approx(exact).epsilon(1e-7));

    if (auto* two = dynamic_cast<TwoFlavorMonomial<LatticeFermion>*>(monomial.get())) {
      const LatticeFermion& phi = two->fields()[0];
      CHECK(toDouble(norm2(only(edge, phi), rb[1])) == 0);
      CHECK(toDouble(norm2(phi, rb[1])) > 1);
    }
  }
}

TEST_CASE("free quarks at rest move one way in time and stop at the boundary") {
  // With spatial momentum 0, D = 1 + m - P_- (forward) - P_+ (backward): from t', P_+ spins give (1+m)^-(t-t'+1) for
  // t >= t' and nothing before, P_- spins the reverse. An image around the lattice would show.
  tests::use_lattice({2, 2, 2, 8});
  GaugeField u(Nd);
  unit_start(u);
  const tests::Dirac d = dirac(*make_action("WILSON", boundary({.kind = "TRIVIAL"})), u);
  multi1d<int> origin(Nd);
  origin = 0;
  const Fermion spinor = peekSite(tests::random_fermion(), origin);
  const LatticeFermion everywhere = spinor;
  const Gamma g4(8);
  for (const int sign : {+1, -1}) {
    const LatticeFermion spins = Real(0.5) * everywhere + Real(0.5 * sign) * (g4 * everywhere);
    const int from = 3;
    LatticeReal amplitude = 0.0;
    for (int t = 1; t < 7; ++t)
      if (sign * (t - from) >= 0)
        amplitude = where(Layout::latticeCoordinate(3) == t,
                          LatticeReal(Real(std::pow(1.3, -(std::abs(t - from) + 1)))), amplitude);
    const LatticeFermion psi = amplitude * spins;
    const LatticeFermion source = only(LatticeBoolean(Layout::latticeCoordinate(3) == from), spins);
    CHECK(tests::relative(tests::applied(d, Preconditioning::none, psi), source) < base_tol(1e-14));
  }
}

TEST_CASE("theta is a twist of all links of the directions without boundary") {
  tests::use_lattice({4, 2, 4, 6});
  GaugeField u(Nd);
  unit_start(u);
  const auto links = [&](const BoundaryText& text) {
    return LinkState(u, make_action("WILSON", boundary(text))->link_maps()).links();
  };
  const auto check = [&](const GaugeField& v, int mu, double turns) {
    const double angle = 2 * std::numbers::pi * turns / Layout::lattSize()[mu];
    const LatticeColorMatrix expected = cmplx(Real(std::cos(angle)), Real(std::sin(angle))) * u[mu];
    CHECK(tests::distance(v[mu], expected) < base_tol(1e-13));
  };
  const GaugeField v = links({.kind = "TRIVIAL", .theta = "0.1 0 -0.4"});
  check(v, 0, 0.1);
  check(v, 1, 0);
  check(v, 2, -0.4);
  check(v, 3, 0);
  tests::use_lattice({4, 6, 2, 4});
  unit_start(u);
  const GaugeField w = links({.kind = "TRIVIAL", .decay_dir = "1", .theta = "0.1 0.2 0.3"});
  check(w, 0, 0.1);
  check(w, 1, 0);
  check(w, 2, 0.2);
  check(w, 3, 0.3);
}

TEST_CASE("energies of Chroma's test trajectories with stout links and the Schroedinger functional") {
  // Chroma, tests/t_leapfrog: prec_clover_stout and fixed_X_action_stout, DeltaKE and DeltaPE of their log.
  tests::use_lattice({4, 4, 4, 4});
  const auto state = [](const std::string& steps) {
    return tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.22") + tag("n_smear", steps) +
                                tag("orthog_dir", "3") + boundary());
  };
  struct Run {
    std::string name, elements, steps;
    bool weak_field;
    double kinetic, potential;
  };
  const Run runs[] = {
      {"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL",
       tag("FermionAction", tag("FermAct", "CLOVER") + tag("Kappa", "0.115") + kClover + state("3")) +
           tests::inverter(tests::solver_residual("1.0e-14")),
       "5", false, -55.1855325060674, 59.9791280373165},
      {"FIXED_RANDOM_X_FERM_MONOMIAL", state("2"), "20", true, 410.802773478602, -411.222547405767},
  };
  for (const Run& run : runs) {
    CAPTURE(run.name);
    RNG::setrn(make_seed({11, 0, 0, 0}));
    const MonomialMap monomials{{"m", tests::make_monomial(run.name, run.elements)}};
    const InputFile document = tests::input(
        tag("MDIntegrator",
            tag("tau0", "1") + tag("Integrator", tag("Name", "LCM_STS_LEAPFROG") + tag("n_steps", run.steps) +
                                                     tag("monomial_ids", tag("elem", "m")))));
    const Integrator integrator = Integrator::read(document.root(), monomials);
    document.require_valid();
    PhaseSpace phase;
    phase.u.resize(Nd);
    run.weak_field ? weak_field_start(phase.u) : unit_start(phase.u);
    draw_constants(monomials);
    Hamiltonian hamiltonian(monomials, {"m"});
    refresh_momenta(phase.p);
    hamiltonian.refresh(phase.u);
    const Energies before = hamiltonian.measure(phase, {});
    integrator.run(phase);
    const Energies after = hamiltonian.measure(phase, {});
    CHECK(toDouble(after.kinetic - before.kinetic) == doctest::Approx(run.kinetic).epsilon(base_tol(1e-12)));
    CHECK(toDouble(after.potential - before.potential) == doctest::Approx(run.potential).epsilon(base_tol(1e-12)));
  }
}

TEST_CASE("wrong use is reported") {
  CHECK(errors_of(boundary()) == 0);
  CHECK(errors_of(boundary({.theta = "0 0"})) == 1);
  CHECK(errors_of(boundary({.loop_extent = "3"})) >= 1);
  CHECK(errors_of(boundary({.decay_dir = "4"})) >= 1);
  CHECK(errors_of(boundary({.kind = "PERTURBATIVE"})) == 1);
  CHECK(errors_of(tag("FermionBC", tag("FermBC", "SCHROEDINGER_TRIVIAL_FERMBC"))) == 1);  // no SchrPhiMult
  tests::use_lattice({4, 4, 4, 2});
  GaugeField u(Nd);
  unit_start(u);
  const auto action = make_action("WILSON", boundary());
  CHECK_THROWS_AS(dirac(*action, u), ShapeError);
}
