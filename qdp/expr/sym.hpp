// Site functions: operations of the user's own, written as formulas over symbolic site values (design D12).
//
//   const auto cayley = siteFunction<1>("cayley", [](const Sym& q) { return (1.0 + 0.5 * q) * ...; });
//   u = cayley(eps * p) * u;
//
// The body is traced once per kernel that uses it and becomes part of that kernel, on every backend; on scalars it runs at
// once. A Sym has the site type's algebra; control flow must be expressed with where(), since the body runs on symbols.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "jit/support/owned.hpp"
#include "qdp/types/functions.hpp"

namespace QDP {

namespace detail {
struct SymValue;
}

/// A symbolic site value: of any site type, with spin, colour and complex structure.
class Sym {
 public:
  Sym();
  Sym(double x);  ///< a real constant, taking the word of what it meets
  Sym(const Sym&);
  Sym(Sym&&) noexcept;
  Sym& operator=(const Sym&);
  Sym& operator=(Sym&&) noexcept;
  ~Sym();

  detail::Shape shape() const;
  /// Colour component (i), (i,j), of a value without spin structure a complex scalar. Throws jit::UserError out of range.
  Sym color(int i, int j = 0) const;
  Sym spin(int s, int t = 0) const;
  Sym real() const;
  Sym imag() const;
  /// Replaces a component.
  void set_color(int i, int j, const Sym& x);
  void set_spin(int s, int t, const Sym& x);
  /// Replaces component (i,j) of colour at (s,t) of spin; a vector's second index is 0.
  void set(int s, int t, int i, int j, const Sym& x);

  Sym& operator+=(const Sym& x);
  Sym& operator-=(const Sym& x);
  Sym& operator*=(const Sym& x);

  explicit Sym(detail::SymValue value);
  const detail::SymValue& value() const { return *value_; }

 private:
  jit::Owned<detail::SymValue> value_;
};

namespace detail {
Sym sym_apply(Op op, std::uint64_t attribute, const Sym* operands, int n);
Sym sym_zero(const Sym& like, Shape shape);
/// The body of a site function: symbols -> symbol.
class SymBody {
 public:
  virtual ~SymBody();
  virtual Sym operator()(const Sym* operands) const = 0;
};
std::uint64_t make_site_function(const char* name, std::shared_ptr<const SymBody> body);
inline Sym sym1(Op op, const Sym& a, std::uint64_t attribute = 0) { return sym_apply(op, attribute, &a, 1); }
inline Sym sym2(Op op, const Sym& a, const Sym& b) {
  const Sym x[] = {a, b};
  return sym_apply(op, 0, x, 2);
}
}  // namespace detail

// clang-format off
#define QDP_SYM2(function, op) inline Sym function(const Sym& a, const Sym& b) { return detail::sym2(detail::Op::op, a, b); }
#define QDP_SYM1(function, op) inline Sym function(const Sym& a) { return detail::sym1(detail::Op::op, a); }
QDP_SYM2(operator+, add) QDP_SYM2(operator-, sub) QDP_SYM2(operator*, mul) QDP_SYM2(operator/, div)
QDP_SYM2(operator<, lt) QDP_SYM2(operator<=, le) QDP_SYM2(operator>, gt) QDP_SYM2(operator>=, ge)
QDP_SYM2(operator==, eq) QDP_SYM2(operator!=, ne) QDP_SYM2(operator&&, logical_and) QDP_SYM2(operator||, logical_or)
QDP_SYM2(cmplx, cmplx) QDP_SYM2(outerProduct, outer_product) QDP_SYM2(pow, pow) QDP_SYM2(atan2, atan2)
QDP_SYM1(operator-, neg) QDP_SYM1(operator!, logical_not) QDP_SYM1(adj, adj) QDP_SYM1(conj, conj) QDP_SYM1(transpose, transpose)
QDP_SYM1(trace, trace) QDP_SYM1(traceColor, trace_color) QDP_SYM1(traceSpin, trace_spin) QDP_SYM1(real, real) QDP_SYM1(imag, imag)
QDP_SYM1(timesI, times_i) QDP_SYM1(timesMinusI, times_minus_i) QDP_SYM1(localNorm2, local_norm2) QDP_SYM1(fabs, fabs)
QDP_SYM1(ceil, ceil) QDP_SYM1(floor, floor) QDP_SYM1(sqrt, sqrt) QDP_SYM1(sin, sin) QDP_SYM1(cos, cos) QDP_SYM1(tan, tan)
QDP_SYM1(asin, asin) QDP_SYM1(acos, acos) QDP_SYM1(atan, atan) QDP_SYM1(sinh, sinh) QDP_SYM1(cosh, cosh) QDP_SYM1(tanh, tanh)
QDP_SYM1(exp, exp) QDP_SYM1(log, log) QDP_SYM1(log10, log10)
// clang-format on
#undef QDP_SYM1
#undef QDP_SYM2
inline Sym where(const Sym& mask, const Sym& a, const Sym& b) {
  const Sym x[] = {mask, a, b};
  return detail::sym_apply(detail::Op::where, 0, x, 3);
}
/// x y + z of components, real or complex, with fused multiply-adds: half the work of + and * in sums over components.
Sym fma(const Sym& x, const Sym& y, const Sym& z);
/// Nought of the same type.
Sym zero_like(const Sym& a);
/// Nought of the site type of T (an OScalar or OLattice type) in the word of `a`: a result to be put together.
template <class T> Sym zero_of(const Sym& a) { return detail::sym_zero(a, detail::shape_of<detail::site_t<T>>); }

/// A site function of N operands. The result has the site type of the first operand, or of Result (an OScalar or OLattice type).
template <int N, class Result = void> class SiteFunction {
 public:
  SiteFunction(const char* name, std::shared_ptr<const detail::SymBody> body)
      : number_(detail::make_site_function(name, std::move(body))) {}

  /// The first operand is a value of the language; the others may be numbers, of its precision.
  template <class A, class... B>
  requires(sizeof...(B) == N - 1 && detail::Lang<A> && ((detail::Lang<B> || detail::Word<B>) && ...))
  auto operator()(const A& a, const B&... b) const {
    return apply(a, operand<A>(b)...);
  }

 private:
  template <class A, class B> static decltype(auto) operand(const B& b) {
    if constexpr (detail::Word<B>)
      return detail::word_scalar<detail::word_beside<A>>(b);
    else
      return (b);
  }
  template <class A, class... B> auto apply(const A& a, const B&... b) const {
    using R = typename decltype(site<A>())::type;
    constexpr detail::Shape shape = detail::shape_of<R>;
    constexpr auto op = detail::Op::site_function;
    if constexpr (detail::LatticeLike<A> || (detail::LatticeLike<B> || ...))
      return QDPExpr<R, OLattice<R>>(
          detail::operation(op, shape, number_, detail::operand_of(a), detail::operand_of(b)...));
    else
      return OScalar<R>(detail::host_result<op, R>(number_, detail::site_value(a), detail::site_value(b)...));
  }

  template <class A> static auto site() {
    if constexpr (std::is_void_v<Result>)
      return std::type_identity<detail::site_t<A>>{};
    else
      return std::type_identity<detail::site_t<Result>>{};
  }
  std::uint64_t number_;  ///< 0 until the initialiser of a static object has run
};

/// Makes a site function from a callable of N symbols, 1 <= N <= 3. The name appears in kernel names and profiles.
template <int N, class Result = void, class F> SiteFunction<N, Result> siteFunction(const char* name, F body) {
  static_assert(1 <= N && N <= 3, "a site function takes one to three operands");
  struct Body final : detail::SymBody {
    explicit Body(F f) : function(std::move(f)) {}
    Sym operator()(const Sym* x) const override {
      if constexpr (N == 1)
        return function(x[0]);
      else if constexpr (N == 2)
        return function(x[0], x[1]);
      else
        return function(x[0], x[1], x[2]);
    }
    F function;
  };
  return {name, std::make_shared<const Body>(std::move(body))};
}

}  // namespace QDP
