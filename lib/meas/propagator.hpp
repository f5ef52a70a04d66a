// Quark propagators: D S = source, one solve per spin and colour.
#pragma once

#include "lib/dirac/quark_operator.hpp"

#include <memory>
#include <string>
#include <vector>

namespace qcd {

/// The field whose columns are fields F: a propagator.
template <class F>
struct PropagatorTraits;
template <>
struct PropagatorTraits<QDP::LatticeFermion> {
  using Propagator = QDP::LatticePropagator;
  using Site = QDP::Fermion;  ///< one value of F
};
template <>
struct PropagatorTraits<QDP::LatticeStaggeredFermion> {
  using Propagator = QDP::LatticeStaggeredPropagator;
  using Site = QDP::StaggeredFermion;
};
template <class F>
using PropagatorOf = typename PropagatorTraits<F>::Propagator;

/// The unit vectors of spin and colour: (s, c) -> s Nc + c.
template <class F>
std::vector<typename PropagatorTraits<F>::Site> unit_vectors();

/// The inverse of one quark's Dirac operator on one gauge field.
template <class F>
class QuarkInverter {
 public:
  /// The links of `action` from `u`. Preconditioning and twist are the action's; staggered quarks are solved on all sites.
  QuarkInverter(std::shared_ptr<const FermionAction<F>> action, std::shared_ptr<const DirectSolver<F>> solver,
                const GaugeField& u);

  /// psi = D^-1 chi, starting from nought. Throws NumericsError if the solver does not converge.
  /// With `results`, what the solver did is appended.
  F operator()(const F& chi, std::vector<SolveResult>* results = nullptr) const;

  /// All columns of D^-1 source.
  PropagatorOf<F> propagator(const PropagatorOf<F>& source, std::vector<SolveResult>* results = nullptr) const;

  /// |chi - D psi| / |chi|, with the operator on all sites, TwistedM included.
  double residual(const F& psi, const F& chi) const;

  const DiracOperator<F>& dirac() const { return quark_->d(); }

 private:
  std::vector<F> solve(const std::vector<F>& chi, std::vector<SolveResult>* results) const;

  std::unique_ptr<QuarkOperator<F>> quark_;
  SchurSystem<F> schur_;
  std::shared_ptr<const DirectSolver<F>> solver_;
};

/// sum of the iterations of solves.
int total_iterations(const std::vector<SolveResult>& results);

}  // namespace qcd
