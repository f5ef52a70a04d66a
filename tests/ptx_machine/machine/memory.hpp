// The device's memory: allocations at addresses that the host cannot touch, with gaps between them, poison in what was
// not written, and addresses that are never used twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "code.hpp"

namespace ptx_machine {

struct Shadow;  // races.hpp

struct Allocation {
  std::uint64_t address = 0;  ///< the device's
  std::uint64_t bytes = 0;
  char* host = nullptr;
  bool pinned = false;  ///< host memory: the host may look at it at any time
  std::unique_ptr<Shadow> shadow;
  Allocation();
  ~Allocation();
  bool holds(std::uint64_t from, std::uint64_t count) const {
    return from - address <= bytes && count <= bytes - (from - address);
  }
};

void fill_poison(void* memory, std::size_t bytes);

class Memory {
 public:
  explicit Memory(std::uint64_t total, std::uint64_t seed);
  ~Memory();

  /// 0 if there is too little.
  std::uint64_t allocate(std::uint64_t bytes);
  bool free(std::uint64_t address);
  void* allocate_pinned(std::uint64_t bytes);
  bool free_pinned(void* host);
  /// The device's address of pinned memory, or 0. It is another number than the host's.
  std::uint64_t device_address(const void* host) const;
  bool is_pinned(const void* host, std::uint64_t bytes) const;

  /// The allocation that holds these bytes, or nullptr.
  Allocation* find(std::uint64_t address, std::uint64_t bytes);
  /// "8 bytes at 0x..., 16 bytes behind the end of an allocation of 128".
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;
  std::uint64_t available() const;
  std::uint64_t total() const { return total_; }
  /// Changes when an allocation goes: what was found before may be stale.
  std::uint64_t generation() const { return generation_; }

 private:
  std::uint64_t place(std::uint64_t bytes);
  Allocation* insert(std::uint64_t address, std::uint64_t bytes, char* host);

  const std::uint64_t total_;
  std::uint64_t used_ = 0, next_, random_;
  std::atomic<std::uint64_t> generation_ = 1;
  char* window_ = nullptr;  ///< reserved, never accessible: the addresses that the device's pointers have
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Allocation>> allocations_;
  std::map<const char*, std::uint64_t> pinned_;
  std::map<std::uint64_t, std::uint64_t> freed_;  ///< begin, bytes
};

}  // namespace ptx_machine
