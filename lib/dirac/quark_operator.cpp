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
  return {*m_, [this]() -> const FermionOperator<Single<F>>& {
            if (!single_) {
              const auto v = converted_links<LinksOf<Single<F>>>(state_->links());
              single_ = make_preconditioned(quark_.action->make_single(v), quark_.preconditioning, quark_.twist);
            }
            return *single_;
          }};
}

template class QuarkOperator<LatticeFermion>;
template class QuarkOperator<LatticeStaggeredFermion>;

}  // namespace qcd
