// A QDP++ program as users have them: the plaquette of a free field is 1.
#include "qdp.h"

using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 4;
  Layout::setLattSize(extents);
  Layout::create();

  int status = 0;
  {
    multi1d<LatticeColorMatrix> u(Nd);
    for (int mu = 0; mu < Nd; ++mu) u[mu] = 1.0;
    const Double plaquette =
        sum(real(trace(u[0] * shift(u[1], FORWARD, 0) * adj(shift(u[0], FORWARD, 1)) * adj(u[1])))) /
        Double(Nc * Layout::vol());
    QDPIO::cout << "plaquette of the free field: " << plaquette << std::endl;
    if (std::abs(toDouble(plaquette) - 1.0) > 1e-12) status = 1;
  }
  QDP_finalize();
  return status;
}
