// PETE's names for operators and functions, and the types of their results: for programs that compute a type from them.
//
//   typename BinaryReturn<C1, C2, FnLocalInnerProduct>::Type_t     // what localInnerProduct of these is kept in
//   FnLocalInnerProduct op;  op(a, b)                              // localInnerProduct(a, b)
//
// PETE's trees (UnaryNode, BinaryNode, forEach, ...) are not here: expressions are run-time nodes (qdp/expr/node.hpp).
#pragma once

#include <type_traits>
#include <utility>

#include "qdp/types/builtin.hpp"
#include "qdp/types/reductions.hpp"
#include "qdp/types/seed.hpp"
#include "qdp/types/shift.hpp"

namespace QDP {

namespace detail {
template <class X> struct kept_in {
  using type = X;
};
template <class T, class C> struct kept_in<QDPExpr<T, C>> {
  using type = C;
};
template <class Op, class... A> using result_of =
    typename kept_in<std::remove_cvref_t<std::invoke_result_t<const Op&, const A&...>>>::type;
}  // namespace detail

/// Type_t: what the result of an operator is kept in, an outer type, a primitive or a number, as its operands are.
template <class A, class Op> struct UnaryReturn {
  using Type_t = detail::result_of<Op, A>;
};
template <class A, class B, class Op> struct BinaryReturn {
  using Type_t = detail::result_of<Op, A, B>;
};
template <class A, class B, class C, class Op> struct TrinaryReturn {
  using Type_t = detail::result_of<Op, A, B, C>;
};

#define QDP_UNARY_TAG(Name, call)                                                                                      \
  struct Name {                                                                                                        \
    template <class A> auto operator()(const A& a) const { return call; }                                              \
  };
#define QDP_BINARY_TAG(Name, call)                                                                                     \
  struct Name {                                                                                                        \
    template <class A, class B> auto operator()(const A& a, const B& b) const { return call; }                         \
  };
#define QDP_TERNARY_TAG(Name, call)                                                                                    \
  struct Name {                                                                                                        \
    template <class A, class B, class C> auto operator()(const A& a, const B& b, const C& c) const { return call; }    \
  };
/// The left operand is changed, and its type is the result.
#define QDP_ASSIGN_TAG(Name, symbol)                                                                                   \
  struct Name {                                                                                                        \
    template <class A, class B> A& operator()(A& a, const B& b) const { return a symbol b, a; }                        \
    template <class A, class B> A operator()(const A& a, const B& b) const {                                           \
      A r(a);                                                                                                          \
      r symbol b;                                                                                                      \
      return r;                                                                                                        \
    }                                                                                                                  \
  };

QDP_UNARY_TAG(OpIdentity, A(a))
QDP_UNARY_TAG(OpUnaryPlus, +a)
QDP_UNARY_TAG(OpUnaryMinus, -a)
QDP_UNARY_TAG(OpBitwiseNot, ~a)
QDP_UNARY_TAG(OpNot, !a)
template <class T> struct OpCast {
  template <class A> T operator()(const A& a) const { return T(a); }
};

QDP_BINARY_TAG(OpAdd, a + b)
QDP_BINARY_TAG(OpSubtract, a - b)
QDP_BINARY_TAG(OpMultiply, a* b)
QDP_BINARY_TAG(OpDivide, a / b)
QDP_BINARY_TAG(OpMod, a % b)
QDP_BINARY_TAG(OpBitwiseAnd, a& b)
QDP_BINARY_TAG(OpBitwiseOr, a | b)
QDP_BINARY_TAG(OpBitwiseXor, a ^ b)
QDP_BINARY_TAG(OpLeftShift, a << b)
QDP_BINARY_TAG(OpRightShift, a >> b)
QDP_BINARY_TAG(OpLT, a < b)
QDP_BINARY_TAG(OpLE, a <= b)
QDP_BINARY_TAG(OpGT, a > b)
QDP_BINARY_TAG(OpGE, a >= b)
QDP_BINARY_TAG(OpEQ, a == b)
QDP_BINARY_TAG(OpNE, a != b)
QDP_BINARY_TAG(OpAnd, a&& b)
QDP_BINARY_TAG(OpOr, a || b)
QDP_BINARY_TAG(OpAdjMultiply, adj(a) * b)
QDP_BINARY_TAG(OpMultiplyAdj, a* adj(b))
QDP_BINARY_TAG(OpAdjMultiplyAdj, adj(a) * adj(b))

QDP_ASSIGN_TAG(OpAssign, =)
QDP_ASSIGN_TAG(OpAddAssign, +=)
QDP_ASSIGN_TAG(OpSubtractAssign, -=)
QDP_ASSIGN_TAG(OpMultiplyAssign, *=)
QDP_ASSIGN_TAG(OpDivideAssign, /=)
QDP_ASSIGN_TAG(OpModAssign, %=)
QDP_ASSIGN_TAG(OpBitwiseAndAssign, &=)
QDP_ASSIGN_TAG(OpBitwiseOrAssign, |=)
QDP_ASSIGN_TAG(OpBitwiseXorAssign, ^=)
QDP_ASSIGN_TAG(OpLeftShiftAssign, <<=)
QDP_ASSIGN_TAG(OpRightShiftAssign, >>=)

// A gamma matrix times a value; the matrix is an operand.
QDP_BINARY_TAG(OpGammaConstMultiply, a* b)
QDP_BINARY_TAG(OpGammaTypeMultiply, a* b)
QDP_BINARY_TAG(OpGammaConstDPMultiply, a* b)
QDP_BINARY_TAG(OpGammaTypeDPMultiply, a* b)
QDP_BINARY_TAG(OpMultiplyGammaConst, a* b)
QDP_BINARY_TAG(OpMultiplyGammaType, a* b)
QDP_BINARY_TAG(OpMultiplyGammaConstDP, a* b)
QDP_BINARY_TAG(OpMultiplyGammaTypeDP, a* b)

QDP_UNARY_TAG(FnAdjoint, adj(a))
QDP_UNARY_TAG(FnConjugate, conj(a))
QDP_UNARY_TAG(FnTranspose, transpose(a))
QDP_UNARY_TAG(FnTransposeColor, transposeColor(a))
QDP_UNARY_TAG(FnTransposeSpin, transposeSpin(a))
QDP_UNARY_TAG(FnTrace, trace(a))
QDP_UNARY_TAG(FnRealTrace, realTrace(a))
QDP_UNARY_TAG(FnImagTrace, imagTrace(a))
QDP_UNARY_TAG(FnTraceColor, traceColor(a))
QDP_UNARY_TAG(FnTraceSpin, traceSpin(a))
QDP_UNARY_TAG(FnReal, real(a))
QDP_UNARY_TAG(FnImag, imag(a))
QDP_UNARY_TAG(FnTimesI, timesI(a))
QDP_UNARY_TAG(FnTimesMinusI, timesMinusI(a))
QDP_UNARY_TAG(FnLocalNorm2, localNorm2(a))
QDP_UNARY_TAG(FnFabs, fabs(a))
QDP_UNARY_TAG(FnCeil, ceil(a))
QDP_UNARY_TAG(FnFloor, floor(a))
QDP_UNARY_TAG(FnSqrt, sqrt(a))
QDP_UNARY_TAG(FnSin, sin(a))
QDP_UNARY_TAG(FnCos, cos(a))
QDP_UNARY_TAG(FnTan, tan(a))
QDP_UNARY_TAG(FnArcSin, asin(a))
QDP_UNARY_TAG(FnArcCos, acos(a))
QDP_UNARY_TAG(FnArcTan, atan(a))
QDP_UNARY_TAG(FnHypSin, sinh(a))
QDP_UNARY_TAG(FnHypCos, cosh(a))
QDP_UNARY_TAG(FnHypTan, tanh(a))
QDP_UNARY_TAG(FnExp, exp(a))
QDP_UNARY_TAG(FnLog, log(a))
QDP_UNARY_TAG(FnLog10, log10(a))
QDP_UNARY_TAG(FnChiralProjectPlus, chiralProjectPlus(a))
QDP_UNARY_TAG(FnChiralProjectMinus, chiralProjectMinus(a))
QDP_UNARY_TAG(FnSpinProjectDir0Plus, spinProjectDir0Plus(a))
QDP_UNARY_TAG(FnSpinProjectDir1Plus, spinProjectDir1Plus(a))
QDP_UNARY_TAG(FnSpinProjectDir2Plus, spinProjectDir2Plus(a))
QDP_UNARY_TAG(FnSpinProjectDir3Plus, spinProjectDir3Plus(a))
QDP_UNARY_TAG(FnSpinProjectDir0Minus, spinProjectDir0Minus(a))
QDP_UNARY_TAG(FnSpinProjectDir1Minus, spinProjectDir1Minus(a))
QDP_UNARY_TAG(FnSpinProjectDir2Minus, spinProjectDir2Minus(a))
QDP_UNARY_TAG(FnSpinProjectDir3Minus, spinProjectDir3Minus(a))
QDP_UNARY_TAG(FnSpinReconstructDir0Plus, spinReconstructDir0Plus(a))
QDP_UNARY_TAG(FnSpinReconstructDir1Plus, spinReconstructDir1Plus(a))
QDP_UNARY_TAG(FnSpinReconstructDir2Plus, spinReconstructDir2Plus(a))
QDP_UNARY_TAG(FnSpinReconstructDir3Plus, spinReconstructDir3Plus(a))
QDP_UNARY_TAG(FnSpinReconstructDir0Minus, spinReconstructDir0Minus(a))
QDP_UNARY_TAG(FnSpinReconstructDir1Minus, spinReconstructDir1Minus(a))
QDP_UNARY_TAG(FnSpinReconstructDir2Minus, spinReconstructDir2Minus(a))
QDP_UNARY_TAG(FnSpinReconstructDir3Minus, spinReconstructDir3Minus(a))

QDP_BINARY_TAG(FnCmplx, cmplx(a, b))
QDP_BINARY_TAG(FnOuterProduct, outerProduct(a, b))
QDP_BINARY_TAG(FnColorVectorContract, colorVectorContract(a, b))
QDP_BINARY_TAG(FnColorCrossProduct, colorCrossProduct(a, b))
QDP_BINARY_TAG(FnLocalInnerProduct, localInnerProduct(a, b))
QDP_BINARY_TAG(FnLocalInnerProductReal, localInnerProductReal(a, b))
QDP_BINARY_TAG(FnLocalColorInnerProduct, localColorInnerProduct(a, b))
QDP_BINARY_TAG(FnPow, pow(a, b))
QDP_BINARY_TAG(FnArcTan2, atan2(a, b))
QDP_BINARY_TAG(FnFmod, fmod(a, b))
QDP_BINARY_TAG(FnLdexp, ldexp(a, b))
QDP_BINARY_TAG(FnQuarkContract13, quarkContract13(a, b))
QDP_BINARY_TAG(FnQuarkContract14, quarkContract14(a, b))
QDP_BINARY_TAG(FnQuarkContract23, quarkContract23(a, b))
QDP_BINARY_TAG(FnQuarkContract24, quarkContract24(a, b))
QDP_BINARY_TAG(FnQuarkContract12, quarkContract12(a, b))
QDP_BINARY_TAG(FnQuarkContract34, quarkContract34(a, b))
QDP_BINARY_TAG(FnTraceMultiply, trace(a* b))
QDP_BINARY_TAG(FnTraceColorMultiply, traceColor(a* b))
QDP_BINARY_TAG(FnTraceSpinMultiply, traceSpin(a* b))
QDP_BINARY_TAG(FnTraceSpinOuterProduct, traceSpin(outerProduct(a, b)))
QDP_BINARY_TAG(FnTraceSpinQuarkContract13, traceSpin(quarkContract13(a, b)))

QDP_TERNARY_TAG(FnWhere, where(a, b, c))
QDP_TERNARY_TAG(FnColorContract, colorContract(a, b, c))

// What QDP++ computes for adj(a) * b and the like without the step between, as functions.
template <class A, class B> requires detail::Pair<A, B> auto adjMultiply(const A& a, const B& b) { return adj(a) * b; }
template <class A, class B> requires detail::Pair<A, B> auto multiplyAdj(const A& a, const B& b) { return a * adj(b); }
template <class A, class B> requires detail::Pair<A, B> auto adjMultiplyAdj(const A& a, const B& b) {
  return adj(a) * adj(b);
}
template <class A, class B> requires detail::Pair<A, B> auto traceMultiply(const A& a, const B& b) {
  return trace(a * b);
}
template <class A, class B> requires detail::Pair<A, B> auto traceColorMultiply(const A& a, const B& b) {
  return traceColor(a * b);
}
template <class A, class B> requires detail::Pair<A, B> auto traceSpinMultiply(const A& a, const B& b) {
  return traceSpin(a * b);
}
/// x as a value of the type of the first argument.
template <class T, class X> requires std::is_constructible_v<T, const X&> T peteCast(const T&, const X& x) {
  return T(x);
}

// Over the sites. Of a primitive: the value itself in the words of a sum.
namespace detail {
template <Primitive T> site_type<sum_shape<T>> widened(const T& x) {
  return host_result<Op::convert, site_type<sum_shape<T>>>(0, x);
}
template <class A, class S> decltype(auto) or_sum(const A& a, S of_outer) {
  if constexpr (Primitive<A>)
    return widened(a);
  else
    return of_outer(a);
}
}  // namespace detail
QDP_UNARY_TAG(FnSum, detail::or_sum(a, [](const auto& x) { return sum(x); }))
/// One sum per subset of a set.
QDP_BINARY_TAG(FnSumMulti, sumMulti(a, b))
template <class A> struct UnaryReturn<A, FnSumMulti> {
  using Type_t = multi1d<typename UnaryReturn<A, FnSum>::Type_t>;
};
QDP_UNARY_TAG(FnSeedToFloat, seedToFloat(a))
QDP_UNARY_TAG(FnGlobalMax, globalMax(a))
QDP_UNARY_TAG(FnGlobalMin, globalMin(a))
QDP_UNARY_TAG(FnNorm2, detail::or_sum(localNorm2(a), [](const auto& x) { return sum(x); }))
QDP_BINARY_TAG(FnInnerProduct, detail::or_sum(localInnerProduct(a, b), [](const auto& x) { return sum(x); }))
QDP_BINARY_TAG(FnInnerProductReal, detail::or_sum(localInnerProductReal(a, b), [](const auto& x) { return sum(x); }))
QDP_UNARY_TAG(FnIsNan, isnan(a))
QDP_UNARY_TAG(FnIsInf, isinf(a))
QDP_UNARY_TAG(FnIsFinite, isfinite(a))
QDP_UNARY_TAG(FnIsNormal, isnormal(a))

#undef QDP_UNARY_TAG
#undef QDP_BINARY_TAG
#undef QDP_TERNARY_TAG
#undef QDP_ASSIGN_TAG

}  // namespace QDP
