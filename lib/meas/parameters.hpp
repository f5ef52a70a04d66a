// What an input of the program measure says: root chroma, as Chroma's main program.
#pragma once

#include "lib/io/gauge_init.hpp"
#include "lib/io/memory.hpp"
#include "lib/meas/inline.hpp"

#include <array>
#include <string>
#include <vector>

namespace qcd {

struct MeasureParameters {
  std::vector<int> lattice;
  std::array<int, 4> seed{11, 0, 0, 0};
  GaugeInit start;
  std::string config_xml;  ///< the group Cfg: the record of the field that is measured
  std::vector<ScheduledMeasurement> measurements;
  MemoryNeed memory;
};

/// chroma{Param{nrow, [InlineMeasurements]}, [RNG{Seed}], Cfg{cfg_type, ...}}.
MeasureParameters read_measure_parameters(const Input& root);

/// Sets the random number generator, makes the field and writes RNG, Config_info and Observables. Links outside the
/// group (files in single precision) are projected.
GaugeField start_measurements(const MeasureParameters& parameters, const Log& log);

/// Elements and names of the input, for --help.
std::string measurement_help();

}  // namespace qcd
