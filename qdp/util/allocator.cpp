#include "qdp/util/allocator.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::Allocator {

namespace {
[[noreturn]] void throw_unknown_memory(const char* what) {
  throw jit::UserError({.what = what,
                        .expected = "a pointer from QDP::Allocator that is still allocated",
                        .got = "another one",
                        .what_now = "Was it freed before?"});
}
}  // namespace

struct QDPDefaultAllocator::State {
  struct Place {
    const char* function = "nowhere";
    int line = 0;
  };
  struct Block {
    std::size_t bytes;
    Place place;
  };
  std::mutex mutex;
  std::map<const void*, Block> blocks;
  std::vector<Place> places;
};

QDPDefaultAllocator::QDPDefaultAllocator() : state_(std::make_unique<State>()) {}
QDPDefaultAllocator::~QDPDefaultAllocator() = default;

void* QDPDefaultAllocator::allocate(std::size_t bytes, const MemoryPoolHint&, std::size_t alignment) {
  if (bytes == 0) return nullptr;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;  // aligned_alloc wants a multiple
  void* const memory = whole < bytes ? nullptr : std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  const std::lock_guard lock(state_->mutex);
  state_->blocks[memory] = {bytes, state_->places.empty() ? State::Place{} : state_->places.back()};
  return memory;
}

void QDPDefaultAllocator::free(void* memory) {
  if (memory == nullptr) return;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->blocks.erase(memory) == 0) throw_unknown_memory("free() of memory");
  }
  std::free(memory);
}

std::size_t QDPDefaultAllocator::bytes(const void* memory) const {
  const std::lock_guard lock(state_->mutex);
  const auto block = state_->blocks.find(memory);
  if (block == state_->blocks.end()) throw_unknown_memory("size of memory");
  return block->second.bytes;
}

std::size_t QDPDefaultAllocator::bytes() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t sum = 0;
  for (const auto& [memory, block] : state_->blocks) sum += block.bytes;
  return sum;
}

void QDPDefaultAllocator::pushFunc(const char* function, int line) {
  const std::lock_guard lock(state_->mutex);
  state_->places.push_back({function, line});
}

void QDPDefaultAllocator::popFunc() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->places.empty()) state_->places.pop_back();
}

void QDPDefaultAllocator::dump() const {
  if (!io::is_primary()) return;
  const std::lock_guard lock(state_->mutex);
  std::size_t sum = 0;
  std::printf("Dumping memory map\n");
  for (const auto& [memory, block] : state_->blocks) {
    std::printf("mem= %p  bytes= %zu  line= %d  func= %s\n", memory, block.bytes, block.place.line,
                block.place.function);
    sum += block.bytes;
  }
  std::printf("total bytes= %zu\n", sum);
}

}  // namespace QDP::Allocator
