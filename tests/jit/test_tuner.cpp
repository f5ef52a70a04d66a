// The tuner finds the fastest variant from the launches it is told about.
#include "jit/tune/tuner.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

using namespace jit;

namespace {

/// Launches until the tuner has decided; `seconds` is the true time of a variant. Returns the number of launches.
template <class Seconds>
int settle(Tuner& tuner, Seconds&& seconds) {
  int launches = 0;
  for (; !tuner.done() && launches < 1000; ++launches) tuner.record(seconds(tuner.options()));
  return launches;
}

}  // namespace

TEST_CASE("the fastest of all combinations wins, whichever it is") {
  for (const int best_distance : {0, 4, 8})
    for (const bool best_streaming : {false, true}) {
      TuningSpace space{.start = {{.streaming = false, .prefetch = 4}}, .prefetch = {0, 4, 8}, .try_streaming = true};
      Tuner tuner(space);
      std::mt19937 random(3);
      const int launches = settle(tuner, [&](const Configuration& o) {
        const double truth = 1 + 0.2 * std::abs(o.code.prefetch - best_distance) + 0.1 * (o.code.streaming != best_streaming);
        const bool disturbed = random() % 8 == 0;
        return truth * (disturbed ? 3 : 1);
      });
      CHECK(tuner.done());
      CHECK(launches == (3 + 2) * (Tuner::kSamples + 1));
      CHECK(tuner.options().code.prefetch == best_distance);
      CHECK(tuner.options().code.streaming == best_streaming);
    }
}

TEST_CASE("the first launch of a variant does not count: its code is cold") {
  Tuner tuner({.start = {{.prefetch = 4}}, .prefetch = {0}, .try_streaming = false});
  std::map<int, int> seen;
  settle(tuner, [&](const Configuration& o) { return seen[o.code.prefetch]++ == 0 ? 100.0 * (1 - o.code.prefetch) + 1 : 2.0 - (o.code.prefetch == 0); });
  CHECK(tuner.options().code.prefetch == 0);
}

TEST_CASE("what is not in the space is not tried") {
  Tuner tuner({.start = {{.streaming = true, .prefetch = 2, .check = true}}, .prefetch = {}, .try_streaming = false});
  settle(tuner, [&](const Configuration& o) {
    CHECK(o.code == CodeOptions{.streaming = true, .prefetch = 2, .check = true});
    return 1.0;
  });
  CHECK(tuner.done());
}

TEST_CASE("on a GPU the best block wins and a block that is a third slower ends the trial of smaller ones") {
  const std::vector<int> sizes{1024, 512, 256, 128, 64, 32};
  for (const int best : sizes) {
    CAPTURE(best);
    Tuner tuner({.start = {.block = 1024}, .blocks = sizes});
    std::map<int, int> launches;
    settle(tuner, [&](const Configuration& o) {
      ++launches[o.block];
      return o.block >= best ? 1 + 0.1 * std::log2(o.block / best) : 1.5 * best / o.block;
    });
    CHECK(tuner.done());
    CHECK(tuner.options().block == best);
    if (best >= 64) CHECK(launches[best / 2] == 2);  // the cold one, and the one that shows it
    if (best >= 128) CHECK(launches[best / 4] <= 1);
  }
}

TEST_CASE("a block that the device refuses is out, with all larger ones") {
  const std::vector<int> sizes{512, 256, 128, 64};
  Tuner tuner({.start = {.block = 512}, .blocks = sizes});
  CHECK(tuner.refuse());
  CHECK(tuner.options().block == 256);
  CHECK(tuner.refuse());
  CHECK(tuner.options().block == 128);
  settle(tuner, [&](const Configuration& o) {
    CHECK(o.block <= 128);
    return 1.0 / o.block;
  });
  CHECK(tuner.options().block == 128);

  Tuner hopeless({.start = {.block = 64}, .blocks = {64, 32}});
  CHECK(hopeless.refuse());
  CHECK(!hopeless.refuse());
}
