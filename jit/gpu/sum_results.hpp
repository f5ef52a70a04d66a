// The sums of kernels on a GPU: where threads collect them, and how the host gets them (contract: ir/abi.hpp).
//
// The last block of a launch writes the results to pinned memory of the host, and behind a fence the launch's number.
// So a sum is one call of the driver, and the host waits for a number in its own memory. Where kernels cannot write to
// the host, they leave the results in device memory, from which they are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/gpu/driver.hpp"
#include "jit/gpu/streams.hpp"
#include "jit/ir/abi.hpp"

namespace jit {

class SumResults {
 public:
  /// For launches in the stream of computing.
  SumResults(GpuDriver& driver, Streams& streams);
  /// Nothing in the stream may use it any more.
  ~SumResults();
  SumResults(const SumResults&) = delete;
  SumResults& operator=(const SumResults&) = delete;

  /// For the packet of one launch of a kernel with so many reductions. Throws DeviceError, also for want of memory.
  struct Parameters {
    const void *sums, *results;
    std::uint64_t launch;
  };
  Parameters prepare(std::size_t reductions);

  /// Waits for the launch that was prepared last. Valid until the next prepare(); empty if the launch has ended without
  /// results. Throws what the driver throws if it failed.
  std::span<const SumBins> wait();

 private:
  /// The memory of one size of sums; all are nullptr if there is none.
  struct Areas {
    void* device = nullptr;         ///< sums, and the results if `shared` is nullptr
    SumHeader* shared = nullptr;    ///< results in pinned memory
    const void* results = nullptr;  ///< as kernels know them
  };
  Areas allocate(std::size_t reductions);
  void release(const Areas& areas) noexcept;
  std::size_t device_bytes() const;
  bool arrives_soon() const;

  GpuDriver& driver_;
  Streams& streams_;
  Areas areas_;
  std::size_t most_reductions_ = 0;
  bool zero_ = false;  ///< sums are known to be zero: not after a launch of which no results were seen
  std::uint64_t launch_ = 0;
  std::size_t reductions_ = 0;  ///< of that launch
  std::vector<std::uint64_t> copied_;
};

}  // namespace jit
