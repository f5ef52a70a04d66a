#include "jit/gpu/streams.hpp"

#include <algorithm>
#include <new>

namespace jit {
namespace {

std::uintptr_t as_number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

Streams::Streams(GpuDriver& driver) : driver_(driver) {
  for (Stream& stream : streams_) stream.handle = driver_.create_stream();
}

Streams::~Streams() {
  for (const Stream& stream : streams_) {
    for (const Point& point : stream.points) driver_.destroy_event(point.event);
    driver_.destroy_stream(stream.handle);
  }
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

void Streams::add(const void* block, std::size_t bytes) noexcept {
  try {
    blocks_[as_number(block)] = {.bytes = bytes};
  } catch (const std::bad_alloc&) {  // operations on it wait for more than they need
  }
}

Streams::Block* Streams::find(const void* address) {
  const auto next = blocks_.upper_bound(as_number(address));
  if (next == blocks_.begin()) return nullptr;
  auto& [begin, block] = *std::prev(next);
  return as_number(address) - begin < block.bytes ? &block : nullptr;
}

void Streams::wait(const void* address) { wait_for(find(address)); }

void Streams::wait_and_remove(const void* block) {
  const auto removed = blocks_.extract(as_number(block));
  wait_for(removed.empty() ? nullptr : &removed.mapped());
}

/// The operations on a block, or on all that is not known.
void Streams::wait_for(const Block* found) {
  const Block block = found != nullptr ? *found : Block{};
  for (std::size_t s = 0; s < kStreamRoles; ++s) {
    const Number written = s == block.writer ? block.written : 0;
    const Number unknown = found != nullptr ? streams_[s].anywhere : streams_[s].last;
    wait_for(s, std::max({written, block.read[s], unknown}));
  }
}

// ---- operations -----------------------------------------------------------------------------------------------------

void Streams::begin(StreamRole role, std::span<const Use> uses) {
  used_.clear();
  for (const Use& use : uses) {
    Block* block = find(use.address);
    if (block == nullptr) return begin(role);
    used_.push_back(block);
  }
  const std::size_t me = index(role);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Block& block = *used_[i];
    follow(me, block.writer, block.written);
    if (!uses[i].written) continue;
    for (std::size_t other = 0; other < kStreamRoles; ++other) follow(me, other, block.read[other]);
  }
  for (std::size_t other = 0; other < kStreamRoles; ++other) follow(me, other, streams_[other].anywhere);

  const Number number = ++streams_[me].last;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Block& block = *used_[i];
    if (uses[i].written) {
      // Whoever waits for this operation waits for those that it has waited for.
      block.writer = me;
      block.written = number;
      block.read = {};
    } else {
      block.read[me] = number;
    }
  }
}

void Streams::begin(StreamRole role) {
  follow_all(role);
  Stream& stream = streams_[index(role)];
  stream.anywhere = ++stream.last;
}

void Streams::end(StreamRole role) {
  if (!watching()) return;
  --watched_;
  record(streams_[index(role)]);
}

void Streams::follow_all(StreamRole role) {
  for (std::size_t other = 0; other < kStreamRoles; ++other) follow(index(role), other, streams_[other].last);
}

void Streams::follow(std::size_t follower, std::size_t leader, Number number) {
  Number& seen = streams_[follower].seen[leader];
  if (follower == leader || number <= std::max(seen, ended_[leader])) return;
  const Point& point = point_behind(streams_[leader], number);
  driver_.wait(streams_[follower].handle, point.event);
  seen = point.number;
}

const Streams::Point& Streams::point_behind(Stream& stream, Number number) {
  const auto found = std::lower_bound(stream.points.begin(), stream.points.end(), number,
                                      [](const Point& point, Number wanted) { return point.number < wanted; });
  return found != stream.points.end() ? *found : record(stream);
}

/// Behind the stream's last operation.
const Streams::Point& Streams::record(Stream& stream) {
  auto& points = stream.points;
  GpuDriver::Event event = nullptr;
  if (points.size() < kMostPoints) {
    event = driver_.create_event(/*timed=*/false);
  } else {
    event = points.front().event;
    points.pop_front();
  }
  try {
    driver_.record(event, stream.handle);
    return points.emplace_back(stream.last, event);
  } catch (...) {
    driver_.destroy_event(event);
    throw;
  }
}

// ---- the host -------------------------------------------------------------------------------------------------------

void Streams::wait_for(std::size_t leader, Number number) {
  if (number <= ended_[leader]) return;
  const Point& point = point_behind(streams_[leader], number);
  driver_.synchronize_event(point.event);
  ended_[leader] = std::max(ended_[leader], point.number);
}

void Streams::synchronize(StreamRole role) {
  driver_.synchronize(streams_[index(role)].handle);
  finished(role);
}

void Streams::synchronize() {
  for (const StreamRole role : {StreamRole::compute, StreamRole::to_device, StreamRole::to_host})
    if (ended_[index(role)] < streams_[index(role)].last) synchronize(role);
}

void Streams::finished(StreamRole role) {
  const Stream& stream = streams_[index(role)];
  ended_[index(role)] = stream.last;
  for (std::size_t other = 0; other < kStreamRoles; ++other)
    ended_[other] = std::max(ended_[other], stream.seen[other]);
}

}  // namespace jit
