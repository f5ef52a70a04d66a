#include "jit/runtime.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "jit/codegen/codegen.hpp"
#include "jit/device/cpu_device.hpp"
#include "jit/ir/sum.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/relayout.hpp"
#include "jit/runtime/checks.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/profile.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/log.hpp"
#include "jit/tune/clock.hpp"
#include "jit/tune/machine.hpp"

namespace jit {
namespace {

// Waking a hot team costs 0.2 us and its end as much again; below this much work on one thread it does not pay.
constexpr double kParallelNanoseconds = 1500;
// An instruction of the IR on a group: a load, or an operation on one or two registers, with what overlaps.
constexpr double kNanosecondsPerOperation = 0.5;

// Variants are tried once the kernel has used this many times what its costliest compilation took.
constexpr double kTuneAfterCompiles = 3;
constexpr double kTuneAfterSeconds = 2e-3;

int checked_lanes(int lanes) {
  if (lanes > kMaxLanes || !std::has_single_bit(static_cast<unsigned>(lanes)))
    throw UserError({.what = "TESSERA_LANES",
                     .expected = "a power of two up to " + std::to_string(kMaxLanes),
                     .got = std::to_string(lanes),
                     .where = "environment"});
  return lanes;
}

[[noreturn]] void reject_shape(const KernelHandle& kernel, std::size_t leaf, const Field& field) {
  throw InternalError({.what = "launch",
                       .expected = describe_operand(kernel.ir, leaf) + " in groups of " + std::to_string(kernel.ir.lanes),
                       .got = std::string(ir::name(field.word())) + "[" + std::to_string(field.components()) +
                              "] in groups of " + std::to_string(field.order().lanes)});
}

/// Addresses and tables of a launch, in the kernel's own arrays. After this nothing can fail.
void bind(KernelHandle& kernel, const Launch& launch) {
  const bool whole = launch.domain->whole;
  const std::size_t leaves = kernel.ir.leaves.size();
  std::size_t i = 0;
  try {
    for (; i < leaves; ++i) {
      const ir::Leaf& leaf = kernel.ir.leaves[i];
      Field& field = *launch.fields[i];
      if (field.word() != leaf.word || field.components() != leaf.components || field.order().lanes != kernel.ir.lanes)
        reject_shape(kernel, i, field);
      if (leaf.read) kernel.addresses[i] = const_cast<void*>(field.device_read());
      if (leaf.written) field.device_reserve(whole && !leaf.read);
    }
  } catch (const DeviceError& error) {
    throw DeviceError(std::string(error.what()) + " [" + describe_operand(kernel.ir, i) + "]");
  }
  // All that may throw has been done: contents are given up only now.
  for (i = 0; i < leaves; ++i)
    if (kernel.ir.leaves[i].written) kernel.addresses[i] = launch.fields[i]->device_write(whole);
  for (std::size_t s = 1; s < kernel.tables.size(); ++s) {
    const SiteMap& map = *launch.maps[s];
    kernel.tables[s] = kernel.ir.slots[s].gathered ? map.source.data() : map.group_source.data();
  }
}

}  // namespace

struct Runtime::State {
  Device& device = process_device();
  Memory& memory = Memory::instance();
  KernelTable table;
  std::unique_ptr<CpuCompiler> compiler;  // opening LLVM takes milliseconds: at the first compilation
  const int lanes = checked_lanes(env().lanes.value_or(CpuCompiler::native_lanes()));
  const bool check = env().check;
  const double cache_bytes = static_cast<double>(CpuDevice::last_level_cache());
  std::int64_t launches = 0, compilations = 0;
  std::vector<SumAccumulator> sums;             // [piece][worker][reduction]
  std::vector<const SumAccumulator*> column;    // those of one reduction

  KernelFunction variant(KernelHandle& kernel, const CodeOptions& options);
  TuningSpace tuning_space(const KernelHandle& kernel, double bytes) const;
  void reduce(const KernelHandle& kernel, DeviceLaunch& run, const Domain& domain, std::int64_t all_groups, double* results);
  void prepare(KernelHandle& kernel, SizeClass& size, double bytes);
  void tune(KernelHandle& kernel, SizeClass& size, double bytes, std::uint64_t elapsed);
};

/// The code of a kernel under given options, compiled if it was not yet.
KernelFunction Runtime::State::variant(KernelHandle& kernel, const CodeOptions& options) {
  for (const Variant& known : kernel.variants)
    if (known.options == options) return known.function;
  if (!compiler) compiler = std::make_unique<CpuCompiler>();
  const CompiledKernel made = compiler->compile(kernel.ir, options);
  const double seconds = made.codegen_seconds + made.compile_seconds + made.load_seconds;
  kernel.variants.push_back({options, made.function});
  kernel.hash = made.hash;
  kernel.compile_seconds += seconds;
  kernel.costliest_compile = std::max(kernel.costliest_compile, seconds);
  ++(made.from_cache ? kernel.from_cache : kernel.compiled);
  if (!made.from_cache) ++compilations;
  return made.function;
}

/// Runs a kernel with reductions. Each worker has its own accumulators, of limited capacity: an enormous domain is run in
/// pieces.
void Runtime::State::reduce(const KernelHandle& kernel, DeviceLaunch& run, const Domain& domain, std::int64_t all_groups,
                            double* results) {
  const std::size_t reductions = kernel.ir.reductions.size();
  const std::size_t workers = run.parallel ? static_cast<std::size_t>(device.workers()) : 1;
  const std::int64_t piece = kMaxAdditions / kernel.ir.trips;
  const auto pieces = static_cast<std::size_t>(std::max<std::int64_t>(1, (domain.end - domain.begin + piece - 1) / piece));
  const std::size_t rows = pieces * workers;
  if (sums.size() < rows * reductions) sums.resize(rows * reductions);
  for (std::size_t i = 0; i < rows * reductions; ++i) reset(sums[i], kernel.ir.reductions[i % reductions].kind);
  run.reductions = static_cast<int>(reductions);
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::int64_t begin = domain.begin + static_cast<std::int64_t>(p) * piece;
    const std::array<Range, 2> ranges = halves(all_groups, begin, std::min(begin + piece, domain.end));
    run.ranges = ranges;
    run.sums = sums.data() + p * workers * reductions;
    device.launch(run);
  }
  column.resize(rows);
  for (std::size_t r = 0; r < reductions; ++r) {
    for (std::size_t row = 0; row < rows; ++row) column[row] = &sums[row * reductions + r];
    results[r] = merge(column, kernel.ir.reductions[r].kind);
  }
}

/// The model: streaming stores pay when results leave the cache before they are read again, prefetching when operands
/// come from beyond the nearest caches in an order that the processor cannot guess (neighbours).
TuningSpace Runtime::State::tuning_space(const KernelHandle& kernel, double bytes) const {
  const bool out_of_cache = bytes > 0.5 * cache_bytes;
  const bool may_stream = !kernel.ir.stores.empty() && !kernel.ir.listed;
  const bool may_prefetch = !kernel.ir.listed;
  TuningSpace space;
  space.start.check = check;
  space.start.streaming = env().stream.value_or(out_of_cache && may_stream && !kernel.cost.reads_written);
  space.start.prefetch = env().prefetch.value_or(out_of_cache && may_prefetch && kernel.cost.structured ? 4 : 0);
  if (check) return space;
  if (!env().prefetch && may_prefetch && (out_of_cache || (kernel.cost.structured && bytes > 0.1 * cache_bytes)))
    space.prefetch = {0, 4, 8};
  space.try_streaming = !env().stream && may_stream && out_of_cache;
  return space;
}

void Runtime::State::prepare(KernelHandle& kernel, SizeClass& size, double bytes) {
  const TuningSpace space = tuning_space(kernel, bytes);
  size.function = variant(kernel, space.start);
  size.options = space.start;
  size.tuned = space.prefetch.empty() && !space.try_streaming;
}

/// After a launch: decides when to try variants, and which comes next.
void Runtime::State::tune(KernelHandle& kernel, SizeClass& size, double bytes, std::uint64_t elapsed) {
  const double seconds = static_cast<double>(elapsed) * seconds_per_tick();
  if (!size.tuner) {
    size.ticks += elapsed;
    const double spent = static_cast<double>(size.ticks) * seconds_per_tick();
    if (spent < std::max(kTuneAfterSeconds, kTuneAfterCompiles * kernel.costliest_compile)) return;
    size.tuner.emplace(tuning_space(kernel, bytes));
  } else {
    size.tuner->record(seconds);
  }
  size.options = size.tuner->options();
  size.function = variant(kernel, size.options);
  if (!size.tuner->done()) return;
  size.tuned = true;
  size.tuner.reset();
  log_debug("tune", kernel.ir.name, " ", kernel.hash.substr(0, 8), ", ", format_bytes(static_cast<std::size_t>(bytes)),
            ": stream ", size.options.streaming, ", prefetch ", size.options.prefetch);
}

Runtime& Runtime::instance() {
  // Never destroyed: fields of static storage may die after main.
  static Runtime* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : state_(new State) { start_clock(); }
Runtime::~Runtime() { delete state_; }

KernelHandle* Runtime::find(const Hash128& key) const { return state_->table.find(key); }

KernelHandle* Runtime::add(const Hash128& key, ir::Kernel kernel) {
  if (find(key) != nullptr)
    throw InternalError({.what = "Runtime::add", .expected = "a new key", .got = key.hex() + " again", .where = kernel.name});
  return state_->table.add(key, std::move(kernel));
}

void Runtime::launch(const Launch& launch) {
  State& state = *state_;
  KernelHandle& kernel = *launch.kernel;
  const Domain& domain = *launch.domain;
  const std::int64_t groups = domain.end - domain.begin;
  const double bytes_per_site = domain.whole ? kernel.cost.bytes : kernel.cost.bytes_of_part;
  const double bytes = static_cast<double>(domain.sites) * bytes_per_site;
  if (kernel.ir.listed != domain.listed)
    throw InternalError({.what = "launch of " + kernel.ir.name,
                         .expected = kernel.ir.listed ? "a list of groups" : "a range of groups",
                         .got = domain.listed ? "a list" : "a range"});

  const auto number = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(groups)));
  if (kernel.classes.size() <= number) kernel.classes.resize(number + 1);
  SizeClass& size = kernel.classes[number];
  if (size.function == nullptr) state.prepare(kernel, size, bytes);
  if (state.check) check_operands(kernel.ir, launch);
  bind(kernel, launch);

  DeviceLaunch run;
  run.function = size.function;
  run.arguments = {.fields = kernel.addresses.data(),
                   .tables = kernel.tables.data(),
                   .scalars = launch.scalars.data(),
                   .groups = domain.groups.data(),
                   .masks = domain.masks.data(),
                   .sums = nullptr};
  run.parallel = kernel.cost.operations * kNanosecondsPerOperation * static_cast<double>(groups) > kParallelNanoseconds;
  const std::int64_t all_groups = domain.listed || launch.fields.empty() ? 2 * domain.end : launch.fields[0]->order().groups;

  const std::uint64_t start = ticks();
  if (kernel.ir.reductions.empty()) {
    const std::array<Range, 2> ranges = halves(all_groups, domain.begin, domain.end);
    run.ranges = ranges;
    state.device.launch(run);
  } else {
    state.reduce(kernel, run, domain, all_groups, launch.results);
  }
  const std::uint64_t elapsed = ticks() - start;
  if (state.check) check_results(kernel.ir, launch);

  ++state.launches;
  ++kernel.calls;
  kernel.ticks += elapsed;
  kernel.bytes += bytes;
  kernel.flops += static_cast<double>(domain.sites) * kernel.cost.flops;
  if (!size.tuned) state.tune(kernel, size, bytes, elapsed);
}

int Runtime::lanes() const { return state_->lanes; }
int Runtime::threads() const { return state_->device.threads(); }
void Runtime::set_threads(int n) {
  state_->device.set_threads(n);
  for (const auto& kernel : state_->table.handles()) kernel->classes.clear();  // what is fastest may be another variant
}

std::vector<KernelInfo> Runtime::kernels() const {
  std::vector<KernelInfo> infos;
  const double tick = seconds_per_tick();
  for (const auto& kernel : state_->table.handles())
    infos.push_back({.name = kernel->ir.name,
                     .hash = kernel->hash,
                     .calls = kernel->calls,
                     .seconds = static_cast<double>(kernel->ticks) * tick,
                     .compile_seconds = kernel->compile_seconds,
                     .from_cache = kernel->from_cache > 0 && kernel->compiled == 0,
                     .bytes = kernel->bytes,
                     .flops = kernel->flops});
  return infos;
}

std::int64_t Runtime::launches() const { return state_->launches; }
std::int64_t Runtime::compilations() const { return state_->compilations; }

void Runtime::reset_profile() {
  for (const auto& kernel : state_->table.handles()) {
    kernel->calls = 0;
    kernel->ticks = 0;
    kernel->bytes = kernel->flops = 0;
  }
}

std::string Runtime::profile_report() const {
  return format_profile(kernels(), measure_triad(state_->device),
                        "Tessera profile: device " + state_->device.name() + ", " + std::to_string(threads()) + " threads, " +
                            std::to_string(lanes()) + " lanes");
}

std::size_t Runtime::field_bytes() const { return state_->memory.live_bytes(); }
std::size_t Runtime::peak_field_bytes() const { return state_->memory.peak_bytes(); }

void Runtime::finalize() {
  if (!env().profile.empty()) write_atomically(env().profile, profile_report());
  if (state_->memory.live_blocks() > 0)
    log_debug("memory", state_->memory.live_blocks(), " blocks of fields alive at the end, ",
              format_bytes(state_->memory.live_bytes()), "; peak ", format_bytes(state_->memory.peak_bytes()));
  state_->memory.release_kept();
}

}  // namespace jit
