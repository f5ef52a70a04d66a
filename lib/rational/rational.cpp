#include "lib/rational/rational.hpp"

#include "lib/error.hpp"
#include "lib/rational/factored.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <tuple>

namespace qcd {

using namespace rational;

std::string Power::as_text() const {
  return "x^(" + std::to_string(numerator) + (denominator == 1 ? "" : "/" + std::to_string(denominator)) + ")";
}

double PartialFractions::value(double x) const {
  double sum = constant;
  for (std::size_t i = 0; i < poles.size(); ++i) sum += residues[i] / (x + poles[i]);
  return sum;
}

std::string PartialFractions::as_text() const {
  std::ostringstream text;
  text.precision(17);
  text << constant << '\n';
  for (std::size_t i = 0; i < poles.size(); ++i) text << residues[i] << ' ' << poles[i] << '\n';
  return text.str();
}

RationalApproximation RationalApproximation::reciprocal() const {
  RationalApproximation other = {-power, lower, upper, inverse, function, 0};
  if (interval_known()) other.max_relative_error = largest_relative_error(inverse, -power, lower, upper);
  return other;
}

std::string RationalApproximation::as_text() const {
  std::ostringstream text;
  text << "rational approximation of degree " << degree();
  if (power.numerator != 0) text << " to " << power.as_text();
  if (interval_known()) text << " on [" << lower << ", " << upper << "], largest relative error " << max_relative_error;
  return text.str();
}

namespace {

Number as_number(Power power) { return Number(power.numerator) / power.denominator; }

/// scale prod (x + zeros)/(x + poles) as partial fractions.
PartialFractions partial_fractions(const Number& scale, const std::vector<Number>& zeros,
                                   const std::vector<Number>& poles) {
  PartialFractions result;
  result.constant = scale.to_double();
  for (std::size_t i = 0; i < poles.size(); ++i) {
    Number residue = scale * (zeros[i] - poles[i]);
    for (std::size_t j = 0; j < poles.size(); ++j)
      if (j != i) residue *= (zeros[j] - poles[i]) / (poles[j] - poles[i]);
    result.residues.push_back(residue.to_double());
    result.poles.push_back(poles[i].to_double());
  }
  return result;
}

/// r(x) x^-p - 1.
Number relative_error(const PartialFractions& r, const Number& p, const Number& x) {
  Number sum = r.constant;
  for (std::size_t i = 0; i < r.poles.size(); ++i) sum += Number(r.residues[i]) / (x + r.poles[i]);
  return sum * exp(-(p * log(x))) - 1;
}

/// The largest error at the given points and at `between` points between each two, equally spaced in log x.
double largest_error_at(const PartialFractions& r, Power power, const std::vector<Number>& points, int between) {
  const Number p = as_number(power);
  Number most;
  for (std::size_t j = 0; j < points.size(); ++j) {
    Number x = points[j];
    const Number factor = j + 1 < points.size() ? exp(log(points[j + 1] / points[j]) / (between + 1)) : Number(1);
    for (int i = 0; i <= (j + 1 < points.size() ? between : 0); ++i, x *= factor)
      most = std::max(most, abs(relative_error(r, p, x)));
  }
  return most.to_double();
}

void require(bool ok, const char* function, const std::string& what, const std::string& expected, double got) {
  if (ok) return;
  std::ostringstream text;
  text << function << ": " << what << ": expected " << expected << ", got " << got << ".";
  throw ShapeError(text.str());
}

void require_valid(const char* function, Power power, double lower, double upper, int degree) {
  require(power.denominator > 0 && power.numerator != 0 && std::abs(power.numerator) < power.denominator, function,
          "power " + power.as_text(), "a fraction between -1 and 1 other than 0, positive denominator", power);
  require(std::isfinite(lower) && lower > 0, function, "lower end", "a number above zero", lower);
  require(std::isfinite(upper) && upper > lower, function, "upper end", "a number above the lower end", upper);
  require(degree >= 1 && degree <= kMaxRationalDegree, function, "degree", "1 to " + std::to_string(kMaxRationalDegree),
          degree);
}

/// From log(r/x^|p|) = +-level to relative errors +-tanh(level): a factor 1/cosh(level), for x^p as for x^-p.
RationalApproximation finish(const Factored& r, Power power, double lower, double upper) {
  const Number factor = 1 / cosh(r.level);
  RationalApproximation result;
  result.power = power;
  result.lower = lower;
  result.upper = upper;
  if (power.numerator > 0) {
    result.function = partial_fractions(r.scale * factor, r.zeros, r.poles);
    result.inverse = partial_fractions(1 / (r.scale * factor), r.poles, r.zeros);
  } else {
    result.function = partial_fractions(factor / r.scale, r.poles, r.zeros);
    result.inverse = partial_fractions(r.scale / factor, r.zeros, r.poles);
  }
  result.max_relative_error = largest_error_at(result.function, power, r.alternation, 4);
  return result;
}

/// Each request is computed once.
RationalApproximation cached(const char* method, Power power, double lower, double upper, int degree, int digits,
                             const std::function<RationalApproximation()>& compute) {
  using Key = std::tuple<std::string, int, int, double, double, int, int>;
  static std::mutex mutex;
  static std::map<Key, RationalApproximation> known;
  const std::lock_guard lock(mutex);
  const Key key(method, power.numerator, power.denominator, lower, upper, degree, digits);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, compute()).first->second;
}

Power absolute(Power power) { return {std::abs(power.numerator), power.denominator}; }

}  // namespace

RationalApproximation remez(Power power, double lower, double upper, int degree, int digits) {
  require_valid("remez", power, lower, upper, degree);
  require(digits >= 0 && digits <= 10000, "remez", "digits", "0 to 10000", digits);
  return cached("remez", power, lower, upper, degree, digits, [&] {
    const WorkingPrecision precision(
        std::max(needed_bits(power, lower, upper, degree), static_cast<long>(std::ceil(digits * std::log2(10.0)))));
    return finish(remez_factors(absolute(power), lower, upper, degree), power, lower, upper);
  });
}

RationalApproximation zolotarev(Power power, double lower, double upper, int degree) {
  require_valid("zolotarev", power, lower, upper, degree);
  require(2 * std::abs(power.numerator) == power.denominator, "zolotarev", "power " + power.as_text(), "1/2 or -1/2",
          power);
  return cached("zolotarev", power, lower, upper, degree, 0, [&] {
    const WorkingPrecision precision(needed_bits(power, lower, upper, degree));
    return finish(zolotarev_factors(lower, upper, degree), power, lower, upper);
  });
}

double estimated_relative_error(Power power, double lower, double upper, int degree) {
  require_valid("estimated_relative_error", power, lower, upper, degree);
  return estimated_level(power, lower, upper, degree).to_double();
}

double largest_relative_error(const PartialFractions& r, Power power, double lower, double upper) {
  const WorkingPrecision precision(192);
  const EllipticGrid grid(lower, upper);
  const int gaps = 2 * r.degree() + 1;
  std::vector<Number> points;
  for (int j = 0; j <= gaps; ++j) points.push_back(grid.inside(Number(j) / gaps));
  return largest_error_at(r, power, points, 63);
}

}  // namespace qcd
