// A quark action as an input describes it: which links, which operator, which preconditioning.
#pragma once

#include "lib/dirac/dirichlet.hpp"
#include "lib/dirac/preconditioned.hpp"
#include "lib/gauge/boundary.hpp"
#include "lib/io/table.hpp"

#include <memory>
#include <type_traits>

namespace qcd {

/// F is LatticeFermion or LatticeStaggeredFermion in the precision of the program.
template <class F>
class FermionAction {
 public:
  virtual ~FermionAction() = default;

  /// The way from U to the links V of the operator: smearing first, boundary conditions and phases last.
  virtual const LinkMaps& link_maps() const = 0;

  /// D on the links `v`, in the precision of the program and in single precision; half: with its links in 16 bits.
  virtual std::shared_ptr<const DiracOperator<F>> make(const LinksOf<F>& v) const = 0;
  virtual std::shared_ptr<const DiracOperator<Single<F>>> make_single(const LinksOf<Single<F>>& v) const = 0;
  virtual std::shared_ptr<const DiracOperator<Single<F>>> make_half(const LinksOf<Single<F>>& v) const = 0;

  /// The preconditioning that the action's name stands for.
  virtual Preconditioning preconditioning() const = 0;
  /// i twist gamma_5 is added to the preconditioned operator M (Chroma's TwistedM).
  virtual double twist() const { return 0; }
};

/// The action of an operator class: Operator<F>(links, parameters) on the links of `maps`. With a Schroedinger
/// functional boundary among the maps, quark fields vanish on it.
template <class F, template <class> class Operator, class Parameters>
class OperatorAction : public FermionAction<F> {
 public:
  OperatorAction(LinkMaps maps, Parameters parameters, Preconditioning preconditioning, double twist = 0)
      : maps_(std::move(maps)),
        boundary_(find_schroedinger_boundary(maps_)),
        parameters_(std::move(parameters)),
        preconditioning_(preconditioning),
        twist_(twist) {}

  const LinkMaps& link_maps() const override { return maps_; }
  std::shared_ptr<const DiracOperator<F>> make(const LinksOf<F>& v) const override { return make_on<F>(v); }
  std::shared_ptr<const DiracOperator<Single<F>>> make_single(const LinksOf<Single<F>>& v) const override {
    return make_on<Single<F>>(v);
  }
  std::shared_ptr<const DiracOperator<Single<F>>> make_half(const LinksOf<Single<F>>& v) const override {
    return make_on<Single<F>>(v, true);
  }
  Preconditioning preconditioning() const override { return preconditioning_; }
  double twist() const override { return twist_; }

 private:
  template <class G>
  std::shared_ptr<const DiracOperator<G>> make_on(const LinksOf<G>& v, bool half = false) const {
    auto d = std::make_shared<Operator<G>>(v, parameters_);
    if (half) d->keep_in_half();
    if (!boundary_) return d;
    return std::make_shared<DirichletOperator<G>>(std::move(d), boundary_->sites());
  }

  LinkMaps maps_;
  std::shared_ptr<const SchroedingerBoundary> boundary_;
  Parameters parameters_;
  Preconditioning preconditioning_;
  double twist_;
};

using WilsonTypeAction = FermionAction<QDP::LatticeFermion>;
using StaggeredTypeAction = FermionAction<QDP::LatticeStaggeredFermion>;

/// FermionAction/FermAct -> action.
const Table<std::shared_ptr<const WilsonTypeAction>>& wilson_type_action_table();
const Table<std::shared_ptr<const StaggeredTypeAction>>& staggered_type_action_table();
/// That of the actions for a kind of field.
template <class F>
const Table<std::shared_ptr<const FermionAction<F>>>& fermion_action_table() {
  if constexpr (std::is_same_v<F, QDP::LatticeFermion>)
    return wilson_type_action_table();
  else
    return staggered_type_action_table();
}

}  // namespace qcd
