#include "qdp.h"
using namespace QDP;

struct TimeSlice : SetFunc {
  int operator()(const multi1d<int>& x) const override { return x[Nd - 1]; }
  int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
};

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 4;
  extents[Nd - 1] = 8;
  Layout::setLattSize(extents);
  Layout::create();
  {
    multi1d<LatticeColorMatrix> u(Nd);  // the links of a free field
    for (int mu = 0; mu < Nd; ++mu) u[mu] = 1.0;

    LatticeComplex wall = where(Layout::latticeCoordinate(Nd - 1) == 0, LatticeComplex(1.0), LatticeComplex(0.0));
    LatticeColorVector color = zero;
    LatticeFermion source = zero, psi = zero;
    pokeSpin(source, pokeColor(color, wall, 0), 0);

    const Real kappa = 0.1;
    for (int step = 0; step < 100; ++step) {  // psi = (1 - kappa H)^-1 source by Jacobi's iteration
      LatticeFermion hop = zero;
      for (int mu = 0; mu < Nd; ++mu)
        hop += spinReconstruct(u[mu] * shift(spinProject(psi, mu, -1), FORWARD, mu), mu, -1) +
               spinReconstruct(shift(adj(u[mu]) * spinProject(psi, mu, +1), BACKWARD, mu), mu, +1);
      psi = source + kappa * hop;
    }

    Set slices;
    slices.make(TimeSlice());
    const multi1d<Double> pion = sumMulti(localNorm2(psi), slices);
    for (int t = 0; t < pion.size(); ++t) QDPIO::cout << "C(" << t << ") = " << pion[t] << std::endl;
  }
  QDP_finalize();
}
