// Types computed from types: words, precisions, results of operations, names for files; functions over any QDP type.
#include <typeinfo>

#include "qdp.h"
using namespace QDP;

namespace {

template <typename A, typename B>
struct Same {
  static const int value = 0;
};
template <typename A>
struct Same<A, A> {
  static const int value = 1;
};

// The inner product per site of whatever kind of vector.
template <typename T, typename C>
typename UnaryReturn<C, FnNorm2>::Type_t norm_per_site(const QDPType<T, C>& x) {
  typename UnaryReturn<C, FnNorm2>::Type_t n = norm2(x);
  n /= Double(Layout::vol());
  return n;
}

template <typename T>
struct Average {
  typedef typename UnaryReturn<OLattice<T>, FnSum>::Type_t Result;
  Result operator()(const OLattice<T>& x) const {
    Result s = sum(x);
    s *= Double(1) / Double(Layout::vol());
    return s;
  }
};

template <class T1, class C1, class T2, class C2>
typename BinaryReturn<C1, C2, FnInnerProduct>::Type_t overlap(const QDPType<T1, C1>& a, const QDPType<T2, C2>& b) {
  return innerProduct(a, b);
}

template <typename T>
void record(const char* name) {
  QDPIO::cout << name << ": " << QIOStringTraits<T>::tname << " "
              << QIOStringTraits<typename WordType<T>::Type_t>::tprec << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  QDPIO::cout << Same<WordType<LatticeFermion>::Type_t, REAL>::value
              << Same<WordType<LatticeInteger>::Type_t, int>::value
              << Same<WordType<LatticeFermionF>::Type_t, float>::value
              << Same<WordType<LatticeBoolean>::Type_t, bool>::value << std::endl;
  QDPIO::cout << Same<SinglePrecType<LatticeColorMatrixD>::Type_t, LatticeColorMatrixF>::value
              << Same<DoublePrecType<LatticeFermionF>::Type_t, LatticeFermionD>::value
              << Same<DoublePrecType<LatticeReal>::Type_t, LatticeRealD>::value
              << Same<SimpleScalar<float>::Type_t, RealF>::value << Same<SimpleScalar<int>::Type_t, Integer>::value
              << std::endl;
  QDPIO::cout << Same<UnaryReturn<LatticeColorMatrix, FnTrace>::Type_t, LatticeComplex>::value
              << Same<UnaryReturn<LatticeColorMatrix, FnSum>::Type_t, ColorMatrixD>::value
              << Same<UnaryReturn<LatticeFermionF, FnNorm2>::Type_t, Double>::value
              << Same<UnaryReturn<LatticeReal, FnSum>::Type_t, Double>::value
              << Same<UnaryReturn<LatticeInteger, FnSum>::Type_t, Integer>::value << std::endl;
  QDPIO::cout << Same<BinaryReturn<LatticeColorMatrix, LatticeFermion, OpMultiply>::Type_t, LatticeFermion>::value
              << Same<BinaryReturn<LatticeFermion, LatticeFermion, FnLocalInnerProduct>::Type_t, LatticeComplex>::value
              << Same<BinaryReturn<Real, LatticePropagator, OpMultiply>::Type_t, LatticePropagator>::value
              << Same<BinaryReturn<LatticeReal, LatticeReal, OpLT>::Type_t, LatticeBoolean>::value
              << Same<BinaryReturn<LatticeComplex, LatticeReal, OpAdd>::Type_t, LatticeComplex>::value << std::endl;
  QDPIO::cout << sizeof(Real) << sizeof(RealF) << sizeof(Complex) << " " << sizeof(ColorMatrix) << " "
              << sizeof(Fermion) << " " << sizeof(Propagator) << " " << sizeof(Seed) << " " << sizeof(REAL) << Nd << Nc
              << Ns << std::endl;

  LatticeFermion psi, chi;
  random(psi);
  random(chi);
  LatticeColorMatrix u;
  random(u);
  LatticeComplexF z;
  random(z);
  QDPIO::cout << norm_per_site(psi) << " " << norm_per_site(u) << " "
              << (std::fabs(toDouble(norm_per_site(z)) - 0.667) < 0.2) << std::endl;
  const ColorMatrixD mean = Average<LatticeColorMatrix::Subtype_t>()(u);
  QDPIO::cout << trace(mean) << " " << Average<LatticeReal::Subtype_t>()(LatticeReal(real(trace(u)))) << std::endl;
  QDPIO::cout << overlap(psi, chi) << " " << overlap(u, u) << std::endl;

  record<LatticeReal>("LatticeReal");
  record<LatticeRealF>("LatticeRealF");
  record<Complex>("Complex");
  record<LatticeInteger>("LatticeInteger");
  record<LatticeFermion>("LatticeFermion");

  QDP_finalize();
  return 0;
}
