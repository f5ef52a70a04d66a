// Memory of messages: what leaves first when a device's memory is short, and what comes back.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/message_memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/separate_device.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using doctest::Contains;

namespace {

constexpr std::size_t kPiece = 4096;

/// A device with room for so many pieces.
struct Rig {
  explicit Rig(std::size_t pieces) : device(pieces * kPiece) {}

  std::shared_ptr<MessageMemory> make() { return std::make_shared<MessageMemory>(messages, kPiece); }
  /// One that others are to find there later.
  std::shared_ptr<MessageMemory> kept(unsigned char value) {
    auto piece = make();
    piece->hold();
    fill(*piece, value);
    piece->keep();
    piece->release();
    return piece;
  }
  static void fill(MessageMemory& piece, unsigned char value) {
    const std::vector<unsigned char> bytes(kPiece, value);
    piece.write(0, bytes.data(), kPiece);
  }
  static bool is_full_of(const MessageMemory& piece, unsigned char value) {
    std::vector<unsigned char> bytes(kPiece);
    piece.read(0, bytes.data(), kPiece);
    return bytes == std::vector<unsigned char>(kPiece, value);
  }

  tests::SeparateDevice device;
  CpuDevice processor;
  Memory pool{device, device.memory};
  Memory host_pool{processor};
  Residency residency{pool, host_pool};
  MessagePool messages{pool, host_pool};
};

}  // namespace

TEST_CASE("messages have memory from when they are held on, and stay where they are while they are held") {
  Rig rig(3);
  const auto a = rig.make();
  CHECK(rig.pool.live_bytes() == 0);
  CHECK(a->hold());
  std::byte* const first = a->address();
  Rig::fill(*a, 7);
  CHECK_FALSE(a->hold());  // by somebody else, too
  a->release();
  CHECK_THROWS_AS(rig.pool.allocate(3 * kPiece), DeviceError);
  CHECK(a->address() == first);
  CHECK(Rig::is_full_of(*a, 7));
  a->release();
  CHECK_FALSE(a->hold());  // nobody needed the memory
  CHECK(a->address() == first);
  a->release();
}

TEST_CASE("worthless messages leave first, then kept ones, the longest unused first, then fields") {
  Rig rig(5);
  Field field(tests::random_order(32, 1024), ir::Type::f32, 1, rig.residency);  // as large as a piece
  rig.residency.begin_statement();
  field.device_write(true);
  const auto old = rig.kept(1), young = rig.kept(2);
  const auto worthless = rig.make();
  worthless->hold();
  Rig::fill(*worthless, 3);
  worthless->release();
  rig.residency.begin_statement();

  std::vector<void*> blocks;
  const auto take = [&] { blocks.push_back(rig.pool.allocate(kPiece)); };
  take();
  CHECK(rig.messages.left() == 0);
  take();
  CHECK(rig.messages.left() == 0);  // the worthless one has gone
  CHECK(worthless->address() == nullptr);
  take();
  CHECK(rig.messages.left() == 1);
  CHECK(old->address() == nullptr);
  CHECK(young->address() != nullptr);
  take();
  CHECK(rig.messages.left() == 2);
  CHECK(rig.residency.resident_fields() == 1);
  take();
  CHECK(rig.residency.resident_fields() == 0);
  CHECK_THROWS_WITH_AS(rig.pool.allocate(kPiece), Contains("0 fields resident"), DeviceError);

  for (void* block : blocks) rig.pool.free(block, kPiece);
  CHECK(young->hold());
  CHECK(old->hold());
  CHECK(Rig::is_full_of(*young, 2));
  CHECK(Rig::is_full_of(*old, 1));
  CHECK(rig.messages.returned() == 2);
  CHECK(rig.host_pool.live_bytes() == kPiece);  // the field's image
  CHECK(worthless->hold());
  for (const auto& piece : {young, old, worthless}) piece->release();
}

TEST_CASE("where there is no other place kept messages stay, and worthless ones go") {
  CpuDevice processor;
  Memory pool(processor, 3 * kPiece);
  MessagePool messages(pool, pool);
  MessageMemory kept(messages, kPiece), worthless(messages, kPiece);
  kept.hold(), worthless.hold();
  kept.keep();
  kept.release(), worthless.release();
  void* const block = pool.allocate(2 * kPiece);
  CHECK(kept.address() != nullptr);
  CHECK(worthless.address() == nullptr);
  CHECK_THROWS_WITH_AS(pool.allocate(kPiece), Contains("1 messages that other ranks have sent"), DeviceError);
  pool.free(block, 2 * kPiece);
}

TEST_CASE("a copy that fails and a host without memory lose nothing") {
  Rig rig(2);
  const auto kept = rig.kept(9);
  rig.device.failing_copy = 1;
  CHECK_THROWS_AS(rig.pool.allocate(2 * kPiece), DeviceError);
  CHECK(kept->address() != nullptr);
  rig.host_pool.release_kept();
  rig.host_pool.set_limit(1);
  CHECK_THROWS_AS(rig.pool.allocate(2 * kPiece), DeviceError);
  CHECK(kept->address() != nullptr);
  rig.host_pool.set_limit(0);
  void* block = rig.pool.allocate(2 * kPiece);
  CHECK_THROWS_AS(kept->hold(), DeviceError);  // there is no room for it
  rig.pool.free(block, 2 * kPiece);
  rig.device.failing_copy = 1;
  CHECK_THROWS_AS(kept->hold(), DeviceError);
  CHECK(kept->hold());
  CHECK(Rig::is_full_of(*kept, 9));
  kept->release();
}

TEST_CASE("any order of uses: kept contents are there whenever they are asked for, and no memory is lost") {
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) { return random() % n; };
  Rig rig(6);
  {
    std::vector<std::shared_ptr<MessageMemory>> pieces;
    std::vector<int> held, values;  // [pieces] -1: worthless
    std::vector<void*> blocks;
    for (int step = 0; step < 20000; ++step) {
      const std::size_t i = pieces.empty() ? 0 : below(pieces.size());
      try {
        switch (below(9)) {
          case 0:
            if (pieces.size() == 9) break;
            pieces.push_back(rig.make());
            held.push_back(0), values.push_back(-1);
            break;
          case 1:
            if (pieces.size() < 7 || held[i] > 0) break;
            pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
            values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
            break;
          case 2:
          case 3:
            if (pieces.empty() || (held[i] == 0 && std::ssize(held) - std::ranges::count(held, 0) == 3)) break;
            pieces[i]->hold();
            ++held[i];
            if (values[i] >= 0) {
              REQUIRE(Rig::is_full_of(*pieces[i], static_cast<unsigned char>(values[i])));
            } else if (below(2) == 0) {
              values[i] = static_cast<int>(below(256));
              Rig::fill(*pieces[i], static_cast<unsigned char>(values[i]));
              pieces[i]->keep();
            }
            break;
          case 4:
          case 5:
          case 6:
            if (pieces.empty() || held[i] == 0) break;
            --held[i];
            pieces[i]->release();
            break;
          case 7:
            if (blocks.size() < 3) blocks.push_back(rig.pool.allocate(kPiece));
            break;
          default:
            if (blocks.empty()) break;
            rig.pool.free(blocks.back(), kPiece);
            blocks.pop_back();
        }
      } catch (const DeviceError& error) {
        FAIL("never more than six at once: ", error.what());
      }
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (; held[i] > 0; --held[i]) pieces[i]->release();
    for (void* block : blocks) rig.pool.free(block, kPiece);
    CHECK(rig.messages.left() > 50);
    CHECK(rig.messages.returned() > 50);
  }
  CHECK(rig.pool.live_bytes() == 0);
  CHECK(rig.host_pool.live_bytes() == 0);
}

TEST_CASE("a field in a message's memory is not driven out of it, and gives nothing back") {
  Rig rig(8);
  const auto order = tests::random_order(32, 1024);
  const auto piece = rig.make();
  piece->hold();
  {
    Field field(order, ir::Type::f32, 1, piece->address(), rig.residency);
    CHECK(field.device_write(true) == piece->address());
    rig.residency.begin_statement();
    rig.pool.give_up_all();
    CHECK(field.device_read() == piece->address());
    CHECK(rig.residency.resident_fields() == 0);
    Rig::fill(*piece, 0);
    for (std::int64_t i = 0; i < order->sites; ++i) REQUIRE(static_cast<const float*>(field.host_read())[i] == 0);
  }
  CHECK(rig.pool.live_bytes() == kPiece);
  piece->release();
}
