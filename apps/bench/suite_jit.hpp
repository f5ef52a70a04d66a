// Cost of compiling: each kernel of the suites, once with an empty kernel cache and once, in another process, with the
// cache that the first one left; and what a statement costs the host when its kernel does next to nothing.
#pragma once

#include <iosfwd>

#include "apps/bench/timed_session.hpp"

namespace bench {

/// Compile times of all kernels on the first lattice of `options`. Starts this program twice, with --jit-pass.
std::vector<KernelRecord> measure_compilation(const Options& options);

/// What each of those two processes does: runs every statement once and writes a line for every kernel it met.
void run_jit_pass(const Options& options, std::ostream& out);

/// y += a*x on a lattice of two sites in each direction, one thread.
void measure_host_cost(TimedSession& session, Precision precision);

}  // namespace bench
