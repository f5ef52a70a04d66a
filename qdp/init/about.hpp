// What runs: version and commit of the code, machine, device, threads, precision. For the headers of runs, and for
// telling two results apart months later.
#pragma once

#include <string>

namespace QDP {

struct ProgramAbout {
  std::string version;  ///< "0.1.0"
  std::string commit;   ///< of the build's sources, "-modified" if they were changed after it; "unknown" outside of git
  std::string host;     ///< name of the machine
  std::string device;   ///< "cpu", "cuda:0", "sim"
  std::string device_model;  ///< "NVIDIA H200", the processor's name
  int threads = 1;           ///< of the host
  int precision = 64;        ///< bits of the word behind Real
  int nd = 4, nc = 3, ns = 4;
};

/// Of this process; starts the run time if nothing did.
ProgramAbout about_program();

/// One line: "Tessera 0.1.0 (1a2b3c), 64 bits, Nd 4, Nc 3; cpu (AMD EPYC), 2 threads, on node17".
std::string describe(const ProgramAbout& about);

}  // namespace QDP
