#include "jit/gpu/sim_stream.hpp"

#include <utility>

namespace jit {
namespace {

constexpr std::uint64_t kRestEvery = 8;  // operations, on average
constexpr std::uint64_t kLongestRest_us = 50;
/// Between two looks for work.
constexpr auto kNap = std::chrono::milliseconds(1);

}  // namespace

std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E37'79B9'7F4A'7C15;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

SimStream::SimStream(std::size_t order_number, std::function<void(SimOperation&)> execute, std::uint64_t seed,
                     bool rests)
    : number(order_number), execute_(std::move(execute)), random_(seed), rests_(rests), worker_([this] { work(); }) {}

SimStream::~SimStream() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  wake_.notify_one();
  worker_.join();
}

std::uint64_t SimStream::push(SimOperation operation) {
  std::lock_guard lock(mutex_);
  if (operation.watched && rests_) wake_.notify_one();
  queue_.push_back(std::move(operation));
  return ++pushed_;
}

std::uint64_t SimStream::pushed() {
  std::lock_guard lock(mutex_);
  return pushed_;
}

void SimStream::run_until(std::uint64_t operations) {
  std::unique_lock lock(mutex_);
  while (finished_ < operations)
    if (busy_)
      passed_.wait(lock);
    else
      run_next(lock);
}

void SimStream::work() {
  std::unique_lock lock(mutex_);
  while (!quit_ || busy_ || !queue_.empty())
    if (busy_ || queue_.empty())
      wake_.wait_for(lock, kNap);
    else
      run_next(lock);
}

void SimStream::run_next(std::unique_lock<std::mutex>& lock) {
  busy_ = true;
  {
    SimOperation operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (rests_ && next_random(random_) % kRestEvery == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(next_random(random_) % (kLongestRest_us + 1)));
    execute_(operation);
  }
  lock.lock();
  busy_ = false;
  ++finished_;
  passed_.notify_all();
}

void SimRecord::finish() {
  std::shared_ptr<SimStream> passed;  // goes after the lock
  std::lock_guard lock(mutex_);
  time_ = Clock::now();
  std::swap(passed, stream_);
}

SimRecord::Clock::time_point SimRecord::wait() {
  std::shared_ptr<SimStream> stream;
  {
    std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream) stream->run_until(operation_);
  std::lock_guard lock(mutex_);
  return time_;
}

}  // namespace jit
