#include "lib/meas/propagator.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

template <class F>
std::vector<typename PropagatorTraits<F>::Site> unit_vectors() {
  using Site = typename PropagatorTraits<F>::Site;
  std::vector<Site> units;
  for (int s = 0; s < NumSpins<Site>::value; ++s)
    for (int c = 0; c < Nc; ++c) {
      ColorVector color = zero;
      pokeColor(color, Complex(cmplx(Real(1), Real(0))), c);
      Site e = zero;
      pokeSpin(e, color, s);
      units.push_back(e);
    }
  return units;
}

namespace {

/// Fields on even sites alone do not hold a source: staggered quarks are solved on all sites.
Preconditioning for_propagators(Preconditioning p) {
  return p == Preconditioning::even_source ? Preconditioning::none : p;
}

}  // namespace

template <class F>
QuarkInverter<F>::QuarkInverter(std::shared_ptr<const FermionAction<F>> action,
                                std::shared_ptr<const DirectSolver<F>> solver, const GaugeField& u)
    : quark_(std::make_unique<QuarkOperator<F>>(Quark<F>(action, for_propagators(action->preconditioning())), u)),
      schur_(quark_->schur()),
      solver_(std::move(solver)) {}

template <class F>
std::vector<F> QuarkInverter<F>::solve(const std::vector<F>& chi, std::vector<SolveResult>* results) const {
  std::vector<F> b, x;
  for (const F& source : chi) {
    b.push_back(schur_.prepare(source));
    x.push_back(F(zero));
  }
  const std::vector<SolveResult> done = solver_->solve_all(x, quark_->system(), b);
  std::vector<F> psi;
  for (std::size_t i = 0; i < chi.size(); ++i) {
    require_converged(done[i], solver_->criterion(), "quark propagator");
    psi.push_back(schur_.reconstruct(x[i], chi[i]));
  }
  if (results) results->insert(results->end(), done.begin(), done.end());
  return psi;
}

template <class F>
F QuarkInverter<F>::operator()(const F& chi, std::vector<SolveResult>* results) const {
  return std::move(solve({chi}, results)[0]);
}

template <class F>
PropagatorOf<F> QuarkInverter<F>::propagator(const PropagatorOf<F>& source, std::vector<SolveResult>* results) const {
  const auto units = unit_vectors<F>();
  std::vector<F> columns;
  for (const auto& e : units) columns.push_back(F(source * e));
  const std::vector<F> solutions = solve(columns, results);
  PropagatorOf<F> s = zero;
  for (std::size_t i = 0; i < units.size(); ++i) s += outerProduct(solutions[i], units[i]);
  return s;
}

template <class F>
double QuarkInverter<F>::residual(const F& psi, const F& chi) const {
  const F difference = chi - schur_.apply(psi);
  return std::sqrt(toDouble(norm2(difference)) / toDouble(norm2(chi)));
}

int total_iterations(const std::vector<SolveResult>& results) {
  int total = 0;
  for (const SolveResult& result : results) total += result.iterations;
  return total;
}

template std::vector<Fermion> unit_vectors<LatticeFermion>();
template std::vector<StaggeredFermion> unit_vectors<LatticeStaggeredFermion>();
template class QuarkInverter<LatticeFermion>;
template class QuarkInverter<LatticeStaggeredFermion>;

}  // namespace qcd
