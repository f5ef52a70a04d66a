#include "jit/memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "jit/support/error.hpp"

namespace jit {
namespace {

/// At its begin the number of the segment, so that whoever has mapped another file finds out.
constexpr std::size_t kHead = Device::kAlignment;
constexpr std::size_t kPage = 4096;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + Device::kAlignment - 1) / Device::kAlignment * Device::kAlignment;
}

std::unique_ptr<MappedSegment> map_file(int descriptor, std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  return at == MAP_FAILED ? nullptr : std::make_unique<MappedSegment>(at, bytes);
}

}  // namespace

MappedSegment::~MappedSegment() { munmap(address_, bytes_); }

std::byte* MappedSegment::at(std::uint64_t first, std::uint64_t bytes) const {
  if (first > bytes_ || bytes > bytes_ - first)
    throw InternalError({.what = "memory of another rank",
                         .expected = "a part of its " + std::to_string(bytes_) + " bytes",
                         .got = std::to_string(bytes) + " bytes from " + std::to_string(first)});
  return address_ + first;
}

std::unique_ptr<MappedSegment> map_segment(const SegmentAddress& segment) {
  const std::string path = "/proc/" + std::to_string(segment.process) + "/fd/" + std::to_string(segment.descriptor);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  std::unique_ptr<MappedSegment> mapped;
  std::uint64_t number = 0;
  if (pread(file, &number, sizeof number, 0) == sizeof number && number == segment.number)
    mapped = map_file(file, segment.bytes);
  close(file);
  return mapped;
}

Segment::Segment(SegmentAddress address, std::unique_ptr<MappedSegment> memory)
    : address_(address), memory_(std::move(memory)) {
  gaps_.give(kHead, memory_->bytes() - kHead);
}

Segment::~Segment() { close(static_cast<int>(address_.descriptor)); }

std::unique_ptr<Segment> Segment::make(std::size_t bytes) {
  SegmentAddress address{.process = getpid(), .bytes = bytes / kPage * kPage};
  if (address.bytes == 0 || getrandom(&address.number, sizeof address.number, 0) != sizeof address.number)
    return nullptr;
  const int file = memfd_create("tessera messages", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  address.descriptor = file;
  std::unique_ptr<MappedSegment> memory;
  if (ftruncate(file, static_cast<off_t>(address.bytes)) == 0) memory = map_file(file, address.bytes);
  if (memory == nullptr) {
    close(file);
    return nullptr;
  }
  std::memcpy(memory->at(0, kHead), &address.number, sizeof address.number);
  return std::unique_ptr<Segment>(new Segment(address, std::move(memory)));
}

void* Segment::allocate(std::size_t bytes) {
  const std::size_t size = whole_lines(bytes);
  const auto first = size < bytes ? std::nullopt : gaps_.find(size);
  if (!first) return nullptr;
  gaps_.take(*first, size);
  return memory_->at(*first, size);
}

void Segment::free(void* address, std::size_t bytes) noexcept {
  const std::uint64_t first = memory_->place_of(address), end = first + whole_lines(bytes);
  // Whole pages go back to the system, which may have no such operation: then they stay.
  const std::uint64_t page = (first + kPage - 1) / kPage * kPage;
  if (end >= page + kPage)
    (void)madvise(static_cast<std::byte*>(address) + (page - first), (end - page) / kPage * kPage, MADV_REMOVE);
  try {
    gaps_.give(first, end - first);
  } catch (...) {  // the piece is lost
  }
}

}  // namespace jit
