// Fields: the two residencies against a plain model, re-ordering, single sites, and the memory behind them.
#include "jit/memory/field.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/device/huge_pages.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/relayout.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/separate_device.hpp"
#include "tests/jit/settings.hpp"
#include "tests/jit/site_orders.hpp"
#include "tests/process_memory.hpp"

using namespace jit;
using ir::Type;

namespace {

std::vector<unsigned char> random_bytes(std::size_t n, std::mt19937& random) {
  std::vector<unsigned char> bytes(n);
  for (auto& b : bytes) b = static_cast<unsigned char>(random());
  return bytes;
}

std::size_t device_offset(const Field& field, std::int64_t site, int component) {
  const SiteOrder& order = field.order();
  return static_cast<std::size_t>(word_index(order.lanes, field.word(), field.components(),
                                             order.position[static_cast<std::size_t>(site)], component)) *
         static_cast<std::size_t>(ir::bytes(field.word()));
}

/// Where fields live, on the process's device or on one with memory of its own.
struct Home {
  explicit Home(bool separate) {
    if (!separate) return;
    device = std::make_unique<tests::SeparateDevice>();
    pool = std::make_unique<Memory>(*device);
    host_pool = std::make_unique<Memory>(device->host());
    own = std::make_unique<Residency>(*pool, *host_pool);
  }
  Residency& residency() { return own ? *own : cpu_residency(); }
  /// Where the host finds what lies at an address of the device.
  const unsigned char* peek(const void* address) const {
    return device ? device->real(address) : static_cast<const unsigned char*>(address);
  }
  unsigned char* poke(void* address) const { return const_cast<unsigned char*>(peek(address)); }

  std::unique_ptr<tests::SeparateDevice> device;
  std::unique_ptr<Memory> pool, host_pool;
  std::unique_ptr<Residency> own;

 private:
  // Not the process's device, which need not be the CPU.
  static Residency& cpu_residency() {
    static CpuDevice cpu;
    static Memory memory(cpu);
    static Residency residency(memory, memory);
    return residency;
  }
};

}  // namespace

TEST_CASE("re-ordering puts every word where the layout says, zeroes the padding, and comes back") {
  std::mt19937 random(5);
  CpuDevice device;
  for (const int threads : {1, 2}) {
    device.set_threads(threads);
    for (const int lanes : {1, 2, 4, 8, 16, 32})
      for (const Type word : {Type::b1, Type::f32, Type::i64, Type::f64})
        for (const int components : {1, 3, 18})
          for (const std::int64_t sites : {1, 210, 256, 1024})
            for (const std::int64_t extra : {0, 2}) {
              const auto order = tests::random_order(lanes, sites, extra);
              const auto bytes = static_cast<std::size_t>(ir::bytes(word));
              const std::size_t words = static_cast<std::size_t>(components) * bytes;
              const auto host = random_bytes(static_cast<std::size_t>(sites) * words, random);
              auto image = random_bytes(static_cast<std::size_t>(order->groups * lanes) * words, random);
              reorder_to_device_order(device, *order, word, components, host.data(), image.data());
              bool equal = true;
              for (std::size_t p = 0; p < order->host_index.size(); ++p)
                for (int c = 0; c < components; ++c) {
                  const std::size_t at =
                      static_cast<std::size_t>(word_index(lanes, word, components, static_cast<std::int64_t>(p), c)) *
                      bytes;
                  const std::int32_t site = order->host_index[p];
                  const std::vector<unsigned char> zero(bytes, 0);
                  const unsigned char* expected =
                      site < 0 ? zero.data()
                               : &host[static_cast<std::size_t>(site) * words + static_cast<std::size_t>(c) * bytes];
                  equal = equal && std::memcmp(&image[at], expected, bytes) == 0;
                }
              auto back = random_bytes(host.size(), random);
              reorder_to_host_order(device, *order, word, components, image.data(), back.data());
              INFO("lanes ", lanes, ", ", ir::name(word), "[", components, "], ", sites, " sites, ", extra,
                   " extra groups");
              CHECK(equal);
              CHECK(back == host);
            }
  }
}

namespace {

void check_random_accesses(bool separate, Type word, std::int64_t sites, std::mt19937& random) {
  const auto order = tests::random_order(8, sites);
  const int components = 3;
  const std::size_t site_bytes = static_cast<std::size_t>(components * ir::bytes(word));
  Home home(separate);
  Field field(order, word, components, home.residency());
  Field other(order, word, components, home.residency());
  std::vector<unsigned char> model(static_cast<std::size_t>(sites) * site_bytes), other_model = model;
  std::memset(field.host_overwrite(), 0, model.size());
  std::memset(other.host_overwrite(), 0, model.size());

  const auto fill_device = [&](unsigned char* image, std::int64_t site, const unsigned char* value) {
    for (int c = 0; c < components; ++c)
      std::memcpy(image + device_offset(field, site, c), value + c * ir::bytes(word),
                  static_cast<std::size_t>(ir::bytes(word)));
  };
  std::map<std::uint64_t, std::vector<unsigned char>> named;  // contents by their number
  int known = 0;
  for (int step = 0; step < 2000; ++step) {
    if (const std::uint64_t number = field.contents()) {
      const auto [contents, is_new] = named.emplace(number, model);
      CHECK(contents->second == model);
      CHECK(field.were_asked_for());
      known += !is_new;
    } else {
      CHECK(field.host_current());
    }
    const auto site = static_cast<std::int64_t>(random() % static_cast<unsigned>(sites));
    unsigned char* here = &model[static_cast<std::size_t>(site) * site_bytes];
    const auto value = random_bytes(site_bytes, random);
    switch (random() % 9) {
      case 0:
        CHECK(std::memcmp(field.host_read(), model.data(), model.size()) == 0);
        break;
      case 1:
        std::memcpy(static_cast<unsigned char*>(field.host_write()) + static_cast<std::size_t>(site) * site_bytes,
                    value.data(), site_bytes);
        CHECK(field.host_current());
        std::memcpy(here, value.data(), site_bytes);
        break;
      case 2:
        model = random_bytes(model.size(), random);
        std::memcpy(field.host_overwrite(), model.data(), model.size());
        break;
      case 3: {
        const auto* image = home.peek(field.device_read());
        for (int c = 0; c < components; ++c)
          CHECK(std::memcmp(image + device_offset(field, site, c), here + c * ir::bytes(word),
                            static_cast<std::size_t>(ir::bytes(word))) == 0);
        break;
      }
      case 4:
        fill_device(home.poke(field.device_write(false)), site, value.data());
        CHECK(field.host_pointer() == nullptr);  // a field takes its bytes once
        std::memcpy(here, value.data(), site_bytes);
        break;
      case 5: {
        model = random_bytes(model.size(), random);
        auto* image = home.poke(field.device_write(true));
        for (std::int64_t s = 0; s < sites; ++s)
          fill_device(image, s, &model[static_cast<std::size_t>(s) * site_bytes]);
        break;
      }
      case 6: {
        std::vector<unsigned char> got(site_bytes);
        field.read_site(site, got.data());
        CHECK(std::memcmp(got.data(), here, site_bytes) == 0);
        break;
      }
      case 7:
        field.write_site(site, value.data());
        std::memcpy(here, value.data(), site_bytes);
        break;
      default:
        field.swap(other);
        std::swap(model, other_model);
    }
  }
  CHECK(known > 400);  // a third of the accesses reads
}

}  // namespace

TEST_CASE("any sequence of accesses shows the values of one plain array") {
  std::mt19937 random(17);
  for (const bool separate : {false, true})
    for (const Type word : {Type::b1, Type::f32, Type::f64})
      for (const std::int64_t sites : {64, 53}) check_random_accesses(separate, word, sites, random);
}

TEST_CASE("a field allocates nothing before its first use and gives everything back") {
  for (const bool separate : {false, true}) {
    const auto order = tests::random_order(16, 4096);
    Home home(separate);
    Memory& memory = home.residency().device_memory();
    Memory& host = home.residency().host_memory();
    const std::size_t before = memory.live_bytes();
    {
      Field field(order, Type::f64, 18, home.residency());
      // On a device with memory of its own the two sides are in two pools.
      const auto check_sides = [&](std::size_t on_device, std::size_t on_host) {
        CHECK(memory.live_bytes() == before + on_device + (separate ? 0 : on_host));
        if (separate) CHECK(host.live_bytes() == on_host);
      };
      check_sides(0, 0);
      CHECK_FALSE(field.ever_written());
      field.device_write(true);
      CHECK(field.ever_written());
      check_sides(field.device_bytes(), 0);
      field.host_read();
      check_sides(field.device_bytes(), field.host_bytes());
      field.host_done();
      check_sides(field.device_bytes(), 0);
      field.host_write();
      check_sides(0, field.host_bytes());
      field.device_read();
      check_sides(field.device_bytes(), field.host_bytes());
      field.device_write(false);
      check_sides(field.device_bytes(), 0);
      field.host_overwrite();
      check_sides(0, field.host_bytes());
      field.host_done();
      separate ? check_sides(0, field.host_bytes()) : check_sides(field.device_bytes(), 0);
    }
    CHECK(memory.live_bytes() == before);
    if (separate) CHECK(host.live_bytes() == 0);
  }
}

TEST_CASE("poking single sites of a new field fills it") {
  for (const bool separate : {false, true}) {
    Home home(separate);
    const auto order = tests::random_order(4, 30);
    Field field(order, Type::f64, 1, home.residency());
    for (std::int64_t s = 0; s < 30; ++s) {
      const double x = 0.5 * static_cast<double>(s);
      field.write_site(s, &x);
    }
    for (std::int64_t s = 0; s < 30; ++s) {
      double x = -1;
      field.read_site(s, &x);
      CHECK(x == 0.5 * static_cast<double>(s));
    }
  }
}

TEST_CASE("single sites are read and written where the field is, in one copy of all components") {
  Home home(true);
  const auto order = tests::random_order(16, 64);
  Field field(order, Type::f64, 9, home.residency());
  std::memset(home.poke(field.device_write(true)), 0, field.device_bytes());
  const std::vector<double> value = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<double> got(9);
  const std::int64_t copies = home.device->copies;
  field.write_site(17, value.data());
  field.read_site(17, got.data());
  CHECK(got == value);
  CHECK(home.device->copies == copies + 2);
  CHECK(field.host_pointer() == nullptr);
  CHECK(home.residency().transfers().out == 0);
}

TEST_CASE("reading what was never written is harmless") {
  for (const bool separate : {false, true}) {
    Home home(separate);
    const auto order = tests::random_order(16, 33);
    Field field(order, Type::f32, 3, home.residency());
    std::vector<float> site(3);
    CHECK(field.device_read() != nullptr);
    CHECK(field.host_read() != nullptr);
    field.read_site(32, site.data());
    field.host_done();
    CHECK_FALSE(field.ever_written());
    CHECK(home.residency().transfers().in + home.residency().transfers().out == 0);
    std::memset(field.host_write(), 0, field.host_bytes());
    field.read_site(32, site.data());
    CHECK(site[2] == 0);
  }
}

TEST_CASE("new device memory of a padded order has zeros in the padding") {
  for (const bool separate : {false, true}) {
    Home home(separate);
    const auto order = tests::random_order(16, 33);
    const auto check_padding = [&](const void* device_side) {
      const auto* image = home.peek(device_side);
      for (std::size_t p = 0; p < order->host_index.size(); ++p)
        for (int c = 0; c < 2 && order->host_index[p] < 0; ++c) {
          float word = 1;
          std::memcpy(&word, image + 4 * word_index(16, Type::f32, 2, static_cast<std::int64_t>(p), c), sizeof word);
          CHECK(word == 0);
        }
    };
    {
      Field dirty(order, Type::f32, 2, home.residency());
      std::memset(home.poke(dirty.device_write(true)), 0xff, dirty.device_bytes());
    }  // its block is the next one of that size
    Field field(order, Type::f32, 2, home.residency());
    check_padding(field.device_write(true));
    std::memset(field.host_overwrite(), 0xff, field.host_bytes());
    check_padding(field.device_read());
  }
}

TEST_CASE("a field in somebody else's memory puts its device side there, and nothing else") {
  for (const bool separate : {false, true}) {
    CAPTURE(separate);
    Home home(separate);
    Memory& pool = home.residency().device_memory();
    Device& device = pool.device();
    const auto order = tests::random_order(16, 64);
    std::mt19937 random(11);
    const auto values = random_bytes(64 * 3 * 4, random), others = random_bytes(64 * 3 * 4, random);
    const auto on_device = [&](const void* address) {
      std::vector<unsigned char> bytes(values.size());
      device.copy_to_host(bytes.data(), address, bytes.size());
      return bytes;
    };
    void* memory = pool.allocate(values.size());
    const std::int64_t blocks = pool.live_blocks();
    {
      Field field(order, Type::f32, 3, memory, home.residency());
      CHECK_FALSE(field.ever_written());
      device.copy_to_device(memory, values.data(), values.size());
      CHECK(field.device_write(true) == memory);  // what lies there is the contents now
      Field copy(order, Type::f32, 3, home.residency());
      device.copy_to_device(copy.device_write(true), values.data(), values.size());
      CHECK(std::memcmp(field.host_read(), copy.host_read(), field.host_bytes()) == 0);
      std::memcpy(field.host_overwrite(), others.data(), others.size());
      std::memcpy(copy.host_overwrite(), others.data(), others.size());
      CHECK(field.device_read() == memory);
      CHECK(on_device(memory) == on_device(copy.device_read()));

      Field third(order, Type::f32, 3, home.residency());
      device.clear(third.device_write(true), third.device_bytes());
      third.swap(field);
      CHECK(third.device_read() == memory);
      CHECK(field.device_read() != memory);
      home.residency().begin_statement();
      pool.give_up_all();
      CHECK(third.device_read() == memory);
    }
    CHECK(pool.live_blocks() == blocks);
    pool.free(memory, values.size());
    CHECK(pool.live_blocks() == blocks - 1);
  }
}

TEST_CASE("fields of different shapes do not swap") {
  const auto order = tests::random_order(4, 16);
  Home cpu(false), home(true);
  Residency& here = cpu.residency();
  Field a(order, Type::f64, 2, here), b(order, Type::f64, 3, here), c(order, Type::f32, 2, here);
  Field d(tests::random_order(4, 16), Type::f64, 2, here), elsewhere(order, Type::f64, 2, home.residency());
  CHECK_THROWS_WITH_AS(a.swap(b), doctest::Contains("f64[3]"), InternalError);
  CHECK_THROWS_AS(a.swap(c), InternalError);
  CHECK_THROWS_AS(a.swap(d), InternalError);
  CHECK_THROWS_AS(a.swap(elsewhere), InternalError);
}

TEST_CASE("the device re-orders where it can and has room, with the same result") {
  Home home(true);
  int calls = 0;
  bool able = true;
  // What a kernel would do, by the host behind the device's back.
  set_device_reorder([&](const DeviceReordering& r) {
    ++calls;
    if (!able) return false;
    (r.to_device_order ? reorder_to_device_order : reorder_to_host_order)(
        home.device->host(), r.order, r.word, r.components,
        home.peek(r.to_device_order ? r.host_order : r.device_order),
        home.poke(r.to_device_order ? r.device_order : r.host_order));
    return true;
  });
  std::mt19937 random(3);
  const auto order = tests::random_order(16, 1000);
  for (int way = 0; way < 3; ++way) {
    able = way != 1;
    calls = 0;
    Field field(order, Type::f32, 5, home.residency());
    if (way == 2) home.pool->release_kept();
    home.pool->set_limit(way == 2 ? field.device_bytes() + 4096 : 0);  // no room for a second copy
    const auto values = random_bytes(field.host_bytes(), random);
    std::memcpy(field.host_overwrite(), values.data(), values.size());
    field.device_write(false);
    CHECK(std::memcmp(field.host_read(), values.data(), values.size()) == 0);
    CHECK(calls == (way == 2 ? 0 : 2));
    CHECK(home.pool->live_blocks() == 1);
    CHECK(home.host_pool->live_blocks() == 1);
  }
  set_device_reorder({});
}

TEST_CASE("blocks are aligned, and freed ones of the same size are used again") {
  CpuDevice device;
  Memory memory(device);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000},
                                  std::size_t{3} << 20, std::size_t{17} << 20}) {
    void* first = memory.allocate(bytes);
    void* second = memory.allocate(bytes);
    CHECK(first != second);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % Device::kAlignment == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(second) % Device::kAlignment == 0);
    if (bytes > 0) {
      std::memset(first, 1, bytes);
      std::memset(second, 2, bytes);
      CHECK(*static_cast<unsigned char*>(first) == 1);
    }
    memory.free(first, bytes);
    CHECK(memory.allocate(bytes) == first);
    memory.free(first, bytes);
    memory.free(second, bytes);
  }
  CHECK(memory.live_bytes() == 0);
  CHECK(memory.live_blocks() == 0);
  memory.release_kept();
  CHECK(memory.kept_bytes() == 0);
}

TEST_CASE("what is held stays within the most that lived at once") {
  CpuDevice device;
  Memory memory(device);
  const std::size_t unit = std::size_t{16} << 20;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(memory.allocate(unit));
  for (void* block : blocks) memory.free(block, unit);
  CHECK(memory.kept_bytes() == 8 * unit);
  // Another size: old blocks go as new ones come.
  std::vector<void*> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(memory.allocate(3 * unit / 2));
    CHECK(memory.live_bytes() + memory.kept_bytes() <= 8 * unit);
  }
  CHECK(memory.peak_bytes() == 8 * unit);
  for (void* block : others) memory.free(block, 3 * unit / 2);
}

namespace {

/// A word in each page, of which no other block has the same.
void fill(void* block, std::size_t bytes, std::uint64_t tag) {
  for (std::size_t at = 0; at + 8 <= bytes; at += 4096) std::memcpy(static_cast<char*>(block) + at, &tag, 8);
}

bool holds(const void* block, std::size_t bytes, std::uint64_t tag) {
  for (std::size_t at = 0; at + 8 <= bytes; at += 4096)
    if (std::memcmp(static_cast<const char*>(block) + at, &tag, 8) != 0) return false;
  return true;
}

}  // namespace

TEST_CASE(
    "blocks of many sizes come and go: nobody's contents change, nothing is held beyond the most that lived, all goes back") {
  constexpr std::size_t kMost = std::size_t{64} << 20;  // always allowed
  const std::size_t sizes[] = {1000, 70'000, 2'100'000, 3'150'000, 9'437'184, 12'582'912, 17'000'000};
  std::mt19937 random(5);
  const auto any = [&](std::size_t n) { return std::size_t{random()} % n; };
  struct Live {
    void* address;
    std::size_t bytes;
    std::uint64_t tag;
  };
  std::int64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    {
      CpuDevice device;
      Memory memory(device);
      std::vector<Live> live;
      std::uint64_t tag = 0;
      for (int step = 0; step < 1500; ++step) {
        // Times with many blocks and with few: at the ends of both most is taken from what was kept.
        if (live.size() < (step / 100 % 2 == 0 ? 12 : 3) || (!live.empty() && any(3) == 0)) {
          const std::size_t bytes = sizes[any(std::size(sizes))];
          live.push_back({memory.allocate(bytes), bytes, ++tag});
          CHECK(reinterpret_cast<std::uintptr_t>(live.back().address) % Device::kAlignment == 0);
          fill(live.back().address, bytes, tag);
        } else {
          std::swap(live[any(live.size())], live.back());
          REQUIRE(holds(live.back().address, live.back().bytes, live.back().tag));
          memory.free(live.back().address, live.back().bytes);
          live.pop_back();
        }
        REQUIRE(memory.live_bytes() + memory.kept_bytes() + device.kept_bytes() <=
                std::max(memory.peak_bytes(), kMost));
      }
      for (const Live& block : live) {
        CHECK(holds(block.address, block.bytes, block.tag));
        memory.free(block.address, block.bytes);
      }
      memory.release_kept();
      CHECK(device.kept_bytes() == 0);
    }
    if (round == 0) before = tests::mapped_bytes();
  }
  CHECK(tests::mapped_bytes() < before + (8 << 20));
}

TEST_CASE("a block has the pages of those that made way for it") {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  HugePages pages;
  const std::size_t bytes = 5 * kPage + 1000;
  void* const old = pages.allocate(bytes);
  fill(old, bytes, 77);
  pages.take({old, bytes});
  CHECK(pages.kept_bytes() == 5 * kPage);
  void* const block = pages.allocate(3 * kPage + 5000);
  CHECK(pages.kept_bytes() == 2 * kPage);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < 3 * kPage + 5000; ++at)
    kept += static_cast<const unsigned char*>(block)[at] == 77 ? 1 : 0;
  CHECK(kept >= 3 * kPage / 4096 - 32);  // but for what lies before the block
  pages.keep_at_most(3 * kPage);
  CHECK(pages.kept_bytes() == 2 * kPage);
  pages.keep_at_most(kPage + 1);
  CHECK(pages.kept_bytes() == kPage);
  void* const next = pages.allocate(4 * kPage);  // of one kept and three new ones
  CHECK(pages.kept_bytes() == 0);
  fill(next, 4 * kPage, 78);
  CHECK(holds(next, 4 * kPage, 78));
  pages.free(block, 3 * kPage + 5000);
  CHECK(holds(next, 4 * kPage, 78));
  pages.free(next, 4 * kPage);
}

TEST_CASE("pages move while other threads ask the system for memory") {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  std::atomic<bool> stop{false};
  std::int64_t wrong = 0, rounds = 0;
  std::thread other([&] {
    std::array<void*, 8> mine{};  // each stays for some rounds
    for (; !stop; ++rounds)
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (mine[i] != nullptr) {
          unsigned char present = 0;  // 0: not there
          mincore(mine[i], 1, &present);
          wrong += (present & 1) != 0 && *static_cast<std::size_t*>(mine[i]) == i ? 0 : 1;
          munmap(mine[i], kPage);
        }
        mine[i] = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *static_cast<std::size_t*>(mine[i]) = i;
      }
    for (void* one : mine)
      if (one != nullptr) munmap(one, kPage);
  });
  HugePages pages;
  std::size_t bytes = 3 * kPage;
  void* block = pages.allocate(bytes);
  for (int i = 0; i < 3000; ++i) {
    pages.take({block, bytes});
    bytes = kPage * static_cast<std::size_t>(2 + i % 3);
    block = pages.allocate(bytes);
    pages.keep_at_most(2 * kPage);
    *static_cast<int*>(block) = i;
  }
  pages.free(block, bytes);
  stop = true;
  other.join();
  CHECK(wrong == 0);
  MESSAGE(8 * rounds, " mappings of another thread");
}

TEST_CASE("blocks take whole lines, from a page on whole pages, and that much of the limit") {
  constexpr std::size_t kLine = Device::kAlignment;
  for (const auto& [bytes, taken] : std::vector<std::pair<std::size_t, std::size_t>>{{0, kLine},
                                                                                     {1, kLine},
                                                                                     {kLine, kLine},
                                                                                     {kLine + 1, 2 * kLine},
                                                                                     {4096 - kLine, 4096 - kLine},
                                                                                     {4095, 4096},
                                                                                     {4096, 4096},
                                                                                     {4097, 8192},
                                                                                     {8192, 8192}}) {
    CAPTURE(bytes);
    CHECK(Memory::block_bytes(bytes) == taken);
    CpuDevice device;
    Memory memory(device, taken);
    void* block = memory.allocate(bytes);
    CHECK(memory.live_bytes() == taken);
    CHECK(memory.live_blocks() == 1);
    CHECK(memory.try_allocate(1) == nullptr);
    memory.free(block, bytes);
    CHECK(memory.kept_bytes() == taken);
    memory.set_limit(taken - 1);
    memory.release_kept();
    CHECK(memory.try_allocate(bytes) == nullptr);
  }
}

TEST_CASE("64 MiB may be kept whatever lived; then the block that was freed first goes first") {
  tests::SeparateDevice device;
  Memory memory(device);
  const auto use = [&](int mib) {
    void* block = memory.allocate(static_cast<std::size_t>(mib) << 20);
    memory.free(block, static_cast<std::size_t>(mib) << 20);
  };
  const auto mib = [](int n) { return static_cast<std::size_t>(n) << 20; };
  use(20);
  use(30);
  use(14);
  CHECK(memory.kept_bytes() == mib(64));
  use(20);  // that of 30 is the oldest now
  CHECK(device.allocations == 3);
  use(1);
  CHECK(memory.kept_bytes() == mib(14 + 20 + 1));
  use(14);
  use(20);
  CHECK(device.allocations == 4);
  use(30);  // 65 would be held: that of 1 goes
  CHECK(device.allocations == 5);
  CHECK(memory.kept_bytes() == mib(64));
  CHECK(device.used == mib(64));
  CHECK(memory.peak_bytes() == mib(30));
}

TEST_CASE("running out of memory says whose limit it is and what would help") {
  const auto text_of = [](Memory& memory) {
    void* kept = memory.allocate(3 << 20);
    void* live = memory.allocate(5 << 20);
    memory.free(kept, 3 << 20);
    std::string text;
    try {
      (void)memory.allocate(6 << 20);
    } catch (const OutOfMemory& error) {
      text = error.what();
    }
    memory.free(live, 5 << 20);
    return text;
  };
  const auto has = [](const std::string& text, const char* words) {
    CAPTURE(text);
    CAPTURE(words);
    CHECK(text.find(words) != std::string::npos);
  };
  tests::SeparateDevice small(10 << 20);
  {
    Memory memory(small);
    const std::string text = text_of(memory);
    has(text, "limit: memory of the device");
    has(text, "at most 10.0 MiB in all");
    has(text, "a request for 6.00 MiB beyond 5.00 MiB in 1 blocks of fields, 3.00 MiB kept for reuse");
    has(text, "Keep fewer fields or use a smaller local lattice");
  }
  {
    const tests::Setting ten("TESSERA_MEM_MAX", "10M");
    Memory memory(small, env().mem_max);
    has(text_of(memory), "limit from TESSERA_MEM_MAX");
    memory.release_kept();
    Memory other(small, (10 << 20) - 1);
    has(text_of(other), "limit: memory of the device");
  }
  Memory memory(small, 20 << 20);
  const std::string text = text_of(memory);
  has(text, "the device refused it; do other programs use its memory?");
  has(text, "beyond 5.00 MiB in 1 blocks of fields (");  // what was kept has been given up in vain
}

TEST_CASE("a GPU is not asked for memory again by what has run before, though sizes change") {
  tests::SeparateDevice device;
  Memory memory(device);
  const auto run = [&] {
    for (const std::size_t mib : {20, 22, 18, 33}) {
      void* pair[] = {memory.allocate(mib << 20), memory.allocate(mib << 20)};
      for (void* block : pair) memory.free(block, mib << 20);
      CHECK(memory.kept_bytes() <= 2 * memory.peak_bytes());
    }
  };
  void* most = memory.allocate(std::size_t{100} << 20);  // that ever lives at once; 186 MiB have run through in the end
  memory.free(most, std::size_t{100} << 20);
  memory.release_kept();
  run();
  const std::int64_t before = device.allocations;
  run();
  CHECK(device.allocations == before);
}

TEST_CASE("running out of memory is an error with sizes, and what is kept is given up first") {
  CpuDevice device;
  Memory memory(device, std::size_t{10} << 20);
  void* four = memory.allocate(std::size_t{4} << 20);
  void* five = memory.allocate(std::size_t{5} << 20);
  try {
    memory.allocate(std::size_t{3} << 20);
    FAIL("must throw");
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    CHECK(text.find("10.0 MiB") != std::string::npos);
    CHECK(text.find("3.00 MiB") != std::string::npos);
    CHECK(text.find("9.00 MiB in 2 blocks") != std::string::npos);
  }
  memory.free(five, std::size_t{5} << 20);
  void* six = memory.allocate(std::size_t{6} << 20);
  CHECK(memory.kept_bytes() == 0);
  CHECK_THROWS_AS(memory.allocate(SIZE_MAX / 2), DeviceError);
  memory.free(four, std::size_t{4} << 20);
  memory.free(six, std::size_t{6} << 20);
}

TEST_CASE("a field that does not fit leaves the others as they were") {
  for (const bool separate : {false, true}) {
    Home home(separate);
    const auto order = tests::random_order(16, 4096);
    Memory& memory = home.residency().device_memory();
    Field small(order, Type::f64, 1, home.residency());
    static_cast<double*>(small.host_overwrite())[7] = 42;
    small.device_write(false);
    memory.release_kept();
    memory.set_limit(memory.live_bytes() + small.device_bytes());
    Field large(order, Type::f64, 200, home.residency());
    home.residency().begin_statement();
    CHECK_THROWS_WITH_AS(large.device_write(true), doctest::Contains("out of memory"), DeviceError);
    CHECK_FALSE(large.ever_written());
    CHECK(home.residency().transfers().spilled == 0);  // not even driven out in vain
    double x = 0;
    small.read_site(7, &x);
    CHECK(x == 42);
    memory.set_limit(0);
    CHECK_NOTHROW(large.device_write(true));
  }
}

TEST_CASE("sizes read as people write them") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.00 KiB");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(std::size_t{131} << 30) == "131 GiB");
  // Three digits where they fit, and each unit from its own size on.
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(9 << 10) == "9.00 KiB");
  CHECK(format_bytes(10 << 10) == "10.0 KiB");
  CHECK(format_bytes((99 << 10) + 512) == "99.5 KiB");
  CHECK(format_bytes(100 << 10) == "100 KiB");
  CHECK(format_bytes((1 << 20) - 1024) == "1023 KiB");
  CHECK(format_bytes(1 << 20) == "1.00 MiB");
  CHECK(format_bytes(std::size_t{1} << 30) == "1.00 GiB");
  CHECK(format_bytes(std::size_t{3} << 39) == "1.50 TiB");
  CHECK(format_bytes(std::size_t{2048} << 40) == "2048 TiB");
}
