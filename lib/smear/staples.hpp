// Staples of smeared links, where the sides may be other links than the top.
#pragma once

#include "lib/gauge/loop.hpp"

namespace qcd {

/// The two ways around a plaquette from x to x + mu, above and below:
///   s(x) l(x+nu) s(x+mu)^+  +  s(x-nu)^+ l(x-nu) s(x-nu+mu),   sides s along nu, link l along mu.
inline ColorMatrixExpr staple_pair(const QDP::LatticeColorMatrix& side, const QDP::LatticeColorMatrix& link, int mu,
                                   int nu) {
  using namespace QDP;
  const auto far_side = shift(side, FORWARD, mu);
  return side * shift(link, FORWARD, nu) * adj(far_side) + shift(adj(side) * link * far_side, BACKWARD, nu);
}

}  // namespace qcd
