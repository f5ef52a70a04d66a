// Contractions with epsilon tensors: three vectors, three matrices, cross products, determinants, outer products.
#include "qdp.h"
using namespace QDP;

namespace {

int epsilon(int i, int j, int k) { return (i - j) * (j - k) * (k - i) / 2; }

LatticeComplex by_hand(const LatticeColorMatrix& a, const LatticeColorMatrix& b, const LatticeColorMatrix& c) {
  LatticeComplex result = zero;
  for (int n = 0; n < 27; ++n)
    for (int m = 0; m < 27; ++m) {
      const int i = n / 9, j = n / 3 % 3, k = n % 3, ii = m / 9, jj = m / 3 % 3, kk = m % 3;
      const int sign = epsilon(i, j, k) * epsilon(ii, jj, kk);
      if (sign != 0) result += Real(sign) * (peekColor(a, i, ii) * peekColor(b, j, jj) * peekColor(c, k, kk));
    }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  LatticeColorMatrix a, b, c;
  random(a);
  random(b);
  random(c);
  const LatticeComplex built_in = colorContract(a, b, c);
  QDPIO::cout << "matrices " << sum(built_in) << " " << (toDouble(norm2(built_in - by_hand(a, b, c))) < 1e-24)
              << std::endl;
  const LatticeComplex det = colorContract(a, a, a) / Real(6);
  const LatticeComplex product =
      colorContract(LatticeColorMatrix(a * b), LatticeColorMatrix(a * b), LatticeColorMatrix(a * b));
  const LatticeComplex det_b = colorContract(b, b, b) / Real(6);
  QDPIO::cout << "det(ab) = det a det b: " << (toDouble(norm2(product / Real(6) - det * det_b)) < 1e-24) << std::endl;

  LatticeColorVector x, y, z;
  random(x);
  random(y);
  random(z);
  QDPIO::cout << "vectors " << sum(colorContract(x, y, z)) << " " << sum(colorContract(x, z, y)) << std::endl;
  const LatticeColorVector cross = colorCrossProduct(x, y);
  QDPIO::cout << "cross " << norm2(cross) << " " << sum(colorVectorContract(cross, z)) << std::endl;
  QDPIO::cout << "contract " << sum(colorVectorContract(x, y)) << " " << sum(localInnerProduct(x, y)) << std::endl;

  const LatticeColorMatrix outer = outerProduct(x, y);
  QDPIO::cout << "outer " << norm2(outer) << " " << sum(trace(outer)) << " " << sum(peekColor(outer, 0, 2)) << " "
              << sum(peekColor(x, 0) * conj(peekColor(y, 2))) << std::endl;
  LatticeFermion psi, chi;
  random(psi);
  random(chi);
  const LatticePropagator q = outerProduct(psi, chi);
  QDPIO::cout << "fermions " << norm2(q) << " " << sum(trace(q)) << " " << norm2(traceSpin(outerProduct(psi, chi)))
              << std::endl;

  // Of single objects.
  multi1d<int> origin(Nd);
  origin = 0;
  const ColorMatrix m = peekSite(a, origin);
  QDPIO::cout << colorContract(m, m, m) << std::endl;
  ColorMatrix unit = 1.0;
  QDPIO::cout << colorContract(unit, unit, unit) << std::endl;
  const ColorVector v = peekSite(x, origin), w = peekSite(y, origin);
  QDPIO::cout << colorVectorContract(v, colorCrossProduct(v, w)) << " " << innerProduct(v, w) << std::endl;

  QDP_finalize();
  return 0;
}
