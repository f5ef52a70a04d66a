// Memory for fields: freed blocks are kept by size, because a trajectory makes and drops the same temporaries in every
// statement; what the process holds is bounded, counted, and running out is an error with sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jit/device/device.hpp"

namespace jit {

class Memory {
 public:
  /// `limit` in bytes bounds what is held (live and kept for reuse); 0: the device's capacity.
  explicit Memory(Device& device, std::size_t limit = 0);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The memory of process_device(), limited by TESSERA_MEM_MAX; never destroyed.
  static Memory& instance();

  Device& device() { return device_; }

  /// A block at a multiple of Device::kAlignment, contents undefined. The same sizes are reused last in, first out.
  /// Throws DeviceError naming the request, what lives, and the limit. bytes = 0 is allowed.
  void* allocate(std::size_t bytes);
  /// `bytes` as in allocate(). nullptr is ignored.
  void free(void* address, std::size_t bytes) noexcept;
  /// Gives the blocks kept for reuse back to the system.
  void release_kept() noexcept;

  std::size_t live_bytes() const { return live_; }
  std::size_t peak_bytes() const { return peak_; }       ///< of live_bytes()
  std::size_t kept_bytes() const { return kept_; }
  std::int64_t live_blocks() const { return live_blocks_; }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes != 0 ? bytes : device_.capacity(); }

 private:
  struct Kept {
    void* address;
    std::uint64_t stamp;  // when it was freed
  };

  void release_oldest() noexcept;
  [[noreturn]] void fail(std::size_t bytes) const;

  Device& device_;
  std::size_t limit_ = 0;
  std::size_t live_ = 0, peak_ = 0, kept_ = 0;
  std::int64_t live_blocks_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::size_t, std::vector<Kept>> bins_;  // by size; each oldest first
};

/// "1.5 GiB": three digits at most and a binary unit.
std::string format_bytes(std::size_t bytes);

}  // namespace jit
