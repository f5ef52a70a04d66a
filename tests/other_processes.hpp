// Whether this system lets a process reach what another one of the same user has open: not in all containers.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "tests/child.hpp"
#include "tests/skip.hpp"

namespace tests {

/// By the system's own calls, nothing of Tessera's.
inline bool processes_reach_each_other() {
  const int file = memfd_create("probe", MFD_CLOEXEC);
  if (file < 0) return false;
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
  const bool reached = in_child([&] { return open(path.c_str(), O_RDWR) >= 0; });
  close(file);
  return reached;
}

}  // namespace tests

/// Ends the running test case as skipped where processes are kept apart.
#define TESSERA_NEEDS_OTHER_PROCESSES()                                                                                \
  if (!::tests::processes_reach_each_other()) TESSERA_SKIP("this system keeps processes of one user apart")
