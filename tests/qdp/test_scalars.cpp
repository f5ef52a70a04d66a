// Scalars: first-class values on the host, with the same algebra as the sites of a lattice.
#include "operations.hpp"

#include "qdp/expr/evaluate.hpp"

#include <cmath>
#include <cstring>
#include <vector>

using namespace tests;
using namespace QDP;

TEST_CASE("real scalars are made from words and from each other") {
  const Real a = 1.5;
  const Real b(2);
  const Double c = a;
  const RealF f = 0.1;
  const RealD d = f;
  const Integer n = 7;
  const Real from_integer = n;
  CHECK(toDouble(a) == 1.5);
  CHECK(toDouble(b) == 2.0);
  CHECK(toDouble(c) == 1.5);
  CHECK(toFloat(f) == 0.1f);
  CHECK(toDouble(d) == static_cast<double>(0.1f));
  CHECK(toDouble(from_integer) == 7.0);
  CHECK(toInt(n) == 7);
  CHECK(toInt(Real(-2.75)) == -2);
  CHECK(toDouble(Real(zero)) == 0.0);
  CHECK(toBool(Boolean(true)));
  CHECK_FALSE(toBool(Boolean(false)));
  static_assert(std::is_same_v<decltype(toWordType(f)), float>);
  static_assert(std::is_same_v<decltype(toWordType(n)), int>);
}

TEST_CASE("arithmetic of real scalars is immediate") {
  const Real a = 3, b = 0.5;
  CHECK(toDouble(a * b + a / b - b) == 7.0);
  CHECK(toDouble(2 * a - 1) == 5.0);
  CHECK(toDouble(1 / b) == 2.0);
  CHECK(toDouble(-a) == -3.0);
  Real c = a;
  c += b;
  c *= 2;
  c -= 1.0;
  c /= Real(3);
  CHECK(toDouble(c) == 2.0);
  CHECK(toDouble(sqrt(Real(2.25))) == 1.5);
  CHECK(toDouble(pow(Real(2), Real(10))) == 1024.0);
  CHECK(toDouble(pow(Real(2), 3)) == doctest::Approx(8.0));
  CHECK(toDouble(atan2(Real(1), Real(1))) == doctest::Approx(std::atan2(1.0, 1.0)));
  CHECK(toDouble(fabs(Real(-4))) == 4.0);
  CHECK(toDouble(ceil(Real(1.2)) + floor(Real(1.8))) == 3.0);
}

TEST_CASE("comparisons of scalars steer the host") {
  const Real a = 1, b = 2;
  CHECK(toBool(a < b));
  CHECK(toBool(a <= b));
  CHECK_FALSE(toBool(a > b));
  CHECK(toBool(b >= 2));
  CHECK(toBool(a == 1));
  CHECK(toBool(a != b));
  CHECK(toBool(a < b && b < Real(3)));
  CHECK(toBool(a > b || b == Real(2)));
  CHECK(toBool(!(a > b)));
  CHECK(toDouble(where(a < b, a, b)) == 1.0);
  CHECK(toBool(Integer(3) > 2));
}

TEST_CASE("integers divide and count as in C++") {
  const Integer n = 17;
  CHECK(toInt(n / 5) == 3);
  CHECK(toInt(n % 5) == 2);
  CHECK(toInt(Integer(-17) / Integer(5)) == -3);
  CHECK(toInt(Integer(-17) % Integer(5)) == -2);
  CHECK(toInt((n << 2) | Integer(1)) == 69);
  CHECK(toInt(n & Integer(5)) == 1);
  CHECK(toInt(n ^ Integer(5)) == 20);
  CHECK(toInt(~n) == -18);
  CHECK(toDouble(Real(0.5) * n) == 8.5);
}

TEST_CASE("complex scalars") {
  const Complex z = cmplx(Real(3), Real(-4));
  CHECK(z.elem().elem().elem().real() == 3);
  CHECK(z.elem().elem().elem().imag() == -4);
  CHECK(toDouble(real(z)) == 3.0);
  CHECK(toDouble(imag(conj(z))) == 4.0);
  CHECK(toDouble(norm2(z)) == 25.0);
  CHECK(toDouble(localNorm2(z)) == 25.0);
  const Complex one = z / z;
  CHECK(toDouble(real(one)) == doctest::Approx(1.0));
  CHECK(std::abs(toDouble(imag(one))) < 1e-15);
  const Complex inverse = 1.0 / z;
  CHECK(toDouble(real(inverse)) == doctest::Approx(3.0 / 25));
  CHECK(toDouble(imag(inverse)) == doctest::Approx(4.0 / 25));
  Complex w = 2;
  w *= z;
  w += Real(1);
  w -= timesI(z);
  CHECK(toDouble(real(w)) == 2 * 3 + 1 - 4.0);
  CHECK(toDouble(imag(w)) == -8 - 3.0);
  w = zero;
  CHECK(toDouble(norm2(w)) == 0.0);
  w = Real(5);
  CHECK(toDouble(imag(w)) == 0.0);
  const ComplexF narrow = z;
  const Complex back = narrow;
  CHECK(toDouble(norm2(back - z)) == 0.0);
}

TEST_CASE("matrices of scalars: unit matrices from numbers, products, traces") {
  SpinMatrix one = 1.0;
  CHECK(toDouble(real(trace(one))) == 4.0);
  ColorMatrix u = 1;
  CHECK(toDouble(real(trace(u))) == Nc);
  Propagator p = 1;
  CHECK(toDouble(real(trace(p))) == 4 * Nc);
  const auto a = random_scalar<Sites<double>::Propagator>();
  const SiteValue va = value(a.elem());
  const ColorMatrixD t = traceSpin(Gamma(5) * a);
  check_site("traceSpin(Gamma(5) * a)", t.elem(),
             reference::trace(reference::multiply(reference::gamma(5), va), true, false), tol<double>(8));
  const PropagatorD q = a * one + a * u - 2.0 * a;
  CHECK(toDouble(norm2(q)) < 1e-28);
  PropagatorD r = a;
  r *= a;
  check_site("r *= a", r.elem(), reference::multiply(va, va), tol<double>(60));
}

TEST_CASE("host values of primitives have the algebra too") {
  RComplex<double> z(1, 2);
  z += RComplex<double>(1, -1);
  z *= RScalar<double>(2);
  CHECK(z.real() == 4);
  CHECK(z.imag() == 2);
  z -= z;
  CHECK(z.real() == 0);
  RScalar<double> x(2.0);
  x /= RScalar<double>(4.0);
  CHECK(x.elem() == 0.5);
  CHECK(fabs(RScalar<double>(-1.5)).elem() == 1.5);
  CHECK(log(RScalar<double>(1.0)).elem() == 0.0);
  auto u = random_scalar<Sites<double>::ColorMatrix>();
  const SiteValue v = value(u.elem());
  const auto site = adj(u.elem()) * u.elem();
  check_site("adj(u) * u at one site", site, reference::multiply(reference::adjoint(v), v), tol<double>(20));
  CHECK(realTrace(site).elem().elem().elem() == doctest::Approx(reference::local_norm2(v).components[0].re));
  PScalar<PColorMatrix<RComplex<double>, Nc>> sum = site;
  sum += site;
  sum -= site;
  check_site("+= and -=", sum, value(site), tol<double>(2));
  zero_rep(sum);
  CHECK(realTrace(sum).elem().elem().elem() == 0.0);
}

TEST_CASE("a lattice may be narrowed to a function argument") {
  create_lattice({2, 2, 2, 2});
  auto takes_lattice = [](const LatticeReal& x) { return toDouble(sum(x)); };
  const LatticeReal x(2.0);
  CHECK(takes_lattice(Double(1.5) * x) == 3.0 * Layout::vol());
  CHECK(takes_lattice(x * x) == 4.0 * Layout::vol());
}

TEST_CASE("seeds compare, copy and start from a number") {
  Seed a, b;
  a = 11 + 7 * 4096 + (5 << 24);
  const int limbs[] = {11, 7, 5, 0};
  for (int i = 0; i < 4; ++i) CHECK(a.elem().elem().elem(i).elem() == limbs[i]);
  b = a;
  CHECK(toBool(a == b));
  CHECK_FALSE(toBool(a != b));
  b = 12;
  CHECK(toBool(a != b));
}

TEST_CASE("word and precision traits") {
  static_assert(std::is_same_v<WordType<LatticeFermionF>::Type_t, float>);
  static_assert(std::is_same_v<WordType<Double>::Type_t, double>);
  static_assert(
      std::is_same_v<decltype(localNorm2(std::declval<LatticeFermionF>()))::Subtype_t, LatticeRealD::Subtype_t>);
  static_assert(std::is_same_v<decltype(sum(std::declval<LatticeComplexF>())), DComplex>);
  static_assert(std::is_same_v<decltype(sum(std::declval<LatticeColorMatrixF>())), DColorMatrix>);
  static_assert(std::is_same_v<decltype(norm2(std::declval<LatticeFermionF>())), Double>);
  static_assert(std::is_same_v<decltype(innerProduct(std::declval<LatticeFermionF>(), std::declval<LatticeFermionF>())),
                               DComplex>);
  static_assert(sizeof(PropagatorD) == 16 * Nc * Nc * 16 && sizeof(ColorMatrixF) == 8 * Nc * Nc);
  CHECK(sizeof(LatticeColorMatrixD::Subtype_t) == 16 * Nc * Nc);
}

namespace {

using D = Sites<double>;

/// The numbers of a site where the attributes of its XML say that they are: Matrix/elem[@row=1 and @col=0]/..., of spin before colour
void check_attributes(XMLReader& xml, const std::string& site, const SiteValue& expected) {
  const auto element = [](const std::string& name, reference::Index level, int row, int col) -> std::string {
    if (level.is_number()) return "";
    const std::string at = "@row='" + std::to_string(row) + "' and ";
    if (level.is_column()) return "/" + name + "Vector/elem[" + at + "not(@col)]";
    return "/Matrix/elem[" + at + "@col='" + std::to_string(col) + "']";
  };
  for (int s = 0; s < expected.spin.rows; ++s)
    for (int t = 0; t < expected.spin.cols; ++t)
      for (int a = 0; a < expected.color.rows; ++a)
        for (int b = 0; b < expected.color.cols; ++b) {
          const std::string path = site + element("Spin", expected.spin, s, t) + element("", expected.color, a, b);
          CAPTURE(path);
          double re = 0, im = 0;
          read(xml, path + "/re", re);
          read(xml, path + "/im", im);
          CHECK(re == doctest::Approx(expected.at(s, t, a, b).re).epsilon(1e-6));
          CHECK(im == doctest::Approx(expected.at(s, t, a, b).im).epsilon(1e-6));
        }
}

template <class X>
XMLReader xml_of(const X& x) {
  XMLBufferWriter out;
  write(out, "x", x);
  std::istringstream text(out.str());
  return XMLReader(text);
}

template <class T>
void check_xml(const OScalar<T>& x) {
  XMLReader xml = xml_of(x);
  check_attributes(xml, "/x", value(x.elem()));
  OScalar<T> back;
  read(xml, "/x", back);
  CHECK(reference::difference(value(back.elem()), value(x.elem()), 1e-6).empty());
}

}  // namespace

TEST_CASE("XML names each number of a column or matrix by row and column of spin and colour, and of a field by site") {
  check_xml(random_scalar<D::ColorVector>());
  check_xml(random_scalar<D::ColorMatrix>());
  check_xml(random_scalar<D::SpinVector>());
  check_xml(random_scalar<D::SpinMatrix>());
  check_xml(random_scalar<D::Fermion>());
  check_xml(random_scalar<D::Propagator>());
  check_xml(random_scalar<D::ColorVectorSpinMatrix>());
  check_xml(random_scalar<D::ColorMatrixSpinVector>());

  create_lattice({2, 4, 6, 2});
  const auto field = random_lattice<D::ColorMatrix>();
  XMLReader xml = xml_of(field);
  const std::vector<SiteValue> sites = values(field);
  for (int n = 0; n < static_cast<int>(Layout::vol()); ++n) {
    const Extents x = to_extents(crtesn(n, Layout::lattSize()));
    const auto at = static_cast<std::size_t>(detail::present_lattice("test")->whole().index(x));
    check_attributes(xml, "/x/OLattice/elem[@site='" + std::to_string(n) + "']", sites[at]);
  }
}

namespace {

/// All bits of a value.
template <class T>
std::vector<std::uint64_t> bits(const OScalar<T>& x) {
  const auto* words = reinterpret_cast<const typename WordType<T>::Type_t*>(&x.elem());
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < sizeof(T) / sizeof *words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, words + i, sizeof *words);
    all.push_back(word);
  }
  return all;
}

/// Applies each operation to random values, in `P` words.
template <class Real, class Complex, class ColorMatrix, class SpinMatrix, class Fermion, class Propagator>
std::vector<std::vector<std::uint64_t>> many_operations() {
  std::vector<std::vector<std::uint64_t>> all;
  QDP::RNG::setrn(11);
  for (int round = 0; round < 3; ++round) {
    Real r, s;
    Complex c, d;
    ColorMatrix u, v;
    SpinMatrix g, h;
    Fermion psi, chi;
    Propagator p, q;
    random(r), random(s), random(c), random(d);
    random(u), random(v), random(g), random(h), random(psi), random(chi), random(p), random(q);
    const auto add = [&](const auto&... x) { (all.push_back(bits(x)), ...); };
    add(Real(r + s), Real(r - s), Real(r * s), Real(r / s), Real(-r), Real(sqrt(r)), Real(fabs(-s)), Real(ceil(r)));
    add(Boolean(r < s), Boolean(r >= s), Boolean(r == s), Boolean(!(r < s)), Real(where(r < s, r, s)));
    add(Complex(c + d), Complex(c - d), Complex(c * d), Complex(c / d), Complex(conj(c) * d), Complex(timesI(c)),
        Complex(r * c), Complex(cmplx(r, s)), Real(real(c)), Real(imag(c)), Real(localNorm2(c)));
    add(ColorMatrix(u + v), ColorMatrix(u * v), ColorMatrix(adj(u) * v), ColorMatrix(u * adj(v)), ColorMatrix(c * u),
        ColorMatrix(transpose(u)), Complex(trace(u)), Complex(peekColor(u, Nc - 1, 0)));
    add(SpinMatrix(g * h), SpinMatrix(Gamma(5) * g), SpinMatrix(g * Gamma(Ns * Ns - 1)), Complex(trace(g)));
    add(Fermion(u * psi), Fermion(g * psi), Fermion(Gamma(1) * psi), Complex(localInnerProduct(psi, chi)),
        Real(localInnerProductReal(psi, chi)), Fermion(psi - c * chi), Fermion(chiralProjectPlus(psi)));
    add(Propagator(p * q), Propagator(u * p), Propagator(adj(p)), Complex(trace(p)), Real(localNorm2(p)));
  }
  return all;
}

}  // namespace

TEST_CASE("operations that are applied often are compiled, and keep their bits") {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto single = [] {
      return many_operations<RealF, ComplexF, ColorMatrixF, SpinMatrixF, FermionF, PropagatorF>();
    };
    const auto both = [] {
      return many_operations<RealD, ComplexD, ColorMatrixD, SpinMatrixD, FermionD, PropagatorD>();
    };
    const auto interpreted_f = single();
    const auto interpreted_d = both();
    CHECK(detail::compile_host_programs() > (attempt == 0 ? 60 : -1));
    CHECK(single() == interpreted_f);
    CHECK(both() == interpreted_d);
  }
}

namespace {

/// d op= x at the sites of a field, and of a site with itself, beside d = d op x.
template <class T, class X>
void check_in_place() {
  OScalar<T> d;
  OScalar<X> x;
  random(d), random(x);
  OLattice<T> field = d;
  OLattice<X> other = x;
  const auto at = [&](int site) { return bits(OScalar<T>(std::as_const(field).elem(site))); };
  field.elem(1) += other.elem(1);
  CHECK(at(1) == bits(OScalar<T>(d + x)));
  field.elem(2) -= other.elem(2);
  CHECK(at(2) == bits(OScalar<T>(d - x)));
  field.elem(3) += field.elem(3);
  CHECK(at(3) == bits(OScalar<T>(d + d)));
  field.elem(4) -= field.elem(4);
  CHECK(at(4) == bits(OScalar<T>(d - d)));
  CHECK(at(0) == bits(d));
  CHECK(bits(OScalar<X>(std::as_const(other).elem(1))) == bits(x));
}

}  // namespace

TEST_CASE("sums of elements in place are the sums") {
  create_lattice({4, 4, 4, 4});
  check_in_place<ColorMatrixD::Site, ColorMatrixD::Site>();
  check_in_place<ColorMatrixF::Site, ColorMatrixF::Site>();
  check_in_place<FermionD::Site, FermionD::Site>();
  check_in_place<PropagatorF::Site, PropagatorF::Site>();
  check_in_place<ComplexD::Site, ComplexD::Site>();
  check_in_place<FermionD::Site, FermionF::Site>();
  check_in_place<ColorMatrixF::Site, ColorMatrixD::Site>();
}

TEST_CASE("host loops from several threads: an operation is compiled meanwhile, and all results are the same") {
  Seed seed;
  RNG::savern(seed);
  ColorMatrixD u, v;
  random(u), random(v);
  const auto expected = bits(ColorMatrixD(u * adj(v) + v));
  constexpr int kTimes = 30000;
  int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
  for (int i = 0; i < kTimes; ++i) wrong += bits(ColorMatrixD(u * adj(v) + v)) != expected;
  CHECK(wrong == 0);
}

namespace {

/// Host values a and b, and fields of them: what is computed with both has the same bits.
template <class A, class B>
struct Beside {
  OScalar<A> a;
  OScalar<B> b;
  OLattice<A> la;
  OLattice<B> lb;

  template <class Compute>
  void check(const char* what, Compute compute) const {
    const auto host = compute(a, b);
    OLattice<typename std::decay_t<decltype(host)>::Site> field;
    field = compute(la, lb);
    const multi1d<int> origin = to_multi1d(Extents(0, 0, 0, 0));
    const std::decay_t<decltype(host)> of_kernel = peekSite(field, origin);
    CHECK_MESSAGE(bits(host) == bits(of_kernel), what);
  }
};

/// The product is rounded before the sum: a compiler that may fuse the two sees them together here.
template <class A, class B>
[[gnu::noinline]] auto product_and_sum(const OScalar<A>& a, const OScalar<B>& b) {
  using Product = std::decay_t<decltype(a * b)>;
  return Product(a * b + a);
}

template <class A, class B>
void check_beside() {
  for (int round = 0; round < 20; ++round) {
    Beside<A, B> x;
    random(x.a), random(x.b);
    if (round % 4 == 1) x.a = -x.a;
    if (round % 4 == 2) x.b = -x.b;
    x.la = x.a, x.lb = x.b;
    x.check("a + b", [](const auto& a, const auto& b) { return a + b; });
    x.check("a - b", [](const auto& a, const auto& b) { return a - b; });
    x.check("a * b", [](const auto& a, const auto& b) { return a * b; });
    x.check("a / b", [](const auto& a, const auto& b) { return a / b; });
    x.check("-a", [](const auto& a, const auto&) { return -a; });
    x.check("conj(a)", [](const auto& a, const auto&) { return conj(a); });
    x.check("adj(b)", [](const auto&, const auto& b) { return adj(b); });
    x.check("real(b)", [](const auto&, const auto& b) { return real(b); });
    x.check("imag(a)", [](const auto& a, const auto&) { return imag(a); });
    const auto product = x.a * x.b;
    OLattice<typename std::decay_t<decltype(product)>::Site> rounded, sum;
    rounded = x.la * x.lb;
    sum = rounded + x.la;
    const std::decay_t<decltype(product)> of_kernel = peekSite(sum, to_multi1d(Extents(0, 0, 0, 0)));
    CHECK(bits(product_and_sum(x.a, x.b)) == bits(of_kernel));
  }
}

/// Sums, and multiples by a number.
template <class A, class Number>
void check_by_components() {
  Beside<A, Number> x;
  Beside<A, A> y;
  random(x.a), random(x.b), random(y.b);
  y.a = x.a;
  x.la = x.a, x.lb = x.b, y.la = y.a, y.lb = y.b;
  y.check("a + b", [](const auto& a, const auto& b) { return a + b; });
  y.check("a - b", [](const auto& a, const auto& b) { return a - b; });
  x.check("a * number", [](const auto& a, const auto& number) { return a * number; });
  x.check("number * a", [](const auto& a, const auto& number) { return number * a; });
  y.check("(a * 0.3) - b", [](const auto& a, const auto& b) { return (a * 0.3) - b; });
}

/// Of matrices, also by their adjoint, with matrices and vectors.
template <class A, class B>
void check_products() {
  Beside<A, B> x;
  random(x.a), random(x.b);
  x.la = x.a, x.lb = x.b;
  x.check("a * b", [](const auto& a, const auto& b) { return a * b; });
  x.check("adj(a) * b", [](const auto& a, const auto& b) { return adj(a) * b; });
  if constexpr (requires { x.b* x.a; }) {
    x.check("b * adj(a)", [](const auto& a, const auto& b) { return b * adj(a); });
    x.check("b * a + b", [](const auto& a, const auto& b) { return b * a + b; });
  }
  x.check("a * b - a * (-b)", [](const auto& a, const auto& b) { return a * b - a * (-b); });
}

template <class A>
void check_times_i() {
  Beside<A, A> x;
  random(x.a), random(x.b);
  x.la = x.a, x.lb = x.b;
  x.check("timesI", [](const auto& a, const auto&) { return timesI(a); });
  x.check("timesMinusI", [](const auto& a, const auto&) { return timesMinusI(a); });
}

}  // namespace

TEST_CASE("numbers on the host have the bits of kernels, whatever the program is compiled with") {
  create_lattice({4, 4, 4, 4});
  check_beside<RealF::Site, RealF::Site>();
  check_beside<RealD::Site, RealD::Site>();
  check_beside<ComplexF::Site, ComplexF::Site>();
  check_beside<ComplexD::Site, ComplexD::Site>();
  check_beside<RealF::Site, ComplexF::Site>();
  check_beside<ComplexD::Site, RealD::Site>();
  check_beside<RealD::Site, ComplexD::Site>();
  check_beside<ComplexF::Site, RealF::Site>();
  check_beside<ComplexF::Site, ComplexD::Site>();
  check_beside<RealD::Site, ComplexF::Site>();
  check_by_components<ColorMatrixF::Site, RealF::Site>();
  check_by_components<ColorMatrixD::Site, RealD::Site>();
  check_by_components<ColorMatrixD::Site, RealF::Site>();
  check_by_components<FermionF::Site, RealD::Site>();
  check_by_components<FermionF::Site, ComplexF::Site>();
  check_by_components<SpinMatrixD::Site, ComplexD::Site>();
  check_by_components<PropagatorD::Site, RealD::Site>();
  check_by_components<PropagatorF::Site, RealF::Site>();
  check_products<ColorMatrixD::Site, ColorMatrixD::Site>();
  check_products<ColorMatrixF::Site, ColorMatrixF::Site>();
  check_products<ColorMatrixF::Site, ColorMatrixD::Site>();
  check_products<ColorMatrixD::Site, FermionD::Site>();
  check_products<ColorMatrixF::Site, FermionF::Site>();
  check_products<ColorMatrixD::Site, FermionF::Site>();
  check_products<ColorMatrixD::Site, HalfFermionD::Site>();
  check_products<ColorMatrixF::Site, ColorVectorF::Site>();
  check_products<ComplexD::Site, ColorMatrixD::Site>();
  check_products<ComplexF::Site, FermionD::Site>();
  check_products<SpinMatrixD::Site, SpinMatrixD::Site>();
  check_products<SpinMatrixF::Site, FermionF::Site>();
  check_products<SpinMatrixD::Site, ColorMatrixD::Site>();
  check_products<ColorMatrixD::Site, PropagatorD::Site>();
  check_times_i<ComplexF::Site>();
  check_times_i<ComplexD::Site>();
}
