#include "lib/meas/condensate.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

/// A number made of the real and the imaginary part of each component, site by site.
template <class F, class Function>
Sym by_components(const Sym& x, const Function& f) {
  constexpr int spins = NumSpins<F>::value;
  Sym result = zero_like(x);
  for (int s = 0; s < spins; ++s) {
    const Sym from = x.spin(s);
    Sym to = zero_like(from);
    for (int c = 0; c < Nc; ++c) to.set_color(c, 0, f(real(from.color(c)), imag(from.color(c))));
    result.set_spin(s, 0, to);
  }
  return result;
}

template <class F>
const auto z2_of_uniform = siteFunction<1>("z2_noise", [](const Sym& r) {
  return by_components<F>(r, [](const Sym& a, const Sym& b) {
    const Sym plus = std::sqrt(0.5), minus = -std::sqrt(0.5);
    return cmplx(where(a > 0.5, plus, minus) + 0.0 * a, where(b > 0.5, plus, minus) + 0.0 * b);
  });
});

template <class F>
const auto u1_of_uniform = siteFunction<1>("u1_noise", [](const Sym& r) {
  return by_components<F>(r, [](const Sym& a, const Sym&) {
    const Sym angle = 6.28318530717958647692 * a;
    return cmplx(cos(angle), sin(angle));
  });
});

template <class F>
F unit_source() {
  F eta = zero;
  for (const auto& e : unit_vectors<F>()) eta += e;
  return eta;
}

LatticeFermion parity(const LatticeFermion& psi) { return LatticeFermion(Gamma(Ns * Ns - 1) * psi); }

LatticeStaggeredFermion parity(const LatticeStaggeredFermion& psi) {
  LatticeStaggeredFermion signed_psi;
  signed_psi[rb[0]] = psi;
  signed_psi[rb[1]] = -psi;
  return signed_psi;
}

}  // namespace

template <class F>
F trace_source(TraceNoise kind) {
  if (kind == TraceNoise::unit) return unit_source<F>();
  F eta;
  if (kind == TraceNoise::gaussian) {
    gaussian(eta);
    eta *= Real(std::sqrt(0.5));
    return eta;
  }
  random(eta);
  if (kind == TraceNoise::z2)
    eta = z2_of_uniform<F>(eta);
  else
    eta = u1_of_uniform<F>(eta);
  return eta;
}

template <class F>
Condensate estimate_condensate(const QuarkInverter<F>& inverse, const F& source, std::vector<SolveResult>* results) {
  const F psi = inverse(source, results);
  const Double per_site = Double(1) / Double(source.lattice().vol());
  return {per_site * innerProduct(source, psi), per_site * innerProduct(source, parity(psi))};
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template F trace_source<F>(TraceNoise);                                                                              \
  template Condensate estimate_condensate<F>(const QuarkInverter<F>&, const F&, std::vector<SolveResult>*);
QCD_INSTANTIATE(LatticeFermion)
QCD_INSTANTIATE(LatticeStaggeredFermion)
#undef QCD_INSTANTIATE

}  // namespace qcd
