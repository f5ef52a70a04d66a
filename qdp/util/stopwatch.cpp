#include "qdp/util/stopwatch.hpp"

#include <chrono>

#include "jit/memory/deferred.hpp"
#include "jit/support/log.hpp"

namespace QDP {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now();  // a wall clock can be set back in mid-run
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

}  // namespace

void StopWatch::reset() { *this = StopWatch(); }

void StopWatch::start() {
  jit::run_deferred();
  begin_ns_ = now_ns();
  running_ = true;
}

void StopWatch::stop() {
  jit::run_deferred();
  const std::int64_t end_ns = now_ns();
  if (!running_) return jit::log_warn("qdp", "StopWatch::stop: the watch does not run; its time is unchanged");
  total_ns_ += end_ns - begin_ns_;
  running_ = false;
}

double StopWatch::getTimeInSeconds() const { return 1e-9 * static_cast<double>(total_ns_); }
double StopWatch::getTimeInMicroseconds() const { return 1e-3 * static_cast<double>(total_ns_); }

}  // namespace QDP
