#include "lib/meas/currents.hpp"

#include "lib/meas/momenta.hpp"

namespace qcd {

using namespace QDP;

MesonCurrents meson_currents(const GaugeField& u, const LatticePropagator& s1, const LatticePropagator& s2,
                             int j_decay) {
  require_gauge_field(u, "meson_currents");
  constexpr int kG5 = Ns * Ns - 1;
  const Set slices = time_slices(j_decay);
  const LatticePropagator b = Gamma(kG5) * s2 * Gamma(kG5);
  const int d = 1 << j_decay;

  MesonCurrents c;
  LatticeReal value;
  for (int k = 0; k < Nd; ++k) {
    if (k == j_decay) continue;
    const int n = 1 << k;
    const LatticePropagator s_here = u[k] * shift(s1, FORWARD, k) * Gamma(n),
                            b_here = u[k] * shift(b, FORWARD, k) * Gamma(n);
    const LatticePropagator gs = Gamma(n) * s_here, gb = Gamma(n) * b_here;
    LatticeReal split;
    split = real(trace(adj(b) * gs)) + real(trace(adj(gb) * s1));
    split *= Real(0.5);
    value = real(trace(adj(b_here) * s1)) - real(trace(adj(b) * s_here));
    value = Real(0.5) * value + split;
    c.split_vector.push_back(sumMulti(split, slices));
    c.conserved_vector.push_back(sumMulti(value, slices));
    value = -real(trace(adj(b) * (Gamma(n ^ d) * s1 * Gamma(n))));
    c.tensor.push_back(sumMulti(value, slices));
  }

  const int axial = kG5 ^ d;
  value = -real(trace(adj(b) * (Gamma(axial) * s1 * Gamma(kG5))));
  c.local_axial = sumMulti(value, slices);
  const LatticePropagator s_here = Gamma(axial) * (u[j_decay] * shift(s1, FORWARD, j_decay)) * Gamma(kG5);
  const LatticePropagator b_here = Gamma(axial) * (u[j_decay] * shift(b, FORWARD, j_decay)) * Gamma(kG5);
  value = Real(-0.5) * (real(trace(adj(b) * s_here)) - real(trace(adj(b_here) * s1)));
  c.split_axial = sumMulti(value, slices);
  return c;
}

}  // namespace qcd
