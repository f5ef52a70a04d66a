#include "lib/solver/solver.hpp"

#include "lib/solver/iteration.hpp"

#include <cstdio>

namespace qcd {

namespace {

template <class F, class Solver>
std::vector<SolveResult> one_by_one(const Solver& solver, std::vector<F>& x, const SystemOperator<F>& system,
                                    const std::vector<F>& b) {
  require_as_many(x.size(), b.size());
  std::vector<SolveResult> results;
  for (std::size_t i = 0; i < b.size(); ++i) results.push_back(solver.solve(x[i], system, b[i]));
  return results;
}

}  // namespace

template <class F>
std::vector<SolveResult> NormalSolver<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                                    const std::vector<F>& b) const {
  return one_by_one(*this, x, system, b);
}

template <class F>
std::vector<SolveResult> DirectSolver<F>::solve_all(std::vector<F>& x, const SystemOperator<F>& system,
                                                    const std::vector<F>& b) const {
  return one_by_one(*this, x, system, b);
}

void require_as_many(std::size_t solutions, std::size_t sides) {
  if (solutions != sides)
    throw ShapeError("solve_all: expected as many solutions as right-hand sides (" + std::to_string(sides) + "), got " +
                     std::to_string(solutions));
}

void require_converged(const SolveResult& result, const StoppingCriterion& asked, const std::string& what) {
  if (result.converged) return;
  char numbers[200];
  std::snprintf(numbers, sizeof numbers,
                ": expected |b - A x| <= %.3g |b| within %d iterations, got %.3g after %d iterations", asked.residual,
                asked.max_iterations, result.residual, result.iterations);
  throw NumericsError(what + numbers +
                      ". More iterations, a larger residual, or a quark that is not as light would let it converge.");
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class NormalSolver<F>;                                                                                      \
  template class DirectSolver<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
