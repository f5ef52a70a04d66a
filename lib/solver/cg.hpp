// Conjugate gradients for M^+ M + shift, in one precision or in two.
//
//   alpha = |r|^2 / <p, A p>,  x += alpha p,  r -= alpha A p,  beta = |r'|^2 / |r|^2,  p = r + beta p
//
// Two precisions: the iteration runs in single precision, and whenever |r| has fallen by a factor `delta`, what it has
// found is added to x and r is replaced by b - A x, both in the precision of the fields ("reliable updates"). The
// direction p is kept, so the Krylov space is not thrown away. In half precision r, p and what the operator makes of them
// are kept in 16 bits, the sum of what was found since the last update in single; where that comes no further, r and p and
// the operator are single from then on.
// Sources: Hestenes, Stiefel, J. Res. NBS 49 (1952) 409; Sleijpen, van der Vorst, Computing 56 (1996) 141; Clark,
// Babich, Barros, Brower, Rebbi, Comput. Phys. Commun. 181 (2010) 1517 (arXiv:0911.3191).
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

/// Conjugate gradients in the precision of F. The iterations stop when the recursion's |r| <= residual |b|; if the
/// recomputed residual is larger than that, they go on from it.
/// Throws NumericsError if A is not positive or a number is not finite.
template <class F>
class CG : public NormalSolver<F> {
 public:
  explicit CG(const StoppingCriterion& criterion) : criterion_(criterion) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
};

/// Conjugate gradients in single or half precision with reliable updates in F's.
template <class F>
class MixedCG : public NormalSolver<F> {
 public:
  static constexpr double kDelta = 0.1;
  explicit MixedCG(const StoppingCriterion& criterion, double delta = kDelta,
                   InnerPrecision inner = InnerPrecision::single)
      : criterion_(criterion), delta_(delta), inner_(inner) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  double delta_;
  InnerPrecision inner_;
};

/// The same for M^+ M + shift. S: F or Single<F>, the precision of the iteration; delta = 0: no update before |r| has
/// reached the target.
template <class F, class S>
SolveResult solve_shifted_by_cg(F& x, const FermionOperator<F>& m, const FermionOperator<S>& inner, double shift,
                                const F& b, const StoppingCriterion& criterion, double delta);

}  // namespace qcd
