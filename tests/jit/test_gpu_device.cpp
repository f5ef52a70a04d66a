// The part of a GPU that is the same for every driver: staging, packets, grids, sums, timing, errors. The simulated
// driver stands behind it, which checks every address and every use after free; `Watched` looks at what it is asked.
#include "jit/gpu/gpu_device.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "jit/codegen/codegen.hpp"
#include "jit/gpu/sim_driver.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/settings.hpp"

using jit::DeviceError;
using jit::DeviceLaunch;
using jit::GpuDevice;
using jit::GpuDriver;
using jit::Staging;
using jit::SumBins;
using jit::SumHeader;
using tests::Setting;

namespace {

constexpr std::size_t kPiece = Staging::kPieceBytes;

/// Passes everything on, notes launches and copies, and refuses what it is told to refuse.
class Watched final : public GpuDriver {
 public:
  struct Launch {
    unsigned blocks, threads;
    std::vector<std::uint64_t> packet;
  };

  explicit Watched(const jit::SimulatedGpu& gpu = {}) : under_(jit::open_simulated_driver(gpu)) {}
  /// When the device has given everything back: what went wrong in that no other call has told.
  ~Watched() override {
    if (lost) return;
    try {
      const Stream stream = under_->create_stream();
      under_->synchronize(stream);
      under_->destroy_stream(stream);
    } catch (const std::exception& error) {
      FAIL_CHECK(std::string(error.what()));
    }
  }

  std::vector<Launch> launches;
  int copies = 0, clears = 0, waits = 0;
  int pinned_left = 100;
  bool failing_synchronization = false;
  bool lost = false;  ///< a kernel went wrong: there is nothing else to hear of the GPU

  std::string assemble(const std::string& ptx, int registers, std::string& log) override {
    return under_->assemble(ptx, registers, log);
  }
  jit::KernelCode load(const std::string& binary, const std::string& symbol, jit::KernelResources& resources) override {
    return under_->load(binary, symbol, resources);
  }
  void unload(jit::KernelCode code) noexcept override { under_->unload(code); }
  const jit::GpuProperties& properties() const override { return under_->properties(); }
  int blocks_at_once(jit::KernelCode code, unsigned threads) override { return under_->blocks_at_once(code, threads); }
  std::unique_ptr<jit::Target> make_target() override { return under_->make_target(); }
  void* allocate(std::size_t bytes) override { return under_->allocate(bytes); }
  void free(void* address) noexcept override { under_->free(address); }
  std::size_t free_memory() override { return under_->free_memory(); }
  void* allocate_pinned(std::size_t bytes) override {
    return pinned_left-- > 0 ? under_->allocate_pinned(bytes) : nullptr;
  }
  void free_pinned(void* address) noexcept override { under_->free_pinned(address); }
  void* device_address(void* pinned) override { return under_->device_address(pinned); }
  Stream create_stream() override { return under_->create_stream(); }
  void destroy_stream(Stream stream) noexcept override { under_->destroy_stream(stream); }
  void synchronize(Stream stream) override {
    if (failing_synchronization) throw DeviceError("the GPU fell off the bus");
    under_->synchronize(stream);
  }
  void copy_in(Stream stream, void* device, const void* host, std::size_t bytes) override {
    ++copies;
    under_->copy_in(stream, device, host, bytes);
  }
  void copy_out(Stream stream, void* host, const void* device, std::size_t bytes) override {
    ++copies;
    under_->copy_out(stream, host, device, bytes);
  }
  void copy_rows_in(Stream stream, void* device, std::size_t pitch, const void* host, std::size_t bytes,
                    std::size_t rows) override {
    ++copies;
    under_->copy_rows_in(stream, device, pitch, host, bytes, rows);
  }
  void copy_rows_out(Stream stream, void* host, const void* device, std::size_t pitch, std::size_t bytes,
                     std::size_t rows) override {
    ++copies;
    under_->copy_rows_out(stream, host, device, pitch, bytes, rows);
  }
  void clear(Stream stream, void* device, std::size_t bytes) override {
    ++clears;
    under_->clear(stream, device, bytes);
  }
  void copy_within(Stream stream, void* to, const void* from, std::size_t bytes) override {
    under_->copy_within(stream, to, from, bytes);
  }
  Event create_event(bool timed) override { return under_->create_event(timed); }
  void destroy_event(Event event) noexcept override { under_->destroy_event(event); }
  void record(Event event, Stream stream) override { under_->record(event, stream); }
  void wait(Stream stream, Event event) override {
    ++waits;
    under_->wait(stream, event);
  }
  void synchronize_event(Event event) override { under_->synchronize_event(event); }
  double seconds(Event from, Event to) override { return under_->seconds(from, to); }
  jit::LaunchStatus launch(Stream stream, jit::KernelCode code, unsigned blocks, unsigned threads,
                           const std::uint64_t* packet, std::size_t parameters) override {
    launches.push_back({blocks, threads, {packet, packet + parameters}});
    return under_->launch(stream, code, blocks, threads, packet, parameters);
  }

 private:
  std::unique_ptr<GpuDriver> under_;
};

/// A device and the eyes on its driver.
struct Bench {
  explicit Bench(const jit::SimulatedGpu& gpu = {}, int pinned = 100)
      : watched(new Watched(gpu)), device("sim", std::unique_ptr<GpuDriver>(watched)) {
    watched->pinned_left = pinned;
  }
  Watched* watched;
  GpuDevice device;
};

std::vector<unsigned char> noise(std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  std::uint32_t state = 12345;
  for (auto& byte : data) byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  return data;
}

template <class T>
T* pointer(std::uint64_t parameter) {
  return reinterpret_cast<T*>(parameter);
}

jit::KernelCode code_of(jit::SimtFunction function) { return reinterpret_cast<jit::KernelCode>(function); }

// ---- kernels, as a code generator would make them: 32 lanes
// -----------------------------------------------------------

/// x[p] = a x[p] + 1 for int32 at the positions of the domain. Packet: x, a, begin, end.
void scale(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  auto* x = pointer<std::int32_t>(packet[0]);
  const auto a = static_cast<std::int32_t>(packet[1]);
  const auto begin = static_cast<std::int64_t>(packet[2]), end = static_cast<std::int64_t>(packet[3]);
  for (std::int64_t t = first; t < last; ++t)
    for (std::int64_t p = begin * 32 + t; p < end * 32; p += threads) x[p] = a * x[p] + 1;
}

jit::ir::Kernel scale_kernel() {
  jit::ir::Kernel kernel;
  kernel.name = "scale";
  kernel.lanes = 32;
  kernel.leaves = {{jit::ir::Type::i32, 1, true, true}};
  kernel.arguments = {jit::ir::Type::i32};
  return kernel;
}

/// What every block of a kernel with reductions does at its end (abi.hpp). `sums` are its parameters.
void finish_block(const std::uint64_t* sums, std::size_t reductions, std::int64_t mine, std::int64_t threads) {
  auto* from = pointer<SumHeader>(sums[0]);
  auto* to = pointer<SumHeader>(sums[1]);
  const auto own = static_cast<std::uint64_t>(mine), all = static_cast<std::uint64_t>(threads);
  if (std::atomic_ref(from->mark).fetch_add(own) + own != all) return;
  std::copy_n(jit::bins_behind(from), reductions, jit::bins_behind(to));
  std::memset(from, 0, jit::bytes_of_sums(reductions));
  std::atomic_ref(to->mark).store(sums[2], std::memory_order_release);
}

/// Sum and number of x[p], small integers, in units of 2^0, which bin 38 holds. Packet: x, sums, results, launch,
/// begin, end.
template <std::size_t reductions>
void add_up(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  const auto* x = pointer<const std::int32_t>(packet[0]);
  auto* bins = jit::bins_behind(pointer<SumHeader>(packet[1]));
  const auto begin = static_cast<std::int64_t>(packet[4]), end = static_cast<std::int64_t>(packet[5]);
  for (std::int64_t t = first; t < last; ++t) {
    std::int64_t sum = 0, sites = 0;
    for (std::int64_t p = begin * 32 + t; p < end * 32; p += threads) {
      sum += x[p];
      ++sites;
    }
    std::atomic_ref(bins[0].bin[38]) += sum;
    std::atomic_ref(bins[1].bin[38]) += sites;
    for (int i : {0, 1}) std::atomic_ref(bins[i].top) = (28 + 980) / 28;
  }
  finish_block(packet + 1, reductions, last - first, threads);
}

/// The same, but some of its blocks do not end as they should.
void add_up_without_results(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  if (first != 0) add_up<2>(packet, first, last, threads);
}
void add_up_and_throw(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  if (first == 0) throw std::runtime_error("kernel went wrong");
  add_up<2>(packet, first, last, threads);
}
/// Longer than the host polls.
void add_up_slowly(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
  if (first == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  add_up<2>(packet, first, last, threads);
}

jit::ir::Kernel sum_kernel() {
  jit::ir::Kernel kernel;
  kernel.name = "add_up";
  kernel.lanes = 32;
  kernel.leaves = {{jit::ir::Type::i32, 1, true, false}};
  kernel.reductions.resize(2);
  return kernel;
}

/// What no launch has given: -1 each.
std::vector<jit::ReductionValue> unset(std::size_t reductions) {
  jit::ReductionValue x;
  x.add(-1);
  return std::vector(reductions, x);
}

void doze(const std::uint64_t* packet, std::int64_t first, std::int64_t, std::int64_t) {
  if (first != 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  *pointer<std::int32_t>(packet[0]) = 7;
}

/// An array of the device and what a launch of `scale` on it takes.
struct Array {
  Array(GpuDevice& on, std::int64_t n)
      : device(on), sites(n), bytes(static_cast<std::size_t>(n) * 4), memory(on.allocate(bytes)) {
    REQUIRE(memory != nullptr);
    fill(0);
  }
  ~Array() { device.free(memory, bytes); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  void fill(std::int32_t first) {
    std::vector<std::int32_t> x(static_cast<std::size_t>(sites));
    std::iota(x.begin(), x.end(), first);
    device.copy_to_device(memory, x.data(), bytes);
  }
  std::vector<std::int32_t> read() const {
    std::vector<std::int32_t> x(static_cast<std::size_t>(sites));
    device.copy_to_host(x.data(), memory, bytes);
    return x;
  }
  DeviceLaunch launch(const jit::ir::Kernel& kernel, jit::SimtFunction function) {
    DeviceLaunch l;
    l.kernel = &kernel;
    l.code = code_of(function);
    l.fields = {&memory, 1};
    l.scalars = {&factor, kernel.arguments.size()};
    l.end = sites / 32;
    return l;
  }

  GpuDevice& device;
  std::int64_t sites;
  std::size_t bytes;
  void* memory;
  std::uint64_t factor = 2;
};

}  // namespace

TEST_CASE("copies of every size come back, and host memory is free for use when they return") {
  for (const int pinned : {100, 1, 2, 0}) {
    Bench bench({}, pinned);
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{100}, kPiece - 1, kPiece, kPiece + 1, 9 * kPiece + 17}) {
      CAPTURE(pinned);
      CAPTURE(bytes);
      const auto original = noise(bytes);
      auto host = original;
      void* memory = bench.device.allocate(bytes);
      REQUIRE(memory != nullptr);
      bench.device.copy_to_device(memory, host.data(), bytes);
      std::memset(host.data(), 0xEE, bytes);
      bench.device.copy_to_host(host.data(), memory, bytes);
      CHECK((host == original));
      bench.device.free(memory, bytes);
    }
  }
}

TEST_CASE("many small copies do not overtake each other") {
  Bench bench;
  Array x(bench.device, 64);
  for (std::int32_t i = 0; i < 3000; ++i) {
    std::int32_t host = i;
    bench.device.copy_to_device(static_cast<std::byte*>(x.memory) + 4 * (i % 64), &host, 4);
    host = -1;
  }
  const auto result = x.read();
  for (std::int32_t i = 0; i < 64; ++i) CHECK(result[static_cast<std::size_t>(i)] == 2944 + i + (i >= 56 ? -64 : 0));
}

TEST_CASE("rows lie apart on the device and dense on the host") {
  struct Shape {
    std::size_t bytes, pitch;
    int rows;
  };
  for (const int pinned : {100, 0})
    for (const Shape s : {Shape{4, 128, 24}, Shape{12, 12, 100}, Shape{1000, 1500, 5000},
                          Shape{kPiece + 8, kPiece + 40, 3}, Shape{4, 8, 0}}) {
      Bench bench({}, pinned);
      CAPTURE(s.bytes);
      CAPTURE(pinned);
      const std::size_t all = s.pitch * static_cast<std::size_t>(s.rows) + 1,
                        dense = s.bytes * static_cast<std::size_t>(s.rows);
      void* memory = bench.device.allocate(all);
      REQUIRE(memory != nullptr);
      bench.device.clear(memory, all);
      auto rows = noise(dense);
      const auto original = rows;
      bench.device.copy_rows_to_device(memory, s.pitch, rows.data(), s.bytes, s.rows);
      std::fill(rows.begin(), rows.end(), static_cast<unsigned char>(0));

      std::vector<unsigned char> flat(all), expected(all, 0);
      for (std::size_t row = 0; row < static_cast<std::size_t>(s.rows); ++row)
        std::copy_n(original.data() + row * s.bytes, s.bytes, expected.data() + row * s.pitch);
      bench.device.copy_to_host(flat.data(), memory, all);
      CHECK((flat == expected));

      bench.device.copy_rows_to_host(rows.data(), memory, s.pitch, s.bytes, s.rows);
      CHECK((rows == original));
      bench.device.free(memory, all);
    }
}

TEST_CASE("the rows of one site take one call of the driver, and are not counted as a field") {
  Bench bench;
  void* memory = bench.device.allocate(1 << 16);
  const std::vector<float> components(288, 1.5f);
  bench.device.copy_rows_to_device(memory, 128, components.data(), 4, 288);
  CHECK(bench.watched->copies == 1);
  CHECK(bench.device.traffic().to_device.copies == 0);
  std::vector<float> back(288);
  bench.device.copy_rows_to_host(back.data(), memory, 128, 4, 288);
  CHECK(bench.watched->copies == 2);
  CHECK(bench.device.traffic().to_host.copies == 0);
  CHECK((back == components));
  bench.device.free(memory, 1 << 16);
}

TEST_CASE("copies of more than 4 KiB are counted with their bytes") {
  Bench bench;
  std::vector<unsigned char> host(3 * kPiece);
  void* memory = bench.device.allocate(host.size());
  bench.device.copy_to_device(memory, host.data(), host.size());
  bench.device.copy_to_device(memory, host.data(), 4096);
  bench.device.copy_rows_to_device(memory, 200, host.data(), 100, 50);
  CHECK(bench.device.traffic().to_device.copies == 2);
  CHECK(bench.device.traffic().to_device.bytes == host.size() + 5000);
  bench.device.copy_to_host(host.data(), memory, 4097);
  CHECK(bench.device.traffic().to_host.copies == 1);
  CHECK(bench.device.traffic().to_host.bytes == 4097);
  bench.device.free(memory, host.size());
}

TEST_CASE("launches, clears and copies happen in the order of the calls") {
  Bench bench;
  const auto kernel = scale_kernel();
  Array x(bench.device, 32 * 100);
  for (int round = 0; round < 20; ++round) {
    x.fill(round);
    CHECK(bench.device.launch(x.launch(kernel, scale)));
    CHECK(bench.device.launch(x.launch(kernel, scale)));
    const auto result = x.read();
    int wrong = 0;
    for (std::int32_t i = 0; i < 3200; ++i) wrong += result[static_cast<std::size_t>(i)] != 4 * (round + i) + 3;
    CHECK(wrong == 0);
    bench.device.clear(x.memory, 8);
    CHECK(bench.device.launch(x.launch(kernel, scale)));
    CHECK(x.read()[1] == 1);
    bench.device.copy_within(x.memory, static_cast<std::byte*>(x.memory) + 8, 8);
    CHECK(bench.device.launch(x.launch(kernel, scale)));
    const auto last = x.read();
    CHECK(last[0] == last[2]);
    CHECK(last[1] == last[3]);
  }
}

TEST_CASE("one thread per site, in blocks of the size asked for") {
  Bench bench;
  const auto kernel = scale_kernel();
  Array x(bench.device, 32 * 11);
  auto launch = x.launch(kernel, scale);
  launch.begin = 3;
  for (const auto& [block, blocks] : {std::pair{0, 2}, {128, 2}, {256, 1}, {32, 8}, {1024, 1}}) {
    launch.block = block;
    CHECK(bench.device.launch(launch));
    CHECK(bench.watched->launches.back().blocks == static_cast<unsigned>(blocks));
    CHECK(bench.watched->launches.back().threads == static_cast<unsigned>(block != 0 ? block : 128));
  }
  CHECK(x.read()[95] == 95);
  CHECK(x.read()[96] != 96);
}

TEST_CASE("fewer threads where each takes several sites, as many as its code takes of small groups") {
  Bench bench;
  jit::Compiler compiler(jit::make_simt_host_target());
  auto kernel = scale_kernel();
  kernel.nodes = {{.op = jit::ir::Op::load, .type = jit::ir::Type::i32},
                  {.op = jit::ir::Op::argument, .type = jit::ir::Type::i32},
                  {.op = jit::ir::Op::mul, .type = jit::ir::Type::i32, .a = 0, .b = 1}};
  kernel.stores = {{{}, 2}};
  for (int lanes : {32, 2, 1})
    for (int sites : {1, 2, 4}) {
      CAPTURE(lanes);
      CAPTURE(sites);
      kernel.lanes = lanes;
      Array x(bench.device, 32 * 8);
      auto launch = x.launch(kernel, scale);
      launch.code = compiler.compile(kernel, {.sites = sites}).code;
      launch.end = x.sites / lanes;
      launch.sites = sites;
      launch.block = 32;
      REQUIRE(bench.device.launch(launch));
      CHECK(bench.watched->launches.back().blocks == static_cast<unsigned>(8 / std::min(sites, lanes)));
      const std::vector<std::int32_t> now = x.read();
      for (int p = 0; p < 32 * 8; ++p) CHECK(now[static_cast<std::size_t>(p)] == 2 * p);
    }
}

TEST_CASE("the packet holds fields, tables, scalars, lists, sums and domain in this order") {
  Bench bench;
  // Reads no field, so the addresses need not belong to anything but the device.
  const jit::SimtFunction nothing = [](const std::uint64_t* packet, std::int64_t first, std::int64_t last,
                                       std::int64_t threads) { finish_block(packet + 8, 1, last - first, threads); };
  std::vector<std::byte*> at;
  for (int i = 0; i < 6; ++i) at.push_back(static_cast<std::byte*>(bench.device.allocate(256)));
  jit::ir::Kernel kernel;
  kernel.name = "everything";
  kernel.lanes = 32;
  kernel.leaves.resize(2);
  kernel.slots.resize(3);
  kernel.arguments.resize(2);
  kernel.listed = true;
  kernel.reductions.resize(1);
  void* const fields[] = {at[0], at[1]};
  const std::int32_t* const tables[] = {nullptr, reinterpret_cast<std::int32_t*>(at[2]),
                                        reinterpret_cast<std::int32_t*>(at[3])};
  const std::uint64_t scalars[] = {11, 12};
  auto results = unset(1);
  DeviceLaunch launch;
  launch.kernel = &kernel;
  launch.code = code_of(nothing);
  launch.fields = fields;
  launch.tables = tables;
  launch.scalars = scalars;
  launch.groups = reinterpret_cast<std::int32_t*>(at[4]);
  launch.masks = reinterpret_cast<std::uint64_t*>(at[5]);
  launch.begin = 21;
  launch.end = 23;
  launch.results = results.data();
  REQUIRE(bench.device.launch(launch));
  const auto& packet = bench.watched->launches.back().packet;
  REQUIRE(packet.size() == 13);
  const auto bits = [](const void* address) { return reinterpret_cast<std::uint64_t>(address); };
  CHECK((std::vector(packet.begin(), packet.begin() + 8) == std::vector<std::uint64_t>{bits(at[0]), bits(at[1]),
                                                                                       bits(at[2]), bits(at[3]), 11, 12,
                                                                                       bits(at[4]), bits(at[5])}));
  CHECK((std::vector(packet.begin() + 10, packet.end()) == std::vector<std::uint64_t>{1, 21, 23}));
  CHECK(results[0].value() == 0);

  launch.scalars = {};
  CHECK_THROWS_WITH_AS(bench.device.launch(launch), doctest::Contains("kernel everything"), jit::InternalError);
  for (std::byte* address : at) bench.device.free(address, 256);
}

TEST_CASE("sums come back at the end of the launch, from few blocks, and begin at zero each time") {
  for (const std::int64_t pinned : {100, 0}) {  // without pinned memory by a copy
    Bench bench({.most_pinned = pinned});
    const auto kernel = sum_kernel();
    const std::int64_t sites = 32 * 20000;
    Array x(bench.device, sites);
    const auto& gpu = bench.watched->properties();
    const auto traffic = bench.device.traffic().to_host.copies;
    for (const int block : {0, 64, 1024})
      for (int again = 0; again < 2; ++again) {
        auto results = unset(2);
        auto launch = x.launch(kernel, add_up<2>);
        launch.block = block;
        launch.results = results.data();
        const int copies = bench.watched->copies;
        REQUIRE(bench.device.launch(launch));
        CHECK(results[0].value() == static_cast<double>(sites) * static_cast<double>(sites - 1) / 2);
        CHECK(results[1].value() == static_cast<double>(sites));
        CHECK(bench.watched->copies == copies + (pinned == 0 ? 1 : 0));
        CHECK(bench.watched->clears == 1);
        const auto& done = bench.watched->launches.back();
        CHECK(done.blocks * done.threads ==
              static_cast<unsigned>(gpu.threads_per_multiprocessor * gpu.multiprocessors));
      }
    CHECK(bench.device.traffic().to_host.copies == traffic);
  }
}

TEST_CASE("more reductions than memory is ready for") {
  for (const std::int64_t pinned : {100, 1, 0})
    for (const bool few_first : {false, true}) {
      CAPTURE(pinned);
      CAPTURE(few_first);
      Bench bench({.most_pinned = pinned});
      auto few = sum_kernel(), many = sum_kernel();
      many.reductions.resize(300);
      Array x(bench.device, 3200);
      auto results = unset(300);
      for (int again = 0; again < 4; ++again) {
        const bool is_many = (again % 2 == 0) != few_first;
        results = unset(300);
        auto launch = is_many ? x.launch(many, add_up<300>) : x.launch(few, add_up<2>);
        launch.results = results.data();
        REQUIRE(bench.device.launch(launch));
        CHECK(results[1].value() == 3200);
        CHECK(results[299].value() == (is_many ? 0 : -1));
      }
      // Before the first sum; and the larger memory, which does not begin at zero as the smaller one was left.
      CHECK(bench.watched->clears == (few_first ? 2 : 1));
    }
}

TEST_CASE("after whatever went wrong with a sum the next one begins at zero") {
  for (const std::int64_t pinned : {100, 0}) {
    CAPTURE(pinned);
    // The first sum of this bench clears, one may be refused, and one has a block that is too large.
    Bench bench({.largest_block = 64, .failing_launch = 2, .most_pinned = pinned});
    const auto kernel = sum_kernel();
    Array x(bench.device, 32 * 64);
    auto results = unset(2);
    auto launch = x.launch(kernel, add_up<2>);
    launch.results = results.data();
    launch.block = 64;
    const auto is_right = [&] {
      std::ranges::copy(unset(2), results.begin());
      return bench.device.launch(launch) && results[0].value() == 2048 * 2047 / 2 && results[1].value() == 2048;
    };
    CHECK(is_right());
    CHECK_THROWS_WITH_AS(is_right(), doctest::Contains("[kernel add_up, 2048 sites, block 64]"), DeviceError);
    CHECK(is_right());

    launch.block = 128;
    CHECK(!bench.device.launch(launch));
    launch.block = 0;  // begins with 128 and finds 64
    CHECK(is_right());
    CHECK(is_right());

    launch.code = code_of(add_up_without_results);
    CHECK_THROWS_WITH_AS(is_right(), doctest::Contains("sums of kernel add_up, 2048 sites"), jit::InternalError);
    launch.code = code_of(add_up<2>);
    CHECK(is_right());

    jit::set_simulated_faults({.copies = 1});  // there is something to copy or to clear
    launch.code = code_of(add_up_without_results);
    CHECK_THROWS(is_right());
    launch.code = code_of(add_up<2>);
    if (pinned == 0)
      CHECK(is_right());
    else
      CHECK_THROWS_WITH_AS(is_right(), doctest::Contains("simulated fault: copy"), DeviceError);
    CHECK(is_right());

    // What a kernel does is over for CUDA and for the simulated driver alike.
    launch.code = code_of(add_up_and_throw);
    CHECK_THROWS_WITH_AS(is_right(), doctest::Contains("kernel went wrong"), jit::InternalError);
    bench.watched->lost = true;
  }
}

TEST_CASE("a sum that takes longer than the host polls, and one that was waited for already") {
  for (const std::int64_t pinned : {100, 0})
    for (const char* sync : {"0", "1"}) {
      Setting setting("TESSERA_SYNC", sync);
      Bench bench({.most_pinned = pinned});
      const auto kernel = sum_kernel();
      Array x(bench.device, 32 * 64);
      for (const jit::SimtFunction function : {add_up_slowly, add_up<2>, add_up_slowly}) {
        auto results = unset(2);
        auto launch = x.launch(kernel, function);
        launch.results = results.data();
        REQUIRE(bench.device.launch(launch));
        CHECK(results[0].value() == 2048 * 2047 / 2);
      }
    }
}

TEST_CASE("thousands of sums, one after the other, between launches that change what is added") {
  for (const std::int64_t pinned : {100, 0}) {
    Bench bench({.most_pinned = pinned});
    const auto few = sum_kernel(), scaling = scale_kernel();
    auto many = few;
    many.reductions.resize(70);
    Array x(bench.device, 32 * 40);
    x.factor = 1;
    int wrong = 0;
    auto results = unset(70);
    for (int round = 1; round <= 5000; ++round) {
      REQUIRE(bench.device.launch(x.launch(scaling, scale)));  // adds 1 to each
      const std::int64_t groups = 1 + round % 40;
      auto launch = round % 7 == 0 ? x.launch(many, add_up<70>) : x.launch(few, add_up<2>);
      launch.end = groups;
      launch.block = 32 << round % 6;
      launch.results = results.data();
      REQUIRE(bench.device.launch(launch));
      const std::int64_t n = 32 * groups;
      wrong += results[0].value() != static_cast<double>(n * (n - 1) / 2 + n * round);
      wrong += results[1].value() != static_cast<double>(n);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an empty domain launches nothing and has the results of nothing") {
  Bench bench;
  auto kernel = sum_kernel();
  using Kind = jit::ir::Reduction::Kind;
  kernel.reductions = {{Kind::sum, 0}, {Kind::max, 0}, {Kind::min, 0}};
  Array x(bench.device, 32);
  auto results = unset(3);
  auto launch = x.launch(kernel, add_up<2>);
  launch.begin = launch.end;
  launch.results = results.data();
  CHECK(bench.device.launch(launch));
  CHECK(bench.watched->launches.empty());
  CHECK(results[0].value() == 0);
  CHECK(results[1].value() == -std::numeric_limits<double>::infinity());
  CHECK(results[2].value() == std::numeric_limits<double>::infinity());
}

TEST_CASE("sums of more sites than the bins can hold are refused") {
  Bench bench;
  const auto kernel = sum_kernel();
  Array x(bench.device, 32);
  auto launch = x.launch(kernel, add_up<2>);
  launch.end = (GpuDevice::kMostSummands >> 5) + 1;
  CHECK_THROWS_WITH_AS(bench.device.launch(launch), doctest::Contains("2^34 summands"), DeviceError);
  CHECK(bench.watched->launches.empty());
}

TEST_CASE("a block that is too large does nothing; without a wish the device finds one that fits") {
  Bench bench({.largest_block = 64});
  const auto kernel = scale_kernel();
  Array x(bench.device, 32 * 8);
  auto launch = x.launch(kernel, scale);
  launch.block = 128;
  CHECK(!bench.device.launch(launch));
  CHECK(x.read()[5] == 5);
  launch.block = 64;
  CHECK(bench.device.launch(launch));
  CHECK(x.read()[5] == 11);
  launch.block = 0;
  CHECK(bench.device.launch(launch));
  CHECK(bench.watched->launches.back().threads == 64);
  CHECK(x.read()[5] == 23);

  Bench none({.largest_block = 16});
  Array y(none.device, 32);
  CHECK_THROWS_WITH_AS(none.device.launch(y.launch(kernel, scale)),
                       doctest::Contains("launch of kernel scale, 32 sites"), DeviceError);
}

TEST_CASE("the blocks that may be asked for") {
  Bench bench;
  CHECK((std::vector(bench.device.blocks().begin(), bench.device.blocks().end()) ==
         std::vector<int>{1024, 512, 256, 128, 64, 32}));
}

TEST_CASE("a refused launch names kernel, sites and block, and the next one runs") {
  Bench bench({.failing_launch = 2});
  const auto kernel = scale_kernel();
  Array x(bench.device, 64);
  auto launch = x.launch(kernel, scale);
  launch.block = 256;
  CHECK(bench.device.launch(launch));
  CHECK_THROWS_WITH_AS(bench.device.launch(launch), doctest::Contains("[kernel scale, 64 sites, block 256]"),
                       DeviceError);
  CHECK(bench.device.launch(launch));
  CHECK(x.read()[5] == 23);
}

TEST_CASE("a failed copy names the last kernel, and the device goes on") {
  // One copy per Array, then 5 parts, the third of which fails.
  for (const bool in : {true, false}) {
    Bench bench({.failing_copy = 1 + 3});
    const auto kernel = scale_kernel();
    Array x(bench.device, 64);
    CHECK(bench.device.launch(x.launch(kernel, scale)));
    std::vector<unsigned char> host(5 * kPiece, 1);
    void* memory = bench.device.allocate(host.size());
    const auto copy = [&] {
      in ? bench.device.copy_to_device(memory, host.data(), host.size())
         : bench.device.copy_to_host(host.data(), memory, host.size());
    };
    CHECK_THROWS_WITH_AS(copy(), doctest::Contains("after kernel scale, 64 sites, block 128"), DeviceError);
    CHECK_NOTHROW(copy());
    CHECK(x.read()[5] == 11);
    bench.device.free(memory, host.size());
  }
}

TEST_CASE("what goes wrong in a kernel is told by the next call that waits, or at once with TESSERA_SYNC=1") {
  const auto kernel = scale_kernel();
  for (const bool sync : {false, true}) {
    Setting setting("TESSERA_SYNC", sync ? "1" : "0");
    Bench bench;
    Array x(bench.device, 64);
    auto launch = x.launch(kernel, scale);
    bench.watched->failing_synchronization = true;
    if (sync) {
      CHECK_THROWS_WITH_AS(bench.device.launch(launch), doctest::Contains("fell off the bus [kernel scale, 64 sites"),
                           DeviceError);
    } else {
      CHECK(bench.device.launch(launch));
      CHECK_THROWS_WITH_AS(bench.device.synchronize(),
                           doctest::Contains("after kernel scale, 64 sites, block 128; TESSERA_SYNC=1"), DeviceError);
    }
    bench.watched->failing_synchronization = false;
  }
}

TEST_CASE("memory is not given back while a launch uses it") {
  Bench bench;
  auto kernel = scale_kernel();
  for (int i = 0; i < 3; ++i) {
    Array x(bench.device, 32);
    REQUIRE(bench.device.launch(x.launch(kernel, doze)));
  }
  CHECK_NOTHROW(bench.device.synchronize());  // the simulated driver keeps the error of a free too early
}

TEST_CASE("allocation ends with nullptr, and the capacity is what can be had") {
  Bench bench({.memory = 16 << 20});
  CHECK(bench.device.capacity() <= 16 << 20);
  CHECK(bench.device.capacity() > 15 << 20);
  void* all = bench.device.allocate(bench.device.capacity());
  CHECK(all != nullptr);
  CHECK(bench.device.allocate(256) == nullptr);
  bench.device.free(all, bench.device.capacity());
}

TEST_CASE("marks measure the time between launches and are used again") {
  Bench bench;
  auto kernel = scale_kernel();
  Array x(bench.device, 32);
  for (int i = 0; i < 10; ++i) {
    const auto from = bench.device.mark();
    REQUIRE(bench.device.launch(x.launch(kernel, doze)));
    const auto to = bench.device.mark();
    CHECK(bench.device.seconds_between(from, to) >= 0.005);
    CHECK(std::max(from, to) < 3);
    bench.device.drop(bench.device.mark());
  }
  CHECK(!bench.device.marks_are_free());
}

TEST_CASE("the time of a launch is not that of its operands' way") {
  Bench bench;
  const auto kernel = scale_kernel();
  Array x(bench.device, 3200);  // a large copy, in another stream
  CHECK(bench.watched->waits == 0);
  const auto from = bench.device.mark();
  CHECK(bench.watched->waits == 1);
  REQUIRE(bench.device.launch(x.launch(kernel, scale)));
  CHECK(bench.watched->waits == 1);
  bench.device.drop(from);
}

TEST_CASE("the device has the name it was opened with, a model, and a host") {
  Bench bench;
  CHECK(bench.device.name() == "sim");
  CHECK(bench.device.model() == bench.watched->properties().model);
  CHECK(!bench.device.host_accessible());
  CHECK(bench.device.host().host_accessible());
  bench.device.set_threads(3);
  CHECK(bench.device.threads() == 3);
  std::atomic<std::int64_t> seen{0};
  const jit::Range range{0, 1000};
  bench.device.parallel_for({&range, 1}, [&](std::int64_t begin, std::int64_t end) { seen += end - begin; });
  CHECK(seen == 1000);
}

TEST_CASE("bounds on registers are where one more block fits a multiprocessor, down to what all its threads can have") {
  const Bench bench({}, 1);
  const auto bounds = [&](int registers, int block) { return bench.device.register_bounds(registers, block); };
  CHECK((bounds(64, 128) == std::vector<int>{56, 48, 40, 32}));
  CHECK((bounds(61, 128) == std::vector<int>{56, 48, 40, 32}));  // given in units of 8
  CHECK((bounds(64, 256) == std::vector<int>{48, 40, 32}));
  CHECK((bounds(255, 512) == std::vector<int>{128, 64, 40, 32}));  // 256 do not fit
  CHECK((bounds(128, 1024) == std::vector<int>{64, 32}));
  CHECK(bounds(32, 128).empty());
  CHECK(bounds(16, 32).empty());
  CHECK(bounds(0, 128).empty());  // not known
}
