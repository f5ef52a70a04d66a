// Calls that take too long are noticed, others are not.
#include "jit/comm/time_limit.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

using namespace jit;

namespace {

constexpr auto kTick = std::chrono::milliseconds(50);

/// What a limit of one second finds in two seconds of these calls.
template <class Calls>
std::string found_by(Calls calls, int seconds = 1) {
  std::atomic<const char*> late{nullptr};
  TimeLimit limit(seconds, [&](const char* operation) { late = operation != nullptr ? operation : "no call"; });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) calls(limit, end);
  return late.load() != nullptr ? late.load() : "";
}

}  // namespace

TEST_CASE("a call that takes longer than the limit is named") {
  CHECK(found_by([](TimeLimit& limit, auto end) {
          const TimeLimit::Call call(limit, "the barrier");
          std::this_thread::sleep_until(end);
        }) == "the barrier");
}

TEST_CASE("many short calls are none, nor is the time between calls") {
  CHECK(found_by([](TimeLimit& limit, auto) {
          const TimeLimit::Call call(limit, "a sum");
          std::this_thread::sleep_for(kTick);
        }) == "");
  CHECK(found_by([](TimeLimit& limit, auto end) {
          {
            const TimeLimit::Call call(limit, "a sum");
          }
          std::this_thread::sleep_until(end);
        }) == "");
}

TEST_CASE("a call of two thirds of the limit is none") {
  CHECK(found_by(
            [](TimeLimit& limit, auto end) {
              const TimeLimit::Call call(limit, "a wait");
              std::this_thread::sleep_until(end);
            },
            3) == "");
}

TEST_CASE("calls that last long one after another, each less than the limit, are none") {
  CHECK(found_by([](TimeLimit& limit, auto) {
          const TimeLimit::Call call(limit, "a wait");
          std::this_thread::sleep_for(std::chrono::milliseconds(700));
        }) == "");
}

TEST_CASE("no limit") {
  CHECK(found_by(
            [](TimeLimit& limit, auto end) {
              const TimeLimit::Call call(limit, "for ever");
              std::this_thread::sleep_until(end);
            },
            0) == "");
}
