#include "lib/solver/multi_shift.hpp"

#include "lib/solver/cg.hpp"
#include "lib/solver/galerkin.hpp"
#include "lib/solver/iteration.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace qcd {

using namespace QDP;

namespace {

template <class F>
constexpr int kBatch = MultiShiftCG<F>::kBatch;

/// u * p + sum_i w_i r_i over the residuals of a batch.
template <class F>
struct Combination {
  double u = 0;
  std::array<double, static_cast<std::size_t>(kBatch<F>)> w{};

  FermionExpr<F> of(const F& p, const std::vector<F>& r) const {
    FermionExpr<F> sum = RealOf<F>(u) * p;
    for (std::size_t i = 0; i < w.size(); ++i) sum = sum + RealOf<F>(w[i]) * r[i];
    return sum;
  }
};

/// One shifted system: its coefficients, and x and p as of the beginning of the batch.
template <class F>
struct Shifted {
  double shift, target;  ///< target of |r|^2
  F& x;
  F p;
  double zeta = 1, zeta_old = 1;
  bool active = true;
  Combination<F> p_now = {.u = 1}, x_change = {};

  /// The step of iteration number `i` of the batch: x += alpha_k p_k with the p_k of this iteration.
  /// alpha, beta, rr: those of A; rr after the step.
  void step(std::size_t i, double alpha, double alpha_old, double beta, double rr) {
    const double beta_k = beta * (zeta / zeta_old) * (zeta / zeta_old);
    p_now.u *= beta_k;
    for (double& w : p_now.w) w *= beta_k;
    p_now.w[i] += zeta;
    const double next =
        zeta * zeta_old * alpha_old / (alpha * beta * (zeta_old - zeta) + zeta_old * alpha_old * (1 + shift * alpha));
    const double alpha_k = alpha * next / zeta;
    x_change.u += alpha_k * p_now.u;
    for (std::size_t j = 0; j < p_now.w.size(); ++j) x_change.w[j] += alpha_k * p_now.w[j];
    zeta_old = zeta;
    zeta = next;
    active = zeta * zeta * rr > target;
  }

  /// Ends a batch with the residuals r.
  void flush(const std::vector<F>& r, const Subset& s) {
    x[s] += x_change.of(p, r);
    if (active) p[s] = p_now.of(p, r);
    p_now = {.u = 1};
    x_change = {};
  }
};

/// One residual per shift, from one for all or one for each.
std::vector<double> residual_of_each(const std::vector<double>& residuals, const StoppingCriterion& criterion,
                                     std::size_t shifts) {
  if (residuals.empty()) return std::vector<double>(shifts, criterion.residual);
  if (residuals.size() == 1) return std::vector<double>(shifts, residuals[0]);
  if (residuals.size() != shifts)
    throw ShapeError("multi-shift solver: expected one residual, or one for each of the " + std::to_string(shifts) +
                     " shifts, got " + std::to_string(residuals.size()));
  return residuals;
}

/// The criterion of a list: its smallest residual is what `criterion()` reports.
StoppingCriterion with_smallest(StoppingCriterion criterion, const std::vector<double>& residuals) {
  if (!residuals.empty()) criterion.residual = *std::min_element(residuals.begin(), residuals.end());
  return criterion;
}

/// The iteration itself: x_k by recursion, no residual recomputed.
template <class F>
SolveResult iterate(std::vector<F>& x, const FermionOperator<F>& m, const F& b, const std::vector<double>& shifts,
                    const std::vector<double>& residuals, int max_iterations) {
  NormalMatrix<F> a(m);
  const Subset& s = a.sites();
  const double bb = square(b, s);
  SolveResult result;

  std::vector<Shifted<F>> systems;
  systems.reserve(shifts.size());
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    systems.push_back({shifts[k], residuals[k] * residuals[k] * bb, x[k], F()});
    systems.back().x[s] = zero;
    systems.back().p[s] = zero;
  }
  const std::size_t batch = static_cast<std::size_t>(kBatch<F>);
  std::vector<F> r(batch + 1);
  r[0][s] = b;
  for (std::size_t i = 1; i < batch; ++i) r[i][s] = zero;  // they enter with weight nought
  F p;
  p[s] = b;

  double rr = bb, alpha_old = 1, beta = 0, updates = 0;
  std::size_t i = 0;  // iteration within the batch
  const auto any_active = [&] {
    return std::any_of(systems.begin(), systems.end(), [](const Shifted<F>& k) { return k.active; });
  };
  std::vector<bool> in_batch(systems.size(), true);
  while (any_active() && result.iterations < max_iterations) {
    const auto [ap, pending_energy] = a(p);
    const double energy = pending_energy.get();
    require_positive(energy, "multi-shift CG", result.iterations);
    const double alpha = rr / energy, old = rr;
    r[i + 1][s] = r[i] - RealOf<F>(alpha) * ap;
    rr = square(r[i + 1], s);
    ++result.iterations;
    require_finite(rr, "multi-shift CG", result.iterations);

    double slowest = 0;
    for (Shifted<F>& k : systems)
      if (k.active) {
        k.step(i, alpha, alpha_old, beta, rr);
        slowest = std::max(slowest, std::fabs(k.zeta));
        ++updates;
      }
    result.history.push_back(slowest * std::sqrt(rr / bb));

    if (++i == batch || !any_active() || result.iterations == max_iterations) {
      for (std::size_t k = 0; k < systems.size(); ++k)
        if (in_batch[k]) {
          systems[k].flush(r, s);
          in_batch[k] = systems[k].active;
        }
      std::swap(r[0], r[i]);
      i = 0;
    }
    alpha_old = alpha;
    beta = rr / old;
    p[s] = r[i] + RealOf<F>(beta) * p;
  }

  result.converged = !any_active();
  result.applications = a.applications();
  result.flops = a.flops() + axpy_flops<F>(s, 4.0 * result.iterations + 2 * updates);
  return result;
}

/// What recomputing the residual of a system, and iterations of its own, add to the result of all.
void add_system(SolveResult& all, const SolveResult& one) {
  all.converged = all.converged && one.converged;
  all.iterations += one.iterations;
  all.applications += one.applications;
  all.single_applications += one.single_applications;
  all.residual = std::max(all.residual, one.residual);
  all.flops += one.flops;
}

template <class F>
SolveResult all_solved_by_nought(std::vector<F>& x, const Subset& s) {
  SolveResult result;
  for (F& x_k : x) result = solved_by_nought(x_k, s);
  result.shift_residuals.resize(x.size());
  return result;
}

}  // namespace

template <class F>
MultiShiftCG<F>::MultiShiftCG(const StoppingCriterion& criterion, std::vector<double> residuals)
    : criterion_(with_smallest(criterion, residuals)), residuals_(std::move(residuals)) {}

template <class F>
SolveResult MultiShiftCG<F>::solve(std::vector<F>& x, const SystemOperator<F>& system, const F& b,
                                   const std::vector<double>& shifts) const {
  const std::vector<double> residuals = residual_of_each(residuals_, criterion_, shifts.size());
  const Subset& s = system.m.domain();
  x.resize(shifts.size());
  const RightHandSide rhs(b, s, criterion_, "multi-shift CG");
  if (rhs.is_nought()) return all_solved_by_nought(x, s);

  SolveResult result = iterate(x, system.m, b, shifts, residuals, criterion_.max_iterations);
  const bool all_reached = result.converged;
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    // This only computes the residual if that is what it should be.
    const StoppingCriterion alone{residuals[k], all_reached ? criterion_.max_iterations : 0};
    const SolveResult one = solve_shifted_by_cg(x[k], system.m, system.m, shifts[k], b, alone, 0);
    result.shift_residuals.push_back(one.residual);
    add_system(result, one);
  }
  return result;
}

template <class F>
MixedMultiShiftCG<F>::MixedMultiShiftCG(const StoppingCriterion& criterion, std::vector<double> residuals, double delta,
                                        double cutoff, int history)
    : criterion_(with_smallest(criterion, residuals)),
      residuals_(std::move(residuals)),
      delta_(delta),
      cutoff_(cutoff),
      history_(history) {}

template <class F>
SolveResult MixedMultiShiftCG<F>::solve(std::vector<F>& x, const SystemOperator<F>& system, const F& b,
                                        const std::vector<double>& shifts) const {
  const std::vector<double> residuals = residual_of_each(residuals_, criterion_, shifts.size());
  const FermionOperator<F>& m = system.m;
  const FermionOperator<Single<F>>& inner = *inner_system(system, InnerPrecision::single, "MixedMultiShiftCG").m;
  const Subset& s = m.domain();
  x.resize(shifts.size());
  const RightHandSide rhs(b, s, criterion_, "multi-shift CG");
  if (rhs.is_nought()) return all_solved_by_nought(x, s);

  std::vector<double> coarse = residuals;
  for (double& residual : coarse) residual = std::max(residual, cutoff_);
  std::vector<Single<F>> x_single(shifts.size());
  Single<F> b_single;
  b_single[s] = RealOf<F>(1 / std::sqrt(rhs.square)) * b;  // of norm one: no overflow in single precision
  SolveResult result = iterate(x_single, inner, b_single, shifts, coarse, criterion_.max_iterations);
  const bool all_reached = std::exchange(result.converged, true);
  const long coarse_applications = std::exchange(result.applications, 0);
  count_inner<Single<F>, F>(result, coarse_applications);

  std::vector<std::size_t> order(shifts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return shifts[i] > shifts[j]; });
  result.shift_residuals.resize(shifts.size());
  std::vector<const F*> finished;
  for (const std::size_t k : order) {
    x[k][s] = x_single[k];
    x[k][s] *= RealOf<F>(std::sqrt(rhs.square));
    const StoppingCriterion alone{residuals[k], all_reached ? criterion_.max_iterations : 0};
    if (history_ > 0 && !finished.empty()) {
      std::vector<const F*> vectors = {&x[k]};
      const std::size_t last = std::min(finished.size(), static_cast<std::size_t>(history_));
      vectors.insert(vectors.end(), finished.end() - static_cast<std::ptrdiff_t>(last), finished.end());
      NormalMatrix<F> a(m, shifts[k]);
      F guess;
      galerkin_guess<F>(guess, a, b, vectors);
      x[k][s] = guess;
      result.applications += a.applications();
      result.flops += a.flops();
    }
    const SolveResult one = solve_shifted_by_cg(x[k], m, inner, shifts[k], b, alone, delta_);
    result.shift_residuals[k] = one.residual;
    add_system(result, one);
    finished.push_back(&x[k]);
  }
  return result;
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class MultiShiftCG<F>;                                                                                      \
  template class MixedMultiShiftCG<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
