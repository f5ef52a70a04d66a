#include "jit/gpu/gpu_device.hpp"

#include <algorithm>
#include <cstring>

#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

constexpr int kUsualBlock = 128;
constexpr int kWarp = 32;
/// Of 4 bytes; the same for compute capability 7.5 to 12.0, and so is the unit in which a thread is given them (CUDA C++
/// Programming Guide, technical specifications per compute capability).
constexpr int kRegistersPerMultiprocessor = 65536;
constexpr int kRegisterUnit = 8;

std::uint64_t bits(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::int64_t sites_of(const DeviceLaunch& launch) {
  return std::max<std::int64_t>(launch.end - launch.begin, 0) * launch.kernel->lanes;
}

/// The results of nothing: what the bins of a launch are added to.
void clear_results(const DeviceLaunch& launch) {
  for (std::size_t i = 0; i < launch.kernel->reductions.size(); ++i)
    launch.results[i] = ReductionValue(launch.kernel->reductions[i].kind);
}

}  // namespace

GpuDevice::GpuDevice(std::string name, std::unique_ptr<GpuDriver> driver)
    : name_(std::move(name)),
      driver_(std::move(driver)),
      streams_(*driver_),
      copies_(*driver_, streams_, host_),
      sums_(*driver_, streams_) {
  for (const int block : {1024, 512, 256, 128, 64, 32})
    if (block <= driver_->properties().largest_block) blocks_.push_back(block);
  capacity_ = std::min(driver_->properties().memory, driver_->free_memory());
}

GpuDevice::~GpuDevice() {
  try {
    streams_.synchronize();
  } catch (const std::exception& error) {
    log_warn("gpu", error.what());
  }
  for (const GpuDriver::Event event : events_) driver_->destroy_event(event);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void* GpuDevice::allocate(std::size_t bytes) {
  void* address = nullptr;
  guarded("allocation", [&] { address = driver_->allocate(bytes); });
  if (address != nullptr) streams_.add(address, bytes);
  return address;
}

void GpuDevice::free(void* address, std::size_t) noexcept {
  try {
    guarded("synchronisation", [&] { streams_.wait_and_remove(address); });
  } catch (const std::exception& error) {
    // Nothing can run on the block any more; the next call that may throw tells the same.
    log_warn("gpu", error.what());
  }
  driver_->free(address);
}

void GpuDevice::clear(void* address, std::size_t bytes) {
  const Streams::Use use{address, true};
  guarded("clearing memory", [&] {
    streams_.begin(StreamRole::compute, {&use, 1});
    driver_->clear(streams_[StreamRole::compute], address, bytes);
  });
}

void GpuDevice::copy_within(void* to, const void* from, std::size_t bytes) {
  const Streams::Use uses[] = {{to, true}, {from, false}};
  guarded("copy on the device", [&] {
    streams_.begin(StreamRole::compute, uses);
    driver_->copy_within(streams_[StreamRole::compute], to, from, bytes);
  });
}

// ---- copies ---------------------------------------------------------------------------------------------------------

void GpuDevice::copy_to_device(void* device, const void* host, std::size_t bytes) {
  copy_rows_to_device(device, bytes, host, bytes, 1);
}

void GpuDevice::copy_to_host(void* host, const void* device, std::size_t bytes) {
  copy_rows_to_host(host, device, bytes, bytes, 1);
}

void GpuDevice::copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) {
  const std::size_t count = static_cast<std::size_t>(std::max(rows, 0));
  // Only read in this direction.
  guarded("copy to the device", [&] { copies_.to_device({device, pitch, const_cast<void*>(host), bytes, count}); });
}

void GpuDevice::copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) {
  const std::size_t count = static_cast<std::size_t>(std::max(rows, 0));
  guarded("copy to the host", [&] { copies_.to_host({const_cast<void*>(device), pitch, host, bytes, count}); });
}

void GpuDevice::lend(void* address) {
  guarded("synchronisation", [&] {
    streams_.wait(address);
    driver_->lend(address);
  });
}

// ---- launches -------------------------------------------------------------------------------------------------------

void GpuDevice::build_packet(const DeviceLaunch& launch) {
  const ir::Kernel& kernel = *launch.kernel;
  const std::size_t shifts = kernel.slots.size() - 1;
  if (launch.fields.size() != kernel.leaves.size() || launch.scalars.size() != kernel.arguments.size() ||
      (shifts != 0 && launch.tables.size() != kernel.slots.size()))
    throw InternalError({.what = "launch of kernel " + kernel.name,
                         .expected = std::to_string(kernel.leaves.size()) + " fields, " + std::to_string(shifts) +
                                     " tables, " + std::to_string(kernel.arguments.size()) + " scalars",
                         .got = std::to_string(launch.fields.size()) + ", " + std::to_string(launch.tables.size()) +
                                " with the unused one, " + std::to_string(launch.scalars.size())});
  packet_.clear();
  for (void* field : launch.fields) packet_.push_back(bits(field));
  if (shifts != 0)
    for (const std::int32_t* table : launch.tables.subspan(1)) packet_.push_back(bits(table));
  packet_.insert(packet_.end(), launch.scalars.begin(), launch.scalars.end());
  if (kernel.listed) {
    packet_.push_back(bits(launch.groups));
    packet_.push_back(bits(launch.masks));
  }
  if (!kernel.reductions.empty()) add_sums(kernel.reductions.size());
  packet_.push_back(static_cast<std::uint64_t>(launch.begin));
  packet_.push_back(static_cast<std::uint64_t>(launch.end));
}

void GpuDevice::add_sums(std::size_t reductions) {
  guarded("preparing sums", [&] {
    const SumResults::Parameters sums = sums_.prepare(reductions);
    packet_.insert(packet_.end(), {bits(sums.sums), bits(sums.results), sums.launch});
  });
}

void GpuDevice::read_results(const DeviceLaunch& launch) {
  std::span<const SumBins> bins;
  guarded("sums", [&] { bins = sums_.wait(); });
  if (bins.empty())
    throw InternalError({.what = "sums of " + last_kernel(),
                         .expected = "results marked with the launch's number",
                         .got = "the end of the kernel without them"});
  clear_results(launch);
  for (std::size_t i = 0; i < bins.size(); ++i) launch.results[i].add(bins[i]);
}

/// Lets the launch wait for what it depends on in other streams.
void GpuDevice::order(const DeviceLaunch& launch) {
  const ir::Kernel& kernel = *launch.kernel;
  if (!streams_.watching()) return streams_.begin(StreamRole::compute);
  uses_.clear();
  for (std::size_t i = 0; i < launch.fields.size(); ++i) uses_.push_back({launch.fields[i], kernel.leaves[i].written});
  if (!launch.tables.empty())
    for (const std::int32_t* table : launch.tables.subspan(1)) uses_.push_back({table, false});
  if (kernel.listed) uses_.insert(uses_.end(), {{launch.groups, false}, {launch.masks, false}});
  streams_.begin(StreamRole::compute, uses_);
}

LaunchStatus GpuDevice::launch_blocks(const DeviceLaunch& launch, std::int64_t threads) {
  std::int64_t blocks = (threads + last_block_ - 1) / last_block_;
  if (!launch.kernel->reductions.empty()) {
    // As many as run at once: every further block would only add to the same bins in memory.
    const int at_once = driver_->blocks_at_once(launch.code, static_cast<unsigned>(last_block_)) *
                        driver_->properties().multiprocessors;
    blocks = std::min<std::int64_t>(blocks, at_once);
  }
  // Positions fit 31 bits, so the number of blocks does.
  return driver_->launch(streams_[StreamRole::compute], launch.code, static_cast<unsigned>(blocks),
                         static_cast<unsigned>(last_block_), packet_.data(), packet_.size());
}

bool GpuDevice::launch(const DeviceLaunch& launch) {
  const ir::Kernel& kernel = *launch.kernel;
  const std::int64_t sites = sites_of(launch), threads = sites / sites_per_thread(kernel, launch.sites);
  if (sites == 0) {
    clear_results(launch);
    if (launch.finished != nullptr) *launch.finished = mark();
    return true;
  }
  const int summands = ir::runs(kernel);
  if (!kernel.reductions.empty() && sites > kMostSummands / summands)
    throw DeviceError({.what = "sum in kernel " + kernel.name,
                       .expected = "at most 2^34 summands on one GPU",
                       .got = std::to_string(sites) + " sites, " + std::to_string(summands) + " of each",
                       .what_now = "Use a smaller local lattice"});

  build_packet(launch);
  last_name_ = kernel.name;
  last_sites_ = sites;
  last_block_ = launch.block != 0 ? launch.block : std::min(kUsualBlock, driver_->properties().largest_block);
  LaunchStatus status{};
  try {
    driver_->with_room([&] {
      order(launch);  // again after fields have left: what follows them must not take this launch for done
      status = launch_blocks(launch, threads);
      while (status == LaunchStatus::too_large && launch.block == 0 && last_block_ > kWarp) {
        last_block_ /= 2;
        status = launch_blocks(launch, threads);
      }
    });
    if (status == LaunchStatus::done) streams_.end(StreamRole::compute);
    if (env().sync) streams_.synchronize(StreamRole::compute);
  } catch (const OutOfGpuMemory& error) {
    throw OutOfGpuMemory(std::string(error.what()) + " [" + last_kernel() + "]");
  } catch (const DeviceError& error) {
    throw DeviceError(std::string(error.what()) + " [" + last_kernel() + "]");
  }
  if (status == LaunchStatus::too_large) {
    if (launch.block != 0) return false;
    throw DeviceError({.what = "launch of " + last_kernel(),
                       .expected = "a kernel of which one warp fits a multiprocessor",
                       .got = "too large",
                       .where = model(),
                       .what_now = "Split the statement"});
  }
  if (launch.finished != nullptr) *launch.finished = mark();
  if (!kernel.reductions.empty()) read_results(launch);
  return true;
}

void GpuDevice::synchronize() {
  guarded("synchronisation", [&] { streams_.synchronize(); });
}

double GpuDevice::occupancy(KernelCode code, int block) {
  int blocks = 0;
  guarded("occupancy", [&] { blocks = driver_->blocks_at_once(code, static_cast<unsigned>(block)); });
  return static_cast<double>(blocks) * block / driver_->properties().threads_per_multiprocessor;
}

std::vector<int> GpuDevice::register_bounds(int registers, int block) const {
  const auto blocks_with = [&](int each) {
    return std::min(kRegistersPerMultiprocessor / (each * block),
                    driver_->properties().threads_per_multiprocessor / block);
  };
  std::vector<int> bounds;
  int allocated = (registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  int blocks = allocated > 0 ? blocks_with(allocated) : 0;
  for (allocated -= kRegisterUnit; allocated > 0; allocated -= kRegisterUnit)
    if (const int more = blocks_with(allocated); more > blocks) {
      bounds.push_back(allocated);
      blocks = more;
    }
  return bounds;
}

// ---- time -----------------------------------------------------------------------------------------------------------

Device::Mark GpuDevice::mark() {
  guarded("timing", [&] {
    if (free_marks_.empty()) {
      events_.push_back(driver_->create_event(/*timed=*/true));
      free_marks_.push_back(events_.size() - 1);
    }
    // The launch behind the mark waits for its operands in any case: that is not its time.
    streams_.follow_all(StreamRole::compute);
    driver_->record(events_[free_marks_.back()], streams_[StreamRole::compute]);
  });
  const Mark mark = free_marks_.back();
  free_marks_.pop_back();
  return mark;
}

double GpuDevice::seconds_between(Mark from, Mark to) {
  double seconds = 0;
  guarded("timing", [&] { seconds = driver_->seconds(events_[from], events_[to]); });
  drop(from);
  drop(to);
  return seconds;
}

// The list has had room for this mark before.
void GpuDevice::drop(Mark mark) noexcept { free_marks_.push_back(mark); }

// ---- errors ---------------------------------------------------------------------------------------------------------

std::string GpuDevice::last_kernel() const {
  return "kernel " + last_name_ + ", " + std::to_string(last_sites_) + " sites, block " + std::to_string(last_block_);
}

/// Kernels fail after the call that launched them, so every error names the last one.
template <class Operation>
void GpuDevice::guarded(const char* operation, Operation&& body) {
  try {
    body();
  } catch (const OutOfGpuMemory&) {
    throw;  // no kernel has failed
  } catch (const DeviceError& error) {
    std::string text = std::string(error.what()) + " [" + operation;
    if (!last_name_.empty()) {
      text += " after " + last_kernel();
      if (!env().sync) text += "; TESSERA_SYNC=1 tells which kernel fails, if one does";
    }
    throw DeviceError(text + "]");
  }
}

}  // namespace jit
