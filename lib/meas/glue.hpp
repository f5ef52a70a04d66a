// Gluonic observables: plaquette, rectangle, link trace, Polyakov loop.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

/// Averages of Re tr U_p / Nc over sites, and of Re tr U / Nc over links; all 1 for U = 1. Time is direction Nd-1.
struct Plaquettes {
  QDP::Double average;              ///< over all planes
  QDP::Double space;                ///< planes without time
  QDP::Double time;                 ///< planes with time
  QDP::multi2d<QDP::Double> plane;  ///< [mu][nu], symmetric
  QDP::Double link;
};

Plaquettes measure_plaquettes(const GaugeField& u);

/// The average over all planes alone.
QDP::Double average_plaquette(const GaugeField& u);

/// sum over sites and planes of Re tr R / Nc for the 1x2 and the 2x1 rectangle: Nd(Nd-1) V rectangles.
QDP::Double sum_rectangles(const GaugeField& u);

/// (1/V) sum_x tr[ U_mu(x) U_mu(x+mu) ... ] / Nc around the lattice in direction mu.
QDP::DComplex polyakov_loop(const GaugeField& u, int mu);

/// Re tr U / Nc averaged over links (gauge dependent).
QDP::Double average_link(const GaugeField& u);

}  // namespace qcd
