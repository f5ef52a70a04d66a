// What a test may expect of fields in the base precision, which the build chooses (QDP_PRECISION).
#pragma once

#include "qdp/types/primitives.hpp"
#include "tests/reference/tolerance.hpp"
#include "tests/skip.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

namespace tests {

constexpr bool kDoubles = std::is_same_v<QDP::REAL, double>;

/// A tolerance that suits doubles, for numbers computed in the base precision: as many roundings of a shorter word, but
/// no more than 1000 of them, since a tolerance above 2e-13 is one of solvers or of printed digits.
constexpr double base_tol(double for_doubles) {
  const double roundings = for_doubles / reference::tol<double>(1);
  return std::max(for_doubles, std::min(roundings, kDoubles ? roundings : 1000.0) * reference::tol<QDP::REAL>(1));
}

/// The residual to ask of a solver, as inputs spell it: single precision reaches 5e-6 of well-conditioned systems.
inline std::string solver_residual(const std::string& for_doubles) { return kDoubles ? for_doubles : "5.0e-6"; }

}  // namespace tests

/// Ends the running test case as skipped if the base precision is single.
#define TESSERA_NEEDS_DOUBLES(reason)                                                                                  \
  do {                                                                                                                 \
    if (!::tests::kDoubles) TESSERA_SKIP("QDP_PRECISION is single: " reason);                                          \
  } while (false)
