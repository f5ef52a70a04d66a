#include "jit/support/env.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "jit/support/spelling.hpp"

namespace jit {
namespace {

// clang-format off
enum Row {
  kLog, kDump, kDumpDir, kCacheDir, kCacheMax, kCache, kKernelMax, kSync, kCheck, kDevice, kProfile, kTune, kAssembler, kStream, kPrefetch,
  kLanes, kMemMax, kSpill, kLibCuda, kLibDevice, kPtxas, kSimMemory, kSimFault, kSimDelay,
  kFuse, kTwoRows, kGather, kOverlap, kKeepHalos, kShareMessages, kNuma, kMpi, kGpuMpi, kMpiLibrary, kTimeout
};
// clang-format on

std::string raw(Row row) {
  const EnvVariable& variable = env_table()[row];
  const char* value = std::getenv(variable.name);
  return value != nullptr && *value != '\0' ? value : variable.fallback;
}

[[noreturn]] void reject(Row row, const std::string& got) {
  const EnvVariable& variable = env_table()[row];
  throw UserError(
      {.what = variable.name,
       .expected = variable.type,
       .got = "\"" + got + "\"",
       .where = "environment",
       .what_now = "unset it for the default " + std::string(*variable.fallback ? variable.fallback : "(empty)")});
}

bool read_bool(Row row) {
  const std::string value = raw(row);
  if (value == "1") return true;
  if (value == "0") return false;
  reject(row, value);
}

std::optional<bool> read_auto_bool(Row row) {
  if (raw(row) == "auto") return std::nullopt;
  return read_bool(row);
}

int read_int(Row row, int lowest, int highest) {
  const std::string value = raw(row);
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, number);
  if (failure != std::errc{} || stop != end || number < lowest || number > highest) reject(row, value);
  return number;
}

std::optional<int> read_auto_int(Row row, int lowest, int highest) {
  if (raw(row) == "auto") return std::nullopt;
  return read_int(row, lowest, highest);
}

Env::Tune read_tune() {
  const std::string value = raw(kTune);
  if (value == "0") return Env::Tune::off;
  if (value == "1") return Env::Tune::on;
  if (value == "eager") return Env::Tune::eager;
  reject(kTune, value);
}

/// "512MiB", "8GiB", "1000": bytes; the binary units may be shortened to K, M, G, T.
std::uint64_t read_bytes(Row row) {
  const std::string value = raw(row);
  std::uint64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, number);
  if (failure != std::errc{}) reject(row, value);
  std::string unit(stop, end);
  if (unit.size() == 3 && unit.substr(1) == "iB") unit.resize(1);
  const std::string units = "KMGT";
  if (unit.empty()) return number;
  const auto power = units.find(unit);
  if (unit.size() != 1 || power == std::string::npos) reject(row, value);
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (number > (UINT64_MAX >> shift)) reject(row, value);
  return number << shift;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> read_dump() {
  const std::vector<std::string> stages = split(raw(kDump));
  for (const std::string& stage : stages)
    if (stage != "ir" && stage != "llvm" && stage != "opt" && stage != "asm" && stage != "ptx") reject(kDump, stage);
  return stages;
}

bool is_device(const std::string& name) {
  if (name == "cpu" || name == "cuda" || name == "sim") return true;
  const std::string prefix = "cuda:";
  return name.starts_with(prefix) && name.size() > prefix.size() && name.size() <= prefix.size() + 3 &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

std::vector<std::string> read_device() {
  const std::string value = raw(kDevice);
  if (value == "auto") return {};
  std::vector<std::string> names = split(value);
  for (const std::string& name : names)
    if (!is_device(name)) reject(kDevice, name);
  return names;
}

std::string read_cache_dir() {
  const std::string value = raw(kCacheDir);
  if (!value.empty()) return value;
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && *base == '/')
    return std::string(base) + "/tessera";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/tessera";
  return "";  // any other place could be guessed by others, and entries are executed
}

/// The names of the environment that look like ours, without their values.
std::vector<std::string> names_like_ours() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (const std::string_view text = *entry; text.starts_with("TES"))
      names.emplace_back(text.substr(0, text.find('=')));
  return names;
}

bool is_known(const std::string& name) {
  const auto& table = env_table();
  return std::any_of(table.begin(), table.end(), [&name](const EnvVariable& v) { return name == v.name; });
}

/// The variable that a name is a slip of, or nullptr. Of short names one letter may differ, so that the variables of other
/// programs, or of another version of this one, are not taken for slips.
const char* nearly(const std::string& name) {
  const EnvVariable* best = nullptr;
  std::size_t least = 0;
  constexpr std::size_t kPrefix = std::string_view("TESSERA_").size();
  for (const EnvVariable& variable : env_table()) {
    const std::size_t slips = edit_distance(name, variable.name),
                      bearable = std::string_view(variable.name).size() > kPrefix + 6 ? 2 : 1;
    if (slips <= bearable && (best == nullptr || slips < least)) best = &variable, least = slips;
  }
  return best != nullptr ? best->name : nullptr;
}

void reject_slips() {
  for (const std::string& name : names_like_ours())
    if (const char* meant = is_known(name) ? nullptr : nearly(name))
      throw UserError({.what = name,
                       .expected = "a variable of Tessera",
                       .got = "a name that nothing reads",
                       .where = "environment",
                       .what_now = "Did you mean " + std::string(meant) + "? Unset it otherwise"});
}

Env read_all() {
  reject_slips();
  Env values;
  values.log = raw(kLog);
  if (!is_log_spec(values.log)) reject(kLog, values.log);
  values.dump = read_dump();
  values.dump_dir = raw(kDumpDir);
  values.cache_dir = read_cache_dir();
  values.cache_max = read_bytes(kCacheMax);
  values.cache = read_bool(kCache);
  values.kernel_max = read_bytes(kKernelMax);
  values.sync = read_bool(kSync);
  values.check = read_bool(kCheck);
  values.device = read_device();
  values.profile = raw(kProfile);
  values.tune = read_tune();
  values.assembler = read_auto_bool(kAssembler);
  values.stream = read_auto_bool(kStream);
  values.prefetch = read_auto_int(kPrefetch, 0, 64);
  values.lanes = read_auto_int(kLanes, 1, std::numeric_limits<int>::max());  // the rest: jit/runtime
  values.mem_max = read_bytes(kMemMax);
  values.spill = read_bool(kSpill);
  values.libcuda = raw(kLibCuda);
  values.libdevice = raw(kLibDevice);
  values.ptxas = raw(kPtxas);
  values.sim_memory = read_bytes(kSimMemory);
  values.sim_fault = raw(kSimFault);
  values.sim_delay = read_bool(kSimDelay);
  values.fuse = read_bool(kFuse);
  values.two_rows = read_auto_bool(kTwoRows);
  values.gather = read_auto_bool(kGather);
  values.overlap = read_bool(kOverlap);
  values.keep_halos = read_bytes(kKeepHalos);
  values.share_messages = read_bool(kShareMessages);
  values.numa = read_bool(kNuma);
  values.mpi = read_auto_bool(kMpi);
  values.gpu_mpi = read_auto_bool(kGpuMpi);
  values.mpi_library = raw(kMpiLibrary);
  values.timeout = read_int(kTimeout, 0, std::numeric_limits<int>::max());
  configure_log(values.log);
  return values;
}

Env& process_env() {
  static Env values = read_all();
  return values;
}

}  // namespace

const std::vector<EnvVariable>& env_table() {
  // INVARIANT: same order as enum Row.
  static const std::vector<EnvVariable> table = {
      {"TESSERA_LOG", "error|warn|info|debug|trace[,topic...]", "warn",
       "what is told on stderr; topics narrow info and below"},
      {"TESSERA_DUMP", "list of ir,llvm,opt,asm,ptx", "", "write each kernel's stages to files"},
      {"TESSERA_DUMP_DIR", "folder", ".", "where TESSERA_DUMP writes <kernel>_<hash>.<stage>"},
      {"TESSERA_CACHE_DIR", "folder", "", "kernel cache; default $XDG_CACHE_HOME/tessera or ~/.cache/tessera"},
      {"TESSERA_CACHE_MAX", "bytes, or with K M G T (KiB MiB GiB TiB)", "1GiB",
       "size bound of the kernel cache, least recently used go first"},
      {"TESSERA_CACHE", "0|1", "1", "0: no kernel cache on disk"},
      {"TESSERA_KERNEL_MAX", "bytes, or with K M G T (KiB MiB GiB TiB)", "256MiB",
       "about what compiled kernels take of the host's memory, least recently used go first"},
      {"TESSERA_SYNC", "0|1", "0", "1: wait after each launch, so that an error names its kernel"},
      {"TESSERA_CHECK", "0|1", "0",
       "1: stop at the first NaN that a kernel makes, and at reads of fields that were never written"},
      {"TESSERA_DEVICE", "auto, or list of cpu,cuda,cuda:<n>,sim", "auto",
       "devices in order of preference; sim: a GPU simulated on the CPU (tests)"},
      {"TESSERA_PROFILE", "file", "", "write calls, seconds, GB/s and share of each kernel at the end"},
      {"TESSERA_TUNE", "0|1|eager", "1",
       "0: kernels run as the model says; eager: each tries its variants at once, not only when it has used more time than they cost"},
      {"TESSERA_ASSEMBLER", "auto|0|1", "auto",
       "who makes the CPU's code; auto: kernels are assembled without LLVM, whose code is made beside the program and tried for those used long; 0: LLVM, when a kernel is first used; 1: LLVM only where the assembler cannot; same bits"},
      {"TESSERA_STREAM", "auto|0|1", "auto",
       "streaming (non-temporal) stores; on GPUs hints that what is touched once need not be cached"},
      {"TESSERA_PREFETCH", "auto, or 0 to 64", "auto", "software prefetch distance on the CPU in groups, 0: off"},
      {"TESSERA_LANES", "auto|<sites>", "auto", "sites per group of the layout (tests)"},
      {"TESSERA_MEM_MAX", "bytes, or with K M G T (KiB MiB GiB TiB)", "0",
       "bound on device memory for fields, 0: what the device has"},
      {"TESSERA_SPILL", "0|1", "0",
       "1: on a GPU fields leave the device after each statement that does not use them (tests)"},
      {"TESSERA_LIBCUDA", "file", "libcuda.so.1", "the CUDA driver's library"},
      {"TESSERA_LIBDEVICE", "file", "",
       "libdevice.10.bc, NVIDIA's mathematical functions; looked for where CUDA is if not set"},
      {"TESSERA_PTXAS", "auto, 0, or a file", "auto",
       "NVIDIA's assembler as a program, which makes several kernels at once beside the running ones; auto: on PATH or where CUDA is; 0, or none there: the driver's, which does neither; same bits"},
      {"TESSERA_SIM_MEMORY", "bytes, or with K M G T (KiB MiB GiB TiB)", "1GiB", "memory of the simulated GPU"},
      {"TESSERA_SIM_FAULT", "list of allocate:<n>,launch:<n>,copy:<n>,block:<threads>,pinned:<n>,stack:<bytes>", "",
       "the n-th such call of the simulated GPU fails; largest block it runs; allocations of pinned memory it grants; memory that must be free at each launch"},
      {"TESSERA_SIM_DELAY", "0|1", "1", "0: the simulated GPU's streams do not dawdle"},
      {"TESSERA_FUSE", "0|1", "1",
       "statements wait for those after them, and what belongs together becomes one kernel; 0: each runs at once; same bits"},
      {"TESSERA_TWO_ROWS", "auto|0|1", "auto",
       "whether the links of quark operators are kept as two rows, with the third computed; auto: on GPUs, and where the operator's hopping term is faster with them, tried when caches may not hold the links; same bits"},
      {"TESSERA_GATHER", "auto|0|1", "auto",
       "whether a CPU's kernels read operands that several launches have found unchanged, links above all, from a copy in the order of their use; auto: where the nearest caches do not hold them, if trials say so; 1: always (tests); same bits"},
      {"TESSERA_OVERLAP", "0|1", "1",
       "0: sites are computed only when all messages of a statement have arrived (bench)"},
      {"TESSERA_KEEP_HALOS", "bytes, or with K M G T (KiB MiB GiB TiB)", "64MiB",
       "what another rank may keep of what this one has sent it, which is not sent again until it changes; 0: all is sent"},
      {"TESSERA_SHARE_MESSAGES", "0|1", "1",
       "0: messages between ranks of one machine are copied by MPI, as others are, not read where they have been written"},
      {"TESSERA_NUMA", "0|1", "1",
       "0: ranks of a machine that nobody has bound to processors run on all of it, not each in its share of the NUMA domains"},
      {"TESSERA_MPI", "auto|0|1", "auto",
       "whether processes are ranks of one job that talk by MPI; auto: if mpirun, srun or the like started them, or the program has initialised MPI"},
      {"TESSERA_GPU_MPI", "auto|0|1", "auto",
       "whether messages between GPUs lie in their memory, which takes an MPI that is CUDA-aware; auto: if it says that it is"},
      {"TESSERA_MPI_LIBRARY", "file", "", "the plug-in for MPI; libtessera_mpi.so is looked for if not set"},
      {"TESSERA_TIMEOUT", "seconds, 0: for ever", "600",
       "how long a rank waits for a message of another, or for all in an operation of all"},
  };
  return table;
}

std::string env_help() {
  std::size_t width = 0;
  for (const EnvVariable& variable : env_table()) width = std::max(width, std::string(variable.name).size());
  std::string text;
  for (const EnvVariable& variable : env_table()) {
    std::string name = variable.name;
    name.resize(width + 2, ' ');
    text += "  " + name + variable.help + "\n  " + std::string(width + 2, ' ') + "values: " + variable.type;
    if (*variable.fallback != '\0') text += "; default: " + std::string(variable.fallback);
    text += "\n";
  }
  return text;
}

bool Env::dumps(const std::string& stage) const { return std::find(dump.begin(), dump.end(), stage) != dump.end(); }

const Env& env() { return process_env(); }

void reload_env() { process_env() = read_all(); }

std::vector<std::string> unknown_env_names() {
  std::vector<std::string> names = names_like_ours();
  std::erase_if(names, [](const std::string& name) {
    return !name.starts_with("TESSERA_") || is_known(name) || nearly(name) != nullptr;
  });
  return names;
}

}  // namespace jit
