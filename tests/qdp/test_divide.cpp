// Statements too large for one kernel are computed in parts: the same bits as with the parts written out.
#include "lattices.hpp"

#include "jit/runtime.hpp"
#include "qdp.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace QDP;

namespace {

template <class T>
bool same_bits(const OLattice<T>& a, const OLattice<T>& b) {
  for (int i = 0; i < Layout::sitesOnNode(); ++i)
    if (std::memcmp(&a.elem(i), &b.elem(i), sizeof(T)) != 0) return false;
  return true;
}

/// Operands on a lattice of 16 sites and one of 60: groups of sites and none.
struct Quarks {
  LatticePropagator p, q;
  LatticeColorMatrix u;
  SpinMatrix a, t;

  Quarks() { random(p), random(q), random(u), random(a), random(t); }
  LatticePropagator diquark() const {
    const LatticePropagator left = q * a, right = a * p;
    return LatticePropagator(quarkContract13(left, right));
  }
};

/// The fermion of one source component.
LatticeFermion column_of(const LatticePropagator& p, int spin, int color) {
  LatticeFermion f;
  for (int i = 0; i < Layout::sitesOnNode(); ++i)
    for (int s = 0; s < Ns; ++s)
      for (int c = 0; c < Nc; ++c) f.elem(i).elem(s).elem(c) = p.elem(i).elem(s, spin).elem(c, color);
  return f;
}

template <class Body>
void on_lattices(const Body& body) {
  for (const tests::Extents& extents : tests::shared_out({{2, 2, 2, 4}, {3, 5, 4, 1}})) {
    tests::create_lattice(extents);
    body(Quarks());
  }
}

std::int64_t launches() { return jit::Runtime::instance().launches(); }
std::size_t kernels() { return jit::Runtime::instance().kernels().size(); }

}  // namespace

TEST_CASE("a di-quark of products has the bits of its parts, again without another kernel") {
  on_lattices([](const Quarks& f) {
    const LatticePropagator expected = f.diquark();
    LatticePropagator d;
    d = quarkContract13(f.q * f.a, f.a * f.p);
    CHECK(same_bits(d, expected));
    const auto known = kernels();
    const auto launched = launches();
    d = quarkContract13(f.q * f.a, f.a * f.p);
    CHECK(kernels() == known);
    CHECK(launches() == launched + 3);  // two parts and what is made of them
    CHECK(same_bits(d, expected));
  });
}

TEST_CASE("an operand may be the destination, and a subset keeps the other sites") {
  on_lattices([](const Quarks& f) {
    const LatticePropagator expected = f.diquark();
    LatticePropagator p = f.p;
    p = quarkContract13(f.q * f.a, f.a * p);
    CHECK(same_bits(p, expected));

    LatticePropagator half = f.q, expected_half = f.q;
    half[rb[1]] = quarkContract13(half * f.a, f.a * f.p);
    expected_half[rb[1]] = expected;
    CHECK(same_bits(half, expected_half));
  });
}

TEST_CASE("a baryon in one statement has the bits of its steps, on sites and in sums") {
  on_lattices([](const Quarks& f) {
    const LatticePropagator d = f.diquark();
    const LatticeSpinMatrix direct = traceColor(f.q * traceSpin(d)), exchange = traceColor(f.q * d);
    LatticeComplex expected, c;
    expected = trace(f.t * direct) + trace(f.t * exchange);
    c = trace(f.t * traceColor(f.q * traceSpin(quarkContract13(f.q * f.a, f.a * f.p)))) +
        trace(f.t * traceColor(f.q * quarkContract13(f.q * f.a, f.a * f.p)));
    CHECK(same_bits(c, expected));
    const Complex total = sum(trace(f.t * traceColor(f.q * quarkContract13(f.q * f.a, f.a * f.p))));
    const Complex expected_total = sum(trace(f.t * exchange));
    CHECK(std::memcmp(&total.elem(), &expected_total.elem(), sizeof total) == 0);
  });
}

TEST_CASE("what is computed aside is not used at neighbours") {
  on_lattices([](const Quarks& f) {
    const LatticePropagator left = f.q * f.a, right = f.a * f.p, d = quarkContract13(left, right);
    LatticePropagator expected = f.p, r = f.p;
    expected[rb[0]] = d + f.u * shift(left, FORWARD, 0);
    const auto expression = f.q * f.a;
    r[rb[0]] = quarkContract13(expression, f.a * f.p) + f.u * shift(expression, FORWARD, 0);
    CHECK(same_bits(r, expected));
  });
}

TEST_CASE("products and hops of propagators are those of their columns") {
  on_lattices([](const Quarks& f) {
    const auto same_column = [](const LatticePropagator& all, const LatticeFermion& column, int s, int c) {
      return same_bits(column_of(all, s, c), column);
    };
    LatticePropagator product, hop;
    product = f.p * f.q;
    hop = f.u * shift(f.p, FORWARD, 1) + shift(adj(f.u) * f.p, BACKWARD, 2) + f.u * shift(f.q, FORWARD, Nd - 1);
    for (int s = 0; s < Ns; ++s)
      for (int c = 0; c < Nc; ++c) {
        const LatticeFermion p = column_of(f.p, s, c), q = column_of(f.q, s, c);
        CHECK(same_column(product, LatticeFermion(f.p * q), s, c));
        const LatticeFermion h =
            f.u * shift(p, FORWARD, 1) + shift(adj(f.u) * p, BACKWARD, 2) + f.u * shift(q, FORWARD, Nd - 1);
        CHECK(same_column(hop, h, s, c));
      }
  });
}
