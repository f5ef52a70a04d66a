// Solving A x = b: what every solver takes and returns.
#pragma once

#include "lib/solver/linear_operator.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace qcd {

/// When to stop, and what to do about failure.
struct StoppingCriterion {
  double residual = 1e-10;    ///< |b - A x| <= residual |b|
  int max_iterations = 1000;  ///< then the solver gives up; the result says so
};

/// What a solver did. `residual` is always recomputed from b - A x at the end.
struct SolveResult {
  bool converged = false;
  int iterations = 0;
  long applications = 0;         ///< of the operator in the precision of the fields (a normal operator counts once)
  long single_applications = 0;  ///< of its single-precision partner
  double residual = 0;           ///< |b - A x| / |b|, true
  std::vector<double> history;   ///< the recursion's |r|/|b| after each iteration; multi-shift: the slowest system's
  std::vector<double> shift_residuals;  ///< multi-shift: the true residual of each shifted system
  double flops = 0;
};

/// The operators of one linear system: in the precision of the fields, and on request those of inner iterations.
template <class F>
struct SystemOperator {
  const FermionOperator<F>& m;
  /// Makes (once) the single-precision partner; empty where there is none. A solver that does not mix never asks.
  std::function<const FermionOperator<Single<F>>&()> single = {};
  /// The same with its links in 16 bits.
  std::function<const FermionOperator<Single<F>>&()> half = {};
};

/// The words of an inner iteration: single: floats; half: links and vectors in 16 bits with a scale for each site
/// (qdp/expr/storage.hpp), arithmetic in single precision.
enum class InnerPrecision { single, half };

/// Solves M^+ M x = b (pseudofermions). x: guess on entry, solution on return; on M's domain.
/// Not to converge is a result; NumericsError is for an operator that is not positive and for numbers not finite.
template <class F>
class NormalSolver {
 public:
  virtual ~NormalSolver() = default;
  virtual SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const = 0;

  /// The same for several right-hand sides, one result each.
  virtual std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                             const std::vector<F>& b) const;

  /// What was asked for, for require_converged().
  virtual const StoppingCriterion& criterion() const = 0;
};

/// Solves M x = b (propagators), or M^+ x = b. x: guess on entry, solution on return. M's domain and range are the same
/// sites.
template <class F>
class DirectSolver {
 public:
  virtual ~DirectSolver() = default;
  virtual SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const = 0;
  virtual std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                             const std::vector<F>& b) const;
  virtual const StoppingCriterion& criterion() const = 0;
};

/// Solves (M^+ M + shift_k) x_k = b for all k at once, starting from nought: what x holds on entry is not read, and it
/// is resized to the number of shifts.
template <class F>
class MultiShiftSolver {
 public:
  virtual ~MultiShiftSolver() = default;
  virtual SolveResult solve(std::vector<F>& x, const SystemOperator<F>& system, const F& b,
                            const std::vector<double>& shifts) const = 0;
  virtual const StoppingCriterion& criterion() const = 0;
};

/// Throws ShapeError unless there are as many.
void require_as_many(std::size_t solutions, std::size_t sides);
/// Throws NumericsError saying what did not converge (`what`), the residual reached and asked for, unless it converged.
void require_converged(const SolveResult& result, const StoppingCriterion& asked, const std::string& what);

}  // namespace qcd
