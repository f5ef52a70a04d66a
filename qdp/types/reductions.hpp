// Global functions: sums, norms, inner products, extrema. Results have double-precision words (integers stay integers).
//
// Sums give the same bits for any number of threads, lanes and ranks (design D11).
#pragma once

#include "qdp/layout/layout.hpp"
#include "qdp/types/typedefs.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

namespace detail {

template <class X> constexpr Shape sum_shape = [] {
  constexpr Shape s = operand_shape<X>;
  return s.with_word(is_float(s.word) ? Type::f64 : Type::i32);
}();
template <class X> using sum_result = OScalar<site_type<sum_shape<X>>>;

/// The whole field behind a subset of it.
template <class T> QDPExpr<T, OLattice<T>> unrestricted(const OSubLattice<T>& x) {
  return QDPExpr<T, OLattice<T>>(make_field(x.field(), shape_of<T>));
}

template <class A> struct WholeOf {
  using type = A;
};
template <class T> struct WholeOf<OSubLattice<T>> {
  using type = OLattice<T>;
};
template <class A> constexpr bool is_part = !std::is_same_v<typename WholeOf<A>::type, A>;
template <class A> const auto& whole_operand(const A& a) { return a; }
template <class T> auto whole_operand(const OSubLattice<T>& a) { return unrestricted(a); }

/// The subset that two operands are restricted to, one of which is a part. Throws jit::UserError if they are parts of different
/// subsets.
template <class A, class B> const Subset& common_subset(const A& a, const B& b) {
  if constexpr (is_part<A> && is_part<B>)
    require_same_subset(a.subset(), a.field()->order(), b.subset(), b.field()->order());
  if constexpr (is_part<A>)
    return a.subset();
  else
    return b.subset();
}

/// Operands of a lattice inner product.
template <class A, class B>
concept InnerPair = (LatticeLike<A> || LatticeLike<B>) && Binary<Op::local_inner_product, A, B>;

template <class R, class X> R reduced(const X& x, const Subset& s, Reduce kind) {
  R r;
  reduce(operand_of(x), s, kind, shape_of<typename R::Site>, &r);
  return r;
}

/// One sum per subset of a set.
template <class R, class X> multi1d<R> sums_over(const X& x, const Set& set) {
  multi1d<R> r(set.numSubsets());
  reduce(operand_of(x), set, shape_of<typename R::Site>, r.begin());
  return r;
}

}  // namespace detail

/// sum_x f(x)
template <class X> requires detail::LatticeLike<X> detail::sum_result<X> sum(const X& x, const Subset& s) {
  return detail::reduced<detail::sum_result<X>>(x, s, detail::Reduce::sum);
}
template <class X> requires detail::LatticeLike<X> detail::sum_result<X> sum(const X& x) { return sum(x, all); }
template <class X> requires detail::ScalarLike<X> detail::sum_result<X> sum(const X& x) { return x; }

/// A sum that may be computed together with statements after it: when somebody asks for it, or before. Ours, not QDP++'s.
template <class R> class PendingSum {
 public:
  explicit PendingSum(std::shared_ptr<detail::PendingSum> sum) : sum_(std::move(sum)) {}
  /// Throws what a statement that it depends on has thrown.
  R get() const {
    R r;
    detail::finish(*sum_, detail::shape_of<typename R::Site>, &r);
    return r;
  }

 private:
  std::shared_ptr<detail::PendingSum> sum_;
};
/// While it lives, this many computations are carried on in turn: their statements wait for each other, as many more as those of one.
class Alongside {
 public:
  explicit Alongside(int computations) : computations_(computations), rounds_(detail::rounds(computations)) {
    detail::alongside(computations);
  }
  /// As many, or those that memory has room for if each needs `bytes` of fields on this rank; at least one. Collective.
  Alongside(int computations, double bytes) : Alongside(detail::with_room_for(computations, bytes)) {}
  ~Alongside() { detail::alongside(1); }
  Alongside(const Alongside&) = delete;
  Alongside& operator=(const Alongside&) = delete;

  int computations() const { return computations_; }
  /// Asked before each round of steps: how many of those under way are to take one, the first ones. All, or fewer where that is faster.
  int next_round(int under_way) { return detail::next_round(*rounds_, under_way); }

 private:
  int computations_;
  std::shared_ptr<detail::Rounds> rounds_;
};
/// sum(x, s) of at most 24 components, of the values that the fields have now.
template <class X> requires detail::LatticeLike<X>
PendingSum<detail::sum_result<X>> pending_sum(const X& x, const Subset& s) {
  return PendingSum<detail::sum_result<X>>(detail::reduce_later(detail::operand_of(x), s, detail::Reduce::sum));
}
template <class T> auto sum(const OSubLattice<T>& x) { return sum(detail::unrestricted(x), x.subset()); }

/// sum_x |f(x)|^2
template <class X> requires detail::LatticeLike<X> auto norm2(const X& x, const Subset& s) {
  return sum(localNorm2(x), s);
}
template <class X> requires detail::LatticeLike<X> auto norm2(const X& x) { return sum(localNorm2(x), all); }
template <class X> requires detail::ScalarLike<X> auto norm2(const X& x) { return localNorm2(x); }
template <class T> auto norm2(const OSubLattice<T>& x) { return norm2(detail::unrestricted(x), x.subset()); }
template <class T> Double norm2(const multi1d<T>& x, const Subset& s) {
  Double r = 0.0;
  for (int i = 0; i < x.size(); ++i) r += norm2(x[i], s);
  return r;
}
template <class T> requires detail::Lang<T> Double norm2(const multi1d<T>& x) { return norm2(x, all); }

/// sum_x f(x)^+ g(x)
template <class A, class B> requires detail::InnerPair<A, B>
auto innerProduct(const A& a, const B& b, const Subset& s) {
  return sum(localInnerProduct(a, b), s);
}
template <class A, class B> requires detail::InnerPair<A, B> auto innerProduct(const A& a, const B& b) {
  return innerProduct(a, b, all);
}
template <class A, class B> requires(detail::ScalarLike<A> && detail::ScalarLike<B>)
auto innerProduct(const A& a, const B& b) {
  return localInnerProduct(a, b);
}
template <class T, class B> requires detail::InnerPair<OLattice<T>, B>
auto innerProduct(const OSubLattice<T>& a, const B& b) {
  return innerProduct(detail::unrestricted(a), b, a.subset());
}
template <class A, class T> requires detail::InnerPair<A, OLattice<T>>
auto innerProduct(const A& a, const OSubLattice<T>& b) {
  return innerProduct(a, detail::unrestricted(b), b.subset());
}
template <class A, class B> requires detail::InnerPair<OLattice<A>, OLattice<B>>
auto innerProduct(const OSubLattice<A>& a, const OSubLattice<B>& b) {
  return innerProduct(detail::unrestricted(a), detail::unrestricted(b), detail::common_subset(a, b));
}
template <class A, class B> requires detail::InnerPair<A, B>
auto innerProductReal(const A& a, const B& b, const Subset& s) {
  return sum(localInnerProductReal(a, b), s);
}
template <class A, class B> requires detail::InnerPair<A, B> auto innerProductReal(const A& a, const B& b) {
  return innerProductReal(a, b, all);
}
template <class A, class B> requires(detail::ScalarLike<A> && detail::ScalarLike<B>)
auto innerProductReal(const A& a, const B& b) {
  return localInnerProductReal(a, b);
}
template <class T, class B> requires detail::InnerPair<OLattice<T>, B>
auto innerProductReal(const OSubLattice<T>& a, const B& b) {
  return innerProductReal(detail::unrestricted(a), b, a.subset());
}
template <class A, class T> requires detail::InnerPair<A, OLattice<T>>
auto innerProductReal(const A& a, const OSubLattice<T>& b) {
  return innerProductReal(a, detail::unrestricted(b), b.subset());
}
template <class A, class B> requires detail::InnerPair<OLattice<A>, OLattice<B>>
auto innerProductReal(const OSubLattice<A>& a, const OSubLattice<B>& b) {
  return innerProductReal(detail::unrestricted(a), detail::unrestricted(b), detail::common_subset(a, b));
}

/// Of parts, as a part with storage of its own.
#define QDP_LOCAL_OF_PARTS(Name, op)                                                                                   \
  template <class A, class B, class WA = typename detail::WholeOf<A>::type,                                            \
            class WB = typename detail::WholeOf<B>::type>                                                              \
  requires((detail::is_part<A> || detail::is_part<B>) && detail::Binary<detail::Op::op, WA, WB>)                       \
  auto Name(const A& a, const B& b) {                                                                                  \
    OSubLattice<detail::site_type<detail::pair_result<detail::Op::op, WA, WB>()>> part(detail::common_subset(a, b));   \
    part = Name(detail::whole_operand(a), detail::whole_operand(b));                                                   \
    return part;                                                                                                       \
  }
QDP_LOCAL_OF_PARTS(localInnerProduct, local_inner_product)
QDP_LOCAL_OF_PARTS(localInnerProductReal, local_inner_product_real)
QDP_LOCAL_OF_PARTS(localColorInnerProduct, local_color_inner_product)
#undef QDP_LOCAL_OF_PARTS

template <class T> DComplex innerProduct(const multi1d<OLattice<T>>& a, const multi1d<OLattice<T>>& b,
                                         const Subset& s) {
  DComplex r = zero;
  for (int i = 0; i < a.size(); ++i) r += innerProduct(a[i], b[i], s);
  return r;
}
template <class T> DComplex innerProduct(const multi1d<OLattice<T>>& a, const multi1d<OLattice<T>>& b) {
  return innerProduct(a, b, all);
}
template <class T> Double innerProductReal(const multi1d<OLattice<T>>& a, const multi1d<OLattice<T>>& b,
                                           const Subset& s) {
  Double r = 0.0;
  for (int i = 0; i < a.size(); ++i) r += innerProductReal(a[i], b[i], s);
  return r;
}
template <class T> Double innerProductReal(const multi1d<OLattice<T>>& a, const multi1d<OLattice<T>>& b) {
  return innerProductReal(a, b, all);
}

/// One sum per subset of a set: the time-slice sums of a correlator.
template <class X> requires detail::LatticeLike<X> multi1d<detail::sum_result<X>> sumMulti(const X& x, const Set& set) {
  return detail::sums_over<detail::sum_result<X>>(x, set);
}
template <class X> requires detail::ScalarLike<X> multi1d<detail::sum_result<X>> sumMulti(const X& x, const Set& set) {
  multi1d<detail::sum_result<X>> r(set.numSubsets());
  for (int i = 0; i < set.numSubsets(); ++i) r[i] = x;
  return r;
}
/// r(i, k) = sum of x[i] over subset k.
template <class T> multi2d<detail::sum_result<OLattice<T>>> sumMulti(const multi1d<OLattice<T>>& x, const Set& set) {
  multi2d<detail::sum_result<OLattice<T>>> r(x.size(), set.numSubsets());
  for (int i = 0; i < x.size(); ++i) {
    const auto sums = sumMulti(x[i], set);
    for (int k = 0; k < set.numSubsets(); ++k) r(i, k) = sums[k];
  }
  return r;
}

/// Largest and smallest value of a real field.
template <class X> requires(detail::LatticeLike<X> && detail::plain(detail::operand_shape<X>))
auto globalMax(const X& x) {
  return detail::reduced<OScalar<detail::site_t<X>>>(x, all, detail::Reduce::max);
}
template <class X> requires(detail::LatticeLike<X> && detail::plain(detail::operand_shape<X>))
auto globalMin(const X& x) {
  return detail::reduced<OScalar<detail::site_t<X>>>(x, all, detail::Reduce::min);
}
template <class X> requires detail::ScalarLike<X> X globalMax(const X& x) { return x; }
template <class X> requires detail::ScalarLike<X> X globalMin(const X& x) { return x; }

/// Are all components of all sites finite?
template <class X> requires(detail::Lang<X> && !detail::Primitive<X>) bool isfinite(const X& x) {
  return std::isfinite(toDouble(sum(localNorm2(x * 0))));  // 0 * inf and 0 * NaN are NaN
}

namespace detail {
enum class WordTest { nan, inf, not_normal };
/// Whether any word of any site is such a number, on any rank. On the host; collective.
bool any_word(jit::Field& field, WordTest test);
/// The same of words in memory, of this rank.
bool any_word(const void* words, Shape shape, WordTest test);
template <class X> bool any_word(const X& x, WordTest test) {
  if constexpr (LatticeLike<X>)
    return any_word(*OLattice<site_t<X>>(x).field(), test);
  else
    return any_word(&site_value(x), operand_shape<X>, test);
}
}  // namespace detail
/// Is any component of any site not a number, or infinite? Are all normal numbers (not 0 either)?
template <class X> requires detail::Lang<X> bool isnan(const X& x) {
  return detail::any_word(x, detail::WordTest::nan);
}
template <class X> requires detail::Lang<X> bool isinf(const X& x) {
  return detail::any_word(x, detail::WordTest::inf);
}
template <class X> requires detail::Lang<X> bool isnormal(const X& x) {
  return !detail::any_word(x, detail::WordTest::not_normal);
}
template <detail::Primitive X> bool isfinite(const X& x) { return !isnan(x) && !isinf(x); }

}  // namespace QDP
