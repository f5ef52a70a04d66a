// Site functions: formulas over symbols, on lattices, in expressions, on subsets, and on scalars.
#include "places.hpp"

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"

using namespace tests;
using namespace QDP;

namespace {

using D = Sites<double>;
using F = Sites<float>;

SiteValue third_order_exponential(const SiteValue& x) {
  const SiteValue one = reference::real_number(1);
  SiteValue sum = one, power = one;
  for (int n = 1; n <= 3; ++n) {
    power = reference::multiply(power, reference::divide(x, reference::real_number(n)));
    sum = reference::add(sum, power);
  }
  return sum;
}

}  // namespace

TEST_CASE("a series in a colour matrix") {
  const auto series =
      siteFunction<1>("series", [](const Sym& x) { return 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6))); });
  on_every_lattice([&](const Places& places) {
    auto check = [&](auto type) {
      using T = decltype(type);
      const auto u = random_lattice<T>();
      const auto v = values(u);
      OLattice<T> r;
      r = series(u);
      check_field("series(u)", r, [&](std::size_t i) { return third_order_exponential(v[i]); }, tol<word_of<T>>(100));
      r = u * shift(series(0.5 * u), FORWARD, 1);
      check_field(
          "u * shift(series(u / 2))", r,
          [&](std::size_t i) {
            return reference::multiply(v[i], third_order_exponential(reference::multiply(
                                                 reference::real_number(0.5), v[places.neighbour(i, 1, 1)])));
          },
          tol<word_of<T>>(200));
      OLattice<T> part = u;
      part[rb[0]] = series(part);
      check_field(
          "on a subset", part,
          [&](std::size_t i) {
            const Extents& x = places.at(i);
            return parity_of(x) == 0 ? third_order_exponential(v[i]) : v[i];
          },
          tol<word_of<T>>(100));
    };
    check(D::ColorMatrix{});
    check(F::ColorMatrix{});
  });
}

TEST_CASE("the same function on scalars and site values runs at once") {
  const auto series =
      siteFunction<1>("series of a scalar", [](const Sym& x) { return 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6))); });
  const auto u = random_scalar<D::ColorMatrix>();
  check_site("series(ColorMatrix)", series(u).elem(), third_order_exponential(value(u.elem())), tol<double>(100));
}

TEST_CASE("components are taken, computed with and put back") {
  if (QDP::Nc == 1) TESSERA_SKIP("QDP_NC is 1: there is no second row");
  create_lattice({3, 5, 7, 2});
  // rotates the first two rows of a matrix by the phase of its trace
  const auto rotate = siteFunction<1>("rotate", [](const Sym& u) {
    const Sym t = trace(u);
    const Sym length = sqrt(localNorm2(t));
    const Sym c = t.real() / length, s = t.imag() / length;
    Sym r = u;
    for (int j = 0; j < Nc; ++j) {
      r.set_color(0, j, c * u.color(0, j) + s * u.color(1, j));
      r.set_color(1, j, c * u.color(1, j) - s * u.color(0, j));
    }
    return r;
  });
  const auto u = random_lattice<D::ColorMatrix>();
  const auto v = values(u);
  LatticeColorMatrixD r;
  r = rotate(u);
  check_field(
      "rotate", r,
      [&](std::size_t i) {
        const SiteValue& x = v[i];
        const reference::Number t = reference::trace(x, true, true).components[0];
        const double length = std::sqrt(t.re * t.re + t.im * t.im), c = t.re / length, s = t.im / length;
        SiteValue y = x;
        for (int j = 0; j < Nc; ++j) {
          const auto a = x.at(0, 0, 0, j), b = x.at(0, 0, 1, j);
          y.at(0, 0, 0, j) = {c * a.re + s * b.re, c * a.im + s * b.im};
          y.at(0, 0, 1, j) = {c * b.re - s * a.re, c * b.im - s * a.im};
        }
        return y;
      },
      tol<double>(60));
}

TEST_CASE("branches are where()") {
  create_lattice({4, 4, 4, 8});
  // sin(x)/x with its series near nought
  const auto sinc = siteFunction<1>("sinc", [](const Sym& x) {
    const Sym small = fabs(x) < 0.3;
    return where(small, 1.0 - x * x / 6.0, sin(x) / x);
  });
  const auto x = random_lattice<D::Real>();
  const auto v = values(x);
  LatticeRealD r;
  r = sinc(x);
  check_field(
      "sinc", r,
      [&](std::size_t i) {
        return reference::map(v[i], [](double y) { return std::abs(y) < 0.3 ? 1 - y * y / 6 : std::sin(y) / y; });
      },
      tol<double>(8));
}

TEST_CASE("two and three operands, and a result of another type") {
  create_lattice({2, 2, 2, 2});
  const auto quadratic =
      siteFunction<3>("quadratic", [](const Sym& u, const Sym& a, const Sym& b) { return a * u * u + b * u; });
  const auto overlap =
      siteFunction<2, ComplexD>("overlap", [](const Sym& x, const Sym& y) { return trace(adj(x) * y); });
  const auto u = random_lattice<D::ColorMatrix>();
  const auto w = random_lattice<D::ColorMatrix>();
  const auto a = random_lattice<D::Real>();
  const auto b = random_scalar<D::Complex>();
  const auto vu = values(u), vw = values(w), va = values(a);
  LatticeColorMatrixD r;
  r = quadratic(u, a, b);
  check_field(
      "quadratic", r,
      [&](std::size_t i) {
        return reference::add(reference::multiply(va[i], reference::multiply(vu[i], vu[i])),
                              reference::multiply(value(b.elem()), vu[i]));
      },
      tol<double>(60));
  LatticeComplexD z;
  z = overlap(u, w);
  check_field(
      "overlap", z, [&](std::size_t i) { return reference::local_inner_product(vu[i], vw[i]); }, tol<double>(30));
}

TEST_CASE("one function of operands whose types change from use to use, in each place") {
  create_lattice({2, 2, 2, 2});
  const auto combine =
      siteFunction<3>("combine", [](const Sym& u, const Sym& a, const Sym& b) { return a * u + b * (u * u); });
  const auto u = random_lattice<D::ColorMatrix>(), w = random_lattice<D::ColorMatrix>();
  const auto x = random_lattice<D::Real>();
  const auto z = random_lattice<D::Complex>();
  const auto vu = values(u), vw = values(w), vx = values(x), vz = values(z);
  const auto check = [&](const auto& a, const auto& va, const auto& b, const auto& vb) {
    LatticeColorMatrixD r;
    r = combine(u, a, b);
    check_field(
        "combine", r,
        [&](std::size_t i) {
          return reference::add(reference::multiply(va[i], vu[i]),
                                reference::multiply(vb[i], reference::multiply(vu[i], vu[i])));
        },
        tol<double>(60));
  };
  check(x, vx, x, vx);
  check(x, vx, z, vz);
  check(x, vx, w, vw);
  check(z, vz, x, vx);
  check(w, vw, x, vx);
  check(x, vx, x, vx);
}

TEST_CASE("assignments with an operation are their operations") {
  create_lattice({2, 2, 2, 2});
  const auto added = siteFunction<2>("added", [](Sym x, const Sym& y) { return x += y; });
  const auto taken = siteFunction<2>("taken", [](Sym x, const Sym& y) { return x -= y; });
  const auto multiplied = siteFunction<2>("multiplied", [](Sym x, const Sym& y) { return x *= y; });
  const auto u = random_lattice<D::ColorMatrix>(), w = random_lattice<D::ColorMatrix>();
  LatticeColorMatrixD ours, expected;
  const auto compare = [&] { CHECK(toDouble(norm2(ours - expected)) < 1e-28 * toDouble(norm2(expected))); };
  ours = added(u, w);
  expected = u + w;
  compare();
  ours = taken(u, w);
  expected = u - w;
  compare();
  ours = multiplied(u, w);
  expected = u * w;
  compare();
}

TEST_CASE("spin components") {
  create_lattice({2, 2, 2, 2});
  const auto swap_halves = siteFunction<1>("swap halves", [](const Sym& psi) {
    Sym r = zero_like(psi);
    for (int s = 0; s < 4; ++s) r.set_spin(s, 0, psi.spin((s + 2) % 4));
    return r;
  });
  const auto psi = random_lattice<F::Fermion>();
  const auto v = values(psi);
  LatticeFermionF r;
  r = swap_halves(psi);
  check_field(
      "swap halves is Gamma(8)", r, [&](std::size_t i) { return reference::multiply(reference::gamma(8), v[i]); }, 0);
}

TEST_CASE("fma is x y + z of real and complex components") {
  create_lattice({2, 2, 2, 4});
  const auto sum_of_products =
      siteFunction<3, LatticeComplexD>("sum of products", [](const Sym& u, const Sym& w, const Sym& r) {
        Sym sum = 0.0;
        for (int i = 0; i < QDP::Nc; ++i)
          for (int j = 0; j < QDP::Nc; ++j) sum = fma(conj(u.color(i, j)), w.color(i, j), sum);
        return fma(-r, r, fma(r, Sym(0.5), sum));
      });
  const auto u = random_lattice<D::ColorMatrix>();
  const auto w = random_lattice<D::ColorMatrix>();
  const auto r = random_lattice<D::Real>();
  const auto vu = values(u), vw = values(w), vr = values(r);
  LatticeComplexD z;
  z = sum_of_products(u, w, r);
  check_field(
      "sum of products", z,
      [&](std::size_t i) {
        const double x = vr[i].components[0].re;
        return reference::add(reference::local_inner_product(vu[i], vw[i]), reference::real_number(0.5 * x - x * x));
      },
      tol<double>(30));
  const auto mixed =
      siteFunction<2, LatticeRealD>("mixed words", [](const Sym& x, const Sym& y) { return fma(x, y, x); });
  const auto f = random_lattice<F::Real>();
  const auto vf = values(f);
  LatticeRealD m;
  m = mixed(f, r);
  check_field(
      "mixed words", m, [&](std::size_t i) { return reference::add(reference::multiply(vf[i], vr[i]), vf[i]); },
      tol<double>(4));
}

TEST_CASE("a result of another site type is put together from components") {
  create_lattice({2, 2, 2, 2});
  // the colour trace of each spin block of u v^+ with u = psi's colours, in single precision from double
  const auto spin_overlaps = siteFunction<2, OLattice<F::SpinMatrix>>("spin overlaps", [](const Sym& x, const Sym& y) {
    Sym r = zero_of<LatticePropagator>(x);
    for (int s = 0; s < 4; ++s)
      for (int t = 0; t < 4; ++t)
        for (int c = 0; c < Nc; ++c) r.set(s, t, c, c, x.spin(s).color(c) * conj(y.spin(t).color(c)));
    return traceColor(r);
  });
  const auto x = random_lattice<D::Fermion>();
  const auto y = random_lattice<D::Fermion>();
  OLattice<F::SpinMatrix> ours, expected;
  ours = spin_overlaps(x, y);
  expected = traceColor(outerProduct(x, y));
  CHECK(toDouble(norm2(ours - expected)) < 1e-12 * toDouble(norm2(expected)));
}

TEST_CASE("a site function is one kernel with the expression around it, compiled once") {
  create_lattice({4, 4, 4, 8});
  const auto cube = siteFunction<1>("cube", [](const Sym& x) { return x * x * x; });
  const auto u = random_lattice<D::ColorMatrix>();
  LatticeColorMatrixD r;
  r = cube(u) + u;
  jit::Runtime& rt = jit::Runtime::instance();
  const auto launches = rt.launches();
  const auto kernels = rt.kernels().size();
  r = cube(u) + u;
  CHECK(rt.launches() == launches + 1);
  CHECK(rt.kernels().size() == kernels);
}

TEST_CASE("numbers are operands: one kernel for all of them") {
  create_lattice({2, 2, 2, 2});
  const auto line = siteFunction<3>("line", [](const Sym& x, const Sym& a, const Sym& b) { return a * x + b; });
  const auto x = random_lattice<D::Real>();
  const auto vx = values(x);
  LatticeRealD r;
  r = line(x, 0.5, 1);
  jit::Runtime& rt = jit::Runtime::instance();
  const auto compiled = rt.compilations();
  const auto kernels = rt.kernels().size();
  for (int k = 0; k < 200; ++k) {
    r = line(x, 0.25 * k, k);
    jit::run_deferred();  // by itself, and not as one that the next overwrites
    if (k % 40 == 0)
      check_field(
          "line", r, [&](std::size_t i) { return reference::map(vx[i], [&](double y) { return 0.25 * k * y + k; }); },
          tol<double>(4));
  }
  constexpr int kMostVariants = 16;  // of one kernel, which a tuner may try
  CHECK(rt.compilations() <= compiled + kMostVariants);
  CHECK(rt.kernels().size() == kernels);
  const RealD one = 1.5;
  CHECK(toDouble(line(one, 2.0, RealD(0.25))) == 3.25);
}

TEST_CASE("what a site function refuses") {
  create_lattice({2, 2, 2, 2});
  const auto u = random_lattice<D::ColorMatrix>();
  LatticeColorMatrixD r;
  const auto out_of_range = siteFunction<1>("out of range", [](const Sym& x) {
    Sym y = x;
    y.set_color(0, Nc, x.color(0, 0));
    return y;
  });
  CHECK_THROWS_WITH_AS(r = out_of_range(u), doctest::Contains("out of range"), jit::UserError);
  const auto wrong_types =
      siteFunction<1>("wrong types", [](const Sym& x) { return x + x.color(0, 0).real() * (x < x); });
  CHECK_THROWS_WITH_AS(r = wrong_types(u), doctest::Contains("not defined"), jit::UserError);
  const auto whole = siteFunction<1>("whole matrices", [](const Sym& x) { return fma(x, x, x); });
  CHECK_THROWS_WITH_AS(r = whole(u), doctest::Contains("fma is not defined"), jit::UserError);
  const auto constants = siteFunction<1>("constants", [](const Sym& x) { return x * (Sym(1.0) + Sym(2.0)); });
  CHECK_THROWS_WITH_AS(r = constants(u), doctest::Contains("constants only"), jit::UserError);
  const auto site = random_scalar<D::ColorMatrix>();
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(out_of_range(site), doctest::Contains("out of range"), jit::UserError);
  r = 2.0 * u;  // and the language goes on working
  CHECK(toDouble(norm2(r)) == doctest::Approx(4 * toDouble(norm2(u))));
}
