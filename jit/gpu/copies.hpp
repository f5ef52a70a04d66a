// Copies between the host's memory and a GPU's, each in its direction's stream.
//
// They go through pinned memory piece by piece, so that the host's threads fill or empty one piece while others travel.
// A short copy goes the way of the launches: events would take longer than the copy. Not thread safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "jit/device/device.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/staging.hpp"
#include "jit/gpu/streams.hpp"

namespace jit {

/// Copies of more than GpuCopies::kSmall bytes since the device was opened: fields and tables, not single sites and
/// scalars.
struct GpuTraffic {
  struct Way {
    std::uint64_t copies = 0, bytes = 0;
  };
  Way to_device, to_host;
};

class GpuCopies {
 public:
  /// The threads of `host` fill and empty the pieces.
  GpuCopies(GpuDriver& driver, Streams& streams, Device& host);

  /// `count` pieces of `bytes` each, `pitch` apart on the device and dense on the host.
  struct Rows {
    void* device;
    std::size_t pitch;
    void* host;
    std::size_t bytes, count;
  };
  /// Returns when the host memory has been read.
  void to_device(const Rows& rows);
  /// Returns when it has been written.
  void to_host(const Rows& rows);

  const GpuTraffic& traffic() const { return traffic_; }

  static constexpr std::size_t kSmall = 4096;

 private:
  /// Puts the transfer of bytes [offset, offset + bytes) of a copy, which lie at `staged`, into the stream.
  using Transfer = std::function<void(std::size_t offset, std::byte* staged, std::size_t bytes)>;
  void copy(StreamRole way, const Rows& rows);
  void send(StreamRole role, const void* host, std::size_t bytes, std::size_t step, const Transfer& transfer);
  void receive(StreamRole role, void* host, std::size_t bytes, std::size_t step, const Transfer& transfer);
  void copy_on_host(void* to, const void* from, std::size_t bytes);
  Staging& staging(StreamRole role) { return staging_[static_cast<std::size_t>(role)]; }

  GpuDriver& driver_;
  Streams& streams_;
  Device& host_;
  std::array<Staging, kStreamRoles> staging_;
  GpuTraffic traffic_;
};

}  // namespace jit
