// A stream of the simulated GPU: operations that run one after the other, some time after the call.
//
// They run on a thread of the stream's own, which looks for work now and then, or at once on a thread that waits for
// them. So they are late unless somebody waits, and a host that waits for each statement changes no threads, which
// would take most of the time of a test.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "jit/gpu/sim_memory.hpp"

namespace jit {

/// Next of a sequence of pseudo-random numbers (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t next_random(std::uint64_t& state);

struct SimOperation {
  std::function<void()> run;
  std::vector<SimBlock*> uses;  ///< what must stay allocated until it has run
  bool orders_streams = false;  ///< runs even after an error, or streams would wait for ever
  bool watched = false;         ///< the host may look for what it does without a call: it runs soon
};

class SimStream {
 public:
  /// `execute` runs an operation and lets go of its blocks; `rests`: it comes late even if somebody waits.
  SimStream(std::size_t order_number, std::function<void(SimOperation&)> execute, std::uint64_t seed, bool rests);
  /// Runs what is left.
  ~SimStream();
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;

  const std::size_t number;  ///< in SimOrder

  /// Not by two threads at a time. Returns how many operations that makes.
  std::uint64_t push(SimOperation operation);
  std::uint64_t pushed();
  /// Returns when so many operations have run.
  void run_until(std::uint64_t operations);

 private:
  void work();
  void run_next(std::unique_lock<std::mutex>& lock);

  std::function<void(SimOperation&)> execute_;
  std::uint64_t random_;
  const bool rests_;
  std::mutex mutex_;
  std::condition_variable wake_, passed_;
  std::deque<SimOperation> queue_;
  std::uint64_t pushed_ = 0, finished_ = 0;
  bool busy_ = false;  // somebody runs an operation
  bool quit_ = false;
  std::thread worker_;  // last: the others exist when it starts
};

/// One recording of an event.
class SimRecord {
 public:
  using Clock = std::chrono::steady_clock;

  /// To be the stream's next operation.
  explicit SimRecord(std::shared_ptr<SimStream> stream)
      : operation_(stream->pushed() + 1), stream_(std::move(stream)) {}
  void finish();
  /// The time when the stream got there.
  Clock::time_point wait();

 private:
  const std::uint64_t operation_;
  std::mutex mutex_;
  std::shared_ptr<SimStream> stream_;  ///< until it is done
  Clock::time_point time_;
};

}  // namespace jit
