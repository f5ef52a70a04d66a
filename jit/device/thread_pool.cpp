#include "jit/device/thread_pool.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "jit/support/cores.hpp"
#include "jit/support/error.hpp"
#include "jit/support/relax.hpp"

namespace jit {
namespace {

// A worker that spins answers within a fraction of a microsecond, one that sleeps needs tens. Statements of a
// trajectory follow each other within microseconds; longer gaps (host code, input and output) should cost no power.
constexpr auto kSpin = std::chrono::microseconds(500);
constexpr int kSpinsPerClock = 64;
constexpr int kSpinsPerYield = 1024;  // of the caller, who waits for parts that are being run

/// The processors that OpenMP gives to each of `threads` threads; empty if it does not bind threads.
std::vector<cpu_set_t> openmp_masks(int threads) {
  const omp_proc_bind_t bind = omp_get_proc_bind();
  const int places = omp_get_num_places(), first = omp_get_place_num();
  if (bind == omp_proc_bind_false || places == 0 || first < 0) return {};
  std::vector<cpu_set_t> masks(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    const int place =
        bind == omp_proc_bind_master ? first : openmp_place(t, threads, places, first, bind == omp_proc_bind_spread);
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    CPU_ZERO(&masks[static_cast<std::size_t>(t)]);
    for (const int processor : processors) CPU_SET(processor, &masks[static_cast<std::size_t>(t)]);
  }
  return masks;
}

constexpr const char* kAdvice = "Set OMP_NUM_THREADS to the number of cores, or unset it";

void check_number(int threads) {
  if (threads >= 1 && threads <= ThreadPool::kMost) return;
  throw UserError({.what = "threads",
                   .expected = "1 to " + std::to_string(ThreadPool::kMost),
                   .got = std::to_string(threads),
                   .where = "OMP_NUM_THREADS or set_threads",
                   .what_now = kAdvice});
}

/// Per worker, on a cache line of its own.
struct alignas(64) WorkerState {
  std::atomic<std::uint64_t> begun{0};  ///< last round whose part somebody took
  std::atomic<std::uint64_t> done{0};   ///< last round whose part is finished
};

}  // namespace

std::vector<int> processors_of(int threads) {
  std::vector<cpu_set_t> masks = openmp_masks(threads);
  if (masks.empty()) sched_getaffinity(0, sizeof(cpu_set_t), &masks.emplace_back());
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (std::ranges::any_of(masks, [&](const cpu_set_t& mask) { return CPU_ISSET(cpu, &mask); }))
      processors.push_back(cpu);
  return processors;
}

int openmp_place(int thread, int threads, int places, int first, bool spread) {
  int place = thread;
  if (threads > places) {
    place = 0;
    while (share(0, threads, place, places).end <= thread) ++place;
  } else if (spread) {
    place = static_cast<int>(share(0, places, thread, threads).begin);
  }
  return (first + place) % places;
}

struct ThreadPool::Team {
  alignas(kLine) std::atomic<std::uint64_t> round{0};  ///< number of the present task; the workers wait for it to grow
  Function function = nullptr;                         ///< written before `round` grows, read by who has taken a part
  void* context = nullptr;
  alignas(kLine) std::byte copied[kMostCopied];  ///< the context, if it may be
  std::vector<WorkerState> state;                ///< [thread], 0 unused
  std::atomic<bool> quit{false};
  bool crowded = false;  ///< more threads than cores: spinning would take time from the work
  std::atomic<int> sleeping{0};
  std::mutex mutex;
  std::condition_variable wake;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::vector<std::thread> workers;

  explicit Team(int threads) : state(static_cast<std::size_t>(threads)) {}

  void run_part(int part) {
    try {
      function(context, part);
    } catch (...) {
      std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }

  /// Runs part `t` of a round unless somebody else has taken it.
  void try_part(int t, std::uint64_t now) {
    WorkerState& mine = state[static_cast<std::size_t>(t)];
    std::uint64_t before = now - 1;  // fails for a round that is over: its parts have all been taken
    if (!mine.begun.compare_exchange_strong(before, now, std::memory_order_acq_rel)) return;
    run_part(t);
    mine.done.store(now, std::memory_order_release);
  }

  std::uint64_t post() {
    // Sequentially consistent on both sides: either we see the sleeper, or the sleeper sees the new round.
    const std::uint64_t now = round.fetch_add(1) + 1;
    if (sleeping.load() > 0) {
      std::lock_guard lock(mutex);
      wake.notify_all();
    }
    return now;
  }

  /// Returns the number of the first round after `last` that it sees.
  std::uint64_t wait_for_round(std::uint64_t last) {
    using Clock = std::chrono::steady_clock;
    if (!crowded) {
      const auto deadline = Clock::now() + kSpin;
      for (int spin = 1;; ++spin) {
        if (const std::uint64_t now = round.load(std::memory_order_acquire); now != last) return now;
        relax();
        if (spin % kSpinsPerClock != 0) continue;
        if (Clock::now() > deadline) break;
        sched_yield();  // the caller may be waiting for this very core
      }
    }
    std::unique_lock lock(mutex);
    sleeping.fetch_add(1);
    wake.wait(lock, [&] { return round.load() != last; });
    sleeping.fetch_sub(1);
    return round.load();
  }

  void work(int thread) {
    for (std::uint64_t now = 0;;) {
      now = wait_for_round(now);
      for (std::size_t at = 0; at < kMostCopied; at += kLine) __builtin_prefetch(copied + at);
      if (quit.load(std::memory_order_acquire)) return;
      try_part(thread, now);
    }
  }

  void finish(std::uint64_t now) {
    const int threads = static_cast<int>(state.size());
    for (int t = 1; t < threads; ++t) try_part(t, now);
    for (int t = 1; t < threads; ++t)
      for (int spin = 1; state[static_cast<std::size_t>(t)].done.load(std::memory_order_acquire) != now; ++spin) {
        if (crowded || spin % kSpinsPerYield == 0)
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
  if (threads == threads_) return;
  check_number(threads);
  stop();
  start(threads);
}

void ThreadPool::start(int threads) {
  check_number(threads);
  threads_ = threads;
  if (threads == 1) return;
  try {
    make_team(threads);
  } catch (const std::system_error& error) {
    const std::size_t made = team_->workers.size() + 1;
    stop();
    throw DeviceError({.what = "threads",
                       .expected = std::to_string(threads),
                       .got = std::string(error.what()) + " after " + std::to_string(made),
                       .where = "OMP_NUM_THREADS or set_threads",
                       .what_now = kAdvice});
  }
}

void ThreadPool::make_team(int threads) {
  team_ = std::make_unique<Team>(threads);
  const std::vector<cpu_set_t> masks = openmp_masks(threads);
  // A bound main thread sees its own place only; then the user has chosen where the others are.
  team_->crowded = masks.empty() && threads > cores_of_process();
  for (int t = 1; t < threads; ++t) {
    team_->workers.emplace_back([team = team_.get(), t] { team->work(t); });
    if (!masks.empty())
      pthread_setaffinity_np(team_->workers.back().native_handle(), sizeof(cpu_set_t),
                             &masks[static_cast<std::size_t>(t)]);
  }
}

void ThreadPool::stop() {
  if (team_) {
    team_->quit.store(true, std::memory_order_release);
    team_->post();
    for (std::thread& worker : team_->workers) worker.join();
    team_.reset();
  }
  threads_ = 1;
}

void ThreadPool::run_on_all(Function function, void* context, std::size_t copied) {
  if (threads_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    for (int t = 0; t < threads_; ++t) function(context, t);
    return;
  }
  Team& team = *team_;
  team.function = function;
  team.context = copied > 0 ? std::memcpy(team.copied, context, copied) : context;
  const std::uint64_t round = team.post();
  team.run_part(0);
  team.finish(round);
  std::exception_ptr error;
  if (team.error) error = std::exchange(team.error, nullptr);  // after the workers: no lock needed
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace jit
