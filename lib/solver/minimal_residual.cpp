#include "lib/solver/minimal_residual.hpp"

#include "lib/solver/iteration.hpp"

namespace qcd {

using namespace QDP;

template <class F>
SolveResult MR<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  DirectMatrix<F> a(system.m, sign);
  const Subset& s = a.sites();
  const RightHandSide rhs(b, s, criterion_, "MR");
  if (rhs.is_nought()) return solved_by_nought(x, s);
  SolveResult result;

  F r, mr;
  double rr = a.residual(r, b, x);
  require_finite(rr, "MR", 0);
  Progress progress;
  bool recomputed = true, stalled = false;
  while (rr > (recomputed ? kContinueAbove * kContinueAbove : 1) * rhs.target &&
         result.iterations < criterion_.max_iterations) {
    a.apply(mr, r);
    const double square_of_image = square(mr, s);
    require_finite(square_of_image, "MR", result.iterations);
    const HostComplex step = square_of_image > 0 ? overrelaxation_ * product(mr, r, s) / square_of_image : 0;
    if (step == 0.0) break;  // M r is nought or orthogonal to r: MR has nowhere to go
    x[s] += lattice_scalar<F>(step) * r;
    r[s] -= lattice_scalar<F>(step) * mr;
    rr = square(r, s);
    recomputed = false;
    ++result.iterations;
    result.history.push_back(rhs.relative(rr));
    require_finite(rr, "MR", result.iterations);
    if (rr <= rhs.target) {
      rr = a.residual(r, b, x);
      require_finite(rr, "MR", result.iterations);
      recomputed = true;
      stalled = progress.stalled(rr, true);
      if (stalled) break;
    }
  }

  if (!recomputed) {
    rr = a.residual(r, b, x);
    require_finite(rr, "MR", result.iterations);
  }
  result.residual = rhs.relative(rr);
  result.converged = result.residual <= (stalled ? kAcceptBelow : kContinueAbove) * criterion_.residual;
  result.applications = a.applications();
  result.flops = a.flops() + axpy_flops<F>(s, 8.0 * result.iterations);
  return result;
}

template <class F>
SolveResult GCR<F>::solve(F& x, const SystemOperator<F>& system, const F& b, Sign sign) const {
  DirectMatrix<F> a(system.m, sign);
  const Subset& s = a.sites();
  const RightHandSide rhs(b, s, criterion_, "GCR");
  if (rhs.is_nought()) return solved_by_nought(x, s);
  SolveResult result;

  const auto k = static_cast<std::size_t>(directions_);
  std::vector<F> z(k), q(k);  // directions, and M times them, the latter orthonormal
  F r;
  double rr = a.residual(r, b, x), combinations = 0;
  require_finite(rr, "GCR", 0);
  Progress progress;
  bool stalled = false, stuck = false;
  while (rhs.missed_by(rr) && result.iterations < criterion_.max_iterations && !stuck) {
    for (std::size_t j = 0; j < k && rr > rhs.target && result.iterations < criterion_.max_iterations; ++j) {
      if (preconditioner_) {
        z[j][s] = zero;
        const SolveResult inner = preconditioner_->solve(z[j], system, r, sign);
        result.applications += inner.applications;
        result.single_applications += inner.single_applications;
        result.flops += inner.flops;
      } else {
        z[j][s] = r;
      }
      a.apply(q[j], z[j]);

      std::vector<HostComplex> c;
      std::vector<const F*> z_before, q_before;
      for (std::size_t i = 0; i < j; ++i) {
        c.push_back(-product(q[i], q[j], s));
        z_before.push_back(&z[i]);
        q_before.push_back(&q[i]);
      }
      combine(q[j], s, c, q_before, true);
      combine(z[j], s, c, z_before, true);
      const double norm = std::sqrt(square(q[j], s));
      require_finite(norm, "GCR", result.iterations);
      const HostComplex step = norm > 0 ? product(q[j], r, s) / norm : 0;
      stuck = step == 0.0;  // no direction lowers the residual
      if (stuck) break;
      q[j][s] = RealOf<F>(1 / norm) * q[j];
      z[j][s] = RealOf<F>(1 / norm) * z[j];
      x[s] += lattice_scalar<F>(step) * z[j];
      r[s] -= lattice_scalar<F>(step) * q[j];
      rr = square(r, s);
      combinations += 8.0 * static_cast<double>(j);
      ++result.iterations;
      result.history.push_back(rhs.relative(rr));
      require_finite(rr, "GCR", result.iterations);
    }
    const bool reached = rr <= rhs.target;
    rr = a.residual(r, b, x);
    require_finite(rr, "GCR", result.iterations);
    stalled = reached && progress.stalled(rr, reached);
    if (stalled) break;
  }

  result.residual = rhs.relative(rr);
  result.converged = result.residual <= (stalled ? kAcceptBelow : kContinueAbove) * criterion_.residual;
  result.applications += a.applications();
  result.flops += a.flops() + axpy_flops<F>(s, combinations + 9.0 * result.iterations);
  return result;
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class MR<F>;                                                                                                \
  template class GCR<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
