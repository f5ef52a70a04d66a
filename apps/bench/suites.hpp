// The statements that are measured, written as a user of the language writes them.
#pragma once

#include <string>

#include "apps/bench/session.hpp"

namespace bench {

/// lcm, upsi, spmat, matvec: Table II of Winter, Clark, Edwards, Joo (arXiv:1408.5925); covderiv: its Figure 1;
/// axpy, norm2, innerProduct, plaquette.
void run_expr(Session& session, Precision precision);

/// Wilson hopping term from one checkerboard to the other, links of 18 reals and of two rows.
void run_dslash(Session& session, Precision precision);

/// Statements that follow each other, by themselves and as the queue puts them together (TESSERA_FUSE).
void run_chains(Session& session, Precision precision);

/// The hopping term and the covariant derivative in each direction, with what their messages take.
void run_comm(Session& session, Precision precision);

/// A gauge field and a propagator written to a file in `folder`, which is flushed to disk, and read, most likely from the
/// system's memory. Bytes are those of the file's data.
void run_io(Session& session, Precision precision, const std::string& folder);

/// One trajectory of pure gauge hybrid Monte Carlo, Wilson action, base precision: for its kernels, not for its speed.
void run_hmc_trajectory(Session& session);

}  // namespace bench
