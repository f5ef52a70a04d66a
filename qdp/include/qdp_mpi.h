// For programs that use MPI themselves: the ranks of Tessera's job are those of a communicator of the program. The one header of
// Tessera that needs MPI, the same one that the plug-in libtessera_mpi.so is compiled against.
//
//   MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
//   QDP::QDP_use_communicator(half);   // not needed for MPI_COMM_WORLD
//   QDP::QDP_initialize(&argc, &argv);
//   ...
//   QDP::QDP_finalize();
//   MPI_Finalize();
#pragma once

#include <mpi.h>

#include "jit/comm/job.hpp"

namespace QDP {

/// Before QDP_initialize(), by all ranks of the communicator, which is copied.
inline void QDP_use_communicator(MPI_Comm ranks) { jit::use_ranks_of(static_cast<int>(MPI_Comm_c2f(ranks))); }

}  // namespace QDP
