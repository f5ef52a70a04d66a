#include "lib/gauge/trace_action.hpp"

#include <optional>

namespace qcd {

using namespace QDP;

TraceAction::TraceAction(std::vector<TraceTerm> terms) : terms_(std::move(terms)), links_(Nd) {
  for (int mu = 0; mu < Nd; ++mu)
    for (const TraceTerm& term : terms_) links_[static_cast<std::size_t>(mu)].push_back(links_along(term.loop, mu));
}

namespace {

LatticeComplex normalised_trace(const GaugeField& v, const Path& loop) {
  LatticeComplex t;
  t = Real(1.0 / Nc) * trace(path_product(v, loop));
  return t;
}

}  // namespace

Double TraceAction::action(const GaugeField& v) const {
  Double s = zero;
  for (const TraceTerm& term : terms_) s += sum(term.function.density(normalised_trace(v, term.loop)));
  return s;
}

void TraceAction::derivative(GaugeField& g, const GaugeField& v) const {
  require_gauge_field(v, "TraceAction::derivative");
  std::vector<LatticeComplex> gradients(terms_.size());
  for (std::size_t l = 0; l < terms_.size(); ++l)
    gradients[l] = Real(1.0 / (2 * Nc)) * terms_[l].function.gradient(normalised_trace(v, terms_[l].loop));

  g.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    std::optional<ColorMatrixExpr> sum;
    for (std::size_t l = 0; l < terms_.size(); ++l)
      for (const LoopLink& link : links_[static_cast<std::size_t>(mu)][l]) {
        const ComplexExpr d = at_end_of(gradients[l], link.home);
        const ColorMatrixExpr term = (link.reversed ? conj(d) : d) * path_product(v, link.rest, {forward(mu)});
        sum = sum ? *sum + term : term;
      }
    if (sum)
      g[mu] = *sum;
    else
      g[mu] = zero;
  }
}

}  // namespace qcd
