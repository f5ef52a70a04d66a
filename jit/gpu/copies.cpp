#include "jit/gpu/copies.hpp"

#include <algorithm>
#include <cstring>

namespace jit {
namespace {

/// Copies from which on waking the other threads pays: one core moves this in about 20 us.
constexpr std::size_t kParallelCopy = std::size_t{256} << 10;
constexpr std::int64_t kPage = 4096;

std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::size_t offset) { return static_cast<const std::byte*>(base) + offset; }

}  // namespace

GpuCopies::GpuCopies(GpuDriver& driver, Streams& streams, Device& host)
    : driver_(driver),
      streams_(streams),
      host_(host),
      staging_{Staging(driver, streams[StreamRole::compute]), Staging(driver, streams[StreamRole::to_device]),
               Staging(driver, streams[StreamRole::to_host])} {}

void GpuCopies::to_device(const Rows& rows) { copy(StreamRole::to_device, rows); }
void GpuCopies::to_host(const Rows& rows) { copy(StreamRole::to_host, rows); }

void GpuCopies::copy(StreamRole way, const Rows& rows) {
  const std::size_t total = rows.bytes * rows.count;
  if (total == 0) return;
  const bool dense = rows.pitch == rows.bytes;
  if (!dense && rows.bytes > Staging::kPieceBytes) {
    for (std::size_t i = 0; i < rows.count; ++i)
      copy(way, {at(rows.device, i * rows.pitch), rows.bytes, at(rows.host, i * rows.bytes), rows.bytes, 1});
    return;
  }
  const bool in = way == StreamRole::to_device, small = total <= kSmall;
  const StreamRole role = small ? StreamRole::compute : way;
  const Streams::Use use{rows.device, in};
  streams_.begin(role, {&use, 1});
  if (!small) {
    GpuTraffic::Way& traffic = in ? traffic_.to_device : traffic_.to_host;
    ++traffic.copies;
    traffic.bytes += total;
    streams_.watch();
  }

  const std::size_t step = dense ? Staging::kPieceBytes : Staging::kPieceBytes / rows.bytes * rows.bytes;
  const GpuDriver::Stream stream = streams_[role];
  const auto transfer = [&](std::size_t offset, std::byte* staged, std::size_t n) {
    void* there = at(rows.device, dense ? offset : offset / rows.bytes * rows.pitch);
    if (dense)
      in ? driver_.copy_in(stream, there, staged, n) : driver_.copy_out(stream, staged, there, n);
    else
      in ? driver_.copy_rows_in(stream, there, rows.pitch, staged, rows.bytes, n / rows.bytes)
         : driver_.copy_rows_out(stream, staged, there, rows.pitch, rows.bytes, n / rows.bytes);
  };
  in ? send(role, rows.host, total, step, transfer) : receive(role, rows.host, total, step, transfer);
}

void GpuCopies::send(StreamRole role, const void* host, std::size_t bytes, std::size_t step, const Transfer& transfer) {
  Staging& ring = staging(role);
  if (ring.pieces() == 0) {
    // The driver only reads what it is given here.
    transfer(0, static_cast<std::byte*>(const_cast<void*>(host)), bytes);
    streams_.synchronize(role);
    return;
  }
  for (std::size_t offset = 0; offset < bytes; offset += step) {
    const std::size_t n = std::min(step, bytes - offset);
    const Staging::Part part = ring.take(n);
    copy_on_host(part.memory, at(host, offset), n);
    transfer(offset, part.memory, n);
    ring.sent(part);
  }
}

void GpuCopies::receive(StreamRole role, void* host, std::size_t bytes, std::size_t step, const Transfer& transfer) {
  Staging& ring = staging(role);
  const std::size_t pieces = ring.pieces();
  if (pieces == 0) {
    transfer(0, static_cast<std::byte*>(host), bytes);
    streams_.synchronize(role);
    return;
  }
  Staging::Part under_way[Staging::kMostPieces];
  const std::size_t parts = (bytes + step - 1) / step;
  for (std::size_t next = 0, done = 0; done < parts; ++done) {
    for (; next < std::min(parts, done + pieces); ++next) {
      const std::size_t n = std::min(step, bytes - next * step);
      const Staging::Part part = under_way[next % pieces] = ring.take(n);
      transfer(next * step, part.memory, n);
      ring.sent(part);
    }
    const Staging::Part& part = under_way[done % pieces];
    ring.wait(part);
    copy_on_host(at(host, done * step), part.memory, std::min(step, bytes - done * step));
  }
  streams_.finished(role);  // what was waited for last was the stream's last
}

void GpuCopies::copy_on_host(void* to, const void* from, std::size_t bytes) {
  if (bytes < kParallelCopy || host_.threads() == 1) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto size = static_cast<std::int64_t>(bytes);
  const Range pages{0, (size + kPage - 1) / kPage};
  host_.parallel_for({&pages, 1}, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin * kPage);
    std::memcpy(at(to, first), at(from, first), std::min(static_cast<std::size_t>(end * kPage), bytes) - first);
  });
}

}  // namespace jit
