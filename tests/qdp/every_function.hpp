// Every function of the language on every type that it accepts: lattice fields, host scalars, mixtures of the two and bare
// site values, against the plain-loop reference. What QDP++ defines and the language does not accept is listed as missing.
//
// The combinations are enumerated by the compiler: a function is a callable that is constrained by its own expression, and
// which types it takes is asked of it, not told. Comparing is done by code without templates, so that thousands of
// combinations compile in seconds.
#pragma once

#include "operations.hpp"
#include "tests/reference/defined.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace tests {

using QDP::detail::Expr;
using QDP::detail::Shape;
using WordName = jit::ir::Type;

// ---- types -----------------------------------------------------------------------------------------------------------

template <class... T>
struct List {};
template <class... L>
struct Joined;
template <class... A>
struct Joined<List<A...>> {
  using type = List<A...>;
};
template <class... A, class... B, class... L>
struct Joined<List<A...>, List<B...>, L...> : Joined<List<A..., B...>, L...> {};

/// The site types of a word: those with a name, and real matrices and fermions, which real() makes.
template <class W>
using FloatTypes =
    List<typename Sites<W>::Real, typename Sites<W>::Complex, typename Sites<W>::ColorVector,
         typename Sites<W>::ColorMatrix, typename Sites<W>::SpinVector, typename Sites<W>::SpinMatrix,
         typename Sites<W>::HalfSpinVector, typename Sites<W>::HalfSpinMatrix, typename Sites<W>::Fermion,
         typename Sites<W>::HalfFermion, typename Sites<W>::Propagator, typename Sites<W>::HalfPropagator,
         typename Sites<W>::StaggeredFermion, typename Sites<W>::StaggeredPropagator,
         typename Sites<W>::ColorVectorSpinMatrix, typename Sites<W>::ColorMatrixSpinVector,
         QDP::PScalar<QDP::PColorMatrix<QDP::RScalar<W>, QDP::Nc>>,
         QDP::PSpinVector<QDP::PColorVector<QDP::RScalar<W>, QDP::Nc>, QDP::Ns>>;
using Wholes = List<QDP::Integer::Subtype_t, QDP::Boolean::Subtype_t>;
/// How words combine does not depend on the numbers of dimensions and colours: other builds than the usual one take the types
/// of one floating-point word, in half the time of compiling.
constexpr bool kEveryWord = QDP::Nd == 4 && QDP::Nc == 3;
using Doubles = Joined<FloatTypes<double>, Wholes>::type;
using EveryType = std::conditional_t<kEveryWord, Joined<FloatTypes<double>, FloatTypes<float>, Wholes>::type, Doubles>;

template <class... T>
void for_each_type(List<T...>, auto&& body) {
  (body.template operator()<T>(), ...);
}

/// Types that stand for all where the words differ: a kind of each level.
template <class W>
using FewTypes = List<typename Sites<W>::Real, typename Sites<W>::Complex, typename Sites<W>::ColorMatrix,
                      typename Sites<W>::Fermion>;
/// Every pair of types of one floating-point word and of whole numbers, and some of different words.
void for_each_pair(auto&& body) {
  auto every = [&]<class... A, class... B>(List<A...>, List<B...> right) {
    auto row = [&]<class X>() { for_each_type(right, [&]<class Y>() { body.template operator()<X, Y>(); }); };
    (row.template operator()<A>(), ...);
  };
  every(Doubles{}, Doubles{});
  if constexpr (kEveryWord) {
    every(FloatTypes<float>{}, FloatTypes<float>{});
    every(FewTypes<float>{}, FewTypes<double>{});
    every(FewTypes<double>{}, FewTypes<float>{});
    every(FewTypes<float>{}, Wholes{});
    every(Wholes{}, FewTypes<float>{});
  }
}
/// Scalars beside lattices take one road for all words: tried with doubles and whole numbers.
template <class A, class B>
constexpr bool kMixedOuterLevels =
    QDP::detail::shape_of<A>.word != WordName::f32 && QDP::detail::shape_of<B>.word != WordName::f32;

inline reference::SiteType site_type_of(Shape s) {
  auto index = [](QDP::detail::Level l) {
    using reference::Index;
    return l.is_scalar()                         ? Index::number()
           : l.kind == QDP::detail::Kind::vector ? Index::column(l.n)
                                                 : Index::matrix(l.n);
  };
  using reference::Word;
  return {index(s.spin), index(s.color), s.complex,
          s.word == WordName::b1      ? Word::truth
          : jit::ir::is_float(s.word) ? Word::real
                                      : Word::integer};
}

/// A site of any type from its words in memory: spin slowest, then colour, then real and imaginary part.
inline SiteValue decode(Shape shape, const void* words) {
  const reference::SiteType type = site_type_of(shape);
  SiteValue r(type.spin, type.color, type.complex);
  auto word = [&](std::size_t i) {
    switch (shape.word) {
      case WordName::b1:
        return static_cast<double>(static_cast<const bool*>(words)[i]);
      case WordName::i32:
        return static_cast<double>(static_cast<const int*>(words)[i]);
      case WordName::i64:
        return static_cast<double>(static_cast<const long*>(words)[i]);
      case WordName::f32:
        return static_cast<double>(static_cast<const float*>(words)[i]);
      default:
        return static_cast<const double*>(words)[i];
    }
  };
  const std::size_t reals = shape.complex ? 2 : 1;
  for (std::size_t i = 0; i < r.components.size(); ++i)
    r.components[i] = {word(reals * i), shape.complex ? word(reals * i + 1) : 0};
  return r;
}

/// What a word of a type holds of a number: nearest float, integer part, unlike nought.
inline SiteValue rounded(SiteValue x, WordName w) {
  auto one = [w](double v) {
    switch (w) {
      case WordName::b1:
        return static_cast<double>(v != 0);
      case WordName::i32:
      case WordName::i64:
        return std::trunc(v);
      case WordName::f32:
        return static_cast<double>(static_cast<float>(v));
      default:
        return v;
    }
  };
  for (reference::Number& z : x.components) z = {one(z.re), one(z.im)};
  return x;
}

inline double tolerance_of(WordName w, int n_ops) {
  return w == WordName::f32 ? tol<float>(n_ops) : w == WordName::f64 ? tol<double>(n_ops) : 0;
}

/// The lattice of these tests: sites that fill lanes, extents that differ.
inline void create_small_lattice() {
  static const bool once = (create_lattice({8, 4, 2, 2}), true);
  (void)once;
}

/// An operand as the formula sees it: a value at each site, or one for all.
struct Side {
  const SiteValue* first;
  bool varies;
  const SiteValue& at(std::size_t i) const { return first[varies ? i : 0]; }
};

/// Random operands of one type: made once for each place in a call, so that the two of a pair differ.
template <class T>
struct Operand {
  OLattice<T> field;
  std::vector<SiteValue> at;
  OScalar<T> scalar;
  SiteValue one;

  explicit Operand(Range range)
      : field(random_lattice<T>(range)),
        at(values(field)),
        scalar(random_scalar<T>(range)),
        one(value(scalar.elem())) {}
  Side sites() const { return {at.data(), true}; }
  Side everywhere() const { return {&one, false}; }
  template <int Place>
  static const Operand& random(Range range) {
    create_small_lattice();
    static const Operand any(Range::any), positive(Range::positive);
    return range == Range::any ? any : positive;
  }
};

// ---- functions -------------------------------------------------------------------------------------------------------

/// The word of a result: that of C++'s arithmetic, at least double, of the first operand, ...
enum class Result { promoted, sum, first, truth, function, bits };

constexpr WordName result_word(Result rule, WordName a, WordName b) {
  const WordName wide = std::max(a, b);
  switch (rule) {
    case Result::promoted:
      return std::max(wide, WordName::i32);
    case Result::sum:
      return jit::ir::is_float(wide) ? WordName::f64 : std::max(wide, WordName::i32);
    case Result::first:
      return a;
    case Result::truth:
      return WordName::b1;
    case Result::function:
      return jit::ir::is_float(wide) ? wide : WordName::f64;
    case Result::bits:
      return wide;
  }
  return wide;
}

template <class F, class Formula>
struct Function {
  const char* name;
  F call;                       ///< constrained by what it says: which types it takes is asked of it
  reference::Overloads theirs;  ///< those that QDP++ has
  Formula formula;
  Result result = Result::promoted;
  Range a = Range::any, b = Range::any;
};

#define TESSERA_CALL1(...) [](const auto& a) requires requires { __VA_ARGS__; } { return __VA_ARGS__; }
#define TESSERA_CALL2(...) [](const auto& a, const auto& b) requires requires { __VA_ARGS__; } { return __VA_ARGS__; }

/// Combinations that were checked, those among them that QDP++ does not have, and those that only QDP++ has.
struct Census {
  int checked = 0, beyond = 0;
  std::vector<std::string> missing;
};
inline std::string call_text(const char* name, Shape a) {
  return std::string(name) + "(" + QDP::detail::describe(a) + ")";
}
inline std::string call_text(const char* name, Shape a, Shape b) {
  return std::string(name) + "(" + QDP::detail::describe(a) + ", " + QDP::detail::describe(b) + ")";
}
template <class... S>
void note_absent(Census& census, const char* name, const reference::Overloads& theirs, S... shape) {
  if (reference::defined(theirs, site_type_of(shape)...)) census.missing.push_back(call_text(name, shape...));
}
template <class... S>
void note_checked(Census& census, const reference::Overloads& theirs, S... shape) {
  ++census.checked;
  census.beyond += !reference::defined(theirs, site_type_of(shape)...);
}
/// The verdict: how many combinations of all words there are, and that none is missing but the known ones.
inline void check_census(const Census& census, int expected, const std::vector<std::string>& known = {}) {
  MESSAGE("combinations checked: ", census.checked, ", of them beyond QDP++: ", census.beyond,
          "; missing: ", census.missing.size());
  if (kEveryWord)
    CHECK(census.checked == expected);
  else
    CHECK((census.checked > 0) == (expected > 0));
  for (const std::string& what : census.missing)
    CHECK_MESSAGE(std::find(known.begin(), known.end(), what) != known.end(),
                  "QDP++ has it, the language does not: ", what);
}

// ---- comparing, without templates ------------------------------------------------------------------------------------

/// Rounding errors allowed, in units of the largest component: a propagator's product adds 12 complex products.
constexpr int kOperations = 100;

inline void check_bytes(const std::string& what, Shape shape, const void* host, std::size_t sites, WordName word,
                        const reference::SiteFormula& expected) {
  CHECK_MESSAGE(shape.word == word, what, ": word of the result is ", std::string(jit::ir::name(shape.word)),
                ", expected ", std::string(jit::ir::name(word)));
  std::vector<SiteValue> got;
  for (std::size_t i = 0; i < sites; ++i)
    got.push_back(decode(shape, static_cast<const std::byte*>(host) + i * shape.bytes()));
  std::vector<std::size_t> places = {0};
  if (sites > 1) places = reference::places_here();
  const std::string difference = reference::difference(got, places, expected, tolerance_of(word, kOperations));
  CHECK_MESSAGE(difference.empty(), what, ": ", difference);
}
inline void check_expression(const std::string& what, const Expr& expr, WordName word,
                             const reference::SiteFormula& expected) {
  auto field = QDP::detail::new_field(expr->shape);
  QDP::detail::assign(field, expr->shape, QDP::all.domain(), expr);
  check_bytes(what, expr->shape, field->host_read(), static_cast<std::size_t>(QDP::Layout::sitesOnNode()), word,
              expected);
}
inline void check_expression(const std::string& what, const Expr& expr, WordName word, const Formula1& f, Side a) {
  check_expression(what, expr, word, [&](std::size_t i) { return f(a.at(i)); });
}
inline void check_expression(const std::string& what, const Expr& expr, WordName word, const Formula2& f, Side a,
                             Side b) {
  check_expression(what, expr, word, [&](std::size_t i) { return f(a.at(i), b.at(i)); });
}
template <class R>
void check_value(const std::string& what, const R& got, WordName word, const SiteValue& expected) {
  const auto& site = QDP::detail::site_value(got);
  check_bytes(what, QDP::detail::operand_shape<R>, &site, 1, word, [&](std::size_t) { return expected; });
}

// ---- enumerating -----------------------------------------------------------------------------------------------------

template <class T, class F>
void check_one(const F& f, Census& census) {
  constexpr Shape shape = QDP::detail::shape_of<T>;
  constexpr bool ours = std::is_invocable_v<decltype(f.call), const OLattice<T>&>;
  if constexpr (!ours) {
    note_absent(census, f.name, f.theirs, shape);
  } else {
    note_checked(census, f.theirs, shape);
    const std::string what = call_text(f.name, shape);
    const auto& a = Operand<T>::template random<0>(f.a);
    const WordName word = result_word(f.result, shape.word, shape.word);
    check_expression(what + ", lattice", QDP::detail::to_expr(f.call(a.field)), word, f.formula, a.sites());
    const SiteValue expected = f.formula(a.one);
    check_value(what + ", scalar", f.call(a.scalar), word, expected);
    check_value(what + ", site", f.call(a.scalar.elem()), word, expected);
  }
}

template <class F>
void check_every_type(Census& census, const F& f) {
  for_each_type(EveryType{}, [&]<class T>() { check_one<T>(f, census); });
}

template <class A, class B, class F>
void check_pair(const F& f, Census& census) {
  using QDP::detail::to_expr;
  constexpr Shape sa = QDP::detail::shape_of<A>, sb = QDP::detail::shape_of<B>;
  constexpr bool ours = std::is_invocable_v<decltype(f.call), const OLattice<A>&, const OLattice<B>&>;
  if constexpr (!ours) {
    note_absent(census, f.name, f.theirs, sa, sb);
  } else {
    note_checked(census, f.theirs, sa, sb);
    const std::string what = call_text(f.name, sa, sb);
    const auto& a = Operand<A>::template random<0>(f.a);
    const auto& b = Operand<B>::template random<1>(f.b);
    const WordName word = result_word(f.result, sa.word, sb.word);
    check_expression(what + ", lattices", to_expr(f.call(a.field, b.field)), word, f.formula, a.sites(), b.sites());
    const SiteValue expected = f.formula(a.one, b.one);
    check_value(what + ", scalars", f.call(a.scalar, b.scalar), word, expected);
    if constexpr (kMixedOuterLevels<A, B>) {
      check_expression(what + ", scalar and lattice", to_expr(f.call(a.scalar, b.field)), word, f.formula,
                       a.everywhere(), b.sites());
      check_expression(what + ", lattice and scalar", to_expr(f.call(a.field, b.scalar)), word, f.formula, a.sites(),
                       b.everywhere());
      check_value(what + ", sites", f.call(a.scalar.elem(), b.scalar.elem()), word, expected);
    }
  }
}

template <class F>
void check_every_pair(Census& census, const F& f) {
  for_each_pair([&]<class A, class B>() { check_pair<A, B>(f, census); });
}

}  // namespace tests
