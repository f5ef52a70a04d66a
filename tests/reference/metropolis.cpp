#include "tests/reference/metropolis.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

namespace {

using Uniform = std::uniform_real_distribution<double>;

}  // namespace

PlainGauge::PlainGauge(int dimensions, int extent, int colors, double beta, unsigned seed)
    : dimensions_(dimensions),
      extent_(extent),
      n_(colors),
      beta_(beta),
      // A change by h costs about beta h^2 (d - 1)/n.
      reach_(std::min(0.9, std::sqrt(colors / (beta * (dimensions - 1))))),
      random_(seed) {
  for (int mu = 0; mu < dimensions; ++mu) sites_ *= extent;
  Matrix unit(static_cast<std::size_t>(n_ * n_));
  for (int a = 0; a < n_; ++a) unit[static_cast<std::size_t>(a * n_ + a)].re = 1;
  u_.assign(static_cast<std::size_t>(sites_ * dimensions_), unit);
}

PlainGauge::Matrix PlainGauge::times(const Matrix& a, const Matrix& b) const {
  Matrix c(a.size());
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j) {
      Number sum;
      for (int k = 0; k < n_; ++k) {
        const Number x = a[static_cast<std::size_t>(i * n_ + k)], y = b[static_cast<std::size_t>(k * n_ + j)];
        sum.re += x.re * y.re - x.im * y.im;
        sum.im += x.re * y.im + x.im * y.re;
      }
      c[static_cast<std::size_t>(i * n_ + j)] = sum;
    }
  return c;
}

PlainGauge::Matrix PlainGauge::adjoint(const Matrix& a) const {
  Matrix c(a.size());
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j) {
      const Number x = a[static_cast<std::size_t>(j * n_ + i)];
      c[static_cast<std::size_t>(i * n_ + j)] = {x.re, -x.im};
    }
  return c;
}

double PlainGauge::real_trace(const Matrix& a) const {
  double sum = 0;
  for (int i = 0; i < n_; ++i) sum += a[static_cast<std::size_t>(i * n_ + i)].re;
  return sum;
}

int PlainGauge::neighbour(int site, int mu, int steps) const {
  int stride = 1;
  for (int nu = 0; nu < mu; ++nu) stride *= extent_;
  const int x = site / stride % extent_;
  return site + ((x + steps + extent_) % extent_ - x) * stride;
}

PlainGauge::Matrix PlainGauge::staples(int site, int mu) const {
  Matrix sum(static_cast<std::size_t>(n_ * n_));
  const int ahead = neighbour(site, mu, 1);
  for (int nu = 0; nu < dimensions_; ++nu) {
    if (nu == mu) continue;
    const int up = neighbour(site, nu, 1), down = neighbour(site, nu, -1);
    const Matrix left = times(link(ahead, nu), times(adjoint(link(up, mu)), adjoint(link(site, nu))));
    const Matrix right =
        times(adjoint(link(neighbour(ahead, nu, -1), nu)), times(adjoint(link(down, mu)), link(down, nu)));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i].re += left[i].re + right[i].re;
      sum[i].im += left[i].im + right[i].im;
    }
  }
  return sum;
}

void PlainGauge::propose(Matrix& u, const Matrix& w) {
  Uniform unit(0, 1), symmetric(-1, 1);
  const auto decide = [&](const Matrix& changed) {
    ++proposed_;
    const double gain = beta_ / n_ * (real_trace(times(changed, w)) - real_trace(times(u, w)));
    if (gain < 0 && unit(random_) >= std::exp(gain)) return;
    ++accepted_;
    u = changed;
  };
  if (n_ == 1) {
    const double angle = 2 * reach_ * symmetric(random_);
    decide(times(Matrix{{std::cos(angle), std::sin(angle)}}, u));
    return;
  }
  for (int i = 0; i < n_; ++i)
    for (int j = i + 1; j < n_; ++j) {
      // An element of the SU(2) of two colours and its inverse are proposed with the same probability.
      double a[4], length = 2;
      while (length > 1) {
        length = 0;
        for (int k = 1; k < 4; ++k) a[k] = symmetric(random_), length += a[k] * a[k];
      }
      for (int k = 1; k < 4; ++k) a[k] *= reach_;
      a[0] = std::sqrt(1 - reach_ * reach_ * length);
      const Number top[2] = {{a[0], a[3]}, {a[2], a[1]}}, bottom[2] = {{-a[2], a[1]}, {a[0], -a[3]}};
      Matrix changed = u;
      for (int c = 0; c < n_; ++c) {
        const Number x = u[static_cast<std::size_t>(i * n_ + c)], y = u[static_cast<std::size_t>(j * n_ + c)];
        const auto combine = [&](const Number(&row)[2]) {
          return Number{row[0].re * x.re - row[0].im * x.im + row[1].re * y.re - row[1].im * y.im,
                        row[0].re * x.im + row[0].im * x.re + row[1].re * y.im + row[1].im * y.re};
        };
        changed[static_cast<std::size_t>(i * n_ + c)] = combine(top);
        changed[static_cast<std::size_t>(j * n_ + c)] = combine(bottom);
      }
      decide(changed);
    }
}

void PlainGauge::sweep() {
  for (int site = 0; site < sites_; ++site)
    for (int mu = 0; mu < dimensions_; ++mu) {
      const Matrix w = staples(site, mu);
      for (int hit = 0; hit < 4; ++hit) propose(link(site, mu), w);
    }
}

double PlainGauge::plaquette() const {
  double sum = 0;
  for (int site = 0; site < sites_; ++site)
    for (int mu = 0; mu < dimensions_; ++mu)
      for (int nu = 0; nu < mu; ++nu)
        sum += real_trace(times(times(link(site, mu), link(neighbour(site, mu, 1), nu)),
                                adjoint(times(link(site, nu), link(neighbour(site, nu, 1), mu)))));
  return sum / (n_ * sites_ * dimensions_ * (dimensions_ - 1) / 2.0);
}

}  // namespace reference
