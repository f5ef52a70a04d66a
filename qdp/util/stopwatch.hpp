// A stopwatch on the monotonic clock: it adds up the times between start and stop until reset.
#pragma once

#include <cstdint>

namespace QDP {

class StopWatch {
 public:
  void reset();
  void start();
  /// A watch that does not run stays as it is, with a warning: a clock must not end a long run.
  void stop();

  /// Sum over the finished intervals.
  double getTimeInMicroseconds() const;
  double getTimeInSeconds() const;

 private:
  std::int64_t total_ns_ = 0;
  std::int64_t begin_ns_ = 0;
  bool running_ = false;
};

}  // namespace QDP
