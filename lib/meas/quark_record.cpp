#include "lib/meas/quark_record.hpp"

#include "lib/meas/measurement.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// A part as a document of its own.
InputFile document(const std::string& part, const char* name) {
  return InputFile::from_text(xml_element(name, part), name);
}

std::string displacement(const Input& end) {
  if (!end.has("Displacement")) return "NONE";
  return end.group("Displacement").word("DisplacementType", "NONE");
}

}  // namespace

std::string inner_xml(const std::string& element) {
  const std::size_t begin = element.find('>'), end = element.rfind('<');
  if (begin == std::string::npos || end <= begin) return {};
  return element.substr(begin + 1, end - begin - 1);
}

std::string QuarkRecord::xml() const {
  std::string parts;
  if (!sink.empty()) parts += "<version>1</version>" + xml_element("PropSink", sink);
  if (!forward.empty()) parts += xml_element("ForwardProp", forward);
  parts += xml_element("PropSource", source) + xml_element("Config_info", config);
  return xml_element(!sink.empty() ? "SinkSmear" : !forward.empty() ? "Propagator" : "MakeSource", parts);
}

QuarkRecord QuarkRecord::parse(const std::string& xml, const std::string& id) {
  const InputFile file = InputFile::from_text(xml, "record of " + id);
  const std::string kind = file.root_name();
  if (kind != "MakeSource" && kind != "Propagator" && kind != "SinkSmear")
    throw InputError("record of " + id + ": expected MakeSource, Propagator or SinkSmear, got " + kind);
  const Input root = file.root();
  QuarkRecord record;
  const auto part = [&](const char* name) {
    return root.has(name) ? inner_xml(root.group(name).xml()) : std::string();
  };
  record.source = part("PropSource");
  record.forward = part("ForwardProp");
  record.sink = part("PropSink");
  record.config = part("Config_info");
  if (record.source.empty()) throw InputError("record of " + id + ": expected a part PropSource, got none");
  return record;
}

QuarkRecord::Source QuarkRecord::read_source() const {
  const InputFile file = document(source, "PropSource");
  const Input group = file.root().group("Source");
  Source s;
  s.type = group.word("SourceType");
  s.j_decay = group.integer("j_decay", {0, Nd - 1});
  s.origin.assign(Nd, 0);
  if (group.has("t_srce")) {
    s.origin = group.integers("t_srce", Nd);
    s.t_source = s.origin[static_cast<std::size_t>(s.j_decay)];
  } else {
    s.t_source = group.integer("t_source");
    s.origin[static_cast<std::size_t>(s.j_decay)] = std::max(s.t_source, 0);
  }
  file.require_valid();
  return s;
}

std::string QuarkRecord::sink_type() const {
  if (sink.empty()) return "POINT_SINK";
  return document(sink, "PropSink").root().group("Sink").word("SinkType");
}

std::string QuarkRecord::source_displacement() const {
  return displacement(document(source, "PropSource").root().group("Source"));
}

std::string QuarkRecord::sink_displacement() const {
  return sink.empty() ? "NONE" : displacement(document(sink, "PropSink").root().group("Sink"));
}

double QuarkRecord::mass() const {
  const InputFile file = document(forward, "ForwardProp");
  const Input action = file.root().group("FermionAction");
  if (action.has("Mass")) return action.real("Mass");
  return action.has("Kappa") ? 1 / (2 * action.real("Kappa")) - Nd : 0;
}

int QuarkRecord::boundary(int direction) const {
  const InputFile file = document(forward, "ForwardProp");
  Input at = file.root().group("FermionAction");
  if (at.has("FermState")) at = at.group("FermState");
  if (at.has("FermionBC")) at = at.group("FermionBC");
  if (!at.has("boundary")) return 0;
  const double phase = at.reals("boundary", Nd)[static_cast<std::size_t>(direction)];
  return phase == -1 ? -1 : phase == 1 ? 1 : 0;
}

}  // namespace qcd
