// NVIDIA's assembler as a program, ptxas of a CUDA toolkit.
//
// The driver has the same assembler as a library, but while threads beside the program use it, the program's own kernels take several
// times as long to make, and launches are held up (jit/gpu/README.md). Processes hold nobody up.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace jit {

class Ptxas {
 public:
  /// Whether the driver takes a binary.
  using Takes = std::function<bool(const std::string&)>;
  /// The program that TESSERA_PTXAS names, else the first on PATH or in a toolkit that is of use: it runs, is not of a newer CUDA than
  /// the driver (major versions), knows GPUs of compute capability `sm` (75, 80, 90, ...), and its binary is taken. None, and `why`
  /// says so, if there is none or none is wanted.
  static std::optional<Ptxas> find(int sm, int driver_major, const Takes& takes, std::string& why);

  /// With its version.
  const std::string& name() const { return name_; }
  /// PTX to a binary, with at most `registers` registers per thread (0: no bound), optimised to `level` (0 to 3). `log` receives what
  /// it says. Nothing if it fails. From any thread, at the same time.
  std::optional<std::string> assemble(const std::string& ptx, int registers, int level, std::string& log) const;

 private:
  Ptxas(std::string path, int sm) : path_(std::move(path)), sm_(sm) {}
  /// Why it is of no use; empty: it is.
  std::string objection(int driver_major, const Takes& takes);

  std::string path_, name_;
  int sm_;
};

}  // namespace jit
