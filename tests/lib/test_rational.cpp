// Rational approximations: published errors and poles, the alternation that proves them best, inputs, spectra.

#include "lib/error.hpp"
#include "lib/rational/input.hpp"
#include "lib/rational/spectrum_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace qcd;

namespace {

/// r(x) x^-p - 1 in long double, so that the rounding of the coefficients shows and that of the evaluation does not.
long double relative_error(const PartialFractions& r, Power p, long double x) {
  long double sum = r.constant;
  for (std::size_t i = 0; i < r.poles.size(); ++i) sum += static_cast<long double>(r.residues[i]) / (x + r.poles[i]);
  return sum * std::pow(x, -static_cast<long double>(p.numerator) / p.denominator) - 1;
}

/// The largest |error| of each stretch of one sign, from lower to upper.
std::vector<double> extrema(const PartialFractions& r, Power p, double lower, double upper) {
  constexpr int points = 40000;
  std::vector<double> found;
  bool positive = false;
  for (int i = 0; i <= points; ++i) {
    const long double x =
        i == points ? upper : lower * std::pow(static_cast<long double>(upper) / lower, 1.0L * i / points);
    const long double error = relative_error(r, p, x);
    if (found.empty() || (error > 0) != positive) found.push_back(0);
    positive = error > 0;
    found.back() = std::max(found.back(), static_cast<double>(std::abs(error)));
  }
  return found;
}

/// Equal up to a relative deviation.
doctest::Approx relative(double value, double deviation) { return doctest::Approx(value).scale(0).epsilon(deviation); }

double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

bool contains(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

struct Read {
  RationalApproximation approximation;
  std::string errors;
};

Read read(const std::string& elements) {
  const InputFile file = InputFile::from_text("<RationalApprox>" + elements + "</RationalApprox>", "test input");
  Read result;
  result.approximation = read_rational_approx(file.root());
  for (const std::string& error : file.errors()) result.errors += error + "\n";
  return result;
}

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + text + "</" + name + ">";
}

std::string request(const std::string& type, const std::string& num, const std::string& den, const std::string& lower,
                    const std::string& upper, const std::string& degree) {
  return element("ratApproxType", type) + element("numPower", num) + element("denPower", den) +
         element("lowerMin", lower) + element("upperMax", upper) + element("degree", degree);
}

// x^(-1/8) on [8, 40] as in Chroma's test t_leapfrog.prec_1flav_wilson-readcoeffs.
const std::string kNorm = "0.3314469",
                  kRes =
                      "0.07809039 0.166529 0.2747786 0.4351999 0.7037578 1.208427 2.307893 5.306909 17.53624 "
                      "151.2215",
                  kPole = "0.1843382 1.118895 3.069299 6.543465 12.59126 23.49556 44.89263 93.96535 246.14 1253.443",
                  kInverseNorm = "3.017075",
                  kInverseRes =
                      "-0.06334297 -0.1904873 -0.3955486 -0.7536321 -1.440597 -2.921318 -6.68909 -19.19545 "
                      "-87.53964 -1512.38",
                  kInversePole =
                      "0.2552969 1.300073 3.40551 7.128119 13.6196 25.41446 48.90376 104.2583 285.9964 "
                      "1735.94";

std::string param(const std::string& num, const std::string& lower, const std::string& upper,
                  const std::string& degree) {
  return element("Param", element("lower", lower) + element("upper", upper) + element("powerNum", num) +
                              element("powerDen", "8") + element("degree", degree));
}

std::string coefficients(const std::string& param, const std::string& norm = kNorm, const std::string& pole = kPole) {
  return element("ratApproxType", "READ_COEFFS") + param +
         element("PFECoeffs", element("norm", norm) + element("res", kRes) + element("pole", pole)) +
         element("IPFECoeffs",
                 element("norm", kInverseNorm) + element("res", kInverseRes) + element("pole", kInversePole));
}

}  // namespace

TEST_CASE("Zolotarev's errors for x^(-1/2) on [1e-5, 1]") {
  struct Row {
    int degree;
    double error;
  };
  for (const Row& row :
       {Row{6, 5.0287212083799e-4}, {8, 3.1715548824e-5}, {12, 1.2615414383737e-7}, {16, 5.0180017667e-10}}) {
    CAPTURE(row.degree);
    const RationalApproximation r = zolotarev({-1, 2}, 1e-5, 1, row.degree);
    CHECK(r.degree() == row.degree);
    CHECK(r.max_relative_error == relative(row.error, 1e-6));
    CHECK(largest(extrema(r.function, r.power, r.lower, r.upper)) == relative(row.error, 1e-6));
  }
  // Close to the end of double precision the rounding of the coefficients adds a little.
  const RationalApproximation r = zolotarev({-1, 2}, 1e-5, 1, 24);
  CHECK(std::abs(largest(extrema(r.function, r.power, r.lower, r.upper)) - 7.939e-15) < 5e-17);
  CHECK(std::abs(r.max_relative_error - 7.939e-15) < 5e-17);
}

TEST_CASE("minimax errors for x^(1/4) and x^(1/8) on [1e-5, 1]") {
  struct Row {
    int root, degree;
    double error;
  };
  const Row rows[] = {
      {4, 6, 3.454664e-4}, {4, 12, 8.787614e-8}, {4, 20, 1.398533e-12}, {8, 8, 1.180677e-5}, {8, 16, 1.893219e-10}};
  for (const Row& row : rows) {
    CAPTURE(row.root);
    CAPTURE(row.degree);
    // The coefficients' rounding: 3e-15 for a positive power (remez), invisible for a negative one.
    const RationalApproximation up = remez({1, row.root}, 1e-5, 1, row.degree);
    CHECK(std::abs(up.max_relative_error - row.error) < 1e-6 * row.error + 3e-15);
    const RationalApproximation down = remez({-1, row.root}, 1e-5, 1, row.degree);
    CHECK(std::abs(down.max_relative_error - row.error) < 1e-6 * row.error + 1e-16);
    CHECK(std::abs(largest(extrema(down.function, down.power, 1e-5, 1)) - row.error) < 1e-6 * row.error + 1e-16);
  }
}

TEST_CASE("error and poles of x^(1/2) with five poles on [0.0004, 64]") {
  const std::vector<double> poles = {2.0859203185e-4, 5.3957612309e-3, 8.1667969249e-2, 1.2077243320, 20.165690486};
  for (const RationalApproximation& r : {remez({1, 2}, 0.0004, 64, 5), zolotarev({1, 2}, 0.0004, 64, 5)}) {
    CHECK(r.max_relative_error == relative(2.550823e-3, 1e-6));
    REQUIRE(r.inverse.degree() == 5);
    for (std::size_t i = 0; i < poles.size(); ++i) CHECK(r.inverse.poles[i] == relative(poles[i], 1e-9));
  }
}

TEST_CASE("the exchange algorithm finds Zolotarev's solution") {
  for (const Power p : {Power{1, 2}, Power{-1, 2}})
    for (const int degree : {1, 4, 11, 24}) {
      CAPTURE(degree);
      const RationalApproximation a = remez(p, 3e-7, 2, degree), b = zolotarev(p, 3e-7, 2, degree);
      CHECK(a.function.constant == relative(b.function.constant, 1e-15));
      for (std::size_t i = 0; i < a.function.poles.size(); ++i) {
        CHECK(a.function.poles[i] == relative(b.function.poles[i], 1e-15));
        CHECK(a.function.residues[i] == relative(b.function.residues[i], 1e-15));
      }
    }
}

TEST_CASE("the largest error of any fractions on any interval is that of many points") {
  // Of an approximation for another interval, and with a wrong residue, extrema lie anywhere.
  const Power p = {-1, 4};
  for (const int degree : {1, 3, 6})
    for (const auto& [lower, upper] : {std::pair{0.013, 0.7}, std::pair{0.01, 1.0}, std::pair{0.002, 3.0}})
      for (const double factor : {1.0, 1.02}) {
        CAPTURE(degree);
        CAPTURE(lower);
        PartialFractions r = remez(p, 0.01, 1, degree, 0).function;
        r.residues.front() *= factor;
        CHECK(largest_relative_error(r, p, lower, upper) == relative(largest(extrema(r, p, lower, upper)), 1e-3));
      }
}

TEST_CASE("2n + 2 equal extrema of alternating sign, so no rational function of that degree is closer") {
  struct Case {
    Power power;
    double lower, upper;
    int degree;
  };
  const Case cases[] = {{{-1, 4}, 1e-5, 1, 6},   {{1, 4}, 1e-5, 1, 6}, {{-1, 3}, 1e-3, 50, 5},
                        {{3, 4}, 1e-4, 1, 7},    {{-7, 8}, 0.1, 3, 3}, {{1, 100}, 1e-5, 1, 4},
                        {{-1, 2}, 1e-10, 1, 15}, {{-2, 3}, 0.5, 1, 1}, {{1, 8}, 1e-12, 1, 1}};
  for (const Case& c : cases) {
    const RationalApproximation r = remez(c.power, c.lower, c.upper, c.degree);
    CAPTURE(r.as_text());
    const std::vector<double> found = extrema(r.function, c.power, c.lower, c.upper);
    CHECK(found.size() == static_cast<std::size_t>(2 * c.degree + 2));
    CHECK(largest(found) == relative(r.max_relative_error, 1e-6));
    CHECK(smallest(found) == relative(r.max_relative_error, 1e-5));
  }
}

TEST_CASE("poles are positive and in turn with those of the inverse, residues have the sign of -p") {
  for (const Power p :
       {Power{1, 2}, Power{-1, 2}, Power{1, 3}, Power{-1, 4}, Power{1, 8}, Power{-1, 16}, Power{3, 4}, Power{-99, 100}})
    for (const int degree : {1, 2, 7, 24}) {
      const RationalApproximation r = remez(p, 1e-10, 1, degree);
      CAPTURE(r.as_text());
      const auto& low = p.numerator > 0 ? r.inverse.poles : r.function.poles;
      const auto& high = p.numerator > 0 ? r.function.poles : r.inverse.poles;
      REQUIRE(r.function.degree() == degree);
      REQUIRE(r.inverse.degree() == degree);
      bool in_turn = low[0] > 0, signs = true;
      for (std::size_t i = 0; i < low.size(); ++i) {
        in_turn = in_turn && low[i] < high[i] && (i == 0 || high[i - 1] < low[i]);
        signs = signs && r.function.residues[i] * p < 0 && r.inverse.residues[i] * p > 0;
      }
      CHECK(in_turn);
      CHECK(signs);
      CHECK(r.function.constant > 0);
    }
}

TEST_CASE("the product of function and inverse is one, also outside the interval") {
  for (const RationalApproximation& r :
       {remez({-1, 4}, 1e-5, 1, 9), remez({1, 3}, 0.1, 30, 6), zolotarev({-1, 2}, 1e-4, 1, 10)})
    for (const double x : {1e-8, 1e-5, 3e-3, 0.2, 1.0, 40.0, 1e6}) {
      CAPTURE(r.as_text());
      CAPTURE(x);
      CHECK(r.function.value(x) * r.inverse.value(x) == relative(1, 1e-12));
    }
}

TEST_CASE("exchanging function and inverse gives the reciprocal power with the error E/(1 - E)") {
  const RationalApproximation r = remez({1, 4}, 1e-3, 1, 3), swapped = r.reciprocal(),
                              best = remez({-1, 4}, 1e-3, 1, 3);
  const double error = r.max_relative_error;
  CHECK(swapped.power == Power{-1, 4});
  CHECK(swapped.function.poles == r.inverse.poles);
  CHECK(swapped.max_relative_error == relative(error / (1 - error), 1e-5));
  CHECK(best.max_relative_error == relative(error, 1e-9));
  CHECK(best.function.constant == relative(swapped.function.constant * (1 - error * error), 1e-12));
}

TEST_CASE("values approximate the power, and the same request gives the same numbers") {
  const RationalApproximation r = remez({-1, 3}, 1e-4, 2, 10);
  for (const double x : {1e-4, 1e-3, 0.3, 2.0}) CHECK(r.function.value(x) == relative(std::cbrt(1 / x), 4e-7));
  const RationalApproximation again = remez({-1, 3}, 1e-4, 2, 10);
  CHECK(again.function.residues == r.function.residues);
  CHECK(contains(r.as_text(), "x^(-1/3)"));
  CHECK(contains(r.as_text(), "degree 10"));
  CHECK(contains(r.function.as_text(), std::to_string(r.function.poles[9]).substr(0, 6)));
  // More digits than needed change nothing but the last bit.
  const RationalApproximation precise = remez({-1, 3}, 1e-4, 2, 10, 300);
  for (std::size_t i = 0; i < 10; ++i) CHECK(precise.function.residues[i] == relative(r.function.residues[i], 1e-15));
}

TEST_CASE("each part of a request counts, whatever was asked for before") {
  struct Request {
    Power power;
    double lower, upper;
    int degree;
  };
  const Request base = {{-1, 4}, 1e-3, 1, 4};
  const std::vector<Request> requests = {base,
                                         {{1, 4}, 1e-3, 1, 4},
                                         {{-1, 3}, 1e-3, 1, 4},
                                         {{-3, 4}, 1e-3, 1, 4},
                                         {{-1, 4}, 2e-3, 1, 4},
                                         {{-1, 4}, 1e-3, 3, 4},
                                         {{-1, 4}, 1e-3, 1, 5},
                                         base};
  for (const Request& r : requests) {
    const RationalApproximation found = remez(r.power, r.lower, r.upper, r.degree);
    CAPTURE(found.as_text());
    CHECK(found.power == r.power);
    CHECK(found.lower == r.lower);
    CHECK(found.upper == r.upper);
    CHECK(found.degree() == r.degree);
    CHECK(largest(extrema(found.function, r.power, r.lower, r.upper)) == relative(found.max_relative_error, 1e-5));
    CHECK(largest(extrema(found.inverse, -r.power, r.lower, r.upper)) < 1.1 * found.max_relative_error);
  }
  // Of the method as well: other numbers in the last digits.
  const RationalApproximation exchange = remez({-1, 2}, 1e-3, 1, 4), formula = zolotarev({-1, 2}, 1e-3, 1, 4);
  CHECK(zolotarev({1, 2}, 1e-3, 1, 4).power == Power{1, 2});
  CHECK(zolotarev({-1, 2}, 1e-3, 2, 4).upper == 2);
  CHECK(exchange.max_relative_error == relative(formula.max_relative_error, 1e-9));
}

TEST_CASE("the estimate of the error is close to what is reached") {
  for (const Power p : {Power{-1, 2}, Power{1, 4}, Power{-1, 8}})
    for (const int degree : {8, 12}) {
      const double reached = remez(p, 1e-5, 1, degree).max_relative_error;
      CHECK(estimated_relative_error(p, 1e-5, 1, degree) > 0.99 * reached);
      CHECK(estimated_relative_error(p, 1e-5, 1, degree) < 1.2 * reached);
    }
}

TEST_CASE("arguments out of range are refused with what was expected") {
  CHECK_THROWS_WITH_AS(remez({3, 2}, 1e-5, 1, 6), doctest::Contains("between -1 and 1"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({0, 2}, 1e-5, 1, 6), doctest::Contains("other than 0"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, -2}, 1e-5, 1, 6), doctest::Contains("positive denominator"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 0, 1, 6), doctest::Contains("lower end"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 1, 1, 6), doctest::Contains("upper end"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 1, std::nan(""), 6), doctest::Contains("upper end"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 1e-5, 1, 0), doctest::Contains("1 to 100"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 1e-5, 1, 101), doctest::Contains("1 to 100"), ShapeError);
  CHECK_THROWS_WITH_AS(remez({1, 2}, 1e-5, 1, 6, -1), doctest::Contains("digits"), ShapeError);
  CHECK_THROWS_WITH_AS(zolotarev({1, 4}, 1e-5, 1, 6), doctest::Contains("1/2 or -1/2"), ShapeError);
  CHECK_THROWS_AS(estimated_relative_error({1, 1}, 1e-5, 1, 6), ShapeError);
}

TEST_CASE("REMEZ in an input: PFE and IPFE change places with the sign of the power") {
  const Read up = read(request("REMEZ", "1", "4", "1.0e-5", "1", "6") + element("digitPrecision", "60"));
  const Read down = read(request("REMEZ", "-1", "4", "1.0e-5", "1", "6"));
  CHECK(up.errors.empty());
  CHECK(down.errors.empty());
  CHECK(up.approximation.max_relative_error == relative(3.454664e-4, 1e-6));
  CHECK(down.approximation.power == Power{-1, 4});
  CHECK(down.approximation.function.constant == relative(up.approximation.inverse.constant, 1e-15));
  CHECK(down.approximation.function.value(0.01) == relative(std::pow(0.01, -0.25), 4e-4));
}

TEST_CASE("ZOLOTAREV in an input") {
  const Read r = read(request("ZOLOTAREV", "-1", "2", "1.0e-5", "1", "12"));
  CHECK(r.errors.empty());
  CHECK(r.approximation.max_relative_error == relative(1.2615414383737e-7, 1e-6));
  const Read wrong = read(request("ZOLOTAREV", "-1", "4", "1.0e-5", "1", "12"));
  CHECK(contains(wrong.errors, "1/2 or -1/2"));
  CHECK(wrong.approximation.degree() == 0);
}

TEST_CASE("READ_COEFFS in an input: the coefficients of Chroma's test") {
  const Read r = read(coefficients(param("-1", "8", "40", "10")));
  CHECK(r.errors.empty());
  CHECK(r.approximation.power == Power{-1, 8});
  CHECK(r.approximation.lower == 8);
  CHECK(r.approximation.degree() == 10);
  CHECK(r.approximation.max_relative_error < 1e-7);  // seven digits were written
  CHECK(r.approximation.function.value(20) == relative(std::pow(20, -0.125), 1e-7));
  CHECK(r.approximation.inverse.value(20) == relative(std::pow(20, 0.125), 1e-7));

  const Read bare = read(coefficients(""));
  CHECK(bare.errors.empty());
  CHECK_FALSE(bare.approximation.interval_known());
  CHECK(bare.approximation.function.poles == r.approximation.function.poles);
}

TEST_CASE("READ_COEFFS with ApproxInfo, under the names of REMEZ, is READ_COEFFS with Param") {
  const auto info = [](const std::string& num, const std::string& lower, const std::string& upper,
                       const std::string& degree) {
    return element("ApproxInfo", element("numPower", num) + element("denPower", "8") + element("lowerMin", lower) +
                                     element("upperMax", upper) + element("degree", degree) + element("error", "1"));
  };
  const Read r = read(coefficients(info("-1", "8", "40", "10")));
  CHECK(r.errors.empty());
  CHECK(r.approximation.power == Power{-1, 8});
  CHECK(r.approximation.lower == 8);
  CHECK(r.approximation.upper == 40);
  CHECK(r.approximation.max_relative_error ==
        relative(read(coefficients(param("-1", "8", "40", "10"))).approximation.max_relative_error, 1e-12));
  CHECK(contains(read(coefficients(info("-1", "8", "4", "10"))).errors, "above lowerMin"));
  CHECK(contains(read(coefficients(info("1", "8", "40", "10"))).errors, "what Param says"));
}

TEST_CASE("coefficients that do not fit are refused") {
  const auto errors = [](const std::string& elements) { return read(elements).errors; };
  const std::string good = param("-1", "8", "40", "10");
  CHECK(contains(errors(coefficients(param("1", "8", "40", "10"))), "what Param says"));
  CHECK(contains(errors(coefficients(param("-1", "1e-9", "40", "10"))), "what Param says"));
  CHECK(contains(errors(coefficients(param("-1", "8", "40", "9"))), "number of poles"));
  CHECK(contains(errors(coefficients(param("-1", "8", "4", "10"))), "above lower"));
  CHECK(contains(errors(coefficients(good, kNorm, "1 2 3")), "as many numbers as in res (10)"));
  CHECK(contains(errors(coefficients(good, kNorm, "-" + kPole)), "above zero"));
  CHECK(contains(errors(coefficients("", "0.4")), "1/r"));
  CHECK(contains(errors(coefficients("", "much")), "a number"));
  CHECK(contains(errors(element("ratApproxType", "READ_COEFFS")), "PFECoeffs"));
}

TEST_CASE("coefficients may be a tenth from the power, and a hundredth from those of the inverse") {
  const auto group = [](const std::string& name, const PartialFractions& r, double factor) {
    const auto text = [&](double x) {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", x);
      return std::string(digits);
    };
    std::string residues, poles;
    for (const double x : r.residues) residues += text(factor * x) + ' ';
    for (const double x : r.poles) poles += text(x) + ' ';
    return element(name,
                   element("norm", text(factor * r.constant)) + element("res", residues) + element("pole", poles));
  };
  const RationalApproximation r = remez({-1, 8}, 0.5, 2, 6);
  REQUIRE(r.max_relative_error < 1e-8);
  const auto errors = [&](double factor, double factor_of_inverse, bool power) {
    return read(element("ratApproxType", "READ_COEFFS") + (power ? param("-1", "0.5", "2", "6") : "") +
                group("PFECoeffs", r.function, factor) + group("IPFECoeffs", r.inverse, factor_of_inverse))
        .errors;
  };
  for (const double sign : {1.0, -1.0}) {
    CAPTURE(sign);
    CHECK(errors(1, 1 + sign * 0.00999, true) == "");
    CHECK(contains(errors(1, 1 + sign * 0.01001, true), "IPFECoeffs"));
    CHECK(errors(1, 1 + sign * 0.00999, false) == "");
    CHECK(contains(errors(1, 1 + sign * 0.01001, false), "IPFECoeffs"));
    CHECK(errors(1 + sign * 0.0999, 1 / (1 + sign * 0.0999), true) == "");
    CHECK(contains(errors(1 + sign * 0.1001, 1 / (1 + sign * 0.1001), true), "what Param says"));
    CHECK(errors(1 + sign * 0.2, 1 / (1 + sign * 0.2), false) == "");  // nobody says what it should be
  }
}

TEST_CASE("a request that cannot be computed is reported with the element at fault") {
  const auto errors = [](const std::string& elements) { return read(elements).errors; };
  CHECK(contains(errors(request("REMES", "1", "4", "1e-5", "1", "6")), "READ_COEFFS"));
  CHECK(contains(errors(request("REMEZ", "2", "1", "1e-5", "1", "6")), "between -1 and 1"));
  CHECK(contains(errors(request("REMEZ", "0", "4", "1e-5", "1", "6")), "numPower"));
  CHECK(contains(errors(request("REMEZ", "1", "0", "1e-5", "1", "6")), "denPower"));
  CHECK(contains(errors(request("REMEZ", "1", "4", "0", "1", "6")), "lowerMin"));
  CHECK(contains(errors(request("REMEZ", "1", "4", "2", "1", "6")), "above lowerMin = 2"));
  CHECK(contains(errors(request("REMEZ", "1", "4", "2", "2", "6")), "above lowerMin = 2"));
  CHECK(contains(errors(request("REMEZ", "1", "4", "1e-5", "1", "1000")), "from 1 to 100"));
  CHECK(contains(errors(element("ratApproxType", "REMEZ")), "upperMax"));
}

TEST_CASE("a spectrum inside, outside, and next to unknown coefficients") {
  const RationalApproximation r = remez({-1, 4}, 1e-4, 1, 8);
  const SpectrumCheck good = check_spectrum(r, {2e-4, 0.9});
  CHECK(good.verdict == SpectrumCheck::inside);
  CHECK(contains(good.message, "inside"));

  const SpectrumCheck low = check_spectrum(r, {2e-5, 0.8});
  CHECK(low.verdict == SpectrumCheck::outside);
  for (const char* word : {"x^(-1/4)", "[0.0001, 1]", "[2e-05, 0.8]", "lowerMin 1.66667e-05", "upperMax 1:", "keeps"})
    CHECK(contains(low.message, word));
  CHECK(check_spectrum(r, {2e-4, 1.1}).verdict == SpectrumCheck::outside);
  CHECK(contains(check_spectrum(r, {-1e-3, 0.9}).message, "must be positive"));

  const RationalApproximation bare = read(coefficients("")).approximation;
  CHECK(check_spectrum(bare, {1, 2}).verdict == SpectrumCheck::unknown);
  CHECK_THROWS_WITH_AS(check_spectrum(r, {std::nan(""), 1}), doctest::Contains("did not converge"), NumericsError);
  CHECK_THROWS_AS(check_spectrum(r, {2, 1}), NumericsError);
}

TEST_CASE("a spectrum that ends where the interval does is inside; outside, the advice is worked out") {
  const RationalApproximation r = remez({-1, 4}, 1e-4, 1, 8);
  CHECK(check_spectrum(r, {1e-4, 1}).verdict == SpectrumCheck::inside);
  CHECK(check_spectrum(r, {std::nextafter(1e-4, 0), 1}).verdict == SpectrumCheck::outside);
  CHECK(check_spectrum(r, {1e-4, std::nextafter(1, 2)}).verdict == SpectrumCheck::outside);
  CHECK(contains(check_spectrum(r, {0, 1}).message, "must be positive"));

  const auto number_after = [](const std::string& text, const std::string& words) {
    const auto at = text.find(words);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + words.size()));
  };
  for (const auto& [lower, upper] : {std::pair{2e-5, 0.8}, std::pair{3e-4, 7.0}, std::pair{1e-5, 3.0}}) {
    CAPTURE(lower);
    const std::string text = check_spectrum(r, {lower, upper}).message;
    const double at_lower = std::fabs(static_cast<double>(relative_error(r.function, r.power, lower))),
                 at_upper = std::fabs(static_cast<double>(relative_error(r.function, r.power, upper)));
    CHECK(number_after(text, "error reaches ") == relative(std::max(at_lower, at_upper), 1e-4));
    // The spectrum with a margin of 1.2, and what the approximation has already.
    const double low = std::min(1e-4, lower / 1.2), high = std::max(1.0, upper * 1.2);
    CHECK(number_after(text, "lowerMin ") == relative(low, 1e-5));
    CHECK(number_after(text, "upperMax ") == relative(high, 1e-5));
    CHECK(number_after(text, "error of about ") == relative(estimated_relative_error(r.power, low, high, 8), 1e-4));
    int degree = 8;
    while (estimated_relative_error(r.power, low, high, degree) > estimated_relative_error(r.power, 1e-4, 1, 8))
      ++degree;
    REQUIRE(degree > 8);
    CHECK(contains(text, ", degree " + std::to_string(degree) + " keeps"));
  }
}

TEST_CASE("a widened approximation covers the spectrum with a margin, at the same degree") {
  const RationalApproximation r = remez({-1, 4}, 1e-4, 1, 8);
  const RationalApproximation wide = widened(r, {2e-5, 0.9}, 1.5);
  CHECK(wide.lower == doctest::Approx(2e-5 / 1.5));
  CHECK(wide.upper == doctest::Approx(1.35));
  CHECK(wide.degree() == 8);
  CHECK(wide.power == r.power);
  CHECK(wide.max_relative_error > r.max_relative_error);
  CHECK(check_spectrum(wide, {2e-5, 0.9}).verdict == SpectrumCheck::inside);

  CHECK(widened(r, {2e-4, 0.7}).function.poles == r.function.poles);  // nothing to do
  CHECK_THROWS_AS(widened(r, {2e-4, 0.7}, 0.5), ShapeError);
  CHECK_THROWS_WITH_AS(widened(r, {-1e-4, 0.7}), doctest::Contains("positive spectrum"), NumericsError);
  CHECK_THROWS_WITH_AS(widened(read(coefficients("")).approximation, {1, 2}), doctest::Contains("Param"),
                       NumericsError);
}
