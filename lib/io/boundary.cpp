#include "lib/io/boundary.hpp"

namespace qcd {

namespace {

void require_periodic_bc(const Input& group) {
  if (!group.has("GaugeBC")) return;
  const Input bc = group.group("GaugeBC");
  const std::string name = bc.word("Name");
  if (!name.empty() && name != "PERIODIC_GAUGEBC")
    bc.error("Name", "a gauge boundary condition, one of PERIODIC_GAUGEBC", name);
}

}  // namespace

void require_periodic_gauge_state(const Input& group) {
  require_periodic_bc(group);
  if (!group.has("GaugeState")) return;
  const Input state = group.group("GaugeState");
  const std::string name = state.word("Name");
  if (!name.empty() && name != "SIMPLE_GAUGE_STATE" && name != "PERIODIC_GAUGE_STATE")
    state.error("Name", "a gauge state, one of SIMPLE_GAUGE_STATE PERIODIC_GAUGE_STATE", name);
  require_periodic_bc(state);
}

}  // namespace qcd
