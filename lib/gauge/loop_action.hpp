// Gauge actions that are sums of closed loops, S = -(1/Nc) sum_l c_l sum_x Re tr W_l(x), from a list of loops.
#pragma once

#include "lib/gauge/gauge_action.hpp"
#include "lib/gauge/loop.hpp"

#include <string>
#include <vector>

namespace qcd {

/// Action and force of one list of weighted loops. The force comes from the same list by differentiation (staples()),
/// so a new action is a new list.
class LoopAction : public GaugeAction {
 public:
  LoopAction() = default;
  /// Each loop once, in one orientation, with its coefficient c_l. Throws ShapeError for an open path.
  /// `constant` is added to S at every site.
  explicit LoopAction(std::vector<WeightedPath> loops, double constant = 0);

  const std::vector<WeightedPath>& loops() const { return loops_; }
  /// The derivative of sum_l c_l Re tr W_l with respect to the links of direction mu.
  const std::vector<WeightedPath>& staples_of(int mu) const { return staples_.at(static_cast<std::size_t>(mu)); }

  /// S(V); without a constant S is most negative for V = 1 (conv. 3).
  QDP::Double action(const GaugeField& v) const override;

  /// G_mu(x) = -(1/(2 Nc)) sum_k c_k R_k(x + mu).
  void derivative(GaugeField& g, const GaugeField& v) const override;

  /// f[mu] = -(1/2) dS/dU in the sense of conv. 4: traceless anti-Hermitian, so that dP/dt = F with H = sum |P|^2 + S:
  ///   F_mu(x) = -(1/(2 Nc)) taproj[ U_mu(x) sum_k c_k R_k(x + mu) ].
  void force(GaugeField& f, const GaugeField& u) const override;

 private:
  std::vector<WeightedPath> loops_;
  double constant_ = 0;
  std::vector<std::vector<WeightedPath>> staples_ = std::vector<std::vector<WeightedPath>>(QDP::Nd);  ///< [mu]
};

}  // namespace qcd
