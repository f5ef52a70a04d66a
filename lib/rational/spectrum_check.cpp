#include "lib/rational/spectrum_check.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace qcd {

namespace {

std::string as_text(const SpectrumBounds& spectrum) {
  std::ostringstream text;
  text << '[' << spectrum.lower << ", " << spectrum.upper << ']';
  return text.str();
}

void require_interval(const SpectrumBounds& spectrum) {
  if (std::isfinite(spectrum.lower) && std::isfinite(spectrum.upper) && spectrum.lower <= spectrum.upper) return;
  throw NumericsError("spectrum check: expected finite bounds lower <= upper of the operator's spectrum, got " +
                      as_text(spectrum) +
                      ". The measurement of the extreme eigenvalues did not converge: give it more iterations.");
}

/// The smallest interval that holds the approximation's and the spectrum's, the latter with a margin.
SpectrumBounds covering(const RationalApproximation& r, const SpectrumBounds& spectrum, double safety) {
  return {std::min(r.lower, spectrum.lower / safety), std::max(r.upper, spectrum.upper * safety)};
}

/// The lowest degree at which the error on `wanted` is about that of `r`; 0 if there is none.
int degree_for(const RationalApproximation& r, const SpectrumBounds& wanted) {
  const double error = estimated_relative_error(r.power, r.lower, r.upper, r.degree());
  for (int degree = r.degree(); degree <= kMaxRationalDegree; ++degree)
    if (estimated_relative_error(r.power, wanted.lower, wanted.upper, degree) <= error) return degree;
  return 0;
}

std::string advice(const RationalApproximation& r, const SpectrumBounds& spectrum) {
  std::ostringstream text;
  if (spectrum.lower <= 0) {
    text << " The operator must be positive: check its mass, or measure the bounds more accurately.";
    return text.str();
  }
  const SpectrumBounds wanted = covering(r, spectrum, kSpectrumSafety);
  text << " Set lowerMin " << wanted.lower << " and upperMax " << wanted.upper << ": degree " << r.degree()
       << " then has a largest error of about "
       << estimated_relative_error(r.power, wanted.lower, wanted.upper, r.degree());
  if (const int degree = degree_for(r, wanted); degree > r.degree())
    text << ", degree " << degree << " keeps the present one";
  text << '.';
  return text.str();
}

}  // namespace

SpectrumCheck check_spectrum(const RationalApproximation& r, const SpectrumBounds& spectrum) {
  require_interval(spectrum);
  const std::string measured = as_text(spectrum);
  std::ostringstream text;
  text << r.as_text() << ": ";
  if (!r.interval_known()) {
    text << "its interval is not known, so the measured spectrum " << measured
         << " was not checked. Give Param{lower, upper, powerNum, powerDen, degree} next to the coefficients.";
    return {SpectrumCheck::unknown, text.str()};
  }
  if (r.lower <= spectrum.lower && spectrum.upper <= r.upper) {
    text << "the measured spectrum " << measured << " lies inside";
    return {SpectrumCheck::inside, text.str()};
  }
  text << "expected the spectrum of the operator inside, got " << measured;
  const auto error_at = [&](double x) { return std::abs(r.function.value(x) * std::pow(x, -r.power) - 1); };
  if (spectrum.lower > 0)
    text << ", where the relative error reaches " << std::max(error_at(spectrum.lower), error_at(spectrum.upper));
  text << '.' << advice(r, spectrum);
  return {SpectrumCheck::outside, text.str()};
}

RationalApproximation widened(const RationalApproximation& r, const SpectrumBounds& spectrum, double safety) {
  require_interval(spectrum);
  if (!(safety >= 1))
    throw ShapeError("widened: safety: expected a factor of at least 1, got " + std::to_string(safety));
  if (spectrum.lower <= 0)
    throw NumericsError("widened: expected a positive spectrum, got " + as_text(spectrum) +
                        ". Check the operator's mass, or measure the bounds more accurately.");
  if (!r.interval_known())
    throw NumericsError(
        "widened: expected an approximation with known power and interval, got coefficients only. Give "
        "Param{lower, upper, powerNum, powerDen, degree} next to the coefficients.");
  const SpectrumBounds wanted = covering(r, spectrum, safety);
  if (wanted.lower == r.lower && wanted.upper == r.upper) return r;
  return remez(r.power, wanted.lower, wanted.upper, r.degree());
}

}  // namespace qcd
