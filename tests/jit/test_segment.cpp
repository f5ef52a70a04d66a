// Memory that other processes read, and the messages that lie there.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/message_memory.hpp"
#include "jit/memory/segment.hpp"
#include "jit/support/error.hpp"
#include "tests/child.hpp"
#include "tests/other_processes.hpp"

using namespace jit;
using tests::in_child;

namespace {

std::size_t whole(const Segment& segment) { return segment.capacity() - Device::kAlignment; }

}  // namespace

TEST_CASE("another process reads what lies in a segment, and writes there") {
  TESSERA_NEEDS_OTHER_PROCESSES();
  const auto segment = Segment::make(1 << 20);
  REQUIRE(segment);
  auto* const text = static_cast<char*>(segment->allocate(100));
  std::strcpy(text, "from here");
  const std::uint64_t place = segment->memory().place_of(text);
  CHECK(in_child([&] {
    const auto mapped = map_segment(segment->address());
    if (!mapped || mapped->bytes() != segment->capacity()) return false;
    auto* const there = reinterpret_cast<char*>(mapped->at(place, 100));
    if (there == text || std::strcmp(there, "from here") != 0) return false;
    std::strcpy(there, "from there");
    return true;
  }));
  CHECK(std::strcmp(text, "from there") == 0);
}

TEST_CASE("what is not the segment that was meant is not mapped") {
  const auto segment = Segment::make(1 << 20);
  REQUIRE(segment);
  CHECK(map_segment(segment->address()) != nullptr);
  SegmentAddress other = segment->address();
  ++other.number;
  CHECK(map_segment(other) == nullptr);
  other = segment->address();
  other.descriptor = 0;
  CHECK(map_segment(other) == nullptr);
  other.descriptor = 12345;
  CHECK(map_segment(other) == nullptr);
  other = segment->address();
  other.process = -1;
  CHECK(map_segment(other) == nullptr);
  CHECK(Segment::make(0) == nullptr);
}

TEST_CASE("what does not lie in a segment is an error") {
  const auto segment = Segment::make(8192);
  REQUIRE(segment);
  const MappedSegment& memory = segment->memory();
  CHECK_NOTHROW((void)memory.at(8192, 0));
  CHECK_THROWS_AS((void)memory.at(8192, 1), InternalError);
  CHECK_THROWS_AS((void)memory.at(1, 8192), InternalError);
  CHECK_THROWS_AS((void)memory.at(~std::uint64_t{0}, 2), InternalError);
  CHECK_THROWS_AS((void)memory.at(2, ~std::uint64_t{0}), InternalError);
}

TEST_CASE("pieces of a segment do not overlap, and all of it is free at the end") {
  const auto segment = Segment::make(1 << 20);
  REQUIRE(segment);
  std::mt19937 random(5);
  std::map<std::byte*, std::size_t> live;
  int refused = 0;
  for (int step = 0; step < 3000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      const std::size_t bytes = 1 + random() % 40000;
      auto* const piece = static_cast<std::byte*>(segment->allocate(bytes));
      if (piece == nullptr) {
        ++refused;
        continue;
      }
      CHECK(reinterpret_cast<std::uintptr_t>(piece) % Device::kAlignment == 0);
      CHECK(segment->memory().place_of(piece) + bytes <= segment->capacity());
      const auto after = live.lower_bound(piece);
      if (after != live.end()) CHECK(piece + bytes <= after->first);
      if (after != live.begin()) CHECK(std::prev(after)->first + std::prev(after)->second <= piece);
      std::memset(piece, step, bytes);
      live.emplace(piece, bytes);
    } else {
      const auto one = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      segment->free(one->first, one->second);
      live.erase(one);
    }
  }
  CHECK(refused > 0);
  for (const auto& [piece, bytes] : live) segment->free(piece, bytes);
  CHECK(segment->allocate(whole(*segment) + 1) == nullptr);
  CHECK(segment->allocate(whole(*segment)) != nullptr);
}

TEST_CASE("the memory of a message is not used again before its reader is done") {
  constexpr std::size_t kBytes = 10000;
  const auto segment = Segment::make(1 << 20);
  REQUIRE(segment);
  CpuDevice processor;
  Memory memory(processor, *segment);
  MessagePool pool(memory, memory, MessagePool::Read::by_others);
  auto message = std::make_unique<MessageMemory>(pool, kBytes);
  message->hold();
  std::byte* const first = message->address();
  CHECK(!message->is_read());
  message->give();
  auto reader = std::make_unique<MessageMemory>(pool, first, kBytes);
  message->release();
  CHECK(message->is_read());
  const std::size_t live = memory.live_bytes();
  memory.give_up_all();  // leaves it alone
  CHECK(memory.live_bytes() == live);

  message = nullptr;
  CHECK(memory.live_bytes() == live);
  MessageMemory second(pool, kBytes);
  second.hold();
  CHECK(second.address() != first);
  reader = nullptr;
  MessageMemory third(pool, kBytes);
  third.hold();
  CHECK(third.address() == first);

  second.release();
  third.release();
  memory.give_up_all();
  CHECK(memory.live_bytes() == 0);
}

TEST_CASE("messages that others keep do not slow down those that come after them") {
  constexpr std::size_t kPiece = 1000, kMany = 20000, kSome = 1000;
  const auto segment = Segment::make(std::size_t{64} << 20);
  REQUIRE(segment);
  CpuDevice processor;
  Memory memory(processor, *segment);
  MessagePool pool(memory, memory, MessagePool::Read::by_others);
  std::vector<std::unique_ptr<MessageMemory>> readers;
  const auto send = [&](std::size_t messages) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < messages; ++i) {
      MessageMemory message(pool, kPiece);
      message.hold();
      message.give();
      readers.push_back(std::make_unique<MessageMemory>(pool, message.address(), kPiece));
      message.release();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto fastest_of = [&](int times) {
    double seconds = 1e9;
    for (int i = 0; i < times; ++i) seconds = std::min(seconds, send(kSome));
    return seconds;
  };
  const double first = fastest_of(3);
  send(kMany);
  CHECK(fastest_of(3) < 30 * first);  // to look at each takes some hundred times as long
  const std::size_t live = memory.live_bytes();
  readers.clear();
  for (std::size_t i = 0; i < kMany; ++i) {  // which finds those that are free
    MessageMemory message(pool, kPiece);
    message.hold();
    message.release();
  }
  CHECK(memory.live_bytes() < live / 100);
}
