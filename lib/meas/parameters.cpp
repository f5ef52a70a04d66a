#include "lib/meas/parameters.hpp"

#include "lib/action/gauge_actions.hpp"
#include "lib/dirac/fermion_action.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/io/seed.hpp"
#include "lib/meas/link_smearing.hpp"
#include "lib/solver/solver_table.hpp"

namespace qcd {

using namespace QDP;

MeasureParameters read_measure_parameters(const Input& root) {
  MeasureParameters p;
  const Input param = root.group("Param");
  p.lattice = param.read_lattice("nrow", Nd);
  p.measurements = read_measurements(param, &p.memory.working);
  p.memory.kept = 2 * bytes_of_gauge_field();
  if (root.has("RNG")) p.seed = read_seed(root.group("RNG"));
  const Input cfg = root.group("Cfg");
  p.start = read_gauge_init(cfg);
  p.config_xml = cfg.xml();
  return p;
}

GaugeField start_measurements(const MeasureParameters& parameters, const Log& log) {
  const Seed seed = make_seed(parameters.seed);
  RNG::setrn(seed);
  log.write("RNG", seed);
  GaugeField u(Nd);
  const StartReport report = parameters.start(u);
  const long projected = reunitarize(u);
  write_xml(log, "Config_info", parameters.config_xml);
  {
    const auto group = log.group("Config_check");
    if (!report.verdict.empty()) log.write("checksum", report.verdict);
    log.write("reunitarized_links", static_cast<int>(projected));
  }
  write_observables(log, "Observables", u);
  return u;
}

std::string measurement_help() {
  std::string text =
      R"(Input document (order of elements is free, others are named and not used, [optional] in brackets):
  chroma
    Param
      nrow                                     lattice extents
      [InlineMeasurements{elem{Name, [Frequency = 1], [xml_file], ...}...}]
    [RNG{Seed{elem elem elem elem}}]           default 11 0 0 0
    Cfg{cfg_type, ...}                         the gauge field, see below
Measurements hand fields to each other by name: gauge_id and the like name a field that exists, linksmear_id, gfix_id,
source_id, prop_id and the like the new one. The field of Cfg is default_gauge_field.
)";
  const auto section = [&](const auto& table) { text += "\nNames of " + table.kind() + ":\n" + table.help(); };
  section(gauge_init_table());
  section(measurement_table());
  section(link_smearing_table());
  section(wilson_type_action_table());
  section(staggered_type_action_table());
  text += "\n" + fermion_state_help();
  section(direct_solver_table<LatticeFermion>());
  section(gauge_action_table());
  return text;
}

}  // namespace qcd
