// Twisted-mass quarks: what the twist does to the Wilson operator, exactly.
#include "lib/dirac/fermion_action.hpp"
#include "lib/dirac/twisted_mass.hpp"
#include "tests/lib/dirac.hpp"

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

const TwistedMassParameters kParameters{.wilson = {.mass = 0.1}, .mu = 0.35};
const TwistedMassParameters kAnisotropic{
    .wilson = {.mass = 0.05, .aniso = {.on = true, .t_dir = 3, .xi_0 = 2.464, .nu = 0.95}}, .mu = -0.2};

std::function<tests::Dirac(const GaugeField&)> twisted(const TwistedMassParameters& p) {
  return [p](const GaugeField& u) { return std::make_shared<const TwistedMassOperator<LatticeFermion>>(u, p); };
}

TwistedMassParameters with_mu(TwistedMassParameters p, double mu) {
  p.mu = mu;
  return p;
}

}  // namespace

TEST_CASE("twisted mass: D = D_W + i mu gamma_5") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  for (const TwistedMassParameters& p : {kParameters, kAnisotropic}) {
    const auto wilson = std::make_shared<const WilsonOperator<LatticeFermion>>(u, p.wilson);
    const LatticeFermion expected =
        tests::applied(wilson, Preconditioning::none, psi) + Real(p.mu) * timesI(Gamma(15) * psi);
    CHECK(tests::relative(tests::applied(twisted(p)(u), Preconditioning::none, psi), expected) < base_tol(1e-14));
    CHECK(tests::relative(tests::applied(twisted(with_mu(p, 0))(u), Preconditioning::even_odd, psi),
                          tests::applied(wilson, Preconditioning::even_odd, psi), rb[1]) < base_tol(1e-14));
  }
}

TEST_CASE("twisted mass: D^+ D = D_W^+ D_W + mu^2, so the doublet's determinant has a gap") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const auto squared = [&](const tests::Dirac& d) {
    return tests::applied(d, Preconditioning::none, tests::applied(d, Preconditioning::none, psi), Sign::minus);
  };
  const LatticeFermion expected =
      squared(std::make_shared<const WilsonOperator<LatticeFermion>>(u, kParameters.wilson)) +
      Real(kParameters.mu * kParameters.mu) * psi;
  CHECK(tests::relative(squared(twisted(kParameters)(u)), expected) < base_tol(1e-13));
  CHECK(tests::relative(squared(twisted(with_mu(kParameters, -kParameters.mu))(u)), expected) < base_tol(1e-13));
}

TEST_CASE("twisted mass: the diagonal's inverse and determinant") {
  tests::use_lattice({4, 4, 2, 2});
  const tests::Dirac d = twisted(kParameters)(tests::random_field());
  const LatticeFermion psi = tests::random_fermion();
  for (Sign sign : {Sign::plus, Sign::minus}) {
    const LatticeFermion once = d->diagonal(+psi, sign);
    CHECK(tests::relative(d->diagonal_inverse(+once, sign), psi) < base_tol(1e-14));
  }
  // Eigenvalues 4.1 + 0.35 i and 4.1 - 0.35 i, six of each at every site.
  CHECK(toDouble(d->log_det_diagonal(rb[0])) ==
        doctest::Approx(32 * 6 * std::log(4.1 * 4.1 + 0.35 * 0.35)).epsilon(base_tol(1e-14)));
  CHECK(d->constant_diagonal());
}

TEST_CASE("twisted mass: adjoint, gamma5 D(mu) gamma5 = D(-mu)^+, gauge covariance") {
  tests::use_lattice({4, 4, 2, 4});
  const GaugeField u = tests::random_field();
  for (const TwistedMassParameters& p : {kParameters, kAnisotropic}) {
    tests::check_adjoint(twisted(p)(u));
    tests::check_gamma5_hermiticity(twisted(p)(u), twisted(with_mu(p, -p.mu))(u));
    tests::check_gauge_covariance(twisted(p));
  }
}

TEST_CASE("twisted mass: derivatives of the operators agree with finite differences") {
  tests::use_lattice({4, 4, 2, 4});
  for (const TwistedMassParameters& p : {kParameters, kAnisotropic}) tests::check_operator_derivatives(twisted(p));
}

TEST_CASE("twisted mass: single precision agrees with double") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const auto d_f = std::make_shared<const TwistedMassOperator<LatticeFermionF>>(
      converted_links<LinksOf<LatticeFermionF>>(u), kParameters);
  LatticeFermionF in_f = psi, out_f;
  make_preconditioned<LatticeFermionF>(d_f, Preconditioning::even_odd)->apply(out_f, in_f, Sign::plus);
  CHECK(tests::relative(LatticeFermion(out_f), tests::applied(twisted(kParameters)(u), Preconditioning::even_odd, psi),
                        rb[1]) < 1e-6);
}

TEST_CASE("twisted mass: actions from an input, also under Chroma's name") {
  tests::use_lattice({4, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const auto same = [&](const std::string& name, const std::string& elements, const TwistedMassParameters& p) {
    const InputFile document = tests::input("<FermionAction><FermAct>" + name + "</FermAct>" + elements +
                                            "<boundary>1 1 1 1</boundary></FermionAction>");
    const auto action = wilson_type_action_table().find(document.root(), "FermAct")->make(document.root());
    document.require_valid();
    return tests::relative(tests::applied(action->make(u), action->preconditioning(), psi),
                           tests::applied(twisted(p)(u), action->preconditioning(), psi), rb[1]) < base_tol(1e-14);
  };
  const double kappa = 0.177, mass = 1 / (2 * kappa) - 4;
  CHECK(same("TWISTED_MASS", "<Kappa>0.177</Kappa><TwoKappaMu>0.177</TwoKappaMu>", {{.mass = mass}, 0.5}));
  CHECK(same("TWISTED_MASS", "<Mass>0.1</Mass><TwistedMass>0.35</TwistedMass>", kParameters));
  CHECK(same("UNPRECONDITIONED_TWISTED_MASS", "<Mass>0.1</Mass><TwistedMass>0.35</TwistedMass>", kParameters));
  CHECK(same("PARWILSON", "<Mass>0.1</Mass><H>0.35</H>", kParameters));
  CHECK(same("UNPRECONDITIONED_PARWILSON", "<Kappa>0.177</Kappa><H>0.5</H>", {{.mass = mass}, 0.5}));
}
