#include "lib/io/gauge_init.hpp"

#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/io/boundary.hpp"
#include "lib/io/lattice.hpp"

#include <fstream>

namespace qcd {

using namespace QDP;

namespace {

/// cfg_file, which must be there now: better known before the run than after it waited in a queue.
std::string existing_file(const Input& cfg) {
  const std::string name = cfg.word("cfg_file");
  if (!name.empty() && !std::ifstream(name)) cfg.error("cfg_file", "a file that can be read", name);
  require_lattice_of_file(cfg, "cfg_file", name);
  return name;
}

GaugeInit read_lime(const Input& cfg) {
  const std::string name = existing_file(cfg);
  const bool parallel = cfg.flag("parallel_io", cfg.flag("ParallelIO", false));
  const bool reunit = cfg.flag("reunit", false);
  const bool verify = cfg.flag("verify_checksum", false);
  return [=](GaugeField& u) {
    u.resize(Nd);
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, name, parallel ? QDPIO_PARALLEL : QDPIO_SERIAL);
    QDP::read(file, record_xml, u);
    if (verify && (file.bad() || file.fail()))
      throw FileError(name + ": the data do not have the checksum that they were written with; the file is damaged");
    QDP::close(file);
    if (reunit) reunitarize(u);
  };
}

GaugeInit read_nersc(const Input& cfg) {
  const std::string name = existing_file(cfg);
  return [=](GaugeField& u) {
    u.resize(Nd);
    XMLReader header;
    readArchiv(header, u, name);
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

const Table<GaugeInit>& gauge_init_table() {
  static const Table<GaugeInit> table(
      "a start (cfg_type)", {
                                {"UNIT", "U = 1", [](const Input&) -> GaugeInit { return unit_start; }},
                                {"WEAK_FIELD", "near U = 1, from the random number generator",
                                 [](const Input&) -> GaugeInit { return weak_field_start; }},
                                {"DISORDERED", "far from U = 1, from the random number generator",
                                 [](const Input&) -> GaugeInit { return disordered_start; }},
                                {"CLASSICAL_SF", "GaugeState{Name, GaugeBC{Name, ...}}: the classical field of a "
                                 "Schroedinger functional", read_classical},
                                {"SZINQIO", "cfg_file, [parallel_io], [reunit], [verify_checksum = false]: SciDAC or ILDG file; a wrong or missing "
                                 "checksum is an error with verify_checksum, else a warning",
                                 read_lime},
                                {"SCIDAC", "the same as SZINQIO", read_lime},
                                {"NERSC", "cfg_file: NERSC archive file", read_nersc},
                            });
  return table;
}

GaugeInit read_gauge_init(const Input& cfg) {
  const auto* row = gauge_init_table().find(cfg, "cfg_type");
  cfg.accept_unused({"cfg_file", "parallel_io", "ParallelIO", "reunit"});  // Chroma's inputs have them for every start
  return row ? row->make(cfg) : GaugeInit{};
}

}  // namespace qcd
