// Memory for fields: freed blocks are kept by size, because a trajectory makes and drops the same temporaries in every
// statement; what the process holds is bounded, counted, and running out is an error with sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/device/device.hpp"
#include "jit/support/bytes.hpp"

namespace jit {

class Memory {
 public:
  /// Whoever holds blocks of a pool and can put some of the contents elsewhere when others need the memory.
  class Holder {
   public:
    /// Bytes of blocks (block_bytes) that it could free now.
    virtual std::size_t spare_bytes() const = 0;
    /// Frees one block; false: there is none that it can do without.
    virtual bool give_up_one() = 0;
    /// Frees blocks without which everything goes on as before, only slower; false: there is none. Asked before more is alive
    /// at once than ever before.
    virtual bool make_way() { return false; }
    /// For the error: "12 fields on the device, 3 of them needed by the present statement". Empty: nothing to say.
    virtual std::string describe() const = 0;

   protected:
    ~Holder() = default;
  };

  /// `limit` in bytes bounds what is held (live and kept for reuse); 0: the capacity of where blocks come from.
  explicit Memory(Device& device, std::size_t limit = 0) : Memory(device, device, limit) {}
  /// Of blocks that the device reaches.
  Memory(Device& device, BlockSource& blocks, std::size_t limit = 0);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The memory of process_device(), limited by TESSERA_MEM_MAX; never destroyed.
  static Memory& instance();
  /// The memory beside it, for what the host reads and writes: the same pool where the host can reach the device's.
  static Memory& host();

  Device& device() { return device_; }
  /// Asked for memory when neither the limit nor the device leaves any, the last that came first.
  void add_holder(Holder* holder) { holders_.insert(holders_.begin(), holder); }
  void remove_holder(Holder* holder) { std::erase(holders_, holder); }

  /// A block at a multiple of Device::kAlignment, contents undefined. The same sizes are reused last in, first out.
  /// When memory is short, blocks kept for reuse go first, then what the holders give up. Before peak_bytes() rises the
  /// holders make way. Throws DeviceError naming the request, what lives, and the limit. bytes = 0 is allowed.
  void* allocate(std::size_t bytes);
  /// The same without asking the holders; nullptr when there is none.
  void* try_allocate(std::size_t bytes);
  /// `bytes` as in allocate(). nullptr is ignored.
  void free(void* address, std::size_t bytes) noexcept;
  /// Gives memory back to the device, which needs it for itself: blocks kept for reuse, or else what a holder can do
  /// without. `again`: that was not enough, and what was kept may have been asked for again in between; now a holder must
  /// give something up. False: there is nothing.
  bool make_room(bool again);
  /// Gives the blocks kept for reuse back to the system.
  void release_kept() noexcept;
  /// The holders give up all that they can do without.
  void give_up_all();

  /// What a block of this size takes of the limit.
  static std::size_t block_bytes(std::size_t bytes);
  std::size_t live_bytes() const { return live_; }
  std::size_t peak_bytes() const { return peak_; }  ///< of live_bytes()
  std::size_t kept_bytes() const { return kept_; }
  std::int64_t live_blocks() const { return live_blocks_; }
  /// What fields may still take: the limit without what lives, but with what the holders could give up.
  std::size_t room() const { return limit_ - std::min(limit_, live_ - std::min(live_, spare_bytes())); }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes != 0 ? bytes : blocks_.capacity(); }

 private:
  struct Kept {
    void* address;
    std::uint64_t stamp;  // when it was freed
  };

  std::size_t spare_bytes() const;
  bool give_up_one();
  bool make_way();
  void* take(std::size_t size);
  OldBlock take_oldest();
  [[noreturn]] void fail(std::size_t bytes) const;

  Device& device_;
  BlockSource& blocks_;
  std::vector<Holder*> holders_;
  std::size_t limit_ = 0;
  std::size_t live_ = 0, peak_ = 0, kept_ = 0;
  std::int64_t live_blocks_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::size_t, std::vector<Kept>> bins_;  // by size; each oldest first
  std::vector<OldBlock> old_;                                // room for those that make way for another
};

/// A block of a pool that goes back at the end of a scope unless it is kept.
class Block {
 public:
  Block(Memory& memory, void* address, std::size_t bytes) : memory_(memory), address_(address), bytes_(bytes) {}
  ~Block() { memory_.free(address_, bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* address() const { return address_; }
  void* keep() { return std::exchange(address_, nullptr); }

 private:
  Memory& memory_;
  void* address_;
  std::size_t bytes_;
};

}  // namespace jit
