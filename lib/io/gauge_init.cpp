#include "lib/io/gauge_init.hpp"

#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/io/boundary.hpp"
#include "lib/io/lattice.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// cfg_file, which must be there now: better known before the run than after it waited in a queue.
std::string existing_file(const Input& cfg) {
  const std::string name = cfg.word("cfg_file");
  if (const std::string why = name.empty() ? "" : why_unreadable(name); !why.empty())
    cfg.error("cfg_file", "a file that can be read", name + " (" + why + ")");
  require_lattice_of_file(cfg, "cfg_file", name);
  return name;
}

GaugeInit read_lime(const Input& cfg) {
  const std::string name = existing_file(cfg);
  const bool parallel = cfg.flag("parallel_io", cfg.flag("ParallelIO", false));
  const bool reunit = cfg.flag("reunit", false);
  const ChecksumRule rule = read_checksum_rule(cfg);
  return [=](GaugeField& u) -> StartReport {
    u.resize(Nd);
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, name, parallel ? QDPIO_PARALLEL : QDPIO_SERIAL);
    QDP::read(file, record_xml, u);
    apply_checksum_rule(rule, file, name);
    QDP::close(file);
    if (reunit) reunitarize(u);
    return {name, file.verdict(), file.checksum()};
  };
}

GaugeInit read_nersc(const Input& cfg) {
  const std::string name = existing_file(cfg);
  const bool ignore = read_checksum_rule(cfg) == ChecksumRule::ignored;
  return [=](GaugeField& u) -> StartReport {
    u.resize(Nd);
    XMLReader header;
    return {name, readArchiv(header, u, name, ignore ? OnDamage::read : OnDamage::refuse), ""};
  };
}

/// The classical field of a Schroedinger functional, as its gauge state sees it.
GaugeInit read_classical(const Input& cfg) {
  const LinkMaps maps = read_gauge_state(cfg);
  const auto boundary = find_schroedinger_boundary(maps);
  if (!boundary) cfg.error("GaugeState", "a Schroedinger functional boundary condition", "none");
  return [=](GaugeField& u) { u = LinkState(boundary->field(), maps).links(); };
}

}  // namespace

ChecksumRule read_checksum_rule(const Input& input) {
  if (!input.has("verify_checksum")) return ChecksumRule::if_there;
  return input.flag("verify_checksum") ? ChecksumRule::required : ChecksumRule::ignored;
}

void apply_checksum_rule(ChecksumRule rule, const QDPFileReader& file, const std::string& name) {
  if (rule == ChecksumRule::ignored || !(file.bad() || (rule == ChecksumRule::required && file.fail()))) return;
  throw FileError(name + ": expected data with the checksum that was stored with them, got checksum " + file.verdict() +
                  ". The file is damaged: fetch it again. To read it all the same: "
                  "<verify_checksum>false</verify_checksum> beside its name");
}

const Table<GaugeInit>& gauge_init_table() {
  static const Table<GaugeInit> table(
      "a start (cfg_type)",
      {
          {"UNIT", "U = 1", [](const Input&) -> GaugeInit { return unit_start; }},
          {"WEAK_FIELD", "near U = 1, from the random number generator",
           [](const Input&) -> GaugeInit { return weak_field_start; }},
          {"DISORDERED", "far from U = 1, from the random number generator",
           [](const Input&) -> GaugeInit { return disordered_start; }},
          {"CLASSICAL_SF",
           "GaugeState{Name, GaugeBC{Name, ...}}: the classical field of a "
           "Schroedinger functional",
           read_classical},
          {"SZINQIO",
           "cfg_file, [parallel_io], [reunit], [verify_checksum]: SciDAC or ILDG file; a wrong checksum is an "
           "error, a missing one a warning, with verify_checksum true an error, false a warning",
           read_lime},
          {"SCIDAC", "the same as SZINQIO", read_lime},
          {"NERSC",
           "cfg_file, [verify_checksum = true]: NERSC archive file; checksum, plaquette and link "
           "trace of the header must be there and fit",
           read_nersc},
      });
  return table;
}

GaugeInit read_gauge_init(const Input& cfg) {
  const auto* row = gauge_init_table().find(cfg, "cfg_type");
  cfg.accept_unused({"cfg_file", "parallel_io", "ParallelIO", "reunit"});  // Chroma's inputs have them for every start
  return row ? row->make(cfg) : GaugeInit{};
}

}  // namespace qcd
