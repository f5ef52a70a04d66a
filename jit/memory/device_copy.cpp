#include "jit/memory/device_copy.hpp"

#include "jit/memory/memory.hpp"
#include "jit/support/lock.hpp"

namespace jit {

const void* DeviceCopy::make(const void* data, std::size_t bytes) const {
  Memory& memory = Memory::instance();
  const void* made = data;
  if (bytes > 0 && !memory.device().host_accessible()) {
    Block copy(memory, memory.allocate(bytes), bytes);
    memory.device().copy_to_device(copy.address(), data, bytes);
    made = copy.keep();
  }
  release();
  source_ = data;
  address_ = made;
  bytes_ = made != data ? bytes : 0;
  return address_;
}

void DeviceCopy::release() const noexcept {
  if (bytes_ != 0) {
    const RuntimeLock lock;
    Memory::instance().free(const_cast<void*>(address_), bytes_);
  }
  source_ = address_ = nullptr;
  bytes_ = 0;
}

}  // namespace jit
