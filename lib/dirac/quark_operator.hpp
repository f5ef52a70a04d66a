// A quark action at one gauge field: its links, D, and the operator M that pseudofermions and solvers see.
#pragma once

#include "lib/dirac/fermion_action.hpp"
#include "lib/solver/solver.hpp"

#include <memory>

namespace qcd {

/// An action with its preconditioning; `twist` adds i twist gamma_5 to M (TwistedShift). Both are the action's own unless
/// given.
template <class F>
struct Quark {
  Quark(std::shared_ptr<const FermionAction<F>> of) : Quark(of, of ? of->preconditioning() : Preconditioning::none) {}
  Quark(std::shared_ptr<const FermionAction<F>> of, Preconditioning how) : Quark(of, how, of ? of->twist() : 0) {}
  Quark(std::shared_ptr<const FermionAction<F>> of, Preconditioning how, double its_twist)
      : action(std::move(of)), preconditioning(how), twist(its_twist) {}

  std::shared_ptr<const FermionAction<F>> action;
  Preconditioning preconditioning;
  double twist;
};

template <class F>
class QuarkOperator {
 public:
  QuarkOperator(const Quark<F>& quark, const GaugeField& u);
  /// On the state that the action's maps have in `states`, which operators with the same links share.
  QuarkOperator(const Quark<F>& quark, LinkStates& states);
  ~QuarkOperator();

  const LinkState& state() const { return *state_; }
  const DiracOperator<F>& d() const { return *d_; }
  const FermionOperator<F>& m() const { return *m_; }
  /// M with its partners for inner iterations, made when a solver first asks for them. Valid as long as *this.
  SystemOperator<F> system() const;
  /// What M x = b has to do with the operator on all sites; not for even_source.
  SchurSystem<F> schur() const { return SchurSystem<F>(d_, quark_.preconditioning, quark_.twist); }

 private:
  QuarkOperator(const Quark<F>& quark, std::shared_ptr<const LinkState> state);

  Quark<F> quark_;
  std::shared_ptr<const LinkState> state_;
  std::shared_ptr<const DiracOperator<F>> d_;
  std::unique_ptr<FermionOperator<F>> m_;
  mutable std::unique_ptr<FermionOperator<Single<F>>> single_, half_;
};

}  // namespace qcd
