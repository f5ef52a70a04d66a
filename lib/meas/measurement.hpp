// What a measurement is, and what the measurements of the tables below share in reading inputs and writing results.
#pragma once

#include "lib/gauge/link_map.hpp"
#include "lib/io/log.hpp"
#include "lib/io/table.hpp"
#include "lib/meas/named_objects.hpp"

#include <memory>
#include <string>
#include <vector>

namespace qcd {

class Measurement {
 public:
  virtual ~Measurement() = default;
  /// Measures, writes one group to `log`, and may take objects from `objects` or leave some there.
  virtual void measure(unsigned long update_no, NamedObjects& objects, const Log& log) = 0;
};

using MeasurementTable = Table<std::unique_ptr<Measurement>, ObjectPlan&>;
using MeasurementRows = std::vector<MeasurementTable::Row>;

/// The rows of measurement_table(), by subject.
MeasurementRows gluonic_measurements();
MeasurementRows gauge_field_measurements();  ///< smearing, gauge fixing, flow
MeasurementRows quark_measurements();        ///< sources, propagators, sinks
MeasurementRows spectrum_measurements();
MeasurementRows dirac_measurements();   ///< condensates, eigenvalues
MeasurementRows object_measurements();  ///< reading, writing, listing, erasing objects

/// The parts that gluonic measurements share: [Param{version, [GaugeState]}], [NamedObject{gauge_id}].
struct GluonicInput {
  std::string gauge_id = kDefaultGaugeField;
  LinkMaps state;

  /// The field that is measured.
  GaugeField links(const NamedObjects& objects) const;
};
GluonicInput read_gluonic(const Input& input, const ObjectPlan& plan, int version);

/// The element `version` of a group: recorded as an error unless it is one of `accepted`; the newest where it is
/// absent.
int read_version(const Input& group, const std::vector<int>& accepted);

/// A row: name, schema, and a class that is made from (const Input&, ObjectPlan&).
template <class M>
MeasurementTable::Row measurement_row(std::string name, std::string schema, const char* lacks = nullptr) {
  return {std::move(name), std::move(schema),
          [](const Input& input, ObjectPlan& plan) -> std::unique_ptr<Measurement> {
            return std::make_unique<M>(input, plan);
          },
          lacks};
}

/// A group with XML text inside, such as the part of the input that asked for this measurement.
void write_xml(const Log& log, const std::string& tag, const std::string& xml);
/// XML text where the log stands.
void write_xml(const Log& log, const std::string& xml);

/// A group `tag` with w_plaq, s_plaq, t_plaq, plane_<nu><mu>_plaq, link; and pollp, the Polyakov loops.
void write_observables(const Log& log, const std::string& tag, const GaugeField& u);

/// <tag>text</tag>.
std::string xml_element(const std::string& tag, const std::string& text);

}  // namespace qcd
