// The plaquette of a random SU(3) field, written as the formula: sum over planes of Re tr U_mu U_nu U_mu^+ U_nu^+.
//
//   example_plaquette

#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"

#include "qdp.h"

using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 8;
  Layout::setLattSize(extents);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  qcd::weak_field_start(u);

  Double plaquette = zero;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      plaquette += sum(real(trace(u[mu] * shift(u[nu], FORWARD, mu) * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]))));
  plaquette /= Double(Nc * Nd * (Nd - 1) / 2 * Layout::vol());

  QDPIO::cout << "average plaquette " << plaquette << std::endl;
  QDP_finalize();
}
