// Operators and functions of the language. Each is a row here and in the operation table (qdp/expr/ops.hpp); the algebra
// itself is in qdp/expr/lower.cpp.
//
// With a lattice among the operands the result is an expression (QDPExpr); with scalars only it is computed at once.
// A built-in number takes the word type of the other operand (2.0 * LatticeFermionF stays single), as in QDP++.
#pragma once

#include <cmath>

#include "qdp/types/outer.hpp"
#include "qdp/types/plain.hpp"

namespace QDP {

namespace detail {

// ---- operands --------------------------------------------------------------------------------------------------------

constexpr Outer outermost(Outer a, Outer b) { return a > b ? a : b; }

/// A built-in number next to X, as a scalar of X's word.
template <class X> using word_beside = typename host_word<operand_shape<X>.word>::type;
template <class W, class X> constexpr Shape shape_beside =
    Shape{.word = operand_shape<X>.word, .depth = operand_shape<X>.depth};

template <class A, class B> constexpr Shape left_shape() {
  if constexpr (Lang<A>)
    return operand_shape<A>;
  else
    return shape_beside<A, B>;
}
/// At least one value of the language, the other one too or a built-in number.
template <class A, class B>
concept Pair = (Lang<A> && Lang<B>) || (Lang<A> && Number<B>) || (Number<A> && Lang<B>);

template <Op op, class A, class B> constexpr Shape pair_result() {
  if constexpr (Pair<A, B>)
    return result_shape(op, left_shape<A, B>(), left_shape<B, A>());
  else
    return kInvalid;
}
template <Op op, class A, class B>
concept Binary = Pair<A, B> && pair_result<op, A, B>().valid;
template <Op op, class A> constexpr Shape unary_result() {
  if constexpr (Lang<A>)
    return result_shape(op, operand_shape<A>);
  else
    return kInvalid;
}
template <Op op, class A>
concept Unary = Lang<A> && unary_result<op, A>().valid;

/// Scalars and primitives as their site values.
template <class X> const auto& site_value(const X& x) {
  if constexpr (ScalarLike<X>)
    return x.elem();
  else
    return x;
}
template <class A, class B> decltype(auto) promoted(const A& a) {
  if constexpr (Number<A>) {
    const auto w = static_cast<word_beside<B>>(a);
    site_type<shape_beside<A, B>> s;
    std::memcpy(static_cast<void*>(&s), &w, sizeof w);
    return s;
  } else {
    return (a);
  }
}
/// A as an operand of a node beside B: a built-in number as a scalar.
template <class A, class B> decltype(auto) beside(const A& a) {
  if constexpr (Number<A>)
    return word_scalar<word_beside<B>>(a);
  else
    return (a);
}

// ---- results ---------------------------------------------------------------------------------------------------------

template <Op op, class A> auto unary(const A& a, std::uint64_t attribute = 0) {
  constexpr Shape shape = unary_result<op, A>();
  using R = site_type<shape>;
  if constexpr (LatticeLike<A>)
    return QDPExpr<R, OLattice<R>>(operation(op, shape, attribute, operand_of(a)));
  else if constexpr (ScalarLike<A>)
    return OScalar<R>(site_unary<op, R>(attribute, a.elem()));
  else
    return site_unary<op, R>(attribute, a);
}

template <Op op, class A, class B> auto binary(const A& a, const B& b, std::uint64_t attribute = 0) {
  constexpr Shape shape = pair_result<op, A, B>();
  using R = site_type<shape>;
  constexpr Outer outer = outermost(outer_of<A>, outer_of<B>);
  if constexpr (outer == Outer::lattice)
    return QDPExpr<R, OLattice<R>>(
        operation(op, shape, attribute, operand_of(beside<A, B>(a)), operand_of(beside<B, A>(b))));
  else if constexpr (outer == Outer::scalar)
    return OScalar<R>(site_binary<op, R>(attribute, site_value(promoted<A, B>(a)), site_value(promoted<B, A>(b))));
  else
    return site_binary<op, R>(attribute, promoted<A, B>(a), promoted<B, A>(b));
}

template <Op op, class A, class B, class C> auto ternary(const A& a, const B& b, const C& c,
                                                         std::uint64_t attribute = 0) {
  constexpr Shape shape = result_shape(op, operand_shape<A>, operand_shape<B>, operand_shape<C>);
  using R = site_type<shape>;
  constexpr Outer outer = outermost(outer_of<A>, outermost(outer_of<B>, outer_of<C>));
  if constexpr (outer == Outer::lattice)
    return QDPExpr<R, OLattice<R>>(operation(op, shape, attribute, operand_of(a), operand_of(b), operand_of(c)));
  else if constexpr (outer == Outer::scalar)
    return OScalar<R>(host_result<op, R>(attribute, site_value(a), site_value(b), site_value(c)));
  else
    return host_result<op, R>(attribute, a, b, c);
}

}  // namespace detail

// ---- operators -------------------------------------------------------------------------------------------------------

#define QDP_BINARY(function, op)                                                                                       \
  template <class A, class B> requires detail::Binary<detail::Op::op, A, B> auto function(const A& a, const B& b) {    \
    return detail::binary<detail::Op::op>(a, b);                                                                       \
  }
#define QDP_UNARY(function, op)                                                                                        \
  template <class A> requires detail::Unary<detail::Op::op, A> auto function(const A& a) {                             \
    return detail::unary<detail::Op::op>(a);                                                                           \
  }

QDP_BINARY(operator+, add)
QDP_BINARY(operator-, sub)
QDP_BINARY(operator*, mul)
#ifdef __FMA__
namespace detail {
template <class A, class B> using product_site = site_type<pair_result<Op::mul, A, B>()>;
template <class A, class B>
concept SmallProduct =
    Primitive<A> && Primitive<B> && Binary<Op::mul, A, B> && small_product<Op::mul, product_site<A, B>, A, B>;
}  // namespace detail
/// Of elements, in place: values go from registers to where they are needed.
template <class A, class B> requires detail::SmallProduct<A, B>
[[gnu::always_inline]] inline auto operator*(const A& a, const B& b) {
  return detail::product<detail::product_site<A, B>>(a, b);
}
#endif
QDP_BINARY(operator/, div)
QDP_BINARY(operator%, mod)
QDP_BINARY(operator&, bit_and)
QDP_BINARY(operator|, bit_or)
QDP_BINARY(operator^, bit_xor)
QDP_BINARY(operator<<, shl)
QDP_BINARY(operator>>, shr)
QDP_BINARY(operator<, lt)
QDP_BINARY(operator<=, le)
QDP_BINARY(operator>, gt)
QDP_BINARY(operator>=, ge)
QDP_BINARY(operator==, eq)
QDP_BINARY(operator!=, ne)
QDP_BINARY(operator&&, logical_and)
QDP_BINARY(operator||, logical_or)
QDP_UNARY(operator+, plus)
QDP_UNARY(operator-, neg)
QDP_UNARY(operator!, logical_not)
QDP_UNARY(operator~, bit_not)

namespace detail {
/// dest op= x at the sites of a domain, or of a scalar.
template <Op op, class T, class X>
concept Compound = Binary<op, OScalar<T>, X> && assignable(shape_of<T>, pair_result<op, OScalar<T>, X>());
}  // namespace detail

#define QDP_COMPOUND(symbol, op)                                                                                       \
  template <class T, class X> requires detail::Compound<detail::Op::op, T, X>                                          \
  OLattice<T>& operator symbol(OLattice<T>& d, const X & x) {                                                          \
    constexpr detail::Shape shape = detail::pair_result<detail::Op::op, OScalar<T>, X>();                              \
    d.owner().combine(detail::shape_of<T>, detail::Op::op, shape, 0,                                                   \
                      detail::operand_of(detail::beside<X, OScalar<T>>(x)));                                           \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <class T, class X> requires detail::Compound<detail::Op::op, T, X>                                          \
  const OSubLattice<T>& operator symbol(const OSubLattice<T>& d, const X & x) {                                        \
    constexpr detail::Shape shape = detail::pair_result<detail::Op::op, OScalar<T>, X>();                              \
    d.part().combine(detail::shape_of<T>, detail::Op::op, shape, 0,                                                    \
                     detail::operand_of(detail::beside<X, OScalar<T>>(x)));                                            \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <class T, class X> requires(detail::Compound<detail::Op::op, T, X> && !detail::LatticeLike<X>)              \
  OScalar<T>& operator symbol(OScalar<T>& d, const X & x) {                                                            \
    d = detail::binary<detail::Op::op>(d, x);                                                                          \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <class T, class X> requires(detail::Primitive<T> && (detail::Primitive<X> || detail::Number<X>) &&          \
                                       detail::Binary<detail::Op::op, T, X>) T& operator symbol(T & d, const X & x) {  \
    if constexpr (detail::in_place<detail::Op::op, T, X>)                                                              \
      detail::apply_in_place<detail::Op::op>(d, x);                                                                    \
    else                                                                                                               \
      d = detail::site_converted<T>(detail::binary<detail::Op::op>(d, x));                                             \
    return d;                                                                                                          \
  }

QDP_COMPOUND(+=, add)
QDP_COMPOUND(-=, sub)
QDP_COMPOUND(*=, mul)
QDP_COMPOUND(/=, div)
QDP_COMPOUND(%=, mod)
QDP_COMPOUND(&=, bit_and)
QDP_COMPOUND(|=, bit_or)
QDP_COMPOUND(^=, bit_xor)
QDP_COMPOUND(<<=, shl)
QDP_COMPOUND(>>=, shr)

// ---- functions -------------------------------------------------------------------------------------------------------

QDP_UNARY(adj, adj)
QDP_UNARY(conj, conj)
QDP_UNARY(transpose, transpose)
QDP_UNARY(transposeColor, transpose_color)
QDP_UNARY(transposeSpin, transpose_spin)
template <class A> requires detail::Unary<detail::Op::trace, A> auto trace(const A& a) {
  return detail::unary<detail::Op::trace>(a);
}
QDP_UNARY(traceColor, trace_color)
QDP_UNARY(traceSpin, trace_spin)
QDP_UNARY(real, real)
QDP_UNARY(imag, imag)
QDP_UNARY(timesI, times_i)
QDP_UNARY(timesMinusI, times_minus_i)
/// Sum of |x_i|^2 over the components of each site, in double precision.
QDP_UNARY(localNorm2, local_norm2)
QDP_UNARY(fabs, fabs)
QDP_UNARY(ceil, ceil)
QDP_UNARY(floor, floor)
QDP_UNARY(sqrt, sqrt)
QDP_UNARY(sin, sin)
QDP_UNARY(cos, cos)
QDP_UNARY(tan, tan)
QDP_UNARY(asin, asin)
QDP_UNARY(acos, acos)
QDP_UNARY(atan, atan)
QDP_UNARY(sinh, sinh)
QDP_UNARY(cosh, cosh)
QDP_UNARY(tanh, tanh)
QDP_UNARY(exp, exp)
QDP_UNARY(log, log)
QDP_UNARY(log10, log10)
namespace detail {
template <class T> constexpr bool has_vector_level =
    shape_of<T>.spin.kind == Kind::vector || shape_of<T>.color.kind == Kind::vector;
}  // namespace detail
/// trace(adj(x) * y) of vectors is what it is in QDP++: localInnerProduct(x, y). The trace of another expression that has a
/// vector level means nothing; it throws jit::UserError.
template <class T, class C> requires detail::has_vector_level<T> auto trace(const QDPExpr<T, C>& product) {
  using Vectors = QDPExpr<T, C>;
  auto [x, y] = detail::operands_of_inner_product(product.expression());
  return localInnerProduct(Vectors(std::move(x)), Vectors(std::move(y)));
}
template <class A> requires detail::Unary<detail::Op::trace, A> auto realTrace(const A& a) { return real(trace(a)); }
template <class A> requires detail::Unary<detail::Op::trace, A> auto imagTrace(const A& a) { return imag(trace(a)); }
template <class A> requires detail::Lang<A> const A& PETE_identity(const A& a) { return a; }

QDP_BINARY(cmplx, cmplx)
/// x_i conj(y_j) at every level: vectors give matrices.
QDP_BINARY(outerProduct, outer_product)
/// sum_i conj(x_i) y_i over spin and colour, in double precision.
QDP_BINARY(localInnerProduct, local_inner_product)
QDP_BINARY(localInnerProductReal, local_inner_product_real)
QDP_BINARY(localColorInnerProduct, local_color_inner_product)
QDP_BINARY(colorVectorContract, color_vector_contract)
QDP_BINARY(colorCrossProduct, color_cross_product)
QDP_BINARY(pow, pow)
QDP_BINARY(atan2, atan2)
QDP_BINARY(fmod, fmod)
QDP_BINARY(ldexp, ldexp)

/// eps eps contraction of two quark propagators, Nc = 3: result colour (k',k), spin indices contracted as named.
#define QDP_QUARK_CONTRACT(nn)                                                                                         \
  template <class A, class B> requires detail::Binary<detail::Op::quark_contract, A, B>                                \
  auto quarkContract##nn(const A& a, const B& b) {                                                                     \
    return detail::binary<detail::Op::quark_contract>(a, b, nn);                                                       \
  }
QDP_QUARK_CONTRACT(13)
QDP_QUARK_CONTRACT(14)
QDP_QUARK_CONTRACT(23)
QDP_QUARK_CONTRACT(24)
QDP_QUARK_CONTRACT(12)
QDP_QUARK_CONTRACT(34)
#undef QDP_QUARK_CONTRACT

namespace detail {
template <Op op, class A, class B, class C>
concept Ternary =
    Lang<A> && Lang<B> && Lang<C> && result_shape(op, operand_shape<A>, operand_shape<B>, operand_shape<C>).valid;
}
/// mask ? a : b, site by site.
template <class M, class A, class B> requires detail::Ternary<detail::Op::where, M, A, B>
auto where(const M& mask, const A& a, const B& b) {
  return detail::ternary<detail::Op::where>(mask, a, b);
}
template <class A, class B, class C> requires detail::Ternary<detail::Op::color_contract, A, B, C>
auto colorContract(const A& a, const B& b, const C& c) {
  return detail::ternary<detail::Op::color_contract>(a, b, c);
}

// ---- spin projection -------------------------------------------------------------------------------------------------

#define QDP_PROJECT(mu)                                                                                                \
  template <class A> requires detail::Unary<detail::Op::spin_project, A> auto spinProjectDir##mu##Plus(const A& a) {   \
    return detail::unary<detail::Op::spin_project>(a, 2 * mu);                                                         \
  }                                                                                                                    \
  template <class A> requires detail::Unary<detail::Op::spin_project, A> auto spinProjectDir##mu##Minus(const A& a) {  \
    return detail::unary<detail::Op::spin_project>(a, 2 * mu + 1);                                                     \
  }                                                                                                                    \
  template <class A> requires detail::Unary<detail::Op::spin_reconstruct, A>                                           \
  auto spinReconstructDir##mu##Plus(const A& a) {                                                                      \
    return detail::unary<detail::Op::spin_reconstruct>(a, 2 * mu);                                                     \
  }                                                                                                                    \
  template <class A> requires detail::Unary<detail::Op::spin_reconstruct, A>                                           \
  auto spinReconstructDir##mu##Minus(const A& a) {                                                                     \
    return detail::unary<detail::Op::spin_reconstruct>(a, 2 * mu + 1);                                                 \
  }
QDP_PROJECT(0)
QDP_PROJECT(1)
QDP_PROJECT(2)
QDP_PROJECT(3)
#undef QDP_PROJECT

namespace detail {
inline std::uint64_t projection(int mu, int isign, const char* where) {
  if (mu < 0 || mu >= 4) throw_range("direction", mu, 4, where);
  return static_cast<std::uint64_t>(2 * mu + (isign < 0));
}
}  // namespace detail
/// Rows 0, 1 of (1 + isign gamma_mu) x.
template <class A> requires detail::Unary<detail::Op::spin_project, A> auto spinProject(const A& a, int mu, int isign) {
  return detail::unary<detail::Op::spin_project>(a, detail::projection(mu, isign, "spinProject"));
}
/// The full spinor phi = isign gamma_mu phi with upper half h.
template <class A> requires detail::Unary<detail::Op::spin_reconstruct, A>
auto spinReconstruct(const A& a, int mu, int isign) {
  return detail::unary<detail::Op::spin_reconstruct>(a, detail::projection(mu, isign, "spinReconstruct"));
}
/// (1 + gamma_5)/2 x and (1 - gamma_5)/2 x.
template <class A> requires detail::Unary<detail::Op::chiral_project, A> auto chiralProjectPlus(const A& a) {
  return detail::unary<detail::Op::chiral_project>(a, 0);
}
template <class A> requires detail::Unary<detail::Op::chiral_project, A> auto chiralProjectMinus(const A& a) {
  return detail::unary<detail::Op::chiral_project>(a, 1);
}

// ---- gamma matrices --------------------------------------------------------------------------------------------------

/// Gamma(n) = g0^n0 g1^n1 g2^n2 g3^n3, n = sum n_i 2^i, DeGrand-Rossi basis. Throws jit::UserError unless 0 <= n < N*N.
template <int N> class GammaType {
 public:
  GammaType() = default;
  explicit GammaType(int n) : m(n) {
    if (n < 0 || n >= N * N) detail::throw_range("gamma matrix", n, N * N, "Gamma");
  }
  int elem() const { return m; }
 private:
  int m = 0;
};
/// The same in the Dirac-Pauli basis.
template <int N> class GammaTypeDP {
 public:
  GammaTypeDP() = default;
  explicit GammaTypeDP(int n) : m(n) {
    if (n < 0 || n >= N * N) detail::throw_range("gamma matrix", n, N * N, "GammaDP");
  }
  int elem() const { return m; }
 private:
  int m = 0;
};
template <int N, int m> struct GammaConst {
  static_assert(0 <= m && m < N * N, "gamma matrix number out of range");
};
template <int N, int m> struct GammaConstDP {
  static_assert(0 <= m && m < N * N, "gamma matrix number out of range");
};

using Gamma = GammaType<4>;
using GammaDP = GammaTypeDP<4>;

namespace detail {
template <class G> struct gamma_traits {
  static constexpr bool value = false;
};
template <> struct gamma_traits<GammaType<4>> {
  static constexpr bool value = true;
  static std::uint64_t number(const GammaType<4>& g) { return static_cast<std::uint64_t>(g.elem()); }
};
template <> struct gamma_traits<GammaTypeDP<4>> {
  static constexpr bool value = true;
  static std::uint64_t number(const GammaTypeDP<4>& g) { return 16u + static_cast<std::uint64_t>(g.elem()); }
};
template <int m> struct gamma_traits<GammaConst<4, m>> {
  static constexpr bool value = true;
  static std::uint64_t number(const GammaConst<4, m>&) { return m; }
};
template <int m> struct gamma_traits<GammaConstDP<4, m>> {
  static constexpr bool value = true;
  static std::uint64_t number(const GammaConstDP<4, m>&) { return 16 + m; }
};
template <class G>
concept GammaLike = gamma_traits<G>::value;
}  // namespace detail

template <detail::GammaLike G, class A> requires detail::Unary<detail::Op::gamma_left, A>
auto operator*(const G& g, const A& a) {
  return detail::unary<detail::Op::gamma_left>(a, detail::gamma_traits<G>::number(g));
}
template <class A, detail::GammaLike G> requires detail::Unary<detail::Op::gamma_right, A>
auto operator*(const A& a, const G& g) {
  return detail::unary<detail::Op::gamma_right>(a, detail::gamma_traits<G>::number(g));
}

// ---- components ------------------------------------------------------------------------------------------------------

namespace detail {
inline std::uint64_t component(Level l, int row, int col, bool two, const char* where) {
  if (row < 0 || row >= l.n) throw_range("row", row, l.n, where);
  if (two && (col < 0 || col >= l.n)) throw_range("column", col, l.n, where);
  return static_cast<std::uint64_t>(row) | static_cast<std::uint64_t>(col) << 16;
}
template <class A, bool Color> constexpr Level level_of = Color ? operand_shape<A>.color : operand_shape<A>.spin;
}  // namespace detail

#define QDP_PEEK(Name, op, is_color)                                                                                   \
  template <class A>                                                                                                   \
  requires(detail::Unary<detail::Op::op, A> && detail::level_of<A, is_color>.kind == detail::Kind::matrix)             \
  auto Name(const A& a, int row, int col) {                                                                            \
    return detail::unary<detail::Op::op>(a, detail::component(detail::level_of<A, is_color>, row, col, true, #Name));  \
  }                                                                                                                    \
  template <class A>                                                                                                   \
  requires(detail::Unary<detail::Op::op, A> && detail::level_of<A, is_color>.kind != detail::Kind::matrix)             \
  auto Name(const A& a, int row) {                                                                                     \
    return detail::unary<detail::Op::op>(a, detail::component(detail::level_of<A, is_color>, row, 0, false, #Name));   \
  }
QDP_PEEK(peekColor, peek_color, true)
QDP_PEEK(peekSpin, peek_spin, false)
#undef QDP_PEEK

namespace detail {
template <Op op, class T, class X>
concept Pokable = (Lang<X> || Number<X>) && Binary<op, OScalar<T>, X>;
}  // namespace detail

#define QDP_POKE(Name, op, is_color)                                                                                   \
  template <class T, class X> requires detail::Pokable<detail::Op::op, T, X>                                           \
  OLattice<T>& Name(OLattice<T>& d, const X& x, int row, int col = 0) {                                                \
    constexpr detail::Level l = detail::level_of<OScalar<T>, is_color>;                                                \
    d.owner().combine(detail::shape_of<T>, detail::Op::op, detail::shape_of<T>,                                        \
                      detail::component(l, row, col, l.kind == detail::Kind::matrix, #Name),                           \
                      detail::operand_of(detail::beside<X, OScalar<T>>(x)));                                           \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <class T, class X> requires detail::Pokable<detail::Op::op, T, X>                                           \
  const OSubLattice<T>& Name(const OSubLattice<T>& d, const X& x, int row, int col = 0) {                              \
    constexpr detail::Level l = detail::level_of<OScalar<T>, is_color>;                                                \
    d.part().combine(detail::shape_of<T>, detail::Op::op, detail::shape_of<T>,                                         \
                     detail::component(l, row, col, l.kind == detail::Kind::matrix, #Name),                            \
                     detail::operand_of(detail::beside<X, OScalar<T>>(x)));                                            \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <class T, class X> requires(detail::Pokable<detail::Op::op, T, X> && !detail::LatticeLike<X>)               \
  OScalar<T>& Name(OScalar<T>& d, const X& x, int row, int col = 0) {                                                  \
    constexpr detail::Level l = detail::level_of<OScalar<T>, is_color>;                                                \
    d = detail::binary<detail::Op::op>(d, x, detail::component(l, row, col, l.kind == detail::Kind::matrix, #Name));   \
    return d;                                                                                                          \
  }
QDP_POKE(pokeColor, poke_color, true)
QDP_POKE(pokeSpin, poke_spin, false)
#undef QDP_POKE

/// dest = src where mask holds.
template <class T, class M, class X>
requires(detail::LatticeLike<M> && detail::Ternary<detail::Op::where, M, X, OLattice<T>>)
void copymask(OLattice<T>& d, const M& mask, const X& src) {
  d = where(mask, src, d);
}
template <class T, class M, class X> requires(detail::Lang<M> && detail::Ternary<detail::Op::where, M, X, OLattice<T>>)
void copymask(const OSubLattice<T>& d, const M& mask, const X& src) {
  d = QDPExpr<T, OLattice<T>>(detail::make_node(detail::Op::where, detail::shape_of<T>, 0, detail::to_expr(mask),
                                                detail::to_expr(src),
                                                detail::make_field(d.field(), detail::shape_of<T>)));
}

template <class T> void zero_rep(OLattice<T>& d) { d = Zero{}; }
template <class T> void zero_rep(OLattice<T>& d, const Subset& s) { d[s] = Zero{}; }
template <class T> void zero_rep(const OSubLattice<T>& d) { d = Zero{}; }
template <class T> void zero_rep(OScalar<T>& d) { d = Zero{}; }
template <class T> requires detail::Primitive<T> void zero_rep(T& d) {
  d = detail::host_result<detail::Op::zero, T>(0);
}

// ---- scalars to built-in numbers -------------------------------------------------------------------------------------

namespace detail {
template <class W, class T> W to_word(const T& site) {
  static_assert(plain(shape_of<T>), "toDouble, toFloat, toInt and toBool take a real scalar");
  return static_cast<W>(plain_word(site));
}
}  // namespace detail
template <class T> double toDouble(const OScalar<T>& x) { return detail::to_word<double>(x.elem()); }
template <class T> float toFloat(const OScalar<T>& x) { return detail::to_word<float>(x.elem()); }
template <class T> int toInt(const OScalar<T>& x) { return detail::to_word<int>(x.elem()); }
template <class T> bool toBool(const OScalar<T>& x) { return detail::to_word<bool>(x.elem()); }
template <detail::Primitive T> double toDouble(const T& x) { return detail::to_word<double>(x); }
template <detail::Primitive T> float toFloat(const T& x) { return detail::to_word<float>(x); }
template <detail::Primitive T> int toInt(const T& x) { return detail::to_word<int>(x); }
template <detail::Primitive T> bool toBool(const T& x) { return detail::to_word<bool>(x); }
template <detail::Primitive T> auto toWordType(const T& x) {
  return detail::to_word<typename detail::host_word<detail::shape_of<T>.word>::type>(x);
}
template <class T> auto toWordType(const OScalar<T>& x) { return toWordType(x.elem()); }

/// Assignment with a change of precision.
template <class T, class T1> void cast_rep(T& d, const T1& s) { d = s; }
template <class T, class T1> void recast_rep(T& d, const T1& s) { d = s; }

}  // namespace QDP
