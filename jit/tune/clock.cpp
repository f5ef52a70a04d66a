#include "jit/tune/clock.hpp"

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

double seconds_per_tick() {
  const Reading& first = origin();
  // Below 2 ms of run time the readings' own jitter would count.
  Reading now;
  while (now.time - first.time < std::chrono::milliseconds(2)) now = Reading{};
  return std::chrono::duration<double>(now.time - first.time).count() / static_cast<double>(now.tick - first.tick);
}

}  // namespace jit
