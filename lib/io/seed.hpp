// Seeds of the random number generator in inputs: Seed{elem elem elem elem}, base-4096 digits, lowest first.
#pragma once

#include "lib/io/input.hpp"

#include "qdp.h"

#include <array>

namespace qcd {

/// The child Seed of a group such as RNG: four <elem>, the first three below 4096, the last below 2048 (47 bits).
std::array<int, 4> read_seed(const Input& group);

/// The seed with these digits.
QDP::Seed make_seed(const std::array<int, 4>& digits);

}  // namespace qcd
