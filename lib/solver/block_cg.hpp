// Conjugate gradients for several right-hand sides at once: M^+ M X = B, X and B of n columns.
//
// All columns share one block Krylov space, so n right-hand sides need fewer iterations than one; the residuals are
// kept as R = Q C with orthonormal columns Q (BCGrQ), which keeps the iteration stable when columns depend on one
// another:
//   Q C = B - A X,  P = Q;   alpha = (P^+ A P)^-1,  X += P alpha C,  Q' S = Q - A P alpha,  C <- S C,  P = Q' + P S^+
// The factorisation comes from the n x n matrix of inner products, whose vanishing eigenvalues drop directions out.
// Per iteration and right-hand side the block costs about 6 n axpys besides the operator: many right-hand sides pay off
// where the operator is ill-conditioned, and CG where it is not.
// Sources: O'Leary, Lin. Alg. Appl. 29 (1980) 293; Dubrulle, ETNA 12 (2001) 216; Clark, Strelchenko, Vaquero, Wagner,
// Weinberg, Comput. Phys. Commun. 233 (2018) 29 (arXiv:1710.09745).
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

template <class F>
class BlockCG : public NormalSolver<F> {
 public:
  explicit BlockCG(const StoppingCriterion& criterion) : criterion_(criterion) {}
  /// One right-hand side: CG.
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  /// Iterations, applications and flops are those of the whole block, in each result.
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
};

}  // namespace qcd
