#include "jit/memory/memory.hpp"

#include <algorithm>
#include <string>

#include "jit/gpu/process_device.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

// Blocks may be kept up to this size in all even if the program never had as much alive at once.
constexpr std::size_t kAlwaysKept = std::size_t{64} << 20;

constexpr std::size_t kPage = 4096;

}  // namespace

// Sizes that share a bin. Fields of one lattice have few sizes, so bins are narrow and nothing is wasted.
std::size_t Memory::block_bytes(std::size_t bytes) {
  const std::size_t unit = bytes >= kPage ? kPage : Device::kAlignment;
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

Memory::Memory(Device& device, BlockSource& blocks, std::size_t limit) : device_(device), blocks_(blocks) {
  set_limit(limit);
}

Memory::~Memory() { release_kept(); }

Memory& Memory::instance() {
  static Memory* memory = [] {
    auto* made = new Memory(process_device(), env().mem_max);
    made->device().when_short([made](bool again) { return made->make_room(again); });
    return made;
  }();
  return *memory;
}

Memory& Memory::host() {
  static Memory* memory = [] {
    Memory& device_memory = instance();
    Device& device = device_memory.device();
    return device.host_accessible() ? &device_memory : new Memory(device.host());
  }();
  return *memory;
}

void* Memory::allocate(std::size_t bytes) {
  const std::size_t size = block_bytes(bytes);
  while (size <= limit_ && size > peak_ - live_ && make_way()) {
  }
  if (void* block = try_allocate(bytes)) return block;
  // A request that cannot be met must not drive everything else out.
  if (size < bytes || size > room()) fail(bytes);
  while (give_up_one())
    if (void* block = try_allocate(bytes)) return block;
  fail(bytes);
}

void* Memory::try_allocate(std::size_t bytes) {
  const std::size_t size = block_bytes(bytes);
  void* block = size < bytes ? nullptr : take(size);
  if (block == nullptr) return nullptr;
  live_ += size;
  ++live_blocks_;
  peak_ = std::max(peak_, live_);
  return block;
}

std::size_t Memory::spare_bytes() const {
  std::size_t bytes = 0;
  for (const Holder* holder : holders_) bytes += holder->spare_bytes();
  return bytes;
}

bool Memory::give_up_one() {
  return std::ranges::any_of(holders_, [](Holder* holder) { return holder->give_up_one(); });
}

bool Memory::make_way() {
  return std::ranges::any_of(holders_, [](Holder* holder) { return holder->make_way(); });
}

void Memory::give_up_all() {
  while (give_up_one()) {
  }
}

/// One kept or new block of a size as block_bytes() returns it, or nullptr.
void* Memory::take(std::size_t size) {
  std::vector<Kept>& bin = bins_[size];
  if (!bin.empty()) {
    void* block = bin.back().address;
    bin.pop_back();
    kept_ -= size;
    return block;
  }
  if (size > limit_ || live_ > limit_ - size) return nullptr;
  // INVARIANT: what is held never exceeds the most that lived at once (or kAlwaysKept), nor the limit. On a GPU twice as
  // much: to give back and to ask for memory holds all its work up, and temporaries of several sizes, each reused, take
  // more than ever lived together.
  const std::size_t most = device_.host_accessible() ? peak_ : 2 * peak_;
  const std::size_t bound = std::min(limit_, std::max({most, live_ + size, kAlwaysKept}));
  old_.clear();
  while (kept_ > 0 && live_ + size + kept_ + blocks_.kept_bytes() > bound) old_.push_back(take_oldest());
  void* block = blocks_.exchange(old_, size, bound - std::min(bound, live_ + size + kept_));
  if (block == nullptr && kept_ > 0) {
    release_kept();
    block = blocks_.allocate(size);
  }
  return block;
}

void Memory::free(void* address, std::size_t bytes) noexcept {
  if (address == nullptr) return;
  const std::size_t size = block_bytes(bytes);
  live_ -= size;
  --live_blocks_;
  try {
    bins_[size].push_back({address, ++clock_});
    kept_ += size;
  } catch (...) {  // no memory for the list
    blocks_.free(address, size);
  }
}

OldBlock Memory::take_oldest() {
  std::vector<Kept>* oldest = nullptr;
  OldBlock block = {};
  for (auto& [bytes, bin] : bins_)
    if (!bin.empty() && (oldest == nullptr || bin.front().stamp < oldest->front().stamp)) {
      oldest = &bin;
      block = {bin.front().address, bytes};
    }
  oldest->erase(oldest->begin());
  kept_ -= block.bytes;
  return block;
}

void Memory::release_kept() noexcept {
  for (auto& [bytes, bin] : bins_) {
    for (const Kept& block : bin) blocks_.free(block.address, bytes);
    bin.clear();
  }
  kept_ = 0;
  blocks_.give_back();
}

bool Memory::make_room(bool again) {
  const bool enough = kept_ > 0 && !again;
  const bool given_up = !enough && give_up_one();
  release_kept();
  return enough || given_up;
}

void Memory::fail(std::size_t bytes) const {
  std::string got = "a request for " + format_bytes(bytes) + " beyond " + format_bytes(live_) + " in " +
                    std::to_string(live_blocks_) + " blocks of fields";
  if (kept_ > 0) got += ", " + format_bytes(kept_) + " kept for reuse";
  for (const Holder* holder : holders_)
    if (const std::string held = holder->describe(); !held.empty()) got += ", " + held;
  const std::size_t size = block_bytes(bytes);
  const bool refused = size <= limit_ && live_ <= limit_ - size;  // by the device, with less in use than the limit
  const bool from_environment = env().mem_max != 0 && limit_ == env().mem_max;
  throw OutOfMemory({.what = "out of memory on \"" + device_.name() + "\"",
                     .expected = "at most " + format_bytes(limit_) + " in all",
                     .got = got,
                     .where = refused            ? "the device refused it; do other programs use its memory?"
                              : from_environment ? "limit from TESSERA_MEM_MAX"
                                                 : "limit: memory of the device",
                     .what_now = holders_.empty() || device_.host_accessible()
                                     ? "Keep fewer fields or use a smaller local lattice"
                                     : "Use a smaller local lattice, or statements with fewer fields"});
}

}  // namespace jit
