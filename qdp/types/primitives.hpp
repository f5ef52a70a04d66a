// The levels of a site type: Spin< Color< Reality< Word > > >. Plain aggregates that hold host values in QDP++'s order.
//
// Their algebra is the language's (functions.hpp); here are storage, element access and the correspondence with Shape.
#pragma once

#include <type_traits>

#include "qdp/expr/shape.hpp"
#include "qdp/types/words.hpp"

namespace QDP {

namespace detail {
[[noreturn]] void throw_range(const char* what, int got, int limit, const char* where);  // qdp/expr/evaluate.hpp
/// i, if it numbers one of n components. Costs nothing where the compiler knows i.
inline int component(int i, int n, const char* where) {
  if (static_cast<unsigned>(i) >= static_cast<unsigned>(n)) [[unlikely]]
    throw_range("component", i, n, where);
  return i;
}
}  // namespace detail

/// The type and the value of the number nought: `x = zero`.
struct Zero {};
namespace {
[[maybe_unused]] constexpr Zero zero{};
}

template <class T> class RScalar {
 public:
  RScalar() = default;
  RScalar(const T& x) : F(x) {}
  template <class T1> RScalar(const RScalar<T1>& x) : F(static_cast<T>(x.elem())) {}
  T& elem() { return F; }
  const T& elem() const { return F; }
 private:
  T F;
};

template <class T> class RComplex {
 public:
  RComplex() = default;
  RComplex(const T& r, const T& i) : re(r), im(i) {}
  template <class T1, class T2> RComplex(const RScalar<T1>& r, const RScalar<T2>& i)
      : re(static_cast<T>(r.elem())), im(static_cast<T>(i.elem())) {}
  template <class T1> RComplex(const RComplex<T1>& z) : re(static_cast<T>(z.real())), im(static_cast<T>(z.imag())) {}
  template <class T1> RComplex(const RScalar<T1>& x) : re(static_cast<T>(x.elem())), im(0) {}
  RComplex(const T& r) : re(r), im(0) {}
  T& real() { return re; }
  const T& real() const { return re; }
  T& imag() { return im; }
  const T& imag() const { return im; }
 private:
  T re, im;
};

template <class T> class PScalar {
 public:
  PScalar() = default;
  PScalar(const T& x) : F(x) {}
  T& elem() { return F; }
  const T& elem() const { return F; }
 private:
  T F;
};

/// n components; C names the family in QDP++'s class hierarchy.
template <class T, int N, template <class, int> class C> class PVector {
 public:
  T& elem(int i) { return F[detail::component(i, N, "elem of a vector")]; }
  const T& elem(int i) const { return F[detail::component(i, N, "elem of a vector")]; }
  T& operator[](int i) { return elem(i); }
  const T& operator[](int i) const { return elem(i); }
 private:
  T F[N];
};
template <class T, int N, template <class, int> class C> class PMatrix {
 public:
  T& elem(int i, int j) { return F[row(i)][column(j)]; }
  const T& elem(int i, int j) const { return F[row(i)][column(j)]; }
 private:
  static int row(int i) { return detail::component(i, N, "elem of a matrix, row"); }
  static int column(int j) { return detail::component(j, N, "elem of a matrix, column"); }
  T F[N][N];
};
template <class T, int N> class PColorVector : public PVector<T, N, PColorVector> {};
template <class T, int N> class PSpinVector : public PVector<T, N, PSpinVector> {};
template <class T, int N> class PColorMatrix : public PMatrix<T, N, PColorMatrix> {};
template <class T, int N> class PSpinMatrix : public PMatrix<T, N, PSpinMatrix> {};
/// State of the random number generator: four limbs of base 4096, least significant first.
template <class T> class PSeed {
 public:
  T& elem(int i) { return F[detail::component(i, 4, "elem of a seed")]; }
  const T& elem(int i) const { return F[detail::component(i, 4, "elem of a seed")]; }
 private:
  T F[4];
};

namespace detail {

template <class W> struct word_type;
template <> struct word_type<bool> {
  static constexpr Type value = Type::b1;
};
template <> struct word_type<int> {
  static constexpr Type value = Type::i32;
};
template <> struct word_type<long> {
  static constexpr Type value = Type::i64;
};
template <> struct word_type<long long> {
  static constexpr Type value = Type::i64;
};
template <> struct word_type<float> {
  static constexpr Type value = Type::f32;
};
template <> struct word_type<double> {
  static constexpr Type value = Type::f64;
};

template <Type W> struct host_word;
template <> struct host_word<Type::b1> {
  using type = bool;
};
template <> struct host_word<Type::i32> {
  using type = int;
};
template <> struct host_word<Type::i64> {
  using type = long;
};
template <> struct host_word<Type::f32> {
  using type = float;
};
template <> struct host_word<Type::f64> {
  using type = double;
};

// ---- site type -> Shape ----------------------------------------------------------------------------------------------

constexpr Shape wrap(Shape inner, Level l) {  // the next level outwards
  if (inner.depth == 1) {
    inner.color = l;
    inner.depth = 2;
    return inner;
  }
  if (inner.depth == 2) {
    inner.spin = l;
    inner.depth = 3;
    return inner;
  }
  return kInvalid;
}
template <class T> struct site_shape {
  static constexpr Shape value = kInvalid;
};
template <class W> struct site_shape<RScalar<W>> {
  static constexpr Shape value{.complex = false, .word = word_type<W>::value, .depth = 1};
};
template <class W> struct site_shape<RComplex<W>> {
  static constexpr Shape value{.complex = true, .word = word_type<W>::value, .depth = 1};
};
template <class T> struct site_shape<PScalar<T>> {
  static constexpr Shape value = wrap(site_shape<T>::value, {});
};
template <class T, int N> struct site_shape<PColorVector<T, N>> {
  static constexpr Shape value = wrap(site_shape<T>::value, level<N>(Kind::vector));
};
template <class T, int N> struct site_shape<PSpinVector<T, N>> {
  static constexpr Shape value = wrap(site_shape<T>::value, level<N>(Kind::vector));
};
template <class T, int N> struct site_shape<PColorMatrix<T, N>> {
  static constexpr Shape value = wrap(site_shape<T>::value, level<N>(Kind::matrix));
};
template <class T, int N> struct site_shape<PSpinMatrix<T, N>> {
  static constexpr Shape value = wrap(site_shape<T>::value, level<N>(Kind::matrix));
};
template <class T> struct site_shape<PSeed<T>> {
  static constexpr Shape value = wrap(site_shape<T>::value, {Kind::seed, 4});
};

template <class T> constexpr Shape shape_of = site_shape<std::remove_cvref_t<T>>::value;

// ---- Shape -> site type ----------------------------------------------------------------------------------------------

template <class T, Kind K, int N, bool Spin> struct level_type;
template <class T, int N, bool Spin> struct level_type<T, Kind::scalar, N, Spin> {
  using type = PScalar<T>;
};
template <class T, int N> struct level_type<T, Kind::vector, N, true> {
  using type = PSpinVector<T, N>;
};
template <class T, int N> struct level_type<T, Kind::matrix, N, true> {
  using type = PSpinMatrix<T, N>;
};
template <class T, int N> struct level_type<T, Kind::vector, N, false> {
  using type = PColorVector<T, N>;
};
template <class T, int N> struct level_type<T, Kind::matrix, N, false> {
  using type = PColorMatrix<T, N>;
};
template <class T, int N> struct level_type<T, Kind::seed, N, false> {
  using type = PSeed<T>;
};

template <Shape S, int Depth> struct site_at;  // the type from level `Depth` inwards
template <Shape S> struct site_at<S, 1> {
  using word = typename host_word<S.word>::type;
  using type = std::conditional_t<S.complex, RComplex<word>, RScalar<word>>;
};
template <Shape S> struct site_at<S, 2> {
  static constexpr Kind kind = S.color.kind;
  static constexpr int n = S.color.n;
  using type = typename level_type<typename site_at<S, 1>::type, kind, n, false>::type;
};
template <Shape S> struct site_at<S, 3> {
  static constexpr Kind kind = S.spin.kind;
  static constexpr int n = S.spin.n;
  using type = typename level_type<typename site_at<S, 2>::type, kind, n, true>::type;
};
template <Shape S> struct site_of {
  static constexpr int depth = S.depth;
  using type = typename site_at<S, depth>::type;
};
template <Shape S> using site_type = typename site_of<S>::type;

template <class T>
concept Primitive = shape_of<T>.valid;
template <class W>
concept Word = std::is_arithmetic_v<W>;
/// What stands beside a value of the language as a number: built-in ones, and enumerations that C++ takes for an int.
template <class W>
concept Number = Word<W> || (std::is_enum_v<W> && std::is_convertible_v<W, int>);

}  // namespace detail
}  // namespace QDP
