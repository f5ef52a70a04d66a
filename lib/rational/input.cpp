#include "lib/rational/input.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace qcd {

namespace {

struct Request {
  Power power;
  double lower, upper;
  int degree;
};

std::string as_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Names of a request's elements: they differ between what is computed and what is read.
struct Names {
  const char *lower, *upper, *numerator, *denominator;
};
constexpr Names kComputed = {"lowerMin", "upperMax", "numPower", "denPower"};
constexpr Names kListed = {"lower", "upper", "powerNum", "powerDen"};

/// Nothing, after recording why, unless all is in range.
std::optional<Request> read_request(const Input& in, const Names& names) {
  const Power power = {in.integer(names.numerator), in.integer(names.denominator, at_least(1))};
  const Request request = {power, in.real(names.lower, positive()), in.real(names.upper, positive()),
                           in.integer("degree", {1, kMaxRationalDegree})};
  const bool interval = request.lower > 0 && request.upper > 0;
  if (interval && request.upper <= request.lower)
    in.error(names.upper, "a number above " + std::string(names.lower) + " = " + as_text(request.lower),
             as_text(request.upper));
  const bool fraction = power.numerator != 0 && std::abs(power.numerator) < power.denominator;
  if (in.has(names.numerator) && in.has(names.denominator) && !fraction)
    in.error(names.numerator,
             "a power " + std::string(names.numerator) + '/' + names.denominator + " between -1 and 1 other than 0",
             power.as_text());
  if (!interval || request.upper <= request.lower || !fraction || request.degree < 1) return {};
  return request;
}

/// An approximation that cannot be computed is an error of the input.
template <class Compute>
RationalApproximation computed(const Input& in, Compute compute) {
  try {
    return compute();
  } catch (const NumericsError& error) {
    in.error("", "an approximation that can be computed", error.what());
    return {};
  }
}

RationalApproximation read_remez(const Input& in) {
  const std::optional<Request> request = read_request(in, kComputed);
  const int digits = in.integer("digitPrecision", {1, 10000}, 50);
  if (!request) return {};
  const Power magnitude = {std::abs(request->power.numerator), request->power.denominator};
  return computed(in, [&] {
    RationalApproximation result = remez(magnitude, request->lower, request->upper, request->degree, digits);
    return request->power.numerator > 0 ? result : result.reciprocal();
  });
}

RationalApproximation read_zolotarev(const Input& in) {
  const std::optional<Request> request = read_request(in, kComputed);
  if (!request) return {};
  if (2 * std::abs(request->power.numerator) != request->power.denominator) {
    in.error("numPower", "numPower/denPower = 1/2 or -1/2 (other powers: ratApproxType REMEZ)",
             request->power.as_text());
    return {};
  }
  return computed(in, [&] { return zolotarev(request->power, request->lower, request->upper, request->degree); });
}

/// Without terms after recording why.
PartialFractions read_partial_fractions(const Input& in) {
  const PartialFractions result = {in.real("norm"), in.reals("res"), in.reals("pole")};
  if (!in.has("res") || !in.has("pole")) return {};
  if (result.residues.size() != result.poles.size() || result.poles.empty()) {
    in.error("pole", "as many numbers as in res (" + std::to_string(result.residues.size()) + "), at least one",
             std::to_string(result.poles.size()));
    return {};
  }
  const double smallest = *std::min_element(result.poles.begin(), result.poles.end());
  if (!(smallest > 0)) {
    in.error("pole", "numbers above zero, so that x + pole does not vanish on the spectrum", as_text(smallest));
    return {};
  }
  return result;
}

/// The largest |function inverse - 1| on the interval, or where the poles lie if it is not known.
double largest_mismatch(const RationalApproximation& r) {
  const auto [first, last] = std::minmax_element(r.function.poles.begin(), r.function.poles.end());
  const double lower = r.interval_known() ? r.lower : *first, upper = r.interval_known() ? r.upper : *last;
  constexpr int points = 100;
  double most = 0;
  for (int i = 0; i <= points; ++i) {
    const double x = lower * std::pow(upper / lower, static_cast<double>(i) / points);
    most = std::max(most, std::abs(r.function.value(x) * r.inverse.value(x) - 1));
  }
  return most;
}

// A file's few digits and a low degree are fine, a sign, a power or a list taken from elsewhere is not.
constexpr double kMostMismatch = 0.01, kMostError = 0.1;

RationalApproximation read_coefficients(const Input& in) {
  RationalApproximation result;
  result.function = read_partial_fractions(in.group("PFECoeffs"));
  result.inverse = read_partial_fractions(in.group("IPFECoeffs"));
  std::optional<Request> request;
  const bool listed = in.has("Param");
  if (listed || in.has("ApproxInfo")) {
    const Input param = in.group(listed ? "Param" : "ApproxInfo");
    request = read_request(param, listed ? kListed : kComputed);
    param.accept_unused({"error"});
    if (!request) return {};
    if (request->degree != result.degree() && result.degree() > 0)
      param.error("degree", "the number of poles in PFECoeffs, " + std::to_string(result.degree()),
                  std::to_string(request->degree));
  }
  if (result.function.poles.empty() || result.inverse.poles.empty()) return {};
  if (request) {
    result.power = request->power;
    result.lower = request->lower;
    result.upper = request->upper;
    result.max_relative_error = largest_relative_error(result.function, result.power, result.lower, result.upper);
    if (!(result.max_relative_error < kMostError)) {
      in.error("PFECoeffs", "coefficients of an approximation to what Param says", result.as_text());
      return {};
    }
  }
  if (const double mismatch = largest_mismatch(result); !(mismatch < kMostMismatch)) {
    in.error("IPFECoeffs", "the coefficients of 1/r, r being that of PFECoeffs",
             "a function whose product with r differs from 1 by up to " + as_text(mismatch));
    return {};
  }
  return result;
}

}  // namespace

const Table<RationalApproximation>& rational_approximation_table() {
  static const Table<RationalApproximation> table(
      "a rational approximation",
      {
          {"REMEZ",
           "numPower, denPower, lowerMin, upperMax, degree, [digitPrecision]: minimax approximation of "
           "x^(numPower/denPower) on [lowerMin, upperMax]; digitPrecision only ever raises the precision chosen",
           read_remez},
          {"ZOLOTAREV",
           "numPower, denPower, lowerMin, upperMax, degree: the same for the powers 1/2 and -1/2, by a closed formula",
           read_zolotarev},
          {"READ_COEFFS",
           "PFECoeffs{norm, res, pole}, IPFECoeffs{the same}, [Param{powerNum, powerDen, lower, upper, degree}] or [ApproxInfo{numPower, denPower, lowerMin, upperMax, degree}]: "
           "norm + sum res/(x + pole) and its inverse as given; with one of these checked against power and interval",
           read_coefficients},
      });
  return table;
}

RationalApproximation read_rational_approx(const Input& input) {
  const auto* row = rational_approximation_table().find(input, "ratApproxType");
  return row ? row->make(input) : RationalApproximation{};
}

}  // namespace qcd
