// Coulomb and Landau gauge: U_mu(x) -> g(x) U_mu(x) g(x+mu)^+ with the largest F = sum_x sum_mu Re tr U_mu(x), the sum
// over all directions (Landau) or over all but one (Coulomb: each slice across that direction is fixed by itself).
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

struct GaugeFixing {
  int j_decay = QDP::Nd - 1;     ///< Coulomb: the direction left out; -1 or Nd: Landau
  double accuracy = 1e-10;       ///< relative change of F in one sweep at which the iteration ends (GFAccu)
  int max_sweeps = 2000;         ///< GFMax
  double over_relaxation = 1.0;  ///< 1: none; best from 1.2 (small lattices) to 1.8 (OrPara)
};

struct GaugeFixingResult {
  bool converged = false;
  int sweeps = 0;
  double functional = 0;  ///< F per link and colour: 1 for U = 1
  /// (1/(V Nc)) sum_x |Delta(x)|^2, Delta = taproj sum_mu [U_mu(x) - U_mu(x-mu)]: nought at an extremum of F.
  double theta = 0;
};

/// Fixes `u` in place; `g` receives the transformation. Sweeps over both parities with SU(2) subgroup rotations, each
/// the local maximum (over-relaxed if asked for). Gribov copies: the maximum that is found depends on the start.
/// Throws ShapeError for a factor outside [1, 2) and for odd extents.
GaugeFixingResult fix_gauge(GaugeField& u, QDP::LatticeColorMatrix& g, const GaugeFixing& how);

/// The theta of GaugeFixingResult for any field.
double gauge_divergence(const GaugeField& u, int j_decay);

}  // namespace qcd
