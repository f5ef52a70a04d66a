// A rational function by its zeros and poles, in multiple precision, and where they are for x^p. Private to
// lib/rational.
//
//   r(x) = scale prod_i (x + zeros[i]) / (x + poles[i]),   0 < zeros[0] < poles[0] < zeros[1] < ...
#pragma once

#include "lib/rational/multiprecision.hpp"
#include "lib/rational/rational.hpp"

#include <vector>

namespace qcd::rational {

/// Near x^p, 0 < p < 1, with log(r(x)/x^p) = +-level in turn at the alternation points. So it is as good for x^-p.
struct Factored {
  std::vector<Number> zeros, poles;
  Number scale = 1;
  Number level;
  std::vector<Number> alternation;  ///< 2n + 2, from lower to upper
};

/// The points on both half axes that Zolotarev's problem on [lower, upper] distinguishes; 0 <= u <= 1, elliptic
/// functions of modulus k^2 = 1 - lower/upper and argument u K.
class EllipticGrid {
 public:
  EllipticGrid(double lower, double upper);

  /// x(u) = lower / dn^2(u K), from lower to upper.
  Number inside(const Number& u) const;
  /// t(u) = lower sc^2(u K), from 0 to infinity: x = -t continues x(u) to the negative axis.
  Number mirrored(const Number& u) const;
  /// exp(-pi K'/K), by which the error falls for each pole and each zero.
  Number rate() const;

 private:
  Number amplitude(const Number& u) const;

  Number lower_, kp2_;
  std::vector<Number> a_, c_;  ///< means and half differences of the arithmetic-geometric mean of 1 and k'
};

/// Zeros, poles and alternation points as they are for p = 1/2 and, from the phase of x^p on the cut, nearly are for
/// other p; scale and level are not set.
Factored approximate_factors(const Number& p, double lower, double upper, int degree);

/// log(r(x)/x^p).
Number log_ratio(const Factored& r, const Number& p, const Number& x);

/// The minimax approximations of x^p in this form. Precision is that of the surrounding scope.
Factored zolotarev_factors(double lower, double upper, int degree);
Factored remez_factors(Power power, double lower, double upper, int degree);

/// About the level that these reach: 4 sin(pi p) exp(-pi (2n + 1) K'/K).
Number estimated_level(Power power, double lower, double upper, int degree);

/// Bits that zolotarev_factors and remez_factors need.
long needed_bits(Power power, double lower, double upper, int degree);

}  // namespace qcd::rational
