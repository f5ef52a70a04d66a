// Two-point functions of conserved and local currents with the local meson at the source, Wilson quarks.
#pragma once

#include "lib/gauge/gauge_field.hpp"

#include <vector>

namespace qcd {

/// Correlators in slices across j_decay, at rest. With b = g5 S2 g5, k over the directions but j_decay, d = j_decay, S'
/// the propagator S1(x+k) brought to x by U_k(x), and b' likewise:
struct MesonCurrents {
  /// 1/2 Re tr[ b^+ g_k S' g_k + (g_k b' g_k)^+ S1 ]: point-split vector current to the rho, [k].
  std::vector<QDP::multi1d<QDP::Double>> split_vector;
  /// The same with 1/2 Re tr[ -b^+ S' g_k + (b' g_k)^+ S1 ] added: the conserved vector current, [k].
  std::vector<QDP::multi1d<QDP::Double>> conserved_vector;
  /// -Re tr[ b^+ (g_k g_d) S1 g_k ], for the O(a) improvement of the vector current, [k].
  std::vector<QDP::multi1d<QDP::Double>> tensor;
  /// -1/2 Re tr[ b^+ g5 g_d S' g5 - (g5 g_d b' g5)^+ S1 ] with shifts along d: point-split axial current to the pion.
  QDP::multi1d<QDP::Double> split_axial;
  /// -Re tr[ b^+ g5 g_d S1 g5 ]: the local axial current.
  QDP::multi1d<QDP::Double> local_axial;
};

/// Products of gamma matrices above are meant up to sign as Gamma(n) numbers them (g_k g_d: the bits of both), as in
/// Chroma's HADRON_SPECTRUM with CurrentP.
MesonCurrents meson_currents(const GaugeField& u, const QDP::LatticePropagator& s1, const QDP::LatticePropagator& s2,
                             int j_decay);

}  // namespace qcd
