// Gauge actions that are sums of closed loops, S = -(1/Nc) sum_l c_l sum_x Re tr W_l(x), from a list of loops.
#pragma once

#include "lib/gauge/loop.hpp"

#include <string>
#include <vector>

namespace qcd {

/// Action and force of one list of weighted loops. The force comes from the same list by differentiation (staples()),
/// so a new action is a new list.
class LoopAction {
 public:
  LoopAction() = default;
  /// Each loop once, in one orientation, with its coefficient c_l. Throws ShapeError for an open path.
  explicit LoopAction(std::vector<WeightedPath> loops);

  const std::vector<WeightedPath>& loops() const { return loops_; }

  /// S(U); no constant is added, so S is most negative for U = 1 (conv. 3).
  QDP::Double action(const GaugeField& u) const;

  /// f[mu] = -(1/2) dS/dU in the sense of conv. 4: traceless anti-Hermitian, so that dP/dt = F with H = sum |P|^2 + S:
  ///   F_mu(x) = -(1/(2 Nc)) taproj[ U_mu(x) sum_k c_k R_k(x + mu) ].
  void force(GaugeField& f, const GaugeField& u) const;

 private:
  std::vector<WeightedPath> loops_;
  std::vector<std::vector<WeightedPath>> staples_;  ///< [mu]
};

}  // namespace qcd
