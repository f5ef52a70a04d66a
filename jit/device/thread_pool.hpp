// The threads of the CPU: a team that runs one task on every thread and waits for all.
//
// Own threads instead of an OpenMP region per kernel: an empty task on two hot threads takes 0.2 us, a region of libgomp
// 0.6 us (2-core EPYC, gcc 12), and libgomp's barriers are invisible to ThreadSanitizer. OpenMP still decides how many
// threads there are and where they run (OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES).
//
// Each thread runs its own part, so that it meets the memory that it touched first. The calling thread, when done with
// its own, runs the parts that no worker has begun: a worker that sleeps, or that the machine has given to another
// process, delays nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace jit {

/// The part of [begin, end) that thread `thread` of `threads` works on: contiguous, sizes differ by at most one.
struct Share {
  std::int64_t begin, end;
};
constexpr Share share(std::int64_t begin, std::int64_t end, int thread, int threads) {
  const std::int64_t n = end - begin, each = n / threads, rest = n % threads;
  const std::int64_t first = begin + each * thread + (thread < rest ? thread : rest);
  return {first, first + each + (thread < rest ? 1 : 0)};
}

/// The place (number in OMP_PLACES) of thread `thread` of `threads` under OMP_PROC_BIND=spread or close, when thread 0 is
/// at place `first` of `places`: as OpenMP 5.0, section 2.6.2, has it.
int openmp_place(int thread, int threads, int places, int first, bool spread);
/// The processors that a pool of so many threads may use.
std::vector<int> processors_of(int threads);

class ThreadPool {
 public:
  /// `threads` from 1 to kMost with the calling thread, which is thread 0 of every task. Throws UserError beyond, and
  /// DeviceError if the system does not give as many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// OMP_NUM_THREADS, or the cores that this process may use.
  static int default_threads();
  /// More than any machine has.
  static constexpr int kMost = 4096;

  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Must not be called from inside a task.
  void resize(int threads);

  /// task(part) for part = 0 .. threads()-1, concurrently; returns when all have. Parts must not wait for each other.
  /// The first exception thrown by a part is thrown again here. A call from inside a task, or from a second thread, runs
  /// all parts in turn. A task that is little and plain is copied, to a place that the workers know: they need not ask the caller's
  /// memory line by line for what leads to it.
  template <class Task>
  void run(Task&& task) {
    using Plain = std::remove_reference_t<Task>;
    constexpr bool kCopied = std::is_trivially_copyable_v<Plain> && std::is_invocable_v<const Plain&, int> &&
                             sizeof(Plain) <= kMostCopied && alignof(Plain) <= kLine;
    run_on_all([](void* context, int part) { (*static_cast<Plain*>(context))(part); },
               const_cast<void*>(static_cast<const void*>(std::addressof(task))), kCopied ? sizeof(Plain) : 0);
  }
  static constexpr std::size_t kMostCopied = 256;

 private:
  using Function = void (*)(void* context, int part);
  struct Team;
  static constexpr std::size_t kLine = 64;  ///< of the cache

  /// `copied`: bytes of the context, if it may be copied; else 0.
  void run_on_all(Function function, void* context, std::size_t copied);
  void start(int threads);
  void make_team(int threads);
  void stop();

  std::atomic<int> threads_{1};  // other threads may ask
  std::atomic<bool> busy_{false};
  std::unique_ptr<Team> team_;
};

}  // namespace jit
