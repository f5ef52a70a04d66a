// The tuner finds the fastest variant from the launches it is told about.
#include "jit/tune/tuner.hpp"

#include <doctest/doctest.h>

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
      TuningSpace space{.start = {.streaming = false, .prefetch = 4}, .prefetch = {0, 4, 8}, .try_streaming = true};
      Tuner tuner(space);
      std::mt19937 random(3);
      const int launches = settle(tuner, [&](const CodeOptions& o) {
        const double truth = 1 + 0.2 * std::abs(o.prefetch - best_distance) + 0.1 * (o.streaming != best_streaming);
        const bool disturbed = random() % 8 == 0;
        return truth * (disturbed ? 3 : 1);
      });
      CHECK(tuner.done());
      CHECK(launches == (3 + 2) * (Tuner::kSamples + 1));
      CHECK(tuner.options().prefetch == best_distance);
      CHECK(tuner.options().streaming == best_streaming);
    }
}

TEST_CASE("the first launch of a variant does not count: its code is cold") {
  Tuner tuner({.start = {.prefetch = 4}, .prefetch = {0}, .try_streaming = false});
  std::map<int, int> seen;
  settle(tuner, [&](const CodeOptions& o) { return seen[o.prefetch]++ == 0 ? 100.0 * (1 - o.prefetch) + 1 : 2.0 - (o.prefetch == 0); });
  CHECK(tuner.options().prefetch == 0);
}

TEST_CASE("what is not in the space is not tried") {
  Tuner tuner({.start = {.streaming = true, .prefetch = 2, .check = true}, .prefetch = {}, .try_streaming = false});
  settle(tuner, [&](const CodeOptions& o) {
    CHECK(o == CodeOptions{.streaming = true, .prefetch = 2, .check = true});
    return 1.0;
  });
  CHECK(tuner.done());
}
