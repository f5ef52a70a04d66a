// A device with a memory of its own for tests of what lives in it: its addresses cannot be dereferenced, new memory is
// poisoned, there is little of it, and any allocation or copy can be made to fail. It runs no kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/device/cpu_device.hpp"
#include "jit/support/error.hpp"

namespace tests {

class SeparateDevice final : public jit::Device {
 public:
  static constexpr unsigned char kPoison = 0xcd;

  explicit SeparateDevice(std::size_t bytes = std::size_t{1} << 30) : memory(bytes) {}
  ~SeparateDevice() override {
    for (const auto& [address, bytes] : blocks_) std::free(real(reinterpret_cast<void*>(address)));
  }

  std::size_t memory;  ///< bytes in all
  std::size_t used = 0;
  std::int64_t failing_allocation = 0, failing_copy = 0;  ///< the n-th from now; 0: none
  std::int64_t allocations = 0, copies = 0;

  /// The host's address of the device's.
  static unsigned char* real(const void* address) {
    return reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(address) ^ kShift);
  }
  bool holds(const void* address, std::size_t bytes) const {
    auto block = blocks_.upper_bound(reinterpret_cast<std::uintptr_t>(address));
    if (block == blocks_.begin()) return false;
    --block;
    return reinterpret_cast<std::uintptr_t>(address) + bytes <= block->first + block->second;
  }

  std::string name() const override { return "test"; }
  bool host_accessible() const override { return false; }
  jit::Device& host() override { return host_; }
  std::unique_ptr<jit::Target> make_target() override { throw jit::InternalError("the test device runs no kernels"); }
  int lanes() const override { return 32; }

  void* allocate(std::size_t bytes) override {
    ++allocations;
    if (failing_allocation > 0 && --failing_allocation == 0) return nullptr;
    if (used + bytes > memory) return nullptr;
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* block = std::aligned_alloc(kAlignment, whole);
    if (block == nullptr) return nullptr;
    std::memset(block, kPoison, whole);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(block) ^ kShift;
    blocks_[address] = bytes;
    used += bytes;
    return reinterpret_cast<void*>(address);
  }
  void free(void* address, std::size_t bytes) noexcept override {
    const auto block = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
    if (block == blocks_.end() || block->second != bytes)
      std::abort();  // the program under test is wrong beyond repair
    blocks_.erase(block);
    used -= bytes;
    std::free(real(address));
  }
  std::size_t capacity() const override { return memory; }
  void clear(void* address, std::size_t bytes) override { std::memset(checked(address, bytes), 0, bytes); }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(checked(to, bytes), checked(const_cast<void*>(from), bytes), bytes);
  }

  void copy_to_device(void* device, const void* host, std::size_t bytes) override {
    copy_rows_to_device(device, bytes, host, bytes, 1);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes) override {
    copy_rows_to_host(host, device, bytes, bytes, 1);
  }
  void copy_rows_to_device(void* device, std::size_t pitch, const void* host, std::size_t bytes, int rows) override {
    count_copy();
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
      std::memcpy(checked(static_cast<char*>(device) + r * pitch, bytes), static_cast<const char*>(host) + r * bytes,
                  bytes);
  }
  void copy_rows_to_host(void* host, const void* device, std::size_t pitch, std::size_t bytes, int rows) override {
    count_copy();
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
      std::memcpy(static_cast<char*>(host) + r * bytes, checked(static_cast<const char*>(device) + r * pitch, bytes),
                  bytes);
  }

  bool launch(const jit::DeviceLaunch&) override { throw jit::InternalError("the test device runs no kernels"); }
  void synchronize() override {}
  Mark mark() override { return 0; }
  double seconds_between(Mark, Mark) override { return 0; }
  bool marks_are_free() const override { return false; }
  int threads() const override { return host_.threads(); }
  void set_threads(int n) override { host_.set_threads(n); }
  void parallel_for(std::span<const jit::Range> ranges,
                    const std::function<void(std::int64_t, std::int64_t)>& body) override {
    host_.parallel_for(ranges, body);
  }

 private:
  // No processor has addresses with these bits, so that whoever dereferences one is stopped.
  static constexpr std::uintptr_t kShift = std::uintptr_t{0x2b} << 56;

  unsigned char* checked(const void* address, std::size_t bytes) const {
    if (!holds(address, bytes)) throw jit::InternalError("access outside of the test device's memory");
    return real(address);
  }
  void count_copy() {
    ++copies;
    if (failing_copy > 0 && --failing_copy == 0) throw jit::DeviceError("copy refused");
  }

  jit::CpuDevice host_;
  std::map<std::uintptr_t, std::size_t> blocks_;
};

}  // namespace tests
