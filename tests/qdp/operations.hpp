// What the tests of the language share: random operands, and the check of one operation on every kind of operand
// against the plain-loop reference.
#pragma once

#include "lattices.hpp"
#include "qdp.h"
#include "tests/reference/compare.hpp"
#include "tests/reference/from_site.hpp"
#include "tests/reference/tolerance.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace tests {

using QDP::OLattice;
using QDP::OScalar;
using QDP::detail::Sites;
using reference::SiteValue;
using reference::tol;
using reference::value;
using reference::values;
using reference::word_of;

/// What numbers an operand may hold.
enum class Range { any, positive };

template <class W>
W random_word(Range range) {
  if constexpr (std::is_same_v<W, bool>)
    return reference::random_integer(2) == 1;
  else if constexpr (std::is_integral_v<W>) {
    const W size = static_cast<W>(1 + reference::random_integer(9));
    return range == Range::any && reference::random_integer(2) ? -size : size;
  } else {
    const double x = reference::random_real();
    return static_cast<W>(range == Range::any ? x : std::abs(x));
  }
}

template <class T>
void fill_words(T* sites, int n, Range range) {
  using W = word_of<T>;
  W* to = reinterpret_cast<W*>(sites);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n) * sizeof(T) / sizeof(W); ++i) to[i] = random_word<W>(range);
}
/// The same on any grid of ranks.
template <class T>
OLattice<T> random_lattice(Range range = Range::any) {
  OLattice<T> x;
  std::vector<T> sites(QDP::Layout::vol());
  fill_words(sites.data(), static_cast<int>(sites.size()), range);
  reference::put(x, sites);
  return x;
}
template <class T>
OScalar<T> random_scalar(Range range = Range::any) {
  OScalar<T> x;
  fill_words(&x.elem(), 1, range);
  return x;
}

/// Fails the running test case unless the field is, site by site, what the formula says: of host indices in the whole lattice.
template <class T>
void check_field(const std::string& what, const OLattice<T>& got, const reference::SiteFormula& expected,
                 double tolerance) {
  const std::string difference =
      reference::difference(reference::values_here(got), reference::places_here(), expected, tolerance);
  CHECK_MESSAGE(difference.empty(), what, ": ", difference);
}
template <class T>
void check_site(const std::string& what, const T& got, const SiteValue& expected, double tolerance) {
  const std::string difference = reference::difference(value(got), expected, tolerance);
  CHECK_MESSAGE(difference.empty(), what, ": ", difference);
}

template <class E>
using site_of = typename std::remove_cvref_t<E>::Subtype_t;

using Formula1 = std::function<SiteValue(const SiteValue&)>;
using Formula2 = std::function<SiteValue(const SiteValue&, const SiteValue&)>;
using Formula3 = std::function<SiteValue(const SiteValue&, const SiteValue&, const SiteValue&)>;

/// f of a lattice, a scalar and a bare site value of type A, against the formula; the result's word is W.
template <class A, class W = word_of<A>, class F>
void check_unary(const std::string& what, F f, const Formula1& formula, int n_ops = 4, Range range = Range::any) {
  const auto a = random_lattice<A>(range);
  const auto sa = random_scalar<A>(range);
  using R = site_of<decltype(f(a))>;
  static_assert(std::is_same_v<word_of<R>, W>, "word of the result");
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(f(sa))>, OScalar<R>>, "scalar operand, scalar result");
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(f(sa.elem()))>, R>, "bare operand, bare result");
  const double tolerance = tol<std::common_type_t<word_of<R>, word_of<R>>>(n_ops);

  OLattice<R> r;
  r = f(a);
  const auto va = values(a);
  check_field(what + " (lattice)", r, [&](std::size_t i) { return formula(va[i]); }, tolerance);
  const SiteValue expected = formula(value(sa.elem()));
  check_site(what + " (scalar)", OScalar<R>(f(sa)).elem(), expected, tolerance);
  check_site(what + " (site value)", R(f(sa.elem())), expected, tolerance);
}

/// f of every mixture of lattice, scalar and bare operands of types A and B, against the formula; the result's word is W.
template <class A, class B, class W = std::common_type_t<word_of<A>, word_of<B>>, class F>
void check_binary(const std::string& what, F f, const Formula2& formula, int n_ops = 8, Range range_a = Range::any,
                  Range range_b = Range::any) {
  const auto a = random_lattice<A>(range_a);
  const auto b = random_lattice<B>(range_b);
  const auto sa = random_scalar<A>(range_a);
  const auto sb = random_scalar<B>(range_b);
  using R = site_of<decltype(f(a, b))>;
  static_assert(std::is_same_v<word_of<R>, W>, "word of the result");
  static_assert(std::is_same_v<site_of<decltype(f(sa, b))>, R> && std::is_same_v<site_of<decltype(f(a, sb))>, R>);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(f(sa, sb))>, OScalar<R>>, "scalar operands, scalar result");
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(f(sa.elem(), sb.elem()))>, R>,
                "bare operands, bare result");
  const double tolerance = tol<W>(n_ops);

  const auto va = values(a), vb = values(b);
  const SiteValue wa = value(sa.elem()), wb = value(sb.elem());
  OLattice<R> r;
  r = f(a, b);
  check_field(what + " (lattice, lattice)", r, [&](std::size_t i) { return formula(va[i], vb[i]); }, tolerance);
  r = f(sa, b);
  check_field(what + " (scalar, lattice)", r, [&](std::size_t i) { return formula(wa, vb[i]); }, tolerance);
  r = f(a, sb);
  check_field(what + " (lattice, scalar)", r, [&](std::size_t i) { return formula(va[i], wb); }, tolerance);
  check_site(what + " (scalar, scalar)", f(sa, sb).elem(), formula(wa, wb), tolerance);
  check_site(what + " (site values)", f(sa.elem(), sb.elem()), formula(wa, wb), tolerance);
}

/// A built-in number beside a lattice, a scalar and a bare site value. It takes the word of the other operand.
template <class A, class F>
void check_with_word(const std::string& what, F f, const Formula2& formula, double number, int n_ops = 8) {
  using W = word_of<A>;
  const auto a = random_lattice<A>();
  const auto sa = random_scalar<A>();
  const auto va = values(a);
  const double tolerance = tol<W>(n_ops);
  auto check = [&](auto word) {
    const SiteValue w = reference::real_number(static_cast<double>(static_cast<W>(word)));
    OLattice<site_of<decltype(f(word, a))>> left;
    left = f(word, a);
    check_field(what + " (word, lattice)", left, [&](std::size_t i) { return formula(w, va[i]); }, tolerance);
    OLattice<site_of<decltype(f(a, word))>> right;
    right = f(a, word);
    check_field(what + " (lattice, word)", right, [&](std::size_t i) { return formula(va[i], w); }, tolerance);
    check_site(what + " (word, scalar)", f(word, sa).elem(), formula(w, value(sa.elem())), tolerance);
    check_site(what + " (scalar, word)", f(sa, word).elem(), formula(value(sa.elem()), w), tolerance);
  };
  check(number);
  check(static_cast<float>(number));
  if (number == static_cast<int>(number)) check(static_cast<int>(number));
}

}  // namespace tests
