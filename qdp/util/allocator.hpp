// Host memory for programs that pack data of their own: Allocator::theQDPAllocator, aligned to QDP_ALIGNMENT_SIZE bytes.
//
//   auto* packed = static_cast<Block*>(Allocator::theQDPAllocator::Instance().allocate(n * sizeof(Block), Allocator::DEFAULT));
//   ...
//   Allocator::theQDPAllocator::Instance().free(packed);
//
// Fields do not come from here. Any thread may call.
#pragma once

#include <cstddef>
#include <memory>

#include "jit/support/owned.hpp"
#include "qdp/util/singleton.hpp"
#include "qdp_config.h"

namespace QDP::Allocator {

/// There is one kind of host memory: both mean the same.
enum MemoryPoolHint { DEFAULT, FAST };

class QDPDefaultAllocator {
 public:
  QDPDefaultAllocator(const QDPDefaultAllocator&) = delete;
  QDPDefaultAllocator& operator=(const QDPDefaultAllocator&) = delete;

  /// No effect: memory is taken from the system when it is asked for.
  void init(std::size_t) {}
  /// nullptr for no bytes. Throws std::bad_alloc. The alignment is a power of two.
  void* allocate(std::size_t bytes, const MemoryPoolHint& hint, std::size_t alignment = QDP_ALIGNMENT_SIZE);
  /// Throws jit::UserError for memory that is not from here or was given back; nullptr is fine.
  void free(void* memory);
  /// Of one allocation. Throws jit::UserError likewise.
  std::size_t bytes(const void* memory) const;
  /// Of all that is allocated now.
  std::size_t bytes() const;

  /// The function that dump() names with what is allocated from here to popFunc. The text has to stay.
  void pushFunc(const char* function, int line);
  void popFunc();
  /// What is allocated on the primary, to its standard output: address, bytes, function, line.
  void dump() const;

 private:
  friend struct CreateUsingNew<QDPDefaultAllocator>;
  QDPDefaultAllocator();
  ~QDPDefaultAllocator();

  struct State;
  jit::Owned<State> state_;
};

/// Never destroyed: objects that die at exit give their memory back.
using theQDPAllocator = SingletonHolder<QDPDefaultAllocator, CreateUsingNew, NoDestroy>;

/// n objects, default-initialised; nullptr for none. Throws std::bad_alloc.
template <class T> T* new_aligned(std::size_t n) {
  QDPDefaultAllocator& allocator = theQDPAllocator::Instance();
  constexpr std::size_t kAlignment = alignof(T) > QDP_ALIGNMENT_SIZE ? alignof(T) : QDP_ALIGNMENT_SIZE;
  T* const objects = static_cast<T*>(allocator.allocate(n * sizeof(T), DEFAULT, kAlignment));
  try {
    std::uninitialized_default_construct_n(objects, n);
  } catch (...) {
    allocator.free(objects);
    throw;
  }
  return objects;
}
template <class T> void delete_aligned(T* objects) {
  if (objects == nullptr) return;
  QDPDefaultAllocator& allocator = theQDPAllocator::Instance();
  std::destroy_n(objects, allocator.bytes(objects) / sizeof(T));
  allocator.free(objects);
}

}  // namespace QDP::Allocator

namespace QDP::Hints {

/// No effect: fields are where they are used, on the host and on the device, without being told.
template <class T> void moveToFastMemoryHint(T&, bool = false) {}
template <class T> void revertFromFastMemoryHint(T&, bool = false) {}

}  // namespace QDP::Hints

namespace QDP {
using Hints::moveToFastMemoryHint;
using Hints::revertFromFastMemoryHint;
}  // namespace QDP
