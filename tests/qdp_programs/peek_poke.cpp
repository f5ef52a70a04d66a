// Peeks and pokes of every level: sites, spins, colours; on lattices, on scalars, on subsets, nested.
#include "qdp.h"
using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[1] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<int> x(Nd), y(Nd);
  x = 1;
  y = 0;
  y[1] = 3;
  LatticeColorMatrix u = zero;
  for (int i = 0; i < Nc; ++i)
    for (int j = 0; j < Nc; ++j)
      pokeColor(u, LatticeComplex(cmplx(LatticeReal(Layout::latticeCoordinate(1)), LatticeReal(Real(10 * i + j)))), i,
                j);
  const ColorMatrix at_x = peekSite(u, x), at_y = peekSite(u, y);
  QDPIO::cout << peekColor(at_x, 1, 2) << " " << peekColor(at_y, 2, 1) << " " << trace(at_y) << std::endl;
  pokeSite(u, ColorMatrix(at_x + at_y), y);
  QDPIO::cout << peekColor(peekSite(u, y), 0, 1) << " " << peekColor(peekSite(u, x), 0, 1) << std::endl;

  LatticeFermion psi = zero;
  for (int s = 0; s < Ns; ++s) {
    LatticeColorVector v = peekSpin(psi, s);
    for (int c = 0; c < Nc; ++c)
      pokeColor(v, LatticeComplex(cmplx(LatticeReal(Real(s)), LatticeReal(Real(c)) - Layout::latticeCoordinate(0))), c);
    pokeSpin(psi, v, s);
  }
  const LatticeSpinVector of_colour = peekColor(psi, 2);
  QDPIO::cout << norm2(of_colour) << " " << norm2(peekSpin(psi, 3)) << " " << sum(peekSpin(of_colour, 1)) << " "
              << sum(peekColor(peekSpin(psi, 1), 2)) << std::endl;

  LatticePropagator q = zero;
  for (int s = 0; s < Ns; ++s)
    for (int t = 0; t < Ns; ++t) {
      LatticeColorMatrix m = Real(s * Ns + t);
      pokeSpin(q, m, s, t);
    }
  LatticeSpinMatrix spins = peekColor(q, 1, 1);
  QDPIO::cout << sum(peekSpin(spins, 2, 3)) << " " << norm2(peekColor(q, 0, 1)) << " " << sum(trace(q)) << std::endl;
  pokeColor(q, spins, 0, 2);
  QDPIO::cout << norm2(q) << " " << sum(trace(q * q)) << std::endl;

  // On a subset the rest keeps its value.
  LatticeColorVector v = zero;
  const LatticeComplex one = Real(1), two = LatticeComplex(timesI(2.0 * one));
  pokeColor(v[rb[0]], one, 0);
  pokeColor(v[rb[1]], two, 0);
  QDPIO::cout << sum(peekColor(v, 0)) << " " << norm2(v, rb[1]) << std::endl;
  LatticeFermion chi = zero;
  pokeSpin(chi[rb[1]], v, 2);
  QDPIO::cout << norm2(chi) << " " << norm2(chi, rb[0]) << std::endl;

  // Scalars.
  SpinMatrix g = zero;
  for (int s = 0; s < Ns; ++s) pokeSpin(g, cmplx(Real(s), Real(-s)), s, Ns - 1 - s);
  QDPIO::cout << peekSpin(g, 1, 2) << " " << trace(g) << " " << trace(g * g) << std::endl;
  Propagator p = zero;
  ColorMatrix c = zero;
  pokeColor(c, Complex(5), 2, 0);
  pokeSpin(p, c, 3, 1);
  QDPIO::cout << peekColor(peekSpin(p, 3, 1), 2, 0) << " " << norm2(p) << std::endl;
  LatticeReal field = Layout::latticeCoordinate(1);
  pokeSite(field, Real(-0.5), y);
  QDPIO::cout << peekSite(field, y) << " " << sum(field) << " " << toDouble(peekSite(field, x)) << std::endl;
  LatticeInteger n = Layout::latticeCoordinate(0);
  LatticeBoolean flag = n == 1;
  pokeSite(n, Integer(7), y);
  QDPIO::cout << peekSite(n, y) << peekSite(n, x) << " " << peekSite(flag, x) << toBool(peekSite(flag, y)) << std::endl;
  ColorVector w;
  for (int i = 0; i < Nc; ++i) w.elem().elem().elem(i) = RComplex<REAL>(i, 1);
  QDPIO::cout << w << " " << norm2(w) << std::endl;

  QDP_finalize();
  return 0;
}
