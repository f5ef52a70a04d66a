// Conjugate gradients for (M^+ M + shift_k) x_k = b, all k from one Krylov space.
//
// The iteration runs on A = M^+ M. Residuals of the shifted systems are parallel, r_k = zeta_k r, and with
//   zeta' = zeta zeta_old alpha_old / (alpha beta (zeta_old - zeta) + zeta_old alpha_old (1 + shift alpha))
//   alpha_k = alpha zeta' / zeta,   beta_k = beta (zeta / zeta_old)^2
// x_k += alpha_k p_k and p_k = zeta_k r + beta_k p_k as in cg.hpp.
//
// x_k and p_k are combinations of the residuals, so they need not follow every iteration: the last kBatch residuals are
// kept, and each batch of iterations is one statement for x_k and one for p_k. That halves what the shifts cost.
// Source: Jegerlehner, hep-lat/9612014.
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

/// In the precision of F. A system whose |r_k| <= residual |b| is not updated any more; the iterations end when all
/// have got there. Then residuals are recomputed, and a system that missed its target goes on alone by CG. `residuals`
/// holds one for all, or one per shift (solve() throws ShapeError if their number does not fit). Throws NumericsError
/// as CG does.
template <class F>
class MultiShiftCG : public MultiShiftSolver<F> {
 public:
  static constexpr int kBatch = 6;
  explicit MultiShiftCG(const StoppingCriterion& criterion, std::vector<double> residuals = {});
  SolveResult solve(std::vector<F>& x, const SystemOperator<F>& system, const F& b,
                    const std::vector<double>& shifts) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  std::vector<double> residuals_;
};

/// In single precision to `cutoff` (or the target, if that is larger), then each system by MixedCG's iteration from
/// there, beginning with the largest shift. With `history` > 0 the start is the combination of the single-precision
/// solution and the last `history` finished ones that minimises the error. Each system has a Krylov space of its own in
/// the second part, which for many shifts costs more than MultiShiftCG's double precision saves (twice its time for 12
/// shifts to 1e-10); it pays for a few shifts or a residual near the cutoff.
template <class F>
class MixedMultiShiftCG : public MultiShiftSolver<F> {
 public:
  static constexpr double kCutoff = 1e-6;
  explicit MixedMultiShiftCG(const StoppingCriterion& criterion, std::vector<double> residuals = {}, double delta = 0.1,
                             double cutoff = kCutoff, int history = 0);
  SolveResult solve(std::vector<F>& x, const SystemOperator<F>& system, const F& b,
                    const std::vector<double>& shifts) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  std::vector<double> residuals_;
  double delta_, cutoff_;
  int history_;
};

}  // namespace qcd
