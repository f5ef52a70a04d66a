// The gradient flow of a gauge field, dV/dt = -g0^2 [dS/dV] V, V(0) = U.
//
// For S = -(beta/Nc) sum_l c_l Re tr W_l it reads dV_mu/dt = Z_mu V_mu with Z_mu = -taproj[V_mu sum_k c_k R_k], the
// force of conv. 4 for beta = 1 times 2 Nc; c = 1 for every plaquette is the Wilson flow.
#pragma once

#include "lib/gauge/loop_action.hpp"
#include "lib/meas/field_strength.hpp"

#include <optional>
#include <vector>

namespace qcd {

/// One step of size eps for the flow of `action` (taken at beta = 1), in place:
///   W1 = exp(Z0/4) V, W2 = exp(8/9 Z1 - 17/36 Z0) W1, V' = exp(3/4 Z2 - 8/9 Z1 + 17/36 Z0) W2,  Zi = eps Z(Wi).
/// Third order: the error at a fixed time is O(eps^3).
/// Source: Luescher, JHEP 08 (2010) 071 (arXiv:1006.4518), eq. (C.2).
void flow_step(GaugeField& v, const GaugeAction& action, double eps);

/// The plaquettes whose two directions both flow, each with weight 1. Links of other directions stay as they are.
/// Throws ShapeError unless there is one flag per direction.
LoopAction wilson_flow_action(const std::vector<bool>& flowing = std::vector<bool>(QDP::Nd, true));
/// Tree-level Symanzik: c0 = 5/3, c1 = -1/12.
LoopAction symanzik_flow_action();

/// What is known of the field at one flow time.
struct FlowPoint {
  double t = 0;
  EnergyDensity energy;
  QDP::Double charge;  ///< clover definition; 0 unless there are four dimensions
};

struct FlowResult {
  std::vector<FlowPoint> points;  ///< t = 0, eps, ..., steps eps

  /// t^2 E(t).
  std::vector<double> t2_energy(QDP::Double EnergyDensity::* energy) const;
  /// t0: t^2 E = `level`, by linear interpolation in t between points (the flow's error is smaller than that of a usual
  /// step). Nothing if the flow does not get there.
  std::optional<double> t0(QDP::Double EnergyDensity::* energy = &EnergyDensity::clover, double level = 0.3) const;
  /// w0: t d(t^2 E)/dt = `level` at t = w0^2, with central differences and linear interpolation.
  /// Source: BMW collaboration, JHEP 09 (2012) 010 (arXiv:1203.4469).
  std::optional<double> w0(QDP::Double EnergyDensity::* energy = &EnergyDensity::clover, double level = 0.3) const;
};

/// Flows `v` in place by `steps` steps and measures at each. Throws ShapeError for a step that is not positive.
FlowResult gradient_flow(GaugeField& v, const GaugeAction& action, int steps, double eps, int t_dir = QDP::Nd - 1,
                         bool with_charge = true);

}  // namespace qcd
