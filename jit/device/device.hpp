// A device: memory, copies between it and the host, launches. It knows neither kernels' meaning nor lattices.
//
// The CPU is a device whose memory happens to be host memory. Devices with a memory of their own differ in
// host_accessible() and in that launches are asynchronous: launches, clear() and copy_within() happen in the order of the
// calls, copies see what was launched before them, and nothing but copies to the host, synchronize() and a launch with
// results waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"
#include "jit/ir/sum.hpp"

namespace jit {

class Target;

/// Consecutive groups (or list entries) that the threads divide among themselves.
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// The groups [begin, end) cut where the second checkerboard begins: a thread that has the same share of each half works
/// in one region of space, on the memory that it touched first.
inline std::array<Range, 2> halves(std::int64_t middle, std::int64_t begin, std::int64_t end) {
  const std::int64_t cut = begin > middle ? begin : end < middle ? end : middle;
  return {Range{begin, cut}, Range{cut, end}};
}

/// One execution of a finished kernel. Addresses are the device's.
struct DeviceLaunch {
  const ir::Kernel* kernel = nullptr;  ///< what the code computes: lanes, reductions, whether the domain is listed
  KernelCode code = nullptr;
  std::span<void* const> fields;                ///< [leaves]
  std::span<const std::int32_t* const> tables;  ///< [slots], entry 0 unused
  std::span<const std::uint64_t> scalars;       ///< [arguments], bit patterns in the low bytes
  const std::int32_t* groups = nullptr;         ///< listed domains
  const std::uint64_t* masks = nullptr;
  std::int64_t begin = 0, end = 0;    ///< groups, or entries of the list
  std::int64_t middle = 0;            ///< where the second checkerboard begins: threads take their share of both sides
  double nanoseconds = 1000;          ///< about what a group takes of one thread (CPU)
  int block = 0;                      ///< threads per block (GPU); 0: the device's choice
  int sites = 1;                      ///< per thread, as the code was made for (GPU)
  ReductionValue* results = nullptr;  ///< [reductions] are given what is found in the domain
  std::uint64_t* finished = nullptr;  ///< receives a Device::Mark of the kernel's end, before results are read
};

struct OldBlock {
  void* address;
  std::size_t bytes;
};

/// Where pools (memory.hpp) take their blocks from.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Memory at an address divisible by Device::kAlignment, not touched; nullptr when there is none left. bytes > 0.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* address, std::size_t bytes) noexcept = 0;
  /// Frees `old` and allocates, where it can of the memory that becomes free. Up to `keep` bytes may stay for the next time.
  virtual void* exchange(std::span<const OldBlock> old, std::size_t bytes, [[maybe_unused]] std::size_t keep) {
    for (const OldBlock& block : old) free(block.address, block.bytes);
    return allocate(bytes);
  }
  /// What has stayed.
  virtual std::size_t kept_bytes() const { return 0; }
  virtual void give_back() noexcept {}
  /// Bytes of memory that this process may use.
  virtual std::size_t capacity() const = 0;
};

class Device : public BlockSource {
 public:
  /// "cpu", "cuda:0", "sim": the name that TESSERA_DEVICE takes.
  virtual std::string name() const = 0;
  /// For people: "NVIDIA H200".
  virtual std::string model() const { return name(); }
  /// True if the device's addresses may be dereferenced by the host.
  virtual bool host_accessible() const = 0;
  /// The processor beside the device, which serves it; itself for the CPU.
  virtual Device& host() { return *this; }

  /// What turns kernels into code for this device.
  virtual std::unique_ptr<Target> make_target() = 0;
  /// Sites per group that suit it (lanes of a register, threads of a warp).
  virtual int lanes() const = 0;

  /// Asked when the device's own driver lacks memory, to load or to launch a kernel: whether some was given back. `again`: the
  /// last time was not enough. Must launch nothing, and leave alone what the launch uses.
  virtual void when_short(std::function<bool(bool again)>) {}
  virtual void clear(void* address, std::size_t bytes) = 0;
  /// From one place on the device to another that does not overlap it.
  virtual void copy_within(void* to, const void* from, std::size_t bytes) = 0;

  /// Any host memory; it may be changed or freed at return.
  virtual void copy_to_device(void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes) = 0;
  /// `rows` pieces of `bytes` each that lie `pitch` bytes apart on the device and dense on the host.
  virtual void copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) = 0;
  virtual void copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) = 0;

  /// What libraries of the host call an address of a block, MPI for instance.
  virtual void* library_address(void* address) const { return address; }
  /// Waits for what was launched on the block that holds this address. From then on libraries may read and write it, and
  /// nobody else, until take_back().
  virtual void lend(void* /*address*/) {}
  virtual void take_back(void* /*address*/) {}

  /// Runs the kernel; with results it has finished at return. False if the device cannot run blocks of launch.block
  /// threads of this code: nothing has happened, a smaller block may do (never on the CPU).
  virtual bool launch(const DeviceLaunch& launch) = 0;
  /// Whether this launch can be one of launch_interleaved().
  virtual bool interleaves(const DeviceLaunch&) const { return false; }
  /// Launches over the same groups, none of which reads what another one writes: a piece of the groups is computed by all of them
  /// in turn, then the next, so that what one has brought into the caches is there for the others. Marks nothing.
  virtual void launch_interleaved(std::span<const DeviceLaunch>) {}
  virtual void synchronize() = 0;
  /// Threads per block that a launch may ask for, largest first; empty: there is no such choice.
  virtual std::span<const int> blocks() const { return {}; }
  /// The share of the threads that the device can keep at once which blocks of this size of this code leave room for;
  /// 0: unknown.
  virtual double occupancy(KernelCode, int) { return 0; }
  /// Bounds on the registers per thread, largest first, below the `registers` that some code uses, at which more blocks
  /// of this size would run at once. Empty: registers bound nothing.
  virtual std::vector<int> register_bounds(int /*registers*/, int /*block*/) const { return {}; }

  /// A point in the sequence of launches, and the seconds between two of them; waits for the second. Each mark is used
  /// once as `from` or `to`, or given up by drop().
  using Mark = std::uint64_t;
  virtual Mark mark() = 0;
  virtual double seconds_between(Mark from, Mark to) = 0;
  virtual void drop(Mark) noexcept {}
  /// False if marking costs as much as a short launch: then only tuning and profiling do.
  virtual bool marks_are_free() const = 0;

  /// Threads of the host that launch and serve this device.
  virtual int threads() const = 0;
  virtual void set_threads(int n) = 0;
  /// body(begin, end) on the shares of each range by all host threads at once: the partition that launches use too.
  virtual void parallel_for(std::span<const Range> ranges,
                            const std::function<void(std::int64_t, std::int64_t)>& body) = 0;

  static constexpr std::size_t kAlignment = 64;
};

}  // namespace jit
