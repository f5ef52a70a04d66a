#include "jit/device/thread_pool.hpp"

#include <omp.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "jit/support/error.hpp"

namespace jit {
namespace {

// A worker that spins answers within a fraction of a microsecond, one that sleeps needs tens. Statements of a
// trajectory follow each other within microseconds; longer gaps (host code, input and output) should cost no power.
constexpr auto kSpin = std::chrono::microseconds(500);
constexpr int kSpinsPerClock = 64;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int available_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Where OpenMP would put each of `threads` threads; empty if it does not bind threads.
std::vector<cpu_set_t> openmp_places(int threads) {
  if (omp_get_proc_bind() == omp_proc_bind_false) return {};
  std::vector<cpu_set_t> places(threads);
  int team = 1;
#pragma omp parallel num_threads(threads)
  {
    sched_getaffinity(0, sizeof(cpu_set_t), &places[omp_get_thread_num()]);
#pragma omp single
    team = omp_get_num_threads();
  }
  return team == threads ? places : std::vector<cpu_set_t>{};
}

struct alignas(64) PaddedCounter {
  std::atomic<std::uint64_t> value{0};
};

}  // namespace

struct ThreadPool::Team {
  PaddedCounter round;               ///< number of the present task; the workers wait for it to grow
  std::vector<PaddedCounter> done;   ///< [thread] last round finished
  Function function = nullptr;       ///< written before `round`, read after it
  void* context = nullptr;
  bool quit = false;
  bool crowded = false;              ///< more threads than cores: spinning would take time from the work
  std::atomic<int> sleeping{0};
  std::mutex mutex;
  std::condition_variable wake;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::vector<std::thread> workers;

  explicit Team(int threads) : done(threads) {}

  void run_part(int thread) {
    try {
      function(context, thread);
    } catch (...) {
      std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }

  void post() {
    // Sequentially consistent on both sides: either we see the sleeper, or the sleeper sees the new round.
    round.value.fetch_add(1);
    if (sleeping.load() > 0) {
      std::lock_guard lock(mutex);
      wake.notify_all();
    }
  }

  void wait_for_round(std::uint64_t last) {
    if (!crowded) {
      auto deadline = std::chrono::steady_clock::time_point{};
      for (int spin = 1;; ++spin) {
        if (round.value.load(std::memory_order_acquire) != last) return;
        relax();
        if (spin % kSpinsPerClock) continue;
        const auto now = std::chrono::steady_clock::now();
        if (deadline == std::chrono::steady_clock::time_point{}) deadline = now + kSpin;
        if (now > deadline) break;
      }
    }
    std::unique_lock lock(mutex);
    sleeping.fetch_add(1);
    wake.wait(lock, [&] { return round.value.load() != last; });
    sleeping.fetch_sub(1);
  }

  void work(int thread) {
    for (std::uint64_t last = 0;;) {
      wait_for_round(last);
      ++last;
      if (quit) return;
      run_part(thread);
      done[thread].value.store(last, std::memory_order_release);
    }
  }

  void wait_for_workers() {
    const std::uint64_t now = round.value.load(std::memory_order_relaxed);
    for (std::size_t t = 1; t < done.size(); ++t)
      for (int spin = 1; done[t].value.load(std::memory_order_acquire) != now; ++spin) {
        if (crowded || spin % 4096 == 0)
          sched_yield();
        else
          relax();
      }
  }
};

ThreadPool::ThreadPool(int threads) { start(threads); }
ThreadPool::~ThreadPool() { stop(); }

int ThreadPool::default_threads() { return omp_get_max_threads(); }

void ThreadPool::resize(int threads) {
  if (threads < 1)
    throw UserError({.what = "set_threads", .expected = "at least 1", .got = std::to_string(threads)});
  if (threads == threads_) return;
  stop();
  start(threads);
}

void ThreadPool::start(int threads) {
  threads_ = threads;
  if (threads == 1) return;
  team_ = std::make_unique<Team>(threads);
  team_->crowded = threads > available_cores();
  const std::vector<cpu_set_t> places = openmp_places(threads);
  if (!places.empty()) team_->crowded = false;  // the main thread's own mask is one place; the user chose the others
  for (int t = 1; t < threads; ++t) {
    team_->workers.emplace_back([team = team_.get(), t] { team->work(t); });
    if (!places.empty()) pthread_setaffinity_np(team_->workers.back().native_handle(), sizeof(cpu_set_t), &places[t]);
  }
}

void ThreadPool::stop() {
  if (team_) {
    team_->quit = true;
    team_->post();
    for (std::thread& worker : team_->workers) worker.join();
    team_.reset();
  }
  threads_ = 1;
}

void ThreadPool::run_on_all(Function function, void* context) {
  if (threads_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    for (int t = 0; t < threads_; ++t) function(context, t);
    return;
  }
  Team& team = *team_;
  team.function = function;
  team.context = context;
  team.post();
  team.run_part(0);
  team.wait_for_workers();
  std::exception_ptr error;
  if (team.error) error = std::exchange(team.error, nullptr);  // after the workers: no lock needed
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace jit
