#include "lib/solver/cg.hpp"

#include "lib/solver/iteration.hpp"

namespace qcd {

using namespace QDP;

namespace {

template <class F, class S>
Solve shifted_cg(F& x, const FermionOperator<F>& m, InnerSystem<S> inner, double shift, const F& b,
                 const StoppingCriterion& criterion, double delta) {
  NormalMatrix<F> a(m, shift);
  NormalMatrix<S> a_inner(*inner.m, shift);
  const Subset& s = a.sites();

  const RightHandSide rhs(b, s, criterion, "CG");
  if (rhs.is_nought()) co_return solved_by_nought(x, s);
  SolveResult result;

  F replaced;  // b - A x
  double true_rr = a.residual(replaced, b, x);
  require_finite(true_rr, "CG", 0);

  S r(inner.vectors), p(inner.vectors), y;  // the solution is x + y
  r[s] = replaced;
  p[s] = replaced;
  y[s] = zero;
  double rr = true_rr, peak = true_rr;
  Progress progress;
  bool stalled = false;

  while (rhs.missed_by(true_rr) && result.iterations < criterion.max_iterations) {
    const auto [ap, pending_energy] = a_inner(p);
    const double energy = co_await pending_energy;
    require_positive(energy, "CG", result.iterations);
    const double alpha = rr / energy, old = rr;
    r[s] -= RealOf<S>(alpha) * ap;
    rr = co_await pending_square(r, s);
    y[s] += RealOf<S>(alpha) * p;
    ++result.iterations;
    result.history.push_back(rhs.relative(rr));
    require_finite(rr, "CG", result.iterations);
    peak = std::max(peak, rr);

    double beta = 0, along_p = 0;  // along_p = <r, p> / |r|^2: nought in exact arithmetic, but not for a replaced r
    if (rr <= rhs.target || rr <= delta * delta * peak || result.iterations == criterion.max_iterations) {
      x[s] += y;
      y[s] = zero;
      true_rr = a.residual(replaced, b, x);
      require_finite(true_rr, "CG", result.iterations);
      if (!rhs.missed_by(true_rr)) break;
      stalled = progress.stalled(true_rr, rr <= rhs.target);
      if (stalled && !inner.finer) break;
      if (stalled) {
        a_inner.use(std::exchange(inner.finer, {})());
        r.setStorage(FieldStorage::plain);
        p.setStorage(FieldStorage::plain);
        progress = {};
        stalled = false;
      }
      r[s] = replaced;
      rr = peak = true_rr;
      // A residual that grew by being replaced has little to do with the direction: then the iteration starts anew.
      if (rr < old) {
        beta = rr / old;
        along_p = toDouble(innerProductReal(r, p, s)) / rr;
      }
    } else {
      beta = rr / old;
    }
    if (along_p == 0)
      p[s] = r + RealOf<S>(beta) * p;
    else
      p[s] = RealOf<S>(1 - beta * along_p) * r + RealOf<S>(beta) * p;
  }

  result.residual = rhs.relative(true_rr);
  result.converged = result.residual <= (stalled ? kAcceptBelow : kContinueAbove) * criterion.residual;
  result.applications = a.applications();
  count_inner<S, F>(result, a_inner.applications());
  result.flops = a.flops() + a_inner.flops() + axpy_flops<F>(s, 5.0 * result.iterations);
  co_return result;
}

}  // namespace

template <class F, class S>
SolveResult solve_shifted_by_cg(F& x, const FermionOperator<F>& m, const FermionOperator<S>& inner, double shift,
                                const F& b, const StoppingCriterion& criterion, double delta) {
  return shifted_cg(x, m, InnerSystem<S>{&inner}, shift, b, criterion, delta).run();
}

template <class F>
SolveResult CG<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  return solve_shifted_by_cg(x, system.m, system.m, 0, b, criterion_, 0);
}

template <class F>
SolveResult MixedCG<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  return shifted_cg(x, system.m, inner_system(system, inner_, "MixedCG"), 0, b, criterion_, delta_).run();
}

template <class F>
std::vector<SolveResult> CG<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                          const std::vector<F>& b) const {
  return solve_together(x, b, [&](F& x_i, const F& b_i) {
    return shifted_cg(x_i, system.m, InnerSystem<F>{&system.m}, 0, b_i, criterion_, 0);
  });
}

template <class F>
std::vector<SolveResult> MixedCG<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                               const std::vector<F>& b) const {
  const InnerSystem<Single<F>> inner = inner_system(system, inner_, "MixedCG");
  return solve_together(
      x, b, [&](F& x_i, const F& b_i) { return shifted_cg(x_i, system.m, inner, 0, b_i, criterion_, delta_); });
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class CG<F>;                                                                                                \
  template class MixedCG<F>;                                                                                           \
  template SolveResult solve_shifted_by_cg(F&, const FermionOperator<F>&, const FermionOperator<Single<F>>&, double,   \
                                           const F&, const StoppingCriterion&, double);
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE
#define QCD_INSTANTIATE(F)                                                                                             \
  template SolveResult solve_shifted_by_cg(F&, const FermionOperator<F>&, const FermionOperator<F>&, double, const F&, \
                                           const StoppingCriterion&, double);
QCD_INSTANTIATE(LatticeFermionD)
QCD_INSTANTIATE(LatticeStaggeredFermionD)
#undef QCD_INSTANTIATE

}  // namespace qcd
