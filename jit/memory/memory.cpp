#include "jit/memory/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

// Blocks may be kept up to this size in all even if the program never had as much alive at once.
constexpr std::size_t kAlwaysKept = std::size_t{64} << 20;

constexpr std::size_t kPage = 4096;

/// Sizes that share a bin. Fields of one lattice have few sizes, so bins are narrow and nothing is wasted.
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= kPage ? kPage : Device::kAlignment;
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

}  // namespace

std::string format_bytes(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.2f %s" : value < 100 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
                kUnits[unit]);
  return text;
}

Memory::Memory(Device& device, std::size_t limit) : device_(device) { set_limit(limit); }

Memory::~Memory() { release_kept(); }

Memory& Memory::instance() {
  static Memory* memory = new Memory(process_device(), env().mem_max);
  return *memory;
}

void* Memory::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  auto& bin = bins_[size];
  void* block = nullptr;
  if (!bin.empty()) {
    block = bin.back().address;
    bin.pop_back();
    kept_ -= size;
  } else {
    if (size > limit_ || live_ > limit_ - size) fail(bytes);
    // INVARIANT: what is held never exceeds the most that lived at once (or kAlwaysKept), nor the limit.
    const std::size_t bound = std::min(limit_, std::max({peak_, live_ + size, kAlwaysKept}));
    while (kept_ > 0 && live_ + size + kept_ > bound) release_oldest();
    block = device_.allocate(size);
    if (block == nullptr && kept_ > 0) {
      release_kept();
      block = device_.allocate(size);
    }
    if (block == nullptr) fail(bytes);
  }
  live_ += size;
  ++live_blocks_;
  peak_ = std::max(peak_, live_);
  return block;
}

void Memory::free(void* address, std::size_t bytes) noexcept {
  if (address == nullptr) return;
  const std::size_t size = rounded(bytes);
  live_ -= size;
  --live_blocks_;
  try {
    bins_[size].push_back({address, ++clock_});
    kept_ += size;
  } catch (...) {  // no memory for the list
    device_.free(address, size);
  }
}

void Memory::release_oldest() noexcept {
  std::vector<Kept>* oldest = nullptr;
  std::size_t size = 0;
  for (auto& [bytes, bin] : bins_)
    if (!bin.empty() && (oldest == nullptr || bin.front().stamp < oldest->front().stamp)) {
      oldest = &bin;
      size = bytes;
    }
  device_.free(oldest->front().address, size);
  oldest->erase(oldest->begin());
  kept_ -= size;
}

void Memory::release_kept() noexcept {
  for (auto& [bytes, bin] : bins_) {
    for (const Kept& block : bin) device_.free(block.address, bytes);
    bin.clear();
  }
  kept_ = 0;
}

void Memory::fail(std::size_t bytes) const {
  throw DeviceError({.what = "out of memory on \"" + device_.name() + "\"",
                     .expected = "at most " + format_bytes(limit_) + " in all",
                     .got = "a request for " + format_bytes(bytes) + " beyond " + format_bytes(live_) + " in " +
                            std::to_string(live_blocks_) + " blocks of fields",
                     .where = env().mem_max != 0 ? "limit from TESSERA_MEM_MAX" : "limit: memory of the device",
                     .what_now = "Keep fewer fields or use a smaller local lattice"});
}

}  // namespace jit
