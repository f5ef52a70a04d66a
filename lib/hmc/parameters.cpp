#include "lib/hmc/parameters.hpp"

#include "lib/action/gauge_actions.hpp"
#include "lib/action/monomial_table.hpp"
#include "lib/dirac/fermion_action.hpp"
#include "lib/io/boundary.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/rational/input.hpp"
#include "lib/solver/predictor.hpp"
#include "lib/solver/solver_table.hpp"

namespace qcd {

using namespace QDP;

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

namespace {

const RunKind& hmc_run() {
  static const RunKind kind{.program = "hmc", .root = "Params", .method = "HMCTrj", .output = "doHMC"};
  return kind;
}

}  // namespace

HmcParameters::HmcParameters() : RunParameters(hmc_run()) {}

void HmcParameters::write_method_state(XMLWriter& xml) const {
  if (dynamics.tuner) dynamics.tuner->write_state(xml);
}

void HmcParameters::read_method_state(const Input& mc_control) {
  if (dynamics.tuner && mc_control.has("StepTuning")) dynamics.tuner->read_state(mc_control.group("StepTuning"));
}

HmcParameters read_hmc_parameters(const Input& root) {
  HmcParameters p;
  read_run_parameters(p, root);
  const Input trajectory = root.group("HMCTrj");
  p.dynamics = read_dynamics(trajectory);
  p.dynamics.tuner = StepTuner::read(trajectory.group("MDIntegrator"), root.group("MCControl"), *p.dynamics.integrator);
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
  section(wilson_type_action_table());
  section(staggered_type_action_table());
  section(fermion_state_table());
  section(fermion_bc_table());
  text += "\n" + fermion_state_help();
  section(normal_solver_table<LatticeFermion>());
  section(multi_shift_solver_table<LatticeFermion>());
  section(predictor_table<LatticeFermion>());
  section(rational_approximation_table());
  section(gauge_action_table());
  section(gauge_state_table());
  section(gauge_boundary_table());
  section(integrator_table());
  section(measurement_table());
  return text;
}

}  // namespace qcd
