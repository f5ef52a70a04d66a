#include "jit/gpu/sim_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "jit/support/error.hpp"

namespace jit {
namespace {

/// Accessible memory grows by this much.
constexpr std::size_t kStep = std::size_t{256} << 10;

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }
std::size_t reserved_bytes(std::size_t bytes) { return round_up(bytes, SimMemory::kAlignment); }

}  // namespace

std::string format_address(std::uint64_t address) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

void SimBlocks::insert(std::uint64_t address, std::size_t bytes) {
  live_[address] = {.address = address, .bytes = bytes};
  freed_.erase(address);
}

void SimBlocks::erase(std::uint64_t address) {
  const auto block = live_.find(address);
  if (block == live_.end())
    throw InternalError({.what = "simulated GPU: free " + format_address(address),
                         .expected = std::string("the beginning of a live allocation of ") + kind_,
                         .got = describe(address)});
  if (block->second.users > 0)
    throw InternalError({.what = "simulated GPU: free " + format_address(address),
                         .expected = "no work that uses it",
                         .got = std::to_string(block->second.users) + " unfinished operations on it",
                         .where = std::to_string(block->second.bytes) + " bytes of " + kind_,
                         .what_now = "Synchronise before the call"});
  live_.erase(block);
  freed_.insert(address);
}

SimBlock* SimBlocks::find(std::uint64_t address) {
  const auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  SimBlock& block = std::prev(next)->second;
  return address - block.address < block.bytes ? &block : nullptr;
}

SimBlock& SimBlocks::require(std::uint64_t address, std::size_t bytes, const char* what) {
  SimBlock* block = find(address);
  if (block == nullptr || bytes > block->bytes - (address - block->address))
    throw InternalError(
        {.what = std::string("simulated GPU: ") + what,
         .expected = std::string("a range inside one live allocation of ") + kind_,
         .got = std::to_string(bytes) + " bytes at " + format_address(address) + ": " + describe(address)});
  return *block;
}

std::string SimBlocks::describe(std::uint64_t address) const {
  const auto next = live_.upper_bound(address);
  if (next != live_.begin()) {
    const SimBlock& block = std::prev(next)->second;
    const std::uint64_t offset = address - block.address;
    const std::string size = " allocation of " + std::to_string(block.bytes) + " bytes";
    if (offset < block.bytes) return "byte " + std::to_string(offset) + " of a live" + size;
    if (offset == block.bytes) return "the end of a live" + size;
  }
  return freed_.contains(address) ? "an allocation that was freed" : "an address where nothing is allocated";
}

SimMemory::SimMemory(std::size_t capacity) : capacity_(capacity / kAlignment * kAlignment) {
  if (capacity_ == 0 || capacity_ > kLargest)
    throw UserError({.what = "memory of the simulated GPU",
                     .expected = std::to_string(kAlignment) + " bytes to 64 TiB",
                     .got = std::to_string(capacity),
                     .what_now = "Set TESSERA_SIM_MEMORY"});
  void* raw = mmap(nullptr, capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    throw DeviceError({.what = "memory of the simulated GPU",
                       .got = "no " + std::to_string(capacity_) + " bytes of address space",
                       .what_now = "Set TESSERA_SIM_MEMORY to less"});
  arena_ = static_cast<std::byte*>(raw);
  gaps_.give(0, capacity_);
}

SimMemory::~SimMemory() { munmap(arena_, capacity_); }

void SimMemory::poison(void* host, std::size_t bytes) {
  std::fill_n(static_cast<std::uint32_t*>(host), bytes / sizeof kPoison, kPoison);
  std::memcpy(static_cast<std::byte*>(host) + bytes / sizeof kPoison * sizeof kPoison, &kPoison,
              bytes % sizeof kPoison);
}

bool SimMemory::make_accessible(std::size_t end) {
  if (end <= accessible_) return true;
  const std::size_t wanted = std::min(round_up(end, kStep), capacity_);
  // The last page of the mapping is a whole one, whatever capacity_ is.
  if (mprotect(arena_ + accessible_, wanted - accessible_, PROT_READ | PROT_WRITE) != 0) return false;
  poison(arena_ + accessible_, wanted - accessible_);
  accessible_ = wanted;
  return true;
}

bool SimMemory::is_poisoned(std::size_t begin, std::size_t end) const {
  if (begin == end) return true;
  // The first word is right, and each word equals the next.
  constexpr std::size_t kWord = sizeof kPoison;
  if (end - begin <= kWord || begin % kWord != 0) {
    for (std::size_t i = begin; i < end; ++i)
      if (arena_[i] != reinterpret_cast<const std::byte*>(&kPoison)[i % kWord]) return false;
    return true;
  }
  return std::memcmp(arena_ + begin, &kPoison, kWord) == 0 &&
         std::memcmp(arena_ + begin, arena_ + begin + kWord, end - begin - kWord) == 0;
}

std::uint64_t SimMemory::allocate(std::size_t bytes) {
  if (bytes == 0) throw InternalError({.what = "simulated GPU: allocate", .expected = "at least one byte", .got = "0"});
  if (bytes > capacity_) return 0;
  const std::size_t reserved = reserved_bytes(bytes);
  const auto gap = gaps_.find(reserved);
  if (!gap) return 0;
  const std::size_t offset = *gap;
  if (!make_accessible(offset + reserved)) return 0;
  if (!is_poisoned(offset, offset + reserved))
    throw InternalError(
        {.what = "simulated GPU: allocate",
         .expected = "free memory that nobody wrote to",
         .got = "other values in " + std::to_string(reserved) + " bytes at " + format_address(kWindow + offset),
         .what_now = "A kernel wrote behind the end of an allocation, or to one that was freed"});
  gaps_.take(offset, reserved);
  used_ += reserved;
  blocks_.insert(kWindow + offset, bytes);
  return kWindow + offset;
}

void SimMemory::free(std::uint64_t address) {
  const SimBlock* found = blocks_.find(address);
  const std::size_t bytes = found != nullptr ? found->bytes : 0;
  const std::size_t offset = address - kWindow, reserved = reserved_bytes(bytes);
  if (found != nullptr && found->address == address && found->users == 0 &&
      !is_poisoned(offset + bytes, offset + reserved))
    throw InternalError({.what = "simulated GPU: free " + format_address(address),
                         .expected = "nothing written behind the allocation",
                         .got = "other values behind its " + std::to_string(bytes) + " bytes"});
  blocks_.erase(address);
  poison(arena_ + offset, reserved);
  used_ -= reserved;
  gaps_.give(offset, reserved);
}

}  // namespace jit
