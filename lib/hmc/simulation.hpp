// Hybrid Monte Carlo as Params describes it: a run of trajectories with checks; and a single one for its energies.
#pragma once

#include "lib/hmc/parameters.hpp"
#include "lib/hmc/update_loop.hpp"

namespace qcd {

/// A run of hybrid Monte Carlo (run_updates). Throws NumericsError if a trajectory does not repeat to the bit or leaves
/// SU(Nc).
RunSummary run_simulation(HmcParameters& parameters, QDP::XMLFileWriter& data, QDP::XMLFileWriter& log,
                          const RunHooks& hooks);

/// One trajectory; writes the energies and DeltaE to `log`. Returns dH.
double run_leapfrog_test(LeapfrogParameters& parameters, QDP::XMLFileWriter& data, QDP::XMLFileWriter& log);

}  // namespace qcd
