// Sums, norms, inner products and extrema, on subsets and per colour of a set; the same bits however they are computed.
#include "places.hpp"

#include "jit/runtime.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include <unistd.h>

using namespace tests;
using namespace QDP;
using reference::Number;

namespace {

using D = Sites<double>;
using F = Sites<float>;

/// sum over the sites of a subset; the number of terms bounds the rounding.
SiteValue total(const Places& places, const NamedSubset& s, const std::vector<SiteValue>& v) {
  SiteValue r(v[0].spin, v[0].color, v[0].complex);
  for (std::size_t i = 0; i < v.size(); ++i)
    if (s.contains(places.at(i))) r = reference::add(r, v[i]);
  return r;
}

template <class T>
std::vector<SiteValue> each(const std::vector<SiteValue>& a, T f) {
  std::vector<SiteValue> r;
  for (const SiteValue& x : a) r.push_back(f(x));
  return r;
}

/// Bits of a few sums, in hexadecimal: what must not depend on threads or lanes.
std::string fingerprint() {
  reference::seed_random(7);
  std::string text;
  auto print = [&](double x) {
    char word[40];
    std::snprintf(word, sizeof word, "%a ", x);
    text += word;
  };
  for (const Extents& extents : shared_out({{4, 4, 4, 8}, {3, 5, 7, 2}, {8, 4, 4, 2}})) {
    create_lattice(extents);
    const auto r = random_lattice<D::Real>();
    const auto psi = random_lattice<F::Fermion>();
    const auto chi = random_lattice<F::Fermion>();
    for (const NamedSubset& s : subsets(extents)) {
      print(toDouble(sum(r, s.subset)));
      print(toDouble(sum(r * shift(r, FORWARD, Nd - 1), s.subset)));
      print(toDouble(norm2(psi, s.subset)));
      print(toDouble(real(innerProduct(psi, chi, s.subset))));
      print(toDouble(imag(innerProduct(psi, chi, s.subset))));
    }
    print(toDouble(globalMax(r)));
  }
  return text;
}

}  // namespace

TEST_CASE("sum adds the sites of a subset, in double precision") {
  on_every_lattice([](const Places& places) {
    auto check = [&](auto type, const char* what) {
      using T = decltype(type);
      const auto x = random_lattice<T>();
      const auto v = values(x);
      for (const NamedSubset& s : subsets(places.extents())) {
        CAPTURE(s.name);
        const auto got = sum(x, s.subset);
        using W = word_of<std::remove_cvref_t<decltype(got.elem())>>;
        static_assert(std::is_same_v<W, double> || std::is_same_v<W, int>);
        check_site(what, got.elem(), total(places, s, v), tol<W>(600));
      }
      check_site(what, sum(x).elem(), total(places, subsets(places.extents())[0], v), tol<double>(600));
    };
    check(D::Real{}, "Real");
    check(F::Complex{}, "Complex");
    check(F::ColorMatrix{}, "ColorMatrix");
    check(D::SpinMatrix{}, "SpinMatrix");
    check(Integer::Subtype_t{}, "Integer");
    check(Boolean::Subtype_t{}, "Boolean");
  });
}

TEST_CASE("sum of a propagator") {
  create_lattice({3, 5, 7, 2});
  const auto p = random_lattice<F::Propagator>();
  check_site("Propagator", sum(p).elem(), total(Places({3, 5, 7, 2}), subsets({3, 5, 7, 2})[0], values(p)),
             tol<double>(300));
}

TEST_CASE("the sum of an expression of many components is that of its parts, and compiles quickly") {
  create_lattice({4, 4, 4, 4});
  LatticePropagatorD p, q;
  gaussian(p);
  gaussian(q);
  const auto before = jit::Runtime::instance().compilations();
  const PropagatorD whole = sum(p * q), parts = sum(p * q, rb[0]) + sum(p * q, rb[1]);
  CHECK(toDouble(norm2(whole - parts)) < 1e-20 * toDouble(norm2(whole)));
  CHECK(jit::Runtime::instance().compilations() - before < 60);
}

TEST_CASE("norm2, innerProduct and innerProductReal") {
  on_every_lattice([](const Places& places) {
    const auto a = random_lattice<F::Fermion>();
    const auto b = random_lattice<F::Fermion>();
    const auto u = random_lattice<D::ColorMatrix>();
    const auto va = values(a), vb = values(b), vu = values(u);
    for (const NamedSubset& s : subsets(places.extents())) {
      CAPTURE(s.name);
      const double t = tol<double>(2000);
      check_site("norm2", norm2(a, s.subset).elem(), total(places, s, each(va, reference::local_norm2)), t);
      check_site("norm2 of an expression", norm2(2 * u - u, s.subset).elem(),
                 total(places, s, each(vu, reference::local_norm2)), t);
      std::vector<SiteValue> products;
      for (std::size_t i = 0; i < va.size(); ++i) products.push_back(reference::local_inner_product(va[i], vb[i]));
      check_site("innerProduct", innerProduct(a, b, s.subset).elem(), total(places, s, products), t);
      check_site("innerProductReal", innerProductReal(a, b, s.subset).elem(),
                 reference::real_part(total(places, s, products)), t);
      check_site("norm2 of a restricted field", norm2(OLattice<F::Fermion>(a)[s.subset]).elem(),
                 total(places, s, each(va, reference::local_norm2)), t);
    }
    CHECK(toDouble(norm2(a)) == toDouble(norm2(a, all)));
    CHECK(toDouble(innerProductReal(a, a)) == doctest::Approx(toDouble(norm2(a))));
  });
}

TEST_CASE("reductions of shifted expressions") {
  on_every_lattice([](const Places& places) {
    const auto u = random_lattice<D::ColorMatrix>();
    const auto v = values(u);
    SiteValue expected(reference::Index::number(), reference::Index::number(), false);
    for (std::size_t i = 0; i < v.size(); ++i)
      expected = reference::add(
          expected, reference::real_part(reference::trace(
                        reference::multiply(v[i], reference::adjoint(v[places.neighbour(i, Nd - 2, 1)])), true, true)));
    check_site("sum(real(trace(u shift(u)^+)))", sum(real(trace(u * adj(shift(u, FORWARD, Nd - 2))))).elem(), expected,
               tol<double>(4000));
  });
}

TEST_CASE("sumMulti gives one sum per subset") {
  on_every_lattice([](const Places& places) {
    const Set slices(Coloring(places.extents().back(), [](const Extents& x) { return x.back(); }));
    const auto z = random_lattice<D::Complex>();
    const auto v = values(z);
    const multi1d<DComplex> sums = sumMulti(z, slices);
    REQUIRE(sums.size() == places.extents().back());
    multi1d<LatticeComplexD> two(2);
    two[0] = z;
    two[1] = 2.0 * z;
    const multi2d<DComplex> both = sumMulti(two, slices);
    for (int t = 0; t < sums.size(); ++t) {
      const NamedSubset slice{"slice", slices[t], [t](const Extents& x) { return x.back() == t; }};
      check_site("sumMulti", sums[t].elem(), total(places, slice, v), tol<double>(600));
      CHECK(toDouble(norm2(both(0, t) - sums[t])) == 0.0);
      CHECK(toDouble(norm2(both[1][t] - 2.0 * sums[t])) == 0.0);
    }
  });
}

TEST_CASE("arrays of fields: norm2 and inner products add up") {
  create_lattice({4, 4, 4, 8});
  multi1d<LatticeFermionF> a(3), b(3);
  double norm = 0, re = 0, im = 0, real_product = 0, real_of_odd = 0;
  for (int i = 0; i < 3; ++i) {
    a[i] = random_lattice<F::Fermion>();
    b[i] = random_lattice<F::Fermion>();
    norm += toDouble(norm2(a[i], rb[1]));
    const DComplex z = innerProduct(a[i], b[i], rb[1]);
    re += toDouble(real(z)), im += toDouble(imag(z));
    real_product += toDouble(innerProductReal(a[i], b[i]));
    real_of_odd += toDouble(innerProductReal(a[i], b[i], rb[1]));
  }
  CHECK(toDouble(norm2(a, rb[1])) == doctest::Approx(norm).epsilon(1e-14));
  CHECK(toDouble(norm2(a)) == doctest::Approx(toDouble(norm2(a, rb[0])) + norm).epsilon(1e-14));
  const DComplex z = innerProduct(a, b, rb[1]);
  CHECK(toDouble(real(z)) == doctest::Approx(re).epsilon(1e-13));
  CHECK(toDouble(imag(z)) == doctest::Approx(im).epsilon(1e-13));
  CHECK(toDouble(innerProductReal(a, b)) == doctest::Approx(real_product).epsilon(1e-13));
  CHECK(toDouble(innerProductReal(a, b, rb[1])) == doctest::Approx(real_of_odd).epsilon(1e-13));
  const DComplex everywhere = innerProduct(a, b), even = innerProduct(a, b, rb[0]);
  CHECK(toDouble(real(everywhere)) == doctest::Approx(toDouble(real(even)) + re).epsilon(1e-13));
  CHECK(toDouble(imag(everywhere)) == doctest::Approx(toDouble(imag(even)) + im).epsilon(1e-13));
}

TEST_CASE("globalMax and globalMin keep the type and find single sites") {
  on_every_lattice([](const Places& places) {
    auto x = random_lattice<D::Real>();
    auto f = random_lattice<F::Real>();
    const std::size_t n = places.sites().size();
    for (std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
      LatticeRealD peak;
      peak = x;
      pokeSite(peak, Real(7.25), to_multi1d(places.at(i)));
      CHECK(toDouble(globalMax(peak)) == 7.25);
      pokeSite(peak, Real(-9.5), to_multi1d(places.at(i)));
      CHECK(toDouble(globalMin(peak)) == -9.5);
    }
    static_assert(std::is_same_v<decltype(globalMax(f)), RealF>);
    const auto v = values(f);
    double largest = -2, smallest = 2;
    for (const SiteValue& s : v)
      largest = std::max(largest, s.components[0].re), smallest = std::min(smallest, s.components[0].re);
    CHECK(toDouble(globalMax(f)) == largest);
    CHECK(toDouble(globalMin(f)) == smallest);
    CHECK(toDouble(globalMax(-1.0 * f)) == -smallest);
  });
}

TEST_CASE("sums of scalars are the scalars") {
  create_lattice({2, 2, 2, 2});
  const auto z = random_scalar<F::Complex>();
  check_site("sum", sum(z).elem(), value(z.elem()), 0);
  check_site("norm2", norm2(z).elem(), reference::local_norm2(value(z.elem())), tol<double>(4));
  const auto psi = random_scalar<D::Fermion>();
  check_site("innerProduct", innerProduct(psi, psi).elem(),
             reference::local_inner_product(value(psi.elem()), value(psi.elem())), tol<double>(40));
}

TEST_CASE("isfinite sees one NaN or infinity anywhere") {
  on_every_lattice([](const Places&) {
    auto u = random_lattice<F::ColorMatrix>();
    CHECK(isfinite(u));
    const int last = Layout::sitesOnNode() - 1;
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity()}) {
      auto v = u;
      if (job_rank() == job_ranks() - 1) v.elem(last).elem().elem(Nc / 2, Nc - 1).imag() = bad;
      CHECK_FALSE(isfinite(v));
    }
    CHECK(isfinite(RealD(1e300)));
    CHECK_FALSE(isfinite(Double(std::numeric_limits<double>::infinity())));
  });
}

TEST_CASE("NaN and infinities pass through arithmetic and sums") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("numbers of sites");
  create_lattice({4, 4, 4, 8});
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto a = random_lattice<D::Real>();
  const double special[] = {
      inf, -inf, nan, 0.0, -0.0, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()};
  const Places places({4, 4, 4, 8});
  const auto set = [&](LatticeRealD& x, int site, double number) {
    pokeSite(x, RealD(number), to_multi1d(places.at(static_cast<std::size_t>(site))));
  };
  for (int i = 0; i < 7; ++i) set(a, 11 * i, special[i]);
  auto b = random_lattice<D::Real>();
  for (int i = 0; i < 7; ++i) set(b, 22 * i, special[i]);
  const auto va = values(a), vb = values(b);
  LatticeRealD r;
  r = a * b;
  check_field("a * b", r, [&](std::size_t i) { return reference::multiply(va[i], vb[i]); }, tol<double>(2));
  r = a + b;
  check_field("a + b", r, [&](std::size_t i) { return reference::add(va[i], vb[i]); }, tol<double>(2));
  r = a / b;
  check_field("a / b", r, [&](std::size_t i) { return reference::divide(va[i], vb[i]); }, tol<double>(2));
  r = sqrt(a);
  check_field(
      "sqrt", r, [&](std::size_t i) { return reference::map(va[i], [](double x) { return std::sqrt(x); }); },
      tol<double>(2));
  r = exp(a);
  check_field(
      "exp", r, [&](std::size_t i) { return reference::map(va[i], [](double x) { return std::exp(x); }); },
      tol<double>(4));
  r = log(a);
  check_field(
      "log", r, [&](std::size_t i) { return reference::map(va[i], [](double x) { return std::log(x); }); },
      tol<double>(4));
  CHECK(std::isnan(toDouble(sum(a))));
  LatticeBoolean less, same;
  less = a < b;
  same = a == a;
  check_field(
      "a < b", less,
      [&](std::size_t i) { return reference::real_number(va[i].components[0].re < vb[i].components[0].re); }, 0);
  check_field(
      "a == a fails for NaN", same,
      [&](std::size_t i) { return reference::real_number(!std::isnan(va[i].components[0].re)); }, 0);
  r = 1.0;
  r.elem(20).elem().elem().elem() = inf;
  CHECK(toDouble(sum(r)) == inf);
  LatticeRealF narrow;
  r.elem(20).elem().elem().elem() = 1e300;
  narrow = r;
  CHECK(toFloat(sum(narrow)) == std::numeric_limits<float>::infinity());
}

TEST_CASE("child: print the bits of the sums" * doctest::skip()) { std::printf("bits: %s\n", fingerprint().c_str()); }

TEST_CASE("sums have the same bits for any number of threads and lanes") {
  const std::string expected = fingerprint();
  jit::Runtime& rt = jit::Runtime::instance();
  const int threads = rt.threads();
  for (int n : {1, 2, 3}) {
    rt.set_threads(n);
    CHECK_MESSAGE(fingerprint() == expected, "threads ", n);
  }
  rt.set_threads(threads);
  for (int lanes : {1, 4, 8, 16}) {  // the lanes are fixed when a process starts
    const std::string command = "TESSERA_LANES=" + std::to_string(lanes) + " /proc/" + std::to_string(::getpid()) +
                                "/exe --no-skip --test-case='child: print the bits of the sums'";
    FILE* child = ::popen(command.c_str(), "r");
    REQUIRE(child);
    std::string output;
    for (char part[4096]; std::fgets(part, sizeof part, child);) output += part;
    CHECK(::pclose(child) == 0);
    const auto at = output.find("bits: ");
    REQUIRE_MESSAGE(at != std::string::npos, output);
    CHECK_MESSAGE(output.substr(at + 6, expected.size()) == expected, "lanes ", lanes);
  }
}
