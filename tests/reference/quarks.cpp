#include "tests/reference/quarks.hpp"

#include "tests/reference/site_value.hpp"

namespace reference {

namespace {

using Spin = std::array<std::array<Complex, 4>, 4>;

Spin spin_matrix(int number) {
  const SiteValue g = gamma(number);
  Spin m{};
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 4; ++t)
      m[static_cast<std::size_t>(s)][static_cast<std::size_t>(t)] = Complex(g.at(s, t, 0, 0).re, g.at(s, t, 0, 0).im);
  return m;
}

/// d += f (spin x colour) from site y to site x.
void add(Dense& d, int x, int y, Complex f, const Spin& spin, const Color& color) {
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 4; ++t) {
      const Complex fs = f * spin[static_cast<std::size_t>(s)][static_cast<std::size_t>(t)];
      if (fs == 0.0) continue;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          d(12 * x + 3 * s + a, 12 * y + 3 * t + b) +=
              fs * color[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    }
}

/// 1 + sign g_mu.
Spin one_plus_gamma(int mu, double sign) {
  Spin m = spin_matrix(1 << mu);
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t t = 0; t < 4; ++t) m[s][t] = (s == t ? 1.0 : 0.0) + sign * m[s][t];
  return m;
}

/// (W - W^+)/8 summed over the leaves around x, each turning from mu to nu.
Color field_strength(const Links& v, int x, int mu, int nu) {
  const int m = mu + 1, n = nu + 1;
  Color q{};
  for (const std::vector<int>& leaf :
       std::vector<std::vector<int>>{{m, n, -m, -n}, {n, -m, -n, m}, {-m, -n, m, n}, {-n, m, n, -m}})
    q = q + v.walk(x, leaf);
  return Complex(1.0 / 8) * (q + Complex(-1) * adjoint(q));
}

}  // namespace

Dense wilson_matrix(const Links& v, const WilsonQuark& quark) {
  const int sites = v.volume();
  Dense d(12 * sites, 12 * sites);
  double diagonal = quark.mass;
  for (const double f : quark.f) diagonal += f;
  const Spin one = spin_matrix(0);
  for (int x = 0; x < sites; ++x) {
    add(d, x, x, diagonal, one, unit_color());
    add(d, x, x, Complex(0, quark.twist), spin_matrix(15), unit_color());
    for (int mu = 0; mu < 4; ++mu) {
      const double f = quark.f[static_cast<std::size_t>(mu)];
      const int ahead = v.neighbour(x, mu, 1), behind = v.neighbour(x, mu, -1);
      add(d, x, ahead, -0.5 * f, one_plus_gamma(mu, -1), v.at(x, mu));
      add(d, x, behind, -0.5 * f, one_plus_gamma(mu, +1), adjoint(v.at(behind, mu)));
      for (int nu = mu + 1; nu < 4; ++nu) {
        const double c = quark.clover[static_cast<std::size_t>(mu)][static_cast<std::size_t>(nu)];
        if (c != 0) add(d, x, x, -0.5 * c, spin_matrix(1 << mu | 1 << nu), field_strength(v, x, mu, nu));
      }
    }
  }
  return d;
}

Dense i_gamma_5(int sites) {
  Dense d(12 * sites, 12 * sites);
  for (int x = 0; x < sites; ++x) add(d, x, x, Complex(0, 1), spin_matrix(15), unit_color());
  return d;
}

Dense staggered_matrix(const Links& v, double mass) {
  Dense d(3 * v.volume(), 3 * v.volume());
  for (int x = 0; x < v.volume(); ++x) {
    const Coordinates at = v.coordinates(x);
    for (int a = 0; a < 3; ++a) d(3 * x + a, 3 * x + a) += mass;
    int sum = 0;
    for (int mu = 0; mu < 4; ++mu) {
      const double half = sum % 2 == 0 ? 0.5 : -0.5;
      const int ahead = v.neighbour(x, mu, 1), behind = v.neighbour(x, mu, -1);
      const Color back = adjoint(v.at(behind, mu));
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          d(3 * x + a, 3 * ahead + b) += half * v.at(x, mu)[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
          d(3 * x + a, 3 * behind + b) -= half * back[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
        }
      sum += at[static_cast<std::size_t>(mu)];
    }
  }
  return d;
}

std::vector<int> components(const Links& v, bool even, int per_site) {
  std::vector<int> list;
  for (int x = 0; x < v.volume(); ++x)
    for (int i = 0; i < per_site; ++i)
      if (v.even(x) == even) list.push_back(per_site * x + i);
  return list;
}

Dense schur(const Dense& d, const std::vector<int>& even, const std::vector<int>& odd) {
  return d.block(odd, odd) - d.block(odd, even) * solve(d.block(even, even), d.block(even, odd));
}

Dense symmetric_schur(const Dense& d, const std::vector<int>& even, const std::vector<int>& odd) {
  return solve(d.block(odd, odd), schur(d, even, odd));
}

}  // namespace reference
