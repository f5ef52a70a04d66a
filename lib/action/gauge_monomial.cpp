#include "lib/action/gauge_monomial.hpp"

namespace qcd {

QDP::Double GaugeMonomial::action(const GaugeField& u, const Log&) { return loops_.action(u); }

void GaugeMonomial::force(GaugeField& f, const GaugeField& u, const Log&) { loops_.force(f, u); }

}  // namespace qcd
