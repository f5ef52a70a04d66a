// One trajectory of two-flavour Wilson HMC: how long, and where the time goes, by part of the algorithm and by kernel.
//
// beta 5.5, kappa 0.15, even-odd preconditioned, antiperiodic in time; double precision; minimum-norm integrator, 4 steps of
// the quark force with 4 of the gauge force each, tau 0.5; |r| <= 1e-9 |b|. The field comes from a few trajectories before.
#pragma once

#include <vector>

#include "apps/bench/record.hpp"

namespace bench {

TrajectoryRecord measure_trajectory(const std::vector<int>& lattice, int threads, double min_seconds,
                                    const Ceiling& ceiling);

}  // namespace bench
