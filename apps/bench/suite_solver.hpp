// Solvers of the Wilson quark on a thermal field, against the hopping term and against each other, timed in turn.
//
// Even-odd preconditioned M, kappa 0.15, on a quenched field near beta 6; a Gaussian right-hand side; |r| <= 1e-12 |b|.
//   cg           conjugate gradients in double precision
//   cg_mixed     in single precision with reliable updates
//   multi_shift  12 shifts from 1e-6 to 10 at once, double precision
//   bicgstab     M x = b in double precision
//   cg_4_sides, cg_mixed_4_sides, cg_12_sides  for four right-hand sides, or the twelve of a propagator; all figures are those of one
// cg is always among them.
//
// Each repetition times the hopping term in double precision and every solver, so that what else the machine does falls
// on all of them; ratios are medians over the repetitions: three, or fewer where they take minutes.
#pragma once

#include <iosfwd>
#include <vector>

#include "apps/bench/cases.hpp"
#include "apps/bench/record.hpp"

namespace bench {

/// `progress` is told of each solve as it ends.
std::vector<SolverRecord> measure_solvers(const std::vector<int>& lattice, int threads, double min_seconds,
                                          Cases& cases, std::ostream& progress);

}  // namespace bench
