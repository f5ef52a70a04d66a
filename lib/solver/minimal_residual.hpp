// Minimal residual iterations for M x = b or M^+ x = b: they need the spectrum of M in a half plane.
//
//   MR      x += w a r,  r -= w a M r,  a = <M r, r> / |M r|^2, w the overrelaxation
//   GCR(k)  x minimises |b - M x| over the space of k directions, then starts anew
//
// Sources: Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20 (1983) 345; as a preconditioner in the lattice Dirac
// equation: Luscher, Comput. Phys. Commun. 156 (2004) 209 (hep-lat/0310048).
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

template <class F>
class MR : public DirectSolver<F> {
 public:
  explicit MR(const StoppingCriterion& criterion, double overrelaxation = 1)
      : criterion_(criterion), overrelaxation_(overrelaxation) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  double overrelaxation_;
};

/// With a preconditioner K, any solver that makes K r an approximation of M^-1 r, the directions are K r and not r; K
/// may differ from one iteration to the next.
template <class F>
class GCR : public DirectSolver<F> {
 public:
  static constexpr int kDirections = 16;
  explicit GCR(const StoppingCriterion& criterion, int directions = kDirections,
               std::shared_ptr<const DirectSolver<F>> preconditioner = nullptr)
      : criterion_(criterion), directions_(directions), preconditioner_(std::move(preconditioner)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  int directions_;
  std::shared_ptr<const DirectSolver<F>> preconditioner_;
};

}  // namespace qcd
