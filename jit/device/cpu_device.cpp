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

namespace {

// What a thread takes at once. Where the other checkerboard or launches side by side read the same, so much that they find it in a cache
// of the second level, of which each thread has 256 KiB at least; else more, as a call costs something.
constexpr std::int64_t kBytesPerPiece = 64 << 10, kBytesPerStream = 512 << 10;

// Waking a hot team costs 0.2 us and its end as much again; below this much work on one thread it does not pay.
constexpr double kParallelNanoseconds = 1500;
// Of work in the last pieces: a call and its piece cost a tenth of it.
constexpr double kNanosecondsPerPiece = 500;

bool is_parallel(const DeviceLaunch& launch) {
  return launch.nanoseconds * static_cast<double>(launch.end - launch.begin) > kParallelNanoseconds;
}

std::int64_t bytes_per_group(const ir::Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const ir::Leaf& leaf : kernel.leaves)
    bytes += std::int64_t{leaf.components} * ir::bytes(leaf.word) * kernel.lanes;
  return std::max<std::int64_t>(bytes, 1);
}

bool reads_other_sites(const ir::Kernel& kernel) { return kernel.slots.size() > 1; }

/// Of zeros of both signs an extremum is the one that a thread meets first: the same in every run only if its groups are.
bool has_extrema(const ir::Kernel& kernel) {
  return std::ranges::any_of(kernel.reductions,
                             [](const ir::Reduction& r) { return r.kind != ir::Reduction::Kind::sum; });
}

Pieces::How pieces_of(std::span<const DeviceLaunch> launches, const std::array<Range, 2>& halves, int threads) {
  const bool two = std::ranges::all_of(halves, [](const Range& half) { return half.begin < half.end; });
  std::int64_t most = 1;
  double nanoseconds = 0;
  bool reuses = launches.size() > 1, extrema = false;
  for (const DeviceLaunch& launch : launches) {
    most = std::max(most, bytes_per_group(*launch.kernel));
    reuses |= two && reads_other_sites(*launch.kernel);
    extrema |= has_extrema(*launch.kernel);
    nanoseconds += launch.nanoseconds;
  }
  const bool may_move = threads > 1 && !extrema;
  const std::int64_t whole = halves[1].end - halves[0].begin,
                     size = std::max<std::int64_t>(reuses     ? kBytesPerPiece / most
                                                   : may_move ? kBytesPerStream / most
                                                              : whole,
                                                   1),
                     least = static_cast<std::int64_t>(kNanosecondsPerPiece / std::max(nanoseconds, 1.0)) + 1;
  return {.size = size, .least = may_move ? std::min(least, size) : 0, .both = reuses, .may_move = may_move};
}

}  // namespace

bool CpuDevice::interleaves(const DeviceLaunch& launch) const {
  return launch.end - launch.begin <= kMaxAdditions / launch.kernel->trips;
}

/// `sums`: [thread][launch][reduction].
void CpuDevice::run(std::span<const DeviceLaunch> launches, Range groups, SumAccumulator* sums, int threads) {
  if (launches.size() == 1 && !is_parallel(launches[0])) {  // too little for pieces
    const LaunchArguments arguments = arguments_of(launches[0], sums);
    return function_of(launches[0])(&arguments, groups.begin, groups.end);
  }
  std::size_t width = 0;
  for (const DeviceLaunch& launch : launches) width += launch.kernel->reductions.size();
  const std::array<Range, 2> halves = jit::halves(launches[0].middle, groups.begin, groups.end);
  const Pieces::Division pieces = pieces_.divide(halves, threads, pieces_of(launches, halves, threads));
  const auto run_on_threads = [&](const auto& work) { threads == 1 ? work(0) : pool_.run(work); };
  if (launches.size() == 1) {
    const auto work = [function = function_of(launches[0]), common = arguments_of(launches[0], sums), width,
                       pieces](int thread) {
      LaunchArguments arguments = common;
      arguments.sums += static_cast<std::size_t>(thread) * width;
      pieces.take(thread, [&](std::int64_t begin, std::int64_t end) { function(&arguments, begin, end); });
    };
    return run_on_threads(work);
  }
  const auto work = [&](int thread) {
    SumAccumulator* mine = sums + static_cast<std::size_t>(thread) * width;
    std::vector<LaunchArguments> arguments;
    for (const DeviceLaunch& launch : launches) {
      arguments.push_back(arguments_of(launch, mine));
      mine += launch.kernel->reductions.size();
    }
    pieces.take(thread, [&](std::int64_t begin, std::int64_t end) {
      for (std::size_t i = 0; i < launches.size(); ++i) function_of(launches[i])(&arguments[i], begin, end);
    });
  };
  run_on_threads(work);
}

/// Each thread has its own accumulators, of limited capacity: an enormous domain, of one launch then, is run in parts.
void CpuDevice::launch_interleaved(std::span<const DeviceLaunch> launches) {
  const DeviceLaunch& first = launches[0];
  std::size_t width = 0;  // accumulators of one thread
  bool parallel = false;
  for (const DeviceLaunch& launch : launches) {
    width += launch.kernel->reductions.size();
    parallel |= is_parallel(launch);
  }
  const int threads = parallel ? pool_.threads() : 1;
  const std::int64_t groups = first.end - first.begin, most = kMaxAdditions / first.kernel->trips;
  const std::int64_t parts = width == 0 ? 1 : std::max<std::int64_t>(1, (groups + most - 1) / most);
  const std::size_t rows = static_cast<std::size_t>(parts) * static_cast<std::size_t>(threads);
  if (sums_.size() < rows * width) sums_.resize(rows * width);
  std::size_t at = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (const DeviceLaunch& launch : launches)
      for (const ir::Reduction& reduction : launch.kernel->reductions)
        reset(sums_[at++], reduction.kind, launch.kernel->lanes);

  SumAccumulator* sums = sums_.data();
  for (std::int64_t part = 0; part < parts; ++part, sums += static_cast<std::size_t>(threads) * width) {
    const std::int64_t begin = first.begin + part * most;
    run(launches, {begin, parts == 1 ? first.end : std::min(begin + most, first.end)}, sums, threads);
  }

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
