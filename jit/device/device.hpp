// A device: memory, copies between it and the host, launches. It knows neither kernels' meaning nor lattices.
//
// The CPU is a device whose memory happens to be host memory. Devices with a memory of their own differ in
// host_accessible() and in what a launch does; nothing above this interface asks which device it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "jit/ir/abi.hpp"

namespace jit {

/// Consecutive groups (or list entries) that the threads divide among themselves.
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// One execution of a finished kernel.
struct DeviceLaunch {
  KernelFunction function = nullptr;
  LaunchArguments arguments{};           ///< `sums` is ignored here: each thread gets its own
  std::span<const Range> ranges;         ///< every thread takes its share of each
  bool parallel = true;                  ///< false: too little work to wake other threads
  SumAccumulator* sums = nullptr;        ///< [workers][reductions], prepared by the caller
  int reductions = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// "cpu", "cuda:0": the name that TESSERA_DEVICE takes.
  virtual std::string name() const = 0;
  /// True if the device's addresses may be dereferenced by the host.
  virtual bool host_accessible() const = 0;

  /// Device memory at an address divisible by kAlignment, not touched; nullptr when there is none left. bytes > 0.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* address, std::size_t bytes) noexcept = 0;
  /// Bytes of memory that this process may use.
  virtual std::size_t capacity() const = 0;
  virtual void clear(void* address, std::size_t bytes) = 0;

  virtual void copy_to_device(void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes) = 0;

  /// Runs the kernel; on the CPU it has finished at return, elsewhere after synchronize().
  virtual void launch(const DeviceLaunch& launch) = 0;
  virtual void synchronize() = 0;

  /// Number of accumulators per reduction that a launch fills.
  virtual int workers() const = 0;
  /// Threads of the host that launch and serve this device.
  virtual int threads() const = 0;
  virtual void set_threads(int n) = 0;
  /// body(begin, end) on the shares of each range by all host threads at once: the partition that launches use too.
  virtual void parallel_for(std::span<const Range> ranges, const std::function<void(std::int64_t, std::int64_t)>& body) = 0;

  static constexpr std::size_t kAlignment = 64;
};

/// The device that TESSERA_DEVICE asks for, opened at the first call and never closed.
/// Throws DeviceError if none of the wanted devices is there.
Device& process_device();

}  // namespace jit
