// A GPU as a device, whichever driver stands behind it: staged copies, launches, sums, timing.
//
// Everything happens as if in the order of the calls; what does not touch the same memory may overlap (streams.hpp).
// Not thread safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/device/device.hpp"
#include "jit/gpu/copies.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/streams.hpp"
#include "jit/gpu/sum_results.hpp"

namespace jit {

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
  void free(void* address, std::size_t bytes) noexcept override;  ///< waits for the work on it
  /// What was free when the device was opened: other processes may use it too.
  std::size_t capacity() const override { return capacity_; }
  void when_short(std::function<bool(bool again)> make_room) override { driver_->when_short(std::move(make_room)); }
  void clear(void* address, std::size_t bytes) override;
  void copy_within(void* to, const void* from, std::size_t bytes) override;

  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) override;
  void copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) override;

  void* library_address(void* address) const override { return driver_->library_address(address); }
  void lend(void* address) override;
  void take_back(void* address) override { driver_->take_back(address); }

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
  const GpuTraffic& traffic() const { return copies_.traffic(); }

  /// Bins hold twice as many (sum.hpp).
  static constexpr std::int64_t kMostSummands = std::int64_t{1} << 34;

 private:
  void build_packet(const DeviceLaunch& launch);
  void add_sums(std::size_t reductions);
  void read_results(const DeviceLaunch& launch);
  void order(const DeviceLaunch& launch);
  LaunchStatus launch_blocks(const DeviceLaunch& launch, std::int64_t threads);

  template <class Operation>
  void guarded(const char* operation, Operation&& body);
  std::string last_kernel() const;

  std::string name_;
  std::unique_ptr<GpuDriver> driver_;
  CpuDevice host_;
  Streams streams_;
  GpuCopies copies_;
  SumResults sums_;
  std::vector<int> blocks_;
  std::size_t capacity_;

  std::vector<std::uint64_t> packet_;
  std::vector<Streams::Use> uses_;

  std::vector<GpuDriver::Event> events_;
  std::vector<Mark> free_marks_;  ///< indices into events_

  /// The kernel that was launched last, for messages.
  std::string last_name_;
  std::int64_t last_sites_ = 0;
  int last_block_ = 0;
};

}  // namespace jit
