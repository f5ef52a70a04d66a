#include "lib/solver/block_cg.hpp"

#include "lib/solver/cg.hpp"
#include "lib/solver/iteration.hpp"

#include <utility>

namespace qcd {

using namespace QDP;

namespace {

template <class F>
using Block = std::vector<F>;

template <class F>
std::vector<const F*> pointers(const Block<F>& block) {
  std::vector<const F*> result;
  for (const F& column : block) result.push_back(&column);
  return result;
}

/// A^+ B, the matrix of inner products, which is Hermitian here.
template <class F>
Matrix gram(const Block<F>& a, const Block<F>& b, const Subset& s) {
  return products<F>(pointers(a), pointers(b), s, true);
}

/// Y += B c, or Y = B c.
template <class F>
void multiply(Block<F>& y, const Block<F>& b, const Matrix& c, const Subset& s, bool add) {
  const std::vector<const F*> columns = pointers(b);
  for (std::size_t j = 0; j < y.size(); ++j) {
    std::vector<HostComplex> coefficients;
    for (std::size_t i = 0; i < b.size(); ++i) coefficients.push_back(c(i, j));
    combine(y[j], s, coefficients, columns, add);
  }
}

/// W = Q S with orthonormal columns Q, which replace W. Directions of W that are rounding may be dropped: columns of Q
/// are then nought. The matrix of inner products has the square of W's condition, so that it takes two passes if that
/// is bad.
template <class F>
Matrix orthonormalise(Block<F>& w, Block<F>& scratch, const Subset& s) {
  constexpr double kWellConditioned = 1e-4;
  const double cutoff = std::is_same_v<F, Single<F>> ? 1e-13 : 1e-30;
  const std::size_t n = w.size();
  Matrix total = Matrix::identity(n);
  for (int pass = 0; pass < 2; ++pass) {
    // With N the norms of the columns, N^-1 W^+ W N^-1 = V D V^+,  Q = W N^-1 V D^-1/2,  S = D^1/2 V^+ N.
    Matrix g = gram(w, w, s);
    std::vector<double> norm(n), inverse(n);
    for (std::size_t j = 0; j < n; ++j) {
      norm[j] = std::sqrt(g(j, j).real());
      require_finite(norm[j], "block CG", 0);
      inverse[j] = norm[j] > 0 ? 1 / norm[j] : 0;
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) g(i, j) *= inverse[i] * inverse[j];
    const Eigensystem e = eigensystem(g);
    Matrix to_q(n, n), factor(n, n);
    for (std::size_t j = 0; j < n; ++j) {
      const double root = e.values[j] > cutoff ? std::sqrt(e.values[j]) : 0;
      for (std::size_t i = 0; i < n; ++i) {
        to_q(i, j) = root > 0 ? inverse[i] * e.vectors(i, j) / root : 0;
        factor(j, i) = root * std::conj(e.vectors(i, j)) * norm[i];
      }
    }
    multiply(scratch, w, to_q, s, false);
    std::swap(w, scratch);
    total = factor * total;
    if (e.values.front() > kWellConditioned * e.values.back()) break;
  }
  return total;
}

double column_norm(const Matrix& c, std::size_t j) {
  double sum = 0;
  for (std::size_t i = 0; i < c.rows(); ++i) sum += std::norm(c(i, j));
  return std::sqrt(sum);
}

}  // namespace

template <class F>
SolveResult BlockCG<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  return CG<F>(criterion_).solve(x, system, b);
}

template <class F>
std::vector<SolveResult> BlockCG<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                               const std::vector<F>& b) const {
  const std::size_t n = b.size();
  require_as_many(x.size(), n);
  if (n == 0) return {};
  NormalMatrix<F> a(system.m);
  const Subset& s = a.sites();
  SolveResult common;
  const QDP::Alongside many(kSidesTogether);

  Block<F> q(n), p(n), ap(n);
  std::vector<double> b_norm(n);
  for (std::size_t j = 0; j < n; ++j) {
    b_norm[j] = std::sqrt(square(b[j], s));
    require_finite(b_norm[j], "block CG", 0);
    if (b_norm[j] == 0) x[j][s] = zero;
    a.residual(q[j], b[j], x[j]);
  }
  Matrix c = orthonormalise(q, ap, s);
  for (std::size_t j = 0; j < n; ++j) p[j][s] = q[j];

  const auto largest_residual = [&] {
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j)
      if (b_norm[j] > 0) largest = std::max(largest, column_norm(c, j) / b_norm[j]);
    return largest;
  };
  for (double residual = largest_residual();
       residual > criterion_.residual && common.iterations < criterion_.max_iterations;) {
    for (std::size_t j = 0; j < n; ++j) ap[j][s] = a(p[j]).value;
    const Matrix energy = gram(p, ap, s);
    for (std::size_t j = 0; j < n; ++j)
      if (!(energy(j, j).real() >= 0)) require_positive(energy(j, j).real(), "block CG", common.iterations);
    const Matrix alpha = pseudo_inverse(energy, std::is_same_v<F, Single<F>> ? 1e-6 : 1e-14);
    multiply(x, p, alpha * c, s, true);
    Matrix minus_alpha = alpha;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) minus_alpha(i, j) = -alpha(i, j);
    multiply(q, ap, minus_alpha, s, true);
    const Matrix step = orthonormalise(q, ap, s);
    c = step * c;
    multiply(ap, p, adjoint(step), s, false);
    for (std::size_t j = 0; j < n; ++j) p[j][s] = q[j] + ap[j];
    ++common.iterations;
    residual = largest_residual();
    require_finite(residual, "block CG", common.iterations);
    common.history.push_back(residual);
  }

  common.applications = a.applications();
  const double nn = static_cast<double>(n * n);
  common.flops = a.flops() + axpy_flops<F>(s, 2 * 7 * nn * common.iterations);
  // What rounding left in a column, CG removes; mostly it finds nothing to do.
  std::vector<SolveResult> results;
  for (std::size_t j = 0; j < n; ++j) {
    const StoppingCriterion rest{criterion_.residual, criterion_.max_iterations - common.iterations};
    SolveResult result = CG<F>(rest).solve(x[j], system, b[j]);
    result.iterations += common.iterations;
    result.applications += common.applications;
    result.flops += common.flops;
    result.history.insert(result.history.begin(), common.history.begin(), common.history.end());
    results.push_back(std::move(result));
  }
  return results;
}

#define QCD_INSTANTIATE(F) template class BlockCG<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
