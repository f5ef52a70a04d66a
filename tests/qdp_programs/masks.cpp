// Masks: comparisons of fields, logical algebra, where and copymask, counting by conversion; with not-a-number and minus zero.
#include "qdp.h"
using namespace QDP;

namespace {

int count(const LatticeBoolean& flag) { return toInt(sum(where(flag, LatticeInteger(1), LatticeInteger(0)))); }

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[3] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  const LatticeInteger x = Layout::latticeCoordinate(0), y = Layout::latticeCoordinate(1);
  const LatticeBoolean less = x < y, equal = x == y, at_most = x <= y;
  QDPIO::cout << count(less) << " " << count(equal) << " " << count(at_most) << " " << count(x > y) << " "
              << count(x >= y) << " " << count(x != y) << std::endl;
  QDPIO::cout << count(less && equal) << " " << count(less || equal) << " " << count(!less) << " "
              << count(!(less || equal) && (x + y < 4)) << std::endl;
  const LatticeBoolean odd = ((x + y) & Integer(1)) == 1;
  QDPIO::cout << count(odd) << " " << count(odd || Boolean(true)) << " " << count(odd && Boolean(false)) << std::endl;

  LatticeReal r = LatticeReal(x) - 1.5;
  QDPIO::cout << sum(where(r > 0, r, LatticeReal(-r))) << " " << sum(where(r < 0.0, LatticeReal(zero), r)) << std::endl;
  LatticeReal special = 1.0 / LatticeReal(x);  // infinite where x is 0
  QDPIO::cout << count(special > 1.0e300) << " " << sum(where(x == 0, LatticeReal(Real(0)), special)) << std::endl;
  const LatticeReal minus_zero = -LatticeReal(y * 0);
  QDPIO::cout << count(minus_zero == LatticeReal(Real(0))) << " " << count(minus_zero < 0.0) << " "
              << count(1.0 / minus_zero < 0.0) << std::endl;
  const LatticeReal nan = minus_zero / minus_zero;
  QDPIO::cout << count(nan == nan) << " " << count(nan != nan) << " " << count(nan < 1.0) << " " << count(!(nan < 1.0))
              << std::endl;

  LatticeFermion psi, chi = zero, phi;
  gaussian(psi);
  copymask(chi, odd, psi);
  QDPIO::cout << (norm2(chi, rb3[0]) + norm2(chi, rb3[1]) == norm2(chi)) << " "
              << (toDouble(fabs(sum(where(odd, localNorm2(psi), LatticeDouble(zero))) - norm2(chi))) < 1e-9)
              << std::endl;
  phi = where(odd, LatticeFermion(zero), psi);
  const LatticeFermion together = phi + chi;
  QDPIO::cout << norm2(together - psi) << " " << innerProduct(phi, chi) << std::endl;
  LatticeColorMatrix u = where(less, LatticeColorMatrix(Real(1)), LatticeColorMatrix(Real(-2)));
  QDPIO::cout << sum(real(trace(u))) << std::endl;
  LatticeBoolean flag = true;
  flag[rb[1]] = false;
  flag[even] = x != 2;
  QDPIO::cout << count(flag) << " " << count(flag && less) << std::endl;

  // One decision for all.
  const Boolean yes = Real(2) > Real(1), no = !yes;
  QDPIO::cout << yes << no << toBool(yes || no) << toBool(yes && no) << toBool(Int(3) == Int(3)) << std::endl;
  const Real a = where(yes, Real(1.5), Real(2.5));
  const LatticeReal b = where(Boolean(no), LatticeReal(x), LatticeReal(y));
  QDPIO::cout << a << " " << sum(b) << " " << sum(where(yes, r, minus_zero)) << std::endl;

  QDP_finalize();
  return 0;
}
