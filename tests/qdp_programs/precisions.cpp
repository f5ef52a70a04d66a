// Single and double precision side by side: conversions, sums that are double, mixed statements, a refined solution.
#include "qdp.h"
using namespace QDP;

namespace {

template <typename T>
const char* word() {
  return sizeof(typename WordType<T>::Type_t) == 4 ? "single" : "double";
}

template <typename Vector>
void apply(Vector& chi, const Vector& psi) {
  chi = typename WordType<Vector>::Type_t(10) * psi;
  for (int mu = 0; mu < Nd; ++mu) chi -= shift(psi, FORWARD, mu) + shift(psi, BACKWARD, mu);
}

template <typename Vector>
void invert(Vector& psi, const Vector& chi, double accuracy) {
  Vector r = chi, p = chi, ap;
  psi = zero;
  Double c = norm2(r);
  const Double first = c;
  for (int k = 0; k < 100 && toDouble(c) > accuracy * accuracy * toDouble(first); ++k) {
    apply(ap, p);
    const OScalar<PScalar<PScalar<RScalar<typename WordType<Vector>::Type_t>>>> a = Double(c / innerProductReal(p, ap));
    psi += a * p;
    r -= a * ap;
    const Double c_new = norm2(r);
    p = r + (c_new / c) * p;
    c = c_new;
  }
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[1] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  QDPIO::cout << word<LatticeFermion>() << " " << word<LatticeFermionF>() << " " << word<LatticeFermionD>() << " "
              << word<Real>() << " " << word<Double>() << " " << word<ComplexF>() << " "
              << word<DoublePrecType<LatticeColorMatrixF>::Type_t>() << " "
              << word<SinglePrecType<LatticeColorMatrix>::Type_t>() << std::endl;

  LatticeReal third;
  third = Real(1) / Real(3);
  LatticeRealF third_f = third;
  LatticeRealD wide = third_f;
  QDPIO::cout << sum(wide) << " " << sum(third) << " " << sum(third_f) << std::endl;
  QDPIO::cout << toDouble(RealF(0.1)) << " " << toDouble(RealD(0.1)) << " " << (toDouble(RealF(0.1)) == double(0.1f))
              << std::endl;
  const LatticeRealF tiny = RealF(1.0e-30f);
  const LatticeRealD square = tiny * tiny;  // single arithmetic: too small for a float
  QDPIO::cout << sum(square) << " " << sum(LatticeRealD(tiny) * LatticeRealD(tiny)) << " " << norm2(tiny) << std::endl;
  const LatticeRealF large = RealF(16777216.0f), sum_f = large + RealF(1);
  QDPIO::cout << sum(sum_f - large) << " " << sum(LatticeRealD(large) + RealF(1)) << std::endl;
  const LatticeRealF overflow = RealD(1e300);
  QDPIO::cout << isinf(overflow) << " " << isfinite(overflow) << isfinite(third) << std::endl;

  LatticeColorMatrixF u_f;
  random(u_f);
  LatticeColorMatrixD u_d = u_f;
  QDPIO::cout << norm2(LatticeColorMatrixF(u_d) - u_f) << " " << (norm2(u_d) == norm2(LatticeColorMatrixD(u_f)))
              << std::endl;
  LatticeFermionD psi_d;
  random(psi_d);
  const LatticeFermionF psi_f = psi_d;
  const LatticeFermionD mixed = u_f * psi_d;
  const LatticeFermionD from_f = u_f * psi_f;
  QDPIO::cout << norm2(mixed) << " " << (toDouble(norm2(from_f - mixed)) < 1e-11)
              << (toDouble(norm2(from_f - mixed)) > 1e-18) << std::endl;
  const ComplexD z = innerProduct(psi_d, psi_f);
  QDPIO::cout << (std::fabs(toDouble(imag(z))) < 1e-5) << std::endl;

  // A double-precision solution from single-precision solves.
  LatticeColorVectorD chi, psi = zero, residual;
  gaussian(chi);
  residual = chi;
  for (int outer = 0; outer < 4; ++outer) {
    LatticeColorVectorF correction;
    invert(correction, LatticeColorVectorF(residual), 1e-4);
    psi += correction;
    apply(residual, psi);
    residual = chi - residual;
    QDPIO::cout << "refinement " << outer << ": "
                << (toDouble(norm2(residual)) < 1e-7 * std::pow(1e-7, outer) * toDouble(norm2(chi))) << std::endl;
  }
  LatticeColorVectorD direct;
  invert(direct, chi, 1e-13);
  QDPIO::cout << (toDouble(norm2(LatticeColorVectorD(direct - psi))) < 1e-22 * toDouble(norm2(psi))) << " "
              << norm2(direct) << std::endl;

  QDP_finalize();
  return 0;
}
