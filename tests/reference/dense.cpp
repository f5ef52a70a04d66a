#include "tests/reference/dense.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace reference {

namespace {

/// x - f y for complex numbers, without the rescue of infinities that std::complex makes slow.
void subtract(Complex& x, const Complex& f, const Complex& y) {
  x = {x.real() - (f.real() * y.real() - f.imag() * y.imag()), x.imag() - (f.real() * y.imag() + f.imag() * y.real())};
}

void require(bool shapes) {
  if (!shapes) throw std::invalid_argument("reference::Dense: shapes that do not fit");
}

/// Gaussian elimination of A with B beside it; returns ln |det A|. B becomes U's right-hand side.
double eliminate(Dense& a, Dense& b) {
  require(a.rows() == a.cols() && a.rows() == b.rows());
  const int n = a.rows();
  double log_det = 0;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::norm(a(i, k)) > std::norm(a(pivot, k))) pivot = i;
    for (int j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    for (int j = 0; j < b.cols(); ++j) std::swap(b(k, j), b(pivot, j));
    log_det += std::log(std::abs(a(k, k)));
    for (int i = k + 1; i < n; ++i) {
      const Complex f = a(i, k) / a(k, k);
      if (f == 0.0) continue;
      for (int j = k; j < n; ++j) subtract(a(i, j), f, a(k, j));
      for (int j = 0; j < b.cols(); ++j) subtract(b(i, j), f, b(k, j));
    }
  }
  return log_det;
}

/// Eigenvalues of a Hermitian matrix on the diagonal of A; the columns of V become the eigenvectors.
void diagonalise(Dense& a, Dense& v) {
  const int n = a.rows();
  v = Dense::identity(n);
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) (i == j ? all : off) += std::norm(a(i, j));
    if (off <= 1e-30 * all) return;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double size = std::abs(a(p, q));
        if (size == 0) continue;
        // Columns p and q times {{c, s e}, {-s e*, c}} with e the phase of a_pq; tan 2 theta = 2 |a_pq| / (a_qq - a_pp).
        const Complex e = a(p, q) / size;
        const double tau = (a(q, q).real() - a(p, p).real()) / (2 * size);
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        const auto turn = [&](Complex& x, Complex& y, const Complex& phase) {
          const Complex xp = x, yp = y;
          x = c * xp;
          subtract(x, s * std::conj(phase), yp);
          y = c * yp;
          subtract(y, -s * phase, xp);
        };
        for (int k = 0; k < n; ++k) turn(a(k, p), a(k, q), e);
        for (int k = 0; k < n; ++k) turn(a(p, k), a(q, k), std::conj(e));
        for (int k = 0; k < n; ++k) turn(v(k, p), v(k, q), e);
      }
  }
  throw std::runtime_error("reference::diagonalise: no convergence");
}

}  // namespace

Dense Dense::identity(int n) {
  Dense one(n, n);
  for (int i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

Dense Dense::adjoint() const {
  Dense b(cols_, rows_);
  for (int i = 0; i < rows_; ++i)
    for (int j = 0; j < cols_; ++j) b(j, i) = std::conj((*this)(i, j));
  return b;
}

Dense Dense::block(const std::vector<int>& rows, const std::vector<int>& cols) const {
  Dense b(static_cast<int>(rows.size()), static_cast<int>(cols.size()));
  for (int i = 0; i < b.rows(); ++i)
    for (int j = 0; j < b.cols(); ++j)
      b(i, j) = (*this)(rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]);
  return b;
}

Dense operator+(Dense a, const Dense& b) {
  require(a.rows() == b.rows() && a.cols() == b.cols());
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.cols(); ++j) a(i, j) += b(i, j);
  return a;
}

Dense operator-(Dense a, const Dense& b) { return std::move(a) + Complex(-1) * b; }

Dense operator*(const Dense& a, const Dense& b) {
  require(a.cols() == b.rows());
  Dense c(a.rows(), b.cols());
  for (int i = 0; i < a.rows(); ++i)
    for (int k = 0; k < a.cols(); ++k) {
      const Complex f = -a(i, k);
      if (f == 0.0) continue;
      for (int j = 0; j < b.cols(); ++j) subtract(c(i, j), f, b(k, j));
    }
  return c;
}

Dense operator*(Complex s, Dense a) {
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.cols(); ++j) a(i, j) *= s;
  return a;
}

Vector operator*(const Dense& a, const Vector& x) {
  require(a.cols() == static_cast<int>(x.size()));
  Vector y(static_cast<std::size_t>(a.rows()));
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.cols(); ++j) y[static_cast<std::size_t>(i)] += a(i, j) * x[static_cast<std::size_t>(j)];
  return y;
}

Complex dot(const Vector& x, const Vector& y) {
  require(x.size() == y.size());
  Complex sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}

Dense solve(Dense a, Dense b) {
  eliminate(a, b);
  for (int i = a.rows() - 1; i >= 0; --i)
    for (int j = 0; j < b.cols(); ++j) {
      for (int k = i + 1; k < a.rows(); ++k) subtract(b(i, j), a(i, k), b(k, j));
      b(i, j) /= a(i, i);
    }
  return b;
}

Vector solve(const Dense& a, const Vector& b) {
  Dense column(static_cast<int>(b.size()), 1);
  for (std::size_t i = 0; i < b.size(); ++i) column(static_cast<int>(i), 0) = b[i];
  column = solve(a, std::move(column));
  Vector x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) x[i] = column(static_cast<int>(i), 0);
  return x;
}

double log_abs_det(Dense a) {
  Dense none(a.rows(), 0);
  return eliminate(a, none);
}

Dense power(const Dense& a, double p) {
  Dense values = a, v;
  diagonalise(values, v);
  Dense scaled = v;
  for (int i = 0; i < v.rows(); ++i)
    for (int j = 0; j < v.cols(); ++j) scaled(i, j) *= std::pow(values(j, j).real(), p);
  return scaled * v.adjoint();
}

std::pair<double, double> extreme_eigenvalues(const Dense& a) {
  Dense values = a, v;
  diagonalise(values, v);
  std::pair<double, double> ends(values(0, 0).real(), values(0, 0).real());
  for (int i = 1; i < a.rows(); ++i) {
    ends.first = std::min(ends.first, values(i, i).real());
    ends.second = std::max(ends.second, values(i, i).real());
  }
  return ends;
}

}  // namespace reference
