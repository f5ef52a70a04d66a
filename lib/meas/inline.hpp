// Measurements that a run does on the way, by name.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/log.hpp"
#include "lib/io/table.hpp"

#include <memory>
#include <vector>

namespace qcd {

class Measurement {
 public:
  virtual ~Measurement() = default;
  /// Measures on `u` and writes one group to `log`.
  virtual void measure(unsigned long update_no, const GaugeField& u, const Log& log) = 0;
};

/// InlineMeasurements/elem/Name -> measurement.
const Table<std::unique_ptr<Measurement>>& measurement_table();

/// A measurement with the updates it is due at.
struct ScheduledMeasurement {
  int frequency = 1;
  std::string xml_file;  ///< empty: into the data file; otherwise into a file <xml_file>.<update> per update
  std::unique_ptr<Measurement> measurement;

  bool due(unsigned long update_no) const { return update_no % static_cast<unsigned long>(frequency) == 0; }
};

/// The list InlineMeasurements of `input`, empty where it is absent.
std::vector<ScheduledMeasurement> read_measurements(const Input& input);

/// Writes the group Plaquette: w_plaq, s_plaq, t_plaq, plane_<nu><mu>_plaq, link. Returns w_plaq.
double write_plaquettes(unsigned long update_no, const GaugeField& u, const Log& log);

}  // namespace qcd
