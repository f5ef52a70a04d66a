#include <memory>

#include "apps/bench/suites.hpp"
#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/gauge/start.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/hmc/trajectory.hpp"

namespace bench {

void run_hmc_trajectory(Session& session) {
  const auto gauge = std::make_shared<qcd::GaugeMonomial>(std::make_shared<qcd::LoopAction>(qcd::wilson_action(5.7)));
  qcd::Hamiltonian hamiltonian({{"gauge", gauge}}, {"gauge"});
  const double step = 0.1;
  const qcd::Integrator integrator(
      step, qcd::make_evolution(qcd::find_scheme("LCM_STS_LEAPFROG").stages({}), 2, {{"gauge", gauge}}));

  session.run("hmc", {}, [&] {
    qcd::GaugeField u(QDP::Nd);
    qcd::weak_field_start(u);
    qcd::run_trajectory(u, hamiltonian, integrator, {.monitor_forces = false});
  });
}

}  // namespace bench
