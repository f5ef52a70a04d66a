// Start and end of a program, its command line, threads and profiling hooks.
#pragma once

#include <string>

#include "qdp/util/terminate.hpp"

namespace QDP {

/// Reads QDP++'s flags (-h, -V, -geom Px Py Pz Pt, -iogeom ..., -bind, -poolsize, -p, -cd dir, -rti, -rtinode; unknown
/// ones are left to the application) and Tessera's environment variables. Throws jit::UserError for malformed values.
/// A process that a launcher of MPI started joins the other ranks, and jit::DeviceError says why it cannot (jit/comm/job.hpp).
void QDP_initialize(int* argc, char*** argv);
bool QDP_isInitialized();
/// Writes the profile if asked for, and waits until all ranks have come. Lattices may still live.
void QDP_finalize();
void QDP_resume();
void QDP_suspend();
/// The flags above and the environment variables, for an application's --help.
std::string QDP_help();

int qdpNumThreads();
int qdpThreadNum();

/// Calls func(lo, hi, id, arg) on threads with parts [lo, hi) of [0, n).
template <class Arg> void dispatch_to_threads(int n, Arg a, void (*func)(int lo, int hi, int id, Arg* arg)) {
  const int threads = qdpNumThreads();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int id = 0; id < threads; ++id) {
    const int lo = static_cast<int>(static_cast<long>(n) * id / threads),
              hi = static_cast<int>(static_cast<long>(n) * (id + 1) / threads);
    func(lo, hi, id, &a);
  }
}

// Profiling hooks of existing programs: per-kernel times come from TESSERA_PROFILE instead.
inline int getProfileLevel() { return 0; }
inline int setProfileLevel(int) { return 0; }
inline int getProgramProfileLevel() { return 0; }
inline int setProgramProfileLevel(int) { return 0; }
inline void pushProfileInfo(int, const std::string&, int) {}
inline void popProfileInfo() {}
inline void initProfile(const std::string&, const std::string&, int) {}
inline void closeProfile() {}
inline void printProfile() {}

}  // namespace QDP

#define QDP_PUSH_PROFILE(level) ((void)(level))
#define QDP_POP_PROFILE() ((void)0)
#define QDP_ALIGN8 alignas(8)
#define QDP_ALIGN16 alignas(16)
