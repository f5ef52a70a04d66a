// Projection to half spinors and back beside (1 +- gamma_mu), in both precisions, of fields and of one spinor; chiral projections.
#include "qdp.h"
using namespace QDP;

namespace {

template <typename T>
double relative(const OLattice<T>& a, const OLattice<T>& b) {
  OLattice<T> d = a - b;
  return toDouble(norm2(d)) / toDouble(norm2(a));
}

double rounded(const Double& x, double digit) { return digit * std::floor(toDouble(x) / digit + 0.5); }

template <typename Full, typename Half>
void check(const char* name, double digit) {
  Full psi;
  gaussian(psi);
  bool same = true;
  Double halves = 0;
  for (int mu = 0; mu < 4; ++mu)
    for (int isign = -1; isign <= 1; isign += 2) {
      const Half h = spinProject(psi, mu, isign);
      const Full full = spinReconstruct(h, mu, isign);
      const Full wanted = psi + Real(isign) * (Gamma(1 << mu) * psi);
      same = same && relative(full, wanted) < 1e-12;
      halves += norm2(h);
    }
  QDPIO::cout << name << " " << same << " " << rounded(halves, digit) << " " << rounded(norm2(psi), digit) << std::endl;

  const Full plus = chiralProjectPlus(psi), minus = chiralProjectMinus(psi);
  const Full both = plus + minus;
  const Full p = 0.5 * (psi + Gamma(15) * psi);
  QDPIO::cout << name << " " << (relative(both, psi) < 1e-12) << (relative(p, plus) < 1e-12) << " "
              << rounded(norm2(plus), digit) << " " << rounded(norm2(minus), digit) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  check<LatticeFermion, LatticeHalfFermion>("fermion", 1e-10);
  check<LatticeFermionF, LatticeHalfFermionF>("fermion in single precision", 1e-3);

  // By name, and inside of expressions.
  LatticeFermion psi, chi = zero;
  gaussian(psi);
  chi += spinReconstructDir0Plus(spinProjectDir0Plus(psi));
  chi += spinReconstructDir0Minus(spinProjectDir0Minus(psi));
  chi += spinReconstructDir3Plus(spinProjectDir3Plus(psi));
  chi -= spinReconstructDir3Minus(spinProjectDir3Minus(psi));
  const LatticeFermion wanted = 2.0 * psi + 2.0 * (Gamma(8) * psi);
  QDPIO::cout << (relative(chi, wanted) < 1e-27) << std::endl;
  const LatticeHalfFermion h = spinProjectDir2Minus(psi) + spinProjectDir1Plus(chi);
  QDPIO::cout << norm2(h) << " " << norm2(peekSpin(h, 1)) << " " << innerProduct(h, h) << std::endl;
  LatticeFermion part = zero;
  part[rb[0]] = chiralProjectPlus(psi);
  part[rb[1]] = chiralProjectMinus(psi) - chiralProjectPlus(psi);
  QDPIO::cout << norm2(part, rb[0]) << " " << norm2(part, rb[1]) << " " << innerProduct(part, psi) << std::endl;

  // Of one spinor.
  multi1d<int> origin(Nd);
  origin = 0;
  const Fermion one = peekSite(psi, origin);
  const HalfFermion half = spinProject(one, 1, +1);
  QDPIO::cout << norm2(half) << " " << norm2(Fermion(spinReconstruct(half, 1, +1))) << " "
              << norm2(Fermion(chiralProjectMinus(one))) << std::endl;

  QDP_finalize();
  return 0;
}
