// Arithmetic of plain host values, one real or complex number each, by the user's compiler: what loops over elements are made of. The
// bits are those of a kernel, which rounds each product and sum, and fuses in a complex product where it says so (lower.cpp, madd).
// What takes fused multiply-add, where the program is compiled without it, and all else is done by host_result().
#pragma once

#include <cmath>
#include <cstring>

#include "qdp/types/outer.hpp"

namespace QDP::detail {

#ifdef __FMA__
inline constexpr bool kFma = true;
#else
inline constexpr bool kFma = false;
#endif

/// A product as it is, whatever follows: compilers fuse it with a sum otherwise, if they are allowed to.
template <class W> [[gnu::always_inline]] inline W rounded(W x) {
#if defined(__x86_64__)
  if constexpr (std::is_floating_point_v<W>) asm("" : "+x"(x));
#endif
  return x;
}

/// One real number or truth value.
constexpr bool plain(Shape s) { return s.scalar_levels() && !s.complex; }
template <class T> const auto& plain_word(const T& site) {
  return *reinterpret_cast<const typename host_word<shape_of<T>.word>::type*>(&site);
}
/// One real or complex number.
constexpr bool plain_number(Shape s) { return s.scalar_levels() && s.word != Type::b1; }

template <class T> using word_of = typename host_word<shape_of<T>.word>::type;

template <class W> struct PlainComplex {
  W re, im;
};

/// The parts of a site of one number, in another word. Of a real one the imaginary part is not there.
template <class W, class T> PlainComplex<W> plain_parts(const T& site) {
  word_of<T> parts[2] = {};
  std::memcpy(parts, static_cast<const void*>(&site), shape_of<T>.bytes());
  return {static_cast<W>(parts[0]), static_cast<W>(parts[1])};
}

template <class R, class V> R plain_site(const V& value) {
  R r;
  static_assert(sizeof r == sizeof value);
  std::memcpy(static_cast<void*>(&r), &value, sizeof value);
  return r;
}

template <Op op, class W> auto plain_operation(W x, W y) {
  if constexpr (op == Op::add)
    return x + y;
  else if constexpr (op == Op::sub)
    return x - y;
  else if constexpr (op == Op::mul)
    return rounded(x * y);
  else if constexpr (op == Op::div)
    return x / y;
  else if constexpr (op == Op::lt)
    return x < y;
  else if constexpr (op == Op::le)
    return x <= y;
  else if constexpr (op == Op::gt)
    return x > y;
  else if constexpr (op == Op::ge)
    return x >= y;
  else if constexpr (op == Op::eq)
    return x == y;
  else
    return x != y;
}

template <Op op, class R, class A, class B> constexpr bool plain_real_binary =
    plain(shape_of<A>) && plain(shape_of<B>) && plain(shape_of<R>) && shape_of<A>.word != Type::b1 &&
    shape_of<B>.word != Type::b1 &&
    (op == Op::add || op == Op::sub || op == Op::mul || (op == Op::div && is_float(shape_of<R>.word)) || op == Op::lt ||
     op == Op::le || op == Op::gt || op == Op::ge || op == Op::eq || op == Op::ne);

template <Op op, class R, class A, class B> constexpr bool plain_complex_binary =
    plain_number(shape_of<A>) && plain_number(shape_of<B>) && plain_number(shape_of<R>) && shape_of<R>.complex &&
    is_float(shape_of<R>.word) &&
    (op == Op::add || op == Op::sub || (op == Op::mul && (kFma || !shape_of<A>.complex || !shape_of<B>.complex)) ||
     (op == Op::div && (kFma || !shape_of<B>.complex)));

template <Op op, class W, bool x_is_complex, bool y_is_complex>
PlainComplex<W> plain_complex_operation(PlainComplex<W> x, PlainComplex<W> y) {
  if constexpr (op == Op::div && !y_is_complex) {
    return {x.re / y.re, x.im / y.re};
  } else if constexpr (op == Op::div) {
    const auto n = plain_complex_operation<Op::mul, W, x_is_complex, true>(x, {y.re, -y.im});
    const W d = std::fma(y.re, y.re, rounded(y.im * y.im));
    return {n.re / d, n.im / d};
  } else if constexpr (op == Op::mul) {
    if constexpr (!x_is_complex)
      return {rounded(x.re * y.re), rounded(x.re * y.im)};
    else if constexpr (!y_is_complex)
      return {rounded(x.re * y.re), rounded(x.im * y.re)};
    else
      return {std::fma(-x.im, y.im, rounded(x.re * y.re)), std::fma(x.im, y.re, rounded(x.re * y.im))};
  } else {
    const W re = plain_operation<op>(x.re, y.re);
    if constexpr (!y_is_complex)
      return {re, x.im};
    else if constexpr (!x_is_complex)
      return {re, op == Op::sub ? -y.im : y.im};
    else
      return {re, plain_operation<op>(x.im, y.im)};
  }
}

/// A complex number, in a register.
template <class W> struct in_register {
  typedef W type __attribute__((vector_size(2 * sizeof(W))));
  typedef W stored __attribute__((vector_size(2 * sizeof(W)), aligned(alignof(W))));
};

// ---- component by component: sums of like values, real multiples ----------------------------------------------------

constexpr bool alike(Shape a, Shape b) { return is_float(a.word) && is_float(b.word) && a.with_word(b.word) == b; }

template <Op op, class R, class A, class B> constexpr bool sum_of_alike =
    (op == Op::add || op == Op::sub) && alike(shape_of<A>, shape_of<R>) && alike(shape_of<B>, shape_of<R>);
template <Op op, class R, class A, class B> constexpr bool real_multiple =
    op == Op::mul && plain(shape_of<A>) && is_float(shape_of<A>.word) && alike(shape_of<B>, shape_of<R>);

/// Component i of a site.
template <class W, class T> [[gnu::always_inline]] inline W component(const T& site, int i) {
  return static_cast<W>(reinterpret_cast<const word_of<T>*>(&site)[i]);
}

/// Components of sites that are computed without a loop, so that compilers keep them in registers from the beginning.
inline constexpr int kInRegisters = 32;
template <int n, class Do> [[gnu::always_inline]] inline void for_each_number(Do&& act) {
  [&]<int... i>(std::integer_sequence<int, i...>)
      __attribute__((always_inline)) { (act(i), ...); }(std::make_integer_sequence<int, n>{});
}

/// A site whose component i is compute(i).
template <class R, class Compute> [[gnu::always_inline]] inline R by_components(Compute compute) {
  R r;
  auto* components = reinterpret_cast<word_of<R>*>(&r);
  constexpr int n = shape_of<R>.components();
  if constexpr (kFma && n <= kInRegisters) {
    for_each_number<n>([&](int i) { components[i] = compute(i); });
  } else {
    for (int i = 0; i < n; ++i) components[i] = compute(i);
  }
  return r;
}

// ---- products of complex matrices and vectors ------------------------------------------------------------------------

#ifdef __FMA__

template <class V> [[gnu::always_inline]] inline V fused(V x, V y, V z) {
#ifdef __clang__
  return __builtin_elementwise_fma(x, y, z);
#else
  if constexpr (sizeof x == 16)
    return __builtin_ia32_vfmaddpd(x, y, z);
  else
    return V{std::fma(x[0], y[0], z[0]), std::fma(x[1], y[1], z[1])};
#endif
}

/// Terms of the whole product.
constexpr int work_of_product(Shape a, Shape b, Shape r) {
  return r.spin.size() * product_terms(a.spin, b.spin, 0).n * r.color.size() * product_terms(a.color, b.color, 0).n;
}
template <Op op, class R, class A, class B> constexpr bool small_product =
    op == Op::mul && shape_of<A>.complex && shape_of<B>.complex && !shape_of<R>.scalar_levels() &&
    is_float(shape_of<A>.word) && is_float(shape_of<B>.word) &&
    work_of_product(shape_of<A>, shape_of<B>, shape_of<R>) <= 64;

/// Term by term as Algebra::algebraic has it, for the two parts at once.
template <class R, class A, class B> [[gnu::always_inline]] inline R product(const A& a, const B& b) {
  constexpr Shape left = shape_of<A>, right = shape_of<B>, shape = shape_of<R>;
  using W = word_of<R>;
  using V = typename in_register<W>::type;
  constexpr int spins = shape.spin.size(), colors = shape.color.size();
  R r;
  auto* const to = reinterpret_cast<W*>(&r);
  // Not for_each_number: the loops go when it is late for the compiler to move the arithmetic to where the value is stored, behind the
  // check of the destination, with all operands waiting in memory.
#pragma GCC unroll 16
  for (int s = 0; s < spins; ++s) {
    const Terms ts = product_terms(left.spin, right.spin, s);
#pragma GCC unroll 16
    for (int c = 0; c < colors; ++c) {
      const Terms tc = product_terms(left.color, right.color, c);
      V sum{};
#pragma GCC unroll 4
      for (int i = 0; i < ts.n; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < tc.n; ++j) {
          const Terms::Numbers m = ts.pair(i), n = tc.pair(j);
          const int p = (m.left * left.color.size() + n.left) * 2, q = (m.right * right.color.size() + n.right) * 2;
          const W re = component<W>(a, p), im = component<W>(a, p + 1);
          const V y{component<W>(b, q), component<W>(b, q + 1)};
          const V first = V{re, re};
          sum = i == 0 && j == 0 ? first * y : fused(first, y, sum);
          sum = fused(V{-im, im}, V{y[1], y[0]}, sum);
        }
      const int at = (s * colors + c) * 2;
      to[at] = sum[0], to[at + 1] = sum[1];
    }
  }
  return r;
}

#else
template <Op op, class R, class A, class B> constexpr bool small_product = false;
#endif

template <Op op, class R, class A, class B> R site_binary(std::uint64_t attribute, const A& a, const B& b) {
  if constexpr (plain_real_binary<op, R, A, B>) {
    using W = typename host_word<promote(promote(shape_of<A>.word, shape_of<B>.word), Type::i32)>::type;
    return plain_site<R>(plain_operation<op>(static_cast<W>(plain_word(a)), static_cast<W>(plain_word(b))));
  } else if constexpr (plain_complex_binary<op, R, A, B>) {
    using W = word_of<R>;
    return plain_site<R>(
        plain_complex_operation<op, W, shape_of<A>.complex, shape_of<B>.complex>(plain_parts<W>(a), plain_parts<W>(b)));
  } else if constexpr (sum_of_alike<op, R, A, B>) {
    using W = word_of<R>;
    return by_components<R>([&](int i) { return plain_operation<op>(component<W>(a, i), component<W>(b, i)); });
  } else if constexpr (real_multiple<op, R, A, B>) {
    using W = word_of<R>;
    const W factor = component<W>(a, 0);
    return by_components<R>([&](int i) { return plain_operation<op>(factor, component<W>(b, i)); });
  } else if constexpr (real_multiple<op, R, B, A>) {
    using W = word_of<R>;
    const W factor = component<W>(b, 0);
    return by_components<R>([&](int i) { return plain_operation<op>(component<W>(a, i), factor); });
  } else if constexpr (small_product<op, R, A, B>) {
    return product<R>(a, b);
  } else {
    return host_result<op, R>(attribute, a, b);
  }
}

/// d op= x, component by component where d lies: a value beside it is not kept in registers when it is large.
template <Op op, class T, class X> constexpr bool in_place =
    sum_of_alike<op, T, T, X> && std::is_same_v<word_of<T>, word_of<X>>;
template <Op op, class T, class X> [[gnu::always_inline]] inline void apply_in_place(T& d, const X& x) {
  using W = word_of<T>;
  auto* const to = reinterpret_cast<W*>(&d);
  const auto* const from = reinterpret_cast<const W*>(&x);
  constexpr int n = shape_of<T>.components();
  if constexpr (n == 2) {  // one operation; compilers do not see that, since the parts of x may be those of d
    auto& sum = *reinterpret_cast<typename in_register<W>::stored*>(to);
    sum = plain_operation<op>(sum, *reinterpret_cast<const typename in_register<W>::stored*>(from));
    return;
  }
#ifndef __clang__
#pragma GCC ivdep  // sites are the same or apart
#endif
  for (int i = 0; i < n; ++i) to[i] = plain_operation<op>(to[i], from[i]);
}

template <Op op, class R, class A> constexpr bool plain_unary =
    plain_number(shape_of<A>) && plain_number(shape_of<R>) && is_float(shape_of<A>.word) &&
    shape_of<A>.word == shape_of<R>.word &&
    (op == Op::plus || op == Op::neg || op == Op::conj || op == Op::adj || op == Op::transpose || op == Op::real ||
     op == Op::imag || op == Op::times_i || op == Op::times_minus_i) &&
    (shape_of<A>.complex || op == Op::plus || op == Op::neg);

// ---- operations that move components and change their signs -----------------------------------------------------------

template <Op op, class R, class A> constexpr bool moves_components =
    is_float(shape_of<A>.word) && shape_of<A>.word == shape_of<R>.word &&
    (op == Op::plus || op == Op::neg || op == Op::conj || op == Op::adj || op == Op::transpose ||
     op == Op::transpose_color || op == Op::transpose_spin ||
     (shape_of<A>.complex && (op == Op::times_i || op == Op::times_minus_i)));

/// Component i of the result is component `from` of the operand, or its negative.
struct Move {
  int from;
  bool negative;
};
constexpr int transposed(Level l, int i) { return l.kind == Kind::matrix ? i % l.n * l.n + i / l.n : i; }
template <Op op> constexpr Move move_of(Shape s, int i) {
  constexpr bool both = op == Op::adj || op == Op::transpose;
  const int reals = s.reals(), colors = s.color.size();
  int part = i % reals, color = i / reals % colors, spin = i / reals / colors;
  bool negative = op == Op::neg || (part == 1 && (op == Op::conj || op == Op::adj));
  if constexpr (both || op == Op::transpose_color) color = transposed(s.color, color);
  if constexpr (both || op == Op::transpose_spin) spin = transposed(s.spin, spin);
  if constexpr (op == Op::times_i || op == Op::times_minus_i) {
    negative = (part == 0) == (op == Op::times_i);
    part = 1 - part;
  }
  return {(spin * colors + color) * reals + part, negative};
}

template <Op op, class R, class A> R site_unary(std::uint64_t attribute, const A& a) {
  if constexpr (plain_unary<op, R, A>) {
    using W = word_of<R>;
    const auto [re, im] = plain_parts<W>(a);
    if constexpr (!shape_of<A>.complex)
      return plain_site<R>(op == Op::neg ? -re : re);
    else if constexpr (op == Op::real || op == Op::imag)
      return plain_site<R>(op == Op::real ? re : im);
    else if constexpr (op == Op::plus || op == Op::transpose)
      return a;
    else if constexpr (op == Op::neg)
      return plain_site<R>(PlainComplex<W>{-re, -im});
    else if constexpr (op == Op::conj || op == Op::adj)
      return plain_site<R>(PlainComplex<W>{re, -im});
    else if constexpr (op == Op::times_i)
      return plain_site<R>(PlainComplex<W>{-im, re});
    else
      return plain_site<R>(PlainComplex<W>{im, -re});
  } else if constexpr (moves_components<op, R, A>) {
    static_assert(shape_of<R>.components() == shape_of<A>.components());
    using W = word_of<R>;
    return by_components<R>([&](int i) {
      const Move move = move_of<op>(shape_of<A>, i);
      const W x = component<W>(a, move.from);
      return move.negative ? -x : x;
    });
  } else {
    return host_result<op, R>(attribute, a);
  }
}

/// As a site of another type that it can be assigned to.
template <class T, class X> T site_converted(const X& x) {
  if constexpr (shape_of<T> == shape_of<X> && std::is_same_v<T, X>)
    return x;
  else if constexpr (plain_number(shape_of<T>) && plain_number(shape_of<X>) && is_float(shape_of<T>.word) &&
                     is_float(shape_of<X>.word) && shape_of<T>.complex == shape_of<X>.complex) {
    const auto parts = plain_parts<word_of<T>>(x);
    if constexpr (shape_of<T>.complex)
      return plain_site<T>(parts);
    else
      return plain_site<T>(parts.re);
  } else
    return host_result<Op::convert, T>(0, x);
}

}  // namespace QDP::detail
