#include "lib/solver/compose.hpp"

#include "lib/solver/iteration.hpp"

#include <algorithm>
#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

/// The cost of a part; what the part reached is for the caller to judge.
void add_cost(SolveResult& whole, const SolveResult& part) {
  whole.iterations += part.iterations;
  whole.applications += part.applications;
  whole.single_applications += part.single_applications;
  whole.flops += part.flops;
  whole.history.insert(whole.history.end(), part.history.begin(), part.history.end());
}
/// The same for a part whose fields are single, within a solve for fields F.
template <class F>
void add_inner_cost(SolveResult& whole, SolveResult part) {
  if constexpr (!std::is_same_v<F, Single<F>>) part.single_applications += std::exchange(part.applications, 0);
  add_cost(whole, part);
}

template <class F>
F applied(const FermionOperator<F>& m, const F& x, Sign sign) {
  F y;
  m.apply(y, x, sign);
  return y;
}

/// x from r = b - A x and corrections A d = r; `correct(d, r, scale)` solves with r / scale, in single precision.
template <class F, class Operator, class Correct>
SolveResult richardson(F& x, Operator& a, const F& b, const StoppingCriterion& criterion, Correct correct) {
  const Subset& s = a.sites();
  const RightHandSide rhs(b, s, criterion, "Richardson");
  if (rhs.is_nought()) return solved_by_nought(x, s);
  SolveResult result;
  F r;
  double rr = a.residual(r, b, x);
  require_finite(rr, "Richardson", 0);
  Single<F> r_single, d_single;
  for (int i = 0; i < criterion.max_iterations && rhs.missed_by(rr); ++i) {
    const double norm = std::sqrt(rr), before = rr;
    r_single[s] = RealOf<F>(1 / norm) * r;  // of norm one: single precision has a short exponent
    d_single[s] = zero;
    add_inner_cost<F>(result, correct(d_single, r_single));
    F d;
    d[s] = d_single;
    x[s] += RealOf<F>(norm) * d;
    rr = a.residual(r, b, x);
    require_finite(rr, "Richardson", result.iterations);
    if (rr > 0.25 * before) break;  // the inner solver does not help any more
  }
  result.residual = rhs.relative(rr);
  result.converged = result.residual <= kContinueAbove * criterion.residual;
  result.applications += a.applications();
  result.flops += a.flops();
  return result;
}

/// The single-precision operator as a system of its own.
template <class F>
SystemOperator<Single<F>> single_system(const SystemOperator<F>& system, const char* solver) {
  return {*inner_system(system, InnerPrecision::single, solver).m};
}

}  // namespace

template <class F>
SolveResult DirectByNormal<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  DirectMatrix<F> m(system.m, sign);
  const Subset& s = m.sites();
  const RightHandSide rhs(b, s, criterion(), "normal equation");
  if (rhs.is_nought()) return solved_by_nought(x, s);

  SolveResult result;
  if (sign == Sign::plus) {
    result = normal_->solve(x, system, applied(system.m, b, Sign::minus));
  } else {
    F y;
    y[s] = zero;
    result = normal_->solve(y, system, b);
    system.m.apply(x, y, Sign::plus);
  }
  F r;
  const double rr = m.residual(r, b, x);
  require_finite(rr, "normal equation", result.iterations);
  result.residual = rhs.relative(rr);
  result.flops += m.flops() + system.m.flops();
  return result;
}

template <class F>
std::vector<SolveResult> DirectByNormal<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                                      const std::vector<F>& b) const {
  DirectMatrix<F> m(system.m, Sign::plus);
  std::vector<F> m_adjoint_b;
  for (const F& b_j : b) m_adjoint_b.push_back(applied(system.m, b_j, Sign::minus));
  std::vector<SolveResult> results = normal_->solve_all(x, system, m_adjoint_b);
  F r;
  for (std::size_t j = 0; j < b.size(); ++j) {
    const double bb = square(b[j], m.sites()), before = m.flops();
    const double rr = m.residual(r, b[j], x[j]);
    require_finite(rr, "normal equation", results[j].iterations);
    results[j].residual = bb > 0 ? std::sqrt(rr / bb) : 0;
    results[j].flops += m.flops() - before + system.m.flops();
  }
  return results;
}

template <class F>
SolveResult NormalByDirect<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  NormalMatrix<F> a(system.m);
  const Subset& s = a.sites();
  const StoppingCriterion& asked = criterion();
  const RightHandSide rhs(b, s, asked, "two-step solver");
  if (rhs.is_nought()) return solved_by_nought(x, s);

  F r;
  double rr = a.residual(r, b, x);
  require_finite(rr, "two-step solver", 0);
  SolveResult result;
  bool steps_converged = true;
  constexpr int kPasses = 5;
  for (int pass = 0; pass < kPasses && rhs.missed_by(rr) && steps_converged; ++pass) {
    const double before = rr;
    // First for b itself, from the guess; then for what is left of it.
    F y, d;
    if (pass == 0) {
      system.m.apply(y, x, Sign::plus);
      result.flops += system.m.flops();
      d[s] = x;
    } else {
      y[s] = zero;
      d[s] = zero;
    }
    const SolveResult first = direct_->solve(y, system, pass == 0 ? b : r, Sign::minus);
    const SolveResult second = direct_->solve(d, system, y, Sign::plus);
    add_cost(result, first);
    add_cost(result, second);
    steps_converged = first.converged && second.converged;
    if (pass == 0)
      x[s] = d;
    else
      x[s] += d;
    rr = a.residual(r, b, x);
    require_finite(rr, "two-step solver", result.iterations);
    if (pass > 0 && rr > 0.25 * before) break;
  }
  result.residual = rhs.relative(rr);
  result.converged = result.residual <= kAcceptBelow * asked.residual;
  result.applications += a.applications();
  result.flops += a.flops();
  return result;
}

template <class F>
SolveResult NormalRichardson<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  NormalMatrix<F> a(system.m);
  const SystemOperator<Single<F>> inner = single_system(system, "Richardson");
  return richardson(x, a, b, criterion_, [&](Single<F>& d, const Single<F>& r) { return inner_->solve(d, inner, r); });
}

template <class F>
SolveResult DirectRichardson<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  DirectMatrix<F> a(system.m, sign);
  const SystemOperator<Single<F>> inner = single_system(system, "Richardson");
  return richardson(x, a, b, criterion_,
                    [&](Single<F>& d, const Single<F>& r) { return inner_->solve(d, inner, r, sign); });
}

template <class F>
SolveResult SinglePrecision<F>::solve(F& x, const SystemOperator<F>& system, const F& b) const {
  NormalMatrix<F> a(system.m);
  const Subset& s = a.sites();
  const RightHandSide rhs(b, s, criterion(), "single-precision solver");
  if (rhs.is_nought()) return solved_by_nought(x, s);

  const double norm = std::sqrt(rhs.square);
  Single<F> x_single, b_single;
  b_single[s] = RealOf<F>(1 / norm) * b;
  x_single[s] = RealOf<F>(1 / norm) * x;
  SolveResult result;
  const SolveResult inner = inner_->solve(x_single, single_system(system, "single-precision solver"), b_single);
  add_inner_cost<F>(result, inner);
  x[s] = x_single;
  x[s] *= RealOf<F>(norm);

  F r;
  result.residual = rhs.relative(a.residual(r, b, x));
  // The recursion goes below what single precision can hold: that it got there is all that can be asked.
  result.converged = inner.converged ||
                     (!inner.history.empty() &&
                      *std::min_element(inner.history.begin(), inner.history.end()) <= inner_->criterion().residual);
  result.applications += a.applications();
  result.flops += a.flops();
  return result;
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class DirectByNormal<F>;                                                                                    \
  template class NormalByDirect<F>;                                                                                    \
  template class NormalRichardson<F>;                                                                                  \
  template class DirectRichardson<F>;                                                                                  \
  template class SinglePrecision<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
