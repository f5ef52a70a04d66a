#include "lib/solver/dense.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qcd {

Matrix Matrix::identity(std::size_t n) {
  Matrix one(n, n);
  for (std::size_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  if (a.columns() != b.rows())
    throw ShapeError("matrix product: expected as many columns on the left as rows on the right, got " +
                     std::to_string(a.columns()) + " and " + std::to_string(b.rows()));
  Matrix c(a.rows(), b.columns());
  for (std::size_t j = 0; j < b.columns(); ++j)
    for (std::size_t k = 0; k < a.columns(); ++k)
      for (std::size_t i = 0; i < a.rows(); ++i) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Matrix adjoint(const Matrix& a) {
  Matrix b(a.columns(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) b(j, i) = std::conj(a(i, j));
  return b;
}

// A rotation in the plane (p, q) that makes h(p, q) nought: with h(p, q) = |h| e^(i phi),
// column p <- c col_p - s e^(-i phi) col_q, column q <- s e^(i phi) col_p + c col_q, tan 2 theta = 2|h| / (h_qq -
// h_pp).
Eigensystem eigensystem(Matrix h) {
  const std::size_t n = h.rows();
  if (h.columns() != n) throw ShapeError("eigensystem: expected a square matrix");
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) scale += std::norm(h(i, j));
  if (!std::isfinite(scale)) throw NumericsError("eigensystem: expected finite matrix elements");

  Matrix v = Matrix::identity(n);
  const double negligible = 1e-34 * scale;
  constexpr int kSweeps = 60;  // convergence is quadratic: fewer than ten are needed
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off_diagonal = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double size = std::abs(h(p, q));
        if (size * size <= negligible) continue;
        off_diagonal += size * size;
        const double tau = (h(q, q).real() - h(p, p).real()) / (2 * size);
        const double t = std::copysign(1.0, tau) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t);
        const HostComplex s = t * c * (h(p, q) / size);
        const auto rotate = [&](HostComplex& at_p, HostComplex& at_q, HostComplex sine) {
          const HostComplex old = at_p;
          at_p = c * old - std::conj(sine) * at_q;
          at_q = sine * old + c * at_q;
        };
        for (std::size_t i = 0; i < n; ++i) rotate(h(i, p), h(i, q), s);
        for (std::size_t i = 0; i < n; ++i) rotate(h(p, i), h(q, i), std::conj(s));
        for (std::size_t i = 0; i < n; ++i) rotate(v(i, p), v(i, q), s);
      }
    if (off_diagonal == 0) break;
  }

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return h(a, a).real() < h(b, b).real(); });
  Eigensystem result{{}, Matrix(n, n)};
  for (std::size_t j = 0; j < n; ++j) {
    result.values.push_back(h(order[j], order[j]).real());
    for (std::size_t i = 0; i < n; ++i) result.vectors(i, j) = v(i, order[j]);
  }
  return result;
}

Matrix pseudo_inverse(const Matrix& h, double cutoff) {
  const Eigensystem e = eigensystem(h);
  const std::size_t n = h.rows();
  Matrix scaled = e.vectors;
  for (std::size_t j = 0; j < n; ++j) {
    const double factor = e.values[j] > cutoff * e.values.back() ? 1 / e.values[j] : 0;
    for (std::size_t i = 0; i < n; ++i) scaled(i, j) *= factor;
  }
  return scaled * adjoint(e.vectors);
}

}  // namespace qcd
