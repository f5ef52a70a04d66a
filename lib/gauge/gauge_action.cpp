#include "lib/gauge/gauge_action.hpp"

#include "lib/gauge/su3.hpp"

namespace qcd {

using namespace QDP;

void GaugeAction::force(GaugeField& f, const GaugeField& u) const {
  derivative(f, u);
  for (int mu = 0; mu < Nd; ++mu) f[mu] = taproj(u[mu] * f[mu]);
}

namespace {

/// result = sum of compute(term, field).
template <class Terms, class Compute>
void accumulate(GaugeField& result, const Terms& terms, const Compute& compute) {
  GaugeFieldTotal total;
  for (const auto& term : terms) {
    GaugeField part;
    compute(*term, part);
    total.add(std::move(part));
  }
  result = total.take();
}

}  // namespace

Double GaugeActionSum::action(const GaugeField& v) const {
  Double s = zero;
  for (const auto& term : terms_) s += term->action(v);
  return s;
}

void GaugeActionSum::derivative(GaugeField& g, const GaugeField& v) const {
  accumulate(g, terms_, [&](const GaugeAction& term, GaugeField& part) { term.derivative(part, v); });
}

void GaugeActionSum::force(GaugeField& f, const GaugeField& u) const {
  accumulate(f, terms_, [&](const GaugeAction& term, GaugeField& part) { term.force(part, u); });
}

}  // namespace qcd
