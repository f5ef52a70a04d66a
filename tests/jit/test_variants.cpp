// Which code of a kernel runs: trials and their price, what is remembered from run to run, and what drops out. On a GPU
// that is made up: its compiler makes names, and the test says how long launches take.
#include "jit/runtime/variants.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/memory/memory.hpp"
#include "jit/support/cores.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "tests/jit/settings.hpp"
#include "tests/process_memory.hpp"

using namespace jit;
using tests::Folder;
using tests::Setting;

namespace {

/// What the made-up GPU's compiler and launches are like.
struct Machine {
  std::string model = "made-up GPU";
  int registers = 64;        ///< of code without a bound
  int plain_spill = 0;       ///< bytes that code without a bound spills
  int spills_below = 48;     ///< bounds below this spill
  int largest_block = 1024;  ///< that launches take
  std::function<bool(const CodeOptions&)> refuses = [](const CodeOptions&) { return false; };
  std::vector<int> bounds = {56, 48, 40};
  bool builds_alone = false;

  std::atomic<int> built = 0;  ///< by several threads
  int loaded = 0, unloaded = 0, launches = 0;
};

class MadeUpTarget final : public Target {
 public:
  explicit MadeUpTarget(Machine& machine) : machine_(machine) {}

  const std::string& description() const override { return description_; }
  bool builds_alone() const override { return machine_.builds_alone; }
  std::string build(const ir::Kernel& kernel, const std::string&, const CodeOptions& options, BuildNotes&) override {
    machine_.built += kernel.name == "sample";  // not what is built to start LLVM
    if (machine_.refuses(options)) throw InternalError("no such code");
    return std::to_string(options.registers);
  }
  KernelCode load(const std::string& object, const std::string&, KernelResources& resources) override {
    ++machine_.loaded;
    const int bound = std::stoi(object);
    resources.registers = bound == 0 ? machine_.registers : bound;
    resources.spill_bytes = bound != 0 && bound < machine_.spills_below ? 400 : machine_.plain_spill;
    resources.largest_block = 512;
    codes_.push_back(std::make_unique<int>(0));
    return codes_.back().get();
  }
  void unload(KernelCode) noexcept override { ++machine_.unloaded; }

 private:
  Machine& machine_;
  std::string description_ = "made-up";
  std::vector<std::unique_ptr<int>> codes_;
};

class MadeUpGpu final : public CpuDevice {
 public:
  explicit MadeUpGpu(Machine& machine) : machine_(machine) {}

  std::string name() const override { return "made-up"; }
  std::string model() const override { return machine_.model; }
  std::unique_ptr<Target> make_target() override { return std::make_unique<MadeUpTarget>(machine_); }
  std::span<const int> blocks() const override { return kBlocks; }
  std::vector<int> register_bounds(int registers, int) const override {
    std::vector<int> below;
    for (const int bound : machine_.bounds)
      if (bound < registers) below.push_back(bound);
    return below;
  }
  double occupancy(KernelCode, int) override { return 0.5; }
  bool launch(const DeviceLaunch& launch) override {
    ++machine_.launches;
    return launch.block <= machine_.largest_block;
  }

 private:
  static constexpr int kBlocks[] = {1024, 512, 256, 128, 64, 32};
  Machine& machine_;
};

/// y = 2 x with as many nodes as asked for.
ir::Kernel kernel(int nodes, bool listed) {
  ir::Kernel k;
  k.name = "sample";
  k.lanes = 32;
  k.listed = listed;
  k.leaves = {{ir::Type::f64, 1, true, false}, {ir::Type::f64, 1, false, true}};
  k.nodes = {{.op = ir::Op::load, .type = ir::Type::f64}};
  while (static_cast<int>(k.nodes.size()) < nodes) {
    const auto last = static_cast<ir::Value>(k.nodes.size()) - 1;
    k.nodes.push_back({.op = ir::Op::add, .type = ir::Type::f64, .a = last, .b = last});
  }
  k.stores = {{{1, 0, 0, 0}, static_cast<ir::Value>(k.nodes.size()) - 1}};
  return k;
}

constexpr std::size_t kClass = 5;
constexpr double kBytes = 1e6;

/// What Runtime does with a kernel, in one process.
struct Run {
  explicit Run(Device& device, int nodes = 100, bool listed = false)
      : device(device), variants(device), handle({}, kernel(nodes, listed)) {
    handle.classes.resize(kClass + 4);
  }

  /// `seconds` of a configuration's launches; true if the launch was timed for the tuner.
  template <class Seconds>
  bool launch(Seconds&& seconds, std::size_t size_class = kClass) {
    SizeClass& size = handle.classes[size_class];
    if (size.variant == nullptr) variants.prepare(handle, size_class, kBytes);
    variants.builders().wait();
    DeviceLaunch run;
    apply(size, run);
    const bool trial = size.trial;
    if (!device.launch(run)) variants.retry(handle, size_class, kBytes, run);
    seen[describe(size.options)] += 1;
    if (size.tuner)
      variants.launched(handle, size_class, kBytes, trial ? std::optional(seconds(size.options)) : std::nullopt);
    return trial;
  }
  template <class Seconds>
  int settle(Seconds&& seconds, std::size_t size_class = kClass) {
    int launches = 0;
    do launch(seconds, size_class);
    while (++launches < 100000 && handle.classes[size_class].tuner);
    return launches;
  }
  static std::string describe(const Configuration& c) { return jit::describe(c); }
  const Configuration& options() const { return handle.classes[kClass].options; }
  bool settled() const { return !handle.classes[kClass].tuner; }

  Device& device;
  Variants variants;
  KernelHandle handle;
  std::map<std::string, int> seen;  ///< launches per configuration
};

double prefers_two_sites(const Configuration& c) {
  const int registers = c.code.registers == 0 ? 64 : c.code.registers;
  return 1e-3 * (1 + 0.1 * (c.code.sites != 2) + 0.1 * c.code.streaming + 0.005 * std::abs(registers - 48) +
                 0.01 * (c.block != 128));
}
const Configuration kTwoSites{{.registers = 48, .sites = 2}, 128};

/// A kernel cache of the test's own.
struct Cache {
  Folder folder;
  Setting place{"TESSERA_CACHE_DIR", folder.path}, on{"TESSERA_CACHE", "1"}, default_tuning{"TESSERA_TUNE", "1"},
      made_when_needed{"TESSERA_ASSEMBLER", "0"};
};

}  // namespace

TEST_CASE("blocks first; other code once the kernel has used half of what compiling costs, untimed until then") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run run(gpu, 100);
  const auto seconds = [](const Configuration&) { return 1e-4; };
  while (run.launch(seconds)) {
  }
  CHECK(machine.built == 1);
  CHECK(run.seen.size() == 5);  // 512 to 32, the code does not take 1024
  CHECK(!run.settled());
  int untimed = 1;
  while (!run.launch(seconds)) ++untimed;
  // Half of 100 nodes of 50 us each: 2.5 ms, or more if compiling took longer.
  CHECK(untimed >= 25);
  CHECK(untimed * 1e-4 >= doctest::Approx(0.5 * run.handle.costliest_compile).epsilon(0.01));
  run.settle(seconds);
  CHECK(machine.built ==
        4);  // two sites, streaming, a bound; nothing is faster, so neither four sites nor the next bound
}

TEST_CASE("a kernel that uses little time is compiled once") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run run(gpu, 100);
  for (int i = 0; i < 1500; ++i) run.launch([](const Configuration&) { return 1e-6; });
  CHECK(machine.built == 1);
  CHECK(!run.handle.classes[kClass].trial);
}

TEST_CASE("a list of groups has no second site per thread") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run run(gpu, 3, true);
  run.settle(prefers_two_sites);
  for (const auto& [words, launches] : run.seen) CHECK(words.find("sites") == std::string::npos);
}

TEST_CASE("the best of all is found, kept, and all that the second run loads") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run first(gpu);
  first.settle(prefers_two_sites);
  CHECK(first.options() == kTwoSites);
  CHECK(first.variants.describe(first.handle) ==
        "block 128, sites 2, at most 48 registers, 48 registers, occupancy 0.50");

  machine.built = machine.loaded = 0;
  Run second(gpu);
  for (int i = 0; i < 100; ++i) CHECK(!second.launch([](const Configuration&) { return 1.0; }));
  CHECK(second.settled());
  CHECK(second.options() == kTwoSites);
  CHECK(second.variants.compilations() == 0);
  CHECK(machine.built == 0);
  CHECK(machine.loaded == 1);
  CHECK(second.handle.variants.size() == 1);
}

TEST_CASE("a run that is too short for other code leaves the best block to the next one") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run first(gpu);
  while (first.launch(prefers_two_sites)) {
  }
  Run second(gpu);
  CHECK(!second.launch(prefers_two_sites));
  CHECK(!second.settled());
  CHECK(second.options() == Configuration{.block = 128});
  CHECK(second.variants.compilations() == 0);
  second.settle(prefers_two_sites);
  CHECK(second.options() == kTwoSites);
}

TEST_CASE("results are for one model, code, size and set of open knobs; anything else is a miss") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  const auto known = [&](int nodes = 100, std::size_t size_class = kClass) {
    Run run(gpu, nodes);
    return !run.launch(prefers_two_sites, size_class);
  };
  CHECK(known());
  CHECK(!known(101));
  CHECK(!known(100, kClass + 1));
  {
    const Setting pinned("TESSERA_STREAM", "1");
    CHECK(!known());
  }
  machine.model = "another GPU";
  CHECK(!known());
  machine.model = "made-up GPU";
  {
    const Setting off("TESSERA_CACHE", "0");
    CHECK(!known());
  }
  CHECK(known());
}

TEST_CASE("an entry that is not a result is a miss") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  int results = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder.path)) {
    std::string file = read_file(entry.path());
    const std::size_t at = file.find("tuning 5\n");
    if (at == std::string::npos) continue;
    ++results;
    // Sound, under the right key, but of no version that is known here.
    KernelCache entries(cache.folder.path, 1 << 20);
    const std::string key = file.substr(at, file.rfind("registers 1\noptimised 0\n") + 24 - at);
    REQUIRE(entries.path(key) == entry.path());
    REQUIRE(entries.load(key).has_value());
    entries.store(key, "block 128");
  }
  CHECK(results == 1);
  Run run(gpu);
  CHECK(run.launch(prefers_two_sites));
  run.settle(prefers_two_sites);
  CHECK(run.options() == kTwoSites);
}

TEST_CASE("what is remembered but does not launch any more is found anew") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  machine.largest_block = 64;
  Run run(gpu);
  run.settle(prefers_two_sites);
  CHECK(run.options().block == 64);
  CHECK(run.options().code == kTwoSites.code);
  Run next(gpu);
  CHECK(!next.launch(prefers_two_sites));
  CHECK(next.options().block == 64);
}

TEST_CASE("what is remembered but cannot be made any more is found anew") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder.path))
    if (read_file(entry.path()).find("tuning 3\n") == std::string::npos) std::filesystem::remove(entry.path());
  machine.refuses = [](const CodeOptions& o) { return o.sites == 2; };
  const Setting where("TESSERA_DUMP_DIR", cache.folder.path);
  Run run(gpu);
  run.settle(prefers_two_sites);
  CHECK(run.options() == Configuration{{.registers = 48}, 128});
}

TEST_CASE("a launch that is refused at every size of blocks is an error, now and the next time") {
  const Cache cache;
  Machine machine;
  machine.largest_block = 16;
  MadeUpGpu gpu(machine);
  Run run(gpu);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(run.launch(prefers_two_sites), doctest::Contains("32 threads or fewer"), DeviceError);
  machine.largest_block = 1024;
  run.settle(prefers_two_sites);
  CHECK(run.options() == kTwoSites);
}

TEST_CASE("code that spills much more than the first is never launched") {
  const Cache cache;
  Machine machine;
  machine.spills_below = 56;
  machine.bounds = {56, 48};
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.settle([](const Configuration& c) { return 1e-3 * (c.code.registers == 0 ? 1 : c.code.registers / 100.0); });
  CHECK(run.options().code.registers == 56);
  CHECK(machine.built == 5);  // with 48, too
  for (const auto& [words, launches] : run.seen) CHECK(words.find("at most 48") == std::string::npos);
}

TEST_CASE("code that needs more registers than a thread can have is not compiled") {
  const Cache cache;
  Machine machine;
  machine.registers = 100;
  machine.bounds = {};
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.settle([](const Configuration& c) { return 1e-3 / c.code.sites; });
  CHECK(run.options().code.sites == 2);
  CHECK(machine.built == 3);  // one site, two, and those with streaming; four would take 400 registers
}

TEST_CASE("code that spills already is not given fewer registers") {
  const Cache cache;
  Machine machine;
  machine.plain_spill = 1000;
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.settle([](const Configuration& c) { return 1e-3 * (c.code == CodeOptions{} ? 0.5 : 1.0); });
  CHECK(machine.built == 3);  // plain, two sites, streaming
}

TEST_CASE("code that the compiler refuses drops out, and is not asked for again") {
  const Cache cache;
  Machine machine;
  machine.refuses = [](const CodeOptions& o) { return o.sites > 1; };
  MadeUpGpu gpu(machine);
  const Setting where("TESSERA_DUMP_DIR", cache.folder.path);
  Run run(gpu);
  run.settle(prefers_two_sites);
  CHECK(run.options() == Configuration{{.registers = 48}, 128});
  const int built = machine.built;
  run.settle(prefers_two_sites, kClass + 1);
  CHECK(machine.built == built);

  machine.refuses = [](const CodeOptions&) { return true; };
  Run hopeless(gpu, 50);
  CHECK_THROWS_WITH_AS(hopeless.launch(prefers_two_sites), doctest::Contains("no such code"), InternalError);
}

TEST_CASE("a kernel has so many variants and no more, whatever its sizes like") {
  const Cache cache;
  Machine machine{.registers = 255};
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.handle.classes.resize(40);
  for (std::size_t size_class = 0; size_class < 40; ++size_class) {
    machine.bounds = {200 - static_cast<int>(size_class)};
    run.settle([](const Configuration&) { return 1e-2; }, size_class);
  }
  CHECK(machine.built == 16);
}

TEST_CASE("TESSERA_TUNE=0 runs in blocks of the device's choice and tries nothing") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  machine.loaded = 0;
  const Setting off("TESSERA_TUNE", "0");
  Run run(gpu);
  for (int i = 0; i < 1000; ++i) CHECK(!run.launch(prefers_two_sites));
  CHECK(run.options() == Configuration{});
  CHECK(machine.loaded == 1);
}

TEST_CASE("TESSERA_TUNE=eager tries everything from the first launch on") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  const Setting eager("TESSERA_TUNE", "eager");
  Run run(gpu);
  const auto seconds = [](const Configuration& c) { return 1e-3 * prefers_two_sites(c); };
  bool timed = true;
  while (!run.settled() || run.seen.empty()) timed = run.launch(seconds) && timed;
  CHECK(timed);
  CHECK(run.options() == kTwoSites);
}

TEST_CASE("resources are those of the variant in use") {
  const Cache cache;
  Machine machine;
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.settle([](const Configuration& c) { return 1e-3 * (c.code == CodeOptions{} ? 0.5 : 1.0); });
  CHECK(run.handle.variants.size() == 4);
  CHECK(run.handle.classes[kClass].variant->resources.registers == 64);
  CHECK(run.variants.describe(run.handle).find("64 registers") != std::string::npos);
}

// ---- the processor --------------------------------------------------------------------------------------------------

namespace {

/// Tunes a large kernel on the processor, whose launches take what the test says; the kernel itself does not run.
struct CpuRun {
  explicit CpuRun(CpuDevice& device) : variants(device), handle({}, kernel(3, false)) {
    handle.classes.resize(kClass + 1);
  }

  SizeClass& launch() {
    SizeClass& size = handle.classes[kClass];
    if (size.variant == nullptr) variants.prepare(handle, kClass, 1e12);
    if (size.tuner) {
      const CodeOptions& code = size.options.code;
      variants.launched(handle, kClass, bytes, pace * bytes * (1 + (code.prefetch != liked)));
    }
    return size;
  }

  Variants variants;
  KernelHandle handle;
  double bytes = 1e12, pace = 1e-14;  ///< seconds per byte
  int liked = 8;                      ///< the best distance of prefetching
};

}  // namespace

TEST_CASE(
    "on the processor too the second run loads the best variant and tries nothing, for the same number of threads") {
  const Cache cache;
  CpuDevice cpu;
  cpu.set_threads(2);
  const CodeOptions best{.streaming = true, .prefetch = 8};
  {
    CpuRun run(cpu);
    while (run.launch().tuner) {
    }
    CHECK(run.launch().options.code == best);
    CHECK(run.variants.compilations() == 5);
    CHECK(run.variants.describe(run.handle) == "streaming, prefetch 8");
  }
  {
    CpuRun run(cpu);
    for (int i = 0; i < 8; ++i) CHECK(run.launch().options.code == best);  // these are looked at
    CHECK(!run.launch().tuner);
    CHECK(run.launch().options.code == best);
    CHECK(run.variants.compilations() == 0);
    CHECK(run.handle.variants.size() == 1);
  }
  cpu.set_threads(1);
  CpuRun run(cpu);
  CHECK(run.launch().tuner);
  cpu.set_threads(2);
}

TEST_CASE(
    "what was found while the processor was busy is looked for anew by a run that is much faster, and only then") {
  const Cache cache;
  CpuDevice cpu;
  cpu.set_threads(2);
  const auto launches_until_settled = [&](double pace, int liked, double bytes = 1e12) {
    CpuRun run(cpu);
    run.pace = pace, run.liked = liked, run.bytes = bytes;
    int launches = 1;
    while (run.launch().tuner) ++launches;
    const SizeClass& size = run.handle.classes[kClass];
    return std::pair(launches, size.options.code.prefetch);
  };
  CHECK(launches_until_settled(1e-14, 8).second == 8);
  const std::pair looked_at(8, 8);
  CHECK(launches_until_settled(1e-14, 2) == looked_at);        // nothing says that it was wrong
  CHECK(launches_until_settled(4e-14, 2) == looked_at);        // now it is busy
  CHECK(launches_until_settled(0.4e-14, 2) == looked_at);      // 0.8 of the time, as what is used takes twice the best
  CHECK(launches_until_settled(1e-14, 2, 1e11) == looked_at);  // less to do is no speed
  const auto [launches, found] = launches_until_settled(0.3e-14, 2);
  CHECK(found == 2);
  CHECK(launches > 8 + 5 * 5);
  CHECK(launches_until_settled(0.3e-14, 2) == std::pair(8, 2));  // and kept
}

TEST_CASE(
    "how results are stored is tried for the program: what other kernels gain or lose by it counts, once it matters") {
  const Cache cache;
  CpuDevice cpu;
  cpu.set_threads(2);
  struct Case {
    double own_plain, own_streaming;      ///< seconds
    double other_plain, other_streaming;  ///< those of another kernel behind it
    bool streams;
  };
  const std::vector<Case> cases = {
      {1.0, 1.1, 2.0, 1.5, true},    // it loses, the other gains more
      {1.1, 1.0, 1.5, 2.0, false},   // the reverse
      {1.0, 0.9, 2.0, 2.0, true},    //
      {1.0, 1.0, 2.0, 2.01, true},   // the model streams what is so large, and nothing is to be gained
      {1.0, 1.1, 200., 200., true},  // nor much
  };
  constexpr int kMost = 20000;
  const auto run_case = [&](const Case& one, int others, double share) {
    CpuRun run(cpu);
    KernelHandle other({}, kernel(3, false)), rest({}, kernel(3, false));
    for (KernelHandle* handle : {&other, &rest}) handle->classes.resize(kClass + 1);
    while (run.launch().tuner) {
    }
    const SizeClass& size = run.handle.classes[kClass];
    const bool open = size.stores_open;
    bool tried_plain = false;
    int launches = 0, trials = 0;
    for (; launches < kMost && size.stores_open; ++launches) {
      const bool streams = size.options.code.streaming;
      tried_plain |= !streams;
      if (share < 1) run.variants.passed(rest, kClass, 3 / share);
      trials += run.variants.passed(run.handle, kClass, streams ? one.own_streaming : one.own_plain);
      for (int i = 0; i < others; ++i)
        run.variants.passed(other, kClass, streams ? one.other_streaming : one.other_plain);
      if (trials == 0) std::this_thread::yield();  // code may be made beside the program
    }
    const bool last = size.options.code.streaming;
    for (int i = 0; i < 30; ++i) CHECK(!run.variants.passed(run.handle, kClass, 1));
    CHECK(size.options.code.streaming == last);
    return std::tuple(open, tried_plain, launches < kMost, last);
  };
  for (const Case& one : cases) {  // small fields that live stay in caches
    CHECK(run_case(one, 1, 1) == std::tuple(false, false, true, true));
  }
  Memory& memory = Memory::instance();
  constexpr std::size_t kLive = std::size_t{64} << 20;
  const Block fields(memory, memory.try_allocate(kLive), kLive);
  for (const Case& one : cases) {
    CHECK(run_case(one, 1, 1) == std::tuple(true, true, true, one.streams));
    CHECK(run_case(one, 2, 1) == std::tuple(true, true, true, one.streams));
  }
  CHECK(run_case(cases[1], 1, 0.01) ==
        std::tuple(true, false, false, true));                                // a hundredth of the time does not matter
  CHECK(run_case(cases[1], 5000, 1) == std::tuple(true, false, true, true));  // too rare for anything to be found out
  const Setting streams("TESSERA_STREAM", "1");
  CHECK(run_case(cases[1], 1, 1) == std::tuple(false, false, true, true));
}

TEST_CASE("on the processor TESSERA_TUNE=0 takes the model's choice") {
  const Cache cache;
  const Setting off("TESSERA_TUNE", "0");
  CpuDevice cpu;
  CpuRun run(cpu);
  for (int i = 0; i < 10; ++i) CHECK(!run.launch().tuner);
  CHECK(run.handle.variants.size() == 1);
  CHECK(run.launch().options.code.streaming);  // the operands exceed every cache
}

namespace {

/// As machines are remembered: so many bytes are read much faster than more.
std::string caches_of(double bytes) {
  std::string sets;
  for (const double times : {1, 2, 4}) sets += std::to_string(times * bytes) + (times > 1 ? " 1e9 " : " 1e10 ");
  return sets;
}

/// The choice that the model makes for y = 2 x on a device of `threads` threads whose caches are known to hold `cache` bytes.
struct Model {
  bool listed = false, reads_written = false, structured = false;
  double operations = 10;
  bool shares_neighbours = false;

  CodeOptions choice(CpuDevice& cpu, double bytes) const {
    KernelHandle handle({}, kernel(3, listed));
    handle.classes.resize(1);
    handle.cost.structured = structured;
    handle.cost.reads_written = reads_written;
    handle.cost.operations = operations;
    handle.cost.shares_neighbours = shares_neighbours;
    Variants variants(cpu);
    variants.prepare(handle, 0, bytes);
    return handle.classes[0].options.code;
  }
};

}  // namespace

TEST_CASE(
    "the model streams and prefetches what leaves the caches, which are remembered per model and number of threads") {
  const Cache cache;
  const Setting off("TESSERA_TUNE", "0");
  CpuDevice cpu;
  cpu.set_threads(2);
  const auto remember = [&](const std::string& threads, double bytes) {
    KernelCache(cache.folder.path, 1 << 20)
        .store("reading 1\ndevice " + cpu.model() + "\nthreads " + threads, caches_of(bytes));
  };
  constexpr double kHeld = 4e12;  // no field of this process is as large
  remember("2", kHeld);
  remember("1", 2 * kHeld);
  const CodeOptions plain{}, streaming{.streaming = true}, both{.streaming = true, .prefetch = 4};
  CHECK(Model{}.choice(cpu, kHeld) == plain);
  // What is stored is read again at the earliest after half of this kernel and half of another one.
  CHECK(Model{}.choice(cpu, 1.99 * kHeld) == plain);
  CHECK(Model{}.choice(cpu, 2.01 * kHeld) == streaming);
  CHECK(Model{.structured = true}.choice(cpu, kHeld) == plain);
  CHECK(Model{.structured = true}.choice(cpu, 1.01 * kHeld) == CodeOptions{.prefetch = 4});
  CHECK(Model{.structured = true}.choice(cpu, 2.01 * kHeld) == both);
  CHECK(Model{.reads_written = true, .structured = true}.choice(cpu, 2.01 * kHeld) == CodeOptions{.prefetch = 4});
  // A step of a long kernel takes as long as memory does to answer.
  CHECK(Model{.structured = true, .operations = 400}.choice(cpu, 2.01 * kHeld) == both);
  CHECK(Model{.structured = true, .operations = 401}.choice(cpu, 2.01 * kHeld) ==
        CodeOptions{.streaming = true, .prefetch = 1});
  // What it reads once is not to drive out what its neighbours read again.
  const Model hop{.structured = true, .operations = 401, .shares_neighbours = true};
  CHECK(hop.choice(cpu, 2.01 * kHeld) == CodeOptions{.streaming = true, .prefetch = 1, .passing = true});
  CHECK(hop.choice(cpu, kHeld) == plain);
  CHECK(Model{.structured = true, .shares_neighbours = true}.choice(cpu, 2.01 * kHeld) == both);
  CHECK(Model{.listed = true, .structured = true}.choice(cpu, 2.01 * kHeld) == plain);
  cpu.set_threads(1);
  CHECK(Model{}.choice(cpu, 3.9 * kHeld) == plain);
  CHECK(Model{}.choice(cpu, 4.1 * kHeld) == streaming);
  cpu.set_threads(2);

  // What the environment says holds, whatever leaves the caches.
  {
    const Setting no("TESSERA_STREAM", "0"), far("TESSERA_PREFETCH", "8");
    CHECK(Model{.structured = true}.choice(cpu, 1.01 * kHeld) == CodeOptions{.prefetch = 8});
  }
  const Setting yes("TESSERA_STREAM", "1"), near("TESSERA_PREFETCH", "0");
  CHECK(Model{.structured = true}.choice(cpu, 1.01 * kHeld) == streaming);
  CHECK(Model{}.choice(cpu, 100) == streaming);
}

TEST_CASE("ranks keep what they have measured of their machine together, not what one has measured by itself") {
  const Cache cache;
  CpuDevice cpu;
  cpu.set_threads(1);
  const auto kept = [&](const std::string& beside) {
    return KernelCache(cache.folder.path, 1 << 20)
        .load("reading 1\ndevice " + cpu.model() + "\nthreads 1" + beside)
        .has_value();
  };
  set_rank_on_host(0, 2);
  {
    Variants rank(cpu);
    CHECK(rank.knows_machine(1000));  // what small fields need
    CHECK_FALSE(rank.knows_machine(1e15));
    CHECK(rank.exceeds_caches(1e15));
    CHECK_FALSE(rank.knows_machine(1e15));
    CHECK_FALSE(kept("\nbeside 1"));
    rank.measure_machine();
    CHECK(rank.knows_machine(1e15));
    CHECK(kept("\nbeside 1"));
  }
  CHECK(Variants(cpu).knows_machine(1e15));
  // Another rank of the machine takes part of it: what was found beside one does not hold for a process by itself, nor the reverse.
  set_rank_on_host(0, 1);
  CHECK_FALSE(Variants(cpu).knows_machine(1e15));
  Variants(cpu).measure_machine();
  CHECK(kept(""));
  set_rank_on_host(0, 3);
  CHECK_FALSE(Variants(cpu).knows_machine(1e15));
  set_rank_on_host(0, 1);
}

TEST_CASE("what the caches hold is measured once, and kept for the next run") {
  const Cache cache;
  const Setting off("TESSERA_TUNE", "0");
  CpuDevice cpu;
  cpu.set_threads(2);
  const std::string key = "reading 1\ndevice " + cpu.model() + "\nthreads 2";
  CHECK(Model{}.choice(cpu, 1 << 20) == CodeOptions{});  // near each thread: nobody asks
  const Memory& memory = Memory::instance();
  if (sysconf(_SC_LEVEL3_CACHE_SIZE) >= 16 << 20 && memory.live_bytes() < 16 << 20)
    CHECK(Model{}.choice(cpu, 16 << 20) == CodeOptions{});  // nor as long as what the system says will do
  CHECK(!KernelCache(cache.folder.path, 1 << 20).load(key));
  CHECK(Model{}.choice(cpu, 1e15).streaming);
  const auto kept = KernelCache(cache.folder.path, 1 << 20).load(key);
  REQUIRE(kept.has_value());
  const double bytes = std::stod(*kept);
  CHECK(bytes >= 1 << 20);
  CHECK(bytes < 1 << 29);
}

TEST_CASE(
    "on the processor other code is tried after two milliseconds, or three compilations, or what so many nodes take") {
  const Cache cache;
  CpuDevice cpu;
  cpu.set_threads(2);
  KernelCache(cache.folder.path, 1 << 20).store("reading 1\ndevice " + cpu.model() + "\nthreads 2", caches_of(1 << 20));
  for (const auto& [nodes, compilation, price] :
       {std::tuple{3, 0.0, 2e-3}, {3, 1.0, 3.0}, {3, 5e-4, 2e-3}, {1000, 0.0, 3e-2}, {1000, 0.02, 6e-2}}) {
    CAPTURE(nodes);
    CAPTURE(compilation);
    Variants variants(cpu);
    KernelHandle handle({}, kernel(nodes, false));
    handle.classes.resize(1);
    variants.prepare(handle, 0, 1e12);
    SizeClass& size = handle.classes[0];
    handle.costliest_compile = compilation;
    REQUIRE(size.tuner);
    CHECK_FALSE(size.trial);
    variants.launched(handle, 0, 1e12, 0.75 * price);
    CHECK_FALSE(size.trial);
    variants.launched(handle, 0, 1e12, 0.24 * price);
    CHECK_FALSE(size.trial);
    CHECK(handle.variants.size() == 1);
    variants.launched(handle, 0, 1e12, 0.02 * price);
    CHECK(size.trial);
  }
}

// ---- code that is made beside the program -----------------------------------------------------------------------------

namespace {

/// The processor, with a compiler of which a test says what it refuses.
class ChoosyCpu final : public CpuDevice {
 public:
  std::function<bool(const CodeOptions&)> refuses = [](const CodeOptions&) { return false; };

  std::unique_ptr<Target> make_target() override {
    class Choosy final : public Target {
     public:
      explicit Choosy(const ChoosyCpu& cpu) : cpu_(cpu) {}
      const std::string& description() const override { return target_->description(); }
      bool assembles(const ir::Kernel& kernel, const CodeOptions& options) const override {
        return target_->assembles(kernel, options);
      }
      std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                        BuildNotes& notes) override {
        if (kernel.name == "sample" && cpu_.refuses(options)) throw InternalError("no such code");
        return target_->build(kernel, symbol, options, notes);
      }
      KernelCode load(const std::string& object, const std::string& symbol, KernelResources& resources) override {
        return target_->load(object, symbol, resources);
      }
      void unload(KernelCode code) noexcept override { target_->unload(code); }

     private:
      const ChoosyCpu& cpu_;
      std::unique_ptr<Target> target_ = make_cpu_target();
    };
    return std::make_unique<Choosy>(*this);
  }
};

/// A kernel that is assembled, near the processor: all there is to try is LLVM's code, which takes `pace` of the time.
struct Assembled {
  explicit Assembled(CpuDevice& cpu, double pace = 0.5) : variants(cpu), handle({}, plain()), pace(pace) {
    handle.classes.resize(1);
    variants.prepare(handle, 0, 64);
  }
  static ir::Kernel plain() {
    ir::Kernel k = kernel(600, false);
    k.lanes = native_lanes();
    return k;
  }
  SizeClass& launch(double seconds) {
    SizeClass& size = handle.classes[0];
    seconds *= size.options.code.optimised ? pace : 1;
    handle.seconds += seconds;
    if (size.tuner) variants.launched(handle, 0, 64, seconds);
    return size;
  }
  /// Until there is nothing more to try.
  SizeClass& settle(double seconds) {
    for (int i = 0; i < 1000 && launch(seconds).tuner; ++i) variants.builders().wait();
    return handle.classes[0];
  }

  Variants variants;
  KernelHandle handle;
  double pace;
};

}  // namespace

TEST_CASE("a kernel begins with assembled code; LLVM's is made beside the program, and stays if it is faster") {
  if (native_lanes() < 8) return;  // nothing is assembled
  const Cache cache;
  const Setting both("TESSERA_ASSEMBLER", "auto");
  CpuDevice cpu;
  {
    Assembled run(cpu);
    const SizeClass& size = run.handle.classes[0];
    CHECK(size.variant->code != nullptr);
    CHECK_FALSE(size.options.code.optimised);
    CHECK(run.variants.compilations() == 1);
    for (int i = 0; i < 20; ++i) run.launch(0.01);  // 600 nodes take 24 ms: not worth it yet
    CHECK(run.handle.variants.size() == 1);
    CHECK(run.settle(0.1).options.code.optimised);
    CHECK(run.variants.compilations() == 2);
  }
  {
    Assembled next(cpu);
    CHECK(next.handle.classes[0].options.code.optimised);
    CHECK(next.variants.compilations() == 0);
  }
  const Cache other;
  const Setting again("TESSERA_ASSEMBLER", "auto");
  Assembled slower(cpu, 1.5);
  CHECK_FALSE(slower.settle(0.1).options.code.optimised);
  CHECK(slower.variants.compilations() == 2);
}

TEST_CASE("TESSERA_ASSEMBLER says who makes the code") {
  if (native_lanes() < 8) return;
  const Cache cache;
  CpuDevice cpu;
  for (const bool assembler : {false, true}) {
    CAPTURE(assembler);
    const Setting one("TESSERA_ASSEMBLER", assembler ? "1" : "0");
    Assembled run(cpu);
    CHECK(run.settle(10).options.code.optimised == !assembler);
    CHECK(run.variants.compilations() == 1);
  }
}

TEST_CASE("a kernel whose other code is refused keeps what it has; one whose first code is refused does not run") {
  if (native_lanes() < 8) return;
  const Cache cache;
  const Setting both("TESSERA_ASSEMBLER", "auto"), dumps("TESSERA_DUMP_DIR", cache.folder.path);
  ChoosyCpu cpu;
  cpu.refuses = [](const CodeOptions& options) { return options.optimised; };
  {
    Assembled run(cpu);
    const KernelCode code = run.handle.classes[0].variant->code;
    CHECK(run.settle(0.1).variant->code == code);
    CHECK_FALSE(run.handle.classes[0].tuner);  // nothing more is tried
  }
  cpu.refuses = [](const CodeOptions&) { return true; };
  const Setting other("TESSERA_CACHE", "0");
  CHECK_THROWS_AS(Assembled{cpu}, InternalError);
}

TEST_CASE("what is being made at the end of a run is kept for the next, and a process may end or fork meanwhile") {
  if (native_lanes() < 8) return;
  const Cache cache;
  const Setting both("TESSERA_ASSEMBLER", "auto");
  CpuDevice cpu;
  std::vector<std::unique_ptr<KernelHandle>> handles;
  handles.push_back(std::make_unique<KernelHandle>(TableKey{}, Assembled::plain()));
  KernelHandle& handle = *handles[0];
  handle.classes.resize(1);
  Variants variants(cpu);
  variants.prepare(handle, 0, 64);
  handle.seconds = 10;
  for (int i = 0; i < 100 && handle.variants.size() == 1; ++i) variants.launched(handle, 0, 64, 1);
  REQUIRE(handle.variants.size() == 2);
  Variant& code = *handle.variants[1];
  REQUIRE(code.order);
  const pid_t child = ::fork();
  if (child == 0) {  // has no threads of the parent's: it must neither wait for them nor find a lock held
    variants.builders().wait();
    const auto order = variants.builders().order(handle.ir, {});
    variants.builders().wait();
    ::_exit(order.done() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  variants.builders().wait();
  variants.finish(handles);
  CHECK(code.code != nullptr);
  CHECK_FALSE(code.order);
}

TEST_CASE("what begins with options that a trial elsewhere waits for, or that were refused, has code or is refused") {
  const Cache cache;
  const Setting one("TESSERA_ASSEMBLER", "1"), dumps("TESSERA_DUMP_DIR", cache.folder.path),
      no_cache("TESSERA_CACHE", "0");
  ChoosyCpu cpu;
  for (const int calls : {0, 1}) {  // refused; left to another rank, so that there is no order
    CAPTURE(calls);
    const auto begin = [&](KernelHandle& handle) {
      handle.classes.resize(1);
      handle.variants.push_back(std::make_unique<Variant>());
      handle.variants[0]->calls = calls;
      Variants(cpu).prepare(handle, 0, 64);
    };
    cpu.refuses = [](const CodeOptions&) { return true; };
    KernelHandle refused({}, kernel(3, false));
    CHECK_THROWS_WITH_AS(begin(refused), doctest::Contains("no such code"), InternalError);
    cpu.refuses = [](const CodeOptions&) { return false; };
    KernelHandle made({}, kernel(3, false));
    begin(made);
    CHECK(made.classes[0].variant->code != nullptr);
    CHECK(made.variants.size() == 1);
  }
}

TEST_CASE("launches go on with what is there while the code of a trial is made, and the trial finds the same") {
  const Cache cache;
  const Setting both("TESSERA_ASSEMBLER", "auto");
  CpuDevice cpu;
  cpu.set_threads(2);
  CpuRun run(cpu);  // of more lanes than are assembled
  int waited = 0;
  for (int launches = 0; run.launch().tuner && launches < 1000; ++launches) {
    SizeClass& size = run.handle.classes[kClass];
    REQUIRE(size.variant->code != nullptr);
    waited += size.tuner && size.tuner->trying() && !size.trial;
    run.variants.builders().wait();
  }
  CHECK(!run.handle.classes[kClass].tuner);
  CHECK(run.handle.classes[kClass].options.code == CodeOptions{.streaming = true, .prefetch = 8});
  CHECK(run.variants.compilations() == 5);
  CHECK(waited >= 4);
}

TEST_CASE("code of a kernel that is expected is made beside the program, and the first launch takes it") {
  const Setting no_cache("TESSERA_CACHE", "0"), tuned("TESSERA_TUNE", "1");
  Machine machine;
  MadeUpGpu gpu(machine);
  Run run(gpu);
  run.variants.expect(run.handle, kClass, kBytes);
  run.variants.expect(run.handle, kClass, kBytes);  // once is enough
  run.variants.builders().wait();
  CHECK(machine.built == 1);
  CHECK(machine.loaded == 0);
  run.variants.prepare(run.handle, kClass, kBytes);
  CHECK(machine.built == 1);
  CHECK(machine.loaded == 1);
  CHECK(run.handle.variants.size() == 1);
  CHECK(run.settle(prefers_two_sites) > 0);
  CHECK(run.options() == kTwoSites);

  SUBCASE("what is refused is refused at the launch, and no other code is asked for") {
    machine.refuses = [](const CodeOptions&) { return true; };
    Run refused(gpu);
    refused.variants.expect(refused.handle, kClass, kBytes);
    refused.variants.builders().wait();
    const int built = machine.built;
    CHECK_THROWS_WITH_AS(refused.variants.prepare(refused.handle, kClass, kBytes), doctest::Contains("no such code"),
                         InternalError);
    CHECK(machine.built == built);
  }
  SUBCASE("a process that is forked off makes it itself") {
    Run forked(gpu);
    forked.variants.expect(forked.handle, kClass, kBytes);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      forked.variants.prepare(forked.handle, kClass, kBytes);
      ::_exit(forked.handle.classes[kClass].variant->code != nullptr ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("where builds hold each other up, trials wait until the program has needed no new code for a second") {
  const Setting no_cache("TESSERA_CACHE", "0"), tuned("TESSERA_TUNE", "1");
  Machine machine;
  machine.builds_alone = true;
  MadeUpGpu gpu(machine);
  Run run(gpu);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) run.launch(prefers_two_sites);
  const bool in_time = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(900);
  if (in_time) CHECK(machine.built == 1);
  ::usleep(1'100'000);
  run.settle(prefers_two_sites);
  CHECK(run.options() == kTwoSites);
}

TEST_CASE("what an earlier run has tuned is not made anew because it is expected") {
  const Cache cache;
  const Setting tuned("TESSERA_TUNE", "1");
  Machine machine;
  MadeUpGpu gpu(machine);
  Run(gpu).settle(prefers_two_sites);
  const int built = machine.built;
  Run again(gpu);
  again.variants.expect(again.handle, kClass, kBytes);
  again.launch(prefers_two_sites);
  CHECK(machine.built == built);
  CHECK(again.options() == kTwoSites);
}

TEST_CASE("on a processor nothing is made before it is needed") {
  const Setting no_cache("TESSERA_CACHE", "0");
  CpuDevice cpu;
  Variants variants(cpu);
  KernelHandle handle({}, kernel(3, false));
  variants.expect(handle, kClass, kBytes);
  CHECK(handle.variants.empty());
}

TEST_CASE("an order that is waited for comes before others; one that no thread has begun with is taken back") {
  const Setting no_cache("TESSERA_CACHE", "0");
  std::latch first_gate(1), other_gate(1);
  std::mutex mutex;
  std::vector<int> made;
  std::atomic<int> begun = 0;
  Machine machine;
  machine.refuses = [&](const CodeOptions& options) {  // notes who is made; those below 10 when their gate opens
    ++begun;
    if (options.registers == 1) first_gate.wait();
    if (options.registers > 1 && options.registers < 10) other_gate.wait();
    const std::lock_guard lock(mutex);
    made.push_back(options.registers);
    return options.registers == 13;
  };
  Builders builders([&] { return std::make_unique<MadeUpTarget>(machine); });
  const ir::Kernel sample = kernel(3, false);
  const auto order = [&](int number, bool soon) { return builders.order(sample, {.registers = number}, soon); };
  const int threads = std::clamp(static_cast<int>(cores_of_process()), 1, 4), before = begun;
  std::vector<Builders::Order> blocked;
  for (int i = 1; i <= threads; ++i) blocked.push_back(order(i, false));
  while (begun < before + threads) ::usleep(100);
  const auto late = order(11, false), soon = order(12, true), bad = order(13, true), dropped = order(14, true);
  CHECK_FALSE(builders.finish(dropped));
  CHECK_FALSE(builders.finish(dropped));
  std::thread opens([&] {
    ::usleep(20'000);
    first_gate.count_down();  // so that one thread makes all that follows
  });
  CHECK(builders.finish(blocked[0]));
  CHECK(blocked[0].done());
  opens.join();
  while (!late.done()) ::usleep(100);
  other_gate.count_down();
  builders.wait();
  CHECK(builders.finish(bad));
  CHECK_THROWS_AS(Builders::Order(bad).take(), InternalError);
  CHECK(Builders::Order(soon).take().kernel.options.registers == 12);
  const auto place = [&](int number) { return std::ranges::find(made, number) - made.begin(); };
  CHECK(place(14) == std::ssize(made));
  CHECK(place(12) < place(11));
  CHECK(place(13) < place(11));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have memory of their own
TEST_CASE(
    "threads that have had nothing to build for a while give back what builds took, and go on when something comes") {
  std::int64_t most = 0;
  std::unique_ptr<std::vector<char>> last;  // stays, so that what is below it does not go by itself
  Machine machine;
  machine.refuses = [&](const CodeOptions& options) {
    if (options.registers != 7) return false;
    std::vector<std::unique_ptr<std::vector<char>>> blocks(60000);
    for (auto& block : blocks) block = std::make_unique<std::vector<char>>(1000, 'x');
    last = std::move(blocks.back());
    most = tests::resident_bytes();
    return false;
  };
  Builders builders([&] { return std::make_unique<MadeUpTarget>(machine); });
  for (int i = 0; i < 2; ++i) {
    const auto order = builders.order(kernel(3, false), {.registers = 7});
    builders.wait();
    REQUIRE(order.done());
    const std::int64_t without = most - (40 << 20);
    for (int wait = 0; wait < 2000 && tests::resident_bytes() > without; ++wait) ::usleep(10'000);
    CHECK(tests::resident_bytes() < without);
  }
}
#endif

TEST_CASE("a process that ends waits for builds before anything goes that they have made") {
  ::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    static std::atomic<bool> begun = false, gone = false;
    static Machine machine;  // lives as long as the process, as all here
    machine.refuses = [](const CodeOptions& options) {
      if (options.registers != 7) return false;
      struct MadeByBuild {
        ~MadeByBuild() { gone = true; }
      };
      static const MadeByBuild object;  // younger than whatever was registered for the end before
      begun = true;
      ::usleep(100'000);
      if (gone) ::_exit(3);
      return false;
    };
    auto* const builders = new Builders([] { return std::make_unique<MadeUpTarget>(machine); });
    auto* const order = new Builders::Order(builders->order(kernel(3, false), {.registers = 7}));
    while (!begun && !order->done()) ::usleep(100);
    ::exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
