#include "lib/heatbath/run.hpp"

#include "lib/action/gauge_actions.hpp"
#include "lib/heatbath/su2.hpp"
#include "lib/io/boundary.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

const RunKind& purgaug_run() {
  static const RunKind kind{.program = "purgaug",
                            .root = "purgaug",
                            .method = "HBItr",
                            .output = "doHB",
                            .all_in_control = false,
                            .warm_up_apart = true,
                            .metropolis = false};
  return kind;
}

HeatbathParameters read_heatbath(const Input& input) {
  HeatbathParameters p;
  p.over_relaxation = input.integer("nOver", at_least(0));
  p.max_trials = std::max(0, input.integer("NmaxHB"));  // Chroma: nought or less means no limit
  const std::string trial = input.word("Trial", "CREUTZ");
  if (trial == "KENNEDY_PENDLETON")
    p.trial = HeatbathTrial::kennedy_pendleton;
  else if (trial != "CREUTZ")
    input.error("Trial", "CREUTZ or KENNEDY_PENDLETON", trial);
  return p;
}

class HeatbathUpdates : public UpdateMethod {
 public:
  explicit HeatbathUpdates(Heatbath& heatbath) : heatbath_(heatbath) {}

  TrajectoryResult update(GaugeField& u, unsigned long, bool, const Log& record, const Log&) override {
    const Clock clock;
    heatbath_.update(u);
    record.write("seconds_for_update", clock.seconds());
    TrajectoryResult result;
    result.accepted = true;
    return result;
  }

 private:
  Heatbath& heatbath_;
};

}  // namespace

PurgaugParameters::PurgaugParameters() : RunParameters(purgaug_run()) {}

PurgaugParameters read_purgaug_parameters(const Input& root) {
  PurgaugParameters p;
  const Input method = root.group("HBItr"), action = method.group("GaugeAction");
  p.nrow = method.read_lattice("nrow", Nd);
  read_run_parameters(p, root);
  p.memory.kept += 2 * bytes_of_gauge_field();
  const HeatbathParameters heatbath = read_heatbath(method.group("HBParams"));
  LinkMaps links = read_gauge_state(action);
  const auto* row = gauge_action_table().find(action);
  const auto any = row ? row->make(action) : nullptr;
  const auto loops = std::dynamic_pointer_cast<const LoopAction>(any);
  if (any && !loops) action.error("Name", "an action that is a sum of loops", row->name);
  if (!links_stay_linear(links))
    action.error("GaugeState", "links with boundary conditions only", "smeared links");
  else if (loops && !root.lattice().empty())
    try {
      require_independent_links(*loops, root.lattice());
    } catch (const InputError& error) {
      action.error("Name", "an action whose links can be updated in turns on this lattice", error.what());
    }
  if (su2_subgroups() == 0)
    root.error("HBItr", "two colours or more, whose SU(2) subgroups a heatbath updates", "one. Use hmc");
  if (loops && links_stay_linear(links) && su2_subgroups() > 0)
    p.heatbath = std::make_unique<Heatbath>(loops, std::move(links), heatbath);
  return p;
}

RunSummary run_heatbath(PurgaugParameters& parameters, XMLFileWriter& data, XMLFileWriter& log, const RunHooks& hooks) {
  HeatbathUpdates updates(*parameters.heatbath);
  return run_updates(parameters, updates, data, log, hooks);
}

std::string purgaug_help() {
  std::string text =
      R"(Input document (order of elements is free, others are named and not used, [optional] in brackets):
  purgaug
    Cfg{cfg_type, ...}                         start of the gauge field, see below
    MCControl
      RNG{Seed{elem elem elem elem}}
      StartUpdateNum NProductionUpdates NUpdatesThisRun SaveInterval
      NWarmUpUpdates                           updates before the numbered ones, measured by the plaquette only
      SavePrefix SaveVolfmt [ParallelIO]       files <SavePrefix>_cfg_<n>.lime, <SavePrefix>_restart_<n>.xml
      [KeepCheckpoints]                        only the newest n of them stay (default: all), and those whose n is a
      [ArchiveInterval]                        multiple of ArchiveInterval
    [InlineMeasurements{elem{Name, [Frequency = 1], [xml_file], ...}...}]
    HBItr
      nrow                                     lattice extents
      GaugeAction{Name, ..., [GaugeBC] or [GaugeState{Name, [GaugeBC]}]}, sums of loops only
      HBParams
        nOver                                  sweeps of over-relaxation before each heatbath sweep
        NmaxHB                                 trials per SU(2) subgroup; if all fail the link stays; 0: until one succeeds
        [Trial = CREUTZ]                       or KENNEDY_PENDLETON, which fails less often at large beta
)";
  const auto section = [&](const auto& table) { text += "\nNames of " + table.kind() + ":\n" + table.help(); };
  section(gauge_init_table());
  section(gauge_action_table());
  section(gauge_state_table());
  section(gauge_boundary_table());
  section(measurement_table());
  return text;
}

}  // namespace qcd
