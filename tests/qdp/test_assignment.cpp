// Assignment in all its forms: what is written, what is left alone, and what the right-hand side may contain.
#include "places.hpp"

#include "jit/runtime.hpp"

#include <cstring>

using namespace tests;
using namespace QDP;
using reference::add;
using reference::multiply;

namespace {

using D = Sites<double>;
using F = Sites<float>;

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Runs body(field, subset) on a fresh random field for each subset; members must match `expected` and all others keep
/// their bits.
template <class T, class Body, class Expected>
void check_on_subsets(const Places& places, Body body, Expected expected, double tolerance) {
  for (const NamedSubset& s : subsets(places.extents())) {
    CAPTURE(s.name);
    auto x = random_lattice<T>();
    const OLattice<T> before = x;
    const auto v = values(x);
    body(x, s.subset);
    std::string text;
    const std::vector<std::size_t> here = reference::places_here();
    for (int site = 0; site < static_cast<int>(here.size()) && text.empty(); ++site) {
      const std::size_t i = here[static_cast<std::size_t>(site)];
      if (s.contains(places.at(i)))
        text = reference::difference(value(std::as_const(x).elem(site)), expected(v, i), tolerance);
      else if (!same_bits(std::as_const(x).elem(site), before.elem(site)))
        text = "site outside the subset was written";
      if (!text.empty()) text = "site " + std::to_string(i) + ": " + text;
    }
    CHECK_MESSAGE(text.empty(), text);
  }
}
using Values = std::vector<SiteValue>;

}  // namespace

TEST_CASE("an expression assigned to a subset leaves the other sites' bits alone") {
  on_every_lattice([](const Places& places) {
    const auto a = random_lattice<D::ColorMatrix>();
    const auto va = values(a);
    check_on_subsets<D::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] = a * adj(a) + 2.0 * a; },
        [&](const Values&, std::size_t i) {
          return add(multiply(va[i], reference::adjoint(va[i])), add(va[i], va[i]));
        },
        tol<double>(16));
  });
}

TEST_CASE("the destination may stand on the right-hand side at the same site") {
  on_every_lattice([](const Places& places) {
    check_on_subsets<D::ColorMatrix>(
        places, [](auto& x, const Subset& s) { x[s] = adj(x) * x; },
        [](const Values& v, std::size_t i) { return multiply(reference::adjoint(v[i]), v[i]); }, tol<double>(16));
    check_on_subsets<F::Fermion>(
        places, [](auto& x, const Subset& s) { x[s] = x + Gamma(1) * x; },
        [](const Values& v, std::size_t i) { return add(v[i], multiply(reference::gamma(1), v[i])); }, tol<float>(4));
    check_on_subsets<D::SpinMatrix>(
        places, [](auto& x, const Subset& s) { x[s] = transpose(x); },
        [](const Values& v, std::size_t i) { return reference::transpose(v[i], true, true); }, 0);
  });
}

TEST_CASE("the destination may stand on the right-hand side at other sites") {
  on_every_lattice([](const Places& places) {
    for (int mu = 0; mu < Nd; ++mu) {
      CAPTURE(mu);
      check_on_subsets<D::Complex>(
          places, [mu](auto& x, const Subset& s) { x[s] = shift(x, FORWARD, mu); },
          [&](const Values& v, std::size_t i) { return v[places.neighbour(i, mu, 1)]; }, 0);
    }
    check_on_subsets<F::ColorVector>(
        places, [](auto& x, const Subset& s) { x[s] += shift(x, BACKWARD, Nd - 1); },
        [&](const Values& v, std::size_t i) { return add(v[i], v[places.neighbour(i, Nd - 1, -1)]); }, tol<float>(2));
    check_on_subsets<D::ColorMatrix>(
        places, [](auto& x, const Subset& s) { x[s] = x * shift(adj(x) * shift(x, FORWARD, 0), BACKWARD, 1); },
        [&](const Values& v, std::size_t i) {
          const std::size_t j = places.neighbour(i, 1, -1);
          return multiply(v[i], multiply(reference::adjoint(v[j]), v[places.neighbour(j, 0, 1)]));
        },
        tol<double>(40));
  });
}

TEST_CASE("an expression kept in a variable is computed from the values of the moment it is used") {
  create_lattice({4, 4, 4, 8});
  auto a = random_lattice<D::Real>();
  const auto v = values(a);
  const auto doubled = 2 * a;  // computed when it is used
  LatticeRealD x;
  x = doubled;
  check_field("first use", x, [&](std::size_t i) { return add(v[i], v[i]); }, 0);
  a = shift(a, FORWARD, 0);  // through a temporary: the expression must see the new values
  x = doubled;
  const Places places({4, 4, 4, 8});
  check_field(
      "after the operand changed", x,
      [&](std::size_t i) {
        const SiteValue& n = v[places.neighbour(i, 0, 1)];
        return add(n, n);
      },
      0);
}

TEST_CASE("numbers fill every site, and the diagonal of matrices") {
  on_every_lattice([](const Places& places) {
    auto constant = [](const SiteValue& like, double re, double im = 0) {
      SiteValue z(reference::Index::number(), reference::Index::number(), true);
      z.components[0] = {re, im};
      return reference::spread(z, like);
    };
    auto to = [&](double re, double im = 0) {
      return [=](const Values& v, std::size_t i) { return constant(v[i], re, im); };
    };
    check_on_subsets<D::Real>(places, [](auto& x, const Subset& s) { x[s] = 0.1; }, to(0.1), 0);
    check_on_subsets<F::Complex>(places, [](auto& x, const Subset& s) { x[s] = 3; }, to(3), 0);
    check_on_subsets<D::ColorMatrix>(places, [](auto& x, const Subset& s) { x[s] = 1; }, to(1), 0);
    check_on_subsets<D::ColorMatrix>(
        places, [](auto& x, const Subset& s) { x[s] = cmplx(Real(2), Real(-3)); }, to(2, -3), 0);
    check_on_subsets<F::SpinMatrix>(places, [](auto& x, const Subset& s) { x[s] = 0.5; }, to(0.5), 0);
    check_on_subsets<F::Propagator>(places, [](auto& x, const Subset& s) { x[s] = Real(2); }, to(2), 0);
    check_on_subsets<D::Fermion>(
        places, [](auto& x, const Subset& s) { x[s] = zero; },
        [](const Values& v, std::size_t i) { return SiteValue(v[i].spin, v[i].color, true); }, 0);
    check_on_subsets<D::Propagator>(places, [](auto& x, const Subset& s) { zero_rep(x, s); }, to(0), 0);
    check_on_subsets<Integer::Subtype_t>(
        places, [](auto& x, const Subset& s) { x[s] = -4; },
        [](const Values&, std::size_t) { return reference::real_number(-4); }, 0);
    check_on_subsets<Boolean::Subtype_t>(
        places, [](auto& x, const Subset& s) { x[s] = true; },
        [](const Values&, std::size_t) { return reference::real_number(1); }, 0);
  });
}

TEST_CASE("whole fields take numbers, zero and site values") {
  create_lattice({3, 5, 7, 2});
  LatticeColorMatrix u;
  u = 1;
  check_field(
      "u = 1", u,
      [](std::size_t) {
        SiteValue r(reference::Index::number(), reference::Index::matrix(Nc), true);
        for (int a = 0; a < Nc; ++a) r.at(0, 0, a, a) = {1, 0};
        return r;
      },
      0);
  u = zero;
  CHECK(toDouble(norm2(u)) == 0.0);
  const auto site = random_scalar<D::Fermion>();
  LatticeFermionD psi;
  psi = site;
  check_field("psi = Fermion", psi, [&](std::size_t) { return value(site.elem()); }, 0);
  LatticeFermionF narrow;
  narrow = site;
  check_field("float psi = double Fermion", narrow, [&](std::size_t) { return value(site.elem()); }, tol<float>(1) / 2);
  const auto z = random_lattice<D::Complex>();
  const auto vz = values(z);
  LatticeSpinMatrixD sm;
  sm = z;
  const SiteValue like = value(random_scalar<D::SpinMatrix>().elem());
  check_field("SpinMatrix = Complex", sm, [&](std::size_t i) { return reference::spread(vz[i], like); }, 0);
  LatticeReal from_word(1.5);
  CHECK(toDouble(sum(from_word)) == 1.5 * Layout::vol());
  LatticeFermion from_zero(zero);
  CHECK(toDouble(norm2(from_zero)) == 0.0);
}

TEST_CASE("precision converts on assignment, rounding to nearest") {
  on_every_lattice([](const Places&) {
    const auto d = random_lattice<D::ColorMatrix>();
    LatticeColorMatrixF f;
    f = d;
    bool rounded = true;
    for (int i = 0; i < Layout::sitesOnNode(); ++i)
      for (int a = 0; a < Nc; ++a)
        for (int b = 0; b < Nc; ++b)
          rounded = rounded &&
                    f.elem(i).elem().elem(a, b).real() ==
                        static_cast<float>(std::as_const(d).elem(i).elem().elem(a, b).real()) &&
                    f.elem(i).elem().elem(a, b).imag() ==
                        static_cast<float>(std::as_const(d).elem(i).elem().elem(a, b).imag());
    CHECK(rounded);
    LatticeColorMatrixD back;
    back = f;
    const auto vf = values(f);
    check_field("double = float", back, [&](std::size_t i) { return vf[i]; }, 0);
    LatticeInteger n;
    n = 7;
    LatticeReal r;
    r = n;
    CHECK(toDouble(sum(r)) == 7.0 * static_cast<double>(Layout::vol()));
    LatticeComplexF z;
    z = random_lattice<D::Real>();
    CHECK(toDouble(norm2(imag(z))) == 0.0);
  });
}

TEST_CASE("words convert as in C++") {
  on_every_lattice([](const Places&) {
    const auto x = random_lattice<D::Real>();
    const auto v = values(x);
    LatticeInteger n;
    n = 10.0 * x;  // towards zero
    check_field(
        "Integer = Real", n,
        [&](std::size_t i) { return reference::real_number(std::trunc(10.0 * v[i].components[0].re)); }, 0);
    LatticeRealF f;
    f = x > 0.5;
    check_field(
        "Real = Boolean", f, [&](std::size_t i) { return reference::real_number(v[i].components[0].re > 0.5); }, 0);
    LatticeBoolean b;
    b = n & 2;
    const auto vn = values(n);
    check_field(
        "Boolean = Integer", b,
        [&](std::size_t i) { return reference::real_number((int(vn[i].components[0].re) & 2) != 0); }, 0);
    LatticeSeed s;
    s = n & 4095;
    CHECK(toBool(sum(where(s == s, LatticeInteger(1), LatticeInteger(0))) == static_cast<int>(Layout::vol())));
    const LatticeSeed moved = shift(s, FORWARD, 0);
    CHECK(moved.elem(0).elem().elem(3).elem() == 0);
  });
  CHECK(toInt(Integer(Real(-2.7))) == -2);
  CHECK(toBool(Boolean(Integer(4))));
}

TEST_CASE("compound assignments") {
  on_every_lattice([](const Places& places) {
    const auto a = random_lattice<D::ColorMatrix>();
    const auto r = random_lattice<D::Real>();
    const auto va = values(a), vr = values(r);
    const auto c = random_scalar<D::Complex>();
    const SiteValue vc = value(c.elem());
    const double t = tol<double>(20);
    check_on_subsets<D::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] += a; },
        [&](const Values& v, std::size_t i) { return add(v[i], va[i]); }, t);
    check_on_subsets<F::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] -= a; },
        [&](const Values& v, std::size_t i) { return reference::subtract(v[i], va[i]); }, tol<float>(2));
    check_on_subsets<D::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] *= a; },
        [&](const Values& v, std::size_t i) { return multiply(v[i], va[i]); }, t);
    check_on_subsets<D::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] *= r; },
        [&](const Values& v, std::size_t i) { return multiply(v[i], vr[i]); }, t);
    check_on_subsets<D::ColorMatrix>(
        places, [&](auto& x, const Subset& s) { x[s] += c; },
        [&](const Values& v, std::size_t i) { return add(v[i], vc); }, t);
    check_on_subsets<D::Fermion>(
        places, [&](auto& x, const Subset& s) { x[s] /= r; },
        [&](const Values& v, std::size_t i) { return reference::divide(v[i], vr[i]); }, t);
    check_on_subsets<D::Fermion>(
        places, [&](auto& x, const Subset& s) { x[s] *= 0.25; },
        [&](const Values& v, std::size_t i) { return multiply(v[i], reference::real_number(0.25)); }, 0);
    check_on_subsets<D::Fermion>(
        places, [&](auto& x, const Subset& s) { x[s] += a * x; },
        [&](const Values& v, std::size_t i) { return add(v[i], multiply(va[i], v[i])); }, t);
  });
}

TEST_CASE("compound assignments of whole fields, integers and truth values") {
  create_lattice({4, 4, 4, 8});
  auto check = [](auto type, const char* what, auto body, auto formula) {
    using T = decltype(type);
    auto x = random_lattice<T>();
    const auto v = values(x);
    body(x);
    check_field(
        what, x, [&](std::size_t i) { return reference::real_number(formula(v[i].components[0].re)); },
        tol<word_of<T>>(2));
  };
  using I = Integer::Subtype_t;
  using B = Boolean::Subtype_t;
  check(D::Real{}, "+= int", [](auto& x) { x += 2; }, [](double v) { return v + 2; });
  check(F::Real{}, "-= double", [](auto& x) { x -= 0.5; }, [](double v) { return v - 0.5; });
  check(D::Real{}, "*= Real", [](auto& x) { x *= Real(3); }, [](double v) { return v * 3; });
  check(D::Real{}, "/= double", [](auto& x) { x /= 4.0; }, [](double v) { return v / 4; });
  check(I{}, "%=", [](auto& x) { x %= 3; }, [](double v) { return double(int(v) % 3); });
  check(I{}, "&=", [](auto& x) { x &= 6; }, [](double v) { return double(int(v) & 6); });
  check(I{}, "|=", [](auto& x) { x |= 6; }, [](double v) { return double(int(v) | 6); });
  check(I{}, "^=", [](auto& x) { x ^= 6; }, [](double v) { return double(int(v) ^ 6); });
  check(I{}, "<<=", [](auto& x) { x <<= 3; }, [](double v) { return v * 8; });
  check(I{}, ">>=", [](auto& x) { x >>= 1; }, [](double v) { return std::floor(v / 2); });
  check(B{}, "&= Boolean", [](auto& x) { x &= Boolean(false); }, [](double) { return 0.0; });
  check(B{}, "|= LatticeBoolean", [](auto& x) { x |= !x; }, [](double) { return 1.0; });
}

TEST_CASE("a kernel is launched once per statement") {
  create_lattice({4, 4, 4, 8});
  const auto a = random_lattice<D::ColorMatrix>();
  LatticeColorMatrixD u;
  u = a;
  const auto launches = jit::Runtime::instance().launches();
  u = a * shift(adj(a) * a, FORWARD, 0) + 2 * a;
  u[rb[0]] += a;
  if (job_ranks() == 1) CHECK(jit::Runtime::instance().launches() == launches + 2);  // faces are launched too
  const auto compiled = jit::Runtime::instance().kernels().size();
  u = a * shift(adj(a) * a, FORWARD, 0) + 3 * a;  // other numbers, same code
  CHECK(jit::Runtime::instance().kernels().size() == compiled);
}

TEST_CASE("statements of hundreds of fields and scalars keep them apart") {
  create_lattice({2, 2, 2, 2});
  constexpr int n = 300;
  std::vector<LatticeRealD> fields;
  for (int i = 0; i < n; ++i) fields.emplace_back(1.0 + i);
  auto total = [&](int last) {  // fields 0..n-2 and then the last one, each times its own scalar
    auto e = Double(1.0) * fields[0];
    for (int i = 1; i < n; ++i) {
      const int k = i < n - 1 ? i : last;
      e = e + Double(2.0 + k) * fields[static_cast<std::size_t>(k)];
    }
    LatticeRealD r;
    r = e;
    return toDouble(sum(r)) / Layout::vol();
  };
  double expected = 1;
  for (int i = 1; i < n - 1; ++i) expected += (2.0 + i) * (1.0 + i);
  CHECK(total(n - 1) == expected + (1.0 + n) * n);
  for (int last : {0, 1, 43, 255, 256, n - 2}) CHECK(total(last) == expected + (2.0 + last) * (1.0 + last));
}

TEST_CASE("an expression used twice in a statement is computed once and right") {
  create_lattice({4, 4, 4, 8});
  const auto a = random_lattice<D::ColorMatrix>();
  const auto v = values(a);
  const auto square = a * a;
  LatticeColorMatrixD r;
  r = square * adj(square) + shift(square, FORWARD, 0);
  const Places places({4, 4, 4, 8});
  check_field(
      "twice", r,
      [&](std::size_t i) {
        const std::size_t j = places.neighbour(i, 0, 1);
        const SiteValue s = multiply(v[i], v[i]);
        return add(multiply(s, reference::adjoint(s)), multiply(v[j], v[j]));
      },
      tol<double>(100));
}

TEST_CASE("scalar masks choose between whole fields") {
  create_lattice({3, 5, 7, 2});
  const auto a = random_lattice<F::Fermion>();
  const auto b = random_lattice<F::Fermion>();
  const auto va = values(a), vb = values(b);
  LatticeFermionF r;
  r = where(Boolean(true), a, b);
  check_field("where(true)", r, [&](std::size_t i) { return va[i]; }, 0);
  r = where(Boolean(false), a, b);
  check_field("where(false)", r, [&](std::size_t i) { return vb[i]; }, 0);
}
