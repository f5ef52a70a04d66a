// The streams of a GPU, and which operation waits for which.
//
// A stream's operations run one after the other; the streams run side by side. For every block of device memory it is
// known which operation wrote it last and which have read it since, so that an operation waits, on the GPU, for what it
// depends on and nothing else: one that reads, for the last that wrote; one that writes, for the readers too. So the
// operands of a statement travel while the kernel of the statement before runs.
//
// To note each launch, with an event behind it, costs the host about a microsecond. So launches are noted only for a
// while after a field has travelled, which is when memory is short; the others count as using all memory.
// Not thread safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "jit/gpu/driver.hpp"

namespace jit {

enum class StreamRole : std::uint8_t {
  compute,    ///< launches, and what is too short to be worth an event
  to_device,  ///< fields and tables
  to_host,
};
inline constexpr std::size_t kStreamRoles = 3;

class Streams {
 public:
  /// Memory that an operation touches: any address of it.
  struct Use {
    const void* address;
    bool written;
  };

  explicit Streams(GpuDriver& driver);
  /// The streams' work must have ended.
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  GpuDriver::Stream operator[](StreamRole role) const { return streams_[index(role)].handle; }

  /// A block of device memory that operations may name. What was never added counts as all memory.
  void add(const void* block, std::size_t bytes) noexcept;
  /// The host waits for the operations on the block that holds this address.
  void wait(const void* address);
  /// The same for a block, and there are no others after them.
  void wait_and_remove(const void* block);

  /// To be called before the driver's calls that are one operation: lets its stream wait for what it depends on.
  void begin(StreamRole role, std::span<const Use> uses);
  /// The same for an operation on any memory.
  void begin(StreamRole role);
  /// To be called behind a launch: others may wait for it and not for what comes later.
  void end(StreamRole role);
  /// The stream waits for all that the others have been given.
  void follow_all(StreamRole role);

  /// From now on, for a while, launches are worth noting.
  void watch() { watched_ = kWatched; }
  bool watching() const { return watched_ > 0; }

  /// The host waits.
  void synchronize(StreamRole role);
  void synchronize();
  /// The host has seen the end of the stream's last operation.
  void finished(StreamRole role);

  /// Launches that are noted after a field has travelled: statements between two fields that leave.
  static constexpr int kWatched = 128;
  /// Operations of a stream that can be waited for one by one; for older ones, the oldest of these.
  static constexpr std::size_t kMostPoints = 128;

 private:
  using Number = std::uint64_t;                      // of an operation in its stream, from 1; 0: none
  using Numbers = std::array<Number, kStreamRoles>;  // one for each stream

  struct Block {
    std::size_t bytes;
    std::size_t writer = 0;  // the stream that wrote it last
    Number written = 0;
    Numbers read = {};  // since then
  };
  struct Point {
    Number number;  // the event is behind this operation
    GpuDriver::Event event;
  };
  struct Stream {
    GpuDriver::Stream handle = nullptr;
    Number last = 0;           // given to it
    Number anywhere = 0;       // the last on any memory
    Numbers seen = {};         // its next operation follows these of the others
    std::deque<Point> points;  // by number
  };

  static std::size_t index(StreamRole role) { return static_cast<std::size_t>(role); }
  Block* find(const void* address);
  const Point& record(Stream& stream);
  const Point& point_behind(Stream& stream, Number number);
  void follow(std::size_t follower, std::size_t leader, Number number);
  void wait_for(const Block* block);
  void wait_for(std::size_t leader, Number number);

  GpuDriver& driver_;
  std::array<Stream, kStreamRoles> streams_;
  Numbers ended_ = {};  // these, and those before, the host has seen end
  std::map<std::uintptr_t, Block> blocks_;
  std::vector<Block*> used_;  // by the operation that begins
  int watched_ = 0;
};

}  // namespace jit
