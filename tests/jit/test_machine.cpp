// The rates of a machine: what they count, on a device of which the time is known; and what it is taken for by its rates of reading.
#include "jit/tune/machine.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "jit/device/cpu_device.hpp"

using namespace jit;

namespace {

constexpr double kSeconds = 0.0625;

/// Touches no memory. Its clock says that each launch and each copy took that long; passes of the host's threads do.
class Leisurely : public CpuDevice {
 public:
  void clear(void*, std::size_t) override {}
  void copy_within(void*, const void*, std::size_t bytes) override { copied = bytes; }
  void parallel_for(std::span<const Range>, const std::function<void(std::int64_t, std::int64_t)>&) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
  }
  bool launch(const DeviceLaunch& launch) override {
    double multiply_adds = 0;
    for (const ir::Node& node : launch.kernel->nodes) multiply_adds += node.op == ir::Op::fma;
    flops = 2 * multiply_adds * static_cast<double>((launch.end - launch.begin) * launch.kernel->lanes);
    return true;
  }
  double seconds_between(Mark, Mark) override { return kSeconds; }

  std::size_t copied = 0;
  double flops = 0;  ///< of the last launch
};

/// Sets of 2, 4, 8 ... bytes at these rates.
std::size_t knee(const std::vector<double>& rates) {
  std::vector<ReadingRate> all;
  for (std::size_t i = 0; i < rates.size(); ++i) all.push_back({std::size_t{2} << i, rates[i]});
  return knee_of(all);
}

}  // namespace

TEST_CASE("the bandwidth counts the three arrays of a triad") {
  Leisurely device;
  Compiler compiler(device.make_target());
  const std::size_t array = std::size_t{48} << 20;  // the least, as no set is read faster than the largest
  const double most = 3.0 * static_cast<double>(array) / kSeconds, rate = measure_bandwidth(device, compiler);
  CHECK(rate <= 1.01 * most);
  CHECK(rate > 0.75 * most);  // the best of several passes took hardly longer than it had to
}

TEST_CASE("a copy counts what it reads and what it writes") {
  Leisurely device;
  const double rate = measure_copies(device);
  CHECK(device.copied > 1 << 20);
  CHECK(rate == 2.0 * static_cast<double>(device.copied) / kSeconds);
}

TEST_CASE("the rate of arithmetic counts two operations for each fused multiply-add of each site") {
  Leisurely device;
  Compiler compiler(device.make_target());
  for (const ir::Type word : {ir::Type::f32, ir::Type::f64}) {
    const double rate = measure_arithmetic(device, compiler, word);
    CHECK(device.flops > 1e9);
    CHECK(rate == doctest::Approx(device.flops / kSeconds).epsilon(1e-12));
  }
}

TEST_CASE("caches hold the largest set that is read clearly faster than from memory") {
  CHECK(knee({90, 88, 60, 31, 30, 15, 10, 10}) == 64);  // two levels and memory: 2^6 is the last above 13
  CHECK(knee({90, 88, 60, 31, 30, 12, 10, 10}) == 32);  // half in cache is not clearly faster
  CHECK(knee({30, 29, 31, 30, 28, 30, 30, 30}) == 2);   // nothing is seen
  CHECK(knee({10, 12, 40, 40, 40, 12, 10, 10}) == 32);  // the first was disturbed
  CHECK(knee({90, 60, 30, 30, 30, 12, 12, 7}) == 32);   // and here the last
  CHECK(knee({10}) == 2);
}

TEST_CASE("a machine's caches hold some MiB, and no more than was tried") {
  for (const int threads : {1, 2}) {
    CpuDevice device;
    device.set_threads(threads);
    const std::vector<ReadingRate> rates = measure_reading(device);
    for (std::size_t i = 1; i < rates.size(); ++i) CHECK(rates[i].bytes == 2 * rates[i - 1].bytes);
    const std::size_t bytes = knee_of(rates);
    CHECK(bytes >= std::size_t{1} << 20);
    CHECK(bytes < std::size_t{256} << 20);
  }
}
