// Copies and kernels side by side: that they overlap where nothing forbids it, and never else. The simulated GPU finds
// what no event orders (sim_order.hpp); kernels that end when the test says so show what waits for what, without
// clocks.
#include "jit/gpu/streams.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/gpu/gpu_device.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Type;

namespace {

constexpr std::int64_t kSites = 32 * 200;
constexpr std::size_t kBytes = kSites * 4;  // more than a small copy
static_assert(kBytes > GpuCopies::kSmall);

using Values = std::vector<std::int32_t>;

/// What a kernel waits for. If it waits for too long it goes on, and the test has failed.
class Gate {
 public:
  ~Gate() { CHECK(!timed_out_); }
  void open() { open_ = true; }
  bool is_closed() const { return !open_ && !timed_out_; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(this); }

  static void pass(std::uint64_t address) {
    auto& gate = *reinterpret_cast<Gate*>(address);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!gate.open_) {
      if (std::chrono::steady_clock::now() > until) gate.timed_out_ = true;
      if (gate.timed_out_) return;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  std::atomic<bool> open_{false}, timed_out_{false};
};

/// x[p] = y[p] + a, the fields of equal length. Packet: x, y, a, gate or 0, begin, end.
void add(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  auto* x = reinterpret_cast<std::int32_t*>(packet[0]);
  const auto* y = reinterpret_cast<const std::int32_t*>(packet[1]);
  const auto end = static_cast<std::int64_t>(packet[5]) * 32;
  if (packet[3] != 0) Gate::pass(packet[3]);
  for (std::int64_t t = first; t < last; ++t)
    for (std::int64_t p = static_cast<std::int64_t>(packet[4]) * 32 + t; p < end; p += threads)
      x[p] = y[p] + static_cast<std::int32_t>(packet[2]);
}

const ir::Kernel& add_kernel() {
  static const ir::Kernel kernel = [] {
    ir::Kernel made;
    made.name = "add";
    made.lanes = 32;
    made.leaves = {{Type::i32, 1, false, true}, {Type::i32, 1, true, false}};
    made.arguments = {Type::i32, Type::i64};
    return made;
  }();
  return kernel;
}

void launch_add(GpuDevice& device, void* x, const void* y, std::int32_t a, const Gate* gate = nullptr) {
  void* const fields[] = {x, const_cast<void*>(y)};
  const std::uint64_t scalars[] = {static_cast<std::uint32_t>(a), gate != nullptr ? gate->address() : 0};
  DeviceLaunch launch;
  launch.kernel = &add_kernel();
  launch.code = reinterpret_cast<KernelCode>(&add);
  launch.fields = fields;
  launch.scalars = scalars;
  launch.end = kSites / 32;
  launch.block = 1024;
  REQUIRE(device.launch(launch));
}

Values values(std::int32_t first) {
  Values made(kSites);
  std::iota(made.begin(), made.end(), first);
  return made;
}

/// A device on which fields have travelled, so that launches are noted, with some blocks.
struct Bench {
  explicit Bench(const SimulatedGpu& gpu = {}, int n = 4) : device("sim", open_simulated_driver(gpu)) {
    for (int i = 0; i < n; ++i) {
      blocks.push_back(device.allocate(kBytes));
      REQUIRE(blocks.back() != nullptr);
      fill(i, 1000 * i);
    }
    device.synchronize();
  }
  ~Bench() {
    for (void* block : blocks) device.free(block, kBytes);
  }
  void fill(int i, std::int32_t first) { device.copy_to_device(at(i), values(first).data(), kBytes); }
  std::int32_t read(int i) {
    Values host(kSites);
    device.copy_to_host(host.data(), at(i), kBytes);
    CHECK((host == values(host[0])));
    return host[0];
  }
  void add(int x, int y, std::int32_t a, const Gate* gate = nullptr) { launch_add(device, at(x), at(y), a, gate); }
  void*& at(int i) { return blocks[static_cast<std::size_t>(i)]; }

  GpuDevice device;
  std::vector<void*> blocks;
};

}  // namespace

// ---- what may overlap -----------------------------------------------------------------------------------------------

TEST_CASE("operands of the next statement travel while a kernel runs") {
  Gate gate;
  Bench bench;
  bench.add(0, 1, 5, &gate);
  bench.fill(2, 7);
  CHECK(bench.read(2) == 7);
  CHECK(gate.is_closed());
  bench.add(3, 2, 1);
  gate.open();
  CHECK(bench.read(3) == 8);
  CHECK(bench.read(0) == 1005);
}

TEST_CASE("a field leaves while kernels run that do not write it") {
  Gate gate;
  Bench bench;
  bench.add(0, 1, 5);
  bench.add(2, 0, 1, &gate);  // reads it
  CHECK(bench.read(0) == 1005);
  CHECK(gate.is_closed());
  gate.open();
  CHECK(bench.read(2) == 1006);
}

TEST_CASE("memory that an earlier kernel used is filled while later kernels run") {
  Gate gate;
  Bench bench;
  bench.add(0, 1, 5);
  bench.add(2, 3, 1, &gate);
  bench.fill(0, 70);  // was written
  bench.fill(1, 80);  // was read
  CHECK(bench.read(0) == 70);
  CHECK(bench.read(1) == 80);
  CHECK(gate.is_closed());
  gate.open();
}

TEST_CASE("memory that no running kernel uses is freed at once") {
  Gate gate;
  Bench bench;
  bench.add(0, 1, 5);
  bench.add(2, 3, 1, &gate);
  bench.device.free(bench.at(0), kBytes);
  CHECK(gate.is_closed());
  bench.at(0) = bench.device.allocate(kBytes);
  gate.open();
}

TEST_CASE("the next statement's field takes the place of one that leaves while the present kernel runs") {
  const auto order = tests::random_order(32, kSites);
  GpuDevice device("sim", open_simulated_driver({}));
  CpuDevice processor;
  Memory pool(device, 3 * Memory::block_bytes(kBytes)), host_pool(processor);
  Residency residency(pool, host_pool);
  std::vector<std::unique_ptr<Field>> fields;
  for (int i = 0; i < 4; ++i) {
    fields.push_back(std::make_unique<Field>(order, Type::i32, 1, residency));
    std::memcpy(fields.back()->host_overwrite(), values(100 * i).data(), kBytes);
  }
  const auto statement = [&](int x, int y, const Gate* gate = nullptr) {
    residency.begin_statement();
    const void* from = fields[static_cast<std::size_t>(y)]->device_read();
    launch_add(device, fields[static_cast<std::size_t>(x)]->device_write(true), from, 1, gate);
  };
  statement(3, 0);
  statement(0, 3);
  statement(1, 3);  // 0, 1, 3 are on the device only
  REQUIRE(residency.transfers().spilled == 0);
  Gate gate;
  statement(3, 1, &gate);
  residency.begin_statement();
  const void* came = fields[2]->device_read();
  CHECK(residency.transfers().spilled == 1);
  CHECK(residency.resident_fields() == 3);
  Values seen(kSites), expected(kSites);
  device.copy_to_host(seen.data(), came, kBytes);
  CHECK(gate.is_closed());
  for (std::size_t p = 0; p < kSites; ++p) expected[p] = 200 + order->host_index[p];
  CHECK((seen == expected));
  gate.open();
  CHECK(static_cast<const std::int32_t*>(fields[0]->host_read())[17] == 19);
  CHECK(static_cast<const std::int32_t*>(fields[3]->host_read())[17] == 20);
}

// ---- what must not --------------------------------------------------------------------------------------------------

TEST_CASE("a field that leaves waits for the kernel that writes it, whether launches are noted or not") {
  for (const bool noted : {true, false}) {
    CAPTURE(noted);
    Gate gate;
    Bench bench;
    if (!noted)
      for (int i = 0; i <= Streams::kWatched; ++i) bench.add(3, 2, 1);
    bench.add(0, 1, 5, &gate);
    bench.add(2, 3, 1);
    auto reading = std::async(std::launch::async, [&] { return bench.read(0); });
    CHECK(reading.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout);
    gate.open();
    CHECK(reading.get() == 1005);
  }
}

TEST_CASE(
    "memory is not filled before kernels in flight have read it, though it was freed and given to another field") {
  for (const bool noted : {true, false}) {
    CAPTURE(noted);
    Gate gate;
    Bench bench;
    Memory pool(bench.device);
    void* old = pool.allocate(kBytes);
    bench.device.copy_to_device(old, values(40).data(), kBytes);
    if (!noted)
      for (int i = 0; i <= Streams::kWatched; ++i) bench.add(3, 2, 1);
    launch_add(bench.device, bench.at(0), old, 2, &gate);
    bench.add(1, 0, 1);
    pool.free(old, kBytes);
    void* reused = pool.allocate(kBytes);
    REQUIRE(reused == old);
    bench.device.copy_to_device(reused, values(50).data(), kBytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(gate.is_closed());
    gate.open();
    CHECK(bench.read(0) == 42);
    CHECK(bench.read(1) == 43);
    Values seen(kSites);
    bench.device.copy_to_host(seen.data(), reused, kBytes);
    CHECK((seen == values(50)));
    pool.free(reused, kBytes);
  }
}

TEST_CASE("tables and lists of sites are not overwritten before kernels in flight have read them") {
  // x[0] = table[0] + groups[0] + masks[0]. Packet: x, table, gate, groups, masks, begin, end.
  const SimtFunction look_up = [](const std::uint64_t* packet, std::int64_t first, std::int64_t, std::int64_t) {
    if (first != 0) return;
    Gate::pass(packet[2]);
    const auto entry = [&](int i) { return *reinterpret_cast<const std::int32_t*>(packet[i]); };
    *reinterpret_cast<std::int32_t*>(packet[0]) = entry(1) + entry(3) + entry(4);
  };
  ir::Kernel kernel;
  kernel.name = "look_up";
  kernel.lanes = 32;
  kernel.leaves = {{Type::i32, 1, false, true}};
  kernel.slots.resize(2);
  kernel.arguments = {Type::i64};
  kernel.listed = true;
  for (const int block : {1, 2, 3}) {  // of the table, the groups, the masks
    Gate gate;
    Bench bench;
    void* const fields[] = {bench.at(0)};
    const std::int32_t* const tables[] = {nullptr, static_cast<std::int32_t*>(bench.at(1))};
    const std::uint64_t scalars[] = {gate.address()};
    DeviceLaunch launch;
    launch.kernel = &kernel;
    launch.code = reinterpret_cast<KernelCode>(look_up);
    launch.fields = fields;
    launch.tables = tables;
    launch.scalars = scalars;
    launch.groups = static_cast<std::int32_t*>(bench.at(2));
    launch.masks = static_cast<std::uint64_t*>(bench.at(3));
    launch.end = 1;
    REQUIRE(bench.device.launch(launch));
    CHECK_NOTHROW(bench.fill(block, 0));
    CHECK(gate.is_closed());
    gate.open();
    std::int32_t sum = 0;
    bench.device.copy_to_host(&sum, bench.at(0), 4);
    CHECK(sum == 6000);
  }
}

TEST_CASE("memory that a kernel uses is freed when the kernel has ended") {
  for (const bool noted : {true, false}) {
    CAPTURE(noted);
    Gate gate;
    Bench bench;
    if (!noted)
      for (int i = 0; i <= Streams::kWatched; ++i) bench.add(3, 2, 1);
    bench.add(0, 1, 5, &gate);
    auto freeing = std::async(std::launch::async, [&] { bench.device.free(bench.at(1), kBytes); });
    CHECK(freeing.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout);
    gate.open();
    freeing.get();
    bench.at(1) = bench.device.allocate(kBytes);
    bench.fill(1, 6);
    bench.device.free(bench.at(1), kBytes);  // and when a copy to it has
    bench.at(1) = bench.device.allocate(kBytes);
    CHECK_NOTHROW(bench.device.synchronize());
    CHECK(bench.read(0) == 1005);
  }
}

TEST_CASE("a copy to the host that failed half-way may still run: nobody writes to its memory before it has ended") {
  for (const bool copied : {true, false}) {
    CAPTURE(copied);
    constexpr std::size_t large = 3 * Staging::kPieceBytes;
    GpuDevice device("sim",
                     open_simulated_driver({.failing_copy = 6}));  // behind 3 pieces that come, the third that goes
    void* block = device.allocate(large);
    std::vector<char> host(large, 5);
    device.copy_to_device(block, host.data(), large);
    CHECK_THROWS_AS(device.copy_to_host(host.data(), block, large), DeviceError);
    if (copied)
      CHECK_NOTHROW(device.copy_to_device(block, host.data(), large));
    else
      CHECK_NOTHROW(device.clear(block, large));
    CHECK_NOTHROW(device.copy_to_host(host.data(), block, large));
    CHECK(host[large - 1] == (copied ? 5 : 0));
    device.free(block, large);
    CHECK_NOTHROW(device.synchronize());
  }
}

TEST_CASE("synchronize waits for every stream") {
  Bench bench;
  Gate gate;
  bench.add(0, 1, 5, &gate);
  bench.fill(1, 9);  // behind the kernel, in another stream
  auto waiting = std::async(std::launch::async, [&] { bench.device.synchronize(); });
  CHECK(waiting.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout);
  gate.open();
  waiting.get();
  for (void*& block : bench.blocks) bench.device.driver().free(block);  // without the device's own waiting
  bench.blocks.clear();
  CHECK_NOTHROW(bench.device.driver().synchronize(bench.device.driver().create_stream()));
}

TEST_CASE("any sequence of copies, launches, clears and frees shows the values of plain arrays") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    constexpr int kBlocks = 7;
    Bench bench({}, kBlocks);
    std::mt19937 random(seed);
    std::vector<std::int32_t> models;
    for (int i = 0; i < kBlocks; ++i) models.push_back(1000 * i);
    const auto model = [&](int i) -> std::int32_t& { return models[static_cast<std::size_t>(i)]; };
    for (int round = 0; round < 1500; ++round) {
      const int i = static_cast<int>(random() % kBlocks), j = static_cast<int>(random() % kBlocks);
      // Now and then nothing but launches, until they are no longer noted.
      const bool only_launches = round / 250 % 2 == 1;
      switch (only_launches ? 9 : random() % 12) {
        case 0:
        case 1:
          bench.fill(i, model(i) = static_cast<std::int32_t>(random() % 100000));
          break;
        case 2:
        case 3:
          REQUIRE(bench.read(i) == model(i));
          break;
        case 4: {  // a short copy
          std::int32_t first = -1;
          bench.device.copy_to_host(&first, bench.at(i), 4);
          REQUIRE(first == model(i));
          break;
        }
        case 5:
          bench.device.free(bench.at(i), kBytes);
          bench.at(i) = bench.device.allocate(kBytes);
          bench.device.clear(bench.at(i), kBytes);
          bench.fill(i, model(i) = 3);
          break;
        default:
          bench.add(i, j, 1);
          model(i) = model(j) + 1;
      }
    }
    for (int i = 0; i < kBlocks; ++i) CHECK(bench.read(i) == model(i));
  }
}
