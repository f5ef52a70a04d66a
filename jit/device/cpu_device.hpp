// The CPU as a device: host memory, a pool of threads.
#pragma once

#include "jit/device/device.hpp"
#include "jit/device/thread_pool.hpp"

namespace jit {

class CpuDevice : public Device {
 public:
  CpuDevice();

  std::string name() const override { return "cpu"; }
  bool host_accessible() const override { return true; }

  void* allocate(std::size_t bytes) override;
  void free(void* address, std::size_t bytes) noexcept override;
  std::size_t capacity() const override { return capacity_; }
  void clear(void* address, std::size_t bytes) override;

  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;

  void launch(const DeviceLaunch& launch) override;
  void synchronize() override {}

  int workers() const override { return pool_.threads(); }
  int threads() const override { return pool_.threads(); }
  void set_threads(int n) override { pool_.resize(n); }
  void parallel_for(std::span<const Range> ranges, const std::function<void(std::int64_t, std::int64_t)>& body) override;

  /// Bytes of the last-level cache that core 0 sees, 0 if unknown.
  static std::size_t last_level_cache();

 private:
  ThreadPool pool_;
  std::size_t capacity_;
};

}  // namespace jit
