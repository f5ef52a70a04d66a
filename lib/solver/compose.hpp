// Solvers made of solvers: the normal equation through two direct solves and the other way round, defect correction,
// and a solve in single precision only.
#pragma once

#include "lib/solver/solver.hpp"

namespace qcd {

/// M x = b from M^+ M x = M^+ b; M^+ x = b from M^+ M y = b, x = M y. The inner criterion refers to |M^+ b| for M x =
/// b. Converged if the normal equation is; `residual` is that of M x = b.
template <class F>
class DirectByNormal : public DirectSolver<F> {
 public:
  explicit DirectByNormal(std::shared_ptr<const NormalSolver<F>> normal) : normal_(std::move(normal)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  std::vector<SolveResult> solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                     const std::vector<F>& b) const override;
  const StoppingCriterion& criterion() const override { return normal_->criterion(); }

 private:
  std::shared_ptr<const NormalSolver<F>> normal_;
};

/// M^+ M x = b from M^+ y = b, M x = y, the guess y = M x. Repeated on what is left of b until |b - M^+ M x| is small
/// enough: the second solve's residual comes in times M^+.
template <class F>
class NormalByDirect : public NormalSolver<F> {
 public:
  explicit NormalByDirect(std::shared_ptr<const DirectSolver<F>> direct) : direct_(std::move(direct)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  const StoppingCriterion& criterion() const override { return direct_->criterion(); }

 private:
  std::shared_ptr<const DirectSolver<F>> direct_;
};

/// Defect correction (Richardson iteration): r = b - A x in F's precision, A d = r by `inner` in single precision, x +=
/// d. max_iterations counts the corrections; the result's iterations are the inner ones. The inner solver need not
/// converge, it must lower the residual.
template <class F>
class NormalRichardson : public NormalSolver<F> {
 public:
  NormalRichardson(const StoppingCriterion& criterion, std::shared_ptr<const NormalSolver<Single<F>>> inner)
      : criterion_(criterion), inner_(std::move(inner)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  std::shared_ptr<const NormalSolver<Single<F>>> inner_;
};
template <class F>
class DirectRichardson : public DirectSolver<F> {
 public:
  DirectRichardson(const StoppingCriterion& criterion, std::shared_ptr<const DirectSolver<Single<F>>> inner)
      : criterion_(criterion), inner_(std::move(inner)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign = Sign::plus) const override;
  const StoppingCriterion& criterion() const override { return criterion_; }

 private:
  StoppingCriterion criterion_;
  std::shared_ptr<const DirectSolver<Single<F>>> inner_;
};

/// `inner` in single precision and nothing else: converged if its recursion is; `residual` is recomputed in F's precision.
template <class F>
class SinglePrecision : public NormalSolver<F> {
 public:
  explicit SinglePrecision(std::shared_ptr<const NormalSolver<Single<F>>> inner) : inner_(std::move(inner)) {}
  SolveResult solve(F& x, const SystemOperator<F>& system, const F& b) const override;
  const StoppingCriterion& criterion() const override { return inner_->criterion(); }

 private:
  std::shared_ptr<const NormalSolver<Single<F>>> inner_;
};

}  // namespace qcd
