// A GPU's driver as we use it: memory, streams, events, code. Two drivers exist: CUDA's, loaded at run time, and a
// simulated one on threads of the host. Everything else about GPUs (staging, pools, tuning, launching) is written once
// above this interface and runs on both.
//
// Addresses of device memory are never dereferenced by the host. Operations on a stream happen in the stream's order,
// some time after the call; streams are not ordered with respect to each other but through events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "jit/codegen/codegen.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {

/// The driver has too little of the GPU's memory for itself: to load a kernel, or for the stacks of one that is launched.
/// Nothing has happened, and the context is sound: the call may be repeated when memory has been given back.
class OutOfGpuMemory : public DeviceError {
  using DeviceError::DeviceError;
};

struct GpuProperties {
  std::string model;       ///< "NVIDIA H200"
  std::string driver;      ///< version, for logs: "CUDA 13.0"
  int sm = 0;              ///< compute capability as in sm_90
  std::size_t memory = 0;  ///< bytes in all
  int multiprocessors = 1;
  int largest_block = 1024;  ///< threads
  int threads_per_multiprocessor = 2048;
};

enum class LaunchStatus {
  done,       ///< it is in the stream
  too_large,  ///< the block needs more than the multiprocessor has: a smaller one may do
};

class GpuDriver : public GpuLoader {
 public:
  using Stream = void*;
  using Event = void*;

  /// See Device.
  void when_short(std::function<bool(bool again)> make_room) { make_room_ = std::move(make_room); }
  /// Makes a call again and again while it throws OutOfGpuMemory and room can be made.
  template <class Call>
  auto with_room(Call&& call) {
    for (bool again = false;; again = true) try {
        return call();
      } catch (const OutOfGpuMemory& error) {
        if (!make_room_ || !make_room_(again)) throw;
        log_debug("gpu", "fields left the GPU: ", error.what());
      }
  }

  virtual const GpuProperties& properties() const = 0;
  /// What turns kernels into code for this device.
  virtual std::unique_ptr<Target> make_target() = 0;
  std::string assembler() override { return properties().driver; }
  bool assembles_alone() override { return false; }

  /// nullptr when there is no memory left; everything else that goes wrong in this class is a DeviceError with the
  /// driver's own words (OutOfGpuMemory where that is the reason). Addresses are divisible by 256.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* address) noexcept = 0;  ///< waits for nothing: the caller knows that no work uses it
  /// Without what the driver will take itself for the stacks of kernels.
  virtual std::size_t free_memory() = 0;
  /// Host memory that copies run to and from at full speed; nullptr if there is none. (A lost context is an error.)
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* address) noexcept = 0;
  /// How kernels name the beginning of such memory, which they may read and write; nullptr if they cannot reach it.
  virtual void* device_address(void* pinned) = 0;

  /// See Device. The caller has waited for the work on the block.
  virtual void* library_address(void* device) { return device; }
  virtual void lend(void* /*device*/) {}
  virtual void take_back(void* /*device*/) {}

  virtual Stream create_stream() = 0;
  virtual void destroy_stream(Stream stream) noexcept = 0;
  virtual void synchronize(Stream stream) = 0;
  /// The host looks for what the stream's work writes to its memory: a device without threads of its own may use this one.
  virtual void lend_thread(Stream) {}
  /// Asynchronous: `host` must stay untouched until the stream has passed.
  virtual void copy_in(Stream stream, void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_out(Stream stream, void* host, const void* device, std::size_t bytes) = 0;
  /// `rows` pieces of `bytes` each, `device_pitch` apart in device memory, dense on the host.
  virtual void copy_rows_in(Stream stream, void* device, std::size_t device_pitch, const void* host, std::size_t bytes,
                            std::size_t rows) = 0;
  virtual void copy_rows_out(Stream stream, void* host, const void* device, std::size_t device_pitch, std::size_t bytes,
                             std::size_t rows) = 0;
  virtual void clear(Stream stream, void* device, std::size_t bytes) = 0;
  /// Both on the device, not overlapping.
  virtual void copy_within(Stream stream, void* to, const void* from, std::size_t bytes) = 0;

  /// `timed`: it may be asked for seconds(), which makes it dearer.
  virtual Event create_event(bool timed) = 0;
  virtual void destroy_event(Event event) noexcept = 0;
  virtual void record(Event event, Stream stream) = 0;
  virtual void wait(Stream stream, Event event) = 0;  ///< work given to the stream from now on follows the event
  virtual void synchronize_event(Event event) = 0;
  /// Between two recorded events; waits for the second.
  virtual double seconds(Event from, Event to) = 0;

  /// `blocks` x `threads` threads; `packet` (8 bytes per parameter, abi.hpp) is copied during the call.
  virtual LaunchStatus launch(Stream stream, KernelCode code, unsigned blocks, unsigned threads,
                              const std::uint64_t* packet, std::size_t parameters) = 0;
  /// Blocks of so many threads of this code that a multiprocessor runs at once, at least 1; asked for before each launch of
  /// a kernel with sums.
  virtual int blocks_at_once(KernelCode code, unsigned threads) = 0;

 private:
  std::function<bool(bool again)> make_room_;
};

/// The CUDA driver's GPU number `ordinal`. Throws DeviceError saying what is missing (library, symbol, GPU), where it
/// was looked for, and what to do.
std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal);
/// The first GPU that can be opened, and its number, beginning with number `ordinal` modulo how many there are and going around: of
/// those in exclusive mode other processes may have some.
std::unique_ptr<GpuDriver> open_next_cuda_driver(int& ordinal);
/// Number of GPUs, 0 without a driver; never throws.
int count_cuda_devices() noexcept;

/// A GPU made of threads of the host.
struct SimulatedGpu {
  std::size_t memory = std::size_t{1} << 30;  ///< bytes; TESSERA_SIM_MEMORY
  int largest_block = 1024;                   ///< launches of more threads are refused
  /// The n-th allocation (launch, copy), counted from 1, fails as if memory (the device) had run out; 0: none.
  /// TESSERA_SIM_FAULT=allocate:3,launch:7,...
  std::int64_t failing_allocation = 0, failing_launch = 0, failing_copy = 0;
  /// Bytes that must be free at a launch for the stacks of kernels, or it is OutOfGpuMemory. TESSERA_SIM_FAULT=stack:<bytes>
  std::size_t stack = 0;
  bool checks_order = true;  ///< uses of the same memory in two streams need an event between them
  std::int64_t most_pinned = std::numeric_limits<std::int64_t>::max();  ///< allocations of pinned memory granted
  bool delays = true;  ///< streams rest at times, so that their order is seldom that of the calls; TESSERA_SIM_DELAY
};
/// The values of the environment.
SimulatedGpu simulated_gpu_from_environment();
std::unique_ptr<GpuDriver> open_simulated_driver(const SimulatedGpu& gpu);

}  // namespace jit
