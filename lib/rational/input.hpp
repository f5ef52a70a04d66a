// Rational approximations as an input document asks for them, in Chroma's elements.
#pragma once

#include "lib/io/table.hpp"
#include "lib/rational/rational.hpp"

namespace qcd {

/// ratApproxType -> approximation.
const Table<RationalApproximation>& rational_approximation_table();

/// Reads a group RationalApprox {ratApproxType, ...}. What is wrong in it is recorded in the document; the result is
/// then of no use.
///
/// REMEZ means what it does in Chroma: the minimax approximation of x^|p|, p = numPower/denPower, is `function` (PFE)
/// for p > 0 and `inverse` (IPFE) for p < 0. remez() with a negative power differs from the latter by the factor 1 -
/// E^2, E being the error.
RationalApproximation read_rational_approx(const Input& input);

}  // namespace qcd
