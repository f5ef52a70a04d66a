#include "lib/gauge/loop_action.hpp"

#include "lib/gauge/su3.hpp"

namespace qcd {

using namespace QDP;

LoopAction::LoopAction(std::vector<WeightedPath> loops, double constant)
    : loops_(std::move(loops)), constant_(constant) {
  std::erase_if(loops_, [](const WeightedPath& loop) { return loop.weight == 0; });
  for (int mu = 0; mu < Nd; ++mu) staples_[static_cast<std::size_t>(mu)] = staples(loops_, mu);
}

Double LoopAction::action(const GaugeField& v) const {
  const Double s = Double(-1.0 / Nc) * sum_real_trace(v, loops_);
  return constant_ == 0 ? s : s + Double(constant_) * Double(Layout::vol());
}

namespace {

/// result[mu] = -(1/(2 Nc)) compute(mu, sum of the staples), nought where there are none.
template <class Compute>
void from_staples(GaugeField& result, const GaugeField& v, const LoopAction& action, const Compute& compute) {
  result.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    if (action.staples_of(mu).empty())
      result[mu] = zero;
    else
      result[mu] = Real(-1.0 / (2 * Nc)) * compute(mu, weighted_sum(v, action.staples_of(mu), {forward(mu)}));
  }
}

}  // namespace

void LoopAction::derivative(GaugeField& g, const GaugeField& v) const {
  require_gauge_field(v, "LoopAction::derivative");
  from_staples(g, v, *this, [](int, const ColorMatrixExpr& staple) { return staple; });
}

void LoopAction::force(GaugeField& f, const GaugeField& u) const {
  require_gauge_field(u, "LoopAction::force");
  from_staples(f, u, *this, [&](int mu, const ColorMatrixExpr& staple) { return taproj(u[mu] * staple); });
}

}  // namespace qcd
