// Start and end of a program, its command line and threads.
#pragma once

#include <string>

#include "qdp/init/profile.hpp"
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
/// Says on the primary that threads are placed by OMP_PLACES and OMP_PROC_BIND, as QDP++ does on most machines.
void setThreadAffinity(int cores, int threads_per_core);
/// Prints on the primary for each of its threads on which processors it may run: "thread 0: 0 1".
void reportAffinity();

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

}  // namespace QDP

#define QDP_ALIGN8 __attribute__((aligned(8)))
#define QDP_ALIGN16 __attribute__((aligned(16)))
#define QDP_INLINE __attribute__((always_inline))
#define QDP_CINLINE __attribute__((always_inline, const))
#define QDP_CONST
