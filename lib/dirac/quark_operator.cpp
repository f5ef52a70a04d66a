#include "lib/dirac/quark_operator.hpp"

#include "lib/dirac/twisted_shift.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// M of D, with the twist where there is one. Staggered fields carry no spin for gamma_5 to act on.
template <class F>
std::unique_ptr<FermionOperator<F>> make_operator(std::shared_ptr<const DiracOperator<F>> d,
                                                  Preconditioning preconditioning, double twist) {
  auto m = make_preconditioned(std::move(d), preconditioning);
  if (twist == 0) return m;
  if constexpr (std::is_same_v<F, LatticeFermionD> || std::is_same_v<F, LatticeFermionF>)
    return std::make_unique<TwistedShift<F>>(std::move(m), twist);
  else
    throw ShapeError("QuarkOperator: expected twist = 0 for staggered fermions, got " + std::to_string(twist));
}

}  // namespace

template <class F>
QuarkOperator<F>::QuarkOperator(const Quark<F>& quark, std::shared_ptr<const LinkState> state)
    : quark_(quark), state_(std::move(state)), d_(quark.action->make(state_->links())) {
  m_ = make_operator(d_, quark.preconditioning, quark.twist);
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
              single_ = make_operator(quark_.action->make_single(v), quark_.preconditioning, quark_.twist);
            }
            return *single_;
          }};
}

template class QuarkOperator<LatticeFermion>;
template class QuarkOperator<LatticeStaggeredFermion>;

}  // namespace qcd
