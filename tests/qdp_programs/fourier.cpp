// A Fourier transform by hand: sums over plane waves into a lattice of momenta and back, Parseval's theorem.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

multi1d<int> coordinate_of(int index) {
  multi1d<int> x(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    x[mu] = index % Layout::lattSize()[mu];
    index /= Layout::lattSize()[mu];
  }
  return x;
}

LatticeComplex wave(const multi1d<int>& k, int sign) {
  const Real twopi = 8 * atan(Real(1));
  LatticeReal phase = zero;
  for (int mu = 0; mu < Nd; ++mu)
    phase += twopi * Real(sign * k[mu]) * Layout::latticeCoordinate(mu) / Real(Layout::lattSize()[mu]);
  return cmplx(cos(phase), sin(phase));
}

// Field in, field out: a value at each momentum.
template <typename T>
OLattice<T> transform(const OLattice<T>& f, int sign) {
  OLattice<T> result;
  result = zero;
  const double norm = 1.0 / std::sqrt(double(Layout::vol()));
  for (int i = 0; i < int(Layout::vol()); ++i) {
    const multi1d<int> k = coordinate_of(i);
    pokeSite(result, OScalar<T>(sum(wave(k, sign) * f) * Real(norm)), k);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 4;
  Layout::setLattSize(nrow);
  Layout::create();
  std::cout << std::fixed << std::setprecision(11);

  LatticeComplex f;
  gaussian(f);
  LatticeComplex g = transform(f, -1);
  QDPIO::cout << "norms " << norm2(f) << " " << norm2(g) << std::endl;
  LatticeComplex back = transform(g, +1);
  QDPIO::cout << "back again: " << (toDouble(norm2(back - f)) < 1e-24) << std::endl;
  multi1d<int> k(Nd);
  k = 0;
  for (k[0] = 0; k[0] < nrow[0]; ++k[0]) {
    const Complex at = peekSite(g, k);
    QDPIO::cout << "g(" << k[0] << ") = " << real(at) << " " << imag(at) << std::endl;
  }

  // The lattice Laplacian is diagonal in momentum space.
  LatticeComplex box = -2.0 * Nd * f;
  for (int mu = 0; mu < Nd; ++mu) box += shift(f, FORWARD, mu) + shift(f, BACKWARD, mu);
  LatticeReal k_hat2 = zero;
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeReal half = LatticeReal(Layout::latticeCoordinate(mu)) * Real(3.141592653589793 / nrow[mu]);
    k_hat2 += 4.0 * pow(sin(half), 2.0);
  }
  QDPIO::cout << "diagonal: " << (toDouble(norm2(transform(box, -1) + k_hat2 * g)) < 1e-22) << std::endl;
  QDPIO::cout << "sum of k_hat^2 " << sum(k_hat2) << ", largest " << globalMax(k_hat2) << std::endl;

  // A colour vector: each component by itself.
  LatticeColorVector v;
  gaussian(v);
  const LatticeColorVector w = transform(v, -1);
  for (int c = 0; c < Nc; ++c) QDPIO::cout << c << " " << norm2(peekColor(w, c)) << std::endl;

  QDP_finalize();
  return 0;
}
