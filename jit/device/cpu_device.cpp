#include "jit/device/cpu_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "jit/codegen/codegen.hpp"
#include "jit/support/clock.hpp"

namespace jit {
namespace {

std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  file >> number;  // "max" leaves 0: no limit
  return number;
}

/// Physical memory, or the limit of the container.
std::size_t usable_memory() {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const std::uint64_t limit = number_in(path); limit > 0) bytes = std::min(bytes, limit);
  return bytes;
}

KernelFunction function_of(const DeviceLaunch& launch) {
  return reinterpret_cast<KernelFunction>(const_cast<void*>(launch.code));
}

/// This thread's share of each range.
void run_shares(KernelFunction function, const LaunchArguments& arguments, std::span<const Range> ranges, int thread,
                int threads) {
  for (const Range& range : ranges) {
    const Share part = share(range.begin, range.end, thread, threads);
    if (part.begin < part.end) function(&arguments, part.begin, part.end);
  }
}

LaunchArguments arguments_of(const DeviceLaunch& launch, SumAccumulator* sums) {
  return {.fields = launch.fields.data(),
          .tables = launch.tables.data(),
          .scalars = launch.scalars.data(),
          .groups = launch.groups,
          .masks = launch.masks,
          .sums = sums};
}

}  // namespace

CpuDevice::CpuDevice() : pool_(ThreadPool::default_threads()), capacity_(usable_memory()) { start_clock(); }

/// What Linux calls the processor; other systems, and some architectures, do not tell.
std::string CpuDevice::model() const {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return name();
}

std::unique_ptr<Target> CpuDevice::make_target() { return make_cpu_target(); }
int CpuDevice::lanes() const { return native_lanes(); }

void* CpuDevice::allocate(std::size_t bytes) {
  if (HugePages::suit(bytes)) return pages_.allocate(bytes);
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void CpuDevice::free(void* address, std::size_t bytes) noexcept {
  if (HugePages::suit(bytes))
    pages_.free(address, bytes);
  else
    std::free(address);
}

void* CpuDevice::exchange(std::span<const OldBlock> old, std::size_t bytes, std::size_t keep) {
  // Asked only now: a rank has its share of the processors by its communicator.
  if (!old.empty() && !pages_may_move_) pages_may_move_ = on_one_numa_domain(processors_of(pool_.threads()));
  for (const OldBlock& block : old)
    HugePages::suit(block.bytes) && *pages_may_move_ ? pages_.take(block) : free(block.address, block.bytes);
  void* const block = allocate(bytes);
  pages_.keep_at_most(keep);
  return block;
}

void CpuDevice::clear(void* address, std::size_t bytes) { std::memset(address, 0, bytes); }
void CpuDevice::copy_within(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void CpuDevice::copy_to_device(void* device, const void* host, std::size_t bytes) { std::memcpy(device, host, bytes); }
void CpuDevice::copy_to_host(void* host, const void* device, std::size_t bytes) { std::memcpy(host, device, bytes); }

void CpuDevice::copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) {
  auto* to = static_cast<char*>(device);
  const auto* from = static_cast<const char*>(host);
  for (int row = 0; row < rows; ++row, to += pitch, from += bytes) std::memcpy(to, from, bytes);
}

void CpuDevice::copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) {
  auto* to = static_cast<char*>(host);
  const auto* from = static_cast<const char*>(device);
  for (int row = 0; row < rows; ++row, to += bytes, from += pitch) std::memcpy(to, from, bytes);
}

bool CpuDevice::launch(const DeviceLaunch& launch) {
  const LaunchArguments arguments = arguments_of(launch, nullptr);
  if (!launch.kernel->reductions.empty())
    reduce(launch, arguments);
  else
    run(launch, arguments);
  if (launch.finished != nullptr) *launch.finished = mark();
  return true;
}

void CpuDevice::run(const DeviceLaunch& launch, const LaunchArguments& arguments) {
  const KernelFunction function = function_of(launch);
  const std::array<Range, 2> ranges = halves(launch.middle, launch.begin, launch.end);
  if (!launch.parallel || pool_.threads() == 1)
    run_shares(function, arguments, ranges, 0, 1);
  else
    pool_.run([&](int thread) { run_shares(function, arguments, ranges, thread, pool_.threads()); });
}

/// Each thread has its own accumulators, of limited capacity: an enormous domain is run in pieces.
void CpuDevice::reduce(const DeviceLaunch& launch, LaunchArguments arguments) {
  const auto& reductions = launch.kernel->reductions;
  const int threads = launch.parallel ? pool_.threads() : 1;
  const std::int64_t piece = kMaxAdditions / launch.kernel->trips;
  const auto pieces =
      static_cast<std::size_t>(std::max<std::int64_t>(1, (launch.end - launch.begin + piece - 1) / piece));
  const std::size_t rows = pieces * static_cast<std::size_t>(threads), width = reductions.size();
  if (sums_.size() < rows * width) sums_.resize(rows * width);
  for (std::size_t i = 0; i < rows * width; ++i) reset(sums_[i], reductions[i % width].kind);

  const KernelFunction function = function_of(launch);
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::int64_t begin = launch.begin + static_cast<std::int64_t>(p) * piece;
    const std::array<Range, 2> ranges = halves(launch.middle, begin, std::min(begin + piece, launch.end));
    const auto work = [&](int thread) {
      LaunchArguments mine = arguments;
      mine.sums = sums_.data() + (p * static_cast<std::size_t>(threads) + static_cast<std::size_t>(thread)) * width;
      run_shares(function, mine, ranges, thread, threads);
    };
    threads == 1 ? work(0) : pool_.run(work);
  }
  for (std::size_t r = 0; r < width; ++r) {
    ReductionValue& result = launch.results[r] = ReductionValue(reductions[r].kind);
    for (std::size_t row = 0; row < rows; ++row) result.add(sums_[row * width + r]);
  }
}

namespace {

// What one launch brings into a cache of the second level, of which each thread has 256 KiB at least, before the next one.
constexpr std::int64_t kBytesPerPiece = 64 << 10, kMostGroupsPerPiece = 16;

std::int64_t groups_per_piece(const DeviceLaunch& launch) {
  std::int64_t bytes = 0;
  for (const ir::Leaf& leaf : launch.kernel->leaves)
    bytes += std::int64_t{leaf.components} * ir::bytes(leaf.word) * launch.kernel->lanes;
  return std::clamp<std::int64_t>(kBytesPerPiece / std::max<std::int64_t>(bytes, 1), 1, kMostGroupsPerPiece);
}

}  // namespace

bool CpuDevice::interleaves(const DeviceLaunch& launch) const {
  return launch.end - launch.begin <= kMaxAdditions / launch.kernel->trips;
}

void CpuDevice::launch_interleaved(std::span<const DeviceLaunch> launches) {
  std::size_t width = 0;  // accumulators of one thread
  std::int64_t piece = kMostGroupsPerPiece;
  bool parallel = false;
  for (const DeviceLaunch& launch : launches) {
    width += launch.kernel->reductions.size();
    piece = std::min(piece, groups_per_piece(launch));
    parallel |= launch.parallel;
  }
  const int threads = parallel ? pool_.threads() : 1;
  const std::size_t rows = static_cast<std::size_t>(threads);
  if (sums_.size() < rows * width) sums_.resize(rows * width);
  std::size_t at = 0;
  for (int thread = 0; thread < threads; ++thread)
    for (const DeviceLaunch& launch : launches)
      for (const ir::Reduction& reduction : launch.kernel->reductions) reset(sums_[at++], reduction.kind);

  const std::array<Range, 2> ranges = halves(launches[0].middle, launches[0].begin, launches[0].end);
  const auto work = [&](int thread) {
    std::vector<LaunchArguments> arguments;
    SumAccumulator* sums = sums_.data() + static_cast<std::size_t>(thread) * width;
    for (const DeviceLaunch& launch : launches) {
      arguments.push_back(arguments_of(launch, sums));
      sums += launch.kernel->reductions.size();
    }
    for (const Range& range : ranges) {
      const Share part = share(range.begin, range.end, thread, threads);
      for (std::int64_t begin = part.begin; begin < part.end; begin += piece)
        for (std::size_t i = 0; i < launches.size(); ++i)
          function_of(launches[i])(&arguments[i], begin, std::min(begin + piece, part.end));
    }
  };
  threads == 1 ? work(0) : pool_.run(work);

  at = 0;
  for (const DeviceLaunch& launch : launches)
    for (std::size_t r = 0; r < launch.kernel->reductions.size(); ++r, ++at) {
      ReductionValue& result = launch.results[r] = ReductionValue(launch.kernel->reductions[r].kind);
      for (std::size_t row = 0; row < rows; ++row) result.add(sums_[row * width + at]);
    }
}

Device::Mark CpuDevice::mark() { return ticks(); }
double CpuDevice::seconds_between(Mark from, Mark to) { return static_cast<double>(to - from) * seconds_per_tick(to); }

void CpuDevice::parallel_for(std::span<const Range> ranges,
                             const std::function<void(std::int64_t, std::int64_t)>& body) {
  pool_.run([&](int thread) {
    for (const Range& range : ranges) {
      const Share part = share(range.begin, range.end, thread, pool_.threads());
      if (part.begin < part.end) body(part.begin, part.end);
    }
  });
}

}  // namespace jit
