#include "lib/meas/inline.hpp"

#include "lib/io/output_name.hpp"

#include <chrono>
#include <limits>
#include <set>

namespace qcd {

using namespace QDP;

void write_plaquettes(const Log& log, const Plaquettes& p) {
  log.write("w_plaq", p.average);
  log.write("s_plaq", p.space);
  log.write("t_plaq", p.time);
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      log.write("plane_" + std::to_string(nu) + std::to_string(mu) + "_plaq", p.plane(mu, nu));
  log.write("link", p.link);
}

double write_plaquettes(unsigned long update_no, const GaugeField& u, const Log& log) {
  const Plaquettes p = measure_plaquettes(u);
  const auto group = log.group("Plaquette");
  log.write("update_no", update_no);
  write_plaquettes(log, p);
  return toDouble(p.average);
}

const MeasurementTable& measurement_table() {
  static const MeasurementTable table("a measurement", [] {
    MeasurementRows rows;
    for (const auto& subject : {gluonic_measurements, gauge_field_measurements, quark_measurements,
                                spectrum_measurements, dirac_measurements, object_measurements}) {
      const MeasurementRows more = subject();
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  }());
  return table;
}

std::vector<ScheduledMeasurement> read_measurements(const Input& input, double* bytes_per_site) {
  std::vector<ScheduledMeasurement> list;
  if (!input.has("InlineMeasurements")) return list;
  ObjectPlan plan;
  std::set<std::string> unknown;
  for (const Input& elem : input.elements("InlineMeasurements", Empty::allowed)) {
    const std::string name = elem.word("Name");
    if (unknown.contains(name)) continue;  // said once
    const auto* row = measurement_table().find(elem);
    if (!row) {
      unknown.insert(name);
      plan.assume(elem);
      continue;
    }
    const int frequency = elem.integer("Frequency", at_least(1), 1);
    const std::string xml_file = elem.word("xml_file", "");
    require_output_name(elem, "xml_file", xml_file, std::to_string(std::numeric_limits<int>::max()).size());
    const int files_before = plan.files_to_write();
    std::unique_ptr<Measurement> measurement = row->make(elem, plan);
    list.push_back({frequency, xml_file, row->name, std::move(measurement), plan.files_to_write() > files_before});
  }
  if (bytes_per_site) *bytes_per_site = plan.most_bytes();
  return list;
}

std::size_t run_measurements(const std::vector<ScheduledMeasurement>& list, unsigned long update_no,
                             const GaugeField& u, const Log& log, const std::string& config_xml,
                             const MeasurementObserver& observer) {
  NamedObjects objects;
  objects.set_default_gauge_field(u, config_xml);
  std::size_t left_out = 0;
  for (const ScheduledMeasurement& scheduled : list) {
    if (!scheduled.due(update_no)) continue;
    if (left_out > 0 || (observer.stop && io::anywhere(observer.stop()))) {
      ++left_out;
      continue;
    }
    if (observer.before) observer.before(scheduled);
    const auto begin = std::chrono::steady_clock::now();
    {
      const auto elem = log.group("elem");
      if (scheduled.xml_file.empty()) {
        scheduled.measurement->measure(update_no, objects, log);
      } else {
        const std::string name = scheduled.xml_file + (update_no == 0 ? "" : "." + std::to_string(update_no));
        log.write("update_no", update_no);
        log.write("xml_file", name);
        XMLFileWriter file(name);
        scheduled.measurement->measure(update_no, objects, Log{&file});
        file.close();
      }
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (observer.after) observer.after(scheduled, time.count());
  }
  return left_out;
}

}  // namespace qcd
