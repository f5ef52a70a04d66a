#include "jit/support/clock.hpp"

#include <atomic>
#include <chrono>

namespace jit {
namespace {

using Steady = std::chrono::steady_clock;

struct Reading {
  std::uint64_t tick = ticks();
  Steady::time_point time = Steady::now();
};

const Reading& origin() {
  static const Reading first;
  return first;
}

}  // namespace

void start_clock() { origin(); }

double seconds_per_tick(std::uint64_t now) {
  // Measured again each time that the run has become twice as long: the launches ask often.
  static std::atomic<double> rate{0};
  static std::atomic<std::uint64_t> good_until{0};
  const Reading& first = origin();
  if (now - first.tick < good_until.load(std::memory_order_relaxed)) return rate.load(std::memory_order_relaxed);
  // Below 2 ms of run time the readings' own jitter would count.
  Reading last;
  while (last.time - first.time < std::chrono::milliseconds(2)) last = Reading{};
  const std::uint64_t elapsed = last.tick - first.tick;
  rate.store(std::chrono::duration<double>(last.time - first.time).count() / static_cast<double>(elapsed),
             std::memory_order_relaxed);
  good_until.store(2 * elapsed, std::memory_order_relaxed);
  return rate.load(std::memory_order_relaxed);
}

}  // namespace jit
