// The gauge actions by name: lists of loops with coefficients, and functions of their traces.
#pragma once

#include "lib/gauge/loop_action.hpp"
#include "lib/io/table.hpp"

#include <memory>

namespace qcd {

/// Anisotropy of a gauge action: temporal plaquettes times xi_0, spatial ones divided by it.
struct Anisotropy {
  bool on = false;
  int t_dir = QDP::Nd - 1;
  double xi_0 = 1;

  /// A loop in the mu-nu plane has time in it.
  bool temporal(int mu, int nu) const { return mu == t_dir || nu == t_dir; }
  /// Factor of a loop in the mu-nu plane.
  double factor(int mu, int nu) const { return !on ? 1 : temporal(mu, nu) ? xi_0 : 1 / xi_0; }
};

/// S = -beta/Nc sum_p Re tr U_p.
LoopAction wilson_action(double beta, const Anisotropy& aniso = {});
/// S = -beta/Nc [ c0 sum_p Re tr U_p + c1 sum_r Re tr U_r ],  c0 = 1 - 8 c1.
/// c1 = -1/12 tree-level Symanzik, -0.331 Iwasaki, -1.4069 DBW2.
LoopAction improved_action(double beta, double c1);

/// GaugeAction/Name -> action. Each row documents its elements.
const Table<std::shared_ptr<const GaugeAction>>& gauge_action_table();

}  // namespace qcd
