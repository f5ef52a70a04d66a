// The CPU as a device: host memory, a pool of threads.
#pragma once

#include <optional>
#include <vector>

#include "jit/device/device.hpp"
#include "jit/device/huge_pages.hpp"
#include "jit/device/pieces.hpp"
#include "jit/device/thread_pool.hpp"

namespace jit {

class CpuDevice : public Device {
 public:
  CpuDevice();

  std::string name() const override { return "cpu"; }
  std::string model() const override;
  bool host_accessible() const override { return true; }
  std::unique_ptr<Target> make_target() override;
  int lanes() const override;

  void* allocate(std::size_t bytes) override;
  void free(void* address, std::size_t bytes) noexcept override;
  void* exchange(std::span<const OldBlock> old, std::size_t bytes, std::size_t keep) override;
  std::size_t kept_bytes() const override { return pages_.kept_bytes(); }
  void give_back() noexcept override { pages_.give_back(); }
  std::size_t capacity() const override { return capacity_; }
  void clear(void* address, std::size_t bytes) override;
  void copy_within(void* to, const void* from, std::size_t bytes) override;

  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) override;
  void copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) override;

  bool launch(const DeviceLaunch& launch) override {
    launch_interleaved({&launch, 1});
    if (launch.finished != nullptr) *launch.finished = mark();
    return true;
  }
  bool interleaves(const DeviceLaunch& launch) const override;
  void launch_interleaved(std::span<const DeviceLaunch> launches) override;
  void synchronize() override {}

  Mark mark() override;
  double seconds_between(Mark from, Mark to) override;
  bool marks_are_free() const override { return true; }

  int threads() const override { return pool_.threads(); }
  void set_threads(int n) override {
    pool_.resize(n);
    pages_may_move_.reset();
  }
  void parallel_for(std::span<const Range> ranges,
                    const std::function<void(std::int64_t, std::int64_t)>& body) override;

 private:
  void run(std::span<const DeviceLaunch> launches, Range groups, SumAccumulator* sums, int threads);

  ThreadPool pool_;
  Pieces pieces_;
  HugePages pages_;
  std::optional<bool> pages_may_move_;  ///< from one block to another; once known
  std::size_t capacity_;
  std::vector<SumAccumulator> sums_;  // [part][thread][reduction]
};

}  // namespace jit
