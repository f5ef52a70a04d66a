#include "jit/runtime/variants.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "jit/cache/shared_kernels.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/memory/memory.hpp"
#include "jit/support/bytes.hpp"
#include "jit/support/cores.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "jit/tune/machine.hpp"

namespace jit {
namespace {

// Other code is tried once the kernel has used this many times what its costliest compilation took: on a CPU, whose cores then compute
// less, and on a GPU, whose host is idle.
constexpr double kTuneAfterCompiles = 3, kTuneAfterCompilesOnGpu = 0.5;
constexpr double kTuneAfterSeconds = 2e-3;
// Where builds wait for each other: trials are left for when the program has needed no new code for so long.
constexpr auto kCalm = std::chrono::seconds(1);
// What a compilation takes at least, per node of the IR: a kernel that came from the cache does not tell. The Wilson
// hopping term, 1400 nodes, takes 20 ms in LLVM and 45 ms in ptxas.
constexpr double kSecondsPerNode = 1e-5, kSecondsPerNodeOnGpu = 5e-5;
// What LLVM's optimised code takes to make, about, per node; and the uses of that time after which it is tried where the target
// assembles kernels itself.
constexpr double kOptimisedSecondsPerNode = 4e-5, kOptimisedAfterCompiles = 20;
// Code of one kernel, over all size classes.
constexpr std::size_t kMostVariants = 16;
// Bytes per thread that a variant may spill beyond what the kernel's first code does.
constexpr int kBearableSpill = 32;
// Of a thread; s sites take about s times those of one (jit/codegen/README.md).
constexpr int kMostRegisters = 256;

// What is believed of a core's own cache: less than that is read without waiting.
constexpr double kLeastNear = 256 << 10, kMostNear = 1 << 20;
// What is read too fast for it to matter how much it is.
constexpr double kSmallPerThread = 4 << 20;
// What is believed of the cache that the system reports, which a guest shares with others. Small lattices need no more, and to measure
// takes a third of a second: memory has to be got for it.
constexpr double kMostBelieved = 16 << 20;

// Steps ahead that operands are asked for at first. A step of a long kernel takes as long as memory does to answer: a hopping
// term on 24^4 takes half as long again with four as with one (AVX2, 512 KiB of second-level cache).
constexpr double kLongKernel = 400;  // operations
constexpr int kShortAhead = 4, kLongAhead = 1;

// How a kernel stores is tried for the program when this much of the time has gone into it.
constexpr double kShareThatMatters = 0.02;

bool tuning() { return env().tune != Env::Tune::off; }
}  // namespace

Compiler& Variants::compiler() {
  if (!compiler_) compiler_ = std::make_unique<Compiler>(device_.make_target());
  return *compiler_;
}

// ---- the model ------------------------------------------------------------------------------------------------------

std::string Variants::machine_key(const std::string& what) const {
  std::string key = what + "\ndevice " + device_.model() + "\nthreads " + std::to_string(device_.threads());
  if (ranks_on_host() > 1) key += "\nbeside " + std::to_string(ranks_on_host() - 1);
  return key;
}

/// What is known of this machine with so many threads, in this run or from an earlier one.
Variants::OfMachine& Variants::known_of_machine(const std::string& what) {
  OfMachine& known = of_machine_[{what, device_.threads()}];
  if (!known.values.empty()) return known;
  if (const auto kept = cache_ ? cache_->load(machine_key(what)) : std::nullopt) {
    std::istringstream text(*kept);
    for (double value = 0; text >> value;) known.values.push_back(value);
  }
  return known;
}

void Variants::learn_of_machine(const std::string& what, std::vector<double> values) {
  if (cache_) {
    std::ostringstream text;
    for (const double value : values) text << value << ' ';
    cache_->store(machine_key(what), text.str());
  }
  of_machine_[{what, device_.threads()}] = {std::move(values)};
}

template <class Measure>
const std::vector<double>& Variants::of_machine(const std::string& what, Measure&& measure) {
  OfMachine& known = known_of_machine(what);
  if (known.values.empty()) {
    if (ranks_on_host() > 1)
      known = {measure(), true};
    else
      learn_of_machine(what, measure());
  }
  return known.values;
}

namespace {
// A measurement of the machine, with its version.
constexpr const char* kReading = "reading 1";

/// Of the nearest caches, for each thread; a processor that does not tell has the most of this.
double near_per_thread() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    return std::clamp(static_cast<double>(bytes), kLeastNear, kMostNear);
#endif
  return kMostNear;
}

double believed_cache() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  return std::clamp(static_cast<double>(sysconf(_SC_LEVEL3_CACHE_SIZE)), 0.0, kMostBelieved);
#else
  return 0;
#endif
}

/// As they are kept: the bytes of each set and its rate.
std::vector<double> measured_reading(Device& device) {
  std::vector<double> values;
  for (const ReadingRate& one : measure_reading(device))
    values.insert(values.end(), {static_cast<double>(one.bytes), one.rate});
  return values;
}
}  // namespace

std::vector<ReadingRate> Variants::reading() {
  const std::vector<double>& values = of_machine(kReading, [&] { return measured_reading(device_); });
  std::vector<ReadingRate> rates;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    rates.push_back({static_cast<std::size_t>(values[i]), values[i + 1]});
  return rates;
}

bool Variants::is_small(double bytes) const { return bytes <= kSmallPerThread * device_.threads(); }

bool Variants::knows_machine(double bytes) {
  if (is_small(bytes)) return true;
  const OfMachine& known = known_of_machine(kReading);
  return !known.values.empty() && !known.alone;
}

void Variants::measure_machine() { learn_of_machine(kReading, measured_reading(device_)); }

bool Variants::is_near(double bytes) const { return bytes <= near_per_thread() * device_.threads(); }

/// As far as can be told without measuring.
bool Variants::may_exceed_caches(double bytes) const { return !is_near(bytes) && bytes > believed_cache(); }

bool Variants::exceeds_caches(double bytes) {
  return may_exceed_caches(bytes) && bytes > static_cast<double>(knee_of(reading()));
}

/// CPU: streaming stores pay when results leave the cache before they are read again: when there are more of them than it holds, for it
/// keeps what was written longer than what passes through. The kernel's own time does not tell: what they save is in it, what they cost in
/// that of those which read; so the other way is tried for the program (try_stores). Prefetching pays when operands come from beyond the
/// nearest caches, as where the fields that live are more than these hold, in an order that the processor cannot guess (neighbours). GPU:
/// one site per thread, in the largest blocks that launch.
TuningSpace Variants::space(const KernelHandle& kernel, double bytes) {
  TuningSpace space;
  CodeOptions& start = space.start.code;
  start.check = env().check;
  if (!device_.blocks().empty()) {
    start.streaming = env().stream.value_or(kernel.cost.shares_neighbours);
    if (!tuning()) return space;  // in blocks of the device's choice
    space.blocks.assign(device_.blocks().begin(), device_.blocks().end());
    space.start.block = space.blocks.front();
    if (start.check) return space;
    for (const int sites : {2, 4})
      if (sites_per_thread(kernel.ir, sites) == sites) space.sites.push_back(sites);
    space.try_streaming = !env().stream;
    space.thrifty = env().tune != Env::Tune::eager;
    space.registers = [this, &kernel](const Configuration& best) {
      const Variant* code = find(kernel, best.code);
      if (code == nullptr || code->resources.spill_bytes > kBearableSpill) return std::vector<int>{};
      return device_.register_bounds(code->resources.registers, best.block);
    };
    return space;
  }
  const bool assembles = compiler().assembles(kernel.ir, start);
  start.optimised = assembles && !env().assembler.value_or(true);
  const bool is_near = this->is_near(bytes);
  const auto live = static_cast<double>(Memory::instance().live_bytes());
  const bool out_of_cache = !is_near && exceeds_caches(std::max(bytes, live));
  const bool may_prefetch = !kernel.ir.listed, may_stream = !kernel.ir.stores.empty() && !kernel.ir.listed;
  const bool stores_for_later = may_stream && exceeds_caches(bytes * kernel.cost.stored / kernel.cost.bytes_of_part);
  start.streaming = env().stream.value_or(stores_for_later && !kernel.cost.reads_written);
  const bool is_long = kernel.cost.operations > kLongKernel;
  const int ahead = is_long ? kLongAhead : kShortAhead;
  start.prefetch = env().prefetch.value_or(out_of_cache && may_prefetch && kernel.cost.structured ? ahead : 0);
  start.passing = !env().prefetch && start.prefetch > 0 && is_long && kernel.cost.shares_neighbours;
  if (start.check || !tuning()) return space;
  if (!env().prefetch && may_prefetch && (out_of_cache || (kernel.cost.structured && !is_near)))
    space.prefetch = {0, 1, 2, 4, 8};
  space.try_passing = kernel.cost.structured;
  space.try_optimised = assembles && !env().assembler;
  return space;
}

/// Seconds that a kernel must have used before other code of it is compiled.
double Variants::price(const KernelHandle& kernel) const {
  if (env().tune == Env::Tune::eager) return 0;
  const bool on_gpu = !device_.blocks().empty();
  const double per_node = on_gpu ? kSecondsPerNodeOnGpu : kSecondsPerNode;
  const double compilation = std::max(kernel.costliest_compile, per_node * static_cast<double>(kernel.ir.nodes.size()));
  return std::max(kTuneAfterSeconds, (on_gpu ? kTuneAfterCompilesOnGpu : kTuneAfterCompiles) * compilation);
}

// ---- code -----------------------------------------------------------------------------------------------------------

Variant* Variants::find(const KernelHandle& kernel, const CodeOptions& options) const {
  for (const auto& known : kernel.variants)
    if (known->options == options) return known.get();
  return nullptr;
}

/// Whether other code of a kernel that runs is made beside the program: what takes long.
bool Variants::is_built_beside(const KernelHandle& kernel, const CodeOptions& options) {
  if (env().tune == Env::Tune::eager || options.check) return false;
  if (!device_.blocks().empty()) return true;
  return env().assembler.value_or(true) && !compiler().assembles(kernel.ir, options);
}

/// Whether other code may be of use, by what is known of the code that there is.
bool Variants::is_worth_making(const KernelHandle& kernel, const CodeOptions& options) const {
  CodeOptions one_site = options;
  one_site.sites = 1;
  const Variant* known = find(kernel, one_site);
  if (known != nullptr && known->resources.registers * options.sites > kMostRegisters) return false;
  return kernel.variants.size() < kMostVariants;
}

Variant& Variants::add(KernelHandle& kernel, const CodeOptions& options) {
  kernel.variants.push_back(std::make_unique<Variant>());
  kernel.variants.back()->options = options;
  return *kernel.variants.back();
}

/// Code for a variant that had none.
void Variants::put(KernelHandle& kernel, Variant& variant, const CompiledKernel& made) {
  const double seconds = made.codegen_seconds + made.compile_seconds + made.load_seconds;
  variant.code = made.code;
  variant.resources = made.resources;
  variant.hash = made.hash;
  variant.bytes = made.code_bytes;
  variant.order.reset();
  kernel.compile_seconds += seconds;
  kernel.costliest_compile = std::max(kernel.costliest_compile, seconds);
  ++(made.from_cache ? kernel.from_cache : kernel.compiled);
  if (!made.from_cache) ++compilations_;
}

/// The code of a kernel under given options; made if there is none.
Variant& Variants::make(KernelHandle& kernel, const CodeOptions& options) {
  Variant* const known = find(kernel, options);
  if (known != nullptr && known->code != nullptr)
    return *known;                         // not what was refused, or what another rank makes for a trial
  if (known != nullptr && known->order) {  // what was expected
    Builders::Order order = *std::exchange(known->order, std::nullopt);
    if (builders().finish(order)) {
      put(kernel, *known, compiler().adopt(kernel.ir, order.take()));
      return *known;
    }
  }
  const CompiledKernel made = compiler().compile(kernel.ir, options);
  if (!made.from_cache) last_made_ = Clock::now();
  Variant& variant = known != nullptr ? *known : add(kernel, options);
  put(kernel, variant, made);
  return variant;
}

// ---- code that is made beside the program ---------------------------------------------------------------------------

Builders& Variants::builders() {
  if (!builders_) builders_ = std::make_unique<Builders>([this] { return device_.make_target(); });
  return *builders_;
}

/// True if there was an order and it is done: the variant has its code now, or none, if the compiler refused.
bool Variants::take_built(KernelHandle& kernel, Variant& variant) {
  if (!variant.order || !variant.order->done()) return false;
  try {
    put(kernel, variant, compiler().adopt(kernel.ir, variant.order->take()));
  } catch (const std::exception& error) {
    log_warn("tune", "kernel ", kernel.ir.name, " runs without ", jit::describe(Configuration{.code = variant.options}),
             ": ", error.what());
    variant.calls = 0;
    variant.order.reset();
  }
  return true;
}

/// Not on a CPU, whose code is made in a millisecond; nor where ranks of this machine make kernels for each other: who makes one is
/// settled when one needs it.
void Variants::expect(KernelHandle& kernel, std::size_t size_class, double bytes) {
  if (device_.blocks().empty() || !kernel.variants.empty() || SharedKernels::of_process() != nullptr) return;
  const TuningSpace open = space(kernel, bytes);
  const CodeOptions& options = open.start.code;
  if (!is_built_beside(kernel, options)) return;
  if (!open.settled() && cache_ && cache_->load(key(kernel, size_class, open))) return;  // its code will be there, too
  const auto found = compiler().find(kernel.ir, options);
  Variant& variant = add(kernel, options);
  log_debug("tune", kernel.ir.name, " is expected, and ", found ? "there" : "made beside the program");
  if (found)
    put(kernel, variant, *found);
  else
    variant.order = builders().order(kernel.ir, options, true);
}

bool Variants::is_at_hand(KernelHandle& kernel, std::size_t size_class, double bytes) {
  if (!kernel.classes.empty()) return true;
  expect(kernel, size_class, bytes);
  return std::ranges::all_of(kernel.variants, [](const auto& v) { return !v->order || v->order->done(); });
}

/// Sees to it that the code is there some time. Another rank of this machine may be at it.
void Variants::seek(KernelHandle& kernel, Variant& variant) {
  // Calls between two looks at what others have made, and until nothing more is expected of them.
  constexpr int kBetweenLooks = 64, kPatience = 64 * kBetweenLooks;
  const int calls = variant.calls++;
  if (calls % kBetweenLooks != 0) return;
  if (const auto found = compiler().find(kernel.ir, variant.options))
    put(kernel, variant, *found);
  else if (compiler().claim(kernel.ir, variant.options) || calls >= kPatience)
    variant.order = builders().order(kernel.ir, variant.options);
}

void Variants::finish(std::span<const std::unique_ptr<KernelHandle>> kernels) {
  if (!builders_) return;
  builders_->finish();
  for (const auto& kernel : kernels)
    for (const auto& variant : kernel->variants)
      if (!take_built(*kernel, *variant)) variant->order.reset();
}

/// Whether a trial must wait for its code, which is made beside the program from now on.
bool Variants::awaits(KernelHandle& kernel, const CodeOptions& options) {
  if (!is_built_beside(kernel, options)) return false;
  // What LLVM can gain is a few hundredths.
  const double compilation = kOptimisedSecondsPerNode * static_cast<double>(kernel.ir.nodes.size());
  if (options.optimised && kernel.seconds < kOptimisedAfterCompiles * compilation) return true;
  Variant* known = find(kernel, options);
  const bool has_code = known != nullptr && known->code != nullptr;
  const bool refused = known != nullptr && known->code == nullptr && known->calls == 0;
  if (has_code || refused || (known == nullptr && !is_worth_making(kernel, options))) return false;
  if (known == nullptr && compiler().builds_alone() && Clock::now() - last_made_ < kCalm) return true;
  if (known == nullptr) known = &add(kernel, options);
  if (known->order) return !take_built(kernel, *known);
  seek(kernel, *known);
  return known->code == nullptr;
}

void Variants::release(const KernelHandle& kernel) noexcept {
  if (stores_ && stores_->kernel == &kernel) stores_.reset();
  for (const auto& variant : kernel.variants)
    if (variant->code != nullptr) compiler_->release(variant->code);
}

/// Whether it is worth a launch. A variant that cannot be made is out; a run does not fail for it.
bool Variants::usable(KernelHandle& kernel, const Configuration& configuration) {
  const Variant* variant = find(kernel, configuration.code);
  if (variant == nullptr) {
    if (!is_worth_making(kernel, configuration.code)) return false;
    try {
      variant = &make(kernel, configuration.code);
    } catch (const std::exception& error) {
      log_warn("tune", "kernel ", kernel.ir.name, " runs without ", jit::describe(configuration), ": ", error.what());
      add(kernel, configuration.code);
      return false;
    }
  }
  const KernelResources& uses = variant->resources;
  return variant->code != nullptr && (uses.largest_block == 0 || configuration.block <= uses.largest_block) &&
         uses.spill_bytes <= kernel.variants.front()->resources.spill_bytes + kBearableSpill;
}

void Variants::use(KernelHandle& kernel, SizeClass& size, const Configuration& configuration) {
  size.variant = &make(kernel, configuration.code);
  size.options = configuration;
}

// ---- what earlier runs have found -----------------------------------------------------------------------------------

/// The kernel cache keeps results per model of device, code, size and question asked.
std::string Variants::key(KernelHandle& kernel, std::size_t size_class, const TuningSpace& open) {
  if (kernel.plain_hash.empty()) kernel.plain_hash = compiler().hash(kernel.ir, {});
  return "tuning 5\ndevice " + device_.model() + "\nthreads " +
         std::to_string(device_.blocks().empty() ? device_.threads() : 0) + "\nkernel " + kernel.plain_hash +
         "\nsize class " + std::to_string(size_class) + "\n" + open.text();
}

std::optional<TuningProgress> Variants::remembered(const SizeClass& size, const TuningSpace& open) {
  const auto found = cache_ ? cache_->load(size.key) : std::nullopt;
  auto progress = found ? parse_progress(*found) : std::nullopt;
  if (progress) progress->best.code.check = open.start.code.check;
  return progress;
}

// ---- choosing -------------------------------------------------------------------------------------------------------

void Variants::prepare_first(KernelHandle& kernel, std::size_t size_class, double bytes) {
  SizeClass& size = kernel.classes[size_class];
  const TuningSpace open = space(kernel, bytes);
  if (!open.settled()) size.key = key(kernel, size_class, open);
  const auto progress = open.settled() ? std::nullopt : remembered(size, open);
  if (!progress || !usable(kernel, progress->best)) {
    begin(kernel, size, open);
  } else {
    size.tuner.emplace(open, *progress);
    if (device_.blocks().empty() && progress->bytes > 0 && size.tuner->done())  // where taking the time costs nothing
      size.watch.emplace(progress->seconds / progress->bytes);
    use(kernel, size, progress->best);
    log_choice(kernel, size, bytes, "remembered");
  }
  follow(kernel, size_class, bytes);
}

/// Without knowledge of earlier runs.
void Variants::begin(KernelHandle& kernel, SizeClass& size, const TuningSpace& open) {
  if (stores_ && stores_->kernel == &kernel) stores_.reset();
  use(kernel, size, open.start);
  size.tuner.emplace(open);
}

/// Makes the tuner's next configuration the one in use. Sizes of blocks cost nothing and the largest may not launch, so
/// those are tried from the first launch on. Variants that are of no use drop out here, before they run.
void Variants::follow(KernelHandle& kernel, std::size_t size_class, double bytes) {
  SizeClass& size = kernel.classes[size_class];
  Tuner& tuner = *size.tuner;
  const int rounds = tuner.progress().rounds;
  bool found = size.trial;
  if (!tuner.trying() && !tuner.done() && size.seconds >= price(kernel)) {
    tuner.go_on();
  }
  while (tuner.trying()) {
    if (awaits(kernel, tuner.options().code)) {
      size.trial = false;  // what is in use goes on
      return;
    }
    if (usable(kernel, tuner.options())) break;
    drop(kernel, size);
  }
  found |= tuner.progress().rounds > rounds;
  use(kernel, size, tuner.options());
  size.trial = tuner.trying();
  if (size.trial) return;

  if (found) {
    TuningProgress progress = tuner.progress();
    progress.bytes = bytes;
    if (cache_) cache_->store(size.key, text(progress));
    log_choice(kernel, size, bytes, tuner.done() ? "tuned" : "tuned so far");
  }
  if (!tuner.done() || size.watch) return;
  size.tuner.reset();
  size.stores_open = may_try_stores(kernel, bytes);
  size.seconds = 0;
}

/// Where there is something to find: on CPUs, which others' operands may be kept in, beyond the nearest caches.
bool Variants::may_try_stores(const KernelHandle& kernel, double bytes) const {
  if (!device_.blocks().empty() || !tuning() || env().stream || env().check) return false;
  const auto live = static_cast<double>(Memory::instance().live_bytes());
  return !kernel.ir.stores.empty() && !kernel.ir.listed && !is_near(bytes) && !is_small(live);
}

/// Tells the trial at hand, or begins one if there is none.
bool Variants::try_stores(KernelHandle& kernel, std::size_t size_class, double seconds) {
  SizeClass& size = kernel.classes[size_class];
  if (!stores_) {
    size.seconds += seconds;
    if (size.seconds < std::max(price(kernel), kShareThatMatters * seconds_)) return false;
    Configuration other = size.options;
    other.code.streaming = !other.code.streaming;
    if (awaits(kernel, other.code)) return false;
    if (usable(kernel, other))
      stores_.emplace(&kernel, size_class, size.options, other, ProgramTrial({&kernel, size_class}));
    else
      size.stores_open = false;
    return false;
  }
  StoresTrial& of_stores = *stores_;
  of_stores.trial.record({&kernel, size_class}, seconds);
  if (of_stores.trial.is_lost()) end_stores_trial(false);
  if (!stores_ || of_stores.kernel != &kernel || of_stores.size_class != size_class) return false;
  if (of_stores.trial.trying())
    use(kernel, size, of_stores.trial.other() ? of_stores.other : of_stores.first);
  else
    end_stores_trial(of_stores.trial.other());
  return true;
}

void Variants::end_stores_trial(bool other_is_better) {
  const StoresTrial ended = *std::exchange(stores_, std::nullopt);
  SizeClass& size = ended.kernel->classes[ended.size_class];
  use(*ended.kernel, size, other_is_better ? ended.other : ended.first);
  size.stores_open = false;
  if (!log_enabled(LogLevel::debug, "tune")) return;
  const std::string found = ended.trial.is_lost() ? "not found out" : std::to_string(ended.trial.ratio());
  log_debug("tune", ended.kernel->ir.name, " ", size.variant->hash.substr(0, 8), ", for the program: ", words(size),
            " [", jit::describe(ended.other), " ", found, "]");
}

/// Whether the machine was busy when what is used was found: the fastest of some launches takes far less time now. Ends the watch,
/// then or when it was not so.
bool Variants::was_busy(SizeClass& size, double bytes, double seconds) {
  constexpr int kLaunches = 8;
  constexpr double kFarLess = 0.75;
  SizeClass::Watch& watch = *size.watch;
  const double rate = seconds / bytes;
  if (watch.launches == 0 || rate < watch.fastest) watch.fastest = rate;
  if (++watch.launches < kLaunches) return false;
  const bool was_busy = watch.fastest < kFarLess * watch.then;
  size.watch.reset();
  return was_busy;
}

/// Takes the configuration in use out of the trial.
void Variants::drop(KernelHandle& kernel, SizeClass& size) {
  if (size.tuner->trying() && size.tuner->refuse()) return;
  const DeviceError refusal(
      {.what = "launch of kernel " + kernel.ir.name + " " + size.variant->hash,
       .expected = "a block of " + std::to_string(size.options.block) + " threads or fewer to fit",
       .got = "refused by \"" + device_.name() + "\"",
       .where = std::to_string(size.variant->resources.registers) + " registers per thread",
       .what_now = "Please report it"});
  size = {};
  throw refusal;
}

void Variants::retry(KernelHandle& kernel, std::size_t size_class, double bytes, DeviceLaunch& run) {
  SizeClass& size = kernel.classes[size_class];
  if (size.trial)
    drop(kernel, size);
  else
    begin(kernel, size, space(kernel, bytes));  // what was found earlier does not launch after all
  for (;; drop(kernel, size)) {
    follow(kernel, size_class, bytes);
    apply(size, run);
    if (device_.launch(run)) return;
  }
}

void Variants::apply_best(const KernelHandle& kernel, std::size_t size_class, DeviceLaunch& run) const {
  const Configuration& best = kernel.classes[size_class].tuner->progress().best;
  if (const Variant* known = find(kernel, best.code); known != nullptr && known->code != nullptr)
    apply(best, *known, run);
}

void Variants::launched(KernelHandle& kernel, std::size_t size_class, double bytes, std::optional<double> seconds) {
  SizeClass& size = kernel.classes[size_class];
  if (size.watch) {
    if (seconds && was_busy(size, bytes, *seconds)) begin(kernel, size, space(kernel, bytes));
    if (!size.watch) follow(kernel, size_class, bytes);
    return;
  }
  if (size.trial) {
    if (!seconds) return;  // it began with this launch
    size.tuner->record(*seconds);
  } else {
    // Where taking the time costs time, the best median stands for it.
    size.seconds += seconds.value_or(size.tuner->progress().seconds);
    if (size.seconds < price(kernel)) return;
  }
  follow(kernel, size_class, bytes);
}

// ---- words ----------------------------------------------------------------------------------------------------------

std::string Variants::words(const SizeClass& size) {
  std::string text = jit::describe(size.options);
  const KernelResources& uses = size.variant->resources;
  if (uses.registers > 0) text += ", " + std::to_string(uses.registers) + " registers";
  if (uses.spill_bytes > 0) text += ", " + std::to_string(uses.spill_bytes) + " bytes spilled";
  if (size.options.block > 0) {
    char occupancy[32];
    std::snprintf(occupancy, sizeof occupancy, ", occupancy %.2f",
                  device_.occupancy(size.variant->code, size.options.block));
    text += occupancy;
  }
  return text;
}

std::string Variants::describe(const KernelHandle& kernel) {
  const SizeClass* size = kernel.largest_class();
  return size == nullptr ? "" : words(*size);
}

void Variants::log_choice(const KernelHandle& kernel, const SizeClass& size, double bytes, const char* how) {
  if (!log_enabled(LogLevel::debug, "tune")) return;
  const std::string chosen = words(size), &tried = size.tuner->report();
  log_debug("tune", kernel.ir.name, " ", size.variant->hash.substr(0, 8), ", ",
            format_bytes(static_cast<std::size_t>(bytes)), ", ", how, ": ", chosen.empty() ? "plain" : chosen,
            tried.empty() ? "" : " [" + tried + "]");
}

}  // namespace jit
