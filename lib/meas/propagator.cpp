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

/// D, M, and M in single precision where the solver asks for it.
template <class F>
struct QuarkInverter<F>::System {
  System(std::shared_ptr<const FermionAction<F>> a, const GaugeField& u)
      : action(std::move(a)),
        links(LinkState(u, action->link_maps()).links()),
        dirac(action->make(links)),
        schur(dirac, for_propagators(action->preconditioning())) {}

  SystemOperator<F> op() const {
    return {schur.op(), [this]() -> const FermionOperator<Single<F>>& {
              if (!single)
                single = make_preconditioned<Single<F>>(action->make_single(converted_links<LinksOf<Single<F>>>(links)),
                                                        for_propagators(action->preconditioning()));
              return *single;
            }};
  }

  std::shared_ptr<const FermionAction<F>> action;
  GaugeField links;
  std::shared_ptr<const DiracOperator<F>> dirac;
  SchurSystem<F> schur;
  mutable std::unique_ptr<FermionOperator<Single<F>>> single;
};

template <class F>
QuarkInverter<F>::QuarkInverter(std::shared_ptr<const FermionAction<F>> action,
                                std::shared_ptr<const DirectSolver<F>> solver, const GaugeField& u)
    : system_(std::make_unique<System>(std::move(action), u)), solver_(std::move(solver)) {}

template <class F>
QuarkInverter<F>::~QuarkInverter() = default;

template <class F>
const DiracOperator<F>& QuarkInverter<F>::dirac() const {
  return *system_->dirac;
}

template <class F>
std::vector<F> QuarkInverter<F>::solve(const std::vector<F>& chi, std::vector<SolveResult>* results) const {
  std::vector<F> b, x;
  for (const F& source : chi) {
    b.push_back(system_->schur.prepare(source));
    x.push_back(F(zero));
  }
  const std::vector<SolveResult> done = solver_->solve_all(x, system_->op(), b);
  std::vector<F> psi;
  for (std::size_t i = 0; i < chi.size(); ++i) {
    require_converged(done[i], solver_->criterion(), "quark propagator");
    psi.push_back(system_->schur.reconstruct(x[i], chi[i]));
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
  const FermionExpr<F> p = +psi;
  const F difference = chi - dirac().diagonal(p, Sign::plus) - dirac().hop(p, Sign::plus);
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
