#include "lib/hmc/parameters.hpp"

#include "lib/action/gauge_actions.hpp"
#include "lib/action/monomial_table.hpp"
#include "lib/dirac/fermion_action.hpp"
#include "lib/io/boundary.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/rational/input.hpp"
#include "lib/solver/predictor.hpp"
#include "lib/solver/solver_table.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace qcd {

using namespace QDP;

namespace {

/// "gauge, quark": those of the counted ids that occur more than once.
std::string repeated(const std::map<std::string, int>& counts) {
  std::string list;
  for (const auto& [id, n] : counts)
    if (n > 1) list += (list.empty() ? "" : ", ") + id + ' ' + std::to_string(n) + " times";
  return list;
}

/// The Hamiltonian that accepts and the integrator that moves have to be made of the same monomials, or dH is off by the
/// whole action of those that one of them lacks. What stands in for a monomial in molecular dynamics (with a looser solver,
/// say) gets its fields by copyList.
void compare_terms(const Dynamics& d, const Input& hamiltonian, const Input& md) {
  const bool partial = hamiltonian.flag("AllowPartialHamiltonian", false);
  if (hamiltonian.has_errors() || md.has_errors()) return;  // the lists are not what was meant
  std::map<std::string, int> accepted, moved;
  for (const std::string& id : d.hamiltonian_ids) ++accepted[id];
  for (const TimeScale* scale : d.integrator->time_scales())
    for (const NamedMonomial& term : scale->monomials) ++moved[term.id];
  if (const std::string ids = repeated(accepted); !ids.empty())
    hamiltonian.error("monomial_ids", "each monomial once", ids);
  if (const std::string ids = repeated(moved); !ids.empty())
    md.error("Integrator", "each monomial on one time scale, once (its force would be applied again on every other)",
             ids);

  const auto id_of = [&](const std::shared_ptr<Monomial>& monomial) {
    return std::find_if(d.monomials.begin(), d.monomials.end(), [&](const auto& m) { return m.second == monomial; })
        ->first;
  };
  std::set<std::string> replaced, replacing;
  for (const auto& [from, to] : d.integrator->copies()) {
    const std::string source = id_of(from), target = id_of(to);
    if (!accepted.contains(source) || accepted.contains(target))
      md.error("copyList",
               "a monomial of the Hamiltonian as copyFrom (its fields are drawn there), and as copyTo one that "
               "is not",
               source + " and " + target);
    if (moved.contains(target)) replaced.insert(source);
    replacing.insert(target);
  }
  const auto lacking = [&](const Input& group, const char* list, const std::string& what) {
    if (partial)
      group.warning(list, what + "; AllowPartialHamiltonian is true");
    else
      group.error(list,
                  "the same monomials in Hamiltonian and MDIntegrator (if it is meant: "
                  "<AllowPartialHamiltonian>true</AllowPartialHamiltonian> in Hamiltonian)",
                  what);
  };
  for (const auto& [id, monomial] : d.monomials) {
    if (!monomial) continue;
    if (accepted.contains(id) && !moved.contains(id) && !replaced.contains(id))
      lacking(md, "Integrator", id + " in Hamiltonian only: its force is left out");
    if (moved.contains(id) && !accepted.contains(id) && !replacing.contains(id) && monomial->exact())
      lacking(hamiltonian, "monomial_ids", id + " in MDIntegrator only: its energy is left out");
    if (!moved.contains(id) && !accepted.contains(id))
      hamiltonian.warning("monomial_ids", "the monomial " + id + " of the list Monomials is nowhere used");
  }
}

/// `input` has the groups of HMCTrj, and the lattice has been read.
Dynamics read_dynamics(const Input& input) {
  Dynamics d;
  d.lattice = input.lattice();
  d.monomials = read_monomials(input);
  const Input hamiltonian = input.group("Hamiltonian");
  d.hamiltonian_ids = read_monomial_ids(hamiltonian, "monomial_ids", d.monomials);
  for (const std::string& id : d.hamiltonian_ids)
    if (const auto found = d.monomials.find(id); found != d.monomials.end() && found->second && !found->second->exact())
      hamiltonian.error("monomial_ids", "monomials with an exact action", id);
  const Input md = input.group("MDIntegrator");
  d.integrator = std::make_unique<Integrator>(Integrator::read(md, d.monomials));
  compare_terms(d, hamiltonian, md);
  return d;
}

/// Links, momenta, those of the start in case of rejection, two forces, and one field for a step; and the monomials'.
MemoryNeed memory_of(const Dynamics& d) {
  MemoryNeed need{.kept = 6 * bytes_of_gauge_field()};
  for (const auto& [id, monomial] : d.monomials) {
    if (!monomial) continue;
    const MemoryNeed one = monomial->memory();
    need.kept += one.kept;
    need.working = std::max(need.working, one.working);
  }
  return need;
}

}  // namespace

namespace {

const RunKind& hmc_run() {
  static const RunKind kind{.program = "hmc", .root = "Params", .method = "HMCTrj", .output = "doHMC"};
  return kind;
}

}  // namespace

namespace {

void read_monomial_states(const Input& mc_control, const MonomialMap& monomials) {
  if (!mc_control.has("MonomialStates")) return;
  MonomialStates states;
  for (const Input& elem : mc_control.elements("MonomialStates"))
    states.emplace(elem.word("monomial_id"), elem.word("state"));
  try {
    set_states(monomials, states);
  } catch (const InputError& error) {
    mc_control.error("MonomialStates", error.what(), "");
  }
}

}  // namespace

HmcParameters::HmcParameters() : RunParameters(hmc_run()) {}

void HmcParameters::write_method_state(XMLWriter& xml) const {
  if (dynamics.tuner) dynamics.tuner->write_state(xml);
  const MonomialStates states = states_of(dynamics.monomials);
  if (states.empty()) return;
  push(xml, "MonomialStates");
  for (const auto& [id, state] : states) {
    push(xml, "elem");
    write(xml, "monomial_id", id);
    write(xml, "state", state);
    pop(xml);
  }
  pop(xml);
}

void HmcParameters::read_method_state(const Input& mc_control) {
  if (dynamics.tuner && mc_control.has("StepTuning")) dynamics.tuner->read_state(mc_control.group("StepTuning"));
  read_monomial_states(mc_control, dynamics.monomials);
}

HmcParameters read_hmc_parameters(const Input& root) {
  HmcParameters p;
  const Input trajectory = root.group("HMCTrj");
  trajectory.read_lattice("nrow", Nd);
  read_run_parameters(p, root);
  p.dynamics = read_dynamics(trajectory);
  const MemoryNeed need = memory_of(p.dynamics);
  p.memory.kept += need.kept;
  p.memory.working = std::max(p.memory.working, need.working);
  p.dynamics.tuner = StepTuner::read(trajectory.group("MDIntegrator"), root.group("MCControl"), *p.dynamics.integrator);
  read_monomial_states(root.group("MCControl"), p.dynamics.monomials);
  return p;
}

LeapfrogParameters read_leapfrog_parameters(const Input& root) {
  LeapfrogParameters p;
  root.read_lattice("nrow", Nd);
  const Input cfg = root.group("GaugeStartup");
  p.cfg_type = cfg.word("cfg_type", "");
  p.start = read_gauge_init(cfg);
  p.monitor_forces = root.flag("MonitorForces", true);
  p.dynamics = read_dynamics(root);
  p.memory = memory_of(p.dynamics);
  return p;
}

std::string input_help() {
  std::string text =
      R"(Input document (order of elements is free, others are named and not used, [optional] in brackets):
  Params
    MCControl
      Cfg{cfg_type, ...}                       start of the gauge field, see below
      RNG{Seed{elem elem elem elem}}
      StartUpdateNum NWarmUpUpdates NProductionUpdates NUpdatesThisRun SaveInterval
      SavePrefix SaveVolfmt [ParallelIO]       files <SavePrefix>_cfg_<n>.lime, <SavePrefix>_restart_<n>.xml
      [KeepCheckpoints]                        only the newest n of them stay (default: all), and those whose n is a
      [ArchiveInterval]                        multiple of ArchiveInterval
      [ReproCheckP = true] [ReproCheckFrequency = 10] [ReverseCheckP = true] [ReverseCheckFrequency = 10]
      [ReverseCheckTolerance = 0.1]              a check that finds |DeltaDeltaH| above this stops the run
      [MonitorForces = true]
      [InlineMeasurements{elem{Name, [Frequency = 1], [xml_file], ...}...}]
    HMCTrj
      nrow                                     lattice extents
      Monomials{elem{Name, ..., NamedObject{monomial_id}}...}
      Hamiltonian{monomial_ids{elem...}, [AllowPartialHamiltonian = false]}
                                               the monomials of the integrator, each once; true lets either lack some
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
