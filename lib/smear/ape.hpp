// APE smearing: each link is replaced by the projection of itself plus its staples.
#pragma once

#include "lib/smear/project.hpp"

namespace qcd {

struct ApeSmearing {
  /// Weight of the link against staples of weight 1: V = factor U + sum of the staples. In the other common notation,
  /// V = (1 - alpha) U + (alpha/n) sum over n staples, factor = n (1 - alpha)/alpha.
  double factor = 2.5;
  int steps = 1;
  int no_smear_dir = -1;  ///< links of this direction stay, and no staple goes along it; -1: none
  Projection projection;
};

/// The smeared field. Source: APE collaboration, Phys. Lett. B192 (1987) 163. Throws ShapeError.
GaugeField ape_smeared(const GaugeField& u, const ApeSmearing& smearing);

}  // namespace qcd
