// The threads of the CPU: a team that runs one task on every thread and waits for all.
//
// Own threads instead of an OpenMP region per kernel: an empty task on two hot threads takes 0.2 us, a region of libgomp
// 0.6 us (2-core EPYC, gcc 12), and libgomp's barriers are invisible to ThreadSanitizer. OpenMP still decides how many
// threads there are and where they run (OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

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

class ThreadPool {
 public:
  /// `threads` >= 1 with the calling thread, which is thread 0 of every task.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// OMP_NUM_THREADS, or the cores that this process may use.
  static int default_threads();

  int threads() const { return threads_; }
  /// Must not be called from inside a task.
  void resize(int threads);

  /// task(thread) for thread = 0 .. threads()-1 at the same time; returns when all have. The first exception thrown by
  /// a task is thrown again here. A call from inside a task, or from a second thread, runs all parts in turn.
  template <class Task>
  void run(Task&& task) {
    using Plain = std::remove_reference_t<Task>;
    run_on_all([](void* context, int thread) { (*static_cast<Plain*>(context))(thread); },
               const_cast<void*>(static_cast<const void*>(std::addressof(task))));
  }

 private:
  using Function = void (*)(void* context, int thread);
  struct Team;

  void run_on_all(Function function, void* context);
  void start(int threads);
  void stop();

  int threads_ = 1;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Team> team_;
};

}  // namespace jit
