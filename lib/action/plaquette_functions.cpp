#include "lib/action/plaquette_functions.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// x^n for n >= 0.
template <class X>
X power(const X& x, int n) {
  X result = Real(0) * x + Real(1);
  for (int k = 0; k < n; ++k) result = k == 0 ? x : result * x;
  return result;
}

ComplexExpr as_complex(const RealExpr& x) { return cmplx(x, Real(0) * x); }

RealExpr square_modulus(const LatticeComplex& t) { return real(conj(t) * t); }

}  // namespace

TraceFunction adjoint_function(double beta_f, double beta_a) {
  const Real f = beta_f, a = beta_a;
  return {[=](const LatticeComplex& t) { return f * (Real(1) - real(t)) + a * (Real(1) - square_modulus(t)); },
          [=](const LatticeComplex& t) { return Real(-2) * a * conj(t) - f; }};
}

TraceFunction two_plaquette_function(double beta_f, double beta_a) {
  const Real f = beta_f, a = beta_a;
  return {[=](const LatticeComplex& t) { return -(f * real(t)) - Real(0.5) * a * real(t) * real(t); },
          [=](const LatticeComplex& t) { return as_complex(-(f + a * real(t))); }};
}

TraceFunction constrained_function(double beta, double gamma, double q) {
  const Real b = beta, c = gamma;
  // Rounding may take 1 - Re T below nought, where a power of it is not a number.
  const auto distance = [](const LatticeComplex& t) {
    const RealExpr r = Real(1) - real(t);
    return RealExpr(where(r > Real(0), r, Real(0) * r));
  };
  return {[=](const LatticeComplex& t) { return b * distance(t) + c * pow(distance(t), Real(q)); },
          [=](const LatticeComplex& t) { return as_complex(-(b + c * Real(q) * pow(distance(t), Real(q - 1)))); }};
}

TraceFunction power_function(double beta, double gamma, int q) {
  const Real b = beta, c = gamma;
  const auto s = [](const LatticeComplex& t) { return Real(1) - t; };
  return {[=](const LatticeComplex& t) { return real(b * s(t) + c * power(s(t), q)); },
          [=](const LatticeComplex& t) { return -(b + c * Real(q) * power(s(t), q - 1)); }};
}

TraceFunction adjoint_power_function(double beta, double gamma, int q) {
  const Real b = beta, c = gamma;
  const int n = q / 2;
  const auto s = [](const LatticeComplex& t) { return Real(1) - square_modulus(t); };
  return {[=](const LatticeComplex& t) { return b * (Real(1) - real(t)) + c * power(s(t), n); },
          [=](const LatticeComplex& t) { return c * Real(-2 * n) * power(s(t), n - 1) * conj(t) - b; }};
}

TraceFunction character_function(double beta_f, double beta_a, double beta_s) {
  const TraceFunction adjoint = adjoint_function(beta_f, beta_a);
  const Real half = beta_s / 2, ratio = static_cast<double>(Nc) / (Nc + 1);
  return {[=](const LatticeComplex& t) { return adjoint.density(t) + half * (Real(1) - ratio * real(t * t)); },
          [=](const LatticeComplex& t) { return adjoint.gradient(t) - Real(2) * half * ratio * t; }};
}

TraceFunction neighbour_function(double coefficient, int dir) {
  const Real c = -coefficient / 2;
  return {[=](const LatticeComplex& t) { return c * real(t) * shift(real(t), FORWARD, dir); },
          [=](const LatticeComplex& t) {
            return as_complex(c * (shift(real(t), FORWARD, dir) + shift(real(t), BACKWARD, dir)));
          }};
}

TraceFunction half_on_boundary(TraceFunction function, int decay_dir) {
  const auto weight = [decay_dir] {
    const LatticeInteger x = Layout::latticeCoordinate(decay_dir);
    const int last = Layout::lattSize()[decay_dir] - 1;
    LatticeReal w;
    w = where((x == 0) || (x == last), Real(0.5), Real(1));
    return w;
  };
  return {[=](const LatticeComplex& t) { return weight() * function.density(t); },
          [=](const LatticeComplex& t) { return weight() * function.gradient(t); }};
}

}  // namespace qcd
