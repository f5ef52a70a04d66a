#include "jit/comm/time_limit.hpp"

#include <chrono>
#include <csignal>
#include <utility>

namespace jit {

TimeLimit::TimeLimit(int seconds, std::function<void(const char*)> end) : seconds_(seconds), end_(std::move(end)) {
  if (seconds_ <= 0) return;
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TimeLimit::~TimeLimit() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

/// Calls are so short that their begin need not be timed: one that is still under way after so many looks has lasted as long. A job
/// that was stopped meanwhile has not looked.
void TimeLimit::watch() {
  constexpr int kLooksPerSecond = 4;
  std::uint64_t call = 0;
  std::int64_t looks = 0;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::milliseconds(1000 / kLooksPerSecond), [this] { return stop_; })) {
    const char* const operation = operation_.load(std::memory_order_acquire);
    const std::uint64_t present = calls_.load(std::memory_order_relaxed);
    if (operation == nullptr || present != call) {
      call = present;
      looks = 0;
    } else if (++looks >= std::int64_t{kLooksPerSecond} * seconds_) {
      end_(operation);
    }
  }
}

}  // namespace jit
