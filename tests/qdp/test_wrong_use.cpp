// Wrong use of the language: an exception with what, expected, got and where; never a crash, never a wrong number.
#include "places.hpp"

#include "jit/support/error.hpp"

#include <cstdio>
#include <memory>

#include <unistd.h>

using namespace tests;
using namespace QDP;
using jit::UserError;

namespace {

class Leaving : public MapFunc {
 public:
  multi1d<int> operator()(const multi1d<int>& x, int) const override {
    multi1d<int> y = x;
    y[1] = x[1] + 1;  // no wrap-around
    return y;
  }
};

// What must not compile. Each line names the nonsense; the check is that the operator does not exist for it.
template <class A, class B>
concept Multiplies = requires(const A& a, const B& b) { a* b; };
template <class A, class B>
concept Adds = requires(const A& a, const B& b) { a + b; };
template <class A, class B>
concept Assigns = requires(A& a, const B& b) { a = b; };
template <class A, class B>
concept Compares = requires(const A& a, const B& b) { a < b; };
template <class A>
concept ProjectsSpin = requires(const A& a) { spinProjectDir0Plus(a); };
template <class A>
concept TakesGamma = requires(const A& a) { Gamma(1) * a; };
template <class A>
concept HasSquareRoot = requires(const A& a) { sqrt(a); };

}  // namespace

TEST_CASE("before Layout::create nothing works, and the message says so") {  // first in this file: no lattice yet
  CHECK_THROWS_WITH_AS(LatticeColorMatrix(), doctest::Contains("Layout::create"), UserError);
  CHECK_THROWS_WITH_AS(LatticeReal(1.0), doctest::Contains("Layout::create"), UserError);
  CHECK_THROWS_WITH_AS(Layout::latticeCoordinate(0), doctest::Contains("Layout::create"), UserError);
  CHECK_THROWS_WITH_AS(Layout::vol(), doctest::Contains("Layout::create"), UserError);
  CHECK_THROWS_WITH_AS(rb[0].siteTable(), doctest::Contains("Layout::create"), UserError);
  CHECK_THROWS_WITH_AS(Layout::Lattice::present(), doctest::Contains("Layout::create"), UserError);
  CHECK(toDouble(shift(Real(1), FORWARD, 0)) == 1.0);
  class Zeros : public SetFunc {
    int operator()(const multi1d<int>&) const override { return 0; }
    int numSubsets() const override { return 1; }
  };
  CHECK_THROWS_WITH_AS(Set(Zeros{}), doctest::Contains("Layout::create"), UserError);
  CHECK(toDouble(Real(2) * Real(3)) == 6.0);  // scalars need no lattice
}

TEST_CASE("extents must be at least one, and of the right number") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  multi1d<int> n(Nd);
  n = 4;
  n[2] = 0;
  CHECK_THROWS_WITH_AS(
      [&] {
        Layout::setLattSize(n);
        Layout::create();
      }(),
      doctest::Contains("0"), UserError);
  multi1d<int> three(3);
  three = 4;
  CHECK_THROWS_AS(
      [&] {
        Layout::setLattSize(three);
        Layout::create();
      }(),
      UserError);
}

TEST_CASE("directions out of range") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({2, 2, 2, 2});
  LatticeComplex z;
  z = zero;
  CHECK_THROWS_WITH_AS(shift(z, FORWARD, 4), doctest::Contains("4"), UserError);
  CHECK_THROWS_AS(shift(z, FORWARD, -1), UserError);
  CHECK_THROWS_AS(shift(z, 0, 1), UserError);
  CHECK_THROWS_WITH_AS(Layout::latticeCoordinate(4), doctest::Contains("expected a direction 0..3, got 4"), UserError);
  LatticeFermion psi;
  psi = zero;
  CHECK_THROWS_WITH_AS(spinProject(psi, 4, 1), doctest::Contains("spinProject: direction out of range"), UserError);
  LatticeHalfFermion half;
  half = zero;
  CHECK_THROWS_WITH_AS(spinReconstruct(half, -1, 1), doctest::Contains("got -1"), UserError);
}

TEST_CASE("gamma matrices out of range") {
  CHECK_THROWS_WITH_AS(Gamma(16), doctest::Contains("gamma matrix out of range: expected 0..15, got 16"), UserError);
  CHECK_THROWS_WITH_AS(Gamma(-1), doctest::Contains("got -1"), UserError);
  CHECK_THROWS_WITH_AS(GammaDP(99), doctest::Contains("GammaDP"), UserError);
}

TEST_CASE("components out of range") {
  create_lattice({2, 2, 2, 2});
  LatticeColorMatrix u;
  u = 1;
  LatticeFermion psi;
  psi = zero;
  LatticeComplex z;
  z = 1;
  CHECK_THROWS_WITH_AS(peekColor(u, Nc, 0),
                       doctest::Contains(("peekColor: row out of range: expected 0.." + std::to_string(Nc - 1) +
                                          ", got " + std::to_string(Nc))
                                             .c_str()),
                       UserError);
  CHECK_THROWS_WITH_AS(peekColor(u, 0, -1), doctest::Contains("column"), UserError);
  CHECK_THROWS_WITH_AS(peekSpin(psi, 4), doctest::Contains("peekSpin"), UserError);
  CHECK_THROWS_WITH_AS(pokeColor(u, z, 0, Nc), doctest::Contains("pokeColor: column"), UserError);
  CHECK_THROWS_WITH_AS(pokeSpin(psi, LatticeColorVector(zero), -2), doctest::Contains("got -2"), UserError);
  CHECK_THROWS_WITH_AS(pokeColor(u[rb[0]], z, 5, 0), doctest::Contains("got 5"), UserError);
  ColorMatrix site = 1;
  CHECK_THROWS_WITH_AS(pokeColor(site, Complex(1), Nc, Nc), doctest::Contains(("got " + std::to_string(Nc)).c_str()),
                       UserError);
  CHECK(toDouble(norm2(u)) == Nc * static_cast<double>(Layout::vol()));  // nothing was written
}

TEST_CASE("coordinates out of range") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({3, 5, 7, 2});
  LatticeReal x;
  x = 1;
  CHECK_THROWS_WITH_AS(peekSite(x, to_multi1d({3, 0, 0, 0})),
                       doctest::Contains("coordinate out of range: expected 0..2, got 3"), UserError);
  CHECK_THROWS_WITH_AS(peekSite(x, to_multi1d({0, 0, 0, -1})), doctest::Contains("got -1"), UserError);
  CHECK_THROWS_WITH_AS(pokeSite(x, Real(1), to_multi1d({0, 5, 0, 0})), doctest::Contains("pokeSite"), UserError);
  multi1d<int> short_coordinate(2);
  short_coordinate = 0;
  CHECK_THROWS_WITH_AS(peekSite(x, short_coordinate), doctest::Contains("peekSite: expected 4 coordinates, got 2"),
                       UserError);
}

TEST_CASE("subsets that a set does not have") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({2, 2, 2, 2});
  CHECK_THROWS_WITH_AS(rb3[2], doctest::Contains("rb3"), UserError);
  CHECK_THROWS_WITH_AS(rb[-1], doctest::Contains("-1"), UserError);
  LatticeReal x;
  x = 1;
  CHECK_THROWS_AS(x[Subset()] = 2.0, UserError);
  CHECK_THROWS_AS(sum(x, Subset()), UserError);
  const Set bad_colors;
  CHECK_THROWS_AS(bad_colors[0], UserError);
  CHECK_THROWS_AS(Set(Coloring(2, [](const Extents& y) { return 2 * y[0]; })), UserError);
  CHECK(toDouble(sum(x)) == 16.0);
}

TEST_CASE("a subset outlives its set") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({4, 4, 4, 8});
  auto slices = std::make_unique<Set>(Coloring(8, [](const Extents& y) { return y[3]; }));
  const Subset slice = (*slices)[3];
  slices.reset();
  LatticeReal x;
  x = 1;
  x[slice] = 3;
  CHECK(toDouble(sum(x, slice)) == 192.0);
}

TEST_CASE("a map that leaves the lattice") {
  create_lattice({3, 5, 7, 2});
  CHECK_THROWS_WITH_AS(Map(Leaving{}), doctest::Contains("5"), UserError);
  const Map none;
  LatticeReal x;
  x = 1;
  CHECK_THROWS_AS(none(x), UserError);
}

TEST_CASE("things of two lattices do not mix") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({4, 4, 4, 8});
  LatticeReal old;
  old = 1;
  const Set old_slices(Coloring(8, [](const Extents& y) { return y[3]; }));
  class Identity : public MapFunc {
    multi1d<int> operator()(const multi1d<int>& x, int) const override { return x; }
  };
  const Map old_map{Identity{}};
  create_lattice({2, 2, 2, 2});
  LatticeReal now;
  now = 2;
  const auto both = doctest::Contains("(4, 4, 4, 8)");
  CHECK_THROWS_WITH_AS(now = old, both, UserError);
  CHECK_THROWS_WITH_AS(now = std::move(old), both, UserError);
  CHECK_THROWS_WITH_AS(now += 2 * old, both, UserError);
  CHECK_THROWS_WITH_AS(now[rb[0]] = old, both, UserError);
  CHECK_THROWS_WITH_AS(now = 2 * now + shift(old, FORWARD, 0), both, UserError);
  CHECK_THROWS_WITH_AS(sum(now * old), both, UserError);
  CHECK_THROWS_WITH_AS(innerProduct(old, now, rb[1]), both, UserError);
  CHECK_THROWS_WITH_AS(now[old_slices[0]] = 1.0, both, UserError);
  CHECK_THROWS_WITH_AS(sum(now, old_slices[0]), both, UserError);
  CHECK_THROWS_WITH_AS(sumMulti(now, old_slices), both, UserError);
  CHECK_THROWS_WITH_AS(now = old_map(now), both, UserError);
  CHECK_THROWS_WITH_AS(random(now, old_slices[0]), both, UserError);
  CHECK(toDouble(sum(now)) == 32.0);
  CHECK(toDouble(sum(old)) == 512.0);
  // a second lattice of the same extents is another lattice too
  create_lattice({2, 2, 2, 2});
  LatticeReal third = Real(3);
  CHECK_THROWS_WITH_AS(third = now, doctest::Contains("another lattice"), UserError);
}

TEST_CASE("an old field may still be read on the host") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({2, 2, 2, 2});
  LatticeReal old;
  old = 3;
  create_lattice({4, 4, 4, 8});
  CHECK(std::as_const(old).elem(16 / job_ranks() - 1).elem().elem().elem() == 3.0);
}

TEST_CASE("a failing statement leaves its destination and the language as they were") {
  create_lattice({4, 4, 4, 8});
  LatticeColorMatrix u;
  u = 1;
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(u = shift(peekColor(u, 0, Nc) * u, FORWARD, 0), UserError);
  CHECK(toDouble(norm2(u)) == Nc * static_cast<double>(Layout::vol()));
}

TEST_CASE("child: reading what was never written" * doctest::skip()) {
  create_lattice({2, 2, 2, 2});
  LatticeReal never, r;
  CHECK_THROWS_WITH_AS(r = 2.0 * never, doctest::Contains("never"), UserError);
  CHECK_THROWS_WITH_AS(sum(never), doctest::Contains("never"), UserError);
  never[rb[0]] = 1.0;  // some sites are enough to have been written
  r = never;
  r = 1.0;
  CHECK(toDouble(sum(r)) == static_cast<double>(Layout::vol()));
}

TEST_CASE("with TESSERA_CHECK=1, reading a field that was never written is refused") {
  const std::string command = "TESSERA_CHECK=1 /proc/" + std::to_string(::getpid()) +
                              "/exe --no-skip --test-case='child: reading what was never written'";
  FILE* child = ::popen(command.c_str(), "r");
  REQUIRE(child);
  std::string output;
  for (char part[4096]; std::fgets(part, sizeof part, child);) output += part;
  CHECK_MESSAGE(::pclose(child) == 0, output);
  CHECK_MESSAGE(output.find("1 passed") != std::string::npos, output);
}

TEST_CASE("operations without meaning do not compile") {
  CHECK_FALSE(Multiplies<LatticeColorVector, LatticeColorMatrix>);
  CHECK_FALSE(Multiplies<LatticeFermion, LatticeSpinMatrix>);
  CHECK_FALSE(Multiplies<LatticeHalfFermion, LatticeFermion>);
  CHECK_FALSE(Multiplies<LatticeColorMatrix3, LatticeColorMatrix2>);
  CHECK_FALSE(Multiplies<LatticeReal, std::string>);
  CHECK_FALSE(Adds<LatticeFermion, LatticeReal>);
  CHECK_FALSE(Adds<LatticeColorMatrix, LatticeSpinVector>);
  CHECK_FALSE(Adds<LatticeReal, LatticeFermion>);
  CHECK_FALSE(Assigns<LatticeFermion, LatticeColorMatrix>);
  CHECK_FALSE(Assigns<LatticeReal, LatticeComplex>);
  CHECK_FALSE(Assigns<LatticeFermion, LatticeReal>);
  CHECK_FALSE(Assigns<LatticeFermion, int>);
  CHECK_FALSE(Assigns<Real, LatticeReal>);
  CHECK_FALSE(Assigns<Real, Complex>);
  CHECK_FALSE(Compares<LatticeComplex, LatticeComplex>);
  CHECK_FALSE(ProjectsSpin<LatticeColorMatrix>);
  CHECK_FALSE(ProjectsSpin<LatticeHalfFermion>);
  CHECK_FALSE(TakesGamma<LatticeColorMatrix>);
  CHECK_FALSE(TakesGamma<LatticeHalfFermion>);
  CHECK_FALSE(HasSquareRoot<LatticeComplex>);
  CHECK(Multiplies<LatticeColorMatrix, LatticeHalfFermion>);  // the concepts can say yes
  CHECK(Assigns<LatticeColorMatrix, LatticeReal>);
}

TEST_CASE("a site that is not there is an error in every build, on the host or not") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents and numbers of sites written out");
  create_lattice({4, 2, 2, 2});
  const int n = Layout::sitesOnNode();
  const auto refused = [n](auto access, const char* type) {
    const std::string valid = "expected the index of a site, 0.." + std::to_string(n - 1) + ", got ";
    CHECK_THROWS_WITH_AS(access(-1), doctest::Contains((valid + "-1").c_str()), jit::UserError);
    CHECK_THROWS_WITH_AS(access(n), doctest::Contains((valid + std::to_string(n)).c_str()), jit::UserError);
    CHECK_THROWS_WITH_AS(access(1 << 30), doctest::Contains(type), jit::UserError);
  };
  REQUIRE(n == 32 / job_ranks());
  LatticeRealD x;
  const LatticeRealD& constant = x;
  for (const bool on_host : {false, true}) {
    x = Layout::latticeCoordinate(0);
    if (on_host) x.elem(0) = x.elem(n - 1);
    refused([&](int i) { return x.elem(i).elem().elem().elem(); }, "LatticeRealD");
    x = Layout::latticeCoordinate(0);
    if (on_host) x.elem(0) = x.elem(n - 1);
    refused([&](int i) { return constant.elem(i).elem().elem().elem(); }, "LatticeRealD");
    refused([&](int i) { return x[even].elem(i).elem().elem().elem(); }, "LatticeRealD");
    refused([&](int i) { return toDouble(getSite(x, i)); }, "getSite");
  }
  const LatticeFermionF psi = random_lattice<Sites<float>::Fermion>();
  refused([&](int i) { return psi.elem(i).elem(0).elem(0).real(); }, "LatticeFermionF");
  multi1d<int> outside(Nd);
  outside = 0;
  outside[1] = 2;
  CHECK_THROWS_WITH_AS(peekSite(x, outside),
                       doctest::Contains("peekSite: coordinate out of range: expected 0..1, got 2"), jit::UserError);
  CHECK_THROWS_WITH_AS(pokeSite(x, Real(1), outside), doctest::Contains("pokeSite"), jit::UserError);
}

TEST_CASE("a component that is not there is an error") {
  const auto refused = [](auto access, int limit, int got, const char* where) {
    const std::string text = std::string(where) + ": component out of range: expected 0.." + std::to_string(limit - 1) +
                             ", got " + std::to_string(got);
    CHECK_THROWS_WITH_AS(access(), text.c_str(), UserError);
  };
  Fermion psi = zero;
  ColorMatrix u = zero;
  const ColorMatrix& constant = u;
  volatile int colors = Nc, spins = Ns, minus_one = -1;  // as indices that the compiler does not know
  refused([&] { psi.elem().elem(0).elem(colors); }, Nc, Nc, "elem of a vector");
  refused([&] { psi.elem().elem(minus_one); }, Ns, -1, "elem of a vector");
  refused([&] { psi.elem()[spins]; }, Ns, Ns, "elem of a vector");
  refused([&] { u.elem().elem().elem(colors, 0); }, Nc, Nc, "elem of a matrix, row");
  refused([&] { constant.elem().elem().elem(0, colors); }, Nc, Nc, "elem of a matrix, column");
}
