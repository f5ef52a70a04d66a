#include "qdp/rng/lcg.hpp"

namespace QDP::detail {

SeedLimbs to_limbs(std::uint64_t seed) {
  SeedLimbs limbs;
  for (int i = 0; i < 4; ++i) limbs[i] = static_cast<int>(seed >> 12 * i & 4095);
  return limbs;
}

std::uint64_t from_limbs(const SeedLimbs& limbs) {
  std::uint64_t seed = 0;
  for (int i = 3; i >= 0; --i) seed = (seed << 12) + static_cast<std::uint64_t>(std::int64_t{limbs[i]});
  return seed & kLcgMask;
}

float lcg_uniform(std::uint64_t state) {
  const SeedLimbs e = to_limbs(state);
  float d = static_cast<float>(e[0]) / 4096;
  d = (static_cast<float>(e[1]) + d) / 4096;
  d = (static_cast<float>(e[2]) + d) / 4096;
  return (static_cast<float>(e[3]) + d) / 2048;
}

std::vector<std::uint64_t> site_multipliers(const Geometry& lattice, const Geometry& box) {
  std::vector<std::uint64_t> multipliers(box.volume());
#pragma omp parallel for if (box.volume() >= kThreadedSites)
  for (std::int64_t site = 0; site < box.volume(); ++site)
    multipliers[site] = lcg_power(kLcgMultiplier, 1 + lattice.lexicographic(box.coord(site)));
  return multipliers;
}

std::uint64_t step_multiplier(const Geometry& lattice) { return lcg_power(kLcgMultiplier, lattice.volume() + 1); }

}  // namespace QDP::detail
