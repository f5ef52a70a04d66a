// Measurements by name: those that a run does on the way, and those of the program measure.
#pragma once

#include "lib/meas/glue.hpp"
#include "lib/meas/measurement.hpp"

#include <functional>

namespace qcd {

/// InlineMeasurements/elem/Name -> measurement.
const MeasurementTable& measurement_table();

/// A measurement with the updates it is due at.
struct ScheduledMeasurement {
  int frequency = 1;
  std::string xml_file;  ///< empty: into the data file; otherwise into <xml_file>.<update>, or <xml_file> for update 0
  std::string name;
  std::unique_ptr<Measurement> measurement;
  bool writes_files = false;  ///< beside xml_file, those that the input names

  bool due(unsigned long update_no) const { return update_no % static_cast<unsigned long>(frequency) == 0; }
};

/// The list InlineMeasurements of `input`, empty where it is absent. `bytes_per_site` becomes what their objects need where
/// there are most.
std::vector<ScheduledMeasurement> read_measurements(const Input& input, double* bytes_per_site = nullptr);

/// Runs those that are due on `u`, each in an <elem> of `log`, with named objects of their own that end with the list.
/// `before` hears of each as it begins, `after` of each with the seconds it took.
struct MeasurementObserver {
  std::function<void(const ScheduledMeasurement&)> before;
  std::function<void(const ScheduledMeasurement&, double seconds)> after;
  std::function<bool()> stop;  ///< asked before each; true: leave out the rest
};
/// Returns how many that were due have been left out.
std::size_t run_measurements(const std::vector<ScheduledMeasurement>& list, unsigned long update_no,
                             const GaugeField& u, const Log& log, const std::string& config_xml = "",
                             const MeasurementObserver& observer = {});

/// Writes the group Plaquette: update_no and the elements of write_plaquettes(). Returns w_plaq.
double write_plaquettes(unsigned long update_no, const GaugeField& u, const Log& log);
/// w_plaq, s_plaq, t_plaq, plane_<nu><mu>_plaq, link where the log stands.
void write_plaquettes(const Log& log, const Plaquettes& p);

}  // namespace qcd
