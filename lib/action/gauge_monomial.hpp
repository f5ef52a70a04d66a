// The gauge action as a term of molecular dynamics.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/gauge/loop_action.hpp"

namespace qcd {

class GaugeMonomial : public Monomial {
 public:
  explicit GaugeMonomial(LoopAction loops) : loops_(std::move(loops)) {}

  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override;
  std::string log_tag() const override { return "GaugeMonomial"; }

 private:
  LoopAction loops_;
};

}  // namespace qcd
