// A GPU as a device, whichever driver stands behind it: staged copies, launches, sums, timing.
//
// One stream holds everything in the order of the calls. Copies go through pinned memory piece by piece, so that the
// host's threads fill or empty one piece while others travel. Not thread safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/device/device.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/staging.hpp"

namespace jit {

/// Copies of more than kSmallCopy bytes since the device was opened: fields and tables, not single sites and scalars.
struct GpuTraffic {
  struct Way {
    std::uint64_t copies = 0, bytes = 0;
  };
  Way to_device, to_host;
};

class GpuDevice : public Device {
 public:
  /// `name` as TESSERA_DEVICE takes it.
  GpuDevice(std::string name, std::unique_ptr<GpuDriver> driver);
  ~GpuDevice() override;

  std::string name() const override { return name_; }
  std::string model() const override { return driver_->properties().model; }
  bool host_accessible() const override { return false; }
  Device& host() override { return host_; }
  std::unique_ptr<Target> make_target() override { return driver_->make_target(); }
  int lanes() const override { return 32; }

  void* allocate(std::size_t bytes) override;
  void free(void* address, std::size_t bytes) noexcept override;  ///< waits for the work in the stream
  /// What was free when the device was opened: other processes may use it too.
  std::size_t capacity() const override { return capacity_; }
  void clear(void* address, std::size_t bytes) override;

  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) override;
  void copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) override;

  /// Throws DeviceError naming kernel, sites and block. Without TESSERA_SYNC=1 the failure of a running kernel is told
  /// by a later call. At most kMostSummands sites per reduction.
  bool launch(const DeviceLaunch& launch) override;
  void synchronize() override;
  std::span<const int> blocks() const override { return blocks_; }
  double occupancy(KernelCode code, int block) override;
  std::vector<int> register_bounds(int registers, int block) const override;

  Mark mark() override;
  double seconds_between(Mark from, Mark to) override;
  /// Gives up a mark that nobody will ask for.
  void drop(Mark mark) noexcept override;
  bool marks_are_free() const override { return false; }

  int threads() const override { return host_.threads(); }
  void set_threads(int n) override { host_.set_threads(n); }
  void parallel_for(std::span<const Range> ranges,
                    const std::function<void(std::int64_t, std::int64_t)>& body) override {
    host_.parallel_for(ranges, body);
  }

  GpuDriver& driver() { return *driver_; }
  const GpuTraffic& traffic() const { return traffic_; }

  static constexpr std::size_t kSmallCopy = 4096;
  /// Bins hold twice as many (sum.hpp).
  static constexpr std::int64_t kMostSummands = std::int64_t{1} << 34;

 private:
  /// Puts the transfer of bytes [offset, offset + bytes) of a copy, which lie at `staged`, into the stream.
  using Transfer = std::function<void(std::size_t offset, std::byte* staged, std::size_t bytes)>;
  void send(const void* host, std::size_t bytes, std::size_t step, const Transfer& transfer);
  void receive(void* host, std::size_t bytes, std::size_t step, const Transfer& transfer);
  void copy_on_host(void* to, const void* from, std::size_t bytes);

  void build_packet(const DeviceLaunch& launch);
  void clear_bins(std::size_t reductions);
  void read_results(const DeviceLaunch& launch);
  int blocks_at_once(KernelCode code, int block);
  LaunchStatus launch_blocks(const DeviceLaunch& launch, std::int64_t threads);
  void synchronize_stream();

  template <class Operation>
  void guarded(const char* operation, Operation&& body);
  std::string last_kernel() const;

  std::string name_;
  std::unique_ptr<GpuDriver> driver_;
  CpuDevice host_;
  GpuDriver::Stream stream_;
  Staging staging_;
  std::vector<int> blocks_;
  std::size_t capacity_;
  bool idle_ = true;  ///< the stream is known to be empty
  GpuTraffic traffic_;

  std::vector<std::uint64_t> packet_;
  void* bins_ = nullptr;  ///< device memory, SumBins [most_bins_]
  std::size_t most_bins_ = 0;
  std::vector<SumBins> host_bins_;
  std::map<std::pair<KernelCode, int>, int> blocks_at_once_;

  std::vector<GpuDriver::Event> events_;
  std::vector<Mark> free_marks_;  ///< indices into events_

  /// The kernel that was launched last, for messages.
  std::string last_name_;
  std::int64_t last_sites_ = 0;
  int last_block_ = 0;
};

}  // namespace jit
