// QDP++'s random number generator: its numbers, site by site, whatever the layout.
//
// Linear congruential, s <- a s mod 2^47, a = 1222 2^36 + 1498 2^24 + 712 2^12 + 1645. A lattice field draws at site x
// from the stream that starts at s a^k(x), k(x) = 1 + lexicographic number of x in the whole lattice, and every further
// number of the site is A = a^(V+1) on; after the draw the seed is s A^n, n the real components of a site, also if the
// subset was empty. A scalar draws s a, s a^2, ...
#pragma once

#include "qdp/layout/geometry.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace QDP::detail {

constexpr std::uint64_t kLcgMask = (std::uint64_t{1} << 47) - 1;
constexpr std::uint64_t kLcgMultiplier = 84000335758957;
constexpr std::uint64_t kDefaultSeed = 11;

/// a * b mod 2^47.
constexpr std::uint64_t lcg_multiply(std::uint64_t a, std::uint64_t b) { return a * b & kLcgMask; }

/// base^n mod 2^47.
constexpr std::uint64_t lcg_power(std::uint64_t base, std::uint64_t n) {
  std::uint64_t result = 1;
  for (; n != 0; n >>= 1, base = lcg_multiply(base, base))
    if (n & 1) result = lcg_multiply(result, base);
  return result;
}

/// The four ints of a Seed: base 4096, least significant first; the last has 11 bits.
using SeedLimbs = std::array<int, 4>;
SeedLimbs to_limbs(std::uint64_t seed);
/// Limbs that are too large carry over, as they do in the first product of QDP++.
std::uint64_t from_limbs(const SeedLimbs& limbs);

/// A number of [0, 1] from a state: the limbs summed in single precision, so that 1 may occur and 0 only from state 0.
float lcg_uniform(std::uint64_t state);

/// a^k(x) mod 2^47 of the sites of a box, by host index.
std::vector<std::uint64_t> site_multipliers(const Geometry& lattice, const Geometry& box);
/// a^(V+1) mod 2^47.
std::uint64_t step_multiplier(const Geometry& lattice);

}  // namespace QDP::detail
