// Meson correlators from quark propagators.
#pragma once

#include "lib/meas/momenta.hpp"

#include <vector>

namespace qcd {

/// Correlators of the quark bilinears psibar_2 Gamma(n) psi_1, n = 0..15, of the same kind at source and sink:
///   C_n(p, t) = sum_x exp(ipx) tr[ (g5 S2 g5)^+ Gamma(n) S1 Gamma(n) ],   result [n](momentum, t), t the slice.
/// (g5 S2 g5)^+ propagates backward where g5 D g5 = D^+. n = 15 is the pion: sum |S|^2 for S1 = S2 at p = 0.
std::vector<QDP::multi2d<QDP::DComplex>> meson_correlators(const QDP::LatticePropagator& s1,
                                                           const QDP::LatticePropagator& s2, const Momenta& momenta);

/// sum |S|^2 over each slice, all spins and colours: the pion at rest, for staggered quarks the Goldstone pion.
template <class Q>
QDP::multi1d<QDP::Double> slice_norms(const Q& s, int j_decay) {
  return sumMulti(localNorm2(s), time_slices(j_decay));
}

}  // namespace qcd
