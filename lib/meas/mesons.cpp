#include "lib/meas/mesons.hpp"

namespace qcd {

using namespace QDP;

std::vector<multi2d<DComplex>> meson_correlators(const LatticePropagator& s1, const LatticePropagator& s2,
                                                 const Momenta& momenta) {
  const LatticePropagator back = Gamma(Ns * Ns - 1) * s2 * Gamma(Ns * Ns - 1);
  std::vector<multi2d<DComplex>> correlators;
  LatticeComplex c;
  for (int n = 0; n < Ns * Ns; ++n) {
    c = trace(adj(back) * (Gamma(n) * s1 * Gamma(n)));
    correlators.push_back(momenta.project(c));
  }
  return correlators;
}

}  // namespace qcd
