// Random expression trees: each term is an expression together with its value, by the reference, at any site.
//
// Trees are over real and complex numbers, colour matrices, fermions, half fermions and spin matrices, with shifts of
// sub-expressions, words, scalars and truth values mixed in. Along with its value the reference bounds the rounding
// error that the site may have collected, so that cancellation is allowed what it deserves and no more.
#pragma once

#include "places.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tests {

/// A value and a bound on its rounding error, in units of the word's epsilon.
struct Rounded {
  SiteValue value;
  double error = 0;
};

template <class T>
struct Term {
  QDP::QDPExpr<T, OLattice<T>> expr;
  std::function<Rounded(std::size_t site)> at;
};

/// Makes random terms from a few random fields whose word is W, some of them kept in 16 bits; with Mixed, fields of the other precision take part.
template <class W, bool Mixed>
class RandomTrees {
 public:
  using Other = std::conditional_t<std::is_same_v<W, double> && Mixed, float, W>;
  using S = Sites<W>;
  using Real = typename S::Real;
  using Complex = typename S::Complex;
  using ColorMatrix = typename S::ColorMatrix;
  using Fermion = typename S::Fermion;
  using HalfFermion = typename S::HalfFermion;
  using SpinMatrix = typename S::SpinMatrix;

  explicit RandomTrees(const Places& places)
      : places_(places),
        reals_(2),
        complexes_(2),
        matrices_(3),
        fermions_(2),
        spins_(1),
        other_matrices_(1),
        other_reals_(1) {}

  Term<Real> real(int depth) {
    if (depth <= 0) return any(12) == 0 ? leaf(other_reals_) : leaf(reals_);
    switch (any(11)) {
      case 0:
        return sum(real(depth - 1), real(depth - 1));
      case 1:
        return difference(real(depth - 1), real(depth - 1));
      case 2:
        return product(real(depth - 1), real(depth - 1), 1);
      case 3:
        return unary(complex(depth - 1), [](const auto& x) { return QDP::real(x); }, reference::real_part);
      case 4:
        return unary(complex(depth - 1), [](const auto& x) { return QDP::imag(x); }, reference::imaginary_part);
      case 5:
        return function(
            real(depth - 1), [](const auto& x) { return QDP::sin(x); }, [](double x) { return std::sin(x); });
      case 6:
        return function(
            real(depth - 1), [](const auto& x) { return QDP::cos(x); }, [](double x) { return std::cos(x); });
      case 7:
        return unary(
            real(depth - 1), [](const auto& x) { return QDP::fabs(x); },
            [](const SiteValue& x) { return reference::map(x, [](double y) { return std::fabs(y); }); });
      case 8:
        return chosen(real(depth - 1), real(depth - 1));
      case 9:
        return unary(
            matrix(depth - 1), [](const auto& x) { return QDP::real(QDP::trace(x)); },
            [](const SiteValue& x) { return reference::real_part(reference::trace(x, true, true)); }, 3);
      default:
        return shifted(real(depth - 1));
    }
  }

  Term<Complex> complex(int depth) {
    if (depth <= 0) return leaf(complexes_);
    switch (any(10)) {
      case 0:
        return sum(complex(depth - 1), complex(depth - 1));
      case 1:
        return product(complex(depth - 1), complex(depth - 1), 2);
      case 2:
        return linear(
            real(depth - 1), real(depth - 1), [](const auto& x, const auto& y) { return QDP::cmplx(x, y); },
            reference::complex_from);
      case 3:
        return unary(complex(depth - 1), [](const auto& x) { return QDP::conj(x); }, reference::conjugate);
      case 4:
        return unary(
            matrix(depth - 1), [](const auto& x) { return QDP::trace(x); },
            [](const SiteValue& x) { return reference::trace(x, true, true); }, 3);
      case 5:
        return product(real(depth - 1), complex(depth - 1), 1);
      case 6:
        return unary(
            complex(depth - 1), [](const auto& x) { return QDP::timesMinusI(x); },
            [](const SiteValue& x) { return reference::times_i(x, -1); });
      case 7: {
        const int a = any(QDP::Nc), b = any(QDP::Nc);
        return unary(
            matrix(depth - 1), [=](const auto& x) { return QDP::peekColor(x, a, b); },
            [=](const SiteValue& x) { return reference::color_component(x, a, b); });
      }
      case 8:
        return chosen(complex(depth - 1), complex(depth - 1));
      default:
        return shifted(complex(depth - 1));
    }
  }

  Term<ColorMatrix> matrix(int depth) {
    if (depth <= 0) return any(6) == 0 ? leaf(other_matrices_) : leaf(matrices_);
    switch (any(11)) {
      case 0:
        return sum(matrix(depth - 1), matrix(depth - 1));
      case 1:
      case 2:
        return product(matrix(depth - 1), matrix(depth - 1), 6);
      case 3:
        return bilinear(
            matrix(depth - 1), matrix(depth - 1), [](const auto& x, const auto& y) { return QDP::adj(x) * y; },
            [](const SiteValue& x, const SiteValue& y) { return reference::multiply(reference::adjoint(x), y); }, 6);
      case 4:
        return bilinear(
            matrix(depth - 1), matrix(depth - 1), [](const auto& x, const auto& y) { return x * QDP::adj(y); },
            [](const SiteValue& x, const SiteValue& y) { return reference::multiply(x, reference::adjoint(y)); }, 6);
      case 5:
        return unary(matrix(depth - 1), [](const auto& x) { return QDP::adj(x); }, reference::adjoint);
      case 6:
        return product(complex(depth - 1), matrix(depth - 1), 2);
      case 7:
        return difference(matrix(depth - 1), complex(depth - 1));
      case 8:
        return unary(
            matrix(depth - 1), [](const auto& x) { return 0.5 * x; },
            [](const SiteValue& x) { return reference::multiply(reference::real_number(0.5), x); });
      case 9:
        return scalar_times(matrix(depth - 1));
      default:
        return shifted(matrix(depth - 1));
    }
  }

  Term<Fermion> fermion(int depth) {
    if (depth <= 0) return leaf(fermions_);
    switch (any(8)) {
      case 0:
        return difference(fermion(depth - 1), fermion(depth - 1));
      case 1:
        return product(matrix(depth - 1), fermion(depth - 1), 6);
      case 2: {
        const int n = any(16);
        return unary(
            fermion(depth - 1), [n](const auto& x) { return QDP::Gamma(n) * x; },
            [n](const SiteValue& x) { return reference::multiply(reference::gamma(n), x); });
      }
      case 3: {
        const int mu = any(QDP::Nd), sign = any(2) ? 1 : -1;
        return unary(
            half(depth - 1), [=](const auto& x) { return QDP::spinReconstruct(x, mu, sign); },
            [=](const SiteValue& x) { return reference::spin_reconstruct(x, mu, sign); });
      }
      case 4:
        return product(complex(depth - 1), fermion(depth - 1), 2);
      case 5:
        return product(spin(depth - 1), fermion(depth - 1), 8);
      case 6:
        return unary(
            fermion(depth - 1), [](const auto& x) { return QDP::chiralProjectMinus(x); },
            [](const SiteValue& x) { return reference::chiral_project(x, -1); });
      default:
        return shifted(fermion(depth - 1));
    }
  }

  Term<HalfFermion> half(int depth) {
    const int mu = any(QDP::Nd), sign = any(2) ? 1 : -1;
    auto projected = [&] {
      return unary(
          fermion(depth - 1), [=](const auto& x) { return QDP::spinProject(x, mu, sign); },
          [=](const SiteValue& x) { return reference::spin_project(x, mu, sign); }, 2);
    };
    if (depth <= 1) return projected();
    switch (any(3)) {
      case 0:
        return product(matrix(depth - 1), half(depth - 1), 6);
      case 1:
        return shifted(half(depth - 1));
      default:
        return projected();
    }
  }

  Term<SpinMatrix> spin(int depth) {
    if (depth <= 0) return leaf(spins_);
    const int n = any(16);
    switch (any(5)) {
      case 0:
        return sum(spin(depth - 1), complex(depth - 1));
      case 1:
        return product(spin(depth - 1), spin(depth - 1), 8);
      case 2:
        return unary(
            spin(depth - 1), [n](const auto& x) { return QDP::Gamma(n) * x * QDP::Gamma(15 - n); },
            [n](const SiteValue& x) {
              return reference::multiply(reference::multiply(reference::gamma(n), x), reference::gamma(15 - n));
            });
      case 3:
        return unary(
            spin(depth - 1), [](const auto& x) { return QDP::transpose(x); },
            [](const SiteValue& x) { return reference::transpose(x, true, true); });
      default:
        return shifted(spin(depth - 1));
    }
  }

 private:
  template <class T>
  struct Leaves {
    std::vector<OLattice<T>> fields;
    std::vector<std::vector<SiteValue>> values_;
    explicit Leaves(int n) {
      for (int i = 0; i < n; ++i) {
        fields.push_back(random_lattice<T>());
        constexpr auto half = QDP::FieldStorage::half;
        if (QDP::detail::can_store(half, OLattice<T>::kShape) && any(3) == 0) fields.back().setStorage(half);
        values_.push_back(values(OLattice<T>(std::as_const(fields.back()))));
      }
    }
  };

  static int any(int n) { return reference::random_integer(n); }

  /// One of the fields, converted to the word W by a product if it has the other one.
  template <class T>
  auto leaf(const Leaves<T>& from) {
    const auto i = static_cast<std::size_t>(any(static_cast<int>(from.fields.size())));
    const auto& v = from.values_[i];
    using R =
        std::conditional_t<std::is_same_v<T, typename Sites<Other>::Real>, Real,
                           std::conditional_t<std::is_same_v<T, typename Sites<Other>::ColorMatrix>, ColorMatrix, T>>;
    auto at = [&v](std::size_t x) { return Rounded{v[x], 0}; };
    if constexpr (std::is_same_v<R, T>) {
      return Term<R>{QDP::QDPExpr<R, OLattice<R>>(QDP::detail::to_expr(from.fields[i])), at};
    } else {
      OScalar<Real> one = 1.0;
      return Term<R>{from.fields[i] * one, at};
    }
  }

  static double size(const SiteValue& x) {
    double m = 0;
    for (reference::Number z : x.components) m = std::max({m, std::abs(z.re), std::abs(z.im)});
    return m;
  }

  /// Every component of the result is a sum of at most `terms` components of a.
  template <class A, class F>
  static auto unary(Term<A> a, F f, Formula1 formula, double terms = 1) {
    auto e = f(a.expr);
    return Term<site_of<decltype(e)>>{std::move(e), [p = a.at, formula, terms](std::size_t x) {
                                        const Rounded r = p(x);
                                        return Rounded{formula(r.value), terms * (r.error + 4 * size(r.value))};
                                      }};
  }
  /// Every component of the result is a sum of at most `terms` products of components of a and b.
  template <class A, class B, class F>
  static auto bilinear(Term<A> a, Term<B> b, F f, Formula2 formula, double terms) {
    auto e = f(a.expr, b.expr);
    return Term<site_of<decltype(e)>>{std::move(e), [p = a.at, q = b.at, formula, terms](std::size_t x) {
                                        const Rounded r = p(x), s = q(x);
                                        const double m = size(r.value), n = size(s.value);
                                        return Rounded{formula(r.value, s.value),
                                                       terms * (m * s.error + n * r.error + 4 * m * n)};
                                      }};
  }
  template <class A, class B>
  static auto product(Term<A> a, Term<B> b, double terms) {
    return bilinear(
        std::move(a), std::move(b), [](const auto& x, const auto& y) { return x * y; }, reference::multiply, terms);
  }
  template <class A, class B, class F>
  static auto linear(Term<A> a, Term<B> b, F f, Formula2 formula) {
    auto e = f(a.expr, b.expr);
    return Term<site_of<decltype(e)>>{std::move(e), [p = a.at, q = b.at, formula](std::size_t x) {
                                        const Rounded r = p(x), s = q(x);
                                        return Rounded{formula(r.value, s.value),
                                                       r.error + s.error + size(r.value) + size(s.value)};
                                      }};
  }
  template <class A, class B>
  static auto sum(Term<A> a, Term<B> b) {
    return linear(std::move(a), std::move(b), [](const auto& x, const auto& y) { return x + y; }, reference::add);
  }
  template <class A, class B>
  static auto difference(Term<A> a, Term<B> b) {
    return linear(std::move(a), std::move(b), [](const auto& x, const auto& y) { return x - y; }, reference::subtract);
  }
  /// A function with |g| <= 1 and |g'| <= 1.
  template <class A, class F>
  static auto function(Term<A> a, F f, double (*g)(double)) {
    auto e = f(a.expr);
    return Term<site_of<decltype(e)>>{std::move(e), [p = a.at, g](std::size_t x) {
                                        const Rounded r = p(x);
                                        return Rounded{reference::map(r.value, g), r.error + 4};
                                      }};
  }
  template <class A>
  Term<A> shifted(Term<A> a) {
    const int mu = any(QDP::Nd), sign = any(2) ? FORWARD : BACKWARD;
    return {QDP::shift(a.expr, sign, mu),
            [p = a.at, mu, sign, this](std::size_t x) { return p(places_.neighbour(x, mu, sign)); }};
  }
  /// where() on the comparison of two fields: exact, so that rounding cannot turn the choice.
  template <class A>
  Term<A> chosen(Term<A> a, Term<A> b) {
    const auto& v = reals_.values_;
    return {QDP::where(reals_.fields[0] < QDP::shift(reals_.fields[1], FORWARD, 1), a.expr, b.expr),
            [&v, this, p = a.at, q = b.at](std::size_t x) {
              return v[0][x].components[0].re < v[1][places_.neighbour(x, 1, 1)].components[0].re ? p(x) : q(x);
            }};
  }
  template <class A>
  static Term<A> scalar_times(Term<A> a) {
    const auto z = random_scalar<Complex>();
    return {z * a.expr, [p = a.at, w = reference::value(z.elem())](std::size_t x) {
              const Rounded r = p(x);
              return Rounded{reference::multiply(w, r.value), 2 * r.error + 8 * size(r.value)};
            }};
  }

  const Places& places_;
  Leaves<Real> reals_;
  Leaves<Complex> complexes_;
  Leaves<ColorMatrix> matrices_;
  Leaves<Fermion> fermions_;
  Leaves<SpinMatrix> spins_;
  Leaves<typename Sites<Other>::ColorMatrix> other_matrices_;
  Leaves<typename Sites<Other>::Real> other_reals_;
};

/// What became of one tree.
struct TreeCheck {
  std::string failure;
  bool sharp = true;  ///< the allowed error is far below the size of the result
};

/// Assigns the term to a random field on a random subset and compares a sample of sites, all of them on small lattices.
template <class Dest, class T>
TreeCheck check_term(const Places& places, const std::vector<NamedSubset>& some, const Term<T>& term) {
  constexpr double epsilon = tol<word_of<Dest>>(1);
  const NamedSubset& s = some[static_cast<std::size_t>(reference::random_integer(static_cast<int>(some.size())))];
  auto dest = random_lattice<Dest>();
  const OLattice<Dest> before = dest;
  dest[s.subset] = term.expr;
  const auto got = values(dest), kept = values(before);
  const std::size_t n = places.sites().size(), samples = std::min<std::size_t>(n, 16);
  TreeCheck result;
  for (std::size_t k = 0; k < samples; ++k) {
    const std::size_t i = n <= samples ? k
                          : k == 0     ? 0
                          : k == 1     ? n - 1
                                       : static_cast<std::size_t>(reference::random_integer(static_cast<int>(n)));
    const bool written = s.contains(places.at(i));
    const Rounded expected = written ? term.at(i) : Rounded{kept[i], 0};
    const double allowed = written ? epsilon * (expected.error + 2) : 0;
    result.sharp = result.sharp && allowed < 1e-2;
    const std::string text = reference::difference(got[i], expected.value, allowed);
    if (!text.empty()) return {s.name + ", site " + std::to_string(i) + ": " + text, result.sharp};
  }
  return result;
}

/// `count` random trees on one lattice.
template <class W, bool Mixed>
void check_random_trees(const Extents& extents, int count, unsigned seed) {
  reference::seed_random(seed);
  create_lattice(extents);
  const Places places(extents);
  const auto some = subsets(extents);
  using Trees = RandomTrees<W, Mixed>;
  Trees trees(places);
  using Out = std::conditional_t<Mixed, float, W>;  // a tree of double words may land in a float field
  int blunt = 0;
  for (int i = 0; i < count; ++i) {
    const int depth = 2 + reference::random_integer(4);
    TreeCheck check;
    switch (i % 5) {
      case 0:
        check = check_term<typename Trees::Real>(places, some, trees.real(depth));
        break;
      case 1:
        check = check_term<typename Trees::Complex>(places, some, trees.complex(depth));
        break;
      case 2:
        check = check_term<typename Sites<Out>::ColorMatrix>(places, some, trees.matrix(depth));
        break;
      case 3:
        check = check_term<typename Sites<Out>::Fermion>(places, some, trees.fermion(depth));
        break;
      default:
        check = check_term<typename Trees::SpinMatrix>(places, some, trees.spin(depth));
        break;
    }
    CHECK_MESSAGE(check.failure.empty(), name_of(extents), ", tree ", i, " of seed ", seed, ": ", check.failure);
    blunt += !check.sharp;
  }
  CHECK(blunt * 10 <= count);
}

}  // namespace tests
