#include "jit/runtime.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/comm/collectives.hpp"
#include "jit/device/cpu_device.hpp"
#include "jit/device/processor.hpp"
#include "jit/gpu/process_device.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/runtime/checks.hpp"
#include "jit/runtime/gathering.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/launch.hpp"
#include "jit/runtime/merging.hpp"
#include "jit/runtime/profile.hpp"
#include "jit/runtime/reorder.hpp"
#include "jit/runtime/variants.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"
#include "jit/tune/machine.hpp"

namespace jit {
namespace {

// An instruction of the IR on a group: a load, or an operation on one or two registers, with what overlaps.
constexpr double kNanosecondsPerOperation = 0.5;

int checked_lanes(int lanes) {
  if (lanes > kMaxLanes || !std::has_single_bit(static_cast<unsigned>(lanes)))
    throw UserError({.what = "TESSERA_LANES",
                     .expected = "a power of two up to " + std::to_string(kMaxLanes),
                     .got = std::to_string(lanes),
                     .where = "environment"});
  return lanes;
}

[[noreturn]] void reject_shape(const KernelHandle& kernel, std::size_t leaf, const Field& field) {
  throw InternalError(
      {.what = "launch",
       .expected = describe_operand(kernel.ir, leaf) + " in groups of " + std::to_string(kernel.ir.lanes),
       .got = std::string(ir::name(field.word())) + "[" + std::to_string(field.components()) + "] in groups of " +
              std::to_string(field.order().lanes)});
}

/// Each rank has its own; the first as the variable says.
std::string profile_file() {
  const int rank = process_communicator().rank();
  return rank == 0 ? env().profile : env().profile + ".rank" + std::to_string(rank);
}

/// What cannot be written at the end of a run is told at its start.
void check_profile() {
  if (env().profile.empty()) return;
  try {
    const AtomicFile probe(profile_file());
  } catch (const FileError& error) {
    throw UserError({.what = "TESSERA_PROFILE",
                     .expected = "a file that can be written at the end of the run",
                     .got = error.what(),
                     .where = "environment"});
  }
}

/// Where a field in device order is seen from `component` on.
void* behind(void* field, int component, const Field& f) {
  const std::int64_t words = word_index(f.order().lanes, f.word(), f.components(), 0, component);
  return static_cast<std::byte*>(field) + words * ir::bytes(f.word());
}

/// What a part of a plan becomes before it is launched.
struct BoundPart {
  KernelHandle* kernel = nullptr;  ///< the part's, or what takes its place
  std::size_t size_class = 0;
  double bytes = 0;                       ///< moved
  double bytes_of_all = 0;                ///< of the statement and the launches beside it
  std::size_t addresses = 0, tables = 0;  ///< where its own begin
  bool new_results = true;                ///< they are not those of a part before
  bool is_timed = false;                  ///< for a trial of gathered operands
  const std::int32_t* groups = nullptr;
  const std::uint64_t* masks = nullptr;
};

/// Those of a plan. The room is kept from one to the next, so that a statement allocates nothing.
struct BoundParts {
  std::vector<BoundPart> parts;  ///< the first of them are those of the plan, as in the other lists
  std::vector<void*> addresses;
  std::vector<const std::int32_t*> tables;
};

/// Fills in addresses and tables of a part. No contents are given up yet: claim() does that when the kernels are on their
/// way.
void bind(const Launch& launch, bool whole, BoundParts& bound, BoundPart& part) {
  const ir::Kernel& kernel = launch.kernel->ir;
  void** const addresses = bound.addresses.data() + part.addresses;
  const std::int32_t** const tables = bound.tables.data() + part.tables;
  std::size_t i = 0;
  try {
    for (; i < kernel.leaves.size(); ++i) {
      const ir::Leaf& leaf = kernel.leaves[i];
      Field& field = *launch.fields[i];
      if (field.word() != leaf.word || field.components() != leaf.components || field.order().lanes != kernel.lanes)
        reject_shape(*launch.kernel, i, field);
      void* address = nullptr;
      if (leaf.read) address = const_cast<void*>(field.device_read());
      if (leaf.written) address = field.device_reserve(whole && !leaf.read);
      addresses[i] = launch.component == 0 ? address : behind(address, launch.component, field);
    }
    tables[0] = nullptr;
    for (std::size_t s = 1; s < kernel.slots.size(); ++s) {
      const SiteMap& map = *launch.maps[s];
      tables[s] = kernel.slots[s].gathered ? map.sources_on_device() : map.group_sources_on_device();
    }
    part.groups = launch.domain->listed ? launch.domain->groups_on_device() : nullptr;
    part.masks = launch.domain->listed ? launch.domain->masks_on_device() : nullptr;
  } catch (const DeviceError& error) {
    const std::string what =
        i < kernel.leaves.size() ? describe_operand(kernel, i) : "tables of sites of kernel " + kernel.name;
    const std::string text = std::string(error.what()) + " [" + what + "]";
    if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) throw OutOfMemory(text);
    throw DeviceError(text);
  }
}

/// A plan within a plan would take its operands.
class OneAtATime {
 public:
  explicit OneAtATime(bool& running) : running_(running) {
    if (std::exchange(running, true))
      throw InternalError(
          {.what = "Runtime::run", .expected = "one plan at a time", .got = "one that another one called for"});
  }
  ~OneAtATime() { running_ = false; }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  bool& running_;
};

std::size_t number_of_results(const Plan& plan) { return plan.found.empty() ? plan.results.size() : plan.found.size(); }

/// What launched kernels write is valid on the device alone. INVARIANT: cannot fail after bind(), and comes after the
/// last launch, so that a statement that fails leaves its destination as it was.
void claim(const Plan& plan) {
  for (const Launch& launch : plan.parts)
    for (std::size_t i = 0; i < launch.kernel->ir.leaves.size(); ++i)
      if (launch.kernel->ir.leaves[i].written) launch.fields[i]->device_write(plan.whole);
}

}  // namespace

struct Runtime::State {
  Device& device = process_device();
  Memory& memory = Memory::instance();
  KernelTable table;
  Variants variants{device};
  Gathering gathering{device, memory, table, variants, device.host_accessible()};
  Merging merging{table, variants, !device.blocks().empty()};
  ResultCheck check_results{device, [this]() -> Compiler& { return variants.compiler(); }};
  const int lanes = checked_lanes(env().lanes.value_or(device.lanes()));
  const bool check = env().check;
  const bool separate = !device.host_accessible();  // device memory is a cache
  std::size_t largest_statement = 0;                // bytes of the fields of one statement, if so
  bool timing = device.marks_are_free() || !env().profile.empty();
  std::int64_t launches = 0, trials = 0;
  BoundParts bound;                   ///< of the plan at hand
  std::vector<ReductionValue> found;  ///< its results, not rounded yet: of its parts, then of all ranks
  std::vector<ReductionValue> more;   ///< those of a part that joins one before
  std::vector<DeviceLaunch> interleaved;
  bool running = false;  ///< a plan is: there is one such room

  /// Launches whose time is not asked for yet.
  struct Pending {
    KernelHandle* kernel;
    Device::Mark from, to;
  };
  static constexpr std::size_t kMostPending = 256;
  std::vector<Pending> pending;

  void collect_times(std::size_t leave = 0);

  void prepare(const Plan& plan);
  // Inlined, which spares a statement a tenth of what it costs here.
  [[gnu::always_inline]] BoundPart prepare(const Launch& launch, std::size_t addresses, std::size_t tables,
                                           std::size_t sides);
  [[gnu::always_inline]] DeviceLaunch device_launch(const Launch& launch, const BoundPart& part,
                                                    ReductionValue* results);
  [[gnu::always_inline]] void start(const Launch& launch, const BoundPart& part, ReductionValue* results);
  [[gnu::always_inline]] void count(const Launch& launch, const BoundPart& part);
  void gather(const Launch& launch, BoundPart& part);
  bool start_interleaved(const Plan& plan);

  KernelInfo dropped;  ///< the counters of kernels that have left the table
  void drop_kernels();
};

/// Kernels that were not used for long make room for others. They may still run, or have times to be asked for.
void Runtime::State::drop_kernels() {
  const auto old = table.shed(env().kernel_max);
  if (old.empty()) return;
  collect_times();
  device.synchronize();
  for (const auto& kernel : old) {
    dropped.calls += kernel->calls;
    dropped.seconds += kernel->seconds;
    dropped.bytes += kernel->bytes;
    dropped.flops += kernel->flops;
    dropped.compile_seconds += kernel->compile_seconds;
    variants.release(*kernel);
  }
  log_debug("memory", old.size(), " kernels are no longer kept, ", table.handles().size(), " are");
}

/// The times of all launches but the newest.
void Runtime::State::collect_times(std::size_t leave) {
  const std::size_t count = pending.size() - std::min(leave, pending.size());
  for (std::size_t i = 0; i < count; ++i)
    pending[i].kernel->seconds += device.seconds_between(pending[i].from, pending[i].to);
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
}

Runtime& Runtime::instance() {
  // Never destroyed: fields of static storage may die after main.
  static Runtime* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : state_(nullptr) {
  check_processor(processor_features());
  check_profile();
  state_ = new State;
  const std::string name = state_->device.name(), model = state_->device.model();
  log_info("device", "computing on ", name, model != name ? " (" + model + ")" : "");
  if (state_->separate)
    reorder_on_device(state_->device, [state = state_]() -> Compiler& { return state->variants.compiler(); });
}
Runtime::~Runtime() { delete state_; }

KernelHandle* Runtime::find(const TableKey& key) const {
  const RuntimeLock lock;
  return state_->table.find(key);
}

KernelHandle* Runtime::add(const TableKey& key, ir::Kernel kernel) {
  const RuntimeLock lock;
  if (find(key) != nullptr)
    throw InternalError({.what = "Runtime::add",
                         .expected = "a new key",
                         .got = "one of " + std::to_string(key.bytes.size()) + " bytes again",
                         .where = kernel.name});
  KernelHandle* made = state_->table.add(key, std::move(kernel));
  state_->drop_kernels();
  return made;
}

/// Makes the parts ready but for their operands.
void Runtime::State::prepare(const Plan& plan) {
  std::size_t addresses = 0, tables = 0, filled = 0;
  const std::size_t results = number_of_results(plan);
  const std::size_t sides = plan.side_by_side && device.blocks().empty() ? plan.parts.size() : 1;
  if (bound.parts.size() < plan.parts.size()) bound.parts.resize(plan.parts.size());
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const Launch& launch = plan.parts[p];
    const ir::Kernel& kernel = launch.kernel->ir;
    const auto first = static_cast<std::size_t>(launch.result), end = first + kernel.reductions.size();
    const bool new_results = first == filled;
    if (new_results ? end > results : end > filled)
      throw InternalError({.what = "results of " + kernel.name,
                           .expected = "new ones, or those of a part before, of " + std::to_string(results),
                           .got = std::to_string(first) + ".." + std::to_string(end)});
    bound.parts[p] = prepare(launch, addresses, tables, sides);
    bound.parts[p].new_results = new_results;
    addresses += kernel.leaves.size() + 1;  // one for what is gathered
    tables += kernel.slots.size();
    if (new_results) filled = end;
  }
  if (filled != results)
    throw InternalError({.what = "results of a plan",
                         .expected = std::to_string(results),
                         .got = std::to_string(filled) + " that its parts give"});
  if (bound.addresses.size() < addresses) bound.addresses.resize(addresses);
  if (bound.tables.size() < tables) bound.tables.resize(tables);
}

/// `sides`: launches that go through the same groups together, so that caches hold what all of them need.
inline BoundPart Runtime::State::prepare(const Launch& launch, std::size_t addresses, std::size_t tables,
                                         std::size_t sides) {
  KernelHandle& kernel = *launch.kernel;
  const Domain& domain = *launch.domain;
  if (kernel.ir.listed != domain.listed)
    throw InternalError({.what = "launch of " + kernel.ir.name,
                         .expected = kernel.ir.listed ? "a list of groups" : "a range of groups",
                         .got = domain.listed ? "a list" : "a range"});
  const double bytes = static_cast<double>(domain.sites) * bytes_per_site(launch);
  const std::size_t number = size_class_of(domain, sides);
  const double of_all = static_cast<double>(sides) * bytes_of_all(launch);
  variants.prepare(kernel, number, of_all);
  return {.kernel = &kernel,
          .size_class = number,
          .bytes = bytes,
          .bytes_of_all = of_all,
          .addresses = addresses,
          .tables = tables};
}

bool Runtime::is_new(const KernelHandle& kernel) const { return kernel.classes.empty() && kernel.most_sides.empty(); }

void Runtime::expect(const Launch& launch) {
  const RuntimeLock lock;
  state_->variants.expect(*launch.kernel, size_class_of(*launch.domain), bytes_of_all(launch));
}

/// What reads its operands where they are gathered takes the place of the kernel. After bind().
void Runtime::State::gather(const Launch& launch, BoundPart& part) {
  const std::size_t leaves = launch.kernel->ir.leaves.size();
  const auto found = gathering.find(launch, part.size_class, {bound.addresses.data() + part.addresses, leaves},
                                    {bound.tables.data() + part.tables, launch.kernel->ir.slots.size()});
  part.is_timed = found.is_timed;
  if (found.kernel == nullptr) return;
  part.kernel = found.kernel;
  bound.addresses[part.addresses + leaves] = found.copy;
  variants.prepare(*found.kernel, part.size_class, part.bytes_of_all);
}

inline DeviceLaunch Runtime::State::device_launch(const Launch& launch, const BoundPart& part,
                                                  ReductionValue* results) {
  const KernelHandle& kernel = *part.kernel;
  const Domain& domain = *launch.domain;
  DeviceLaunch run;
  run.kernel = &kernel.ir;
  apply(kernel.classes[part.size_class], run);
  run.fields = {bound.addresses.data() + part.addresses, kernel.ir.leaves.size()};
  run.tables = {bound.tables.data() + part.tables, kernel.ir.slots.size()};
  run.scalars = launch.scalars;
  run.groups = part.groups;
  run.masks = part.masks;
  run.begin = domain.begin;
  run.end = domain.end;
  run.middle = domain.listed || launch.fields.empty() ? domain.end : launch.fields[0]->order().first_odd;
  run.nanoseconds = kernel.cost.operations * kNanosecondsPerOperation;
  run.results = results;
  return run;
}

inline void Runtime::State::count(const Launch& launch, const BoundPart& part) {
  KernelHandle& kernel = *part.kernel;
  ++launches;
  ++kernel.calls;
  kernel.bytes += part.bytes;
  kernel.flops += static_cast<double>(launch.domain->sites) * kernel.cost.flops;
}

/// False, and nothing has happened: the device does not. Of one kernel at a time other code is tried; those beside it run as they have
/// run best so far.
bool Runtime::State::start_interleaved(const Plan& plan) {
  if (!plan.side_by_side || plan.parts.size() == 1) return false;
  const KernelHandle* tried = nullptr;
  double bytes = 0;
  interleaved.clear();
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const BoundPart& part = bound.parts[p];
    DeviceLaunch& run =
        interleaved.emplace_back(device_launch(plan.parts[p], part, found.data() + plan.parts[p].result));
    if (!device.interleaves(run)) return false;
    bytes += part.bytes;
    if (!part.kernel->classes[part.size_class].trial) continue;
    if (tried == nullptr) tried = part.kernel;
    if (tried != part.kernel) variants.apply_best(*part.kernel, part.size_class, run);
  }
  const Device::Mark start = device.mark();
  device.launch_interleaved(interleaved);
  const double seconds = device.seconds_between(start, device.mark());
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const BoundPart& part = bound.parts[p];
    count(plan.parts[p], part);
    KernelHandle& kernel = *part.kernel;
    const double share = seconds * (bytes > 0 ? part.bytes / bytes : 1.0 / std::ssize(plan.parts));  // about
    kernel.seconds += share;
    trials += &kernel == tried || part.is_timed;
    if (part.is_timed && tried == nullptr) gathering.launched(plan.parts[p], part.size_class, share);
    const auto of_kernel = [&](std::size_t parts) {
      return std::ranges::count(std::span(bound.parts).first(parts), &kernel, &BoundPart::kernel);
    };
    if (of_kernel(p) > 0) continue;  // one time for all
    if (tried == nullptr && !part.is_timed)
      trials += variants.passed(kernel, part.size_class, share * static_cast<double>(of_kernel(plan.parts.size())));
    const SizeClass& size = kernel.classes[part.size_class];
    if (size.tuner && (&kernel == tried || !size.trial)) variants.launched(kernel, part.size_class, part.bytes, share);
  }
  return true;
}

inline void Runtime::State::start(const Launch& launch, const BoundPart& part, ReductionValue* results) {
  KernelHandle& kernel = *part.kernel;
  SizeClass& size = kernel.classes[part.size_class];
  DeviceLaunch run = device_launch(launch, part, results);

  const bool trial = size.trial, timed = timing || trial;
  constexpr Device::Mark kNone = ~Device::Mark{0};
  Device::Mark start = kNone, end = kNone;
  if (timed) {
    start = device.mark();
    run.finished = &end;
  }
  try {
    if (!device.launch(run)) variants.retry(kernel, part.size_class, part.bytes, run);
  } catch (...) {
    for (const Device::Mark mark : {start, end})
      if (mark != kNone) device.drop(mark);
    throw;
  }

  count(launch, part);
  trials += trial || part.is_timed;
  std::optional<double> seconds;
  if (timed) {
    if (trial || device.marks_are_free()) {
      seconds = device.seconds_between(start, end);
      kernel.seconds += *seconds;
    } else {
      pending.push_back({&kernel, start, end});
      // Not the newest half: to ask for them would be to wait, and the device would run out of work.
      if (pending.size() >= kMostPending) collect_times(kMostPending / 2);
    }
  }
  if (part.is_timed && seconds && !trial) gathering.launched(launch, part.size_class, *seconds);
  if (seconds && !trial && !part.is_timed) trials += variants.passed(kernel, part.size_class, *seconds);
  if (size.tuner) variants.launched(kernel, part.size_class, part.bytes, seconds);
}

void Runtime::run(const Plan& given) {
  const RuntimeLock lock;
  State& state = *state_;
  Plan plan = given;
  if (plan.side_by_side) plan.parts = state.merging.merge(plan.parts);
  if (deferred_waiting())
    for (const Launch& launch : plan.parts)
      for (std::size_t i = 0; i < launch.kernel->ir.leaves.size(); ++i)
        launch.kernel->ir.leaves[i].written ? launch.fields[i]->settle() : launch.fields[i]->settle_for_reading();
  const OneAtATime here(state.running);
  state.prepare(plan);
  if (state.check) check_operands(plan);
  if (state.separate) {
    Residency::instance().begin_statement();
    std::size_t needed = 0;
    const void* counted = nullptr;  // parts often have the same fields
    for (const Launch& launch : plan.parts) {
      if (std::exchange(counted, launch.fields.data()) == launch.fields.data()) continue;
      for (const Field* field : launch.fields) needed += field->device_bytes();
    }
    state.largest_statement = std::max(state.largest_statement, needed);
  }
  for (std::size_t p = 0; p < plan.parts.size(); ++p)
    bind(plan.parts[p], plan.whole, state.bound, state.bound.parts[p]);
  state.gathering.begin_plan();
  for (std::size_t p = 0; p < plan.parts.size(); ++p) state.gather(plan.parts[p], state.bound.parts[p]);
  if (state.separate && env().spill) Memory::instance().give_up_all();

  const std::size_t results = number_of_results(plan);
  if (state.found.size() < results) state.found.resize(results);
  const bool started = state.start_interleaved(plan);
  for (std::size_t p = 0; p < plan.parts.size() && !started; ++p) {
    const Launch& launch = plan.parts[p];
    const std::size_t count = launch.kernel->ir.reductions.size(), first = static_cast<std::size_t>(launch.result);
    if (state.bound.parts[p].new_results) {
      state.start(launch, state.bound.parts[p], state.found.data() + first);
    } else {
      if (state.more.size() < count) state.more.resize(count);
      state.start(launch, state.bound.parts[p], state.more.data());
      for (std::size_t r = 0; r < count; ++r) state.found[first + r].add(state.more[r]);
    }
  }
  claim(plan);
  if (!plan.results.empty()) finish_sums({state.found.data(), results}, plan.results);
  for (std::size_t r = 0; r < plan.found.size(); ++r) plan.found[r].add(state.found[r]);
  if (state.check)
    for (const Launch& launch : plan.parts) state.check_results(launch.kernel->ir, launch);
}

void Runtime::finish_sums(std::span<ReductionValue> found, std::span<double> results) {
  combine(process_communicator(), found);
  for (std::size_t r = 0; r < results.size(); ++r) results[r] = found[r].value();
}

bool Runtime::waits_for_sums() const { return state_->separate; }
int Runtime::lanes() const { return state_->lanes; }
int Runtime::threads() const { return state_->device.threads(); }
void Runtime::set_threads(int n) {
  const RuntimeLock lock;
  run_deferred();
  state_->device.set_threads(n);
  state_->variants.forget_trial();
  for (const auto& kernel : state_->table.handles()) {  // what is fastest may be another variant
    kernel->classes.clear();
    if (kernel->gather) kernel->gather->uses.clear();
  }
}

std::vector<KernelInfo> Runtime::kernels() const {
  const RuntimeLock lock;
  run_deferred();
  state_->collect_times();
  std::vector<KernelInfo> infos;
  for (const auto& kernel : state_->table.handles())
    infos.push_back({.name = kernel->ir.name,
                     .hash = kernel->hash(),
                     .configuration = state_->variants.describe(*kernel),
                     .variants = static_cast<int>(kernel->variants.size()),
                     .calls = kernel->calls,
                     .seconds = kernel->seconds,
                     .compile_seconds = kernel->compile_seconds,
                     .from_cache = kernel->from_cache > 0 && kernel->compiled == 0,
                     .bytes = kernel->bytes,
                     .flops = kernel->flops});
  if (state_->dropped.calls > 0) {
    infos.push_back(state_->dropped);
    infos.back().name = "(no longer kept)";
  }
  return infos;
}

std::int64_t Runtime::launches() const {
  const RuntimeLock lock;
  run_deferred();
  return state_->launches;
}
std::int64_t Runtime::trials() const {
  const RuntimeLock lock;
  run_deferred();
  return state_->trials;
}
std::int64_t Runtime::postponed() const { return state_->merging.postponed(); }
std::int64_t Runtime::compilations() const {
  const RuntimeLock lock;
  run_deferred();
  return state_->variants.compilations();
}

void Runtime::set_profiling(bool on) {
  const RuntimeLock lock;
  run_deferred();
  state_->timing = on || state_->device.marks_are_free();
}

void Runtime::synchronize() {
  const RuntimeLock lock;
  run_deferred();
  state_->device.synchronize();
}

std::string Runtime::device() const { return state_->device.name(); }
std::string Runtime::device_model() const { return state_->device.model(); }
double Runtime::bandwidth() {
  const RuntimeLock lock;
  run_deferred();
  return measure_bandwidth(state_->device, state_->variants.compiler());
}
bool Runtime::has_caches() const { return state_->device.blocks().empty(); }
bool Runtime::is_small(double bytes) {
  const RuntimeLock lock;
  return state_->variants.is_small(bytes);
}
bool Runtime::exceeds_caches(double bytes) {
  const RuntimeLock lock;
  return state_->variants.exceeds_caches(bytes);
}
bool Runtime::knows_machine(double bytes) {
  const RuntimeLock lock;
  return !has_caches() || state_->variants.knows_machine(bytes);
}
void Runtime::measure_machine() {
  const RuntimeLock lock;
  run_deferred();
  if (has_caches()) state_->variants.measure_machine();
}
double Runtime::copy_bandwidth() {
  const RuntimeLock lock;
  return measure_copies(state_->device);
}
double Runtime::arithmetic_rate(ir::Type word) {
  const RuntimeLock lock;
  return measure_arithmetic(state_->device, state_->variants.compiler(), word);
}

void Runtime::reset_profile() {
  const RuntimeLock lock;
  run_deferred();
  state_->collect_times();
  for (const auto& kernel : state_->table.handles()) {
    kernel->calls = 0;
    kernel->seconds = 0;
    kernel->bytes = kernel->flops = 0;
  }
  state_->dropped = {};
}

std::string Runtime::profile_report() const {
  const RuntimeLock lock;
  return format_profile(kernels(), measure_bandwidth(state_->device, state_->variants.compiler()),
                        "Tessera profile: device " + state_->device.name() + ", " + std::to_string(threads()) +
                            " threads, " + std::to_string(lanes()) + " lanes");
}

std::size_t Runtime::field_bytes() const {
  const RuntimeLock lock;
  const Memory& host = Memory::host();
  return state_->memory.live_bytes() + (&host == &state_->memory ? 0 : host.live_bytes());
}
std::size_t Runtime::peak_field_bytes() const {
  const RuntimeLock lock;
  const Memory& host = Memory::host();
  return state_->memory.peak_bytes() + (&host == &state_->memory ? 0 : host.peak_bytes());
}

void Runtime::finalize() {
  const RuntimeLock lock;
  run_deferred();
  state_->variants.finish(state_->table.handles());
  if (!env().profile.empty()) {
    const std::string report = profile_report();
    try {
      write_atomically(profile_file(), report);
    } catch (const FileError& error) {  // it could be written at the start: a full disk, a folder that has gone
      log_error("profile", error.what(), " TESSERA_PROFILE would say:\n", report);
    }
  }
  if (state_->memory.live_blocks() > 0)
    log_debug("memory", state_->memory.live_blocks(), " blocks of fields alive at the end, ",
              format_bytes(state_->memory.live_bytes()));
  log_debug("memory", "peak ", state_->memory.peak_bytes(), " bytes; largest statement ", state_->largest_statement,
            " bytes");
  state_->memory.release_kept();
  Memory::host().release_kept();
}

}  // namespace jit
