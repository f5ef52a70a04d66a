#include "lib/meas/baryons.hpp"

#include "lib/error.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// A template, since there is no such contraction unless there are three colours.
template <class Propagator>
Propagator diquark(const Propagator& q1, const SpinMatrix& a, const Propagator& q2) {
  Propagator d;
  if constexpr (Nc == 3)
    d = quarkContract13(q1 * a, a * q2);
  else
    throw ShapeError("baryons: expected three colours, got " + std::to_string(Nc));
  return d;
}

/// Direct: the third quark has the spin T projects on, the pair is closed by itself.
LatticeComplex direct(const SpinMatrix& t, const LatticePropagator& q, const LatticePropagator& d) {
  LatticeComplex c;
  c = trace(t * traceColor(q * traceSpin(d)));
  return c;
}
/// Exchange: the third quark trades places with one of the pair.
LatticeComplex exchange(const SpinMatrix& t, const LatticePropagator& q, const LatticePropagator& d) {
  LatticeComplex c;
  c = trace(t * traceColor(q * d));
  return c;
}

}  // namespace

LatticeComplex sigma_2pt(const LatticePropagator& s, const LatticePropagator& u, const SpinMatrix& t,
                         const SpinMatrix& a) {
  const LatticePropagator d = diquark(s, a, u);
  return direct(t, u, d) + exchange(t, u, d);
}

LatticeComplex xi_2pt(const LatticePropagator& s, const LatticePropagator& u, const SpinMatrix& t,
                      const SpinMatrix& a) {
  const LatticePropagator d = diquark(s, a, u);
  return direct(t, s, d) + exchange(t, s, d);
}

LatticeComplex lambda_2pt(const LatticePropagator& s, const LatticePropagator& u, const SpinMatrix& t,
                          const SpinMatrix& a) {
  const LatticePropagator uu = diquark(u, a, u);
  return direct(t, s, uu) + exchange(t, s, uu) + exchange(t, u, diquark(u, a, s));
}

LatticeComplex naive_lambda_2pt(const LatticePropagator& s, const LatticePropagator& u, const SpinMatrix& t,
                                const SpinMatrix& a) {
  return direct(t, s, diquark(u, a, u));
}

LatticeComplex sigma_star_2pt(const LatticePropagator& s, const LatticePropagator& u, const SpinMatrix& t,
                              const SpinMatrix& a) {
  const LatticePropagator su = diquark(s, a, u), us = diquark(u, a, s), uu = diquark(u, a, u);
  const LatticeComplex twice = direct(t, u, su) + exchange(t, u, su) + exchange(t, u, us) + exchange(t, s, uu);
  return Real(2) * twice + direct(t, s, uu);
}

namespace {

/// Gamma(n) as a matrix.
SpinMatrix gamma(int n) {
  const SpinMatrix one = 1.0;
  return Gamma(n) * one;
}

std::vector<BaryonOperator> make_operators() {
  // C = Gamma(10) = g2 g4 (numbering g1..g4 = Gamma(1), (2), (4), (8)); 1 + g4 projects on positive parity.
  const SpinMatrix one = 1.0, g4 = gamma(8);
  const Real half = 0.5;
  const SpinMatrix positive = half * (one + g4), negative = half * (one - g4);
  const SpinMatrix c_g5 = gamma(5), c_g5_g4 = -gamma(13);
  const SpinMatrix minus = half * (gamma(2) + timesI(gamma(1)));  // g_- of the spin 3/2 state
  const SpinMatrix c_minus = gamma(10) * minus, c_g4_minus = gamma(10) * g4 * minus;

  // Projectors: parity, and with polarisation (1 + Sigma_3)(1 + g4)/2, Sigma_3 = -i g1 g2.
  const SpinMatrix polarised = half * (one + g4 + timesMinusI(gamma(3) + gamma(11)));
  const SpinMatrix polarised_negative = half * (one - g4 + timesMinusI(gamma(3) - gamma(11)));

  std::vector<BaryonOperator> list;
  const auto octet_and_decuplet = [&](const std::string& which, const SpinMatrix& octet, const SpinMatrix& decuplet,
                                      double factor) {
    list.push_back({"sigma, " + which + ", polarised", sigma_2pt, polarised, octet, 1});
    list.push_back({"lambda, " + which + ", polarised", lambda_2pt, polarised, octet, 1});
    list.push_back({"sigma*, " + which + ", polarised", sigma_star_2pt, polarised, decuplet, factor});
  };
  octet_and_decuplet("C", c_g5, c_minus, 1);
  octet_and_decuplet("C g4", c_g5_g4, c_g4_minus, 1);
  octet_and_decuplet("C (1 + g4)/2", SpinMatrix(c_g5 * positive), SpinMatrix(c_minus * positive), 4);  // sic
  list.push_back({"sigma, C, unpolarised", sigma_2pt, positive, c_g5, 1});
  list.push_back({"sigma, C g4, unpolarised", sigma_2pt, positive, c_g5_g4, 1});
  list.push_back({"sigma, C (1 + g4)/2, unpolarised", sigma_2pt, positive, c_g5 * positive, 1});
  list.push_back({"naive lambda, C, unpolarised", naive_lambda_2pt, positive, c_g5, 1});
  list.push_back({"xi, C, unpolarised", xi_2pt, positive, c_g5, 1});
  list.push_back({"naive lambda, C, unpolarised", naive_lambda_2pt, positive, c_g5, 1});
  list.push_back({"xi, C, polarised", xi_2pt, polarised, c_g5, 1});
  list.push_back({"sigma, C (1 - g4)/2, negative parity", sigma_2pt, polarised_negative, c_g5 * negative, 1});
  return list;
}

}  // namespace

const std::vector<BaryonOperator>& baryon_operators() {
  static const std::vector<BaryonOperator> list = make_operators();
  return list;
}

std::vector<multi2d<DComplex>> baryon_correlators(const LatticePropagator& s, const LatticePropagator& u,
                                                  const Momenta& momenta) {
  std::vector<multi2d<DComplex>> correlators;
  for (const BaryonOperator& b : baryon_operators())
    correlators.push_back(momenta.project(LatticeComplex(Real(b.factor) * b.contract(s, u, b.projector, b.diquark))));
  return correlators;
}

LatticePropagator time_reversed(const LatticePropagator& s) {
  LatticePropagator r;
  r = -(Gamma(7) * s * Gamma(7));
  return r;
}

multi1d<DComplex> baryon_from_source(const multi1d<DComplex>& forward, const multi1d<DComplex>* backward, int t0,
                                     int boundary) {
  const int length = forward.size();
  multi1d<DComplex> c(length);
  for (int t = 0; t < length; ++t) {
    const int from_source = (t - t0 + length) % length;
    c[from_source] = boundary < 0 && from_source + t0 >= length ? DComplex(-forward[t]) : forward[t];
  }
  if (!backward) return c;
  for (int t = 0; t < length; ++t) {
    const int to_source = (length - t + t0) % length;
    // Chroma's rule for the sign of what went the other way around.
    const DComplex reversed = boundary < 0 && to_source - t0 > 0 ? DComplex(-(*backward)[t]) : (*backward)[t];
    c[to_source] = Double(0.5) * (c[to_source] + reversed);
  }
  return c;
}

}  // namespace qcd
