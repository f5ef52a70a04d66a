// The processor as a device: where its memory begins; and its threads: every part runs once, exceptions come back, nested and
// resized use is safe.
#include "jit/device/thread_pool.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/device/huge_pages.hpp"
#include "jit/device/pieces.hpp"
#include "jit/support/cores.hpp"
#include "jit/support/error.hpp"
#include "tests/process_memory.hpp"

using namespace jit;

TEST_CASE("a process has the cores that the system lets it use, until it is told what others leave it") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  const double all = CPU_COUNT(&allowed);
  CHECK(cores_of_process() == all);
  for (const double told : {0.25, 3.5}) {
    set_cores_of_process(told);
    CHECK(cores_of_process() == told);
  }
  set_cores_of_process(0);
  CHECK(cores_of_process() == all);
}

TEST_CASE("large blocks begin at places that fall into other sets of a cache") {
  CpuDevice cpu;
  constexpr std::size_t kBytes = 3 << 20;
  std::vector<void*> blocks;
  std::vector<int> in_page(4096 / 64), in_way((64 << 10) / 1024);
  for (int i = 0; i < 64; ++i) {
    blocks.push_back(cpu.allocate(kBytes));
    const auto at = reinterpret_cast<std::uintptr_t>(blocks.back());
    CHECK(at % Device::kAlignment == 0);
    ++in_page[at % 4096 / 64];
    ++in_way[at % (64 << 10) / 1024];
    std::memset(blocks.back(), i, kBytes);  // all of it is there
  }
  CHECK(*std::ranges::max_element(in_page) <= 2);
  CHECK(*std::ranges::max_element(in_way) <= 2);
  for (int i = 0; i < 64; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[static_cast<std::size_t>(i)]);
    CHECK((bytes[0] == i && bytes[kBytes - 1] == i));  // and nobody else's
    cpu.free(blocks[static_cast<std::size_t>(i)], kBytes);
  }
  // What is given back is gone: the same again and again does not add up.
  const std::int64_t before = tests::mapped_bytes();
  for (int i = 0; i < 200; ++i) cpu.free(cpu.allocate(kBytes), kBytes);
  CHECK(tests::mapped_bytes() - before < 16 * sysconf(_SC_PAGESIZE));
}

TEST_CASE("shares cover a range once, in order, and differ by at most one") {
  for (const int threads : {1, 2, 3, 7, 64})
    for (const std::int64_t n : {0, 1, 2, 5, 63, 64, 1000}) {
      std::int64_t next = 10;
      for (int t = 0; t < threads; ++t) {
        const Share part = share(10, 10 + n, t, threads);
        CHECK(part.begin == next);
        CHECK(part.end - part.begin >= n / threads);
        CHECK(part.end - part.begin <= n / threads + 1);
        next = part.end;
      }
      CHECK(next == 10 + n);
    }
}

namespace {

/// Waits for it up to 20 s.
template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 20000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

std::string words(const Pieces::How& how) {
  return std::to_string(how.least) + " to " + std::to_string(how.size) + (how.both ? " both" : "") +
         (how.may_move ? " may move" : "");
}

const std::array<std::array<Range, 2>, 5> kHalves = {{{{{0, 1000}, {1000, 2000}}},
                                                      {{{5, 5}, {5, 300}}},
                                                      {{{7, 90}, {90, 1090}}},
                                                      {{{0, 3}, {3, 3}}},
                                                      {{{4, 4}, {4, 4}}}}};

}  // namespace

TEST_CASE("pieces cover both halves once, whoever takes them") {
  for (const int threads : {1, 2, 3, 40}) {
    ThreadPool pool(threads);
    Pieces pieces;
    for (const auto& halves : kHalves)
      for (const Pieces::How how :
           {Pieces::How{.size = 1}, Pieces::How{.size = 7, .both = true}, Pieces::How{.size = 7, .may_move = false},
            Pieces::How{.size = 64, .both = true, .may_move = false}, Pieces::How{.size = 100000, .both = true},
            Pieces::How{.size = 50, .least = 1}, Pieces::How{.size = 50, .least = 3, .both = true},
            Pieces::How{.size = 100000, .least = 7, .both = true}}) {
        CAPTURE(threads);
        CAPTURE(words(how));
        for (int launch = 0; launch < 3; ++launch) {  // what is left of the one before does not matter
          std::vector<std::atomic<int>> done(2000);
          std::atomic<bool> too_large{false};
          const Pieces::Division division = pieces.divide(halves, threads, how);
          pool.run([&](int thread) {
            division.take(thread, [&](std::int64_t begin, std::int64_t end) {
              if (end - begin > how.size) too_large = true;
              for (std::int64_t i = begin; i < end; ++i) ++done[static_cast<std::size_t>(i)];
            });
          });
          CHECK(!too_large);
          for (std::int64_t i = 0; i < 2000; ++i) {
            const bool inside =
                (i >= halves[0].begin && i < halves[0].end) || (i >= halves[1].begin && i < halves[1].end);
            REQUIRE(done[static_cast<std::size_t>(i)] == (inside ? 1 : 0));
          }
        }
      }
  }
}

TEST_CASE("launches go on when the numbers that tell them apart have been used up") {
  Pieces pieces(Pieces::kLaunches - 3);
  for (int launch = 0; launch < 8; ++launch) {
    CAPTURE(launch);
    std::int64_t done = 0;
    const auto count = [&](std::int64_t begin, std::int64_t end) { done += end - begin; };
    const Pieces::Division division = pieces.divide({Range{0, 40}, Range{40, 80}}, 2, {.size = 3});
    for (const int thread : {1, 0}) division.take(thread, count);
    CHECK(done == 80);
  }
}

TEST_CASE(
    "a thread has its own share first, in order and both halves in turn; others go on with what a thread does not begin") {
  const std::array<Range, 2> halves = {Range{0, 40}, Range{40, 80}};
  Pieces pieces;
  std::vector<std::int64_t> begun;
  const auto note = [&](std::int64_t begin, std::int64_t) { begun.push_back(begin); };
  pieces.divide(halves, 2, {.size = 10, .both = true, .may_move = false}).take(1, note);
  CHECK(begun == std::vector<std::int64_t>{20, 60, 30, 70});
  begun.clear();
  pieces.divide(halves, 2, {.size = 10, .both = false, .may_move = false}).take(0, note);
  CHECK(begun == std::vector<std::int64_t>{0, 10, 40, 50});

  // A quarter of what is left, as long as that is not less than the least.
  std::vector<Range> taken;
  const auto note_all = [&](std::int64_t begin, std::int64_t end) { taken.push_back({begin, end}); };
  pieces.divide(halves, 2, {.size = 8, .least = 2, .may_move = false}).take(0, note_all);
  const std::vector<std::int64_t> ends = {8, 16, 20, 42, 46, 49, 51, 53, 55, 57, 59, 60};
  REQUIRE(taken.size() == ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) CHECK(taken[i].end == ends[i]);

  // The caller is held up in its first piece until all others are done.
  ThreadPool pool(2);
  std::atomic<int> done{0}, moved{0};
  std::atomic<bool> in_time{true};
  const Pieces::Division division = pieces.divide(halves, 2, {.size = 5});
  pool.run([&](int thread) {
    division.take(thread, [&](std::int64_t begin, std::int64_t) {
      if (begin == 0)
        in_time = comes_true([&] { return done == 15; });
      else
        moved += thread == 1 && begin % 40 < 20;
      ++done;
    });
  });
  CHECK(in_time);
  CHECK(done == 16);
  CHECK(moved == 7);
}

TEST_CASE("a task runs once on every thread, at the same time, and its writes are seen afterwards") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<int> plain(static_cast<std::size_t>(threads), 0);  // not atomic: ThreadSanitizer watches the hand-over
    for (int round = 1; round <= 1000; ++round) {
      pool.run([&](int t) { plain[static_cast<std::size_t>(t)] += round; });
      if (round % 250 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // lets the workers fall asleep
    }
    for (const int sum : plain) CHECK(sum == 1000 * 1001 / 2);

    std::atomic<int> arrived{0};
    pool.run([&](int) {
      ++arrived;
      while (arrived < threads) std::this_thread::yield();  // ends only if all parts run together
    });
    CHECK(arrived == threads);
  }
}

namespace {

/// A task of so many words, each of which says what the first does.
template <std::size_t kWords>
struct Copied {
  std::array<std::uint64_t, kWords> words;
  std::atomic<std::uint64_t>* sum;
  std::atomic<bool>* torn;
  void operator()(int) const {
    for (const std::uint64_t word : words)
      if (word != words[0]) *torn = true;
    *sum += words[0];
  }
};

template <std::size_t kWords>
void every_part_sees_its_own_task() {
  ThreadPool pool(3);
  std::atomic<bool> torn{false};
  // Several callers at once: who does not get the pool runs its own task, not the copy of another's.
  std::array<std::atomic<std::uint64_t>, 3> sums{};
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      for (std::uint64_t round = 0; round < 3000; ++round) {
        Copied<kWords> task{.words = {}, .sum = &sums[caller], .torn = &torn};
        task.words.fill(10000 * caller + round);
        pool.run(task);
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(!torn);
  for (std::uint64_t caller = 0; caller < 3; ++caller)
    CHECK(sums[caller] == 3 * (3000 * 10000 * caller + 2999 * 3000 / 2));
}

}  // namespace

TEST_CASE("every part sees the task of its own round, copied or not") {
  static_assert(sizeof(Copied<30>) == ThreadPool::kMostCopied);
  every_part_sees_its_own_task<1>();
  every_part_sees_its_own_task<30>();
  every_part_sees_its_own_task<31>();

  // What a task changes in itself is not lost: such a one is not copied.
  ThreadPool pool(2);
  struct Counter {
    std::array<int, 2> calls{};
    void operator()(int part) { ++calls[static_cast<std::size_t>(part)]; }
  } counter;
  for (int round = 0; round < 10; ++round) pool.run(counter);
  CHECK(counter.calls == std::array{10, 10});
}

TEST_CASE("the caller runs the parts of workers that do not come") {
  // More threads than this machine has cores: some worker is not running when its part is wanted.
  ThreadPool pool(static_cast<int>(std::thread::hardware_concurrency()) + 8);
  std::vector<std::thread::id> ran(static_cast<std::size_t>(pool.threads()));
  int helped = 0;  // rounds in which somebody did not come
  for (int round = 0; round < 200; ++round) {
    std::fill(ran.begin(), ran.end(), std::thread::id{});
    pool.run([&](int part) { ran[static_cast<std::size_t>(part)] = std::this_thread::get_id(); });
    CHECK(ran[0] == std::this_thread::get_id());
    CHECK(std::count(ran.begin(), ran.end(), std::thread::id{}) == 0);
    if (std::count(ran.begin(), ran.end(), std::this_thread::get_id()) > 1) ++helped;
  }
  CHECK(helped > 0);
}

TEST_CASE("threads go to the places that OpenMP would give them") {
  const auto places_of = [](int threads, int places, int first, bool spread) {
    std::vector<int> result;
    for (int t = 0; t < threads; ++t) result.push_back(openmp_place(t, threads, places, first, spread));
    return result;
  };
  CHECK(places_of(4, 8, 0, false) == std::vector{0, 1, 2, 3});
  CHECK(places_of(4, 8, 6, false) == std::vector{6, 7, 0, 1});
  CHECK(places_of(4, 8, 0, true) == std::vector{0, 2, 4, 6});
  CHECK(places_of(3, 8, 0, true) == std::vector{0, 3, 6});
  CHECK(places_of(5, 2, 0, false) == std::vector{0, 0, 0, 1, 1});
  CHECK(places_of(5, 2, 0, true) == std::vector{0, 0, 0, 1, 1});
}

TEST_CASE("the processors of a pool are some of those that this process may use; nothing is known of none") {
  cpu_set_t usable;
  REQUIRE(sched_getaffinity(0, sizeof(usable), &usable) == 0);
  for (const int threads : {1, 2, 5}) {
    const std::vector<int> processors = processors_of(threads);
    CHECK(!processors.empty());
    for (const int cpu : processors) CHECK(CPU_ISSET(cpu, &usable));
    if (omp_get_num_places() == 0) CHECK(processors.size() == static_cast<std::size_t>(CPU_COUNT(&usable)));
    CHECK(on_one_numa_domain({processors[0]}));
  }
  CHECK(!on_one_numa_domain({}));
}

TEST_CASE("the first exception of a task reaches the caller and the pool goes on") {
  for (const int thrower : {0, 1}) {
    ThreadPool pool(2);
    CHECK_THROWS_WITH_AS(pool.run([&](int t) {
      if (t == thrower) throw std::runtime_error("part failed");
    }),
                         "part failed", std::runtime_error);
    std::atomic<int> count{0};
    pool.run([&](int) { ++count; });
    CHECK(count == 2);
  }
}

TEST_CASE("a task started inside a task runs all its parts in turn") {
  ThreadPool pool(3);
  std::array<std::atomic<int>, 3> parts{};
  pool.run([&](int outer) {
    if (outer == 1) pool.run([&](int inner) { ++parts[static_cast<std::size_t>(inner)]; });
  });
  for (const auto& part : parts) CHECK(part == 1);
}

TEST_CASE("a pool can be resized between tasks, and not to zero") {
  ThreadPool pool(2);
  for (const int threads : {4, 1, 3, 2}) {
    pool.resize(threads);
    CHECK(pool.threads() == threads);
    std::atomic<int> sum{0};
    pool.run([&](int t) { sum += t + 1; });
    CHECK(sum == threads * (threads + 1) / 2);
  }
  CHECK_THROWS_WITH_AS(pool.resize(0), doctest::Contains("expected 1 to 4096, got 0"), UserError);
  CHECK(pool.threads() == 2);
}

TEST_CASE("each task may come from another thread, and several may come at once") {
  ThreadPool pool(3);
  std::vector<int> plain(3, 0);
  for (int round = 0; round < 100; ++round)
    std::thread([&] { pool.run([&](int t) { ++plain[static_cast<std::size_t>(t)]; }); }).join();
  CHECK(plain == std::vector(3, 100));

  std::array<std::atomic<int>, 3> parts{};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) pool.run([&](int t) { ++parts[static_cast<std::size_t>(t)]; });
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& part : parts) CHECK(part == 400);
}

TEST_CASE("more threads than any machine has, or than the system gives, are errors that say what to set") {
  CHECK_THROWS_WITH_AS(ThreadPool(100000), doctest::Contains("expected 1 to 4096, got 100000 (OMP_NUM_THREADS"),
                       UserError);
  ThreadPool pool(2);
  CHECK_THROWS_WITH_AS(pool.resize(100000), doctest::Contains("Set OMP_NUM_THREADS to the number of cores"), UserError);
  CHECK(pool.threads() == 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they take address space of their own
  // Room for the stacks of some threads, not of a thousand.
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
  const rlimit little{static_cast<rlim_t>(tests::mapped_bytes() + (256 << 20)), old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
  std::string message = "no error";
  try {
    pool.resize(1000);
  } catch (const DeviceError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_AS, &old);
  CAPTURE(message);
  CHECK(message.find("expected 1000, got Resource temporarily unavailable after ") != std::string::npos);
  CHECK(pool.threads() == 1);  // and goes on
  pool.resize(3);
  std::atomic<int> parts{0};
  pool.run([&](int) { ++parts; });
  CHECK(parts == 3);
#endif
}
