// Poke and peek, copymask, single sites, and host access between expressions.
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "places.hpp"
#include "qdp/expr/execute.hpp"
#include "qdp/expr/statement.hpp"
#include "qdp/layout/lattice_state.hpp"

using namespace tests;
using namespace QDP;

namespace {

using D = Sites<double>;
using F = Sites<float>;

}  // namespace

TEST_CASE("pokeColor replaces one component and keeps the rest") {
  on_every_lattice([](const Places& places) {
    const auto z = random_lattice<D::Complex>();
    const auto vz = values(z);
    for (const NamedSubset& s : subsets(places.extents())) {
      CAPTURE(s.name);
      auto u = random_lattice<D::ColorMatrix>();
      const auto v = values(u);
      pokeColor(u[s.subset], z, Nc - 1, Nc / 2);
      check_field(
          "pokeColor on a subset", u,
          [&](std::size_t i) {
            return s.contains(places.at(i)) ? reference::with_color_component(v[i], vz[i], Nc - 1, Nc / 2) : v[i];
          },
          0);
    }
  });
}

TEST_CASE("pokeColor and pokeSpin of every component") {
  create_lattice({4, 4, 4, 8});
  const auto z = random_lattice<D::Complex>();
  const auto q = random_lattice<F::ColorVector>();
  const auto vz = values(z), vq = values(q);
  for (int a = 0; a < Nc; ++a)
    for (int b = 0; b < Nc; ++b) {
      auto u = random_lattice<D::ColorMatrix>();
      const auto v = values(u);
      CHECK(&pokeColor(u, z, a, b) == &u);
      check_field(
          "pokeColor(ColorMatrix)", u,
          [&](std::size_t i) { return reference::with_color_component(v[i], vz[i], a, b); }, 0);
    }
  for (int s = 0; s < 4; ++s) {
    auto psi = random_lattice<D::Fermion>();
    const auto v = values(psi);
    pokeSpin(psi, q, s);  // float into double
    check_field(
        "pokeSpin(Fermion)", psi, [&](std::size_t i) { return reference::with_spin_component(v[i], vq[i], s, 0); }, 0);
    auto p = random_lattice<F::Propagator>();
    const auto vp = values(p);
    const auto u = random_lattice<F::ColorMatrix>();
    const auto vu = values(u);
    pokeSpin(p, u, s, 3 - s);
    check_field(
        "pokeSpin(Propagator)", p,
        [&](std::size_t i) { return reference::with_spin_component(vp[i], vu[i], s, 3 - s); }, 0);
  }
}

TEST_CASE("poke takes numbers, real fields and expressions of its destination") {
  create_lattice({3, 5, 7, 2});
  auto u = random_lattice<D::ColorMatrix>();
  auto v = values(u);
  pokeColor(u, 2.5, Nc / 2, Nc / 2);
  check_field(
      "a word", u,
      [&](std::size_t i) { return reference::with_color_component(v[i], reference::real_number(2.5), Nc / 2, Nc / 2); },
      0);
  v = values(u);
  pokeColor(u, trace(u), 0, Nc - 1);
  check_field(
      "of itself", u,
      [&](std::size_t i) {
        return reference::with_color_component(v[i], reference::trace(v[i], true, true), 0, Nc - 1);
      },
      tol<double>(4));
  v = values(u);
  const Places places({3, 5, 7, 2});
  pokeColor(u, shift(peekColor(u, 0, 0), FORWARD, 1), Nc - 1, Nc - 1);
  check_field(
      "of its neighbours", u,
      [&](std::size_t i) {
        return reference::with_color_component(v[i], reference::color_component(v[places.neighbour(i, 1, 1)], 0, 0),
                                               Nc - 1, Nc - 1);
      },
      0);
  v = values(u);
  const auto r = random_lattice<D::Real>();
  const auto vr = values(r);
  pokeColor(u, r, 0, Nc / 2);
  check_field(
      "a real field", u, [&](std::size_t i) { return reference::with_color_component(v[i], vr[i], 0, Nc / 2); }, 0);
}

TEST_CASE("which component is peeked or poked is no other kernel") {
  create_lattice({4, 2, 2, 2});
  const auto kernels = [] { return jit::Runtime::instance().kernels().size(); };
  const auto u = random_lattice<D::ColorMatrix>();
  const auto p = random_lattice<F::Propagator>();
  const auto vu = values(u), vp = values(p);
  std::size_t made = 0;
  for (int a = 0; a < Nc; ++a)
    for (int b = 0; b < Nc; ++b) {
      CAPTURE(a);
      CAPTURE(b);
      const LatticeComplexD z = peekColor(u, a, b);
      check_field("peekColor", z, [&](std::size_t i) { return reference::color_component(vu[i], a, b); }, 0);
      // The same field at two of its components: numbers of their own.
      const LatticeComplexD both = peekColor(u, a, b) - peekColor(u, b, a);
      check_field(
          "two of peekColor", both,
          [&](std::size_t i) {
            return reference::subtract(reference::color_component(vu[i], a, b),
                                       reference::color_component(vu[i], b, a));
          },
          0);
      const auto sum_of_one = sum(peekColor(u, a, b)), sum_of_field = sum(z);
      CHECK(toDouble(real(sum_of_one)) == toDouble(real(sum_of_field)));
      CHECK(toDouble(imag(sum_of_one)) == toDouble(imag(sum_of_field)));
      auto q = random_lattice<F::Fermion>();
      const auto vq = values(q);
      pokeSpin(q, peekSpin(q, a), b);
      check_field(
          "pokeSpin of another one", q,
          [&](std::size_t i) {
            return reference::with_spin_component(vq[i], reference::spin_component(vq[i], a, 0), b, 0);
          },
          0);
      auto turned = random_lattice<F::Fermion>();
      const auto vt = values(turned);
      pokeSpin(turned, timesI(peekSpin(turned, a)), b);  // its words are read crosswise, also where a is b
      check_field(
          "pokeSpin of i times another one", turned,
          [&](std::size_t i) {
            return reference::with_spin_component(vt[i], reference::times_i(reference::spin_component(vt[i], a, 0), 1),
                                                  b, 0);
          },
          0);
      auto w = random_lattice<D::ColorMatrix>();
      const auto vw = values(w);
      pokeColor(w[rb[1]], z, b, a);
      const Places places({4, 2, 2, 2});
      check_field(
          "pokeColor on a subset", w,
          [&](std::size_t i) {
            return parity_of(places.at(i)) == 1
                       ? reference::with_color_component(vw[i], reference::color_component(vu[i], a, b), b, a)
                       : vw[i];
          },
          0);
      if (made == 0) made = kernels();
    }
  CHECK((jit::env().fuse || kernels() == made));  // statements of a program need what was poked as a whole
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 4; ++t) {
      const OLattice<F::ColorMatrix> m = peekSpin(p, s, t);
      check_field("peekSpin", m, [&](std::size_t i) { return reference::spin_component(vp[i], s, t); }, 0);
      const OLattice<F::Complex> z = peekColor(peekSpin(p, s, t), Nc - 1, 0);
      check_field(
          "peekColor of peekSpin", z,
          [&](std::size_t i) { return reference::color_component(reference::spin_component(vp[i], s, t), Nc - 1, 0); },
          0);
      if (s < Nc && t < Nc) {
        const OLattice<F::SpinMatrix> spins = peekColor(p, s, t);
        check_field(
            "peekColor(Propagator)", spins, [&](std::size_t i) { return reference::color_component(vp[i], s, t); }, 0);
        OLattice<F::Propagator> to = p;
        pokeColor(to, spins, t, s);
        check_field(
            "pokeColor(Propagator)", to,
            [&](std::size_t i) {
              return reference::with_color_component(vp[i], reference::color_component(vp[i], s, t), t, s);
            },
            0);
      }
      OLattice<D::Propagator> back = random_lattice<D::Propagator>();
      const auto vb = values(back);
      pokeSpin(back, m, t, s);
      check_field(
          "pokeSpin", back,
          [&](std::size_t i) {
            return reference::with_spin_component(vb[i], reference::spin_component(vp[i], s, t), t, s);
          },
          0);
      if (s == 0 && t == 0) made = kernels();
    }
  CHECK((jit::env().fuse || kernels() == made));  // statements of a program need what was poked as a whole
}

TEST_CASE("components of what is no field are chosen, and pokes into another destination copy the rest") {
  create_lattice({4, 2, 2, 2});
  const detail::LatticeState& lattice = detail::lattice_of(*detail::to_expr(random_lattice<D::Complex>()));
  const auto u = random_lattice<D::ColorMatrix>();
  const auto vu = values(u);
  OLattice<D::ColorMatrix> here = random_lattice<D::ColorMatrix>();
  const auto z = random_lattice<D::Complex>();
  const auto vh = values(here), vz = values(z);
  const detail::Expr shifted = detail::to_expr(shift(u, FORWARD, 0));
  const OLattice<D::ColorMatrix> neighbour = shift(u, FORWARD, 0);
  const auto vn = values(neighbour);
  const auto run = [&](detail::Statement& s, jit::Field& to, detail::Shape shape) {
    const jit::Domain& domain = all.domain_for(to.order());
    detail::execute(s, {.dest = &to, .shape = shape, .lattice = lattice, .domain = domain});
  };
  for (int a = 0; a < Nc; ++a)
    for (int b = 0; b < Nc; ++b) {
      detail::Statement from, to;
      OLattice<D::Complex> peeked = zero;
      const detail::Expr peek = detail::to_expr(peekColor(u, a, b));
      from.clear(lattice, peeked.field().get());
      from.walk(*peek);
      detail::Statement::Asides asides;
      for (std::size_t i = 0; i < from.records().size(); ++i)
        if (from.records()[i].op() == detail::Op::field)
          asides.emplace(static_cast<int>(i), detail::Statement::Aside{u.field(), shifted->load.map.get()});
      CHECK(asides.size() == 1);
      to.clear(lattice, peeked.field().get());
      to.copy(from, from.root(), asides);
      run(to, *peeked.field(), peek->shape);
      check_field("peek of a shift", peeked, [&](std::size_t i) { return reference::color_component(vn[i], a, b); }, 0);

      OLattice<D::ColorMatrix> other = random_lattice<D::ColorMatrix>();
      const detail::Expr poke = detail::make_node(detail::Op::poke_color, detail::to_expr(u)->shape,
                                                  static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b) << 16,
                                                  detail::to_expr(here), detail::to_expr(z));
      from.clear(lattice, here.field().get());
      from.walk(*poke);
      to.clear(lattice, other.field().get());
      to.copy(from, from.root(), {});
      run(to, *other.field(), poke->shape);
      check_field(
          "poke elsewhere", other, [&](std::size_t i) { return reference::with_color_component(vh[i], vz[i], a, b); },
          0);
    }
}

TEST_CASE("pokes nest: a colour vector is built and put into a fermion") {
  create_lattice({2, 2, 2, 2});
  auto psi = random_lattice<D::Fermion>();
  auto q = random_lattice<D::ColorVector>();
  const auto z = random_lattice<D::Complex>();
  const auto v = values(psi), vq = values(q), vz = values(z);
  pokeSpin(psi, pokeColor(q, z, Nc / 2), 3);
  check_field(
      "pokeSpin(psi, pokeColor(q, z, 1), 3)", psi,
      [&](std::size_t i) {
        return reference::with_spin_component(v[i], reference::with_color_component(vq[i], vz[i], Nc / 2, 0), 3, 0);
      },
      0);
  const LatticeComplexD back = peekColor(peekSpin(psi, 3), Nc / 2);
  check_field("peekColor(peekSpin)", back, [&](std::size_t i) { return vz[i]; }, 0);
}

TEST_CASE("scalars poke and peek alike") {
  create_small({1, 1, 1, 1});
  auto p = random_scalar<D::Propagator>();
  const SiteValue v = value(p.elem());
  const auto u = random_scalar<D::ColorMatrix>();
  CHECK(&pokeSpin(p, u, 1, 2) == &p);
  check_site("pokeSpin", p.elem(), reference::with_spin_component(v, value(u.elem()), 1, 2), 0);
  check_site("peekSpin", peekSpin(p, 1, 2).elem(), value(u.elem()), 0);
  auto q = random_scalar<F::ColorVector>();
  pokeColor(q, Real(0.5), Nc - 1);
  check_site(
      "pokeColor", peekColor(q, Nc - 1).elem(),
      [] {
        SiteValue z;
        z.components[0] = {0.5, 0};
        return z;
      }(),
      0);
}

TEST_CASE("copymask writes where the mask holds") {
  on_every_lattice([](const Places& places) {
    const auto mask = random_lattice<Boolean::Subtype_t>();
    const auto src = random_lattice<F::Fermion>();
    const auto vm = values(mask), vs = values(src);
    auto dest = random_lattice<F::Fermion>();
    const auto v = values(dest);
    copymask(dest, mask, src);
    check_field("copymask", dest, [&](std::size_t i) { return vm[i].components[0].re != 0 ? vs[i] : v[i]; }, 0);
    auto part = random_lattice<F::Fermion>();
    const auto vp = values(part);
    copymask(part[rb[1]], mask, 2 * src);
    check_field(
        "copymask on a subset", part,
        [&](std::size_t i) {
          const Extents& x = places.at(i);
          const bool written = (x[0] + x[1] + x[2] + x[3]) % 2 == 1 && vm[i].components[0].re != 0;
          return written ? reference::add(vs[i], vs[i]) : vp[i];
        },
        0);
  });
}

TEST_CASE("latticeCoordinate gives a field of its own, whatever the lattice was before") {
  on_every_lattice([](const Places& places) {
    const std::vector<Extents> sites = sites_here(places.extents());
    for (int mu = 0; mu < Nd; ++mu) {
      LatticeInteger x = Layout::latticeCoordinate(mu);
      x += 5;
      const LatticeInteger again = Layout::latticeCoordinate(mu);
      for (std::size_t i = 0; i < sites.size(); ++i) {
        CHECK(x.elem(static_cast<int>(i)).elem().elem().elem() == sites[i][mu] + 5);
        CHECK(again.elem(static_cast<int>(i)).elem().elem().elem() == sites[i][mu]);
      }
    }
  });
}

TEST_CASE("peekSite and pokeSite address sites by coordinates") {
  on_every_lattice([](const Places& places) {
    auto u = random_lattice<F::ColorMatrix>();
    auto v = values(u);
    for (std::size_t i = 0; i < v.size(); i += 7) {
      const auto x = to_multi1d(places.at(i));
      check_site("peekSite", peekSite(u, x).elem(), v[i], 0);
      check_site("peekSite of an expression", peekSite(2 * u, x).elem(), reference::add(v[i], v[i]), 0);
    }
    const std::vector<std::size_t> here = reference::places_here();
    for (std::size_t i = 0; i < here.size(); i += 7)
      check_site("getSite", getSite(u, static_cast<int>(i)).elem(), v[here[i]], 0);
    const std::size_t i = v.size() - 1;
    const auto site = random_scalar<F::ColorMatrix>();
    CHECK(&pokeSite(u, site, to_multi1d(places.at(i))) == &u);
    v[i] = value(site.elem());
    check_field("pokeSite", u, [&](std::size_t k) { return v[k]; }, 0);
    u = u + u;  // on the device now
    pokeSite(u, site, to_multi1d(places.at(0)));
    for (SiteValue& k : v) k = reference::add(k, k);
    v[0] = value(site.elem());
    LatticeColorMatrixF w;
    w = u;
    check_field("pokeSite between kernels", w, [&](std::size_t k) { return v[k]; }, 0);
  });
}

TEST_CASE("host writes and kernels see each other's values") {
  on_every_lattice([](const Places& places) {
    LatticeRealD x;
    x = 1.0;
    const int n = Layout::sitesOnNode();
    for (int i = 0; i < n; ++i) x.elem(i).elem().elem().elem() += i;  // 1 + i
    LatticeRealD y;
    y = 2.0 * x;  // 2 + 2 i
    y.elem(n - 1).elem().elem().elem() = -1;
    x += y;  // 3 + 3 i, last: n - 1 + 1 - 1
    double* raw = reinterpret_cast<double*>(x.getF());
    for (int i = 0; i < n; ++i) CHECK(raw[i] == (i < n - 1 ? 3.0 + 3 * i : n - 1.0));
    raw[0] = 100;
    x[rb[0]] = x + 1.0;
    const bool even =
        parity_of(sites_here(places.extents())[0]) == 0;  // site 0 is, unless a rank has one odd site alone
    CHECK(std::as_const(x).elem(0).elem().elem().elem() == (even ? 101 : 100));
    double expected = 0;
    for (const auto& site : reference::whole(x)) expected += site.elem().elem().elem();
    CHECK(toDouble(sum(x)) == doctest::Approx(expected));
  });
}

TEST_CASE("reading through a const field leaves the device copy valid") {
  create_lattice({4, 4, 4, 8});
  LatticeRealD x;
  x = 2.0;
  const LatticeRealD& read = x;
  CHECK(read.elem(Layout::sitesOnNode() - 1).elem().elem().elem() == 2.0);
  LatticeRealD y;
  y = x * x;
  CHECK(toDouble(sum(y)) == 4.0 * static_cast<double>(Layout::vol()));
  CHECK(read.getF()[5].elem().elem().elem() == 2.0);
}

TEST_CASE("copies are deep; moves and swaps exchange contents") {
  create_lattice({2, 2, 2, 2});
  LatticeReal a;
  a = 1;
  LatticeReal b = a;
  b += 1;
  CHECK(toDouble(sum(a)) == static_cast<double>(Layout::vol()));
  CHECK(toDouble(sum(b)) == 2 * static_cast<double>(Layout::vol()));
  std::swap(a, b);
  CHECK(toDouble(sum(a)) == 2 * static_cast<double>(Layout::vol()));
  a = a;
  CHECK(toDouble(sum(a)) == 2 * static_cast<double>(Layout::vol()));
  LatticeReal c = std::move(a);
  CHECK(toDouble(sum(c)) == 2 * static_cast<double>(Layout::vol()));
  a = 5;  // a moved-from field may be assigned again
  CHECK(toDouble(sum(a)) == 5 * static_cast<double>(Layout::vol()));
  const LatticeReal d(c + c);
  CHECK(toDouble(sum(d)) == 4 * static_cast<double>(Layout::vol()));
}

namespace {

double& number(LatticeRealD& x, int i) { return x.elem(i).elem().elem().elem(); }

/// x_i += y_i at the sites in turn; to the compiler x and y may be one field.
[[gnu::noinline]] void add_elements(LatticeRealD& x, LatticeRealD& y, int n) {
  for (int i = 0; i < n; ++i) number(x, i) += number(y, i);
}
[[gnu::noinline]] double sum_of_elements(const LatticeRealD& x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x.elem(i).elem().elem().elem();
  return s;
}

}  // namespace

// Compilers keep what they have seen of a field's place over a loop (host_side.hpp).
TEST_CASE("loops over elements find fields wherever they are when the loop begins, and after statements within it") {
  create_lattice({4, 4, 2, 2});
  const int n = Layout::sitesOnNode();
  const auto volume = static_cast<double>(n);
  LatticeRealD x, y;
  x = 1, y = 2;
  for (int round = 0; round < 3; ++round) {
    add_elements(x, y, n);  // both have to come
    add_elements(x, y, n);  // both are there
    y = y + 1.0;
    add_elements(x, y, n);  // one has to come
    x = x - 3.0 * y;
    y = y - 1.0;
    add_elements(x, x, n);
    x = 0.5 * x;
  }
  // Each round adds 2 * 2 + 3 - 9.
  CHECK(sum_of_elements(x, n) == (1 - 3 * 2) * volume);
  CHECK(sum_of_elements(y, n) == 2 * volume);

  double seen = 0;
  for (int i = 0; i < n; ++i) {
    number(x, i) = i;
    seen += number(x, i);
    x = x + 1.0;
    seen += number(x, i);
  }
  CHECK(seen == volume * (volume - 1) + volume);
  for (int i = 0; i < n; ++i) CHECK(number(x, i) == n);

  // Another field at the same name.
  for (int i = 0; i < n; ++i) {
    std::swap(x, y);
    number(x, i) = -i;
    LatticeRealD z = std::move(x);
    x = z;
    CHECK(number(x, i) == -i);
    CHECK(number(z, i) == -i);
    number(z, i) = 7;
    CHECK(number(x, i) == -i);
  }
  for (int i = 0; i < n; ++i) {
    LatticeRealD z = std::move(y);
    number(y, i) = 3;  // a field of its own again
    CHECK(number(y, i) == 3);
    y = std::move(z);
  }
  int refused = 0;
  for (int i = n - 3; i < n + 3; ++i) try {
      number(x, i) = 1;
    } catch (const jit::UserError&) {
      ++refused;
    }
  CHECK(refused == 3);
}

TEST_CASE("a subset's field with storage of its own") {
  create_lattice({4, 4, 4, 8});
  const auto src = random_lattice<D::ColorVector>();
  const auto v = values(src);
  SubLatticeColorVectorF part(rb[0]);
  CHECK(part.getOwnsMemory());
  part = src;
  LatticeColorVectorD dest;
  dest = zero;
  dest[rb[0]] = src;
  CHECK(toDouble(norm2(part)) == doctest::Approx(toDouble(norm2(src, rb[0]))).epsilon(1e-6));
  CHECK_FALSE(dest[rb[1]].getOwnsMemory());
  CHECK(part.subset().color() == 0);
  const Places places({4, 4, 4, 8});
  auto even = [&](std::size_t i) {
    const Extents& x = places.at(i);
    return (x[0] + x[1] + x[2] + x[3]) % 2 == 0;
  };
  auto whole = random_lattice<D::ColorVector>();
  const auto vw = values(whole);
  const auto vp = values(static_cast<LatticeColorVectorF>(src));
  whole = part;  // writes the subset's sites only
  check_field("lattice = subset's field", whole, [&](std::size_t i) { return even(i) ? vp[i] : vw[i]; }, 0);
  SubLatticeColorVectorD wide(rb[0]);
  wide = part;
  wide *= 2.0;
  check_site("sum over the subset", sum(wide).elem(), value((2.0 * sum(whole, rb[0])).elem()), tol<double>(600));
}

TEST_CASE("inner products with a subset's field run over the subset") {
  create_lattice({4, 4, 4, 8});
  auto a = random_lattice<F::ColorVector>();
  auto b = random_lattice<D::ColorVector>();
  const double expected = toDouble(real(innerProduct(a, b, rb[1])));
  CHECK(toDouble(real(innerProduct(a[rb[1]], b))) == expected);
  CHECK(toDouble(real(innerProduct(a, b[rb[1]]))) == expected);
  CHECK(toDouble(innerProductReal(a[rb[1]], b)) == doctest::Approx(expected).epsilon(1e-14));
  CHECK(toDouble(innerProductReal(a, b[rb[1]])) == doctest::Approx(expected).epsilon(1e-14));
}

TEST_CASE("staggered fields have one spin component") {
  create_lattice({3, 5, 7, 2});
  using Staggered = LatticeStaggeredFermionD::Subtype_t;
  static_assert(!std::is_same_v<Staggered, D::ColorVector>, "as in QDP++: overloads may tell them apart");
  const auto chi = random_lattice<Staggered>();
  const auto u = random_lattice<D::ColorMatrix>();
  const auto v = values(chi), vu = values(u);
  LatticeStaggeredFermionD r;
  r = u * chi - chi;
  check_field(
      "u * chi - chi", r, [&](std::size_t i) { return reference::subtract(reference::multiply(vu[i], v[i]), v[i]); },
      tol<double>(20));
  LatticeColorVectorD q;
  q = peekSpin(chi, 0);
  check_field("peekSpin", q, [&](std::size_t i) { return reference::spin_component(v[i], 0, 0); }, 0);
  r = zero;
  pokeSpin(r, q, 0);
  check_field("pokeSpin", r, [&](std::size_t i) { return v[i]; }, 0);
  LatticeStaggeredPropagatorD p;
  p = outerProduct(chi, chi);
  LatticeComplexD t;
  t = trace(p * u);
  check_field(
      "trace of a staggered propagator", t,
      [&](std::size_t i) {
        return reference::trace(reference::multiply(reference::outer_product(v[i], v[i]), vu[i]), true, true);
      },
      tol<double>(40));
  p = 1.0;
  CHECK(toDouble(norm2(p)) == Nc * static_cast<double>(Layout::vol()));
}

TEST_CASE("QDP_extract and QDP_insert move the sites of a subset") {
  create_lattice({3, 5, 7, 2});
  const auto src = random_lattice<F::ColorVector>();
  multi1d<ColorVectorF> sites(Layout::sitesOnNode());
  QDP_extract(sites, src, rb3[1]);
  LatticeColorVectorF dest;
  dest = zero;
  QDP_insert(dest, sites, rb3[1]);
  CHECK(toDouble(norm2(dest - src, rb3[1])) == 0.0);
  CHECK(toDouble(norm2(dest, rb3[0])) == 0.0);
}

TEST_CASE("fields in arrays: elementwise assignment and arithmetic") {
  create_lattice({4, 4, 4, 8});
  multi1d<LatticeColorMatrixD> u(Nd), v(Nd);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = random_lattice<D::ColorMatrix>();
  v = u;
  v += u;
  v *= Real(0.5);
  for (int mu = 0; mu < Nd; ++mu) CHECK(toDouble(norm2(v[mu] - u[mu])) == 0.0);
  v = zero;
  CHECK(toDouble(norm2(v)) == 0.0);
}
