// One trajectory of hybrid Monte Carlo: refresh, integrate, accept or reject.
#pragma once

#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"

#include <limits>

namespace qcd {

struct TrajectoryOptions {
  bool warm_up = false;              ///< accept without asking
  bool check_reversibility = false;  ///< integrate back and log how far from the start it ends
  double reversibility_tolerance = std::numeric_limits<double>::infinity();  ///< of |DeltaDeltaH| on the way back
  bool monitor_forces = true;
  DynamicsObserver* observer = nullptr;  ///< of the way forward
};

struct TrajectoryResult {
  double delta_kinetic = 0;
  double delta_potential = 0;
  double delta_h = 0;
  bool accepted = false;
};

/// Metropolis: true if dH <= 0; otherwise true with probability exp(-dH), drawing one random number. A dH that is not a
/// number is rejected.
bool metropolis(double delta_h);

/// Runs one trajectory on `u`, which is replaced by the new field if accepted and left as it was (to the bit) if not.
/// `record` receives the group HMCTrajectory (both documents of a run), `detail` what only the log shows.
/// Throws NumericsError if the links leave the group (step size far too large), or if the way back does not find the
/// energy of the start within the tolerance.
TrajectoryResult run_trajectory(GaugeField& u, Hamiltonian& hamiltonian, const Integrator& integrator,
                                const TrajectoryOptions& options, const Log& record = {}, const Log& detail = {});

}  // namespace qcd
