// The Wilson operator and its preconditioned forms against their definitions, traces, and finite differences.
#include "lib/dirac/preconditioned.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/gauge/link_map.hpp"
#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;

namespace {

GaugeField moved(const GaugeField& u, const GaugeField& x, double t) {
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) v[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
  return v;
}

/// D psi written with full spin matrices, as the textbook does.
LatticeFermion plain_wilson(const GaugeField& u, const WilsonParameters& p, const LatticeFermion& psi) {
  LatticeFermion out = Real(p.diagonal()) * psi;
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeFermion ahead = u[mu] * shift(psi, FORWARD, mu);
    const LatticeFermion behind = shift(adj(u[mu]) * psi, BACKWARD, mu);
    out -= Real(0.5 * p.aniso.factor(mu)) *
           (ahead - Gamma(1 << mu) * ahead + behind + Gamma(1 << mu) * behind);
  }
  return out;
}

double relative(const LatticeFermion& a, const LatticeFermion& b, const Subset& s = all) {
  return std::sqrt(toDouble(norm2(a - b, s)) / toDouble(norm2(b, s)));
}

const WilsonParameters kIsotropic{.mass = 0.1};
const WilsonParameters kAnisotropic{.mass = 0.05, .aniso = {.on = true, .t_dir = 3, .xi_0 = 2.464, .nu = 0.95}};

std::shared_ptr<const DiracOperator<LatticeFermion>> wilson(const GaugeField& u, const WilsonParameters& p) {
  return std::make_shared<WilsonOperator<LatticeFermion>>(u, p);
}

constexpr Preconditioning kAll[] = {Preconditioning::none, Preconditioning::even_odd,
                                    Preconditioning::symmetric_even_odd, Preconditioning::even_source};

}  // namespace

TEST_CASE("Wilson: the half-spinor form equals the textbook's") {
  tests::use_lattice({4, 4, 4, 8});
  const GaugeField u = tests::random_field();
  LatticeFermion psi, out;
  gaussian(psi);
  for (const WilsonParameters& p : {kIsotropic, kAnisotropic}) {
    make_preconditioned(wilson(u, p), Preconditioning::none)->apply(out, psi, Sign::plus);
    CHECK(relative(out, plain_wilson(u, p, psi)) < 1e-14);
  }
}

TEST_CASE("Wilson: adjoint, gamma5-hermiticity and the normal operator, every preconditioning") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  for (const WilsonParameters& p : {kIsotropic, kAnisotropic})
    for (Preconditioning preconditioning : kAll) {
      const auto m = make_preconditioned(wilson(u, p), preconditioning);
      LatticeFermion x, y, mx, my, mmx, normal;
      gaussian(x);
      gaussian(y);
      m->apply(mx, x, Sign::plus);
      m->apply(my, y, Sign::minus);
      const DComplex left = innerProduct(y, mx, m->range()), right = innerProduct(my, x, m->domain());
      CHECK(toDouble(real(left)) == doctest::Approx(toDouble(real(right))).epsilon(1e-12));
      CHECK(toDouble(imag(left)) == doctest::Approx(toDouble(imag(right))).epsilon(1e-12));
      m->apply(mmx, mx, Sign::minus);
      m->apply_normal(normal, x);
      CHECK(relative(normal, mmx, m->domain()) < 1e-14);
      if (preconditioning == Preconditioning::even_source) continue;
      const LatticeFermion g5x = Gamma(15) * x;
      LatticeFermion m5, m_dagger;
      m->apply(m5, g5x, Sign::plus);
      m->apply(m_dagger, x, Sign::minus);
      CHECK(relative(Gamma(15) * m5, m_dagger, m->domain()) < 1e-13);
    }
}

TEST_CASE("Wilson: the operator restricted to one parity solves the full system") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  for (Preconditioning preconditioning : {Preconditioning::even_odd, Preconditioning::symmetric_even_odd}) {
    const auto d = wilson(u, kAnisotropic);
    const SchurSystem<LatticeFermion> schur(d, preconditioning);
    LatticeFermion psi, chi, b;
    gaussian(psi);
    make_preconditioned(d, Preconditioning::none)->apply(chi, psi, Sign::plus);
    schur.op().apply(b, psi, Sign::plus);  // psi's odd part is the solution of M x = b
    CHECK(relative(b, schur.prepare(chi), rb[1]) < 1e-13);
    CHECK(relative(schur.reconstruct(psi, chi), psi) < 1e-13);
  }
  CHECK_THROWS_AS(SchurSystem<LatticeFermion>(wilson(u, kIsotropic), Preconditioning::even_source), ShapeError);
}

TEST_CASE("Wilson: traces that hold on any SU(3) field") {
  tests::use_lattice({4, 4, 4, 4});
  // One stochastic estimate cannot give them to rounding; unit vectors on one site do: sum over the 12 components of
  // |D e|^2 at one site is 12 (1 + 16 kappa^2) on average over the sites, in fact at every site.
  const double kappa = 0.13;
  const auto m = make_preconditioned(wilson(tests::random_field(), {.mass = 1 / (2 * kappa) - 4}), Preconditioning::none);
  double sum = 0;
  multi1d<int> site(Nd);
  site = 1;
  for (int s = 0; s < Ns; ++s)
    for (int c = 0; c < Nc; ++c) {
      ColorVector color = zero;
      Fermion unit = zero;
      pokeColor(color, Complex(1.0), c);
      pokeSpin(unit, color, s);
      LatticeFermion e = zero, de;
      pokeSite(e, unit, site);
      m->apply(de, e, Sign::plus);
      sum += toDouble(norm2(de)) * 4 * kappa * kappa;
    }
  CHECK(sum == doctest::Approx(12 * (1 + 16 * kappa * kappa)).epsilon(1e-13));
}

TEST_CASE("Wilson: the derivative of every preconditioned operator agrees with finite differences") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  LatticeFermion x, y;
  gaussian(x);
  gaussian(y);
  for (const WilsonParameters& p : {kIsotropic, kAnisotropic})
    for (Preconditioning preconditioning : kAll) {
      const auto value = [&](const GaugeField& v) {
        const auto m = make_preconditioned(wilson(v, p), preconditioning);
        LatticeFermion mx;
        m->apply(mx, x, Sign::plus);
        return 2 * toDouble(innerProductReal(y, mx, m->range()));
      };
      GaugeField g(Nd);
      for (int mu = 0; mu < Nd; ++mu) g[mu] = zero;
      make_preconditioned(wilson(u, p), preconditioning)->add_derivative(g, y, x, 1);
      for (int direction = 0; direction < 3; ++direction) {
        const GaugeField t = tests::random_algebra();
        double exact = 0;
        for (int mu = 0; mu < Nd; ++mu) exact += 2 * toDouble(sum(real(trace(t[mu] * u[mu] * g[mu]))));
        const double h = 1e-3;
        const double difference = (8 * (value(moved(u, t, h)) - value(moved(u, t, -h))) -
                                   (value(moved(u, t, 2 * h)) - value(moved(u, t, -2 * h)))) / (12 * h);
        CHECK(difference == doctest::Approx(exact).epsilon(1e-8));
      }
    }
}

TEST_CASE("Wilson: single precision agrees with double") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const auto uf = converted_links<LinksOf<LatticeFermionF>>(u);
  LatticeFermion psi, out;
  gaussian(psi);
  LatticeFermionF psi_f = psi, out_f;
  const auto m = make_preconditioned(wilson(u, kIsotropic), Preconditioning::even_odd);
  const auto m_f = make_preconditioned<LatticeFermionF>(
      std::make_shared<WilsonOperator<LatticeFermionF>>(uf, kIsotropic), Preconditioning::even_odd);
  m->apply(out, psi, Sign::plus);
  m_f->apply(out_f, psi_f, Sign::plus);
  CHECK(relative(LatticeFermion(out_f), out, rb[1]) < 1e-6);
}

TEST_CASE("Wilson: wrong use says what is wrong") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  CHECK_THROWS_AS(wilson(u, {.mass = -4}), ShapeError);
  GaugeField few(2);
  CHECK_THROWS_AS(wilson(few, kIsotropic), ShapeError);
}
