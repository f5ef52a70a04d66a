// Start configurations made from nothing or from the random number generator.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

/// U = 1.
void unit_start(GaugeField& u);

/// A field close to 1: for each direction the product of the Nc(Nc-1)/2 embeddings of
/// a0 + i a.sigma, a = (cos t1, sin t1, cos t2, sin t2)/sqrt 2, with t1, t2 uniform in [0, 0.04 pi].
/// Draws Nc(Nc-1) random LatticeReals per direction. Gives Chroma's WEAK_FIELD for the same seed.
void weak_field_start(GaugeField& u);

/// U = unitarize(exp12(taproj(gaussian))): disordered, though not distributed with the Haar measure.
/// Gives Chroma's DISORDERED for the same seed.
void disordered_start(GaugeField& u);

}  // namespace qcd
