#include "lib/dirac/quark_operator.hpp"

namespace qcd {

using namespace QDP;

template <class F>
QuarkOperator<F>::QuarkOperator(const Quark<F>& quark, std::shared_ptr<const LinkState> state)
    : quark_(quark), state_(std::move(state)), d_(quark.action->make(state_->links())) {
  m_ = make_preconditioned(d_, quark.preconditioning, quark.twist);
}

template <class F>
QuarkOperator<F>::QuarkOperator(const Quark<F>& quark, const GaugeField& u)
    : QuarkOperator(quark, std::make_shared<LinkState>(u, quark.action->link_maps())) {}

template <class F>
QuarkOperator<F>::QuarkOperator(const Quark<F>& quark, LinkStates& states)
    : QuarkOperator(quark, states.of(quark.action->link_maps())) {}

template <class F>
QuarkOperator<F>::~QuarkOperator() = default;

template <class F>
SystemOperator<F> QuarkOperator<F>::system() const {
  using Partner = std::unique_ptr<FermionOperator<Single<F>>>;
  const auto made_once = [this](Partner& partner, auto make) {
    return [this, &partner, make]() -> const FermionOperator<Single<F>>& {
      if (!partner) {
        const auto v = converted_links<LinksOf<Single<F>>>(state_->links());
        partner = make_preconditioned(((*quark_.action).*make)(v), quark_.preconditioning, quark_.twist);
      }
      return *partner;
    };
  };
  return {*m_, made_once(single_, &FermionAction<F>::make_single), made_once(half_, &FermionAction<F>::make_half)};
}

template class QuarkOperator<LatticeFermion>;
template class QuarkOperator<LatticeStaggeredFermion>;

}  // namespace qcd
