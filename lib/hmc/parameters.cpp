#include "lib/hmc/parameters.hpp"

#include "lib/action/gauge_actions.hpp"
#include "lib/action/monomial_table.hpp"
#include "lib/io/seed.hpp"

#include <algorithm>
#include <filesystem>

namespace qcd {

using namespace QDP;

unsigned long McControl::updates_to_do() const {
  if (start_update >= production_updates) return 0;
  return std::min(updates_this_run, total_updates() - start_update);
}

namespace {

unsigned long count(const Input& input, const std::string& name) {
  return static_cast<unsigned long>(input.integer(name, at_least(0)));
}

/// A check that is on with frequency 10 unless the input says otherwise.
void read_check(const Input& input, const std::string& name, bool& on, unsigned long& frequency) {
  on = input.flag(name + "CheckP", true);
  if (on) frequency = static_cast<unsigned long>(input.integer(name + "CheckFrequency", at_least(1), 10));
}

}  // namespace

McControl read_mc_control(const Input& input) {
  McControl c;
  c.seed = read_seed(input.group("RNG"));
  c.start_update = count(input, "StartUpdateNum");
  c.warm_up_updates = count(input, "NWarmUpUpdates");
  c.production_updates = count(input, "NProductionUpdates");
  c.updates_this_run = count(input, "NUpdatesThisRun");
  c.save_interval = static_cast<unsigned long>(input.integer("SaveInterval", at_least(1)));
  c.save_prefix = input.word("SavePrefix");
  const std::filesystem::path folder = std::filesystem::path(c.save_prefix).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    input.error("SavePrefix", "a prefix in a folder that exists", c.save_prefix);
  c.save_volfmt = input.word("SaveVolfmt");
  // One rank writes one file in each of the formats.
  if (!c.save_volfmt.empty() && c.save_volfmt != "SINGLEFILE" && c.save_volfmt != "MULTIFILE" && c.save_volfmt != "PARTFILE")
    input.error("SaveVolfmt", "SINGLEFILE, MULTIFILE or PARTFILE", c.save_volfmt);
  c.parallel_io = input.flag("parallel_io", input.flag("ParallelIO", false));
  c.keep_checkpoints = static_cast<unsigned long>(input.integer("KeepCheckpoints", at_least(1), 0));
  c.archive_interval = static_cast<unsigned long>(input.integer("ArchiveInterval", at_least(1), 0));
  if (input.has("RollingCheckpoints"))
    for (int n : input.integers("RollingCheckpoints", 0, at_least(0)))
      c.rolling_checkpoints.push_back(static_cast<unsigned long>(n));
  read_check(input, "Repro", c.check_repro, c.repro_frequency);
  read_check(input, "Reverse", c.check_reverse, c.reverse_frequency);
  c.monitor_forces = input.flag("MonitorForces", true);
  return c;
}

namespace {

Dynamics read_dynamics(const Input& input) {
  Dynamics d;
  d.lattice = input.integers("nrow", Nd, at_least(1));
  d.monomials = read_monomials(input);
  const Input hamiltonian = input.group("Hamiltonian");
  d.hamiltonian_ids = read_monomial_ids(hamiltonian, "monomial_ids", d.monomials);
  for (const std::string& id : d.hamiltonian_ids)
    if (const auto found = d.monomials.find(id); found != d.monomials.end() && found->second && !found->second->exact())
      hamiltonian.error("monomial_ids", "monomials with an exact action", id);
  d.integrator = std::make_unique<Integrator>(Integrator::read(input.group("MDIntegrator"), d.monomials));
  return d;
}

}  // namespace

HmcParameters read_hmc_parameters(const Input& root) {
  HmcParameters p;
  const Input control = root.group("MCControl");
  const Input cfg = control.group("Cfg");
  p.cfg_type = cfg.word("cfg_type", "");
  p.start = read_gauge_init(cfg);
  p.control = read_mc_control(control);
  p.measurements = read_measurements(control);
  if (control.has("InlineMeasurements")) p.measurements_xml = control.group("InlineMeasurements").xml();
  const Input trajectory = root.group("HMCTrj");
  p.dynamics = read_dynamics(trajectory);
  p.dynamics.tuner = StepTuner::read(trajectory.group("MDIntegrator"), control, *p.dynamics.integrator);
  p.trajectory_xml = trajectory.xml();
  return p;
}

LeapfrogParameters read_leapfrog_parameters(const Input& root) {
  LeapfrogParameters p;
  const Input cfg = root.group("GaugeStartup");
  p.cfg_type = cfg.word("cfg_type", "");
  p.start = read_gauge_init(cfg);
  p.monitor_forces = root.flag("MonitorForces", true);
  p.dynamics = read_dynamics(root);
  return p;
}

std::string input_help() {
  std::string text = R"(Input document (order of elements is free, others are ignored, [optional] in brackets):
  Params
    MCControl
      Cfg{cfg_type, ...}                       start of the gauge field, see below
      RNG{Seed{elem elem elem elem}}
      StartUpdateNum NWarmUpUpdates NProductionUpdates NUpdatesThisRun SaveInterval
      SavePrefix SaveVolfmt [ParallelIO]       files <SavePrefix>_cfg_<n>.lime, <SavePrefix>_restart_<n>.xml
      [KeepCheckpoints]                        only the newest n of them stay (default: all), and those whose n is a
      [ArchiveInterval]                        multiple of ArchiveInterval
      [ReproCheckP = true] [ReproCheckFrequency = 10] [ReverseCheckP = true] [ReverseCheckFrequency = 10]
      [MonitorForces = true]
      [InlineMeasurements{elem{Name, [Frequency = 1], [xml_file], ...}...}]
    HMCTrj
      nrow                                     lattice extents
      Monomials{elem{Name, ..., NamedObject{monomial_id}}...}
      Hamiltonian{monomial_ids{elem...}}
      MDIntegrator{tau0, Integrator{Name, ...}, [copyList{elem{copyFrom, copyTo}...}], [anisoP, t_dir, xi_mom],
        [MDPrecision = double]                 single: solves and derivatives of the quark forces in single precision;
                                               momenta, links and the energies of the acceptance test stay double
        [AutoTune{[TargetAcceptance = 0.8], [Rounds = 3], [Trajectories = 10], [CostPerForce list]}]}
          the last Rounds x Trajectories warm-up updates choose the n_steps of every level
  or, for the energies of one trajectory,
  LeapfrogTest{nrow, GaugeStartup{cfg_type, ...}, [MonitorForces], Monomials, Hamiltonian, MDIntegrator}
)";
  const auto section = [&](const auto& table) { text += "\nNames of " + table.kind() + ":\n" + table.help(); };
  section(gauge_init_table());
  section(monomial_table());
  section(gauge_action_table());
  section(integrator_table());
  section(measurement_table());
  return text;
}

}  // namespace qcd
