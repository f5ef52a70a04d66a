// Rational approximations of x^p on an interval, as partial fractions for multi-shift solvers.
//
//   r(x) = constant + sum_i residues[i] / (x + poles[i])  =  x^p (1 + delta(x)),   |delta| <= max_relative_error
//
// The coefficients are computed in multiple precision (MPFR) and rounded once, to double.
#pragma once

#include <string>
#include <vector>

namespace qcd {

/// A power numerator/denominator, kept exact: 1/3 is not a double.
struct Power {
  int numerator = 0;
  int denominator = 1;

  operator double() const { return static_cast<double>(numerator) / denominator; }
  Power operator-() const { return {-numerator, denominator}; }
  bool operator==(const Power& other) const = default;
  /// "x^(-1/4)".
  std::string as_text() const;
};

/// constant + sum_i residues[i] / (x + poles[i]); poles ascending in what this library computes.
struct PartialFractions {
  double constant = 0;
  std::vector<double> residues, poles;

  double value(double x) const;
  int degree() const { return static_cast<int>(poles.size()); }
  /// Constant, and one line "residue pole" per term, with all digits.
  std::string as_text() const;
};

struct RationalApproximation {
  Power power;                    ///< 0 if nothing is known but the coefficients
  double lower = 0, upper = 0;    ///< the interval that it is good for; both 0 if unknown
  PartialFractions function;      ///< r(x), near x^p
  PartialFractions inverse;       ///< 1/r(x), near x^-p
  double max_relative_error = 0;  ///< of `function` with its rounded coefficients in exact arithmetic; 0 if unknown

  int degree() const { return function.degree(); }
  bool interval_known() const { return upper > lower; }
  /// The approximation of x^-p: function and inverse change places. From the minimax error E this makes E/(1-E).
  RationalApproximation reciprocal() const;
  /// One line: power, interval, degree, error.
  std::string as_text() const;
};

/// Highest degree that remez() and zolotarev() accept.
inline constexpr int kMaxRationalDegree = 100;

/// The rational function of degree (n, n), n = `degree`, whose largest relative deviation from x^p on [lower, upper] is
/// smallest, 0 < |p| < 1. Its poles and zeros are real, negative and simple and lie in turn, so all `poles` are
/// positive; `residues` have the sign of -p: for p > 0 the terms cancel where x^p is small, so that rounding adds
/// about 1e-16 constant/lower^p to the error. Computed with at least `digits` decimal digits, more if needed.
/// Second Remez algorithm for zeros and poles: see remez.cpp. Checked: 2n + 2 alternating extrema of equal size.
/// Equal requests are computed once per process.
/// Throws ShapeError for arguments out of range, NumericsError if the iteration does not converge.
RationalApproximation remez(Power power, double lower, double upper, int degree, int digits = 0);

/// The same for p = 1/2 and -1/2 from Zolotarev's closed formula in elliptic functions.
/// Source: van den Eshof, Frommer, Lippert, Schilling, van der Vorst, Comput. Phys. Commun. 146 (2002) 203
/// (hep-lat/0202025), section 4; Achieser, Theory of Approximation, appendix E.
RationalApproximation zolotarev(Power power, double lower, double upper, int degree);

/// About the error that remez() will reach before its coefficients are rounded, from the asymptotic formula
/// 4 |sin(pi p)| exp(-pi (2n+1) K'/K) with the elliptic integrals K, K' of k^2 = 1 - lower/upper. Costs nothing; from
/// 1e-2 down it is at most 20 % too large for |p| <= 1/2.
double estimated_relative_error(Power power, double lower, double upper, int degree);

/// The largest |r(x) x^-p - 1| on [lower, upper] by sampling, in exact arithmetic of the coefficients as they are.
double largest_relative_error(const PartialFractions& r, Power power, double lower, double upper);

}  // namespace qcd
