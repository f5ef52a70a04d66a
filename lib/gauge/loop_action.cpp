#include "lib/gauge/loop_action.hpp"

#include "lib/gauge/su3.hpp"

namespace qcd {

using namespace QDP;

LoopAction::LoopAction(std::vector<WeightedPath> loops) : loops_(std::move(loops)) {
  std::erase_if(loops_, [](const WeightedPath& loop) { return loop.weight == 0; });
  for (int mu = 0; mu < Nd; ++mu) staples_.push_back(staples(loops_, mu));
}

Double LoopAction::action(const GaugeField& u) const { return Double(-1.0 / Nc) * sum_real_trace(u, loops_); }

void LoopAction::force(GaugeField& f, const GaugeField& u) const {
  require_gauge_field(u, "LoopAction::force");
  f.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    if (loops_.empty() || staples_[static_cast<std::size_t>(mu)].empty()) {
      f[mu] = zero;
      continue;
    }
    const auto staple = weighted_sum(u, staples_[static_cast<std::size_t>(mu)], {forward(mu)});
    f[mu] = Real(-1.0 / (2 * Nc)) * taproj(u[mu] * staple);
  }
}

}  // namespace qcd
