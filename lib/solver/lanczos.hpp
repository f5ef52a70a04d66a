// A few eigenpairs at one end of the spectrum of a Hermitian operator, by Lanczos with thick restarts.
//
//   A V_m = V_m T_m + beta v_{m+1} e_m^+,  T_m s_i = theta_i s_i:  |A (V s_i) - theta_i (V s_i)| = |beta s_i(m)|
//
// When the basis is full, the best Ritz vectors and v_{m+1} become the new basis. All vectors are kept orthogonal to
// each other explicitly. Chebyshev: the iteration runs on a polynomial p(A) that is at most one on the interval of
// unwanted eigenvalues and grows steeply outside; eigenvalues and residuals are those of A in the end. Sources: Wu,
// Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Zhou, Saad, SIAM J. Matrix Anal. Appl. 29 (2007) 954.
#pragma once

#include "lib/solver/solver.hpp"

#include <functional>
#include <vector>

namespace qcd {

/// A in, on the sites where `in` is.
template <class F>
using HermitianOperator = std::function<FermionExpr<F>(const F& in)>;

enum class SpectrumEnd { lowest, highest };

struct LanczosParameters {
  int wanted = 1;
  SpectrumEnd end = SpectrumEnd::lowest;
  double tolerance = 1e-10;  ///< |A v - lambda v| <= tolerance * (largest |Ritz value|)
  int basis = 0;             ///< vectors kept; 0: 2 * wanted + 24
  int max_restarts = 100;
  /// Polynomial of this degree, at most one in absolute value for eigenvalues in [low, high]; 0: none. Of the unwanted
  /// eigenvalues none should lie outside.
  int chebyshev_degree = 0;
  double low = 0, high = 0;
};

template <class F>
struct Eigenpairs {
  bool converged = false;
  std::vector<double> values;     ///< from the wanted end on: ascending for lowest, descending for highest
  std::vector<F> vectors;         ///< of norm one on the sites
  std::vector<double> residuals;  ///< |A v - lambda v|, recomputed; an eigenvalue lies within this of `values`
  /// The first pair as the iteration sees it, of p(A): value and residual.
  double iterated_value = 0, iterated_residual = 0;
  long applications = 0;  ///< of A
};

/// Eigenpairs of A on `sites`. The start is random, from a fixed seed; the program's random numbers are not touched.
/// Throws ShapeError for wanted < 1 or a basis that is too small, NumericsError if A gives numbers that are not finite.
template <class F>
Eigenpairs<F> lanczos(const HermitianOperator<F>& a, const QDP::Subset& sites, const LanczosParameters& parameters);

/// The same for A = M^+ M.
template <class F>
Eigenpairs<F> lanczos(const FermionOperator<F>& m, const LanczosParameters& parameters);

/// The ends of the spectrum of M^+ M, from inside: lowest and highest are quotients <v, M^+ M v>/<v, v>, so the true ends
/// are not between them, and each lies within the error of its value.
struct SpectralBounds {
  double lowest = 0, lowest_error = 0;
  double highest = 0, highest_error = 0;
  bool converged = false;  ///< both errors are below accuracy times the value
  long applications = 0;   ///< of M^+ M
};
/// To a relative accuracy of both ends: what a rational approximation needs to know about its interval. The cost of the low
/// end grows like sqrt(highest / lowest / accuracy), whether it is one eigenvalue or a dense band.
template <class F>
SpectralBounds spectral_bounds(const FermionOperator<F>& m, double accuracy = 1e-3, int max_restarts = 50);

/// Eigenpairs of M^+ M used to start a solve: x = x0 + sum_i v_i <v_i, b - M^+ M x0> / lambda_i, which takes these
/// modes out of the residual.
template <class F>
class Deflation {
 public:
  explicit Deflation(Eigenpairs<F> pairs) : pairs_(std::move(pairs)) {}
  const Eigenpairs<F>& pairs() const { return pairs_; }

  /// sum_i v_i <v_i, b>, or with 1 - P the rest.
  void project(F& out, const F& b, const QDP::Subset& sites) const;
  /// Adds to x0 = x.
  void improve(F& x, const SystemOperator<F>& system, const F& b) const;

 private:
  Eigenpairs<F> pairs_;
};

/// A solver that starts from a deflated guess.
template <class F>
class DeflatedSolver : public NormalSolver<F> {
 public:
  DeflatedSolver(std::shared_ptr<const Deflation<F>> deflation, std::shared_ptr<const NormalSolver<F>> solver)
      : deflation_(std::move(deflation)), solver_(std::move(solver)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override {
    deflation_->improve(x, system, b);
    return solver_->solve(x, system, b);
  }
  const StoppingCriterion& criterion() const override { return solver_->criterion(); }

 private:
  std::shared_ptr<const Deflation<F>> deflation_;
  std::shared_ptr<const NormalSolver<F>> solver_;
};

}  // namespace qcd
