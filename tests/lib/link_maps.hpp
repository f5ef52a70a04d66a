// What the tests of maps from U to V share: derivatives by differences, covariance.
#pragma once

#include "lib/gauge/link_map.hpp"
#include "tests/lib/dirac.hpp"

namespace tests {

/// pull_back() of the maps one after the other, against differences of S = 2 sum Re tr W V with random W.
inline void check_pull_back(const qcd::LinkMaps& maps, const GaugeField& u, double tolerance = 1e-8) {
  GaugeField w(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) QDP::gaussian(w[mu]);
  const auto action = [&](const GaugeField& from) {
    const qcd::LinkState state(from, maps);
    double s = 0;
    for (int mu = 0; mu < QDP::Nd; ++mu) s += 2 * QDP::toDouble(sum(real(trace(w[mu] * state.links()[mu]))));
    return s;
  };
  GaugeField g = w;
  qcd::LinkState(u, maps).force(g);  // leaves the derivative with respect to u in g
  check_derivative(action, g, u, tolerance);
}

/// V transforms as U does.
inline void check_covariance(const qcd::LinkMaps& maps, const GaugeField& u, double tolerance = base_tol(1e-12)) {
  QDP::LatticeColorMatrix omega;
  const GaugeField turned = gauge_transformed(u, omega);
  const qcd::LinkState here(u, maps), there(turned, maps);
  for (int mu = 0; mu < QDP::Nd; ++mu) {
    const QDP::LatticeColorMatrix expected = omega * here.links()[mu] * QDP::adj(QDP::shift(omega, FORWARD, mu));
    CHECK(distance(there.links()[mu], expected) <= tolerance * std::sqrt(QDP::toDouble(QDP::norm2(expected))));
  }
}

}  // namespace tests
