// Second Remez algorithm for x^p on [lower, upper], 0 < p < 1, relative error.
//
// The unknowns are the logarithms of scale, zeros and poles (factored.hpp), which keeps zeros and poles negative, and
// the error is L(x) = log(r(x)/x^p), which treats x^p and x^-p alike. Each round
//   1. solves L(x_j) = (-1)^j level at 2n + 2 points for the 2n + 1 unknowns and the level (Newton),
//   2. moves the points to the extrema of L,
// until all extrema are equally large. By de la Vallee-Poussin's theorem the best possible level lies between the
// smallest and the largest extremum, so this is also the proof. The deviation that is smallest is then that of L; that
// of the relative error follows by a factor close to one (rational.cpp).
//
// Sources: Remez, C. R. Acad. Sci. Paris 199 (1934) 337; Clark and Kennedy, hep-lat/0309084 and hep-lat/0608015.

#include "lib/error.hpp"
#include "lib/rational/factored.hpp"

#include <algorithm>
#include <sstream>

namespace qcd::rational {

namespace {

using Vector = std::vector<Number>;

constexpr int kMostRounds = 40, kMostSteps = 60, kMostHalvings = 40;
constexpr long kEqualBits = 60;   ///< extrema are equal to 2^-60
constexpr long kSolvedBits = 90;  ///< L at the points equals the level to 2^-90 of it

Number largest(const Vector& v) {
  Number result;
  for (const Number& x : v) result = std::max(result, abs(x));
  return result;
}

/// Solves m y = b by elimination with pivots from the column. False if m is singular.
bool solve(std::vector<Vector>& m, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (abs(m[row][column]) > abs(m[pivot][column])) pivot = row;
    if (m[pivot][column].sign() == 0 || !m[pivot][column].finite()) return false;
    std::swap(m[pivot], m[column]);
    std::swap(b[pivot], b[column]);
    for (std::size_t row = column + 1; row < n; ++row) {
      const Number factor = -(m[row][column] / m[column][column]);
      for (std::size_t k = column + 1; k < n; ++k) m[row][k].add_product(factor, m[column][k]);
      b[row].add_product(factor, b[column]);
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) b[row] -= m[row][k] * b[k];
    b[row] /= m[row][row];
  }
  return true;
}

class Exchange {
 public:
  Exchange(Power power, double lower, double upper, int degree)
      : power_(power),
        p_(Number(power.numerator) / power.denominator),
        n_(static_cast<std::size_t>(degree)),
        lower_(lower),
        upper_(upper),
        r_(approximate_factors(p_, lower, upper, degree)) {
    // The scale for which L vanishes on average.
    Number mean;
    for (const Number& x : r_.alternation) mean += log_ratio(r_, p_, x);
    r_.scale = exp(-mean / static_cast<int>(2 * n_ + 2));
  }

  Factored run() {
    for (int round = 0; round < kMostRounds; ++round) {
      interpolate();
      if (move_points_to_extrema() < Number::power_of_two(-kEqualBits)) {
        interpolate();  // on the final points
        check();
        r_.level = abs(r_.level);
        return std::move(r_);
      }
    }
    fail("the extrema of the error are still unequal after " + std::to_string(kMostRounds) + " rounds");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::ostringstream text;
    text << "remez: " << power_.as_text() << " on [" << lower_ << ", " << upper_ << "], degree " << n_ << ": " << what
         << " (" << mpfr_get_default_prec() << " bits). Ask for more digits (digitPrecision), a lower degree or a "
         << "shorter interval.";
    throw NumericsError(text.str());
  }

  bool interlaced(const Factored& r) const {
    for (std::size_t i = 0; i < n_; ++i)
      if (!(r.zeros[i] < r.poles[i]) || (i > 0 && !(r.poles[i - 1] < r.zeros[i]))) return false;
    return r.zeros[0].sign() > 0 && r.poles[n_ - 1].finite();
  }

  /// L(x_j) - (-1)^j level.
  Vector residual(const Factored& r) const {
    Vector f;
    for (std::size_t j = 0; j < r.alternation.size(); ++j)
      f.push_back(log_ratio(r, p_, r.alternation[j]) + (j % 2 ? r.level : -r.level));
    return f;
  }

  /// Newton's step for the residual f: changes of log zeros, log poles, log scale, level.
  Vector newton_step(Vector f) const {
    std::vector<Vector> jacobian;
    for (std::size_t j = 0; j < f.size(); ++j) {
      const Number& x = r_.alternation[j];
      Vector row;
      for (const Number& z : r_.zeros) row.push_back(z / (x + z));
      for (const Number& w : r_.poles) row.push_back(-(w / (x + w)));
      row.push_back(1);
      row.push_back(j % 2 ? 1 : -1);
      jacobian.push_back(std::move(row));
    }
    if (!solve(jacobian, f)) fail("the equations for zeros and poles are singular");
    return f;
  }

  Factored moved(const Vector& step, const Number& length) const {
    Factored r = r_;
    for (std::size_t i = 0; i < n_; ++i) {
      r.zeros[i] *= exp(-(length * step[i]));
      r.poles[i] *= exp(-(length * step[n_ + i]));
    }
    r.scale *= exp(-(length * step[2 * n_]));
    r.level -= length * step[2 * n_ + 1];
    return r;
  }

  /// Solves L(x_j) = (-1)^j level at the present points, by Newton's method with halved steps where whole ones fail.
  void interpolate() {
    Vector f = residual(r_);
    for (int step = 0; step < kMostSteps; ++step) {
      const Number size = largest(f);
      if (size < abs(r_.level) * Number::power_of_two(-kSolvedBits)) return;
      const Vector direction = newton_step(f);
      bool better = false;
      Number length = 1;
      for (int halving = 0; halving < kMostHalvings && !better; ++halving, length /= 2) {
        Factored trial = moved(direction, length);
        if (!interlaced(trial)) continue;
        Vector g = residual(trial);
        if (!(largest(g) < size)) continue;
        r_ = std::move(trial);
        f = std::move(g);
        better = true;
      }
      if (!better) fail("no step brings the zeros and poles closer to equal errors");
    }
    fail("the zeros and poles for given points did not converge");
  }

  /// dL/d(log x) and its derivative.
  std::pair<Number, Number> slope(const Number& x) const {
    Number first = -p_, second;
    const auto add = [&](const Number& t, int sign) {
      const Number share = x / (x + t), rest = share * (1 - share);
      if (sign > 0) {
        first += share;
        second += rest;
      } else {
        first -= share;
        second -= rest;
      }
    };
    for (const Number& z : r_.zeros) add(z, 1);
    for (const Number& w : r_.poles) add(w, -1);
    return {first, second};
  }

  /// A point between alternation points j and j+1 where L goes from the one towards the other. L has 2n + 1 zeros and
  /// its slope no more than 2n, so such points are separated by exactly one extremum each.
  Number on_the_way(std::size_t j) const {
    Number left = r_.alternation[j], right = r_.alternation[j + 1];
    const int direction = (j % 2 ? 1 : -1) * r_.level.sign();
    for (int i = 0; i < 200; ++i) {
      const Number middle = sqrt(left * right);
      if (slope(middle).first.sign() == direction) return middle;
      (log_ratio(r_, p_, middle).sign() == direction ? right : left) = middle;
    }
    fail("the error does not alternate");
  }

  /// The zero of the slope in (left, right), from x: Newton in log x, bisection where it leaves the bracket.
  Number extremum(Number left, Number right, Number x) const {
    const int sign_left = slope(left).first.sign();
    if (!(left < x && x < right)) x = sqrt(left * right);
    for (int i = 0; i < 200; ++i) {
      const auto [first, second] = slope(x);
      if (first.sign() == 0) return x;
      (first.sign() == sign_left ? left : right) = x;
      Number next = x * exp(-(first / second));
      const bool inside = next.finite() && left < next && next < right;
      if (!inside) next = sqrt(left * right);
      const bool done = abs(next - x) < x * Number::power_of_two(-kEqualBits - 20);
      x = next;
      if (done) return x;
    }
    fail("an extremum of the error was not found");
  }

  /// Returns largest/smallest - 1 of the extrema of |L|.
  Number move_points_to_extrema() {
    const std::size_t last = r_.alternation.size() - 1;
    Vector between;
    for (std::size_t j = 0; j < last; ++j) between.push_back(on_the_way(j));
    Vector points = r_.alternation;
    for (std::size_t j = 1; j < last; ++j) points[j] = extremum(between[j - 1], between[j], points[j]);
    r_.alternation = std::move(points);

    Number low = abs(log_ratio(r_, p_, r_.alternation[0])), high = low;
    for (std::size_t j = 1; j <= last; ++j) {
      const Number size = abs(log_ratio(r_, p_, r_.alternation[j]));
      low = std::min(low, size);
      high = std::max(high, size);
    }
    return high / low - 1;
  }

  /// What the theory promises of the best approximation.
  void check() const {
    if (!interlaced(r_)) fail("zeros and poles are not negative and in turn");
    const Number allowed = abs(r_.level) * Number::power_of_two(-kEqualBits / 2);
    for (std::size_t j = 0; j < r_.alternation.size(); ++j) {
      const Number expected = j % 2 ? -r_.level : r_.level;
      if (!(abs(log_ratio(r_, p_, r_.alternation[j]) - expected) < allowed)) fail("the error does not alternate");
    }
  }

  Power power_;
  Number p_;
  std::size_t n_;
  double lower_, upper_;
  Factored r_;
};

}  // namespace

Factored remez_factors(Power power, double lower, double upper, int degree) {
  return Exchange(power, lower, upper, degree).run();
}

}  // namespace qcd::rational
