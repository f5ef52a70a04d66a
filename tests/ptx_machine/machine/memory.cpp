#include "memory.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "races.hpp"

namespace ptx_machine {

namespace {
constexpr std::uint64_t kWindow = std::uint64_t{1} << 42;
constexpr std::uint64_t kAlignment = 256;  // what CUDA promises
}  // namespace

Allocation::Allocation() = default;
Allocation::~Allocation() = default;

void fill_poison(void* memory, std::size_t bytes) {
  auto* to = static_cast<char*>(memory);
  for (; bytes >= 8; bytes -= 8, to += 8) std::memcpy(to, &kPoison, 8);
  if (bytes > 0) std::memcpy(to, &kPoison, bytes);
}

Memory::Memory(std::uint64_t total, std::uint64_t seed) : total_(total), random_(seed * 2 + 1) {
  void* window = mmap(nullptr, kWindow, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (window == MAP_FAILED) throw std::runtime_error("ptx machine: no room for addresses");
  window_ = static_cast<char*>(window);
  next_ = reinterpret_cast<std::uint64_t>(window) + 4096;
}

Memory::~Memory() {
  for (auto& [address, a] : allocations_) std::free(a->host);
  munmap(window_, kWindow);
}

std::uint64_t Memory::place(std::uint64_t bytes) {
  // Aligned as promised and not more, a gap of 4 KiB and more between.
  random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
  const std::uint64_t address = (next_ + kAlignment - 1) / kAlignment * kAlignment + (random_ >> 60) * kAlignment;
  next_ = address + bytes + 4096;
  if (next_ > reinterpret_cast<std::uint64_t>(window_) + kWindow) {
    std::fprintf(stderr, "ptx machine: more memory was allocated over time than there are addresses\n");
    std::abort();
  }
  return address;
}

Allocation* Memory::insert(std::uint64_t address, std::uint64_t bytes, char* host) {
  auto a = std::make_unique<Allocation>();
  a->address = address;
  a->bytes = bytes;
  a->host = host;
  Allocation* made = a.get();
  allocations_[address] = std::move(a);
  return made;
}

std::uint64_t Memory::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > total_ - used_) return 0;
  auto* host = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  if (host == nullptr) return 0;
  fill_poison(host, bytes);
  used_ += bytes;
  return insert(place(bytes), bytes, host)->address;
}

bool Memory::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second->pinned) return false;
  used_ -= found->second->bytes;
  freed_[address] = found->second->bytes;
  std::free(found->second->host);
  allocations_.erase(found);
  ++generation_;
  return true;
}

void* Memory::allocate_pinned(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto* host = static_cast<char*>(std::aligned_alloc(4096, (std::max<std::uint64_t>(bytes, 1) + 4095) / 4096 * 4096));
  if (host == nullptr) return nullptr;
  fill_poison(host, bytes);
  Allocation* a = insert(place(bytes), bytes, host);
  a->pinned = true;
  pinned_[host] = a->address;
  return host;
}

bool Memory::free_pinned(void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = pinned_.find(static_cast<const char*>(host));
  if (found == pinned_.end()) return false;
  freed_[found->second] = allocations_.at(found->second)->bytes;
  allocations_.erase(found->second);
  pinned_.erase(found);
  std::free(host);
  ++generation_;
  return true;
}

std::uint64_t Memory::device_address(const void* host) const {
  const std::lock_guard lock(mutex_);
  auto found = pinned_.upper_bound(static_cast<const char*>(host));
  if (found == pinned_.begin()) return 0;
  --found;
  const Allocation& a = *allocations_.at(found->second);
  const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(host) - found->first);
  return offset < a.bytes ? a.address + offset : 0;
}

bool Memory::is_pinned(const void* host, std::uint64_t bytes) const {
  const std::uint64_t address = device_address(host);
  if (address == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = std::prev(allocations_.upper_bound(address));
  return found->second->holds(address, bytes);
}

Allocation* Memory::find(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return nullptr;
  --found;
  return found->second->holds(address, bytes) ? found->second.get() : nullptr;
}

std::string Memory::describe(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  char text[160];
  std::snprintf(text, sizeof text, "%llu bytes at 0x%llx", static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
  std::string s = text;
  const auto inside = [&](const auto& map, auto bytes_of) -> std::string {
    auto found = map.upper_bound(address);
    if (found == map.begin()) return "";
    --found;
    const std::uint64_t size = bytes_of(found->second), offset = address - found->first;
    if (offset > size + 4096) return "";
    return ", byte " + std::to_string(offset) + " of an allocation of " + std::to_string(size);
  };
  const std::string alive = inside(allocations_, [](const auto& a) { return a->bytes; });
  const std::string gone = inside(freed_, [](std::uint64_t b) { return b; });
  if (alive.empty() && !gone.empty()) return s + gone + " that was freed";
  return s + (alive.empty() ? ", near no allocation" : alive);
}

std::uint64_t Memory::available() const {
  const std::lock_guard lock(mutex_);
  return total_ - used_;
}

}  // namespace ptx_machine
