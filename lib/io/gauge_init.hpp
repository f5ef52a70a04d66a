// Where a run's first gauge field comes from: Cfg {cfg_type, ...}.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/table.hpp"

#include <functional>

namespace qcd {

/// Fills a gauge field. Needs the layout; throws InputError or the file reader's error.
using GaugeInit = std::function<void(GaugeField&)>;

/// Cfg/cfg_type -> start.
const Table<GaugeInit>& gauge_init_table();

/// Reads a group Cfg or GaugeStartup; an empty function after recording an error.
GaugeInit read_gauge_init(const Input& cfg);

}  // namespace qcd
