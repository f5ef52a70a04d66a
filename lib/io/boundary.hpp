// Gauge boundary conditions that an input may ask for. So far links are periodic.
#pragma once

#include "lib/io/input.hpp"

namespace qcd {

/// Accepts nothing, GaugeBC{Name PERIODIC_GAUGEBC}, or GaugeState{Name SIMPLE_GAUGE_STATE or PERIODIC_GAUGE_STATE,
/// [GaugeBC]} in `group`; records an error for any other name.
void require_periodic_gauge_state(const Input& group);

}  // namespace qcd
