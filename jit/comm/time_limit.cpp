#include "jit/comm/time_limit.hpp"

#include <algorithm>
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

/// Calls are so short that their begin need not be timed: one that is still under way after so many looks has lasted as long.
void TimeLimit::watch() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(250);
  std::uint64_t call = 0;
  Clock::time_point since = Clock::now();
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kLook, [this] { return stop_; })) {
    const char* const operation = operation_.load(std::memory_order_acquire);
    const std::uint64_t present = calls_.load(std::memory_order_relaxed);
    if (operation == nullptr || present != call) {
      call = present;
      since = Clock::now();
    } else if (Clock::now() - since >= std::chrono::seconds(seconds_)) {
      end_(operation);
    }
  }
}

}  // namespace jit
