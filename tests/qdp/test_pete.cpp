// PETE's names for operators and functions: each computes what the operator or function does, and the traits name the type of it.
#include "operations.hpp"

#include <type_traits>

using namespace QDP;
using tests::create_lattice;
using tests::random_lattice;
using D = QDP::detail::Sites<double>;

namespace {

bool same_value(bool a, bool b) { return a == b; }
template <class T> bool same_value(const OScalar<T>& a, const OScalar<T>& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
/// Equal at every site, bit for bit.
template <class T> bool same_value(const OLattice<T>& a, const OLattice<T>& b) {
  return std::memcmp(a.getF(), b.getF(), sizeof(T) * static_cast<std::size_t>(Layout::sitesOnNode())) == 0;
}

/// The tag gives `value`, kept in what the trait says.
template <class Tag, class X, class A> bool stands_for(const X& value, const A& a) {
  typename UnaryReturn<A, Tag>::Type_t kept = Tag()(a);
  const decltype(kept) expected = value;
  return same_value(kept, expected);
}
template <class Tag, class X, class A, class B> bool stands_for(const X& value, const A& a, const B& b) {
  typename BinaryReturn<A, B, Tag>::Type_t kept = Tag()(a, b);
  const decltype(kept) expected = value;
  return same_value(kept, expected);
}

}  // namespace

TEST_CASE("PETE's traits name the type that the operator's result is kept in") {
  using Lf = LatticeFermionF;
  static_assert(std::is_same_v<UnaryReturn<Lf, OpUnaryMinus>::Type_t, Lf>);
  static_assert(std::is_same_v<UnaryReturn<LatticeColorMatrixF, FnTrace>::Type_t, LatticeComplexF>);
  static_assert(std::is_same_v<UnaryReturn<Lf, FnLocalNorm2>::Type_t, LatticeRealD>);
  static_assert(std::is_same_v<UnaryReturn<Lf, FnSum>::Type_t, DFermion>);
  static_assert(std::is_same_v<UnaryReturn<LatticeInteger, FnSum>::Type_t, Integer>);
  static_assert(std::is_same_v<UnaryReturn<Lf, FnNorm2>::Type_t, Double>);
  static_assert(std::is_same_v<UnaryReturn<Lf::Site, FnSum>::Type_t, DFermion::Site>);
  static_assert(std::is_same_v<UnaryReturn<float, FnSum>::Type_t, double>);
  static_assert(std::is_same_v<UnaryReturn<LatticeRealF, FnGlobalMax>::Type_t, RealF>);
  static_assert(
      std::is_same_v<BinaryReturn<LatticeColorMatrixF, LatticeFermionD, OpMultiply>::Type_t, LatticeFermionD>);
  static_assert(std::is_same_v<BinaryReturn<Real, LatticeReal, OpLT>::Type_t, LatticeBoolean>);
  static_assert(std::is_same_v<BinaryReturn<RealF, RealF, OpEQ>::Type_t, Boolean>);
  static_assert(std::is_same_v<BinaryReturn<Lf, Lf, FnLocalInnerProduct>::Type_t, LatticeDComplex>);
  static_assert(std::is_same_v<BinaryReturn<Lf, Lf, FnInnerProduct>::Type_t, DComplex>);
  static_assert(std::is_same_v<BinaryReturn<Lf::Site, Lf::Site, FnInnerProduct>::Type_t, DComplex::Site>);
  static_assert(
      std::is_same_v<BinaryReturn<LatticeColorVector, LatticeColorVector, FnOuterProduct>::Type_t, LatticeColorMatrix>);
  static_assert(std::is_same_v<BinaryReturn<Gamma, LatticeFermion, OpGammaTypeMultiply>::Type_t, LatticeFermion>);
  static_assert(std::is_same_v<BinaryReturn<LatticeReal, float, OpMultiply>::Type_t, LatticeReal>);
  static_assert(
      std::is_same_v<BinaryReturn<LatticeColorMatrix, LatticeColorMatrix, OpAddAssign>::Type_t, LatticeColorMatrix>);
  static_assert(std::is_same_v<TrinaryReturn<LatticeBoolean, Lf, Lf, FnWhere>::Type_t, Lf>);
  static_assert(std::is_same_v<UnaryReturn<QDPExpr<Lf::Site, Lf>, FnAdjoint>::Type_t, Lf>);
  static_assert(std::is_same_v<UnaryReturn<Real, OpCast<RealF>>::Type_t, RealF>);
  static_assert(std::is_same_v<UnaryReturn<Lf, FnSumMulti>::Type_t, multi1d<DFermion>>);
}

TEST_CASE("PETE's tags compute") {
  create_lattice({4, 4, 4, 8});
  const auto u = random_lattice<D::ColorMatrix>(), w = random_lattice<D::ColorMatrix>();
  auto none = [](const auto& difference) { return toDouble(norm2(difference)); };
  CHECK(none(LatticeColorMatrixD(OpMultiply()(u, w)) - u * w) == 0);
  CHECK(none(LatticeColorMatrixD(OpAdjMultiply()(u, w)) - adj(u) * w) == 0);
  CHECK(none(LatticeColorMatrixD(adjMultiply(u, w)) - adj(u) * w) == 0);
  CHECK(none(LatticeColorMatrixD(multiplyAdj(u, w)) - u * adj(w)) == 0);
  CHECK(none(LatticeColorMatrixD(adjMultiplyAdj(u, w)) - adj(u) * adj(w)) == 0);
  CHECK(none(LatticeComplexD(traceMultiply(u, w)) - trace(u * w)) == 0);
  CHECK(none(LatticeComplexD(FnTraceMultiply()(u, w)) - trace(u * w)) == 0);
  CHECK(toDouble(FnNorm2()(u)) == toDouble(norm2(u)));
  CHECK(toDouble(real(FnInnerProduct()(u, w))) == toDouble(real(innerProduct(u, w))));
  LatticeColorMatrixD x = u;
  OpAddAssign()(x, w);
  CHECK(none(x - (u + w)) == 0);
  double y = 2;
  CHECK(&OpMultiplyAssign()(y, 3) == &y);
  CHECK(y == 6);
  CHECK(OpMod()(7, 4) == 3);
  const auto site = FnLocalInnerProduct()(u.elem(3), w.elem(3));
  CHECK(toDouble(real(site)) == doctest::Approx(toDouble(real(localInnerProduct(getSite(u, 3), getSite(w, 3))))));
  CHECK(toFloat(peteCast(RealF(), RealD(0.1))) == 0.1f);
}

TEST_CASE("each tag of one operand is its function") {
  create_lattice({4, 4, 4, 8});
  const auto r = random_lattice<D::Real>(tests::Range::positive);
  const auto u = random_lattice<D::ColorMatrix>();
  const auto p = random_lattice<D::Propagator>();
  const auto f = random_lattice<D::Fermion>();
  const auto h = random_lattice<D::HalfFermion>();
  const LatticeRealD small = 0.5 * r;
  const LatticeInteger n = Layout::latticeCoordinate(0);
  const LatticeBoolean b = n > 1;
#define TAG(Tag, function, x) CHECK_MESSAGE(stands_for<Tag>(function(x), x), #Tag)
  TAG(OpIdentity, , r);
  TAG(OpUnaryPlus, +, u);
  TAG(OpUnaryMinus, -, u);
  TAG(OpBitwiseNot, ~, n);
  TAG(OpNot, !, b);
  TAG(FnAdjoint, adj, p);
  TAG(FnConjugate, conj, p);
  TAG(FnTranspose, transpose, p);
  TAG(FnTransposeColor, transposeColor, p);
  TAG(FnTransposeSpin, transposeSpin, p);
  TAG(FnTrace, trace, p);
  TAG(FnRealTrace, realTrace, p);
  TAG(FnImagTrace, imagTrace, p);
  TAG(FnTraceColor, traceColor, p);
  TAG(FnTraceSpin, traceSpin, p);
  TAG(FnReal, real, u);
  TAG(FnImag, imag, u);
  TAG(FnTimesI, timesI, f);
  TAG(FnTimesMinusI, timesMinusI, f);
  TAG(FnLocalNorm2, localNorm2, f);
  TAG(FnFabs, fabs, r);
  TAG(FnCeil, ceil, r);
  TAG(FnFloor, floor, r);
  TAG(FnSqrt, sqrt, r);
  TAG(FnSin, sin, r);
  TAG(FnCos, cos, r);
  TAG(FnTan, tan, r);
  TAG(FnArcSin, asin, small);
  TAG(FnArcCos, acos, small);
  TAG(FnArcTan, atan, r);
  TAG(FnHypSin, sinh, r);
  TAG(FnHypCos, cosh, r);
  TAG(FnHypTan, tanh, r);
  TAG(FnExp, exp, r);
  TAG(FnLog, log, r);
  TAG(FnLog10, log10, r);
  TAG(FnChiralProjectPlus, chiralProjectPlus, f);
  TAG(FnChiralProjectMinus, chiralProjectMinus, f);
  TAG(FnSpinProjectDir0Plus, spinProjectDir0Plus, f);
  TAG(FnSpinProjectDir0Minus, spinProjectDir0Minus, f);
  TAG(FnSpinProjectDir1Plus, spinProjectDir1Plus, f);
  TAG(FnSpinProjectDir1Minus, spinProjectDir1Minus, f);
  TAG(FnSpinProjectDir2Plus, spinProjectDir2Plus, f);
  TAG(FnSpinProjectDir2Minus, spinProjectDir2Minus, f);
  TAG(FnSpinProjectDir3Plus, spinProjectDir3Plus, f);
  TAG(FnSpinProjectDir3Minus, spinProjectDir3Minus, f);
  TAG(FnSpinReconstructDir0Plus, spinReconstructDir0Plus, h);
  TAG(FnSpinReconstructDir0Minus, spinReconstructDir0Minus, h);
  TAG(FnSpinReconstructDir1Plus, spinReconstructDir1Plus, h);
  TAG(FnSpinReconstructDir1Minus, spinReconstructDir1Minus, h);
  TAG(FnSpinReconstructDir2Plus, spinReconstructDir2Plus, h);
  TAG(FnSpinReconstructDir2Minus, spinReconstructDir2Minus, h);
  TAG(FnSpinReconstructDir3Plus, spinReconstructDir3Plus, h);
  TAG(FnSpinReconstructDir3Minus, spinReconstructDir3Minus, h);
  TAG(FnSum, sum, f);
  TAG(FnNorm2, norm2, f);
  TAG(FnGlobalMax, globalMax, r);
  TAG(FnGlobalMin, globalMin, r);
  TAG(FnIsNan, isnan, r);
  TAG(FnIsInf, isinf, r);
  TAG(FnIsFinite, isfinite, r);
  TAG(FnIsNormal, isnormal, r);
#undef TAG
  Seed seed = zero;
  seed.elem().elem().elem(3).elem() = 512;
  CHECK(stands_for<FnSeedToFloat>(RealF(0.25), seed));
  const auto sums = FnSumMulti()(f, rb);
  CHECK(same_value(sums[1], sum(f, rb[1])));
}

TEST_CASE("each tag of two and three operands is its operator or function") {
  create_lattice({4, 4, 4, 8});
  const auto r = random_lattice<D::Real>(tests::Range::positive), s = random_lattice<D::Real>(tests::Range::positive);
  const auto u = random_lattice<D::ColorMatrix>(), w = random_lattice<D::ColorMatrix>();
  const auto p = random_lattice<D::Propagator>(), q = random_lattice<D::Propagator>();
  const auto f = random_lattice<D::Fermion>(), g = random_lattice<D::Fermion>();
  const LatticeInteger n = Layout::latticeCoordinate(0), m = Layout::latticeCoordinate(1) + 1;
  const LatticeBoolean a = n > 1, b = m > 1;
#define TAG(Tag, symbol, x, y) CHECK_MESSAGE(stands_for<Tag>(x symbol y, x, y), #Tag)
  TAG(OpAdd, +, u, w);
  TAG(OpSubtract, -, u, w);
  TAG(OpMultiply, *, u, w);
  TAG(OpDivide, /, u, r);
  TAG(OpMod, %, n, m);
  TAG(OpBitwiseAnd, &, n, m);
  TAG(OpBitwiseOr, |, n, m);
  TAG(OpBitwiseXor, ^, n, m);
  TAG(OpLeftShift, <<, n, m);
  TAG(OpRightShift, >>, n, m);
  TAG(OpLT, <, r, s);
  TAG(OpLE, <=, r, s);
  TAG(OpGT, >, r, s);
  TAG(OpGE, >=, r, s);
  TAG(OpEQ, ==, n, m);
  TAG(OpNE, !=, n, m);
  TAG(OpAnd, &&, a, b);
  TAG(OpOr, ||, a, b);
  TAG(OpGammaTypeMultiply, *, Gamma(5), f);
  TAG(OpGammaTypeDPMultiply, *, GammaDP(5), f);
  TAG(OpMultiplyGammaType, *, p, Gamma(3));
  TAG(OpMultiplyGammaTypeDP, *, p, GammaDP(3));
#undef TAG
  const GammaConst<4, 6> gamma;
  const GammaConstDP<4, 9> gamma_dp;
  CHECK(stands_for<OpGammaConstMultiply>(gamma * f, gamma, f));
  CHECK(stands_for<OpGammaConstDPMultiply>(gamma_dp * f, gamma_dp, f));
  CHECK(stands_for<OpMultiplyGammaConst>(p * gamma, p, gamma));
  CHECK(stands_for<OpMultiplyGammaConstDP>(p * gamma_dp, p, gamma_dp));
  CHECK(stands_for<OpAdjMultiply>(adj(u) * w, u, w));
  CHECK(stands_for<OpMultiplyAdj>(u * adj(w), u, w));
  CHECK(stands_for<OpAdjMultiplyAdj>(adj(u) * adj(w), u, w));
  CHECK(stands_for<FnTraceMultiply>(trace(p * q), p, q));
  CHECK(stands_for<FnTraceColorMultiply>(traceColor(p * q), p, q));
  CHECK(stands_for<FnTraceSpinMultiply>(traceSpin(p * q), p, q));
  CHECK(stands_for<FnTraceSpinOuterProduct>(traceSpin(outerProduct(f, g)), f, g));
#define TAG(Tag, function, x, y) CHECK_MESSAGE(stands_for<Tag>(function(x, y), x, y), #Tag)
  TAG(FnCmplx, cmplx, r, s);
  TAG(FnOuterProduct, outerProduct, f, g);
  TAG(FnLocalInnerProduct, localInnerProduct, f, g);
  TAG(FnLocalInnerProductReal, localInnerProductReal, f, g);
  TAG(FnLocalColorInnerProduct, localColorInnerProduct, f, g);
  TAG(FnPow, pow, r, s);
  TAG(FnArcTan2, atan2, r, s);
  TAG(FnFmod, fmod, r, s);
  TAG(FnLdexp, ldexp, r, n);
  TAG(FnInnerProduct, innerProduct, f, g);
  TAG(FnInnerProductReal, innerProductReal, f, g);
  {
    const auto v = random_lattice<D::ColorVector>(), x = random_lattice<D::ColorVector>();
    TAG(FnQuarkContract13, quarkContract13, p, q);

    TAG(FnQuarkContract14, quarkContract14, p, q);

    TAG(FnQuarkContract23, quarkContract23, p, q);

    TAG(FnQuarkContract24, quarkContract24, p, q);

    TAG(FnQuarkContract12, quarkContract12, p, q);
    TAG(FnQuarkContract34, quarkContract34, p, q);

    TAG(FnColorVectorContract, colorVectorContract, v, x);
    TAG(FnColorCrossProduct, colorCrossProduct, v, x);

    CHECK(stands_for<FnTraceSpinQuarkContract13>(traceSpin(quarkContract13(p, q)), p, q));
    LatticeComplexD c, contracted;
    c = FnColorContract()(u, w, u);
    contracted = colorContract(u, w, u);
    CHECK(same_value(c, contracted));
  }
#undef TAG
  LatticeFermionD chosen, expected;
  chosen = FnWhere()(a, f, g);
  expected = where(a, f, g);
  CHECK(same_value(chosen, expected));
}

TEST_CASE("tags of assignments change their left operand") {
  const int seven = 7;
#define TAG(Tag, symbol)                                                                                               \
  {                                                                                                                    \
    int x = seven, y = seven;                                                                                          \
    Tag()(x, 3);                                                                                                       \
    y symbol 3;                                                                                                        \
    CHECK_MESSAGE(x == y, #Tag);                                                                                       \
    CHECK(Tag()(seven, 3) == y);                                                                                       \
  }
  TAG(OpAssign, =)
  TAG(OpAddAssign, +=)
  TAG(OpSubtractAssign, -=)
  TAG(OpMultiplyAssign, *=)
  TAG(OpDivideAssign, /=)
  TAG(OpModAssign, %=)
  TAG(OpBitwiseAndAssign, &=)
  TAG(OpBitwiseOrAssign, |=)
  TAG(OpBitwiseXorAssign, ^=)
  TAG(OpLeftShiftAssign, <<=)
  TAG(OpRightShiftAssign, >>=)
#undef TAG
}
