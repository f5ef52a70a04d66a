#include "jit/memory/message_memory.hpp"

#include <utility>

#include "jit/memory/residency.hpp"

namespace jit {

MessagePool::MessagePool(Memory& memory, Memory& host) : memory_(memory), host_(host) { memory_.add_holder(this); }

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

std::size_t MessagePool::spare_bytes() const {
  std::size_t bytes = 0;
  for (const MessageMemory* piece : worthless_) bytes += Memory::block_bytes(piece->bytes());
  if (is_only_place()) return bytes;
  for (const MessageMemory* piece : kept_) bytes += Memory::block_bytes(piece->bytes());
  return bytes;
}

bool MessagePool::give_up_one() {
  if (!worthless_.empty()) {
    worthless_.front()->drop();
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
  if (image_ != nullptr) home_.host_.free(image_, bytes_);
  drop();
}

void MessageMemory::leave_list() noexcept {
  if (list_ != nullptr) entry_.splice(entry_.begin(), *std::exchange(list_, nullptr), place_);
}

/// The contents are lost.
void MessageMemory::drop() noexcept {
  leave_list();
  if (address_ != nullptr) home_.memory_.free(std::exchange(address_, nullptr), bytes_);
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
    Block block(home_.memory_, home_.memory_.allocate(bytes_), bytes_);
    if (image_ != nullptr) {
      home_.device().copy_to_device(block.address(), image_, bytes_);
      home_.host_.free(std::exchange(image_, nullptr), bytes_);
      ++home_.returned_;
    }
    address_ = static_cast<std::byte*>(block.keep());
  } catch (...) {
    --held_;
    throw;
  }
  return true;
}

void MessageMemory::release() noexcept {
  if (--held_ > 0 || address_ == nullptr) return;
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

}  // namespace jit
