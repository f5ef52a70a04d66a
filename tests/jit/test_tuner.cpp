// The tuner finds the fastest variant from the launches it is told about; what it found is kept as text.
#include "jit/tune/program_trial.hpp"
#include "jit/tune/tuner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/tune/turns.hpp"

using namespace jit;

namespace {

/// Launches until the tuner has decided, resting for no launch; `seconds` is the true time of a variant. Returns the
/// number of launches.
template <class Seconds>
int settle(Tuner& tuner, Seconds&& seconds) {
  int launches = 0;
  while (!tuner.done() && launches < 1000) {
    if (tuner.trying()) {
      tuner.record(seconds(tuner.options()));
      ++launches;
    } else {
      tuner.go_on();
    }
  }
  return launches;
}

/// Launches until the tuner rests or is done.
template <class Seconds>
void until_it_rests(Tuner& tuner, Seconds&& seconds) {
  for (int launches = 0; tuner.trying() && launches < 1000; ++launches) tuner.record(seconds(tuner.options()));
}

const std::vector<int> kSizes{1024, 512, 256, 128, 64, 32};

/// A GPU where everything is open.
TuningSpace gpu_space() {
  return {.start = {.block = 1024},
          .blocks = kSizes,
          .sites = {2, 4},
          .try_streaming = true,
          .registers = [](const Configuration&) { return std::vector<int>{56, 48}; }};
}

constexpr int kTurns = Tuner::kSamples + 1;

}  // namespace

TEST_CASE("the fastest of all combinations wins, whichever it is") {
  for (const int best_distance : {0, 4, 8})
    for (const bool best_streaming : {false, true}) {
      TuningSpace space{.start = {{.streaming = false, .prefetch = 4}}, .prefetch = {0, 4, 8}, .try_streaming = true};
      Tuner tuner(space);
      std::mt19937 random(3);
      const int launches = settle(tuner, [&](const Configuration& o) {
        const double truth =
            1 + 0.2 * std::abs(o.code.prefetch - best_distance) + 0.1 * (o.code.streaming != best_streaming);
        const bool disturbed = random() % 8 == 0;
        return truth * (disturbed ? 3 : 1);
      });
      CHECK(tuner.done());
      CHECK(launches == (3 + 2) * kTurns);
      CHECK(tuner.options().code.prefetch == best_distance);
      CHECK(tuner.options().code.streaming == best_streaming);
    }
}

TEST_CASE("short distances are tried past the caches, too, whichever the model begins with") {
  for (const bool begins : {false, true})
    for (const bool open : {false, true})
      for (const CodeOptions& best : {CodeOptions{}, CodeOptions{.prefetch = 1}, CodeOptions{.prefetch = 8},
                                      CodeOptions{.prefetch = 2, .passing = true}}) {
        Tuner tuner({.start = {{.prefetch = 1, .passing = begins}}, .prefetch = {0, 1, 2, 8}, .try_passing = open});
        std::set<std::pair<int, bool>> tried;
        settle(tuner, [&](const Configuration& o) {
          tried.emplace(o.code.prefetch, o.code.passing);
          return o.code == best ? 1.0 : 2.0;
        });
        std::set<std::pair<int, bool>> all{{0, false}, {1, false}, {2, false}, {8, false}};
        if (open) all.insert({{1, true}, {2, true}});
        all.emplace(1, begins);
        CHECK(tried == all);
        if (all.contains({best.prefetch, best.passing})) CHECK(tuner.options().code == best);
      }
}

TEST_CASE("the first launch of a variant does not count: its code is cold") {
  Tuner tuner({.start = {{.prefetch = 4}}, .prefetch = {0}, .try_streaming = false});
  std::map<int, int> seen;
  settle(tuner, [&](const Configuration& o) {
    return seen[o.code.prefetch]++ == 0 ? 100.0 * (1 - o.code.prefetch) + 1 : 2.0 - (o.code.prefetch == 0);
  });
  CHECK(tuner.options().code.prefetch == 0);
}

TEST_CASE("what is not in the space is not tried") {
  const TuningSpace space{.start = {{.streaming = true, .prefetch = 2, .check = true}}};
  CHECK(space.settled());
  Tuner tuner(space);
  CHECK(tuner.done());
  CHECK(tuner.options() == space.start);
}

TEST_CASE("on a GPU the best block wins and a block that is a third slower ends the trial of smaller ones") {
  for (const int best : kSizes) {
    CAPTURE(best);
    Tuner tuner({.start = {.block = 1024}, .blocks = kSizes});
    std::map<int, int> launches;
    settle(tuner, [&](const Configuration& o) {
      ++launches[o.block];
      return o.block >= best ? 1 + 0.1 * std::log2(o.block / best) : 1.5 * best / o.block;
    });
    CHECK(tuner.done());
    CHECK(tuner.options().block == best);
    if (best >= 64) CHECK(launches[best / 2] == 3);  // the cold one, and two that show it
    if (best >= 128) CHECK(launches[best / 4] <= 2);
  }
}

TEST_CASE("up to a third slower a block goes on, above it and all smaller ones are out, whatever they would take") {
  for (const auto& [ratio, slow] : {std::pair{1.33, false}, std::pair{1.34, true}}) {
    CAPTURE(ratio);
    Tuner tuner({.start = {.block = 256}, .blocks = {256, 128, 64}});
    std::map<int, int> launches;
    const int all = settle(tuner, [&, r = ratio](const Configuration& o) {
      ++launches[o.block];
      return o.block == 256 ? 1.0 : o.block == 128 ? r : 0.5;  // the smallest is the fastest
    });
    CHECK(tuner.options().block == (slow ? 256 : 64));
    CHECK(launches[128] == (slow ? 3 : 6));
    CHECK(launches[256] == 6);
    CHECK(all == launches[256] + launches[128] + launches[64]);
  }
}

TEST_CASE("what drops out before it ran stands in the report without a time") {
  Tuner tuner({.start = {.block = 512}, .blocks = {512, 256}});
  CHECK(tuner.refuse());
  CHECK(tuner.report() == "block 512 no sample");
  settle(tuner, [](const Configuration&) { return 2.5e-6; });
  CHECK(tuner.report() == "block 512 no sample; block 256 2.5 us");
  CHECK(tuner.progress() == TuningProgress{{.block = 256}, 1, 2.5e-6});
}

TEST_CASE("one disturbed launch of a block does not end the trial of smaller ones") {
  for (int disturbed = 0; disturbed < 20; ++disturbed) {
    CAPTURE(disturbed);
    Tuner tuner({.start = {.block = 1024}, .blocks = kSizes});
    int launch = 0;
    settle(tuner,
           [&](const Configuration& o) { return (launch++ == disturbed ? 100 : 1) * (o.block == 32 ? 1.0 : 1.1); });
    CHECK(tuner.options().block == 32);
  }
}

TEST_CASE("a block that the device refuses is out, with all larger ones") {
  Tuner tuner({.start = {.block = 512}, .blocks = {512, 256, 128, 64}});
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

TEST_CASE("the time of the best is its median, without its first launch") {
  Tuner tuner({.start = {.block = 128}, .blocks = {128, 64}});
  // Two blocks in turns; the first launch of each does not count.
  const double samples[] = {9, 1.4, 1, 1.2, 1.3, 1.1};
  for (const double x : samples)
    for (int block = 0; block < 2; ++block) {
      REQUIRE(tuner.trying());
      tuner.record(tuner.options().block == 64 ? x : 1.25 * x);
    }
  CHECK(tuner.done());
  CHECK(tuner.progress() == TuningProgress{{.block = 64}, 1, 1.2});
}

TEST_CASE("blocks are tried at once; before other code the tuner rests with the best block and its median") {
  Tuner tuner(gpu_space());
  until_it_rests(tuner, [&](const Configuration& o) {
    CHECK(o.code == CodeOptions{});
    return o.block == 128 ? 2e-5 : 2.5e-5;
  });
  CHECK(!tuner.done());
  CHECK(tuner.options() == Configuration{.block = 128});
  CHECK(tuner.progress() == TuningProgress{{.block = 128}, 1, 2e-5});
  tuner.go_on();
  CHECK(tuner.trying());
}

TEST_CASE("the code and the block that go together are found, whichever they are") {
  for (const int best_sites : {1, 2, 4})
    for (const bool best_streaming : {false, true})
      for (const int best_bound : {0, 56, 48})
        for (const int best_block : {512, 256, 64}) {
          CAPTURE(best_sites);
          CAPTURE(best_bound);
          CAPTURE(best_block);
          Tuner tuner(gpu_space());
          settle(tuner, [&](const Configuration& o) {
            return 1 + 0.2 * std::abs(std::log2(o.code.sites) - std::log2(best_sites)) +
                   0.1 * (o.code.streaming != best_streaming) + 0.05 * (o.code.registers != best_bound) +
                   0.02 * std::abs(std::log2(o.block) - std::log2(best_block));
          });
          CHECK(tuner.done());
          CHECK(tuner.options() ==
                Configuration{{.streaming = best_streaming, .registers = best_bound, .sites = best_sites}, best_block});
        }
}

TEST_CASE("a thrifty search tries more sites and tighter bounds only where fewer and wider ones have won") {
  const auto tried = [](int best_sites, int best_bound) {
    TuningSpace space{.start = {.block = 128}, .blocks = {128}, .sites = {2, 4}, .thrifty = true};
    space.registers = [](const Configuration& best) {
      const std::vector<int> all{56, 48, 40};
      std::vector<int> below;
      for (const int bound : all)
        if (best.code.registers == 0 || bound < best.code.registers) below.push_back(bound);
      return below;
    };
    Tuner tuner(space);
    tuner.go_on();
    std::set<std::pair<int, int>> codes;
    while (tuner.trying()) {
      const CodeOptions& code = tuner.options().code;
      codes.insert({code.sites, code.registers});
      const int bound = code.registers == 0 ? 64 : code.registers;
      tuner.record(1 + std::abs(code.sites - best_sites) + 0.01 * std::abs(bound - best_bound));
    }
    return codes;
  };
  using Codes = std::set<std::pair<int, int>>;
  CHECK((tried(1, 64) == Codes{{1, 0}, {2, 0}, {1, 56}}));
  CHECK((tried(2, 64) == Codes{{1, 0}, {2, 0}, {4, 0}, {2, 56}}));
  CHECK((tried(4, 56) == Codes{{1, 0}, {2, 0}, {4, 0}, {4, 56}, {4, 48}}));
  CHECK((tried(4, 40) == Codes{{1, 0}, {2, 0}, {4, 0}, {4, 56}, {4, 48}}));
}

TEST_CASE("after other code has won, the blocks beside the best one are tried once more") {
  Tuner tuner(gpu_space());
  settle(tuner, [](const Configuration& o) {
    return o.code.streaming ? (o.block == 512 ? 0.8 : 0.9) : o.block == 256 ? 1.0 : 1.1;
  });
  CHECK(tuner.options() == Configuration{{.streaming = true}, 512});

  Tuner plain(gpu_space());
  const int launches =
      settle(plain, [](const Configuration& o) { return o.block == 256 && o.code == CodeOptions{} ? 1.0 : 1.1; });
  CHECK(launches == (6 + 5 + 2 + 3) * kTurns);  // blocks; sites at two blocks; streaming; two bounds: no more blocks
}

TEST_CASE("bounds on registers are asked for the best so far") {
  TuningSpace space{.start = {.block = 256}, .blocks = {256, 128}, .sites = {2}};
  std::vector<Configuration> asked;
  space.registers = [&](const Configuration& best) {
    asked.push_back(best);
    return std::vector<int>{};
  };
  Tuner tuner(space);
  settle(tuner, [](const Configuration& o) { return o.code.sites == 2 && o.block == 128 ? 1.0 : 1.2; });
  CHECK((asked == std::vector<Configuration>{{{.sites = 2}, 128}}));
}

TEST_CASE("variants that drop out before they ran leave the best so far, which is not launched for nothing") {
  Tuner tuner(gpu_space());
  until_it_rests(tuner, [](const Configuration& o) { return o.block == 64 ? 1.0 : 1.2; });
  const TuningProgress before = tuner.progress();
  tuner.go_on();
  int launches = 0;
  while (!tuner.done()) {
    if (tuner.options().code == CodeOptions{}) {
      tuner.record(1.0);
      ++launches;
    } else {
      CHECK(tuner.refuse());
    }
  }
  CHECK(tuner.options() == before.best);
  CHECK(launches <= 3);  // the turn that the best has before each round's first variant
  CHECK(tuner.progress().seconds == before.seconds);
}

TEST_CASE("a tuner goes on where an earlier one has come to") {
  const TuningSpace space = gpu_space();
  Tuner first(space);
  const auto seconds = [](const Configuration& o) { return 1 + 0.1 * (o.block != 256) + 0.1 * (o.code.sites != 2); };
  until_it_rests(first, seconds);
  Tuner second(space, first.progress());
  CHECK(!second.trying());
  CHECK(second.options() == first.options());
  settle(second, [&](const Configuration& o) {
    CHECK(o.block <= 512);  // the blocks are known: only neighbours of the best
    return seconds(o);
  });
  CHECK(second.options() == Configuration{{.sites = 2}, 256});

  Tuner third(space, second.progress());
  CHECK(third.done());
  CHECK(third.options() == second.options());
}

TEST_CASE("the report tells what each variant costs") {
  Tuner tuner({.start = {.block = 64}, .blocks = {64, 32}, .try_streaming = true});
  settle(tuner, [](const Configuration& o) { return o.code.streaming ? 3e-6 : o.block * 1e-7; });
  CHECK(tuner.report() ==
        "block 64 6.4 us; block 32 3.2 us; block 32 3.2 us; block 32, streaming 3 us; "
        "block 64, streaming 3 us; block 32, streaming 3 us");
}

// ---- text -----------------------------------------------------------------------------------------------------------

TEST_CASE("progress survives as text, and no other text is taken for it") {
  const TuningProgress progress{
      {{.streaming = true, .prefetch = 4, .passing = true, .registers = 56, .sites = 2, .optimised = true}, 256},
      3,
      1.25e-5,
      4096};
  const std::string good = text(progress);
  CHECK(
      good ==
      "block 256\nsites 2\nstreaming 1\nprefetch 4\npassing 1\nregisters 56\noptimised 1\nrounds 3\nseconds 1.25e-05\nbytes 4096\n");
  CHECK(parse_progress(good) == progress);
  CHECK(parse_progress(text({})) == TuningProgress{});
  for (std::size_t i = 0; i < good.size(); ++i) CHECK(!parse_progress(good.substr(0, i)));
  for (const std::string& bad : {good + "x", good + good, "\n" + good, std::string("256"), std::string("block 256\n")})
    CHECK(!parse_progress(bad));
  const auto with = [&](const std::string& old_line, const std::string& line) {
    std::string changed = good;
    return changed.replace(changed.find(old_line), old_line.size(), line);
  };
  for (const char* line :
       {"sites 0\n", "sites 2 \n", "sites -2\n", "sites two\n", "sites\n", "sites 99999999999\n", "lanes 2\n"})
    CHECK(!parse_progress(with("sites 2\n", line)));
  CHECK(!parse_progress(with("streaming 1\n", "streaming 2\n")));
  CHECK(!parse_progress(with("passing 1\n", "passing 2\n")));
  CHECK(!parse_progress(with("optimised 1\n", "optimised 2\n")));
  CHECK(!parse_progress(with("seconds 1.25e-05\n", "seconds inf\n")));
  CHECK(!parse_progress(with("seconds 1.25e-05\n", "seconds nan\n")));
}

TEST_CASE("every knob shapes the text of a space") {
  const TuningSpace plain{.start = {.block = 256}, .blocks = {256, 128}};
  std::vector<std::string> texts{plain.text()};
  for (int i = 0; i < 11; ++i) {
    TuningSpace other = plain;
    if (i == 0) other.start.block = 128;
    if (i == 1) other.start.code.streaming = true;
    if (i == 2) other.start.code.check = true;
    if (i == 3) other.blocks = {256};
    if (i == 4) other.prefetch = {4};
    if (i == 5) other.sites = {4};
    if (i == 6) other.try_streaming = true;
    if (i == 7) other.registers = [](const Configuration&) { return std::vector<int>{}; };
    if (i == 8) other.try_passing = true;
    if (i == 9) other.start.code.passing = true;
    if (i == 10) other.try_optimised = true;
    texts.push_back(other.text());
  }
  std::sort(texts.begin(), texts.end());
  CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

TEST_CASE("configurations are described by what is not plain about them") {
  CHECK(describe({}).empty());
  CHECK(describe({{.streaming = true, .prefetch = 4}, 0}) == "streaming, prefetch 4");
  CHECK(describe({{.prefetch = 1, .passing = true}, 0}) == "prefetch 1, passing");
  CHECK(describe({{.registers = 48, .sites = 2}, 256}) == "block 256, sites 2, at most 48 registers");
}

TEST_CASE("computations carried on in turn: all at once, four, two and one are tried, and the fastest goes on") {
  for (const std::size_t computations : {1, 2, 3, 4, 5, 12}) {
    std::set<std::size_t> numbers{computations};
    for (const std::size_t fewer : {4, 2, 1})
      if (fewer < computations) numbers.insert(fewer);
    for (const std::size_t fastest : numbers) {
      Turns turns(computations);
      CHECK(turns.at_once() == computations);  // also if it ends at once
      std::map<std::size_t, int> runs;
      std::size_t before = 0;
      for (int n = 0; turns.trying() && n < 1000; ++n) {
        const std::size_t now = turns.at_once();
        const bool cold = std::exchange(before, now) != now;
        const double outlier = ++runs[now] == 3 ? 50 : 0;  // somebody else's
        turns.record((now == fastest ? 1 : 2) + outlier + (cold && now == fastest ? 100 : 0));
      }
      CHECK(!turns.trying());
      CHECK(turns.at_once() == fastest);
      if (numbers.size() > 1) CHECK(runs.size() == numbers.size());
      for (const auto& [at_once, times] : runs) {
        CHECK(numbers.contains(at_once));
        CHECK(times == Trial::kSamples + 1);
      }
    }
  }
}

TEST_CASE(
    "a trial: the way with the least median goes on, whatever the first time after each change and single launches cost") {
  for (const std::size_t ways : {2, 3, 5})
    for (const int rounds : {1, 3})
      for (std::size_t fastest = 0; fastest < ways; ++fastest) {
        Trial trial(ways, rounds);
        CHECK(trial.way() == 0);
        std::vector<int> times(ways, 0);
        std::size_t before = ways;
        for (int n = 0; trial.trying() && n < 1000; ++n) {
          const std::size_t now = trial.way();
          const bool cold = std::exchange(before, now) != now;
          const double outlier = ++times[now] == 3 ? 50 : 0;  // somebody else's
          trial.record((now == fastest ? 1 : 1.1) + outlier + (cold && now == fastest ? 100 : 0));
        }
        CHECK(!trial.trying());
        CHECK(trial.way() == fastest);
        CHECK(std::ranges::count(times, rounds * (Trial::kSamples + 1)) == static_cast<std::ptrdiff_t>(ways));
      }
  // With several rounds also if the machine is slow while one way is on.
  Trial trial(2, 3);
  for (int n = 0; trial.trying(); ++n) trial.record((trial.way() == 1 ? 1 : 1.2) * (n / 4 == 1 ? 3 : 1));
  CHECK(trial.way() == 1);
  CHECK(!Trial(1, 3).trying());
}

namespace {

/// What a launch of the trial's subject, or of kernel 1, 2, ... beside it, takes after the subject has last run one way or the other.
using TimeOf = std::function<double(int kernel, bool other, int round)>;

/// Rounds of the subject and `beside` more launches each, until the trial has ended; what kernels these are, `kernel_of(round, n)` says.
std::optional<bool> tried_for_program(
    const TimeOf& time, int beside, const std::function<int(int, int)>& kernel_of = [](int, int n) { return n + 1; }) {
  const int kernels[100] = {};
  ProgramTrial trial({&kernels[0], 7});
  int round = 0, other_rounds = 0;
  for (; trial.trying() && round < 1000; ++round) {
    const bool other = trial.other();
    other_rounds += other;
    trial.record({&kernels[0], 7}, time(0, other, round));
    for (int n = 0; n < beside && trial.trying(); ++n) {
      const int kernel = kernel_of(round, n);
      trial.record({&kernels[kernel], 3}, time(kernel, other, round));
    }
  }
  if (trial.trying()) return {};
  const auto pairs = static_cast<std::size_t>(other_rounds / ProgramTrial::kLaunches);
  CHECK(pairs >= ProgramTrial::kFewestPairs);
  CHECK(pairs <= ProgramTrial::kMostPairs);
  CHECK(round == 2 * other_rounds + 1);
  if (trial.other()) CHECK(trial.ratio() < ProgramTrial::kLess);
  return trial.other();
}

}  // namespace

TEST_CASE("a trial for the program: the way with which all kernels together take less, by more than chance") {
  const std::optional<bool> kFirst = false, kOther = true;
  // Its own time says one thing, that of the others more.
  for (const double own : {0.8, 1.25})
    for (const double of_others : {0.9, 1.0, 1.1})
      for (const int beside : {0, 1, 2, 5}) {
        CAPTURE(own);
        CAPTURE(of_others);
        CAPTURE(beside);
        const double taken = own + 2 * beside * of_others, before = 1 + 2 * beside;
        CHECK(tried_for_program([&](int kernel, bool other,
                                    int) { return kernel == 0 ? (other ? own : 1) : 2 * (other ? of_others : 1); },
                                beside) == (taken < 0.99 * before ? kOther : kFirst));
      }
  // Neither the machine's slow phases, nor a disturbance now and then, nor what a change of way costs at once.
  for (const double gain : {0.96, 1.0, 1.04}) {
    CAPTURE(gain);
    const auto steady = [&](int, bool other, int) { return other ? gain : 1.0; };
    const auto expected = gain < 1 ? kOther : kFirst;
    CHECK(tried_for_program([&](int k, bool other, int r) { return steady(k, other, r) * (r % 31 < 13 ? 2 : 1); }, 3) ==
          expected);
    CHECK(tried_for_program([&](int k, bool other, int r) { return steady(k, other, r) * (1 + 0.01 * r); }, 3) ==
          expected);
    CHECK(tried_for_program([&](int k, bool other, int r) { return steady(k, other, r) * (r % 37 == 8 ? 9 : 1); }, 3) ==
          expected);
    CHECK(
        tried_for_program([&](int k, bool other,
                              int r) { return r % ProgramTrial::kLaunches == 0 && k == 0 ? 100 : steady(k, other, r); },
                          3) == expected);
    // Kernels of all sizes that run now and then, in turns of one way only perhaps.
    CHECK(tried_for_program([&](int k, bool other, int r) { return k * k * steady(k, other, r); }, 4,
                            [](int r, int n) { return n < 3 ? n + 1 : 10 + r % 61; }) == expected);
    // A kernel whose launches alternate between short and long ones.
    CHECK(tried_for_program(
              [&](int k, bool other, int r) { return steady(k, other, r) * (k == 1 && r % 2 == 0 ? 5 : 1); }, 2) ==
          expected);
  }
}

TEST_CASE(
    "a trial for the program goes on where the machine is noisy, and then finds as much, and nothing where there is nothing") {
  constexpr int kTrials = 200;
  for (const double noise : {0.0, 0.02, 0.05}) {
    CAPTURE(noise);
    for (const double gain : {0.95, 1.0}) {
      CAPTURE(gain);
      int changed = 0, rounds = 0;
      for (unsigned seed = 0; seed < kTrials; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> of_launch(1, noise), of_phase(1, noise);
        double phase = 1;
        changed += *tried_for_program(
            [&](int kernel, bool other, int round) {
              if (kernel == 0 && round % 5 == 0) phase = of_phase(random);
              rounds = std::max(rounds, round);
              return (other ? gain : 1) * phase * of_launch(random);
            },
            3);
      }
      const int wrong = gain < 1 ? kTrials - changed : changed;
      CHECK(wrong <= kTrials / (gain < 1 ? 5 : 8));
      if (noise == 0) CHECK(rounds == 2 * static_cast<int>(ProgramTrial::kFewestPairs) * ProgramTrial::kLaunches);
    }
  }
}

TEST_CASE("a trial for the program is lost when its subject does not run any more") {
  const int kernels[2] = {};
  ProgramTrial trial({&kernels[0], 0});
  for (int round = 0; round < 3; ++round) {
    trial.record({&kernels[0], 0}, 1);
    CHECK(!trial.is_lost());
    for (int i = 0; i < 1000; ++i) trial.record({&kernels[1], 0}, 1);
    CHECK(!trial.is_lost());
  }
  trial.record({&kernels[0], 1}, 1);  // of another size class
  CHECK(trial.is_lost());
}
