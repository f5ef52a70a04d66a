// Every environment variable of Tessera: one table, read in one place, typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jit {

/// One row of the table that `--help` prints and README repeats.
struct EnvVariable {
  const char* name;
  const char* type;      ///< the accepted values
  const char* fallback;  ///< the value used when it is not set
  const char* help;
};

/// All variables, in the order of the help text.
const std::vector<EnvVariable>& env_table();

/// The table as text, one variable per line, for `--help`.
std::string env_help();

/// The values. An empty optional means "auto".
struct Env {
  std::string log;                ///< level[,topic...]
  std::vector<std::string> dump;  ///< stages to write: ir llvm opt asm ptx
  std::string dump_dir;
  std::string cache_dir;        ///< empty: there is no place for a cache
  std::uint64_t cache_max = 0;  ///< bytes
  bool cache = true;
  std::uint64_t kernel_max = 0;  ///< bytes
  bool sync = false;
  bool check = false;
  std::vector<std::string> device;  ///< in order of preference: cpu, cuda, cuda:<n>, sim; empty means auto
  std::string profile;              ///< file name; empty means off
  enum class Tune { off, on, eager } tune = Tune::on;
  std::optional<bool> assembler;  ///< kernels of the CPU are assembled without LLVM; nothing: its code is tried, too
  std::optional<bool> stream;
  std::optional<int> prefetch;   ///< groups ahead
  std::optional<int> lanes;      ///< sites per group
  std::uint64_t mem_max = 0;     ///< bytes; 0 means what the device has
  bool spill = false;            ///< fields stay on the device for one statement only
  bool fuse = true;              ///< statements wait and become one kernel where they can
  std::optional<bool> two_rows;  ///< whether links of operators are kept so
  std::optional<bool> gather;    ///< whether kernels read unchanged operands from copies in the order of their use
  bool overlap = true;           ///< inner sites are computed while messages travel
  std::uint64_t keep_halos = 0;  ///< bytes for each other rank
  bool share_messages = true;    ///< ranks of a machine read them where they have been written
  bool numa = true;              ///< ranks stay in their share of the NUMA domains
  std::string libcuda;           ///< the CUDA driver's library
  std::string libdevice;         ///< NVIDIA's mathematical functions as LLVM bitcode; empty: looked for
  std::string ptxas;             ///< NVIDIA's assembler; auto: looked for; 0: the driver's
  std::uint64_t sim_memory = 0;  ///< bytes of the simulated GPU
  std::string sim_fault;         ///< what fails there, see jit/gpu/driver.hpp
  bool sim_delay = true;         ///< whether its streams dawdle
  std::optional<bool> mpi;       ///< whether ranks talk by MPI
  std::optional<bool> gpu_mpi;   ///< whether MPI reaches a GPU's memory; nothing: as it says
  std::string mpi_library;       ///< the plug-in for MPI; empty: looked for
  int timeout = 0;               ///< seconds that a rank waits for a message; 0: for ever

  bool dumps(const std::string& stage) const;
};

/// The process's values, read at the first call. Throws UserError naming the variable and its valid values, also for a
/// name in the environment that is nearly one of ours.
const Env& env();

/// Reads the environment again (tests). References from env() stay valid; on a throw the old values stay.
void reload_env();

/// Names of the environment that start with TESSERA_ but are not in the table, and are not like any that is.
std::vector<std::string> unknown_env_names();

}  // namespace jit
