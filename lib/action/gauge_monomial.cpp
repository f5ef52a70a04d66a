#include "lib/action/gauge_monomial.hpp"

namespace qcd {

QDP::Double GaugeMonomial::action(const GaugeField& u, const Log&) {
  return action_->action(LinkState(u, links_).links());
}

void GaugeMonomial::force(GaugeField& f, const GaugeField& u, const Log&) {
  if (links_.empty()) {
    action_->force(f, u);
    return;
  }
  const LinkState state(u, links_);
  GaugeField g;
  action_->derivative(g, state.links());
  f = state.force(g);
}

}  // namespace qcd
