// Which build of the program and of Tessera's libraries this process runs.
#pragma once

#include <string>

namespace jit {

/// Name and build identifier of the program and of each library of Tessera's in the process, but for the plug-in for MPI, which belongs
/// to the machine: "hmc 1a2b3c4d5e6f, libtessera_jit 5d6e7f8a9b0c, ...". Identifiers are those that the linker computes from all that it
/// links (ELF's GNU build id), "unknown" where there are none.
std::string builds_in_process();

}  // namespace jit
