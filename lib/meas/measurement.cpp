#include "lib/meas/measurement.hpp"

#include "lib/io/boundary.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/inline.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

int read_version(const Input& group, const std::vector<int>& accepted) {
  if (!group.has("version")) return accepted.back();
  const int version = group.integer("version");
  if (std::find(accepted.begin(), accepted.end(), version) == accepted.end()) {
    std::string list = accepted.size() > 1 ? "a version, one of" : "version";
    for (int v : accepted) list += ' ' + std::to_string(v);
    group.error("version", list, std::to_string(version));
  }
  return version;
}

GluonicInput read_gluonic(const Input& input, const ObjectPlan& plan, int version) {
  GluonicInput read;
  if (input.has("Param")) {
    const Input param = input.group("Param");
    read_version(param, {version});
    read.state = read_gauge_state(param);
  }
  if (input.has("NamedObject")) read.gauge_id = plan.uses<GaugeField>(input.group("NamedObject"), "gauge_id");
  return read;
}

GaugeField GluonicInput::links(const NamedObjects& objects) const {
  return LinkState(objects.get<GaugeField>(gauge_id), state).links();
}

void write_xml(const Log& log, const std::string& xml) {
  for (XMLWriter* writer : log.writers()) writer->writeXML("\n" + xml + "\n");
}

void write_xml(const Log& log, const std::string& tag, const std::string& xml) {
  const auto group = log.group(tag);
  write_xml(log, xml);
}

void write_observables(const Log& log, const std::string& tag, const GaugeField& u) {
  const auto group = log.group(tag);
  write_plaquettes(log, measure_plaquettes(u));
  multi1d<DComplex> loops(Nd);
  for (int mu = 0; mu < Nd; ++mu) loops[mu] = polyakov_loop(u, mu);
  log.write("pollp", loops);
}

std::string xml_element(const std::string& tag, const std::string& text) {
  return "<" + tag + ">" + text + "</" + tag + ">";
}

}  // namespace qcd
