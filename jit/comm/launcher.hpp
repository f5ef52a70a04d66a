// What a process can know of its job before it talks to anybody: which launcher started it, as which rank of how many.
#pragma once

#include <functional>
#include <string>

namespace jit {

struct LaunchedRank {
  std::string by;  ///< the variable that tells, empty: no launcher did
  int ranks = 1;   ///< 0: it does not tell how many
  int rank = 0;
};

/// From the variables that launchers set: mpirun of Open MPI, of MPICH and its kin, srun, jsrun, aprun, flux. The shell of an
/// allocation (sbatch, salloc) is one process. `variable` returns a variable's text, or nullptr.
LaunchedRank launch_of(const std::function<const char*(const char*)>& variable);

/// Of this process.
LaunchedRank launch_of_process();

}  // namespace jit
