// Gauge states and boundary conditions that an input asks for, as maps from U to the links that an action sees.
#pragma once

#include "lib/gauge/boundary.hpp"
#include "lib/gauge/link_map.hpp"
#include "lib/io/table.hpp"

#include <memory>

namespace qcd {

/// GaugeBC/Name -> map; a null pointer for periodic links.
const Table<std::shared_ptr<const LinkMap>>& gauge_boundary_table();

/// GaugeState/Name -> maps, boundary conditions first.
const Table<LinkMaps>& gauge_state_table();

/// The maps of [GaugeState{Name, ..., [GaugeBC]}] in `group`, or of [GaugeBC{Name, ...}] there; none if both are
/// absent: periodic.
LinkMaps read_gauge_state(const Input& group);

/// The elements SchrPhiMult, loop_extent, decay_dir of a Schroedinger functional's GaugeBC or FermionBC.
SchroedingerParameters read_schroedinger_parameters(const Input& bc, SchroedingerField field);

/// read_gauge_state for those who work on periodic links only: records an error for anything else.
void require_periodic_gauge_state(const Input& group);

}  // namespace qcd
