// A limit for calls that cannot be given up, such as MPI's collective operations: a thread looks after them, and ends the
// process when one takes too long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace jit {

class TimeLimit {
 public:
  /// `end` is called by another thread with the name of the call, and does not return. 0 seconds: no limit.
  TimeLimit(int seconds, std::function<void(const char* operation)> end);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// While it lives the call is under way. One at a time; `operation` is a literal.
  class Call {
   public:
    Call(TimeLimit& limit, const char* operation) : limit_(limit) { limit_.begin(operation); }
    ~Call() { limit_.operation_.store(nullptr, std::memory_order_release); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    TimeLimit& limit_;
  };

 private:
  void begin(const char* operation) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    operation_.store(operation, std::memory_order_release);
  }
  void watch();

  const int seconds_;
  const std::function<void(const char*)> end_;
  std::atomic<const char*> operation_{nullptr};
  std::atomic<std::uint64_t> calls_{0};  ///< so far
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace jit
