// Types made from types: the word of a value, the same in another precision, its scalars.
#pragma once

#include <type_traits>

#include "qdp/types/outer.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

namespace detail {

/// A site type, or an outer type of one, with another shape of its sites; a number with another word.
template <class X, Shape S> struct reshaped {
  using type = site_type<S>;
};
template <class T, Shape S> struct reshaped<OScalar<T>, S> {
  using type = OScalar<site_type<S>>;
};
template <class T, Shape S> struct reshaped<OLattice<T>, S> {
  using type = OLattice<site_type<S>>;
};
template <class T, Shape S> struct reshaped<OSubScalar<T>, S> {
  using type = OSubScalar<site_type<S>>;
};
template <class T, Shape S> struct reshaped<OSubLattice<T>, S> {
  using type = OSubLattice<site_type<S>>;
};

template <class X> struct site_of_any {
  using type = X;
};
template <class T> struct site_of_any<OScalar<T>> {
  using type = T;
};
template <class T> struct site_of_any<OLattice<T>> {
  using type = T;
};
template <class T> struct site_of_any<OSubScalar<T>> {
  using type = T;
};
template <class T> struct site_of_any<OSubLattice<T>> {
  using type = T;
};
template <class T, class C> struct site_of_any<QDPExpr<T, C>> {
  using type = T;
};
template <class T, class C> struct site_of_any<QDPType<T, C>> {
  using type = T;
};
template <class X> constexpr Shape any_shape = shape_of<typename site_of_any<X>::type>;

constexpr Shape levels_gone(Shape s) { return s.with_levels({}, {}); }

}  // namespace detail

/// The word of a site or outer type; a number is its own.
template <class X> struct WordType {
  using Type_t = typename detail::host_word<detail::any_shape<X>.word>::type;
};
template <detail::Word W> struct WordType<W> {
  using Type_t = W;
};

/// With float and with double words.
template <class X> struct SinglePrecType {
  using Type_t = typename detail::reshaped<X, detail::any_shape<X>.with_word(detail::Type::f32)>::type;
};
template <class X> struct DoublePrecType {
  using Type_t = typename detail::reshaped<X, detail::any_shape<X>.with_word(detail::Type::f64)>::type;
};
template <std::floating_point W> struct SinglePrecType<W> {
  using Type_t = REAL32;
};
template <std::floating_point W> struct DoublePrecType<W> {
  using Type_t = REAL64;
};
template <class T> struct SinglePrecType<multi1d<T>> {
  using Type_t = multi1d<typename SinglePrecType<T>::Type_t>;
};
template <class T> struct DoublePrecType<multi1d<T>> {
  using Type_t = multi1d<typename DoublePrecType<T>::Type_t>;
};

/// The scalar that a number becomes: Real64 for double. Of other types that of their word.
template <class X> struct SimpleScalar {
  using Type_t = detail::word_scalar<typename WordType<X>::Type_t>;
};
/// One real number for all: OScalar of a real scalar; of a primitive a real primitive of as many levels.
template <class X> struct InternalScalar {
  static constexpr detail::Shape kShape = detail::levels_gone(detail::any_shape<X>.with_complex(false));
  using Type_t =
      std::conditional_t<detail::Primitive<X>, detail::site_type<kShape>, OScalar<detail::site_type<kShape>>>;
};
template <detail::Word W> struct InternalScalar<W> {
  using Type_t = W;
};
/// A real number with spin and colour gone, per site where X has one per site.
template <class X> struct PrimitiveScalar {
  using Type_t = typename detail::reshaped<X, detail::levels_gone(detail::any_shape<X>.with_complex(false))>::type;
};
template <detail::Word W> struct PrimitiveScalar<W> {
  using Type_t = W;
};
/// The value at one site.
template <class X> struct LatticeScalar {
  using Site = typename detail::site_of_any<X>::type;
  using Type_t = std::conditional_t<detail::Primitive<X>, Site, OScalar<Site>>;
};
template <detail::Word W> struct LatticeScalar<W> {
  using Type_t = W;
};
/// As InternalScalar.
template <class X> struct RealScalar {
  using Type_t = typename InternalScalar<X>::Type_t;
};
/// Without members, as in QDP++.
template <class X> struct NoComplex {};

/// Rows of the spin and of the colour level.
template <class X> struct NumSpins {
  static constexpr int value = detail::any_shape<X>.spin.n;
};
template <class X> struct NumColors {
  static constexpr int value = detail::any_shape<X>.color.n;
};

}  // namespace QDP
