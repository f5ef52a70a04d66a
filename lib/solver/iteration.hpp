// What the iterations share: host scalars, norms, the matrix M^+ M + shift, breakdowns. For lib/solver/*.cpp.
#pragma once

#include "lib/error.hpp"
#include "lib/solver/dense.hpp"
#include "lib/solver/pending.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace qcd {

/// A solve goes on from the recomputed residual while that exceeds the target by more than this factor ...
inline constexpr double kContinueAbove = 1.01;
/// ... and, once rounding lets it sink no further, counts as converged up to this one.
inline constexpr double kAcceptBelow = 10;

/// Whether residuals still sink from one recomputation to the next.
class Progress {
 public:
  /// After a recomputation: true if it is time to give up. `reached`: the recursion had got to the target, so that the
  /// difference is rounding; elsewhere a few recomputations in vain are allowed.
  bool stalled(double square, bool reached) {
    in_vain_ = square > 0.25 * lowest_ ? in_vain_ + 1 : 0;
    lowest_ = std::min(lowest_, square);
    return in_vain_ >= (reached ? 1 : 3);
  }

 private:
  double lowest_ = std::numeric_limits<double>::infinity();
  int in_vain_ = 0;
};

template <class T>
HostComplex host(const QDP::OScalar<T>& z) {
  return {QDP::toDouble(QDP::real(z)), QDP::toDouble(QDP::imag(z))};
}
template <class F>
ComplexOf<F> lattice_scalar(HostComplex z) {
  return QDP::cmplx(RealOf<F>(z.real()), RealOf<F>(z.imag()));
}

template <class F>
double square(const F& x, const QDP::Subset& sites) {
  return QDP::toDouble(QDP::norm2(x, sites));
}
/// The same, of the value that x has now, when it is asked for.
template <class F>
PendingReal pending_square(const F& x, const QDP::Subset& sites) {
  return PendingReal(QDP::pending_sum(QDP::localNorm2(x), sites));
}
template <class F>
HostComplex product(const F& a, const F& b, const QDP::Subset& sites) {
  return host(QDP::innerProduct(a, b, sites));
}

/// <a, b> of the values that a and b have now, when it is asked for.
class PendingProduct {
 public:
  template <class F>
  PendingProduct(const F& a, const F& b, const QDP::Subset& sites)
      : sum_(QDP::pending_sum(QDP::localInnerProduct(a, b), sites)) {}
  HostComplex get() const { return host(sum_.get()); }

 private:
  QDP::PendingSum<QDP::ComplexD> sum_;
};

/// The matrix <a_i, b_j>; of a Hermitian one only half is computed. Tile by tile, as many products as one kernel sums.
template <class F>
Matrix products(std::type_identity_t<std::span<const F* const>> a, std::type_identity_t<std::span<const F* const>> b,
                const QDP::Subset& sites, bool hermitian = false) {
  constexpr std::size_t kRows = 3, kColumns = 4;
  Matrix g(a.size(), b.size());
  for (std::size_t i0 = 0; i0 < a.size(); i0 += kRows)
    for (std::size_t j0 = 0; j0 < b.size(); j0 += kColumns) {
      std::vector<PendingProduct> tile;
      const auto each = [&](auto&& at) {
        for (std::size_t i = i0; i < std::min(i0 + kRows, a.size()); ++i)
          for (std::size_t j = std::max(j0, hermitian ? i : 0); j < std::min(j0 + kColumns, b.size()); ++j) at(i, j);
      };
      each([&](std::size_t i, std::size_t j) { tile.emplace_back(*a[i], *b[j], sites); });
      auto next = tile.begin();
      each([&](std::size_t i, std::size_t j) { g(i, j) = next++->get(); });
    }
  if (hermitian)
    for (std::size_t i = 0; i < g.rows(); ++i) {
      g(i, i) = g(i, i).real();
      for (std::size_t j = i + 1; j < g.columns(); ++j) g(j, i) = std::conj(g(i, j));
    }
  return g;
}

/// x = sum_i c_i v_i, or x += with `add`, on `sites`; a few terms per statement.
template <class F>
void combine(F& x, const QDP::Subset& sites, std::span<const HostComplex> c,
             std::type_identity_t<std::span<const F* const>> v, bool add = false) {
  constexpr std::size_t kTerms = 8;
  for (std::size_t first = 0; first < v.size(); first += kTerms) {
    FermionExpr<F> sum = lattice_scalar<F>(c[first]) * *v[first];
    for (std::size_t i = first + 1; i < std::min(first + kTerms, v.size()); ++i)
      sum = sum + lattice_scalar<F>(c[i]) * *v[i];
    if (add || first > 0)
      x[sites] += sum;
    else
      x[sites] = sum;
  }
}

/// Floating-point operations of `n` updates y += a x with a real, or of n norms: 4 per complex component.
template <class F>
double axpy_flops(const QDP::Subset& sites, double n) {
  return n * 4 * QDP::NumSpins<F>::value * QDP::NumColors<F>::value * static_cast<double>(globalSites(sites));
}

[[noreturn]] inline void throw_breakdown(const std::string& where, const std::string& expected, double got,
                                         int iteration) {
  throw NumericsError(where + ": expected " + expected + ", got " + std::to_string(got) + " after " +
                      std::to_string(iteration) +
                      " iterations. Look for links, a mass or a right-hand side that are not finite, or a shift that "
                      "makes the operator negative.");
}
inline void require_finite(double square, const char* solver, int iteration) {
  if (!std::isfinite(square)) throw_breakdown(solver, "a finite residual", square, iteration);
}
inline void require_positive(double energy, const char* solver, int iteration) {
  if (!(energy > 0) || !std::isfinite(energy))
    throw_breakdown(solver, "<p, A p> > 0 of a positive operator", energy, iteration);
}

/// r = b - A x on the sites, returns |r|^2; `image` is A x as an expression. x = 0 costs no application.
template <class F, class Image>
double residual_of(F& r, const F& b, const F& x, const QDP::Subset& sites, Image image) {
  if (square(x, sites) == 0)
    r[sites] = b;
  else
    r[sites] = b - image();
  return square(r, sites);
}

/// A = M^+ M + shift.
template <class F>
class NormalMatrix {
 public:
  explicit NormalMatrix(const FermionOperator<F>& m, double shift = 0) : m_(&m), shift_(shift) {}

  const QDP::Subset& sites() const { return m_->domain(); }
  /// From now on by this M, which is as dear.
  void use(const FermionOperator<F>& m) { m_ = &m; }

  /// A in, not yet computed.
  struct Image {
    FermionExpr<F> value;
    PendingReal energy;  ///< <in, A in> = |M in|^2 + shift |in|^2
  };
  Image operator()(const F& in) {
    PendingReal energy;
    const FermionExpr<F> value = m_->normal(in, &energy);
    ++applications_;
    if (shift_ == 0) return {value, energy};
    energy.add(shift_, QDP::pending_sum(QDP::localNorm2(in), sites()));
    return {value + RealOf<F>(shift_) * in, energy};
  }
  /// out = A in; returns <in, A in>.
  double apply(F& out, const F& in) {
    const Image image = (*this)(in);
    out[sites()] = image.value;
    return image.energy.get();
  }

  /// r = b - A x, returns |r|^2.
  double residual(F& r, const F& b, const F& x) {
    return residual_of(r, b, x, sites(), [&] { return (*this)(x).value; });
  }

  long applications() const { return applications_; }
  double flops() const { return static_cast<double>(applications_) * 2 * m_->flops(); }

 private:
  const FermionOperator<F>* m_;
  double shift_;
  long applications_ = 0;
};

/// M or M^+, for solvers that need no normal equation.
template <class F>
class DirectMatrix {
 public:
  /// Throws ShapeError unless M maps its sites to themselves.
  DirectMatrix(const FermionOperator<F>& m, Sign sign) : m_(&m), sign_(sign) {
    if (globalSites(m.domain()) != globalSites(m.range()))
      throw ShapeError("direct solver: expected an operator from some sites to the same sites, got one from " +
                       std::to_string(globalSites(m.domain())) + " to " + std::to_string(globalSites(m.range())) +
                       ". Solve the normal equation instead.");
  }

  const QDP::Subset& sites() const { return m_->domain(); }
  /// From now on by this M, which is as dear.
  void use(const FermionOperator<F>& m) { m_ = &m; }
  void apply(F& out, const F& in) {
    m_->apply(out, in, sign_);
    ++applications_;
  }
  /// r = b - M x, returns |r|^2.
  double residual(F& r, const F& b, const F& x) {
    return residual_of(r, b, x, sites(), [&] {
      ++applications_;
      return (*m_)(x, sign_);
    });
  }

  long applications() const { return applications_; }
  double flops() const { return static_cast<double>(applications_) * m_->flops(); }

 private:
  const FermionOperator<F>* m_;
  Sign sign_;
  long applications_ = 0;
};

/// What an inner iteration works with: an operator in the precision S, how vectors are kept, and the operator that takes over,
/// with plain vectors, where these are too coarse to come further.
template <class S>
struct InnerSystem {
  const FermionOperator<S>* m;
  QDP::FieldStorage vectors = QDP::FieldStorage::plain;
  std::function<const FermionOperator<S>&()> finer = {};
};

template <class F>
InnerSystem<Single<F>> inner_system(const SystemOperator<F>& system, InnerPrecision precision, const char* solver) {
  const auto require = [&](bool is_there, const char* what, const char* member) {
    if (is_there) return;
    throw ShapeError(std::string(solver) + ": expected a system with " + what +
                     ", got none. Give SystemOperator::" + member + ", or use a solver that does not mix precisions.");
  };
  constexpr bool is_single = std::is_same_v<Single<F>, F>;
  if (precision == InnerPrecision::half) {
    require(static_cast<bool>(system.half), "an operator in half precision", "half");
    if constexpr (is_single)
      return {&system.half(), QDP::FieldStorage::half, [&m = system.m]() -> const FermionOperator<F>& { return m; }};
    else
      return {&system.half(), QDP::FieldStorage::half, system.single};
  }
  if constexpr (is_single) {
    return {&system.m};
  } else {
    require(static_cast<bool>(system.single), "a single-precision operator", "single");
    return {&system.single()};
  }
}

/// Sorts the applications of an inner operator into those of a solve.
template <class S, class F>
void count_inner(SolveResult& result, long applications) {
  (std::is_same_v<S, F> ? result.applications : result.single_applications) += applications;
}

/// The right-hand side of a solve: how small a residual it asks for.
struct RightHandSide {
  double square;  ///< |b|^2
  double target;  ///< of |r|^2

  /// Throws NumericsError unless |b| is finite.
  template <class F>
  RightHandSide(const F& b, const QDP::Subset& sites, const StoppingCriterion& criterion, const char* solver)
      : square(qcd::square(b, sites)), target(criterion.residual * criterion.residual * square) {
    require_finite(square, solver, 0);
  }

  /// Then x = 0 is the answer: solved_by_nought().
  bool is_nought() const { return square == 0; }
  /// |r| / |b|.
  double relative(double rr) const { return std::sqrt(rr / square); }
  /// Whether to go on from a recomputed residual.
  bool missed_by(double rr) const { return rr > kContinueAbove * kContinueAbove * target; }
};

/// |b| = 0: x = 0 is the answer.
template <class F>
SolveResult solved_by_nought(F& x, const QDP::Subset& sites) {
  x[sites] = QDP::zero;
  SolveResult result;
  result.converged = true;
  return result;
}

/// Instantiates for the four fields.
#define QCD_FOR_ALL_FIELDS(X)                                                                                          \
  X(QDP::LatticeFermionD)                                                                                              \
  X(QDP::LatticeFermionF)                                                                                              \
  X(QDP::LatticeStaggeredFermionD)                                                                                     \
  X(QDP::LatticeStaggeredFermionF)

}  // namespace qcd
