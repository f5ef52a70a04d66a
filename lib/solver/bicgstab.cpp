#include "lib/solver/bicgstab.hpp"

#include "lib/solver/iteration.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// Denominators this much smaller than what they are made of count as nought.
template <class S>
constexpr double kBreakdown = std::is_same_v<RealOf<S>, RealF> ? 1e-14 : 1e-28;

template <class F, class S>
Solve bicgstab(F& x, const FermionOperator<F>& m, InnerSystem<S> inner, Sign sign, const F& b,
               const StoppingCriterion& criterion, double delta) {
  DirectMatrix<F> a(m, sign);
  DirectMatrix<S> a_inner(*inner.m, sign);
  const Subset& s = a.sites();

  const RightHandSide rhs(b, s, criterion, "BiCGStab");
  if (rhs.is_nought()) co_return solved_by_nought(x, s);
  SolveResult result;

  F replaced;  // b - M x
  double true_rr = a.residual(replaced, b, x);
  require_finite(true_rr, "BiCGStab", 0);

  const auto vector = [&] { return S(inner.vectors); };
  S r = vector(), r0 = vector(), p = vector(), v = vector(), t = vector(), y;  // the solution is x + y
  y[s] = zero;
  HostComplex rho;
  double rr = true_rr, peak = true_rr, r0r0 = true_rr;
  const auto start_anew = [&] {
    r[s] = replaced;
    r0[s] = replaced;
    p[s] = replaced;
    rho = rr = r0r0 = peak = true_rr;
  };
  /// What was found goes into x, r becomes b - M x.
  const auto replace = [&] {
    x[s] += y;
    y[s] = zero;
    true_rr = a.residual(replaced, b, x);
    require_finite(true_rr, "BiCGStab", result.iterations);
  };
  start_anew();

  Progress progress;
  bool stalled = false;
  int breakdowns = 0;
  while (rhs.missed_by(true_rr) && result.iterations < criterion.max_iterations) {
    a_inner.apply(v, p);
    const PendingReal pending_vv = pending_square(v, s);
    const HostComplex r0v = co_await PendingProduct(r0, v, s);
    const double vv = co_await pending_vv;
    bool broken = std::norm(r0v) <= kBreakdown<S> * r0r0 * vv;
    HostComplex alpha, omega;
    if (!broken) {
      alpha = rho / r0v;
      r[s] -= lattice_scalar<S>(alpha) * v;
      a_inner.apply(t, r);
      const PendingReal pending_tt = pending_square(t, s);
      const HostComplex tr = co_await PendingProduct(t, r, s);
      const double tt = co_await pending_tt;
      omega = tt > 0 ? tr / tt : 0;
      y[s] += lattice_scalar<S>(alpha) * p + lattice_scalar<S>(omega) * r;
      r[s] -= lattice_scalar<S>(omega) * t;
      broken = omega == 0.0;
    }
    const PendingReal pending_rr = pending_square(r, s);
    HostComplex next = co_await PendingProduct(r0, r, s);
    rr = co_await pending_rr;
    ++result.iterations;
    result.history.push_back(rhs.relative(rr));
    require_finite(rr, "BiCGStab", result.iterations);
    peak = std::max(peak, rr);

    const bool reached = rr <= rhs.target;
    broken = !reached && (broken || std::norm(next) <= kBreakdown<S> * r0r0 * rr);
    breakdowns = broken ? breakdowns + 1 : 0;
    if (reached || broken || rr <= delta * delta * peak || result.iterations == criterion.max_iterations) {
      replace();
      if (!rhs.missed_by(true_rr)) break;
      stalled = progress.stalled(true_rr, reached);
      if ((stalled || breakdowns > 1) && inner.finer) {
        a_inner.use(std::exchange(inner.finer, {})());
        for (S* field : {&r, &r0, &p, &v, &t}) field->setStorage(FieldStorage::plain);
        progress = {};
        stalled = false;
        breakdowns = 0;
        start_anew();
        continue;
      }
      if (stalled || breakdowns > 1) break;
      if (reached || broken) {
        start_anew();
        continue;
      }
      r[s] = replaced;
      rr = peak = true_rr;
      next = co_await PendingProduct(r0, r, s);
    }
    const HostComplex beta = (next / rho) * (alpha / omega);
    rho = next;
    p[s] = r + lattice_scalar<S>(beta) * (p - lattice_scalar<S>(omega) * v);
  }

  result.residual = rhs.relative(true_rr);
  result.converged = result.residual <= (stalled ? kAcceptBelow : kContinueAbove) * criterion.residual;
  result.applications = a.applications();
  count_inner<S, F>(result, a_inner.applications());
  result.flops = a.flops() + a_inner.flops() + axpy_flops<F>(s, 20.0 * result.iterations);
  co_return result;
}

}  // namespace

template <class F>
SolveResult BiCGStab<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  return bicgstab(x, system.m, InnerSystem<F>{&system.m}, sign, b, criterion_, 0).run();
}

template <class F>
SolveResult MixedBiCGStab<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  return bicgstab(x, system.m, inner_system(system, inner_, "MixedBiCGStab"), sign, b, criterion_, delta_).run();
}

template <class F>
std::vector<SolveResult> BiCGStab<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                                const std::vector<F>& b) const {
  return solve_together(x, b, [&](F& x_i, const F& b_i) {
    return bicgstab(x_i, system.m, InnerSystem<F>{&system.m}, Sign::plus, b_i, criterion_, 0);
  });
}

template <class F>
std::vector<SolveResult> MixedBiCGStab<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                                     const std::vector<F>& b) const {
  const InnerSystem<Single<F>> inner = inner_system(system, inner_, "MixedBiCGStab");
  return solve_together(
      x, b, [&](F& x_i, const F& b_i) { return bicgstab(x_i, system.m, inner, Sign::plus, b_i, criterion_, delta_); });
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class BiCGStab<F>;                                                                                          \
  template class MixedBiCGStab<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
