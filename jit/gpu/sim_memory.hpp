// The memory of the simulated GPU: an arena whose addresses the host cannot dereference.
//
// A device address is kWindow + offset. The top 16 bits of kWindow fit no address of user space (not canonical on
// x86-64, beyond 48 and 52 bit spaces elsewhere), so a host that follows one crashes at once. As a scalar it would be a
// double near 1.9e149 or an integer near 6.8e18: whatever a packet holds with these top bits is taken for an address.
//
// All memory that is not allocated, and all that was just allocated, holds kPoison; whoever writes where nothing is
// allocated is found out at the next allocation there. Memory beyond the highest allocation is not mapped for access.
//
// Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "jit/gpu/sim_order.hpp"
#include "jit/support/gaps.hpp"

namespace jit {

/// A live allocation, of the device or pinned. Stays in place until it is freed.
struct SimBlock {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  int users = 0;      ///< unfinished operations that refer to it
  bool lent = false;  ///< to libraries of the host: no operation may use it
  SimOrder::History history = {};
};

/// Live allocations by address, and what is wrong with an address.
class SimBlocks {
 public:
  explicit SimBlocks(const char* kind) : kind_(kind) {}
  void insert(std::uint64_t address, std::size_t bytes);
  /// Forgets the block that begins at `address`. Throws InternalError if none does, or if operations still use it.
  void erase(std::uint64_t address);
  /// The block that holds `address`, or nullptr.
  SimBlock* find(std::uint64_t address);
  /// The block that holds all of [address, address + bytes). Throws InternalError naming `what`.
  SimBlock& require(std::uint64_t address, std::size_t bytes, const char* what);
  const std::map<std::uint64_t, SimBlock>& live() const { return live_; }

 private:
  std::string describe(std::uint64_t address) const;

  const char* kind_;
  std::map<std::uint64_t, SimBlock> live_;
  std::set<std::uint64_t> freed_;  ///< where blocks began: tells a double free from a wrong address
};

class SimMemory {
 public:
  static constexpr std::uint64_t kWindow = 0x5EED'0001'0000'0000;
  /// NaN as a float and as a double (there a signalling one), 2146754221 as an index.
  static constexpr std::uint32_t kPoison = 0x7FF4'DEAD;
  static constexpr std::size_t kAlignment = 256;
  static constexpr std::size_t kLargest = std::size_t{1} << 46;

  /// `capacity` in bytes is reserved and not touched. Throws UserError if it is no possible size, DeviceError if the
  /// system refuses.
  explicit SimMemory(std::size_t capacity);
  ~SimMemory();
  SimMemory(const SimMemory&) = delete;
  SimMemory& operator=(const SimMemory&) = delete;

  static bool is_address(std::uint64_t value) { return value >> 48 == kWindow >> 48; }
  static void poison(void* host, std::size_t bytes);

  /// The lowest gap that is large enough; 0 if there is none. Throws InternalError if somebody wrote into free memory.
  std::uint64_t allocate(std::size_t bytes);
  /// Throws InternalError, and frees nothing, if `address` is not the beginning of a live allocation, if an operation
  /// still uses it, or if somebody wrote between its end and the next multiple of 256 bytes.
  void free(std::uint64_t address);
  std::size_t free_bytes() const { return capacity_ - used_; }
  SimBlocks& blocks() { return blocks_; }
  /// Where the host finds what the device knows as `address`.
  std::byte* host(std::uint64_t address) const { return arena_ + (address - kWindow); }

 private:
  bool make_accessible(std::size_t end);
  bool is_poisoned(std::size_t begin, std::size_t end) const;

  std::byte* arena_ = nullptr;
  std::size_t capacity_, accessible_ = 0, used_ = 0;
  Gaps gaps_;
  SimBlocks blocks_{"device memory"};
};

/// "0x5eed000100000200", for messages.
std::string format_address(std::uint64_t address);

}  // namespace jit
