// The phase space of molecular dynamics.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

/// Links U and momenta P, P[mu](x) traceless anti-Hermitian (conv. 2).
struct PhaseSpace {
  GaugeField u{QDP::Nd};
  GaugeField p{QDP::Nd};
};

/// P = taproj(sqrt(1/2) gaussian): weight exp(-sum |P|^2), <|P|^2> = Nc^2 - 1 over 2 per link (conv. 2).
void refresh_momenta(GaugeField& p);

}  // namespace qcd
