#include "lib/meas/inline.hpp"

#include "lib/io/boundary.hpp"
#include "lib/meas/glue.hpp"

namespace qcd {

using namespace QDP;

double write_plaquettes(unsigned long update_no, const GaugeField& u, const Log& log) {
  const Plaquettes p = measure_plaquettes(u);
  const auto group = log.group("Plaquette");
  log.write("update_no", update_no);
  log.write("w_plaq", p.average);
  log.write("s_plaq", p.space);
  log.write("t_plaq", p.time);
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      log.write("plane_" + std::to_string(nu) + std::to_string(mu) + "_plaq", p.plane(mu, nu));
  log.write("link", p.link);
  return toDouble(p.average);
}

namespace {

class PlaquetteMeasurement : public Measurement {
 public:
  void measure(unsigned long update_no, const GaugeField& u, const Log& log) override {
    write_plaquettes(update_no, u, log);
  }
};

class PolyakovLoopMeasurement : public Measurement {
 public:
  void measure(unsigned long update_no, const GaugeField& u, const Log& log) override {
    const auto group = log.group("PolyakovLoop");
    log.write("update_no", update_no);
    multi1d<DComplex> loops(Nd);
    for (int mu = 0; mu < Nd; ++mu) loops[mu] = polyakov_loop(u, mu);
    log.write("poly_loop", loops);
  }
};

class RectangleMeasurement : public Measurement {
 public:
  void measure(unsigned long update_no, const GaugeField& u, const Log& log) override {
    const auto group = log.group("Rectangle");
    log.write("update_no", update_no);
    log.write("w_rect", Double(sum_rectangles(u) / Double(Nd * (Nd - 1) * static_cast<double>(Layout::vol()))));
  }
};

/// The parts that gluonic measurements share: version 2, periodic links, the field of the run.
void read_common(const Input& input) {
  if (input.has("Param")) {
    const Input param = input.group("Param");
    param.integer("version", {2, 2}, 2);
    require_periodic_gauge_state(param);
  }
  if (!input.has("NamedObject")) return;
  const Input object = input.group("NamedObject");
  const std::string id = object.word("gauge_id");
  if (!id.empty() && id != "default_gauge_field")
    object.error("gauge_id", "default_gauge_field, the field of the run", id);
}

}  // namespace

const Table<std::unique_ptr<Measurement>>& measurement_table() {
  using Row = Table<std::unique_ptr<Measurement>>::Row;
  static const Table<std::unique_ptr<Measurement>> table(
      "a measurement",
      {
          Row{"PLAQUETTE", "[Param{version 2}], [NamedObject{gauge_id}]: plaquettes by plane, link trace",
              [](const Input& in) -> std::unique_ptr<Measurement> {
                read_common(in);
                return std::make_unique<PlaquetteMeasurement>();
              }},
          Row{"POLYAKOV_LOOP", "[Param{version 2}], [NamedObject{gauge_id}]: the loop in every direction",
              [](const Input& in) -> std::unique_ptr<Measurement> {
                read_common(in);
                return std::make_unique<PolyakovLoopMeasurement>();
              }},
          Row{"RECTANGLE", "[NamedObject{gauge_id}]: average of Re tr U_1x2 / Nc",
              [](const Input& in) -> std::unique_ptr<Measurement> {
                read_common(in);
                return std::make_unique<RectangleMeasurement>();
              }},
      });
  return table;
}

std::vector<ScheduledMeasurement> read_measurements(const Input& input) {
  std::vector<ScheduledMeasurement> list;
  if (!input.has("InlineMeasurements")) return list;
  for (const Input& elem : input.elements("InlineMeasurements")) {
    const auto* row = measurement_table().find(elem);
    const int frequency = elem.integer("Frequency", at_least(1), 1);
    const std::string xml_file = elem.word("xml_file", "");
    if (row) list.push_back({frequency, xml_file, row->make(elem)});
  }
  return list;
}

}  // namespace qcd
