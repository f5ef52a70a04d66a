#include "lib/rational/factored.hpp"

#include <algorithm>
#include <cmath>

namespace qcd::rational {

EllipticGrid::EllipticGrid(double lower, double upper) : lower_(lower), kp2_(lower_ / Number(upper)) {
  Number a = 1, b = sqrt(kp2_), c = sqrt(1 - kp2_);
  const Number zero = Number::power_of_two(-static_cast<long>(mpfr_get_default_prec()) / 2);  // c falls quadratically
  while (true) {
    a_.push_back(a);
    c_.push_back(c);
    if (c < zero) break;
    c = (a - b) / 2;
    const Number product = a * b;
    a = (a + b) / 2;
    b = sqrt(product);
  }
}

// Descending Landen transformation: Abramowitz and Stegun 16.4. 2^N a_N u K = 2^N u pi/2 since K = pi / (2 a_N).
Number EllipticGrid::amplitude(const Number& u) const {
  const long last = static_cast<long>(a_.size()) - 1;
  Number phi = Number::power_of_two(last - 1) * Number::pi() * u;
  for (std::size_t n = a_.size() - 1; n > 0; --n) phi = (phi + asin(c_[n] / a_[n] * sin(phi))) / 2;
  return phi;
}

Number EllipticGrid::inside(const Number& u) const {
  const Number phi = amplitude(u), s = sin(phi), c = cos(phi);
  return lower_ / (c * c + kp2_ * s * s);  // dn^2 = cn^2 + k'^2 sn^2
}

Number EllipticGrid::mirrored(const Number& u) const {
  const Number phi = amplitude(u), tangent = sin(phi) / cos(phi);
  return lower_ * tangent * tangent;
}

Number EllipticGrid::rate() const {
  Number a = 1, b = sqrt(1 - kp2_);  // K' = pi / (2 agm(1, k))
  for (std::size_t n = 0; n < 2 * a_.size() + 8; ++n) {
    const Number product = a * b;
    a = (a + b) / 2;
    b = sqrt(product);
  }
  return exp(-(Number::pi() * a_.back() / a));
}

// On the two sides of the cut x^p is t^p exp(+-i pi p). An r that is close to it off the cut is there about
// t^p cos(theta + pi p) / cos(theta), theta linear in u: its zeros lie the share p of the distance between two poles
// below each pole. The ends of the axis count as a pole (t = 0) and a zero (t = infinity).
Factored approximate_factors(const Number& p, double lower, double upper, int degree) {
  const EllipticGrid grid(lower, upper);
  Factored r;
  const Number distance = 1 / (degree + 1 - p);
  for (int i = 1; i <= degree; ++i) {
    r.zeros.push_back(grid.mirrored((i - p) * distance));
    r.poles.push_back(grid.mirrored(i * distance));
  }
  r.alternation.push_back(lower);
  for (int j = 1; j <= 2 * degree; ++j) r.alternation.push_back(grid.inside(Number(j) / (2 * degree + 1)));
  r.alternation.push_back(upper);
  return r;
}

Number log_ratio(const Factored& r, const Number& p, const Number& x) {
  Number above = r.scale, below = 1;
  for (std::size_t i = 0; i < r.zeros.size(); ++i) {
    above *= x + r.zeros[i];
    below *= x + r.poles[i];
  }
  return log(above / below) - p * log(x);
}

Factored zolotarev_factors(double lower, double upper, int degree) {
  const Number half = Number(1) / 2;
  Factored r = approximate_factors(half, lower, upper, degree);
  const Number first = log_ratio(r, half, r.alternation[0]), second = log_ratio(r, half, r.alternation[1]);
  r.scale = exp(-(first + second) / 2);
  r.level = abs(first - second) / 2;
  return r;
}

Number estimated_level(Power power, double lower, double upper, int degree) {
  const WorkingPrecision precision(128);
  const Number rate = EllipticGrid(lower, upper).rate();
  Number level = 4 * abs(sin(Number::pi() * power.numerator / power.denominator));
  for (int i = 0; i < 2 * degree + 1; ++i) level *= rate;
  return level;
}

long needed_bits(Power power, double lower, double upper, int degree) {
  const WorkingPrecision precision(128);
  const Number lost = log(Number(upper) / lower / estimated_level(power, lower, upper, degree)) / log(Number(2));
  // The error is a difference that small, and finding its zeros and poles loses as much again; once more for safety.
  return 192 + 3 * static_cast<long>(std::max(lost.to_double(), 0.0));
}

}  // namespace qcd::rational
