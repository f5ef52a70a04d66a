// Finding and loading the plug-in for MPI. Tessera itself is linked with no MPI: its programs run where there is none, and one
// build of them with any.
#pragma once

#include <string>
#include <vector>

#include "jit/comm/mpi/interface.hpp"

namespace jit {

struct Plugin {
  std::string file;
  mpi::OpenFunction open = nullptr;  ///< nullptr: there is none
};

/// Where it is looked for: TESSERA_MPI_LIBRARY and nowhere else, or beside this library, in lib beside the program's
/// folder, and where the system looks for libraries.
std::vector<std::string> plugin_places();

/// Loads the first that is there. Throws DeviceError for one that cannot be loaded, is of another version or no plug-in, and if
/// TESSERA_MPI_LIBRARY names a file that is not there.
Plugin load_plugin();

}  // namespace jit
