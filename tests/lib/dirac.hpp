// What the tests of Dirac operators share: identities that every operator satisfies, and derivatives by differences.
#pragma once

#include "lib/dirac/preconditioned.hpp"
#include "lib/gauge/su3.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace tests {

using Dirac = std::shared_ptr<const qcd::DiracOperator<QDP::LatticeFermion>>;

constexpr qcd::Preconditioning kSchurForms[] = {qcd::Preconditioning::none, qcd::Preconditioning::even_odd,
                                                qcd::Preconditioning::symmetric_even_odd};

inline QDP::LatticeFermion random_fermion() {
  QDP::LatticeFermion psi;
  QDP::gaussian(psi);
  return psi;
}

/// One at spin s and colour c of the site (1, 1, 1, 1), nought elsewhere.
inline QDP::LatticeFermion unit_fermion(int s, int c) {
  QDP::multi1d<int> site(QDP::Nd);
  site = 1;
  QDP::ColorVector color = QDP::zero;
  QDP::Fermion unit = QDP::zero;
  pokeColor(color, QDP::Complex(1.0), c);
  pokeSpin(unit, color, s);
  QDP::LatticeFermion e = QDP::zero;
  pokeSite(e, unit, site);
  return e;
}

/// |a - b| / |b|.
inline double relative(const QDP::LatticeFermion& a, const QDP::LatticeFermion& b, const QDP::Subset& s = QDP::all) {
  return std::sqrt(QDP::toDouble(QDP::norm2(a - b, s)) / QDP::toDouble(QDP::norm2(b, s)));
}

inline QDP::LatticeFermion applied(const Dirac& d, qcd::Preconditioning preconditioning, const QDP::LatticeFermion& psi,
                                   qcd::Sign sign = qcd::Sign::plus) {
  QDP::LatticeFermion out;
  qcd::make_preconditioned(d, preconditioning)->apply(out, psi, sign);
  return out;
}

/// <y, M x> = <M^+ y, x> for every M of D.
inline void check_adjoint(const Dirac& d) {
  const QDP::LatticeFermion x = random_fermion(), y = random_fermion();
  for (qcd::Preconditioning preconditioning : kSchurForms) {
    CAPTURE(static_cast<int>(preconditioning));
    const QDP::Subset& sites = qcd::make_preconditioned(d, preconditioning)->domain();
    const QDP::DComplex left = innerProduct(y, applied(d, preconditioning, x), sites);
    const QDP::DComplex right = innerProduct(applied(d, preconditioning, y, qcd::Sign::minus), x, sites);
    CHECK(QDP::toDouble(real(left)) == doctest::Approx(QDP::toDouble(real(right))).epsilon(base_tol(1e-12)));
    CHECK(QDP::toDouble(imag(left)) == doctest::Approx(QDP::toDouble(imag(right))).epsilon(base_tol(1e-12)));
  }
}

/// gamma_5 M gamma_5 = M'^+ for D and its partner D' (D itself without a twisted mass). Not for the symmetric form,
/// where A_oo^-1 then stands on the other side.
inline void check_gamma5_hermiticity(const Dirac& d, const Dirac& partner) {
  const QDP::Gamma g5(QDP::Ns * QDP::Ns - 1);
  const QDP::LatticeFermion x = random_fermion(), g5x = g5 * x;
  for (qcd::Preconditioning preconditioning : {qcd::Preconditioning::none, qcd::Preconditioning::even_odd}) {
    CAPTURE(static_cast<int>(preconditioning));
    const QDP::LatticeFermion left = g5 * applied(d, preconditioning, g5x);
    const QDP::Subset& sites = qcd::make_preconditioned(d, preconditioning)->domain();
    CHECK(relative(left, applied(partner, preconditioning, x, qcd::Sign::minus), sites) < base_tol(1e-13));
  }
}

/// D[gauge transformed] g psi = g D psi.
inline void check_gauge_covariance(const std::function<Dirac(const GaugeField&)>& make) {
  const GaugeField u = random_field();
  QDP::LatticeColorMatrix g;
  const GaugeField v = gauge_transformed(u, g);
  const QDP::LatticeFermion psi = random_fermion(), turned = g * psi;
  for (qcd::Preconditioning preconditioning : kSchurForms) {
    CAPTURE(static_cast<int>(preconditioning));
    const QDP::LatticeFermion there = applied(make(v), preconditioning, turned);
    const QDP::LatticeFermion here = g * applied(make(u), preconditioning, psi);
    CHECK(relative(there, here, qcd::make_preconditioned(make(u), preconditioning)->domain()) < base_tol(1e-13));
  }
}

/// `derivative` is the derivative (conv. 9) of `value` at u: along random directions, against differences of fourth
/// order.
inline void check_derivative(const std::function<double(const GaugeField&)>& value, const GaugeField& derivative,
                             const GaugeField& u, double tolerance = 1e-8) {
  TESSERA_NEEDS_DOUBLES("finite differences");
  const auto moved = [&](const GaugeField& x, double t) {
    GaugeField v(QDP::Nd);
    for (int mu = 0; mu < QDP::Nd; ++mu) v[mu] = qcd::su3_exp(QDP::Real(t) * x[mu]) * u[mu];
    return v;
  };
  for (int direction = 0; direction < 2; ++direction) {
    const GaugeField x = random_algebra();
    double exact = 0;
    for (int mu = 0; mu < QDP::Nd; ++mu) exact += 2 * QDP::toDouble(sum(real(trace(x[mu] * u[mu] * derivative[mu]))));
    const double h = 1e-3;
    const double difference =
        (8 * (value(moved(x, h)) - value(moved(x, -h))) - (value(moved(x, 2 * h)) - value(moved(x, -2 * h)))) /
        (12 * h);
    CHECK(difference == doctest::Approx(exact).epsilon(tolerance));
  }
}

inline GaugeField no_derivative() {
  GaugeField g(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) g[mu] = QDP::zero;
  return g;
}

/// add_derivative() of every M of D; add_normal_derivative() is a sum of those.
inline void check_operator_derivatives(const std::function<Dirac(const GaugeField&)>& make) {
  const GaugeField u = random_field();
  const QDP::LatticeFermion x = random_fermion(), y = random_fermion();
  for (qcd::Preconditioning preconditioning : kSchurForms) {
    CAPTURE(static_cast<int>(preconditioning));
    const double weight = 0.7;
    const auto value = [&](const GaugeField& v) {
      const auto m = qcd::make_preconditioned(make(v), preconditioning);
      QDP::LatticeFermion mx;
      m->apply(mx, x, qcd::Sign::plus);
      return weight * 2 * QDP::toDouble(innerProductReal(y, mx, m->range()));
    };
    GaugeField g = no_derivative();
    qcd::make_preconditioned(make(u), preconditioning)->add_derivative(g, y, x, weight);
    check_derivative(value, g, u);

    const std::vector<QDP::LatticeFermion> pairs = {x, y};
    const std::vector<double> weights = {0.7, -1.1};
    GaugeField together = no_derivative(), one_by_one = no_derivative();
    const auto m = qcd::make_preconditioned(make(u), preconditioning);
    m->add_normal_derivative(together, pairs, weights);
    for (std::size_t k : {0, 1})
      m->add_derivative(one_by_one, applied(make(u), preconditioning, pairs[k]), pairs[k], weights[k]);
    CHECK(distance(together, one_by_one) < base_tol(1e-13) * std::sqrt(inner(one_by_one, one_by_one)));
  }
}

/// add_log_det_derivative(), on even sites and on all.
inline void check_log_det_derivative(const std::function<Dirac(const GaugeField&)>& make) {
  const GaugeField u = random_field();
  for (const bool even_only : {true, false}) {
    const QDP::Subset& sites = even_only ? QDP::rb[0] : QDP::all;
    GaugeField g = no_derivative();
    make(u)->add_log_det_derivative(g, sites, 0.7);
    check_derivative([&](const GaugeField& v) { return 0.7 * QDP::toDouble(make(v)->log_det_diagonal(sites)); }, g, u);
  }
}

}  // namespace tests
