// What a gauge action is: a number made of links, and its derivative.
#pragma once

#include "lib/gauge/gauge_field.hpp"

#include <memory>
#include <vector>

namespace qcd {

/// S[V] of links V, which need not be unitary (boundary conditions and smearing come before, link_map.hpp).
class GaugeAction {
 public:
  virtual ~GaugeAction() = default;

  /// S, normalised as conv. 3 says unless the action's row in gauge_action_table says otherwise.
  virtual QDP::Double action(const GaugeField& v) const = 0;

  /// g = the derivative of conv. 9, dS = 2 sum Re tr(dV G), [Nd]; overwritten. `g` and `v` must differ.
  virtual void derivative(GaugeField& g, const GaugeField& v) const = 0;

  /// f = taproj(U G), the force of conv. 4 where the action sees U itself. `f` and `u` must differ.
  virtual void force(GaugeField& f, const GaugeField& u) const;
};

/// The sum of several actions.
class GaugeActionSum : public GaugeAction {
 public:
  explicit GaugeActionSum(std::vector<std::shared_ptr<const GaugeAction>> terms) : terms_(std::move(terms)) {}

  QDP::Double action(const GaugeField& v) const override;
  void derivative(GaugeField& g, const GaugeField& v) const override;
  void force(GaugeField& f, const GaugeField& u) const override;

 private:
  std::vector<std::shared_ptr<const GaugeAction>> terms_;
};

}  // namespace qcd
