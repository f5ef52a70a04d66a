#include "jit/device/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace jit {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Blocks of which pages are kept.
constexpr std::size_t kMostKept = 64;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// Where the next block begins behind a boundary of pages, in bytes. A kernel walks along a dozen fields at once: if all began
/// at such a boundary, the same sites of all would fall into the same few sets of a cache, and drive each other out. These
/// places lie evenly among the sets of caches with ways of 4 KiB to 128 KiB, whether there are eight blocks or 64.
std::size_t next_offset() {
  constexpr std::size_t kLine = 64, kPlaces = 2048, kStep = 1163;
  static std::atomic<std::size_t> place{0};
  return place.fetch_add(kStep, std::memory_order_relaxed) % kPlaces * kLine;
}

/// Untouched pages; nullptr.
std::byte* map_pages(std::size_t bytes) {
  const std::size_t reserved = bytes + kHugePage;
  void* raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start) munmap(raw, aligned - start);
  if (aligned < start + kHugePage) munmap(reinterpret_cast<void*>(aligned + bytes), start + kHugePage - aligned);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}

}  // namespace

bool on_one_numa_domain(const std::vector<int>& processors) {
  std::set<std::string> domains;
  for (const int cpu : processors) {
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator("/sys/devices/system/cpu/cpu" + std::to_string(cpu), none))
      if (const std::string name = entry.path().filename(); name.starts_with("node")) domains.insert(name);
  }
  return !processors.empty() && domains.size() <= 1;
}

bool HugePages::suit(std::size_t bytes) { return bytes >= kHugePage; }

HugePages::Mapping HugePages::mapping_of(void* address, std::size_t bytes) {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) % kHugePage;
  return {static_cast<std::byte*>(address) - offset, whole_pages(offset + bytes)};
}

void HugePages::unmap(const Mapping& pages) noexcept {
  if (pages.bytes > 0) munmap(pages.begin, pages.bytes);
}

void* HugePages::allocate(std::size_t bytes) {
  const std::size_t offset = next_offset(), all = whole_pages(offset + bytes);
  std::byte* const begin = map_pages(all);
  if (begin == nullptr) {
    if (kept_.empty()) return nullptr;
    give_back();
    return allocate(bytes);
  }
  // One by one: a mapping ends where pages that came from elsewhere begin, and the system moves parts of one at a time. Where a page has
  // gone, another thread may have others already, so it is forgotten.
  Mapping left{begin, all};
  while (!kept_.empty() && left.bytes >= kHugePage) {
    Mapping& from = kept_.back();
    if (mremap(from.begin, kHugePage, kHugePage, MREMAP_MAYMOVE | MREMAP_FIXED, left.begin) == MAP_FAILED) {
      // Whether its place is still ours, the system does not tell.
      unmap({begin, static_cast<std::size_t>(left.begin - begin)});
      unmap({left.begin + kHugePage, left.bytes - kHugePage});
      give_back();
      return allocate(bytes);
    }
    for (Mapping* const m : {&from, &left}) m->begin += kHugePage, m->bytes -= kHugePage;
    kept_bytes_ -= kHugePage;
    if (from.bytes == 0) kept_.pop_back();
  }
  return begin + offset;
}

void HugePages::free(void* address, std::size_t bytes) noexcept { unmap(mapping_of(address, bytes)); }

void HugePages::take(const OldBlock& block) noexcept {
  const Mapping all = mapping_of(block.address, block.bytes);
  std::size_t huge = kept_.size() < kMostKept ? all.bytes / kHugePage * kHugePage : 0;
  try {
    if (huge > 0) kept_.push_back({all.begin, huge});
  } catch (...) {  // no memory for the list
    huge = 0;
  }
  kept_bytes_ += huge;
  unmap({all.begin + huge, all.bytes - huge});
}

void HugePages::keep_at_most(std::size_t bytes) noexcept {
  while (kept_bytes_ > bytes) {
    Mapping& last = kept_.back();
    const std::size_t less = std::min(last.bytes, (kept_bytes_ - bytes + kHugePage - 1) / kHugePage * kHugePage);
    last.bytes -= less;
    kept_bytes_ -= less;
    unmap({last.begin + last.bytes, less});
    if (last.bytes == 0) kept_.pop_back();
  }
}

}  // namespace jit
