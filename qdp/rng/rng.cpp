#include "qdp/rng/rng.hpp"

namespace QDP::RNG {

namespace {

std::uint64_t from_seed(const Seed& seed) {
  detail::SeedLimbs limbs;
  for (int i = 0; i < 4; ++i) limbs[i] = seed.elem().elem().elem(i).elem();
  return detail::from_limbs(limbs);
}

void to_seed(Seed& seed, std::uint64_t value) {
  const detail::SeedLimbs limbs = detail::to_limbs(value);
  for (int i = 0; i < 4; ++i) seed.elem().elem().elem(i).elem() = limbs[i];
}

}  // namespace

void setrn(const Seed& seed) { detail::set_random_seed(from_seed(seed)); }
void savern(Seed& seed) { to_seed(seed, detail::random_seed()); }

void initDefaultRNG() { detail::set_random_seed(detail::kDefaultSeed); }
void initRNG() {}
void finalizeRNG() {}

float sranf(Seed& seed, Seed& skewed_seed, const Seed& seed_mult) {
  const std::uint64_t state = from_seed(skewed_seed), multiplier = from_seed(seed_mult);
  to_seed(seed, detail::lcg_multiply(from_seed(seed), multiplier));
  to_seed(skewed_seed, detail::lcg_multiply(state, multiplier));
  return detail::lcg_uniform(state);
}

}  // namespace QDP::RNG
