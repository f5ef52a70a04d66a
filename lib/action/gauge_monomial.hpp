// The gauge action as a term of molecular dynamics.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/gauge/gauge_action.hpp"
#include "lib/gauge/link_map.hpp"

namespace qcd {

/// S[V(U)] with the links V that boundary conditions and smearing make of U.
class GaugeMonomial : public Monomial {
 public:
  explicit GaugeMonomial(std::shared_ptr<const GaugeAction> action, LinkMaps links = {})
      : action_(std::move(action)), links_(std::move(links)) {}

  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override;
  std::string log_tag() const override { return "GaugeMonomial"; }

 private:
  std::shared_ptr<const GaugeAction> action_;
  LinkMaps links_;
};

}  // namespace qcd
