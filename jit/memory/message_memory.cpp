#include "jit/memory/message_memory.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "jit/memory/residency.hpp"

namespace jit {

namespace {

/// In the line before a piece.
std::atomic_ref<std::uint64_t> reader_of(std::byte* piece) {
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);  // between processes
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(piece - Device::kAlignment));
}

}  // namespace

MessagePool::MessagePool(Memory& memory, Memory& host, Read read) : memory_(memory), host_(host), read_(read) {
  memory_.add_holder(this);
}

MessagePool::~MessagePool() { memory_.remove_holder(this); }

MessagePool& MessagePool::on_device() {
  static MessagePool* pool = [] {
    Residency::instance();  // which is asked after this one
    return new MessagePool(Memory::instance(), Memory::host());
  }();
  return *pool;
}

MessagePool& MessagePool::on_host() {
  static MessagePool* pool =
      Memory::instance().device().host_accessible() ? &on_device() : new MessagePool(Memory::host(), Memory::host());
  return *pool;
}

/// Frees what nobody reads any more, as far as so many looks tell.
void MessagePool::collect(std::size_t looks) {
  for (looks = std::min(looks, left_to_readers_.size()); looks > 0; --looks) {
    const Piece piece = left_to_readers_.front();
    left_to_readers_.pop_front();
    if (reader_of(piece.address).load(std::memory_order_acquire) != 0)
      left_to_readers_.push_back(piece);
    else
      memory_.free(piece.address - head(), head() + piece.bytes);
  }
}

std::byte* MessagePool::allocate(std::size_t bytes) {
  // More than come in between; there may be ten thousands that readers keep.
  constexpr std::size_t kLooks = 4;
  collect(kLooks);
  void* block = memory_.try_allocate(head() + bytes);
  if (block == nullptr) {
    collect(left_to_readers_.size());
    block = memory_.allocate(head() + bytes);
  }
  std::byte* const address = static_cast<std::byte*>(block) + head();
  if (read_ == Read::by_others) reader_of(address).store(0, std::memory_order_relaxed);
  return address;
}

void MessagePool::free(std::byte* address, std::size_t bytes) noexcept {
  if (read_ == Read::here || reader_of(address).load(std::memory_order_acquire) == 0)
    memory_.free(address - head(), head() + bytes);
  else
    try {
      left_to_readers_.push_back({address, bytes});
    } catch (...) {  // the piece is lost
    }
}

std::size_t MessagePool::spare_bytes() const {
  std::size_t bytes = 0;
  for (const MessageMemory* piece : worthless_)
    if (!piece->is_read()) bytes += Memory::block_bytes(head() + piece->bytes());
  if (is_only_place()) return bytes;
  for (const MessageMemory* piece : kept_) bytes += Memory::block_bytes(piece->bytes());
  return bytes;
}

bool MessagePool::give_up_one() {
  const auto spare = std::ranges::find_if(worthless_, [](const MessageMemory* piece) { return !piece->is_read(); });
  if (spare != worthless_.end()) {
    (*spare)->drop();
    return true;
  }
  if (is_only_place()) return false;
  for (MessageMemory* piece : kept_)
    if (piece->move_out()) return true;
  return false;
}

std::string MessagePool::describe() const {
  const std::size_t pieces = worthless_.size() + kept_.size();
  return pieces == 0 ? "" : std::to_string(pieces) + " messages that other ranks have sent";
}

MessageMemory::~MessageMemory() {
  if (is_foreign_) {
    reader_of(address_).store(0, std::memory_order_release);
    return;
  }
  if (image_ != nullptr) home_.host_.free(image_, bytes_);
  drop();
}

void MessageMemory::leave_list() noexcept {
  if (list_ != nullptr) entry_.splice(entry_.begin(), *std::exchange(list_, nullptr), place_);
}

/// The contents are lost.
void MessageMemory::drop() noexcept {
  leave_list();
  if (address_ != nullptr) home_.free(std::exchange(address_, nullptr), bytes_);
}

/// To the host; false if that has no memory. Throws DeviceError if the copy fails; then it is as it was.
bool MessageMemory::move_out() {
  Block image(home_.host_, home_.host_.try_allocate(bytes_), bytes_);
  if (image.address() == nullptr) return false;
  read(0, image.address(), bytes_);
  image_ = image.keep();
  drop();
  ++home_.left_;
  return true;
}

bool MessageMemory::hold() {
  leave_list();
  ++held_;
  if (address_ != nullptr) return false;
  try {
    address_ = home_.allocate(bytes_);
    if (image_ != nullptr) {
      home_.device().copy_to_device(address_, image_, bytes_);
      home_.host_.free(std::exchange(image_, nullptr), bytes_);
      ++home_.returned_;
    }
  } catch (...) {
    drop();
    --held_;
    throw;
  }
  return true;
}

void MessageMemory::release() noexcept {
  if (--held_ > 0 || address_ == nullptr || is_foreign_) return;
  list_ = is_kept_ ? &home_.kept_ : &home_.worthless_;
  list_->splice(list_->end(), entry_, place_);
}

void MessageMemory::lend() {
  home_.device().lend(address_);
  is_lent_ = true;
}

void MessageMemory::take_back() {
  if (std::exchange(is_lent_, false)) home_.device().take_back(address_);
}

bool MessageMemory::is_read() const {
  return may_be_read() && address_ != nullptr && reader_of(address_).load(std::memory_order_acquire) != 0;
}

void MessageMemory::give() { reader_of(address_).store(1, std::memory_order_release); }

}  // namespace jit
