// NVIDIA's assembler as a program, ptxas of a CUDA toolkit.
//
// The driver has the same assembler as a library, but makes one kernel at a time with it: of four threads that order code three
// wait, and launches of other threads wait, too. Processes do not.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace jit {

class Ptxas {
 public:
  /// The program that TESSERA_PTXAS names, else the first on PATH or in a toolkit, for GPUs of compute capability `sm` (75, 80,
  /// 90, ...). None, and `why` says so, if none is wanted or there, or it does not run, is of a newer CUDA than the driver's (major
  /// versions), does not know the GPU, or makes a binary that the driver does not take.
  static std::optional<Ptxas> find(int sm, int driver_major, const std::function<bool(const std::string&)>& takes,
                                   std::string& why);

  /// With its version.
  const std::string& name() const { return name_; }
  /// PTX to a binary, with at most `registers` registers per thread (0: no bound), optimised to `level` (0 to 3). `log` receives what
  /// it says. Nothing if it fails. From any thread, at the same time.
  std::optional<std::string> assemble(const std::string& ptx, int registers, int level, std::string& log) const;

 private:
  Ptxas(std::string path, int sm) : path_(std::move(path)), sm_(sm) {}

  std::string path_, name_;
  int sm_;
};

}  // namespace jit
