// The simulated GPU: that right use gives right results, and that each kind of wrong use is found.
#include "jit/gpu/sim_driver.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jit/gpu/driver.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "tests/captured_log.hpp"

using namespace jit;
using doctest::Contains;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::unique_ptr<GpuDriver> open(std::size_t memory = kMiB) { return open_simulated_driver({.memory = memory}); }

KernelCode code_of(SimtFunction function) { return reinterpret_cast<const void*>(function); }
std::uint64_t parameter(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
char* ahead(void* address, std::size_t bytes) { return reinterpret_cast<char*>(parameter(address) + bytes); }

/// x[t] = factor x[t] + 1 for 64-bit words; packet: x, factor.
void scale_and_add(const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t) {
  auto* x = reinterpret_cast<std::uint64_t*>(packet[0]);
  for (std::int64_t t = first; t < last; ++t) x[t] = packet[1] * x[t] + 1;
}

/// Writes behind the allocation. Packet: its end.
void overrun(const std::uint64_t* packet, std::int64_t, std::int64_t, std::int64_t) {
  *reinterpret_cast<std::uint32_t*>(packet[0] + packet[1]) = 1;
}

void throw_from_kernel(const std::uint64_t*, std::int64_t, std::int64_t, std::int64_t) {
  throw std::runtime_error("kernel went wrong");
}

/// A kernel that ends when the test says so. Everything behind it in its stream waits.
class Gate {
 public:
  void close(GpuDriver& driver, GpuDriver::Stream stream) {
    const std::uint64_t packet[] = {parameter(&open_)};
    REQUIRE(driver.launch(stream, code_of(hold), 1, 1, packet, 1) == LaunchStatus::done);
  }
  void open() { open_ = true; }

 private:
  static void hold(const std::uint64_t* packet, std::int64_t, std::int64_t, std::int64_t) {
    while (!*reinterpret_cast<std::atomic<bool>*>(packet[0]))
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  std::atomic<bool> open_{false};
};

template <class T>
std::vector<T> read(GpuDriver& driver, GpuDriver::Stream stream, const void* device, std::size_t n) {
  std::vector<T> host(n);
  driver.copy_out(stream, host.data(), device, n * sizeof(T));
  driver.synchronize(stream);
  return host;
}

}  // namespace

TEST_CASE("the simulated GPU says what it is and takes no code of other targets") {
  const auto driver = open(64 * kMiB);
  CHECK(driver->properties().model == "simulated GPU");
  CHECK(driver->properties().memory == 64 * kMiB);
  CHECK(driver->properties().sm == 90);
  CHECK(driver->properties().largest_block == 1024);
  std::string log;
  KernelResources resources;
  CHECK_THROWS_AS(driver->assemble(".version 8.0", 0, log), InternalError);
  CHECK_THROWS_AS(driver->load("", "k", resources), InternalError);
}

TEST_CASE("fresh memory, device and pinned, is NaN and far out of range") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  void* block = driver->allocate(4000);
  for (const float x : read<float>(*driver, stream, block, 1000)) CHECK(std::isnan(x));
  for (const double x : read<double>(*driver, stream, block, 500)) CHECK(std::isnan(x));
  for (const std::int32_t x : read<std::int32_t>(*driver, stream, block, 1000)) CHECK(std::abs(x) > 1 << 30);

  auto* pinned = static_cast<double*>(driver->allocate_pinned(800));
  REQUIRE(pinned != nullptr);
  CHECK(std::all_of(pinned, pinned + 100, [](double x) { return std::isnan(x); }));
  driver->free_pinned(pinned);
  CHECK(driver->allocate_pinned(0) == nullptr);

  // What a block held is not there any more when its place is used again.
  driver->clear(stream, block, 4000);
  CHECK(read<double>(*driver, stream, block, 500) == std::vector<double>(500, 0.0));
  driver->free(block);
  void* again = driver->allocate(4000);
  CHECK(again == block);
  for (const double x : read<double>(*driver, stream, again, 500)) CHECK(std::isnan(x));
}

TEST_CASE("the host cannot follow a device address") {
  const auto driver = open();
  void* block = driver->allocate(4096);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  // Past the sanitizers' wrapper, which would follow the address itself.
  CHECK(syscall(SYS_write, ends[1], block, 1) == -1);
  CHECK(errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("memory is counted in pieces of 256 bytes, runs out, and comes back") {
  const auto driver = open(kMiB);
  CHECK(driver->free_memory() == kMiB);
  void* one = driver->allocate(1);
  void* two = driver->allocate(257);
  CHECK(driver->free_memory() == kMiB - 256 - 512);
  CHECK(parameter(one) % 256 == 0);
  CHECK(parameter(two) % 256 == 0);
  CHECK(driver->allocate(kMiB) == nullptr);
  CHECK(driver->allocate(SIZE_MAX) == nullptr);
  void* rest = driver->allocate(kMiB - 768);
  CHECK(rest != nullptr);
  CHECK(driver->free_memory() == 0);
  CHECK(driver->allocate(1) == nullptr);
  for (void* block : {two, one, rest}) driver->free(block);
  driver->free(nullptr);
  CHECK(driver->free_memory() == kMiB);
  void* all = driver->allocate(kMiB);
  CHECK(all != nullptr);
  driver->synchronize(driver->create_stream());  // no error was kept
  CHECK_THROWS_WITH_AS(driver->allocate(0), Contains("at least one byte"), InternalError);
}

TEST_CASE("free memory in pieces does not serve a large allocation until the pieces touch") {
  const auto driver = open(kMiB);
  std::vector<void*> quarters;
  for (int i = 0; i < 4; ++i) quarters.push_back(driver->allocate(kMiB / 4));
  driver->free(quarters[0]);
  driver->free(quarters[2]);
  CHECK(driver->free_memory() == kMiB / 2);
  CHECK(driver->allocate(kMiB / 2) == nullptr);
  driver->free(quarters[1]);
  CHECK(driver->allocate(kMiB / 4 * 3) == quarters[0]);
}

TEST_CASE("a large memory costs nothing until it is used") {
  const auto driver = open(std::size_t{64} << 30);
  CHECK(driver->free_memory() == std::size_t{64} << 30);
  const auto stream = driver->create_stream();
  void* block = driver->allocate(4096);
  CHECK(std::isnan(read<double>(*driver, stream, block, 1)[0]));
  CHECK_THROWS_WITH_AS(open(100), Contains("TESSERA_SIM_MEMORY"), UserError);
}

TEST_CASE("copies, rows and clear reach what they name and nothing else") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  std::vector<std::int32_t> host(60);
  std::iota(host.begin(), host.end(), 0);
  void* block = driver->allocate(60 * 4);
  driver->copy_in(stream, block, host.data(), 60 * 4);
  CHECK(read<std::int32_t>(*driver, stream, block, 60) == host);

  // Columns 2..4 of 5 rows of 12 words.
  std::vector<std::int32_t> part(15);
  driver->copy_rows_out(stream, part.data(), ahead(block, 8), 48, 12, 5);
  driver->synchronize(stream);
  for (int row = 0; row < 5; ++row)
    for (int i = 0; i < 3; ++i) CHECK(part[static_cast<std::size_t>(3 * row + i)] == 12 * row + 2 + i);
  for (auto& x : part) x = -x;
  driver->copy_rows_in(stream, ahead(block, 8), 48, part.data(), 12, 5);
  driver->clear(stream, ahead(block, 4), 4);
  const auto after = read<std::int32_t>(*driver, stream, block, 60);
  for (int i = 0; i < 60; ++i) {
    const bool copied = i % 12 >= 2 && i % 12 < 5;
    CHECK(after[static_cast<std::size_t>(i)] == (i == 1 ? 0 : copied ? -i : i));
  }
  driver->copy_within(stream, ahead(block, 120), ahead(block, 16), 20);
  const auto moved = read<std::int32_t>(*driver, stream, block, 60);
  for (std::size_t i = 0; i < 60; ++i) CHECK(moved[i] == after[i >= 30 && i < 35 ? i - 26 : i]);

  // Nothing is no error, wherever it is.
  driver->copy_in(stream, nullptr, nullptr, 0);
  driver->clear(stream, nullptr, 0);
  driver->copy_within(stream, nullptr, nullptr, 0);
  driver->synchronize(stream);
}

TEST_CASE("copies and launches that leave live allocations are refused at the call") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  char host[1024] = {};
  void* block = driver->allocate(1000);
  void* other = driver->allocate(1000);
  const auto refused = [&](auto&& call, const char* word) {
    CHECK_THROWS_WITH_AS(call(), Contains(word), InternalError);
  };
  refused([&] { driver->copy_in(stream, block, host, 1001); }, "1001 bytes");
  refused([&] { driver->copy_out(stream, host, ahead(block, 999), 2); }, "byte 999 of a live allocation");
  refused([&] { driver->copy_out(stream, host, ahead(block, 1000), 1); }, "the end of a live allocation");
  refused([&] { driver->clear(stream, ahead(block, 1001), 1); }, "nothing is allocated");
  refused([&] { driver->copy_in(stream, host, host, 8); }, "device memory");
  refused([&] { driver->copy_in(stream, block, other, 8); }, "expected host memory");
  refused([&] { driver->copy_out(stream, nullptr, block, 8); }, "nullptr");
  refused([&] { driver->copy_within(stream, block, host, 8); }, "device memory");
  refused([&] { driver->copy_within(stream, ahead(block, 8), block, 9); }, "do not overlap");
  refused([&] { driver->copy_rows_in(stream, block, 400, host, 300, 3); }, "1100 bytes");
  refused([&] { driver->copy_rows_in(stream, block, 100, host, 200, 2); }, "pitch");
  refused([&] { driver->copy_rows_in(stream, block, 400, host, 300, SIZE_MAX / 300); }, "rows");
  driver->free(other);
  refused([&] { driver->copy_in(stream, other, host, 8); }, "was freed");
  for (void* wrong : {static_cast<void*>(ahead(block, 1000)), other}) {
    const std::uint64_t packet[] = {parameter(wrong), 1};
    refused([&] { driver->launch(stream, code_of(scale_and_add), 1, 1, packet, 2); }, "parameter of a launch");
  }
  refused([&] { driver->launch(stream, nullptr, 1, 1, nullptr, 0); }, "code");

  void* pinned = driver->allocate_pinned(100);
  refused([&] { driver->copy_in(stream, block, static_cast<char*>(pinned) + 50, 51); }, "pinned");
  void* for_kernels = driver->device_address(pinned);
  refused([&] { driver->copy_in(stream, block, for_kernels, 8); }, "expected host memory");
  refused([&] { driver->copy_in(stream, for_kernels, host, 8); }, "device memory");
  refused([&] { driver->device_address(host); }, "pinned memory");
  const auto launch_with = [&](const void* address) {
    const std::uint64_t packet[] = {parameter(address), 1};
    driver->launch(stream, code_of(scale_and_add), 1, 1, packet, 2);
  };
  refused([&] { launch_with(pinned); }, "device_address()");
  refused([&] { launch_with(ahead(for_kernels, 100)); }, "the end of a live allocation");
  driver->free_pinned(pinned);
  refused([&] { launch_with(for_kernels); }, "was freed");
  driver->synchronize(stream);  // refused calls leave nothing behind
}

TEST_CASE("kernels write to pinned memory, as much of it as is granted") {
  const auto driver = open_simulated_driver({.memory = kMiB, .most_pinned = 2});
  const auto stream = driver->create_stream();
  void* first = driver->allocate_pinned(100);
  auto* words = static_cast<std::uint64_t*>(driver->allocate_pinned(8000));
  REQUIRE(words != nullptr);
  driver->free_pinned(first);
  CHECK(driver->allocate_pinned(100) == nullptr);
  std::fill_n(words, 1000, 4);
  const std::uint64_t packet[] = {parameter(driver->device_address(words)), 10};
  CHECK(driver->launch(stream, code_of(scale_and_add), 10, 100, packet, 2) == LaunchStatus::done);
  driver->synchronize(stream);
  CHECK(std::count(words, words + 1000, 41) == 1000);
  driver->free_pinned(words);
  driver->synchronize(stream);
}

TEST_CASE("streams and events that do not exist are refused") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  const auto event = driver->create_event(true);
  CHECK_THROWS_WITH_AS(driver->synchronize(nullptr), Contains("live stream"), InternalError);
  CHECK_THROWS_WITH_AS(driver->synchronize(event), Contains("live stream"), InternalError);
  CHECK_THROWS_WITH_AS(driver->record(stream, stream), Contains("live event"), InternalError);
  driver->destroy_event(event);
  const auto next = driver->create_event(true);
  CHECK_THROWS_WITH_AS(driver->wait(stream, event), Contains("live event"), InternalError);
  CHECK_THROWS_WITH_AS(driver->seconds(next, next), Contains("never recorded"), InternalError);
  driver->wait(stream, next);  // as in CUDA: nothing to wait for
  driver->synchronize_event(next);
  driver->synchronize(stream);
}

TEST_CASE("wrong calls that cannot throw show at every synchronisation from then on") {
  const auto check_kept = [](GpuDriver& driver, const char* word) {
    const auto stream = driver.create_stream();
    for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH_AS(driver.synchronize(stream), Contains(word), InternalError);
    const auto event = driver.create_event(true);
    driver.record(event, stream);
    CHECK_THROWS_WITH_AS(driver.synchronize_event(event), Contains(word), InternalError);
    CHECK_THROWS_WITH_AS(driver.seconds(event, event), Contains(word), InternalError);
  };
  const auto driver = open();
  void* block = driver->allocate(1000);
  int on_host = 0;
  SUBCASE("double free") {
    driver->free(block);
    driver->free(block);
    check_kept(*driver, "was freed");
  }
  SUBCASE("inside of an allocation") {
    driver->free(ahead(block, 256));
    check_kept(*driver, "byte 256 of a live allocation");
  }
  SUBCASE("an address of the host") {
    driver->free(&on_host);
    check_kept(*driver, "nothing is allocated");
  }
  SUBCASE("pinned memory that is none") {
    driver->free_pinned(&on_host);
    check_kept(*driver, "pinned memory");
  }
  SUBCASE("a stream destroyed twice") {
    const auto stream = driver->create_stream();
    driver->destroy_stream(stream);
    driver->destroy_stream(stream);
    check_kept(*driver, "live stream");
  }
}

TEST_CASE("memory in use by unfinished work cannot be freed") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  void* block = driver->allocate(4096);
  void* pinned = driver->allocate_pinned(4096);
  Gate gate;
  gate.close(*driver, stream);
  SUBCASE("a launch") {
    const std::uint64_t packet[] = {parameter(ahead(block, 64)), 1};
    driver->launch(stream, code_of(scale_and_add), 1, 4, packet, 2);
    driver->free(block);
  }
  SUBCASE("a launch and pinned memory") {
    const std::uint64_t packet[] = {parameter(driver->device_address(pinned)), 1};
    driver->launch(stream, code_of(scale_and_add), 1, 4, packet, 2);
    driver->free_pinned(pinned);
  }
  SUBCASE("a copy") {
    driver->copy_in(stream, block, pinned, 64);
    driver->free(block);
  }
  SUBCASE("a copy and pinned memory") {
    driver->copy_in(stream, block, pinned, 64);
    driver->free_pinned(pinned);
  }
  SUBCASE("a clear") {
    driver->clear(stream, block, 64);
    driver->free(block);
  }
  gate.open();
  CHECK_THROWS_WITH_AS(driver->synchronize(stream), Contains("1 unfinished operations"), InternalError);
}

TEST_CASE("memory is lent when the host has waited for its work, and used again when it is taken back") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  auto* block = static_cast<std::uint64_t*>(driver->allocate(4096));
  driver->clear(stream, block, 4096);
  Gate gate;
  gate.close(*driver, stream);
  const std::uint64_t packet[] = {parameter(block), 1};
  driver->launch(stream, code_of(scale_and_add), 1, 4, packet, 2);
  CHECK_THROWS_WITH_AS(driver->lend(block), Contains("unfinished operations"), InternalError);
  gate.open();
  driver->synchronize(stream);
  driver->lend(ahead(block, 64));  // any address of it
  auto* const words = static_cast<std::uint64_t*>(driver->library_address(ahead(block, 8)));
  CHECK(*words == 1);
  *words = 5;
  const std::string lent = "memory that was lent";
  CHECK_THROWS_WITH_AS(driver->launch(stream, code_of(scale_and_add), 1, 4, packet, 2), Contains(lent.c_str()),
                       InternalError);
  CHECK_THROWS_WITH_AS(driver->clear(stream, block, 64), Contains(lent.c_str()), InternalError);
  CHECK_THROWS_WITH_AS(driver->copy_in(stream, block, words, 64), Contains(lent.c_str()), InternalError);
  CHECK_THROWS_WITH_AS(driver->lend(block), Contains("not lent"), InternalError);
  driver->take_back(block);
  CHECK_THROWS_WITH_AS(driver->take_back(block), Contains(lent.c_str()), InternalError);
  driver->launch(stream, code_of(scale_and_add), 1, 4, packet, 2);
  CHECK(read<std::uint64_t>(*driver, stream, block, 2)[1] == 6);
  driver->free(block);
}

TEST_CASE("lent memory is not freed, and work that the host has not waited for is found when it is lent") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  void* const block = driver->allocate(4096);
  driver->clear(stream, block, 4096);
  SUBCASE("it has ended by chance") {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_THROWS_AS(driver->lend(block), InternalError);
  }
  SUBCASE("freed") {
    driver->synchronize(stream);
    driver->lend(block);
    driver->free(block);
    CHECK_THROWS_WITH_AS(driver->synchronize(stream), Contains("not lent"), InternalError);
  }
}

TEST_CASE("memory may be freed once an event behind its use has passed") {
  const auto driver = open();
  const auto stream = driver->create_stream(), other = driver->create_stream();
  const auto event = driver->create_event(true);
  Gate gate;
  for (int i = 0; i < 200; ++i) {
    void* block = driver->allocate(4096);
    driver->clear(stream, block, 4096);
    driver->record(event, stream);
    if (i == 100) gate.close(*driver, stream);
    if (i % 2 == 0) {
      driver->synchronize_event(event);
    } else {
      driver->wait(other, event);
      driver->synchronize(other);
    }
    driver->free(block);
    if (i == 100) gate.open();
  }
  driver->synchronize(stream);
}

TEST_CASE("writes where nothing is allocated are found") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  void* block = driver->allocate(1000);
  SUBCASE("behind the block, when it is freed") {
    const std::uint64_t packet[] = {parameter(block), 1000};
    driver->launch(stream, code_of(overrun), 1, 1, packet, 2);
    driver->synchronize(stream);
    driver->free(block);
    CHECK_THROWS_WITH_AS(driver->synchronize(stream), Contains("written behind"), InternalError);
  }
  SUBCASE("in free memory, when it is allocated") {
    const std::uint64_t packet[] = {parameter(block), 2048};
    driver->launch(stream, code_of(overrun), 1, 1, packet, 2);
    driver->synchronize(stream);
    CHECK(driver->allocate(1024) != nullptr);  // ends before it
    CHECK_THROWS_WITH_AS(driver->allocate(256), Contains("nobody wrote"), InternalError);
  }
}

TEST_CASE("a copy reads the host when the stream gets there") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  void* block = driver->allocate(8);
  std::uint64_t host = 1, back = 7;
  Gate gate;
  gate.close(*driver, stream);
  driver->copy_in(stream, block, &host, 8);
  driver->copy_out(stream, &back, block, 8);
  host = 2;
  CHECK(back == 7);
  gate.open();
  driver->synchronize(stream);
  CHECK(back == 2);
}

TEST_CASE("streams do not wait for each other but for events") {
  const auto driver = open_simulated_driver({.memory = kMiB, .checks_order = false});
  const auto held = driver->create_stream(), going = driver->create_stream(), after = driver->create_stream();
  const auto event = driver->create_event(true);
  void* block = driver->allocate(8);
  std::uint64_t seen = 1;
  Gate gate;
  gate.close(*driver, held);
  driver->clear(held, block, 8);
  driver->record(event, held);
  driver->wait(after, event);
  driver->copy_out(after, &seen, block, 8);
  driver->record(event, going);  // a later recording moves no one who waits for an earlier one
  CHECK(read<std::uint64_t>(*driver, going, block, 1)[0] != 0);
  driver->synchronize_event(event);
  CHECK(seen == 1);
  gate.open();
  driver->synchronize(after);
  CHECK(seen == 0);
  driver->destroy_stream(going);
}

TEST_CASE("uses of the same memory that nothing orders are found, whichever runs first") {
  const auto driver = open();
  const auto one = driver->create_stream(), other = driver->create_stream();
  const auto event = driver->create_event(true);
  void* block = driver->allocate(8);
  void* apart = driver->allocate(8);
  std::uint64_t host = 1;
  const auto copy_in = [&](GpuDriver::Stream s) { driver->copy_in(s, block, &host, 8); };
  const auto copy_out = [&](GpuDriver::Stream s) { driver->copy_out(s, &host, block, 8); };
  const auto clear = [&](GpuDriver::Stream s) { driver->clear(s, block, 8); };
  const auto launch = [&](GpuDriver::Stream s) {
    const std::uint64_t packet[] = {parameter(block), 1};
    driver->launch(s, code_of(scale_and_add), 1, 1, packet, 2);
  };
  using Use = std::function<void(GpuDriver::Stream)>;
  struct Pair {
    Use first, second;
    bool mistake;
  };
  for (const Pair& pair : {Pair{copy_in, copy_in, true},
                           {copy_in, copy_out, true},
                           {copy_in, launch, true},
                           {copy_out, copy_in, true},
                           {launch, copy_in, true},
                           {clear, launch, true},
                           {copy_out, clear, true},
                           {copy_out, copy_out, false},
                           {copy_out, launch, false},
                           {launch, launch, false}}) {
    CAPTURE(&pair);
    for (const bool ordered : {true, false}) {
      pair.first(one);
      // In time they are in order; the host could not rely on it.
      if (!ordered) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      driver->record(event, one);
      if (ordered) driver->wait(other, event);
      if (!ordered && pair.mistake)
        CHECK_THROWS_WITH_AS(pair.second(other), Contains("no event between them"), InternalError);
      else
        CHECK_NOTHROW(pair.second(other));
      driver->synchronize(one);  // what the host has waited for comes before all that it calls for later
      driver->synchronize(other);
    }
  }
  driver->copy_in(one, block, &host, 8);
  CHECK_NOTHROW(driver->clear(other, apart, 8));
  driver->wait(other, event);  // recorded before the copy
  CHECK_THROWS_WITH_AS(copy_in(other), Contains("copy_in in stream 1"), InternalError);
  driver->synchronize(one);
}

TEST_CASE("memory is not freed before the host has waited for its use, though the use be over") {
  const auto driver = open();
  const auto stream = driver->create_stream(), other = driver->create_stream();
  void* block = driver->allocate(8);
  driver->clear(stream, block, 8);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  driver->synchronize(other);
  driver->free(block);
  CHECK_THROWS_WITH_AS(driver->synchronize(stream), Contains("simulated GPU: free"), InternalError);
}

TEST_CASE("a chain of copies and launches over two streams is right if events order it") {
  const auto driver = open();
  const auto copies = driver->create_stream(), launches = driver->create_stream();
  const auto arrived = driver->create_event(true), computed = driver->create_event(true);
  constexpr std::size_t kWords = 3000;
  auto* pinned = static_cast<std::uint64_t*>(driver->allocate_pinned(kWords * 8));
  void* block = driver->allocate(kWords * 8);
  for (std::uint64_t round = 0; round < 300; ++round) {
    std::fill_n(pinned, kWords, round);
    driver->copy_in(copies, block, pinned, kWords * 8);
    driver->record(arrived, copies);
    driver->wait(launches, arrived);
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t packet[] = {parameter(block), 10};  // copied by the call: it ends before the launch
      REQUIRE(driver->launch(launches, code_of(scale_and_add), 30, 100, packet, 2) == LaunchStatus::done);
    }
    driver->record(computed, launches);
    driver->wait(copies, computed);
    driver->copy_out(copies, pinned, block, kWords * 8);
    driver->synchronize(copies);
    REQUIRE(std::all_of(pinned, pinned + kWords, [&](std::uint64_t x) { return x == 100 * round + 11; }));
  }
  driver->free_pinned(pinned);
}

TEST_CASE("each thread of a launch runs once, blocks in no order") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  struct Seen {
    std::vector<std::atomic<int>> threads;
    std::atomic<std::int64_t> next{0};
    std::vector<std::int64_t> order;
  };
  const auto kernel = [](const std::uint64_t* packet, std::int64_t first, std::int64_t last, std::int64_t threads) {
    auto& seen = *reinterpret_cast<Seen*>(packet[0]);
    if (threads != static_cast<std::int64_t>(seen.threads.size())) return;
    for (std::int64_t t = first; t < last; ++t) ++seen.threads[static_cast<std::size_t>(t)];
    seen.order[static_cast<std::size_t>(seen.next++)] = first / (last - first);
  };
  std::set<std::int64_t> firsts;  // in order it would be where a thread's share begins
  for (const unsigned blocks : {1u, 2u, 3u, 64u, 210u, 1001u, 1001u, 1001u, 1001u, 1001u, 1001u}) {
    Seen seen{.threads = std::vector<std::atomic<int>>(blocks * 32), .order = std::vector<std::int64_t>(blocks)};
    const std::uint64_t packet[] = {parameter(&seen)};
    CHECK(driver->launch(stream, code_of(kernel), blocks, 32, packet, 1) == LaunchStatus::done);
    driver->synchronize(stream);
    CHECK(std::all_of(seen.threads.begin(), seen.threads.end(), [](const std::atomic<int>& n) { return n == 1; }));
    if (blocks == 1001) firsts.insert(seen.order.front());
  }
  CHECK(firsts.size() > 3);
}

TEST_CASE("launches that no GPU takes are refused") {
  const auto driver = open_simulated_driver({.memory = kMiB, .largest_block = 256});
  const auto stream = driver->create_stream();
  void* block = driver->allocate(1024 * 8);
  const std::uint64_t packet[] = {parameter(block), 0};
  CHECK(driver->launch(stream, code_of(scale_and_add), 1, 257, packet, 2) == LaunchStatus::too_large);
  CHECK(driver->launch(stream, code_of(scale_and_add), 1, 1024, packet, 2) == LaunchStatus::too_large);
  CHECK(driver->launch(stream, code_of(scale_and_add), 1, 256, packet, 2) == LaunchStatus::done);
  for (const unsigned blocks : {0u, 0x8000'0000u})
    CHECK_THROWS_WITH_AS(driver->launch(stream, code_of(scale_and_add), blocks, 1, packet, 2), Contains("blocks"),
                         DeviceError);
  CHECK_THROWS_AS(driver->launch(stream, code_of(scale_and_add), 1, 0, packet, 2), DeviceError);
  const auto words = read<std::uint64_t>(*driver, stream, block, 1024);
  CHECK(std::count(words.begin(), words.end(), 1) == 256);
}

TEST_CASE("an exception in a kernel stops the device") {
  const auto driver = open();
  const auto stream = driver->create_stream(), other = driver->create_stream();
  const auto event = driver->create_event(true);
  void* block = driver->allocate(8);
  std::uint64_t host = 3;
  driver->launch(stream, code_of(throw_from_kernel), 4, 4, nullptr, 0);
  driver->record(event, stream);
  driver->wait(other, event);
  driver->copy_out(other, &host, block, 8);
  CHECK_THROWS_WITH_AS(driver->synchronize(other), Contains("kernel went wrong"), InternalError);
  CHECK(host == 3);
  driver->free(block);  // what did not run holds nothing
  CHECK(driver->free_memory() == kMiB);
}

TEST_CASE("events tell the time between them") {
  const auto driver = open();
  const auto stream = driver->create_stream();
  const auto from = driver->create_event(true), to = driver->create_event(true);
  Gate gate;
  driver->record(from, stream);
  driver->synchronize_event(from);
  gate.close(*driver, stream);
  driver->record(to, stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  gate.open();
  CHECK(driver->seconds(from, to) > 0.004);
  CHECK(driver->seconds(to, from) < 0);
  CHECK(driver->seconds(to, to) == 0);
  const auto untimed = driver->create_event(false);
  driver->record(untimed, stream);
  CHECK_THROWS_WITH_AS(driver->seconds(from, untimed), Contains("made for timing"), InternalError);
  driver->destroy_event(untimed);
}

TEST_CASE("each allocation, launch and copy can be made to fail, once") {
  // The work of a program: returns whether it came through, and leaves nothing allocated.
  const auto work = [](GpuDriver& driver) {
    const auto stream = driver.create_stream();
    std::vector<void*> blocks;
    std::uint64_t host = 4;
    std::string failure;
    try {
      for (int i = 0; i < 3; ++i) {
        blocks.push_back(driver.allocate(1024));
        if (blocks.back() == nullptr) throw DeviceError("out of memory");
        driver.copy_in(stream, blocks.back(), &host, 8);
        driver.clear(stream, blocks.back(), 8);
        const std::uint64_t packet[] = {parameter(blocks.back()), 1};
        driver.launch(stream, code_of(scale_and_add), 1, 1, packet, 2);
        driver.copy_out(stream, &host, blocks.back(), 8);
      }
    } catch (const DeviceError& error) {
      failure = error.what();
    }
    driver.synchronize(stream);
    for (void* block : blocks) driver.free(block);
    driver.destroy_stream(stream);
    return failure;
  };

  const auto driver = open();
  const SimulatedCounts before = simulated_counts();
  CHECK(work(*driver).empty());
  const SimulatedCounts after = simulated_counts();
  const SimulatedCounts calls{after.allocations - before.allocations, after.launches - before.launches,
                              after.copies - before.copies};
  CHECK(calls.allocations == 3);
  CHECK(calls.launches == 3);
  CHECK(calls.copies == 9);
  for (std::int64_t n = 1; n <= calls.allocations; ++n) {
    set_simulated_faults({.allocations = n});
    CHECK(work(*driver) == "out of memory");
    CHECK(work(*driver).empty());
  }
  for (std::int64_t n = 1; n <= calls.launches; ++n) {
    set_simulated_faults({.launches = n});
    CHECK(work(*driver).starts_with("simulated fault: launch "));
    CHECK(work(*driver).empty());
  }
  for (std::int64_t n = 1; n <= calls.copies; ++n) {
    set_simulated_faults({.copies = n});
    CHECK(work(*driver).starts_with("simulated fault: copy "));
    CHECK(work(*driver).empty());
  }
  CHECK(driver->free_memory() == kMiB);

  // The same from the time of opening, and no fault survives the next opening.
  const auto faulty = open_simulated_driver({.memory = kMiB, .failing_launch = 2});
  CHECK(work(*faulty).starts_with("simulated fault: launch"));
  set_simulated_faults({.copies = 1});
  const auto sound = open();
  CHECK(work(*sound).empty());
}

TEST_CASE("the environment describes a simulated GPU") {
  const auto with = [](const char* memory, const char* fault, const char* delay) {
    setenv("TESSERA_SIM_MEMORY", memory, 1);
    setenv("TESSERA_SIM_FAULT", fault, 1);
    setenv("TESSERA_SIM_DELAY", delay, 1);
    reload_env();
    return simulated_gpu_from_environment();
  };
  const SimulatedGpu plain = with("", "", "");
  CHECK(plain.memory == std::size_t{1} << 30);
  CHECK(plain.delays);
  CHECK(plain.failing_allocation == 0);
  CHECK(plain.largest_block == 1024);
  CHECK(plain.most_pinned > 1'000'000);
  CHECK(with("", "pinned:0", "").most_pinned == 0);
  const SimulatedGpu set = with("3M", "allocate:3,launch:7,copy:2,block:256,pinned:3,stack:5000", "0");
  CHECK(set.memory == 3 * kMiB);
  CHECK(!set.delays);
  CHECK(set.failing_allocation == 3);
  CHECK(set.failing_launch == 7);
  CHECK(set.failing_copy == 2);
  CHECK(set.largest_block == 256);
  CHECK(set.most_pinned == 3);
  CHECK(set.stack == 5000);
  CHECK(plain.stack == 0);
  for (const char* bad : {"launch", "launch:", "launch:0", "launch:-1", "launch:2x", "lunch:2", ":2", "block:1025",
                          "pinned:-1", "stack:-1", "copy:1,,"})
    CHECK_THROWS_WITH_AS(with("", bad, ""), Contains("TESSERA_SIM_FAULT"), UserError);
  with("", "", "");
}

TEST_CASE("what was never freed is told at debug level, an error that nobody saw always") {
  tests::CapturedLog log;
  configure_log("debug");
  {
    const auto driver = open();
    driver->allocate(1000);
    driver->allocate_pinned(2000);
    driver->create_event(true);
    driver->destroy_stream(driver->create_stream());
  }
  CHECK(log.says("device memory never freed: 1000 bytes"));
  CHECK(log.says("pinned memory never freed: 2000 bytes"));
  CHECK(log.says("1 events never destroyed"));
  CHECK(!log.says("streams never destroyed"));
  log.clear();
  configure_log("error");
  {
    const auto driver = open();
    driver->free(driver.get());
  }
  CHECK(log.says("nothing is allocated"));
  configure_log("warn");
}
