// The Wilson operator and its preconditioned forms against their definitions, traces, and finite differences.
#include "lib/dirac/wilson.hpp"
#include "tests/jit/settings.hpp"
#include "tests/lib/dirac.hpp"
#include "tests/sizes.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

const WilsonParameters kIsotropic{.mass = 0.1};
const WilsonParameters kAnisotropic{.mass = 0.05, .aniso = {.on = true, .t_dir = 3, .xi_0 = 2.464, .nu = 0.95}};
const WilsonParameters kBoth[] = {kIsotropic, kAnisotropic};

tests::Dirac wilson(const GaugeField& u, const WilsonParameters& p) {
  return std::make_shared<WilsonOperator<LatticeFermion>>(u, p);
}

/// D psi written with full spin matrices, as the textbook does.
LatticeFermion plain_wilson(const GaugeField& u, const WilsonParameters& p, const LatticeFermion& psi) {
  LatticeFermion out = Real(p.diagonal()) * psi;
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeFermion ahead = u[mu] * shift(psi, FORWARD, mu);
    const LatticeFermion behind = shift(adj(u[mu]) * psi, BACKWARD, mu);
    out -= Real(0.5 * p.aniso.factor(mu)) * (ahead - Gamma(1 << mu) * ahead + behind + Gamma(1 << mu) * behind);
  }
  return out;
}

}  // namespace

TEST_CASE("Wilson: the half-spinor form equals the textbook's") {
  tests::use_lattice({4, 4, 4, 8});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  for (const WilsonParameters& p : kBoth)
    CHECK(tests::relative(tests::applied(wilson(u, p), Preconditioning::none, psi), plain_wilson(u, p, psi)) <
          base_tol(1e-14));
}

TEST_CASE("Wilson: links kept as two rows give the bits of links kept whole, in either precision") {
  TESSERA_NEEDS_THREE_COLORS("two rows of SU(3)");
  tests::use_lattice({4, 4, 4, 4});
  GaugeField thin = tests::random_field(), antiperiodic = thin, scaled = thin, smeared = thin;
  antiperiodic[Nd - 1] = where(Layout::latticeCoordinate(Nd - 1) == 3, -thin[Nd - 1], thin[Nd - 1]);
  scaled[0] *= Real(0.85);
  smeared[1] += Real(0.2) * shift(thin[1], FORWARD, 0);  // no multiple of SU(3)
  struct Case {
    const char* name;
    const GaugeField& u;
    int words;  ///< of all links of a site
  };
  for (const auto& [name, u, words] : {Case{"thin", thin, 48}, Case{"antiperiodic", antiperiodic, 49},
                                       Case{"scaled", scaled, 49}, Case{"smeared", smeared, 54}})
    for (const WilsonParameters& p : kBoth) {
      CAPTURE(name);
      const auto apply = [&]<class F>(const F& psi, const char* two_rows) {
        const tests::Setting setting("TESSERA_TWO_ROWS", two_rows);
        F out;
        const auto links = converted_links<LinksOf<F>>(u);
        out = WilsonOperator<F>(links, p).hop(+psi, Sign::plus);
        LinksOf<F> kept = links;
        compact(kept);
        int components = 0;
        for (int mu = 0; mu < Nd; ++mu) components += kept[mu].field()->components();
        CHECK(components == (*two_rows == '1' ? words : 72));
        return out;
      };
      const auto same = [&]<class F>(const F& psi) { return toDouble(norm2(apply(psi, "1") - apply(psi, "0"))) == 0; };
      const LatticeFermion psi = tests::random_fermion();
      CHECK(same(LatticeFermionD(psi)));
      CHECK(same(LatticeFermionF(psi)));
      const LatticeFermion hop = apply(psi, "1"), textbook = plain_wilson(u, p, psi) - Real(p.diagonal()) * psi;
      CHECK(tests::relative(hop, textbook) < base_tol(1e-13));
    }
}

TEST_CASE("Wilson: adjoint, gamma5-hermiticity, gauge covariance and derivatives, every preconditioning") {
  tests::use_lattice({4, 4, 4, 4});
  for (const WilsonParameters& p : kBoth) {
    const tests::Dirac d = wilson(tests::random_field(), p);
    tests::check_adjoint(d);
    tests::check_gamma5_hermiticity(d, d);
    const auto make = [&](const GaugeField& u) { return wilson(u, p); };
    tests::check_gauge_covariance(make);
    tests::check_operator_derivatives(make);
  }
}

TEST_CASE("Wilson: normal() is M^+ M and has its energy, for fields on even sites too") {
  tests::use_lattice({4, 4, 4, 4});
  const tests::Dirac d = wilson(tests::random_field(), kIsotropic);
  const LatticeFermion x = tests::random_fermion();
  for (Preconditioning preconditioning : {Preconditioning::none, Preconditioning::even_odd,
                                          Preconditioning::symmetric_even_odd, Preconditioning::even_source}) {
    const auto m = make_preconditioned(d, preconditioning);
    LatticeFermion mx, mmx, normal;
    m->apply(mx, x, Sign::plus);
    m->apply(mmx, mx, Sign::minus);
    PendingReal energy;
    normal[m->domain()] = m->normal(x, &energy);
    CHECK(tests::relative(normal, mmx, m->domain()) < base_tol(1e-14));
    CHECK(energy.get() == doctest::Approx(toDouble(norm2(mx, m->range()))).epsilon(base_tol(1e-14)));
  }
}

TEST_CASE("Wilson: the operator restricted to one parity solves the full system") {
  tests::use_lattice({4, 4, 4, 4});
  const tests::Dirac d = wilson(tests::random_field(), kAnisotropic);
  const LatticeFermion psi = tests::random_fermion(), chi = tests::applied(d, Preconditioning::none, psi);
  for (Preconditioning preconditioning : {Preconditioning::even_odd, Preconditioning::symmetric_even_odd}) {
    const SchurSystem<LatticeFermion> schur(d, preconditioning);
    LatticeFermion b;
    schur.op().apply(b, psi, Sign::plus);  // psi's odd part is the solution of M x = b
    CHECK(tests::relative(b, schur.prepare(chi), rb[1]) < base_tol(1e-13));
    CHECK(tests::relative(schur.reconstruct(psi, chi), psi) < base_tol(1e-13));
  }
  CHECK_THROWS_AS(SchurSystem<LatticeFermion>(d, Preconditioning::even_source), ShapeError);
}

TEST_CASE(
    "Wilson: at every site the components of 2 kappa D, its square, and D^+ D have the traces of any SU(3) field") {
  tests::use_lattice({4, 4, 4, 4});
  const double kappa = 0.13;
  const tests::Dirac d = wilson(tests::random_field(), {.mass = 1 / (2 * kappa) - 4});
  double of_d = 0, of_square = 0, of_normal = 0;
  for (int s = 0; s < Ns; ++s)
    for (int c = 0; c < Nc; ++c) {
      const LatticeFermion e = tests::unit_fermion(s, c);
      const LatticeFermion de = tests::applied(d, Preconditioning::none, e);
      of_d += toDouble(innerProductReal(e, de)) * 2 * kappa;
      of_square += toDouble(innerProductReal(e, tests::applied(d, Preconditioning::none, de))) * 4 * kappa * kappa;
      of_normal += toDouble(norm2(de)) * 4 * kappa * kappa;
    }
  CHECK(of_d == doctest::Approx(12).epsilon(base_tol(1e-13)));
  CHECK(of_square == doctest::Approx(12).epsilon(base_tol(1e-13)));
  CHECK(of_normal == doctest::Approx(12 * (1 + 16 * kappa * kappa)).epsilon(base_tol(1e-13)));
}

TEST_CASE("Wilson: free dispersion, D(p) = m + sum (1 - cos p) + i sum gamma sin p") {
  tests::use_lattice({4, 6, 2, 8});
  GaugeField u(Nd);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = 1.0;
  const int momentum[] = {1, 2, 1, 3};
  double p[Nd];
  LatticeReal phase = zero;
  for (int mu = 0; mu < Nd; ++mu) {
    p[mu] = 2 * 3.14159265358979323846 * momentum[mu] / Layout::lattSize()[mu];
    phase += Real(p[mu]) * Layout::latticeCoordinate(mu);
  }
  Fermion chi;
  gaussian(chi);
  const LatticeFermion wave = cmplx(cos(phase), sin(phase)) * chi;
  for (const WilsonParameters& w : {kIsotropic, kAnisotropic}) {
    double scalar = w.mass;
    LatticeFermion expected = zero;
    for (int mu = 0; mu < Nd; ++mu) {
      scalar += w.aniso.factor(mu) * (1 - std::cos(p[mu]));
      expected += Real(w.aniso.factor(mu) * std::sin(p[mu])) * timesI(Gamma(1 << mu) * wave);
    }
    expected += Real(scalar) * wave;
    CHECK(tests::relative(tests::applied(wilson(u, w), Preconditioning::none, wave), expected) < base_tol(1e-14));
  }
}

TEST_CASE("Wilson: single precision agrees with double") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const auto m = make_preconditioned<LatticeFermionF>(
      std::make_shared<WilsonOperator<LatticeFermionF>>(converted_links<LinksOf<LatticeFermionF>>(u), kIsotropic),
      Preconditioning::even_odd);
  LatticeFermionF out;
  m->apply(out, LatticeFermionF(psi), Sign::plus);
  const LatticeFermion exact = tests::applied(wilson(u, kIsotropic), Preconditioning::even_odd, psi);
  CHECK(tests::relative(LatticeFermion(out), exact, rb[1]) < 1e-6);
}

TEST_CASE("Wilson: wrong use says what is wrong") {
  tests::use_lattice({4, 4, 4, 4});
  CHECK_THROWS_AS(wilson(tests::random_field(), {.mass = -4}), ShapeError);
  CHECK_THROWS_AS(wilson(GaugeField(2), kIsotropic), ShapeError);
}
