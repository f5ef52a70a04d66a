// Stabilised biconjugate gradients for M x = b or M^+ x = b, in one precision or in two.
//
//   v = M p,  alpha = <r0, r> / <r0, v>,  s = r - alpha v,  t = M s,  omega = <t, s> / |t|^2,
//   x += alpha p + omega s,  r = s - omega t,  beta = <r0, r'> alpha / (<r0, r> omega),  p = r + beta (p - omega v)
//
// Two precisions: reliable updates, as in cg.hpp. Sources: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631, and
// those of cg.hpp.
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

/// In the precision of F. A breakdown (<r0, r> or <r0, M p> or M s is nought) starts anew from the solution so far; two
/// in a row end the solve, not converged.
template <class F>
class BiCGStab : public DirectSolver<F> {
 public:
  explicit BiCGStab(const StoppingCriterion& criterion) : criterion_(criterion) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
};

/// In single or half precision with reliable updates whenever |r| has fallen by a factor `delta`.
template <class F>
class MixedBiCGStab : public DirectSolver<F> {
 public:
  static constexpr double kDelta = 0.1;
  explicit MixedBiCGStab(const StoppingCriterion& criterion, double delta = kDelta,
                         InnerPrecision inner = InnerPrecision::single)
      : criterion_(criterion), delta_(delta), inner_(inner) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  double delta_;
  InnerPrecision inner_;
};

}  // namespace qcd
