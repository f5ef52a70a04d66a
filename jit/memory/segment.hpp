// Memory that other processes of this machine can read where it lies: a file that is nowhere but in memory, and goes with the last
// process that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "jit/device/device.hpp"
#include "jit/support/gaps.hpp"

namespace jit {

/// What another process needs to find a segment. The number tells it from others that have its place meanwhile, or among other
/// processes.
struct SegmentAddress {
  std::int64_t process = 0, descriptor = -1;
  std::uint64_t bytes = 0, number = 0;
};

/// A segment as this process sees it.
class MappedSegment {
 public:
  MappedSegment(void* address, std::size_t bytes) : address_(static_cast<std::byte*>(address)), bytes_(bytes) {}
  ~MappedSegment();
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// Throws InternalError for what does not lie in it.
  std::byte* at(std::uint64_t first, std::uint64_t bytes) const;
  std::uint64_t place_of(const void* address) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - address_);
  }

 private:
  std::byte* address_;
  std::size_t bytes_;
};

/// nullptr: it cannot be reached, for instance because it is that of another container.
std::unique_ptr<MappedSegment> map_segment(const SegmentAddress& segment);

/// This process's own, which takes memory for what has been used of it only.
class Segment final : public BlockSource {
 public:
  /// nullptr: the system has none for it.
  static std::unique_ptr<Segment> make(std::size_t bytes);
  ~Segment() override;

  const SegmentAddress& address() const { return address_; }
  const MappedSegment& memory() const { return *memory_; }

  void* allocate(std::size_t bytes) override;
  void free(void* address, std::size_t bytes) noexcept override;
  std::size_t capacity() const override { return memory_->bytes(); }

 private:
  Segment(SegmentAddress address, std::unique_ptr<MappedSegment> memory);

  SegmentAddress address_;
  std::unique_ptr<MappedSegment> memory_;
  Gaps gaps_;
};

}  // namespace jit
