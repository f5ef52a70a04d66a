// Which fields have a device side, in order of use: device memory is a cache (design D7).
//
// Only devices with a memory of their own are tracked. When their pool runs short, the least recently used field gives
// its device side up, unless the present statement has used it: to nothing if the host has the contents, else to an
// image in host memory, from which it comes back by a plain copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "jit/memory/memory.hpp"
#include "jit/memory/residency_place.hpp"

namespace jit {

class Field;

/// Fields moved between a device and the host, and their bytes.
struct TransferCounts {
  std::int64_t in = 0, out = 0;  ///< to the device; to the host because the host wanted to see them
  std::int64_t spilled = 0;      ///< to the host because memory was short
  std::int64_t dropped = 0;      ///< device sides given up without a copy, because memory was short
  std::uint64_t bytes_in = 0, bytes_out = 0, bytes_spilled = 0;
};

class Residency final : private Memory::Holder {
 public:
  /// `host` is the same pool as `device` if the host can reach the device's memory. Both outlive this, this its fields.
  Residency(Memory& device, Memory& host);
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  /// That of Memory::instance() and Memory::host(); never destroyed.
  static Residency& instance();

  Memory& device_memory() const { return device_; }
  Memory& host_memory() const { return host_; }
  Device& device() const { return device_.device(); }
  /// Whether the device has a memory of its own.
  bool separate() const { return separate_; }

  /// INVARIANT: what device_read(), device_write() and device_reserve() have returned or made ready since the last call
  /// stays where it is until the next. Every launch begins with it; nothing that a launch does on the side may.
  void begin_statement() {
    ++statement_;
    host_is_full_ = false;
  }

  std::int64_t resident_fields() const;
  const TransferCounts& transfers() const { return transfers_; }
  void reset_transfers() { transfers_ = {}; }

 private:
  friend class Field;

  using Place = ResidencyPlace;

  void use(Place& place);  // to the newest end, needed by the present statement
  static void leave(Place& place) noexcept;
  static void exchange(Place& a, Place& b) noexcept;
  static void replace(Place& present, Place& next) noexcept;

  std::size_t spare_bytes() const override;
  bool give_up_one() override;
  std::string describe() const override;

  Memory& device_;
  Memory& host_;
  const bool separate_;
  Place ring_;  // older: the newest field, newer: the oldest
  std::uint64_t statement_ = 1;
  bool host_is_full_ = false;  // a field could not leave the device
  TransferCounts transfers_;
};

}  // namespace jit
