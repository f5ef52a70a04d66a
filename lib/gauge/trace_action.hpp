// Gauge actions that are functions of the traces of loops: powers, adjoint representations, products of two loops.
//
//   S = sum_l sum_x s_l(x),   s_l a function of the field T_l(y) = tr W_l(y) / Nc, at y = x or near it.
//
// With D_l(x) such that dS = sum_x Re[ D_l(x) dT_l(x) ], the product rule gives the derivative of conv. 9,
//   G_mu(x) = 1/(2 Nc) sum_l sum_links D_l(home) R(x + mu),
// with the links of a loop, `home` and R from its path (links_along), and D_l conjugated where the loop runs through
// the link backward. So an action is a list of paths, functions and their gradients.
#pragma once

#include "lib/gauge/gauge_action.hpp"
#include "lib/gauge/loop.hpp"

#include <functional>
#include <vector>

namespace qcd {

/// Expressions with a real and with a complex number per site, not yet computed.
using RealExpr = decltype(QDP::real(std::declval<const QDP::LatticeComplex&>()));
using ComplexExpr = decltype(QDP::conj(std::declval<const QDP::LatticeComplex&>()));

/// A function of the normalised traces T of one loop. Both are called when a lattice exists.
struct TraceFunction {
  std::function<RealExpr(const QDP::LatticeComplex& t)> density;      ///< s(x)
  std::function<ComplexExpr(const QDP::LatticeComplex& t)> gradient;  ///< D(x), dS = sum_x Re[D dT]
};

/// One loop and its function.
struct TraceTerm {
  Path loop;
  TraceFunction function;
};

class TraceAction : public GaugeAction {
 public:
  /// Throws ShapeError for an open path.
  explicit TraceAction(std::vector<TraceTerm> terms);

  QDP::Double action(const GaugeField& v) const override;
  void derivative(GaugeField& g, const GaugeField& v) const override;

 private:
  std::vector<TraceTerm> terms_;
  std::vector<std::vector<std::vector<LoopLink>>> links_;  ///< [mu][term]
};

}  // namespace qcd
