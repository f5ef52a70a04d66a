// Memory that messages between ranks come from and go to (designs D6, D7): the host's, or that of a GPU if the library of messages
// reaches it.
//
// Whoever works with a piece holds it; it stays where it is until it is released. Then its contents are worthless, unless they
// are to be kept: when memory is short the worthless ones go first, then those that are kept go to the host, the longest
// unused first, and only then fields leave.
//
// Under the run time's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "jit/memory/memory.hpp"

namespace jit {

class MessageMemory;

/// The pieces in one pool.
class MessagePool final : private Memory::Holder {
 public:
  /// Whether pieces are read where they lie by other processes, each from MessageMemory::give() until its reader is done.
  enum class Read { here, by_others };
  /// `host` is the same pool as `memory` if there is no other place for contents.
  MessagePool(Memory& memory, Memory& host, Read read = Read::here);
  ~MessagePool();
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  /// Those in the memory of the process's device, and beside it; the same where the host can reach the device's.
  static MessagePool& on_device();
  static MessagePool& on_host();

  Memory& memory() const { return memory_; }
  Device& device() const { return memory_.device(); }
  /// Bytes before each piece: of a line that says whether it is read.
  std::size_t head() const { return read_ == Read::by_others ? Device::kAlignment : 0; }
  /// Contents that went to the host because memory was short, and that came back.
  std::int64_t left() const { return left_; }
  std::int64_t returned() const { return returned_; }

 private:
  friend class MessageMemory;

  struct Piece {
    std::byte* address;
    std::size_t bytes;
  };

  bool is_only_place() const { return &memory_ == &host_; }
  std::byte* allocate(std::size_t bytes);
  void collect(std::size_t looks);
  void free(std::byte* address, std::size_t bytes) noexcept;
  std::size_t spare_bytes() const override;
  bool give_up_one() override;
  std::string describe() const override;

  Memory& memory_;
  Memory& host_;
  const Read read_;
  std::deque<Piece> left_to_readers_;           ///< freed when nobody reads them any more
  std::list<MessageMemory*> worthless_, kept_;  ///< that have memory here and nobody holds, the longest first
  std::int64_t left_ = 0, returned_ = 0;
};

class MessageMemory {
 public:
  /// Has no memory until it is held.
  MessageMemory(MessagePool& home, std::size_t bytes) : home_(home), bytes_(bytes) {}
  /// That of another process, which has given it, and has it back when this one ends.
  MessageMemory(MessagePool& home, std::byte* given, std::size_t bytes)
      : home_(home), bytes_(bytes), address_(given), is_foreign_(true) {}
  ~MessageMemory();
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  /// Whether it lies elsewhere than when it was held before; what was kept is there. Throws DeviceError when there is no memory.
  bool hold();
  void release() noexcept;
  /// The contents are needed, also while nobody holds it.
  void keep() { is_kept_ = true; }

  std::size_t bytes() const { return bytes_; }
  /// While it is held: as kernels know it, at a multiple of Device::kAlignment; and as the library of messages does.
  std::byte* address() const { return address_; }
  std::byte* library_address() const { return static_cast<std::byte*>(home_.device().library_address(address_)); }

  void read(std::size_t first, void* to, std::size_t bytes) const {
    home_.device().copy_to_host(to, address_ + first, bytes);
  }
  void write(std::size_t first, const void* from, std::size_t bytes) {
    home_.device().copy_to_device(address_ + first, from, bytes);
  }
  /// Of the same pool.
  void copy(std::size_t first, const MessageMemory& other, std::size_t from, std::size_t bytes) {
    home_.device().copy_within(address_ + first, other.address_ + from, bytes);
  }

  /// From now on, until take_back(), the library of messages has it, and nobody else.
  void lend();
  void take_back();

  /// Whether other processes read such pieces; whether one reads this one.
  bool may_be_read() const { return home_.read_ == MessagePool::Read::by_others; }
  bool is_read() const;
  /// From now on one does.
  void give();

 private:
  friend class MessagePool;

  void leave_list() noexcept;
  void drop() noexcept;
  bool move_out();

  MessagePool& home_;
  const std::size_t bytes_;
  std::byte* address_ = nullptr;
  void* image_ = nullptr;  ///< on the host, while the contents are there and not here
  int held_ = 0;
  bool is_foreign_ = false, is_kept_ = false, is_lent_ = false;
  std::list<MessageMemory*> entry_{this};  ///< that of a list; here while it is in none
  std::list<MessageMemory*>::iterator place_ = entry_.begin();
  std::list<MessageMemory*>* list_ = nullptr;  ///< of its home, if it is in one
};

/// Holds one for as long as it lives.
class HeldMessage {
 public:
  explicit HeldMessage(std::shared_ptr<MessageMemory> memory) : memory_(std::move(memory)) { memory_->hold(); }
  ~HeldMessage() {
    if (memory_ != nullptr) memory_->release();
  }
  HeldMessage(HeldMessage&&) noexcept = default;
  HeldMessage& operator=(HeldMessage&&) = delete;

  MessageMemory* operator->() const { return memory_.get(); }

 private:
  std::shared_ptr<MessageMemory> memory_;
};

}  // namespace jit
