// What the tests of the solvers share: operators with a known matrix, dense reference solutions, right-hand sides.
#pragma once

#include "lib/dirac/preconditioned.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/solver/solver.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/lib/sites.hpp"

#include <cmath>
#include <complex>
#include <vector>

namespace tests {

using Complex = std::complex<double>;

/// Links in F's precision.
template <class F>
qcd::LinksOf<F> random_links() {
  return qcd::converted_links<qcd::LinksOf<F>>(random_field());
}

/// M = mass + sum_mu [ a V_mu psi(x+mu) + b V_mu^+ psi(x-mu) ] on all sites: not Hermitian unless a = b.
template <class F>
class HoppingOperator : public qcd::FermionOperator<F> {
 public:
  HoppingOperator(qcd::LinksOf<F> v, double mass, double a, double b) : v_(std::move(v)), mass_(mass), a_(a), b_(b) {}
  const QDP::Subset& domain() const override { return QDP::all; }
  void apply(F& out, const F& in, qcd::Sign sign) const override {
    const bool plus = sign == qcd::Sign::plus;
    const qcd::RealOf<F> forward = plus ? a_ : b_, backward = plus ? b_ : a_;
    qcd::FermionExpr<F> sum = qcd::RealOf<F>(mass_) * in;
    for (int mu = 0; mu < QDP::Nd; ++mu)
      sum = sum + (forward * (v_[mu] * QDP::shift(in, FORWARD, mu)) +
                   backward * QDP::shift(QDP::adj(v_[mu]) * in, BACKWARD, mu));
    out = sum;
  }
  void add_derivative(qcd::LinksOf<F>&, const F&, const F&, double) const override {}
  double flops() const override { return 0; }

 private:
  qcd::LinksOf<F> v_;
  double mass_, a_, b_;
};

/// Another operator, and how often it was applied. Each application counts as so many operations that those of vectors are
/// nothing beside them.
template <class F>
class CountedOperator : public qcd::FermionOperator<F> {
 public:
  static constexpr double kFlops = 0x1p50;

  explicit CountedOperator(const qcd::FermionOperator<F>& m) : m_(m) {}
  const QDP::Subset& domain() const override { return m_.domain(); }
  void apply(F& out, const F& in, qcd::Sign sign) const override {
    m_.apply(out, in, sign);
    ++applications_;
  }
  void add_derivative(qcd::LinksOf<F>&, const F&, const F&, double) const override {}
  double flops() const override { return kFlops; }
  long applications() const { return applications_; }

 private:
  const qcd::FermionOperator<F>& m_;
  mutable long applications_ = 0;
};

/// An operator and its partners for inner iterations, counted.
template <class F>
struct CountedSystem {
  CountedOperator<F> m;
  CountedOperator<qcd::Single<F>> single, half;

  explicit CountedSystem(const qcd::SystemOperator<F>& system)
      : m(system.m), single(system.single()), half(system.half()) {}
  qcd::SystemOperator<F> system() const {
    return {m, [this]() -> const qcd::FermionOperator<qcd::Single<F>>& { return single; },
            [this]() -> const qcd::FermionOperator<qcd::Single<F>>& { return half; }};
  }
  long applications() const { return m.applications() + inner_applications(); }
  long inner_applications() const { return single.applications() + half.applications(); }
  /// Of the flops that solves report.
  static long applications_in(double flops) { return static_cast<long>(flops / CountedOperator<F>::kFlops); }
};

/// The Wilson operator on odd sites.
template <class F>
std::unique_ptr<qcd::FermionOperator<F>> even_odd_wilson(const qcd::LinksOf<F>& v, double kappa, bool in_half = false) {
  const auto d = std::make_shared<qcd::WilsonOperator<F>>(v, qcd::WilsonParameters{.mass = 1 / (2 * kappa) - QDP::Nd});
  if (in_half) d->keep_in_half();
  return qcd::make_preconditioned<F>(d, qcd::Preconditioning::even_odd);
}

/// Gaussian on the operator's domain, nought elsewhere.
template <class F>
F random_vector(const QDP::Subset& sites) {
  F x = QDP::zero;
  QDP::gaussian(x, sites);
  return x;
}

/// The components on `sites` as complex numbers.
template <class F>
std::vector<Complex> components(const F& x, const QDP::Subset& sites) {
  using Word = typename QDP::WordType<F>::Type_t;
  constexpr int n = QDP::NumSpins<F>::value * QDP::NumColors<F>::value;
  std::vector<Complex> values;
  const auto all = reference::whole(x);
  for (const int number : numbers_in(sites)) {
    const Word* word = reinterpret_cast<const Word*>(&all[static_cast<std::size_t>(number)]);
    for (int c = 0; c < n; ++c) values.emplace_back(word[2 * c], word[2 * c + 1]);
  }
  return values;
}

/// Full matrix of M, or M^+, on its domain: column j is the image of unit vector j.
template <class F>
std::vector<std::vector<Complex>> dense_columns(const qcd::LinearOperator<F>& m, qcd::Sign sign = qcd::Sign::plus) {
  using Word = typename QDP::WordType<F>::Type_t;
  constexpr int n = QDP::NumSpins<F>::value * QDP::NumColors<F>::value;
  const QDP::Subset& s = m.domain();
  std::vector<std::vector<Complex>> columns;
  for (const int number : numbers_in(s))
    for (int c = 0; c < n; ++c) {
      F unit = QDP::zero, image = QDP::zero;
      if (const int here = index_here(number); here >= 0) reinterpret_cast<Word*>(&unit.elem(here))[2 * c] = 1;
      m.apply(image, unit, sign);
      columns.push_back(components(image, s));
    }
  return columns;
}

/// Solves (A + shift) x = b by Gaussian elimination with pivots; `columns` holds A.
inline std::vector<Complex> dense_solution(std::vector<std::vector<Complex>> columns, std::vector<Complex> b,
                                           double shift = 0) {
  const std::size_t n = b.size();
  std::vector<std::vector<Complex>> a(n, std::vector<Complex>(n));  // rows
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i][j] = columns[j][i] + (i == j ? shift : 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Complex factor = a[i][k] / a[k][k];
      if (factor == 0.0) continue;
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// The matrix of M^+ M from that of M, given as columns.
inline std::vector<std::vector<Complex>> dense_normal(const std::vector<std::vector<Complex>>& m) {
  const std::size_t n = m.size();
  std::vector<std::vector<Complex>> a(n, std::vector<Complex>(n));
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < m[j].size(); ++k) a[j][i] += std::conj(m[i][k]) * m[j][k];
  return a;
}

/// |x - y| / |y|.
inline double relative_distance(const std::vector<Complex>& x, const std::vector<Complex>& y) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    difference += std::norm(x[i] - y[i]);
    size += std::norm(y[i]);
  }
  return std::sqrt(difference / size);
}

/// |b - M x| / |b| of M, M^+, or M^+ M + shift, computed here.
template <class F>
double direct_residual(const qcd::LinearOperator<F>& m, const F& x, const F& b, qcd::Sign sign = qcd::Sign::plus) {
  const QDP::Subset& s = m.domain();
  F r = QDP::zero;
  m.apply(r, x, sign);
  r[s] -= b;
  return std::sqrt(QDP::toDouble(QDP::norm2(r, s)) / QDP::toDouble(QDP::norm2(b, s)));
}
template <class F>
double normal_residual(const qcd::LinearOperator<F>& m, const F& x, const F& b, double shift = 0) {
  const QDP::Subset& s = m.domain();
  F half = QDP::zero, r = QDP::zero;
  m.apply(half, x, qcd::Sign::plus);
  m.apply(r, half, qcd::Sign::minus);
  r[s] += qcd::RealOf<F>(shift) * x - b;
  return std::sqrt(QDP::toDouble(QDP::norm2(r, s)) / QDP::toDouble(QDP::norm2(b, s)));
}

}  // namespace tests
