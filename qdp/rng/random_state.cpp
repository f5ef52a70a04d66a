#include "qdp/rng/random_state.hpp"

#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"

#include <cmath>
#include <vector>

namespace QDP::detail {

namespace {

std::uint64_t& seed_of_process() {
  static std::uint64_t seed = kDefaultSeed;
  return seed;
}

template <class Word>
void fill_random(Word* words, int n) {
  const jit::RuntimeLock lock;
  std::uint64_t seed = random_seed();
  for (int i = 0; i < n; ++i) {
    seed = lcg_multiply(seed, kLcgMultiplier);
    words[i] = lcg_uniform(seed);
  }
  set_random_seed(seed);
}

template <class Word>
void fill_gaussian(Word* words, int n, bool complex) {
  const jit::RuntimeLock lock;
  std::vector<Word> first(n), second(n);
  fill_random(first.data(), n);
  fill_random(second.data(), n);
  for (int i = 0; i < n; i += complex ? 2 : 1) {
    const Word radius = std::sqrt(-2 * std::log(first[i]));
    const Word angle = second[i] * static_cast<Word>(kTwoPi);
    words[i] = radius * std::cos(angle);
    if (complex) words[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace

std::uint64_t random_seed() {
  const jit::RuntimeLock lock;
  return seed_of_process();
}
void set_random_seed(std::uint64_t seed) {
  const jit::RuntimeLock lock;
  seed_of_process() = seed & kLcgMask;
}

void check_random_word(const char* what, jit::ir::Type word) {
  if (jit::ir::is_float(word)) return;
  throw jit::UserError({.what = what,
                        .expected = "a type of float or double words",
                        .got = jit::ir::name(word),
                        .what_now = "draw real numbers and convert them"});
}

void random_scalar(void* words, jit::ir::Type word, int n) {
  check_random_word("random", word);
  if (word == jit::ir::Type::f32)
    fill_random(static_cast<float*>(words), n);
  else
    fill_random(static_cast<double*>(words), n);
}

void gaussian_scalar(void* words, jit::ir::Type word, int n, bool complex) {
  check_random_word("gaussian", word);
  if (word == jit::ir::Type::f32)
    fill_gaussian(static_cast<float*>(words), n, complex);
  else
    fill_gaussian(static_cast<double*>(words), n, complex);
}

}  // namespace QDP::detail
