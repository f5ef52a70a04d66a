// HYP smearing: links mixed within the hypercubes attached to them.
//
// Let V_mu;D be the link of direction mu decorated with staples in the directions D (mu not among them):
//   V_mu;D = P[ (1 - a) U_mu + a/(2 |D|) sum_{nu in D} staples(sides V_nu;D-nu, top V_mu;D-nu) ],   V_mu;{} = U_mu,
// with a = alpha3, alpha2, alpha1 for |D| = 1, 2, 3 and P the projection to SU(Nc). The smeared link has D = all
// directions but mu. Without one direction (smearing within time slices) the same recursion ends with alpha2.
#pragma once

#include "lib/smear/project.hpp"

namespace qcd {

struct HypSmearing {
  double alpha1 = 0.75, alpha2 = 0.6, alpha3 = 0.3;
  int steps = 1;
  int no_smear_dir = -1;  ///< this direction takes no part; -1: none
  Projection projection;
};

/// The smeared field. Source: Hasenfratz and Knechtli, Phys. Rev. D64 (2001) 034504 (hep-lat/0103029), eqs. (3) to (5).
/// Throws ShapeError.
GaugeField hyp_smeared(const GaugeField& u, const HypSmearing& smearing = {});

}  // namespace qcd
