// Largest and smallest values, norms on parts, what is finite and what is not; of fields with extreme numbers.
#include "qdp.h"
using namespace QDP;

namespace {

class Corners : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const {
    int n = 0;
    for (int mu = 0; mu < x.size(); ++mu) n += x[mu] == 0;
    return n == Nd ? 0 : n == 0 ? 1 : 2;
  }
  int numSubsets() const { return 4; }  // the last one is empty
};

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  LatticeReal x = 0.25 - Layout::latticeCoordinate(0);
  QDPIO::cout << globalMax(x) << " " << globalMin(x) << " " << globalMax(LatticeReal(x * x)) << " "
              << globalMax(fabs(x)) << std::endl;
  LatticeInteger n = Layout::latticeCoordinate(0) * (-3);
  QDPIO::cout << globalMax(n) << " " << globalMin(n) << " " << globalMax(LatticeInteger(-n)) << std::endl;
  LatticeRealF f = RealF(-2.5f);
  QDPIO::cout << globalMax(f) << " " << globalMin(f) << std::endl;
  LatticeFermion psi;
  gaussian(psi);
  QDPIO::cout << globalMax(sqrt(localNorm2(psi))) << " " << globalMin(real(trace(LatticeColorMatrix(Real(2)))))
              << std::endl;

  Set corners;
  corners.make(Corners());
  Double sum_of_parts = 0;
  for (int k = 0; k < corners.numSubsets(); ++k) {
    QDPIO::cout << k << ": " << corners[k].numSiteTable() << " " << sum(x, corners[k]) << " " << norm2(x, corners[k])
                << std::endl;
    sum_of_parts += norm2(psi, corners[k]);
  }
  QDPIO::cout << (toDouble(fabs(sum_of_parts - norm2(psi))) < 1e-10) << " " << norm2(psi, corners[3]) << " "
              << innerProduct(psi, psi, corners[3]) << " " << trace(sum(LatticeColorMatrix(Real(1)), corners[0]))
              << std::endl;
  multi1d<LatticeFermion> several(3);
  for (int i = 0; i < 3; ++i) several[i] = Real(i) * psi;
  QDPIO::cout << norm2(several) << " " << norm2(several, rb[0]) << " " << innerProductReal(several, several)
              << std::endl;

  multi1d<int> site(Nd);
  site = 1;
  QDPIO::cout << isfinite(x) << isnan(x) << isinf(x) << isnormal(x) << std::endl;
  LatticeReal y = x;
  pokeSite(y, Real(0), site);
  QDPIO::cout << isfinite(y) << isnan(y) << isinf(y) << isnormal(y) << std::endl;
  pokeSite(y, Real(1e200), site);
  const LatticeReal square = y * y;
  QDPIO::cout << isfinite(square) << isnan(square) << isinf(square) << " " << globalMax(y) << " " << norm2(y)
              << std::endl;
  const LatticeReal difference = square - square;
  QDPIO::cout << isfinite(difference) << isnan(difference) << isinf(difference) << std::endl;
  LatticeReal denormal = Real(1e-310);
  QDPIO::cout << isfinite(denormal) << isnormal(denormal) << " " << sum(denormal) << std::endl;

  // Large and small terms: an exact sum is rounded once.
  LatticeReal mixed = Real(1);
  pokeSite(mixed, Real(1e15), site);
  QDPIO::cout << sum(mixed) << std::endl;

  QDP_finalize();
  return 0;
}
