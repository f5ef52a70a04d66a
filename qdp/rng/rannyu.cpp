#include "qdp/rng/rannyu.hpp"

#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"

#include <string>

namespace QDP::RANNYU {

namespace {

constexpr int kTop = 1, kMiddle = 3513, kLow = 821;  // limbs of 31167285 = 2^24 + 3513 2^12 + 821

RNGState_t& process_state() {
  static RNGState_t state = [] {
    const int first[4] = {13, 15, 1, 17};
    RNGState_t s{multi1d<int>(4), 0};
    s.seed = first;
    return s;
  }();
  return state;
}

void check(const multi1d<int>& seed, const char* what) {
  if (seed.size() != 4)
    throw jit::UserError({.what = what, .expected = "a seed of 4 numbers", .got = std::to_string(seed.size())});
}

}  // namespace

void random(RNGState_t& ran_state) {
  check(ran_state.seed, "RANNYU::random");
  multi1d<int>& s = ran_state.seed;
  const int top = s[0] * kLow + s[1] * kMiddle + s[2] * kTop;
  int carry = s[3] * kLow + 1;
  const int limb3 = carry & 4095;
  carry = s[2] * kLow + s[3] * kMiddle + (carry >> 12);
  const int limb2 = carry & 4095;
  carry = s[1] * kLow + s[2] * kMiddle + s[3] * kTop + (carry >> 12);
  const int limb1 = carry & 4095;
  s[0] = (top + (carry >> 12)) >> 12;
  s[1] = limb1;
  s[2] = limb2;
  s[3] = limb3;
  constexpr double unit = 1 / 4096.0;
  ran_state.ran = unit * (s[0] + unit * (s[1] + unit * (s[2] + unit * s[3])));
}

double random() {
  const jit::RuntimeLock lock;
  random(process_state());
  return process_state().ran;
}

void setrn(const multi1d<int>& iseed) {
  const jit::RuntimeLock lock;
  check(iseed, "RANNYU::setrn");
  process_state().seed = iseed;
}

multi1d<int> savern() {
  const jit::RuntimeLock lock;
  return process_state().seed;
}

}  // namespace QDP::RANNYU
