// Comparing computed values with expected ones, and random input.
#pragma once

#include "tests/reference/site_value.hpp"

#include <functional>
#include <string>
#include <vector>

namespace reference {

using SiteFormula = std::function<SiteValue(std::size_t site)>;

/// Empty if `got` is `expected`: of the same type, NaN and infinities in the same places, and other components within
/// tolerance * max(1, largest expected component). Otherwise the first difference, in words.
std::string difference(const SiteValue& got, const SiteValue& expected, double tolerance);
/// The same for a field, of which this rank has the sites of these host indices in the whole lattice; names that of the first
/// that differs.
std::string difference(const std::vector<SiteValue>& got, const std::vector<std::size_t>& places,
                       const SiteFormula& expected, double tolerance);

/// Starts the random numbers of this process again.
void seed_random(unsigned seed);
/// Of magnitude 1/4 to 1, either sign: no operand is near a pole.
double random_real();
int random_integer(int below);

}  // namespace reference
