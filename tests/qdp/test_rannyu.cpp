#include "qdp/rng/rannyu.hpp"

#include "jit/support/error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace QDP;

namespace {

multi1d<int> seed_of(std::array<int, 4> limbs) {
  multi1d<int> seed(4);
  seed = limbs.data();
  return seed;
}

std::array<int, 4> limbs_of(const multi1d<int>& seed) { return {seed[0], seed[1], seed[2], seed[3]}; }

}  // namespace

TEST_CASE("the lower three limbs are those of s -> 31167285 s + 1, the top one is a quotient") {
  RANNYU::RNGState_t state{seed_of({13, 15, 1, 17}), 0};
  for (int i = 0; i < 1000; ++i) {
    const auto old = limbs_of(state.seed);
    RANNYU::random(state);
    const auto now = limbs_of(state.seed);
    long long s = 0;
    for (int k = 0; k < 4; ++k) s = 4096 * s + old[k];
    const long long t = 31167285LL * (s % (1LL << 36)) + 1;  // the limbs below the top one, and what they carry upwards
    CHECK(now[3] == t % 4096);
    CHECK(now[2] == (t >> 12) % 4096);
    CHECK(now[1] == (t >> 24) % 4096);
    // The sum of the top limb with the carry from below; what 2^24 lifts beyond 2^48 is not part of it.
    const long long top = (t >> 36) - 4096LL * old[1] + 821LL * old[0];
    CHECK(now[0] == top >> 12);
    CHECK(state.ran == (((now[3] / 4096.0 + now[2]) / 4096.0 + now[1]) / 4096.0 + now[0]) / 4096.0);
    CHECK(state.ran >= 0);
    CHECK(state.ran < 1.08);
  }
}

TEST_CASE("the first numbers of the default seed, worked out by hand") {
  // {13,15,1,17}: 17*821+1 = 13958 = 3*4096+1670;  1*821+17*3513+3 = 60545 = 14*4096+3201;
  // 15*821+1*3513+17*1+14 = 15859 = 3*4096+3571;  13*821+15*3513+1*1+3 = 63372, / 4096 = 15.
  RANNYU::RNGState_t state{seed_of({13, 15, 1, 17}), 0};
  RANNYU::random(state);
  CHECK(limbs_of(state.seed) == std::array<int, 4>{15, 3571, 3201, 1670});
  CHECK(limbs_of(RANNYU::savern()) == std::array<int, 4>{13, 15, 1, 17});
  CHECK(RANNYU::random() == state.ran);
  CHECK(limbs_of(RANNYU::savern()) == limbs_of(state.seed));
}

TEST_CASE("setrn holds from the first number on, and a state of one's own does not touch the process's") {
  RANNYU::setrn(seed_of({1, 2, 3, 4}));
  RANNYU::RNGState_t state{seed_of({1, 2, 3, 4}), 0};
  RANNYU::random(state);
  CHECK(limbs_of(RANNYU::savern()) == std::array<int, 4>{1, 2, 3, 4});
  CHECK(RANNYU::random() == state.ran);
}

TEST_CASE("a seed has four numbers") {
  RANNYU::RNGState_t state{multi1d<int>(3), 0};
  CHECK_THROWS_WITH_AS(RANNYU::random(state), doctest::Contains("a seed of 4 numbers"), jit::UserError);
  CHECK_THROWS_WITH_AS(RANNYU::setrn(multi1d<int>(5)), doctest::Contains("got 5"), jit::UserError);
}
