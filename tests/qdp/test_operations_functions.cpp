// Functions of one or two operands that act component by component, rearrange them, or take traces.
#include "operations.hpp"

#include <cmath>

using namespace tests;

namespace {

using D = Sites<double>;
using F = Sites<float>;
using Integer = QDP::Integer::Subtype_t;
using Boolean = QDP::Boolean::Subtype_t;

#define FUNCTION(name) [](const auto& x) { return QDP::name(x); }

template <class T, class W = word_of<T>, class Function>
void real_function(const char* what, Function f, double (*formula)(double), Range range = Range::any) {
  check_unary<T, W>(what, f, [formula](const SiteValue& a) { return reference::map(a, formula); }, 8, range);
}

}  // namespace

TEST_CASE("adj, conj and transpose") {
  create_lattice({4, 4, 4, 8});
  check_unary<D::ColorMatrix>("adj ColorMatrix", FUNCTION(adj), reference::adjoint);
  check_unary<F::SpinMatrix>("adj SpinMatrix", FUNCTION(adj), reference::adjoint);
  check_unary<F::Propagator>("adj Propagator", FUNCTION(adj), reference::adjoint);
  check_unary<D::Complex>("adj Complex", FUNCTION(adj), reference::adjoint);
  check_unary<D::Fermion>("adj Fermion: conjugate", FUNCTION(adj), reference::adjoint);
  check_unary<D::Real>("conj Real", FUNCTION(conj), reference::conjugate);
  check_unary<F::Complex>("conj Complex", FUNCTION(conj), reference::conjugate);
  check_unary<F::Propagator>("conj Propagator", FUNCTION(conj), reference::conjugate);
  check_unary<D::ColorMatrix>("transpose ColorMatrix", FUNCTION(transpose),
                              [](const SiteValue& x) { return reference::transpose(x, true, true); });
  check_unary<D::Propagator>("transpose Propagator", FUNCTION(transpose),
                             [](const SiteValue& x) { return reference::transpose(x, true, true); });
  check_unary<D::Propagator>("transposeSpin", FUNCTION(transposeSpin),
                             [](const SiteValue& x) { return reference::transpose(x, true, false); });
  check_unary<F::Propagator>("transposeColor", FUNCTION(transposeColor),
                             [](const SiteValue& x) { return reference::transpose(x, false, true); });
}

TEST_CASE("traces") {
  create_lattice({3, 5, 7, 2});
  auto both = [](const SiteValue& x) { return reference::trace(x, true, true); };
  auto spin = [](const SiteValue& x) { return reference::trace(x, true, false); };
  auto color = [](const SiteValue& x) { return reference::trace(x, false, true); };
  check_unary<D::ColorMatrix>("trace ColorMatrix", FUNCTION(trace), both, 8);
  check_unary<F::SpinMatrix>("trace SpinMatrix", FUNCTION(trace), both, 8);
  check_unary<D::Propagator>("trace Propagator", FUNCTION(trace), both, 24);
  check_unary<D::Complex>("trace Complex", FUNCTION(trace), both);
  check_unary<F::Propagator>("traceSpin Propagator", FUNCTION(traceSpin), spin, 8);
  check_unary<F::Propagator>("traceColor Propagator", FUNCTION(traceColor), color, 8);
  check_unary<D::ColorMatrix>("traceColor ColorMatrix", FUNCTION(traceColor), color, 8);
  check_unary<D::ColorMatrix>(
      "realTrace", FUNCTION(realTrace), [&](const SiteValue& x) { return reference::real_part(both(x)); }, 8);
  check_unary<F::Propagator>(
      "imagTrace", FUNCTION(imagTrace), [&](const SiteValue& x) { return reference::imaginary_part(both(x)); }, 24);
}

TEST_CASE("real and imaginary parts") {
  create_lattice({4, 4, 4, 8});
  check_unary<D::Complex>("real Complex", FUNCTION(real), reference::real_part);
  check_unary<F::Complex>("imag Complex", FUNCTION(imag), reference::imaginary_part);
  check_unary<F::Real>("real Real", FUNCTION(real), reference::real_part);
  check_unary<D::Real>("imag Real", FUNCTION(imag), reference::imaginary_part);
  check_unary<D::ColorMatrix>("real ColorMatrix", FUNCTION(real), reference::real_part);
  check_unary<D::Fermion>("imag Fermion", FUNCTION(imag), reference::imaginary_part);
  check_unary<D::Complex>("timesI Complex", FUNCTION(timesI),
                          [](const SiteValue& x) { return reference::times_i(x, +1); });
  check_unary<F::Fermion>("timesMinusI Fermion", FUNCTION(timesMinusI),
                          [](const SiteValue& x) { return reference::times_i(x, -1); });
  check_unary<F::ColorMatrix>("timesI ColorMatrix", FUNCTION(timesI),
                              [](const SiteValue& x) { return reference::times_i(x, +1); });
  check_binary<D::Real, D::Real>(
      "cmplx", [](const auto& a, const auto& b) { return QDP::cmplx(a, b); }, reference::complex_from);
  check_binary<F::Real, D::Real>(
      "cmplx mixed", [](const auto& a, const auto& b) { return QDP::cmplx(a, b); }, reference::complex_from);
}

TEST_CASE("functions of real numbers, double") {
  create_lattice({4, 4, 4, 8});
  real_function<D::Real>("sin", FUNCTION(sin), std::sin);
  real_function<D::Real>("cos", FUNCTION(cos), std::cos);
  real_function<D::Real>("tan", FUNCTION(tan), std::tan);
  real_function<D::Real>("asin", FUNCTION(asin), std::asin);
  real_function<D::Real>("acos", FUNCTION(acos), std::acos);
  real_function<D::Real>("atan", FUNCTION(atan), std::atan);
  real_function<D::Real>("sinh", FUNCTION(sinh), std::sinh);
  real_function<D::Real>("cosh", FUNCTION(cosh), std::cosh);
  real_function<D::Real>("tanh", FUNCTION(tanh), std::tanh);
  real_function<D::Real>("exp", FUNCTION(exp), std::exp);
  real_function<D::Real>("log", FUNCTION(log), std::log, Range::positive);
  real_function<D::Real>("log10", FUNCTION(log10), std::log10, Range::positive);
  real_function<D::Real>("sqrt", FUNCTION(sqrt), std::sqrt, Range::positive);
  real_function<D::Real>("fabs", FUNCTION(fabs), std::fabs);
  real_function<D::Real>("ceil", FUNCTION(ceil), std::ceil);
  real_function<D::Real>("floor", FUNCTION(floor), std::floor);
}

TEST_CASE("functions of real numbers, float and integer") {
  create_lattice({3, 5, 7, 2});
  real_function<F::Real>("sin", FUNCTION(sin), std::sin);
  real_function<F::Real>("cos", FUNCTION(cos), std::cos);
  real_function<F::Real>("acos", FUNCTION(acos), std::acos);
  real_function<F::Real>("exp", FUNCTION(exp), std::exp);
  real_function<F::Real>("log", FUNCTION(log), std::log, Range::positive);
  real_function<F::Real>("sqrt", FUNCTION(sqrt), std::sqrt, Range::positive);
  real_function<F::Real>("floor", FUNCTION(floor), std::floor);
  real_function<Integer, double>("cos of an integer", FUNCTION(cos), std::cos);
  real_function<Integer>("fabs of an integer", FUNCTION(fabs), std::fabs);
}

TEST_CASE("functions of two real numbers") {
  create_lattice({4, 4, 4, 8});
  auto power = [](const auto& a, const auto& b) { return QDP::pow(a, b); };
  auto angle = [](const auto& a, const auto& b) { return QDP::atan2(a, b); };
  auto power_formula = [](const SiteValue& a, const SiteValue& b) {
    return reference::map(a, b, [](double x, double y) { return std::pow(x, y); });
  };
  auto angle_formula = [](const SiteValue& a, const SiteValue& b) {
    return reference::map(a, b, [](double x, double y) { return std::atan2(x, y); });
  };
  check_binary<D::Real, D::Real>("pow", power, power_formula, 16, Range::positive);
  check_binary<F::Real, F::Real>("pow", power, power_formula, 16, Range::positive);
  check_binary<D::Real, D::Real>("atan2", angle, angle_formula);
  check_binary<F::Real, F::Real>("atan2", angle, angle_formula);
  check_binary<D::Real, D::Real>(
      "fmod", [](const auto& a, const auto& b) { return QDP::fmod(a, b); },
      [](const SiteValue& a, const SiteValue& b) {
        return reference::map(a, b, [](double x, double y) { return std::fmod(x, y); });
      });
  check_with_word<D::Real>(
      "pow with a word",
      [](const auto& a, const auto& b) { return QDP::pow(QDP::fabs(a + 0 * b), QDP::fabs(b + 0 * a)); },
      [](const SiteValue& a, const SiteValue& b) {
        return reference::map(a, b, [](double x, double y) { return std::pow(std::fabs(x), std::fabs(y)); });
      },
      2, 16);
}

TEST_CASE("where chooses site by site") {
  create_lattice({4, 4, 4, 8});
  auto check = [](auto type, const char* what) {
    using T = decltype(type);
    const auto mask = random_lattice<Boolean>();
    const auto a = random_lattice<T>();
    const auto b = random_lattice<T>();
    const auto s = random_scalar<T>();
    const auto vm = values(mask), va = values(a), vb = values(b);
    auto chosen = [&](std::size_t i) { return vm[i].components[0].re != 0; };
    OLattice<T> r;
    r = where(mask, a, b);
    check_field(what, r, [&](std::size_t i) { return reference::where(chosen(i), va[i], vb[i]); }, 0);
    r = where(mask, a, s);
    check_field(what, r, [&](std::size_t i) { return reference::where(chosen(i), va[i], value(s.elem())); }, 0);
    r = where(!mask, s, a * 2);
    check_field(
        what, r,
        [&](std::size_t i) { return reference::where(!chosen(i), value(s.elem()), reference::add(va[i], va[i])); },
        tol<double>(1));
    const QDP::Boolean yes(true), no(false);
    check_site(what, where(no, random_scalar<T>(), s).elem(), value(s.elem()), 0);
    check_site(what, where(yes, s, random_scalar<T>()).elem(), value(s.elem()), 0);
  };
  check(D::Real{}, "where Real");
  check(F::Complex{}, "where Complex");
  check(Integer{}, "where Integer");
  check(D::ColorVector{}, "where ColorVector");
  check(F::Fermion{}, "where Fermion");
  check(D::SpinMatrix{}, "where SpinMatrix");
}

TEST_CASE("where may take numbers of both precisions and integers") {
  create_lattice({2, 2, 2, 2});
  const auto mask = random_lattice<Boolean>();
  const auto f = random_lattice<F::Real>();
  const auto d = random_lattice<D::Real>();
  const auto vm = values(mask), vf = values(f), vd = values(d);
  QDP::LatticeRealD r;
  r = where(mask, f, d);
  check_field(
      "where(mask, float, double)", r, [&](std::size_t i) { return vm[i].components[0].re != 0 ? vf[i] : vd[i]; }, 0);
  QDP::LatticeInteger n;
  n = where(mask, QDP::Integer(5), QDP::Integer(-7));
  check_field(
      "where(mask, Integer, Integer)", n,
      [&](std::size_t i) { return reference::real_number(vm[i].components[0].re != 0 ? 5 : -7); }, 0);
}

TEST_CASE("PETE_identity is its argument") {
  create_lattice({2, 2, 2, 2});
  check_unary<D::Fermion>("PETE_identity", FUNCTION(PETE_identity), [](const SiteValue& x) { return x; });
}
