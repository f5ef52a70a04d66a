// Projection of sums of links to SU(Nc): the matrix of the group with the largest overlap.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

namespace site {
QDP::Sym su2_ascent(const QDP::Sym& m);
QDP::Sym su2_over_ascent(const QDP::Sym& m, const QDP::Sym& omega);
}  // namespace site

/// h in SU(Nc), a product of SU(2) subgroup rotations h_k, one per pair of rows, such that each h_k maximises
/// Re tr(h_k ... h_1 m) given those before it. Steps of an ascent: Re tr(h m) >= Re tr m.
/// The order of pairs is (0,1) (1,2) (0,2), as in Chroma. Where a 2x2 part of m vanishes its rotation is 1.
/// One colour has the phase that maximises Re(h m).
/// Source: Cabibbo and Marinari, Phys. Lett. B119 (1982) 387.
inline const auto su2_ascent = QDP::siteFunction<1>("su2_ascent", site::su2_ascent);

/// The same with every rotation by the angle theta (from 1) taken as omega theta: over-relaxation for 1 < omega < 2.
/// omega is a real scalar.
inline const auto su2_over_ascent = QDP::siteFunction<2>("su2_over_ascent", site::su2_over_ascent);

/// When the iteration of project() ends: the sum of Re tr(u v^+) changes by at most `accuracy`, relatively, in one
/// sweep (BlkAccu in Chroma's inputs: an error d of u moves the trace by d^2, so 1e-5 leaves u off by some 1e-3); for
/// accuracy 0, the gradient taproj(u v^+) is nought to rounding. Or after `max_sweeps` (BlkMax).
struct Projection {
  double accuracy = 0;
  int max_sweeps = 1000;
};

/// u becomes the matrix of SU(Nc) that maximises Re tr(u v^+) at every site, starting from the group element in u.
/// Gauge covariant for accuracy 0 only, since the subgroups are not. Returns the number of sweeps.
int project(QDP::LatticeColorMatrix& u, const QDP::LatticeColorMatrix& v, const Projection& how = {});

}  // namespace qcd
