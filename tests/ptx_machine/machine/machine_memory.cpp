// Loads, stores, atomic operations and fences of the machine.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

#include "machine.hpp"

namespace ptx_machine {
namespace {

constexpr int kIllegalAddress = 700, kMisaligned = 716;
/// How long the host sees a flag without what should have come before it: long enough for a host that polls.
constexpr std::chrono::milliseconds kHostSeesFlagFirst{20};

std::uint64_t read_bytes(const char* from, int bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, static_cast<std::size_t>(bytes));
  return value;
}
/// Not torn: the host may look at it.
void write_bytes(char* to, std::uint64_t value, int bytes) {
  switch (bytes) {
    case 8:
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), value, __ATOMIC_RELEASE);
      break;
    case 4:
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(to), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
      break;
    default:
      std::memcpy(to, &value, static_cast<std::size_t>(bytes));
  }
}
std::uint64_t widened(std::uint64_t value, int bytes, Number number) {
  if (number != Number::s || bytes == 8) return value;
  const int shift = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

}  // namespace

Allocation* Machine::global(std::uint64_t address, std::uint64_t bytes) { return memory_.find(address, bytes); }

Machine::Place Machine::resolve(Warp& w, const Instruction& i, int lane, std::uint64_t address, std::uint32_t bytes) {
  Place p{nullptr, nullptr, 0, address, i.space};
  if ((address & (bytes - 1)) != 0)
    fail(w, lane, i, kMisaligned,
         std::to_string(bytes) + " bytes at address " + std::to_string(address) + ", which is no multiple of it");
  if (p.space == Space::generic) {
    if (address - kSharedWindow < kWindowBytes)
      p.space = Space::shared, address -= kSharedWindow;
    else if (address - kLocalWindow < kWindowBytes)
      p.space = Space::local, address -= kLocalWindow;
    else
      p.space = Space::global;
  }
  if (p.space == Space::shared) {
    p.offset = address - kSharedBegin;
    const std::uint64_t size = w.block->shared.size();
    if (p.offset > size || bytes > size - p.offset)
      fail(w, lane, i, kIllegalAddress,
           std::to_string(bytes) + " bytes at offset " + std::to_string(static_cast<std::int64_t>(p.offset)) + " of " +
               std::to_string(size) + " bytes of shared memory");
    p.host = w.block->shared.data() + p.offset;
  } else if (p.space == Space::local) {
    const auto size = static_cast<std::uint64_t>(code_->local_bytes);
    p.offset = address - kLocalBegin;
    if (p.offset > size || bytes > size - p.offset)
      fail(w, lane, i, kIllegalAddress,
           std::to_string(bytes) + " bytes at offset " + std::to_string(static_cast<std::int64_t>(p.offset)) + " of " +
               std::to_string(size) + " bytes of local memory");
    p.offset += size * static_cast<std::uint64_t>(lane);
    p.host = w.local.data() + p.offset;
  } else {
    Allocation*& last = found_[static_cast<std::size_t>(&i - code_->instructions.data())];
    if (generation_ != memory_.generation()) {
      generation_ = memory_.generation();
      std::fill(found_.begin(), found_.end(), nullptr);
    }
    if (last == nullptr || !last->holds(address, bytes)) last = global(address, bytes);
    if (last == nullptr) fail(w, lane, i, kIllegalAddress, "outside memory: " + memory_.describe(address, bytes));
    p.allocation = last;
    p.offset = address - last->address;
    p.host = last->host + p.offset;
  }
  return p;
}

std::string Machine::where(const Place& p, std::uint32_t bytes, const Instruction& i) const {
  const std::string place = p.space == Space::shared ? std::to_string(bytes) + " bytes at offset " +
                                                           std::to_string(p.offset) + " of shared memory"
                                                     : memory_.describe(p.address, bytes);
  return place + ", " + code_->name + " " + code_->source_line(i.line);
}

Shadow& Machine::shadow(Warp& w, const Place& p) {
  if (p.space == Space::shared) return *w.block->shared_shadow;
  if (p.allocation->shadow == nullptr) p.allocation->shadow = std::make_unique<Shadow>();
  return *p.allocation->shadow;
}

/// The word through which threads tell each other something; every block has its own shared memory.
std::uint64_t Machine::meeting_place(const Warp& w, const Place& p) {
  return p.space == Space::shared ? (std::uint64_t{w.block->number} + 1) << 32 | (p.offset & ~std::uint64_t{7})
                                  : p.address & ~std::uint64_t{7};
}

/// Shared and local memory is set before it is read.
void Machine::check_initial(Warp& w, const Place& p, const Instruction& i, int lane) {
  const auto& set = p.space == Space::shared ? w.block->shared_set : w.local_set;
  for (std::uint64_t k = 0; k < i.bytes; ++k)
    if (!set[p.offset + k])
      fail(w, lane, i, 719,
           std::string(p.space == Space::shared ? "shared" : "local") + " memory is read that was not written");
}

// ---- fast ways: all lanes, neighbouring or equal places, nothing to check ----

/// The allocation that holds what all active lanes access, if that is one, as last time; with their first address if
/// they lie side by side.
Allocation* Machine::common_allocation(Warp& w, const Instruction& i, std::uint32_t mask, std::uint64_t& side_by_side) {
  if (i.elements != 1 || i.space != Space::global || i.address_bytes != 8 || i.bytes < 4 || i.row_bytes != i.bytes ||
      generation_ != memory_.generation())
    return nullptr;
  Allocation* last = found_[static_cast<std::size_t>(&i - code_->instructions.data())];
  if (last == nullptr) return nullptr;
  const auto* a = reinterpret_cast<const std::uint64_t*>(operand(w.rows, constants_, i.o[4]));
  side_by_side = 0;
  if (mask == kAllLanes) {
    std::uint64_t differs = 0;
    for (std::uint64_t l = 0; l < kWarp; ++l) differs |= a[l] ^ (a[0] + l * i.bytes);
    if (differs == 0) {
      side_by_side = a[0] + static_cast<std::uint64_t>(i.immediate);
      const bool good =
          (side_by_side & (i.bytes - 1u)) == 0 && last->holds(side_by_side, std::uint64_t{kWarp} * i.bytes);
      return good ? last : nullptr;
    }
  }
  for (int l = 0; l < kWarp; ++l) {
    const std::uint64_t address = a[l] + static_cast<std::uint64_t>(i.immediate);
    if ((mask >> l & 1) != 0 && ((address & (i.bytes - 1u)) != 0 || !last->holds(address, i.bytes))) return nullptr;
  }
  return last;
}

bool Machine::load_fast(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (i.o[0] == kNothing) return false;
  std::uint64_t begin;
  const Allocation* memory = common_allocation(w, i, mask, begin);
  if (memory == nullptr) return false;
  if (begin != 0) {
    std::memcpy(w.rows + i.o[0], memory->host + (begin - memory->address), std::size_t{kWarp} * i.bytes);
    return true;
  }
  const auto gather = [&]<class T>(T) {
    T values[kWarp];
    const auto* a = reinterpret_cast<const std::uint64_t*>(operand(w.rows, constants_, i.o[4]));
    const std::uint64_t shift = static_cast<std::uint64_t>(i.immediate) - memory->address;
    for (int l = 0; l < kWarp; ++l)
      if ((mask >> l & 1) != 0) std::memcpy(&values[l], memory->host + (a[l] + shift), sizeof(T));
    auto* to = reinterpret_cast<T*>(w.rows + i.o[0]);
    for (int l = 0; l < kWarp; ++l)
      if ((mask >> l & 1) != 0) to[l] = values[l];
  };
  if (i.bytes == 8)
    gather(std::uint64_t{});
  else
    gather(std::uint32_t{});
  return true;
}

bool Machine::store_fast(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (i.order != Order::weak) return false;
  std::uint64_t begin;
  const Allocation* memory = common_allocation(w, i, mask, begin);
  if (memory == nullptr || memory->pinned) return false;
  const char* values = operand(w.rows, constants_, i.o[0]);
  if (begin != 0) {
    std::memcpy(memory->host + (begin - memory->address), values, std::size_t{kWarp} * i.bytes);
    return true;
  }
  const auto* a = reinterpret_cast<const std::uint64_t*>(operand(w.rows, constants_, i.o[4]));
  const std::uint64_t shift = static_cast<std::uint64_t>(i.immediate) - memory->address;
  for (int l = 0; l < kWarp; ++l)
    if ((mask >> l & 1) != 0) std::memcpy(memory->host + (a[l] + shift), values + l * i.bytes, i.bytes);
  return true;
}

// ---- one lane at a time ----

void Machine::load(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t all = static_cast<std::uint32_t>(i.bytes) * i.elements;
  const bool strong = i.order != Order::weak;
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) == 0) continue;
    const std::uint64_t address = lane_address(w, i, l);
    Place p = resolve(w, i, l, address, all);
    for (int e = 0; e < i.elements; ++e, p.host += i.bytes, p.offset += i.bytes, p.address += i.bytes) {
      std::uint64_t value;
      if (checked_ && p.space != Space::local) {
        const std::uint32_t t = thread(w, l);
        shadow(w, p).each(p.offset, i.bytes, launch_number_, [&](Cell& c) {
          races_->read(c, t, i.line, i.constant_data, strong, [&] { return where(p, i.bytes, i); });
        });
        if (p.space == Space::shared) {
          check_initial(w, p, i, l);
          value = read_bytes(p.host, i.bytes);
        } else {
          value = i.constant_data ? read_bytes(p.host, i.bytes) : load_word(*w.block, p, i.bytes, t);
        }
        if (strong) {
          races_->observe(meeting_place(w, p), t, i.scope);
          if (i.order == Order::acquire) {
            races_->fence(t, i.scope);
            drain_ordered(w.block->stores, t, i.scope == Scope::sys);
          }
        }
      } else {
        if (checked_) check_initial(w, p, i, l);
        value = read_bytes(p.host, i.bytes);
      }
      if (i.o[e] == kNothing) continue;
      value = widened(value, i.bytes, i.number);
      std::memcpy(w.rows + i.o[e] + l * i.row_bytes, &value, i.row_bytes);
    }
  }
}

void Machine::store(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t all = static_cast<std::uint32_t>(i.bytes) * i.elements;
  const bool strong = i.order != Order::weak;
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) == 0) continue;
    Place p = resolve(w, i, l, lane_address(w, i, l), all);
    for (int e = 0; e < i.elements; ++e, p.host += i.bytes, p.offset += i.bytes, p.address += i.bytes) {
      const std::uint64_t value = lane_value(w, i.o[e], i.row_bytes, l);
      if (!checked_) {
        if (p.space == Space::global)
          write_bytes(p.host, value, i.bytes);
        else
          std::memcpy(p.host, &value, i.bytes);
        continue;
      }
      const std::uint32_t t = thread(w, l);
      if (p.space == Space::local) {
        for (std::uint64_t k = 0; k < i.bytes; ++k) w.local_set[p.offset + k] = true;
        std::memcpy(p.host, &value, i.bytes);
        continue;
      }
      if (i.order == Order::release) {
        races_->fence(t, i.scope);
        drain_ordered(w.block->stores, t, i.scope == Scope::sys);
      }
      shadow(w, p).each(p.offset, i.bytes, launch_number_,
                        [&](Cell& c) { races_->write(c, t, i.line, strong, [&] { return where(p, i.bytes, i); }); });
      if (strong) races_->publish(meeting_place(w, p), t, i.scope, false);
      if (p.space == Space::shared) {
        for (std::uint64_t k = 0; k < i.bytes; ++k) w.block->shared_set[p.offset + k] = true;
        std::memcpy(p.host, &value, i.bytes);
        continue;
      }
      const std::uint64_t word = p.address & ~std::uint64_t{7};
      if (!strong) {
        w.block->stores[word].push_back({p.address, value, t, races_->now(t), i.bytes, AtomicOp::none, i.number});
        continue;
      }
      perform_word(w.block->stores, word, false);
      perform_word(device_stores_, word, false);
      write_bytes(p.host, value, i.bytes);
      // Something that the host may wait for, while other stores that it will look at are still under way.
      if (p.allocation->pinned && host_sees_less()) std::this_thread::sleep_for(kHostSeesFlagFirst);
    }
  }
}

void Machine::atomic(Warp& w, const Instruction& i, std::uint32_t mask) {
  // Lanes in a random order.
  const int first = static_cast<int>(random() % kWarp);
  for (int k = 0; k < kWarp; ++k) {
    const int l = (first + k) % kWarp;
    if ((mask >> l & 1) == 0) continue;
    const Place p = resolve(w, i, l, lane_address(w, i, l), i.bytes);
    const std::uint64_t b = lane_value(w, i.o[1], i.row_bytes, l);
    const std::uint64_t c = i.o[2] == kNothing ? 0 : lane_value(w, i.o[2], i.row_bytes, l);
    const std::uint32_t t = thread(w, l);
    const std::uint64_t word = p.address & ~std::uint64_t{7};
    const bool releases = i.order == Order::release || i.order == Order::acq_rel;
    if (checked_) {
      if (releases) {
        races_->fence(t, i.scope);
        drain_ordered(w.block->stores, t, i.scope == Scope::sys);
      }
      shadow(w, p).each(p.offset, i.bytes, launch_number_, [&](Cell& c) {
        races_->atomic(c, t, i.line, i.atomic, !i.result_unused, [&] { return where(p, i.bytes, i); });
      });
      races_->observe(meeting_place(w, p), t, i.scope);
      races_->publish(meeting_place(w, p), t, i.scope, true);
      if (p.space == Space::shared) {
        check_initial(w, p, i, l);
      } else if (i.result_unused && !releases && !p.allocation->pinned && i.atomic != AtomicOp::cas) {
        w.block->stores[word].push_back({p.address, b, t, races_->now(t), i.bytes, i.atomic, i.number});
        continue;
      } else {
        perform_word(w.block->stores, word, false);
        perform_word(device_stores_, word, false);
      }
    }
    const std::uint64_t old = read_bytes(p.host, i.bytes);
    write_bytes(p.host, atomic_result(i.atomic, i.number, i.bytes, old, b, c), i.bytes);
    if (i.o[0] != kNothing) std::memcpy(w.rows + i.o[0] + l * i.row_bytes, &old, i.row_bytes);
    if (checked_ && (i.order == Order::acquire || i.order == Order::acq_rel)) races_->fence(t, i.scope);
  }
}

void Machine::fence(Warp& w, const Instruction& i, std::uint32_t mask) {
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) == 0) continue;
    const std::uint32_t t = thread(w, l);
    races_->fence(t, i.scope);
    if (i.scope == Scope::cta) continue;  // a block sees its own stores in any case
    drain_ordered(w.block->stores, t, i.scope == Scope::sys);
    if (i.scope == Scope::sys) drain_ordered(device_stores_, t, true);
    for (StoreBuffer& b : left_) drain_ordered(b, t, i.scope == Scope::sys);
  }
}

// ---- stores that wait ----

/// What `thread` sees: memory, and of the stores under way its own and those that come before it by barriers.
std::uint64_t Machine::load_word(Block& b, const Place& p, int bytes, std::uint32_t thread) {
  std::uint64_t value = read_bytes(p.host, bytes);
  const auto overlay = [&](const StoreBuffer& stores, bool all) {
    if (stores.empty()) return;
    const auto found = stores.find(p.address & ~std::uint64_t{7});
    if (found == stores.end()) return;
    for (const Pending& s : found->second) {
      if (!all && s.thread != thread && !races_->ordered(s.thread, s.time, thread)) continue;
      if (s.operation != AtomicOp::none) {
        if (s.address == p.address && s.bytes == bytes)
          value = atomic_result(s.operation, s.number, s.bytes, value, s.value, 0);
        continue;
      }
      for (int k = 0; k < s.bytes; ++k) {
        const auto at = static_cast<std::int64_t>(s.address - p.address) + k;
        if (at < 0 || at >= bytes) continue;
        const std::uint64_t mask = std::uint64_t{255} << (8 * at);
        value = (value & ~mask) | ((s.value >> (8 * k) & 255) << (8 * at));
      }
    }
  };
  overlay(device_stores_, true);
  overlay(b.stores, false);
  return value;
}

void Machine::perform(const Pending& s) {
  Allocation* a = memory_.find(s.address, s.bytes);
  if (a == nullptr) return;  // freed while the kernel ran: cuMemFree waits, so never
  char* to = a->host + (s.address - a->address);
  write_bytes(to,
              s.operation == AtomicOp::none
                  ? s.value
                  : atomic_result(s.operation, s.number, s.bytes, read_bytes(to, s.bytes), s.value, 0),
              s.bytes);
}

/// One word's stores become visible to the device, and to the host too unless it is the host's memory and
/// `to_device_level`.
void Machine::perform_word(StoreBuffer& from, std::uint64_t word, bool to_device_level) {
  const auto found = from.find(word);
  if (found == from.end()) return;
  const Allocation* a = memory_.find(word, 1);
  if (to_device_level && a != nullptr && a->pinned) {
    auto& to = device_stores_[word];
    to.insert(to.end(), found->second.begin(), found->second.end());
  } else {
    for (const Pending& s : found->second) perform(s);
  }
  from.erase(found);
}

void Machine::drain_some() {
  std::vector<StoreBuffer*> buffers;
  for (auto& b : blocks_)
    if (!b->stores.empty()) buffers.push_back(&b->stores);
  for (StoreBuffer& b : left_)
    if (!b.empty()) buffers.push_back(&b);
  const bool device = !device_stores_.empty() && one_in(4);
  if (!device && buffers.empty()) return;
  StoreBuffer& from = device ? device_stores_ : *buffers[random() % buffers.size()];
  for (std::uint32_t n = random() % 8; n > 0 && !from.empty(); --n) {
    // Any bucket's word: the order of a hash table is as good as random.
    auto bucket = random() % from.bucket_count();
    while (from.begin(bucket) == from.end(bucket)) bucket = (bucket + 1) % from.bucket_count();
    const std::uint64_t word = from.begin(bucket)->first;
    perform_word(from, word, &from != &device_stores_);
  }
}

/// A fence: what comes before it is performed; of each word the stores up to the last of those.
void Machine::drain_ordered(StoreBuffer& from, std::uint32_t thread, bool system) {
  std::vector<std::uint64_t> words;
  for (const auto& [word, list] : from) words.push_back(word);
  for (const std::uint64_t word : words) {
    auto& list = from[word];
    std::size_t count = 0;
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].thread == thread || races_->ordered(list[k].thread, list[k].time, thread)) count = k + 1;
    if (count == 0) continue;
    std::vector<Pending> rest(list.begin() + static_cast<std::ptrdiff_t>(count), list.end());
    list.resize(count);
    perform_word(from, word, !system && &from != &device_stores_);
    if (!rest.empty()) from[word] = std::move(rest);
  }
}

void Machine::drain_all() {
  const auto all = [&](StoreBuffer& from) {
    while (!from.empty()) perform_word(from, from.begin()->first, false);
  };
  // What fences have passed on comes first.
  all(device_stores_);
  for (StoreBuffer& b : left_) all(b);
  for (auto& b : blocks_) all(b->stores);
  left_.clear();
}

bool Machine::host_sees_less() const {
  const auto waits = [&](const StoreBuffer& from) {
    return std::any_of(from.begin(), from.end(), [&](const auto& word) {
      const Allocation* a = memory_.find(word.first, 1);
      return a != nullptr && a->pinned;
    });
  };
  return waits(device_stores_) || std::any_of(left_.begin(), left_.end(), waits) ||
         std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& b) { return b != nullptr && waits(b->stores); });
}

}  // namespace ptx_machine
