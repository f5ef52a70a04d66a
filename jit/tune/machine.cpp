#include "jit/tune/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/support/bytes.hpp"
#include "jit/support/clock.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLargestSet = 256 * kMiB;

double measure_on_host(Device& device) {
  const std::size_t bytes = std::clamp(2 * knee_of(measure_reading(device)), 48 * kMiB, kLargestSet);
  double* arrays[3] = {};
  for (double*& array : arrays) array = static_cast<double*>(device.allocate(bytes));
  double best = 0;
  if (arrays[0] != nullptr && arrays[1] != nullptr && arrays[2] != nullptr) {
    const auto n = static_cast<std::int64_t>(bytes / sizeof(double));
    const Range all{0, n};
    device.parallel_for({&all, 1}, [&](std::int64_t begin, std::int64_t end) {
      for (double* array : arrays) std::fill(array + begin, array + end, 1.0);
    });
    double fastest = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 7; ++pass) {
      const std::uint64_t start = ticks();
      device.parallel_for({&all, 1}, [&](std::int64_t begin, std::int64_t end) {
        double* __restrict a = arrays[0];
        const double* __restrict b = arrays[1];
        const double* __restrict c = arrays[2];
        for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 0.5 * c[i];
      });
      fastest = std::min(fastest, static_cast<double>(ticks() - start));
    }
    best = 3 * static_cast<double>(bytes) / (fastest * seconds_per_tick());
  }
  for (double* array : arrays)
    if (array != nullptr) device.free(array, bytes);
  return best;
}

/// a = b + s c, one double per site.
ir::Kernel triad_kernel(int lanes) {
  ir::Kernel kernel;
  kernel.name = "triad";
  kernel.lanes = lanes;
  kernel.leaves = {{.word = ir::Type::f64, .written = true},
                   {.word = ir::Type::f64, .read = true},
                   {.word = ir::Type::f64, .read = true}};
  ir::Builder builder(kernel);
  const ir::Value factor = builder.argument(ir::Type::f64);
  const ir::Value b = builder.load({.leaf = 1}), c = builder.load({.leaf = 2});
  kernel.stores = {{.place = {.leaf = 0}, .value = builder.fma(factor, c, b)}};
  builder.finish();
  return kernel;
}

constexpr double kEnoughSeconds = 0.5;  // for one rate

// Compilers put one chain behind the other: short ones, so that a processor that looks some hundred operations ahead has many at work.
constexpr int kChains = 16, kLinks = 16;

/// kChains independent chains of kLinks fused multiply-adds per site, and their sum.
ir::Kernel arithmetic_kernel(int lanes, ir::Type word) {
  ir::Kernel kernel;
  kernel.name = "multiply_add";
  kernel.lanes = lanes;
  kernel.leaves = {{.word = word, .written = true}, {.word = word, .read = true}};
  ir::Builder builder(kernel);
  const ir::Value factor = builder.argument(word), summand = builder.load({.leaf = 1});
  ir::Value chain[kChains];
  for (int k = 0; k < kChains; ++k) chain[k] = builder.mul(summand, builder.constant(word, k + 1));
  for (int n = 0; n < kLinks; ++n)
    for (ir::Value& value : chain) value = builder.fma(value, factor, summand);
  for (int k = 1; k < kChains; ++k) chain[0] = builder.add(chain[0], chain[k]);
  kernel.stores = {{.place = {.leaf = 0}, .value = chain[0]}};
  builder.finish();
  return kernel;
}

/// Sites per second of a kernel whose leaves have one word each, on `sites` sites; its one argument is 1/2. The best of a
/// few passes at the best size of blocks; 0 if there is no memory.
double measure_rate(Device& device, Compiler& compiler, const ir::Kernel& kernel, std::int64_t sites) {
  const ir::Type word = kernel.leaves.front().word;
  const auto bytes = static_cast<std::size_t>(sites) * static_cast<std::size_t>(ir::bytes(word));
  std::vector<void*> arrays;
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i) arrays.push_back(device.allocate(bytes));
  double best = 0;
  if (std::find(arrays.begin(), arrays.end(), nullptr) == arrays.end()) {
    const double half = 0.5;
    const float half_single = 0.5f;
    std::uint64_t scalar = 0;
    word == ir::Type::f32 ? std::memcpy(&scalar, &half_single, sizeof half_single)
                          : std::memcpy(&scalar, &half, sizeof half);
    const std::int32_t* const no_table = nullptr;
    DeviceLaunch launch;
    launch.kernel = &kernel;
    launch.code = compiler.compile(kernel, {}).code;
    launch.fields = arrays;
    launch.tables = {&no_table, 1};
    launch.scalars = {&scalar, 1};
    launch.end = sites / kernel.lanes;
    launch.middle = launch.end / 2;
    for (void* array : arrays) device.clear(array, bytes);
    double spent = 0;  // a simulated GPU takes its time: then one pass must do
    static constexpr int kNoChoice[] = {0};
    const auto blocks = device.blocks().empty() ? std::span<const int>(kNoChoice) : device.blocks();
    for (const int block : blocks) {
      launch.block = block;
      for (int pass = 0; pass < 4 && spent < kEnoughSeconds; ++pass) {
        const Device::Mark from = device.mark();
        const bool ran = device.launch(launch);
        const double seconds = device.seconds_between(from, device.mark());
        spent += seconds;
        if (ran && (pass > 0 || spent >= kEnoughSeconds)) best = std::max(best, static_cast<double>(sites) / seconds);
      }
    }
  }
  device.synchronize();
  for (void* array : arrays)
    if (array != nullptr) device.free(array, bytes);
  return best;
}

}  // namespace

std::size_t knee_of(std::span<const ReadingRate> rates) {
  constexpr double kClearly = 1.3;
  // The better of the last two, since one may have been disturbed.
  const double of_memory =
      std::max(rates.back().rate, rates[rates.size() - std::min<std::size_t>(rates.size(), 2)].rate);
  std::size_t knee = rates.front().bytes;
  for (const ReadingRate& one : rates)
    if (one.rate >= kClearly * of_memory) knee = one.bytes;
  return knee;
}

std::vector<ReadingRate> measure_reading(Device& device) {
  const std::size_t most = std::min(kLargestSet, device.capacity() / 16);
  const std::size_t least = std::min(kMiB * static_cast<std::size_t>(device.threads()), most);
  auto* const words = static_cast<std::uint64_t*>(device.allocate(most));
  if (words == nullptr) return {{least, 1}};
  std::vector<ReadingRate> rates;
  std::atomic<std::uint64_t> sink = 0;
  std::size_t filled = 0;
  for (std::size_t bytes = least; bytes <= most; bytes *= 2) {
    const auto n = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
    const Range fresh{static_cast<std::int64_t>(std::exchange(filled, bytes) / sizeof(std::uint64_t)), n}, all{0, n};
    device.parallel_for({&fresh, 1},
                        [&](std::int64_t begin, std::int64_t end) { std::fill(words + begin, words + end, 1); });
    // As many bytes at each size: small sets are gone through more often.
    const auto rounds = static_cast<int>(std::max<std::size_t>(32 * kMiB / bytes, 1));
    // Large sets take most of the time, and need no first pass that brings them into a cache.
    const bool large = bytes >= 64 * kMiB;
    const int passes = large ? 2 : 4;
    double fastest = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < passes; ++pass) {
      const std::uint64_t start = ticks();
      device.parallel_for({&all, 1}, [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t sum = 0;
        for (int round = 0; round < rounds; ++round) {
          for (std::int64_t i = begin; i < end; ++i) sum += words[i];
          asm volatile("" : "+r"(sum) : : "memory");  // each round reads
        }
        sink += sum;
      });
      if (large || pass > 0) fastest = std::min(fastest, static_cast<double>(ticks() - start));
    }
    rates.push_back({bytes, static_cast<double>(bytes) * rounds / (fastest * seconds_per_tick())});
  }
  device.free(words, most);
  std::string text;
  for (const ReadingRate& one : rates)
    text += " " + format_bytes(one.bytes) + " " + std::to_string(static_cast<int>(one.rate * 1e-9)) + " GB/s,";
  log_info("tune", "reading", text, " so caches hold ", format_bytes(knee_of(rates)));
  return rates;
}

double measure_bandwidth(Device& device, Compiler& compiler) {
  if (device.host_accessible()) return measure_on_host(device);
  const std::size_t bytes = std::min(std::size_t{1} << 30, device.capacity() / 8);
  return 24 * measure_rate(device, compiler, triad_kernel(device.lanes()),
                           static_cast<std::int64_t>(bytes / sizeof(double)));
}

double measure_copies(Device& device) {
  const std::size_t bytes = std::min(std::size_t{1} << 30, device.capacity() / 8);
  void *from = device.allocate(bytes), *to = device.allocate(bytes);
  double best = 0;
  if (from != nullptr && to != nullptr) {
    device.clear(from, bytes);
    device.clear(to, bytes);
    double spent = 0;
    for (int pass = 0; pass < 10 && spent < kEnoughSeconds; ++pass) {
      const Device::Mark start = device.mark();
      device.copy_within(to, from, bytes);
      const double seconds = device.seconds_between(start, device.mark());
      spent += seconds;
      best = std::max(best, 2 * static_cast<double>(bytes) / seconds);
    }
  }
  for (void* array : {from, to})
    if (array != nullptr) device.free(array, bytes);
  return best;
}

double measure_arithmetic(Device& device, Compiler& compiler, ir::Type word) {
  const std::size_t bytes = std::min(std::size_t{1} << 24, device.capacity() / 8);
  return 2.0 * kChains * kLinks *
         measure_rate(device, compiler, arithmetic_kernel(device.lanes(), word),
                      static_cast<std::int64_t>(bytes) / ir::bytes(word));
}

}  // namespace jit
