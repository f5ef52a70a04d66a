// Does the spectrum of an operator lie where a rational approximation is good? Numbers only: who measures the bounds is
// not asked here.
#pragma once

#include "lib/rational/rational.hpp"

namespace qcd {

/// Smallest and largest eigenvalue of the operator under the power, as measured.
struct SpectrumBounds {
  double lower = 0, upper = 0;
};

/// Eigenvalues move along a trajectory: a new interval reaches this factor beyond the measured ones.
inline constexpr double kSpectrumSafety = 1.2;

struct SpectrumCheck {
  enum Verdict { inside, outside, unknown };  ///< unknown: the approximation's interval is
  Verdict verdict = unknown;
  std::string message;  ///< what, expected, got; for `outside` also what to do
};

/// Throws NumericsError if the bounds are no interval (not finite, or lower > upper).
SpectrumCheck check_spectrum(const RationalApproximation& approximation, const SpectrumBounds& spectrum);

/// The approximation itself if its interval covers [spectrum.lower/safety, spectrum.upper safety]; otherwise the
/// minimax approximation of the same power and degree on the smallest interval that covers both. Throws NumericsError
/// if the bounds are no interval of positive numbers or the approximation's own is unknown, ShapeError for safety < 1.
RationalApproximation widened(const RationalApproximation& approximation, const SpectrumBounds& spectrum,
                              double safety = kSpectrumSafety);

}  // namespace qcd
