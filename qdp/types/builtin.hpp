// The language's functions of built-in numbers, for templates that are used with them: a number is its own trace.
#pragma once

#include <type_traits>

#include "qdp/types/functions.hpp"

namespace QDP {

inline int toInt(int x) { return x; }
inline float toFloat(float x) { return x; }
inline double toDouble(double x) { return x; }
inline bool toBool(bool x) { return x; }
template <detail::Word W> W toWordType(W x) { return x; }
template <detail::Word W> W getSite(W x, int) { return x; }

template <detail::Word W> W conj(W x) { return x; }
template <detail::Word W> W transpose(W x) { return x; }
template <detail::Word W> W trace(W x) { return x; }
template <detail::Word W> W where(bool mask, W a, W b) { return mask ? a : b; }
template <detail::Word W> void zero_rep(W& x) { x = W{}; }
template <detail::Word W> void copymask(W& dest, bool mask, std::type_identity_t<W> src) {
  if (mask) dest = src;
}

namespace detail {
/// Integers stay what they are, other numbers become double.
template <Word W> using sum_word = std::conditional_t<std::is_integral_v<W>, W, double>;
}  // namespace detail
template <detail::Word W> detail::sum_word<W> sum(W x) { return x; }
/// Multiplied in the type of the numbers, as in QDP++.
template <detail::Word W> detail::sum_word<W> localNorm2(W x) { return x * x; }
template <detail::Word A, detail::Word B> auto localInnerProduct(A a, B b) -> detail::sum_word<decltype(a * b)> {
  return a * b;
}
template <detail::Word A, detail::Word B> auto localColorInnerProduct(A a, B b) -> detail::sum_word<decltype(a * b)> {
  return a * b;
}

}  // namespace QDP
