#include "tests/reference/links.hpp"

#include <cmath>
#include <utility>

namespace reference {

namespace {

Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Color inverse(const Color& m) {
  Dense a(3, 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a(i, j) = m[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  a = solve(a, Dense::identity(3));
  Color c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = a(i, j);
  return c;
}

template <class F>
Links mapped(const Links& u, const F& f) {
  Links v = u;
  for (int x = 0; x < u.volume(); ++x)
    for (int mu = 0; mu < 4; ++mu) v.at(x, mu) = f(x, mu);
  return v;
}

}  // namespace

Color unit_color() {
  Color c{};
  for (std::size_t i = 0; i < 3; ++i) c[i][i] = 1;
  return c;
}

Color operator*(const Color& a, const Color& b) {
  Color c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c[i][j] += product(a[i][k], b[k][j]);
  return c;
}

Color operator+(const Color& a, const Color& b) {
  Color c = a;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) c[i][j] += b[i][j];
  return c;
}

Color operator*(Complex s, const Color& a) {
  Color c = a;
  for (auto& row : c)
    for (Complex& x : row) x = product(s, x);
  return c;
}

Color adjoint(const Color& a) {
  Color c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

Complex trace(const Color& a) { return a[0][0] + a[1][1] + a[2][2]; }

Color algebra_part(const Color& m) {
  Color a = Complex(0.5) * (m + Complex(-1) * adjoint(m));
  const Complex mean = trace(a) / 3.0;
  for (std::size_t i = 0; i < 3; ++i) a[i][i] -= mean;
  return a;
}

Color exponential(const Color& m) {
  Color sum = unit_color(), term = sum;
  for (int n = 1; n <= 40; ++n) {
    term = Complex(1.0 / n) * (term * m);
    sum = sum + term;
  }
  return sum;
}

Links::Links(const Coordinates& extents)
    : extents_(extents),
      u_(static_cast<std::size_t>(4 * extents[0] * extents[1] * extents[2] * extents[3]), unit_color()) {}

int Links::site(Coordinates x) const {
  int number = 0;
  for (std::size_t mu = 4; mu-- > 0;) {
    const int l = extents_[mu];
    number = number * l + ((x[mu] % l) + l) % l;
  }
  return number;
}

Coordinates Links::coordinates(int site) const {
  Coordinates x{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    x[mu] = site % extents_[mu];
    site /= extents_[mu];
  }
  return x;
}

int Links::neighbour(int from, int mu, int steps) const {
  Coordinates x = coordinates(from);
  x[static_cast<std::size_t>(mu)] += steps;
  return site(x);
}

bool Links::even(int from) const {
  const Coordinates x = coordinates(from);
  return (x[0] + x[1] + x[2] + x[3]) % 2 == 0;
}

Color Links::walk(int from, const std::vector<int>& steps) const {
  Color product = unit_color();
  int here = from;
  for (const int step : steps) {
    const int mu = std::abs(step) - 1;
    if (step > 0) {
      product = product * at(here, mu);
      here = neighbour(here, mu, 1);
    } else {
      here = neighbour(here, mu, -1);
      product = product * adjoint(at(here, mu));
    }
  }
  return product;
}

double Links::sum(const std::vector<int>& loop, const std::function<double(const Color&, int)>& f) const {
  double total = 0;
  for (int x = 0; x < volume(); ++x) total += f(walk(x, loop), x);
  return total;
}

double Links::sum_real_trace(const std::vector<int>& loop) const {
  return sum(loop, [](const Color& w, int) { return trace(w).real() / 3; });
}

Links with_phases(const Links& u, const std::function<Complex(const Coordinates&, int)>& phase) {
  return mapped(u, [&](int x, int mu) { return phase(u.coordinates(x), mu) * u.at(x, mu); });
}

Links stout(const Links& u, const std::array<std::array<double, 4>, 4>& rho) {
  return mapped(u, [&](int x, int mu) {
    Color c{};
    for (int nu = 0; nu < 4; ++nu) {
      const double weight = rho[static_cast<std::size_t>(mu)][static_cast<std::size_t>(nu)];
      if (nu == mu || weight == 0) continue;
      for (const int side : {nu + 1, -(nu + 1)}) c = c + Complex(weight) * u.walk(x, {side, mu + 1, -side});
    }
    return exponential(algebra_part(c * adjoint(u.at(x, mu)))) * u.at(x, mu);
  });
}

Links fattened(const Links& u, const FatWeights& w) {
  return mapped(u, [&](int x, int mu) {
    const int m = mu + 1;
    Color v = Complex(w.one) * u.at(x, mu);
    const auto add = [&](double weight, const std::vector<int>& steps) { v = v + Complex(weight) * u.walk(x, steps); };
    for (int a = -4; a <= 4; ++a) {
      if (a == 0 || std::abs(a) == m) continue;
      add(w.three, {a, m, -a});
      add(w.lepage, {a, a, m, -a, -a});
      for (int b = -4; b <= 4; ++b) {
        if (b == 0 || std::abs(b) == m || std::abs(b) == std::abs(a)) continue;
        add(w.five, {a, b, m, -b, -a});
        for (int c = -4; c <= 4; ++c) {
          if (c == 0 || std::abs(c) == m || std::abs(c) == std::abs(a) || std::abs(c) == std::abs(b)) continue;
          add(w.seven, {a, b, c, m, -c, -b, -a});
        }
      }
    }
    return v;
  });
}

Links unitarised(const Links& v) {
  return mapped(v, [&](int x, int mu) {
    Color w = v.at(x, mu);
    for (int i = 0; i < 60; ++i) w = Complex(0.5) * (w + adjoint(inverse(w)));
    return w;
  });
}

}  // namespace reference
