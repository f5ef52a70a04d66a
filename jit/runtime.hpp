// The one header through which the language (qdp/) sees the compiler and run time.
//
// A statement that ran before costs: look up the compiled kernel under the statement's structural key, bind addresses, launch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/ir.hpp"
#include "jit/ir/sum.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/sites.hpp"
#include "jit/runtime/table_key.hpp"

namespace jit {

/// A kernel as the run time keeps it: its variants (streaming or not, prefetch distance), profile and tuning state.
class KernelHandle;

/// One execution of a kernel: a part of a plan.
struct Launch {
  KernelHandle* kernel = nullptr;
  std::span<Field* const> fields;          ///< [leaves]
  std::span<const SiteMap* const> maps;    ///< [slots], entry 0 unused (nullptr)
  std::span<const std::uint64_t> scalars;  ///< [arguments], bit patterns in the low bytes
  const Domain* domain = nullptr;
  /// Sites of the statement that this is a part of: how it runs is chosen for that much data. 0: the domain's.
  std::int64_t sites_of_all = 0;
  /// Of the fields, that the kernel takes for component 0: those behind the last it names must exist.
  int component = 0;
  /// The plan's result that the kernel's first reduction is; the others follow. Parts with the same results join in them.
  int result = 0;
};

/// What is launched for one statement, in this order (design D16): inner sites, then faces; a sum over each time slice.
/// To the outside it is one step: operands are resident from the first part to the last, destinations change hands after
/// the last, and reductions are rounded when all parts have joined.
struct Plan {
  std::span<const Launch> parts;
  bool whole = false;  ///< the parts together write every site of what they write: old contents need not be kept
  /// Those that the parts name, each part new ones or, all of them, those of a part before; over the domains of all ranks.
  std::span<double> results;
  /// In the place of results, of a plan that is a step of several: what it finds here joins these.
  std::span<ReductionValue> found = {};
  /// The parts go over one domain, and none reads what another one writes: they may be computed piece by piece of it, or those of one
  /// kernel site by site.
  bool side_by_side = false;
};

/// A row of the kernel table, for bench, tests and the profile.
struct KernelInfo {
  std::string name, hash;
  std::string configuration;  ///< how it runs, where that is not the plain way: "block 256, sites 2, ..."
  int variants = 0;           ///< made in this process
  std::int64_t calls = 0;
  double seconds = 0;           ///< time in launches (on a GPU only while profiling)
  double compile_seconds = 0;   ///< code generation, LLVM, loading; all variants
  bool from_cache = false;      ///< all variants came from the disk cache
  double bytes = 0, flops = 0;  ///< moved and done in all calls: every operand word once, fma = 2
};

/// The process's compiler, device, kernels, threads and profile. Created by the first use or by initialize(), closed by finalize().
/// Any thread may call it: calls happen one at a time. What belongs together, as find() to launch(), holds a RuntimeLock.
class Runtime {
 public:
  static Runtime& instance();
  ~Runtime();

  /// The kernel for a key, or nullptr if none was made yet, or not for long (TESSERA_KERNEL_MAX). The key says everything that
  /// shapes the IR. The pointer is good until another 64 kernels have been asked for: so long may a plan be made.
  KernelHandle* find(const TableKey& key) const;
  /// Registers the IR under the key, which is copied (compiled at its first launch, per variant).
  KernelHandle* add(const TableKey& key, ir::Kernel kernel);
  /// Whether it was never launched, by itself or with others.
  bool is_new(const KernelHandle& kernel) const;
  void expect(const Launch& launch);  ///< it will be, soon: code that takes long to make is begun beside the program
  /// Runs a plan. Fields written are made valid on the device. Blocks until done: on the CPU, and with results, yes.
  /// Collective if it has results: those of the ranks are combined once for all, and rounded last, as finish_sums() does.
  /// Throws UserError if a field to be read was never written (TESSERA_CHECK=1), DeviceError when memory runs out: then
  /// nothing has been launched, and all fields are as they were.
  void run(const Plan& plan);
  /// What the ranks have found in all, rounded. Collective.
  static void finish_sums(std::span<ReductionValue> found, std::span<double> results);

  /// Whether plans with sums block where others do not.
  bool waits_for_sums() const;
  /// Native sites per group: lanes of a 4-byte word that fill one register (TESSERA_LANES overrides).
  int lanes() const;
  /// "cpu", "cuda:0", "sim"; and for people, "NVIDIA H200".
  std::string device() const;
  std::string device_model() const;
  /// Waits for everything launched.
  void synchronize();
  /// The device's yardsticks in bytes and in operations per second, measured now: see jit/tune/machine.hpp.
  double bandwidth();
  double copy_bandwidth();
  double arithmetic_rate(ir::Type word);
  /// Whether caches can hold what is read again and again: on the CPU. There, whether they hold so much for certain, and whether it comes
  /// from memory each time.
  bool has_caches() const;
  bool is_small(double bytes);
  bool exceeds_caches(double bytes);
  /// Whether exceeds_caches() can answer without a measurement; and that measurement, which the ranks of a machine begin at the same time,
  /// or each would take what all share for its own. On a GPU there is nothing to measure.
  bool knows_machine(double bytes);
  void measure_machine();
  int threads() const;
  void set_threads(int n);  ///< n >= 1; default OMP_NUM_THREADS or all cores

  std::vector<KernelInfo> kernels() const;
  std::int64_t launches() const;      ///< since start: tests count kernels with it
  std::int64_t trials() const;        ///< launches so far that the tuner has timed to choose among variants
  std::int64_t compilations() const;  ///< kernels that LLVM compiled (not from the cache)
  std::int64_t postponed() const;     ///< launches by themselves for as long as code for several in one is being made
  void reset_profile();
  /// Whether each launch is timed: always on the CPU; on a GPU, where it costs a microsecond, from the start if
  /// TESSERA_PROFILE is set, or when asked for here.
  void set_profiling(bool on);
  /// Sorted table: calls, seconds, GB/s, GFLOP/s, share of the time. Written to TESSERA_PROFILE by finalize().
  std::string profile_report() const;
  /// Bytes of live fields and the peak, host and device side together.
  std::size_t field_bytes() const;
  std::size_t peak_field_bytes() const;

  /// Writes the profile if asked for; reports leaks at debug level.
  void finalize();

 private:
  Runtime();
  struct State;
  State* state_;
};

}  // namespace jit
