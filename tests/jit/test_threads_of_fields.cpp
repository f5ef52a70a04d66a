// One field, many threads: whoever comes first fetches the host side, the others wait; on devices with and without memory
// of their own, and while that memory is short.
#include "jit/memory/field.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/lock.hpp"
#include "tests/jit/separate_device.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;

namespace {

constexpr int kThreads = 4;
constexpr int kSites = 210;

void on_threads(const std::function<void(int)>& f) {
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      f(t);
    });
  for (std::thread& thread : threads) thread.join();
}

std::vector<double> numbers(double first) {
  std::vector<double> x(kSites);
  for (int i = 0; i < kSites; ++i) x[static_cast<std::size_t>(i)] = first + i;
  return x;
}

void set(Field& field, const std::vector<double>& x) {
  std::memcpy(field.host_overwrite(), x.data(), field.host_bytes());
}
/// What a statement that reads and writes the field would do: afterwards the device alone has it.
void send_to_device(Residency& home, Field& field) {
  const RuntimeLock lock;
  home.begin_statement();
  field.device_write(false);
}
double at(const void* host, int i) { return static_cast<const double*>(host)[i]; }

void check_fields(Residency& home, Memory& device) {
  const auto order = tests::random_order(8, kSites);
  const auto make = [&] { return std::make_unique<Field>(order, ir::Type::f64, 1, home); };
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    const std::size_t live = device.live_bytes();
    auto read = make(), written = make(), mixed = make();
    const std::vector<double> x = numbers(round), y = numbers(1000 + round);
    for (Field* field : {read.get(), written.get(), mixed.get()}) set(*field, x), send_to_device(home, *field);
    std::atomic<int> bad{0};
    on_threads([&](int t) {
      for (int i = t; i < kSites; i += kThreads) {
        bad += at(read->host_read(), i) != x[static_cast<std::size_t>(i)];
        static_cast<double*>(written->host_write())[i] = y[static_cast<std::size_t>(i)];
        if (t == 0)
          static_cast<double*>(mixed->host_write())[i] = y[static_cast<std::size_t>(i)];
        else if (t == 1)
          mixed->write_site(i, &y[static_cast<std::size_t>(i)]);
        else
          bad += at(mixed->host_read(), i) != x[static_cast<std::size_t>(i)];
        double one = 0;
        read->read_site(i, &one);
        bad += one != x[static_cast<std::size_t>(i)];
        // Fields that come and go take blocks from the same pools.
        Field other(order, ir::Type::f64, 1, home);
        set(other, x);
        send_to_device(home, other);
        bad += at(other.host_read(), i) != x[static_cast<std::size_t>(i)];
      }
    });
    send_to_device(home, *mixed);
    for (int i = 0; i < kSites; ++i) {
      bad += at(written->host_read(), i) != y[static_cast<std::size_t>(i)];
      bad += at(mixed->host_read(), i) != (i % kThreads < 2 ? y : x)[static_cast<std::size_t>(i)];
    }
    wrong += bad != 0;
    read.reset(), written.reset(), mixed.reset();
    wrong += device.live_bytes() != live;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("threads read, write and claim fields on a device in host memory") {
  CpuDevice cpu;
  Memory memory(cpu);
  Residency home(memory, memory);
  check_fields(home, memory);
}

TEST_CASE("threads read, write and claim fields on a device with memory of its own, also if it is short") {
  for (const std::size_t bytes : {std::size_t{1} << 30, std::size_t{8192}}) {
    tests::SeparateDevice device(bytes);
    Memory memory(device), host(device.host());
    Residency home(memory, host);
    check_fields(home, memory);
  }
}

TEST_CASE("a thread may hold the lock several times, and others wait for the last") {
  int plain = 0;
  on_threads([&](int) {
    for (int n = 0; n < 1000; ++n) {
      const RuntimeLock outer;
      {
        const RuntimeLock inner;
      }
      ++plain;
    }
  });
  CHECK(plain == 1000 * kThreads);
}

TEST_CASE("sites may be accessed directly only while the host side is there") {
  CpuDevice cpu;
  Memory memory(cpu);
  Residency home(memory, memory);
  const auto order = tests::random_order(8, kSites);
  Field field(order, ir::Type::f64, 1, home);
  const HostSide& side = field.host_side();
  const auto access = [&] {
    CHECK(side.readable() == side.seen_readable());
    CHECK(side.writable() == side.seen_writable());
    return std::vector<void*>{side.readable(), side.writable()};
  };
  CHECK(side.sites() == kSites);
  CHECK(access() == std::vector<void*>{nullptr, nullptr});
  set(field, numbers(0));
  void* const memory_of_host = field.host_pointer();
  REQUIRE(memory_of_host != nullptr);
  CHECK(access() == std::vector<void*>{memory_of_host, memory_of_host});
  field.device_read();
  CHECK(access() == std::vector<void*>{memory_of_host, nullptr});
  field.device_write(false);
  CHECK(access() == std::vector<void*>{nullptr, nullptr});
  Field other(order, ir::Type::f64, 1, home);
  set(other, numbers(1));
  field.swap(other);
  REQUIRE(side.writable() != nullptr);
  CHECK(at(side.writable(), 5) == 6);
  CHECK(other.host_side().readable() == nullptr);
}
