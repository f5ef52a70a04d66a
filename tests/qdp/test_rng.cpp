#include "lattices.hpp"

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp.h"
#include "qdp/rng/rng.hpp"
#include "tests/message_of.hpp"
#include "tests/reference/whole.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace QDP;
using tests::contains;
using tests::Extents;
using tests::message_of;

namespace {

// ---- the generator once more, in limbs of base 4096 as QDP++'s documentation gives it, one site after the other
// ----------

using Limbs = std::array<int, 4>;
constexpr Limbs kA{1645, 712, 1498, 1222};

Limbs multiply(const Limbs& s, const Limbs& m) {
  long carry = 0;
  Limbs r;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j <= i; ++j) carry += static_cast<long>(s[j]) * m[i - j];
    r[i] = static_cast<int>(carry % (i == 3 ? 2048 : 4096));
    carry /= 4096;
  }
  return r;
}

float uniform(const Limbs& s) {
  const float twom11 = 1 / 2048.0f, twom12 = 1 / 4096.0f;
  const volatile float d0 = twom12 * static_cast<float>(s[0]);
  const volatile float d1 = twom12 * (static_cast<float>(s[1]) + d0);
  const volatile float d2 = twom12 * (static_cast<float>(s[2]) + d1);
  return twom11 * (static_cast<float>(s[3]) + d2);
}

/// [host index][component]
using Draws = std::vector<std::vector<float>>;

/// One draw of a whole field; moves the seed on.
Draws reference_draw(Limbs& seed, const Extents& extents, int components) {
  const int v = tests::volume(extents);
  Limbs step = kA;  // a^(V+1)
  for (int i = 0; i < v; ++i) step = multiply(step, kA);
  const detail::Geometry lattice(extents);
  Draws draws(v);
  Limbs site = kA;  // a^(1 + lexicographic number)
  for (int n = 0; n < v; ++n, site = multiply(site, kA)) {
    Limbs state = multiply(seed, site);
    auto& out = draws[lattice.index(tests::lexicographic_coordinates(n, extents))];
    for (int c = 0; c < components; ++c, state = multiply(state, step)) out.push_back(uniform(state));
  }
  for (int c = 0; c < components; ++c) seed = multiply(seed, step);
  Draws here;
  for (const std::size_t place : reference::places_here()) here.push_back(draws[place]);
  return here;
}

Limbs present_seed() {
  Seed seed;
  RNG::savern(seed);
  Limbs limbs;
  for (int i = 0; i < 4; ++i) limbs[i] = seed.elem().elem().elem(i).elem();
  return limbs;
}

void set_seed(const Limbs& limbs) {
  Seed seed;
  for (int i = 0; i < 4; ++i) seed.elem().elem().elem(i).elem() = limbs[i];
  RNG::setrn(seed);
}

constexpr Limbs kSeed{3201, 77, 4000, 1999};

template <class T>
using WordOf = std::conditional_t<detail::shape_of<T>.word == jit::ir::Type::f32, float, double>;

/// The components of a site in host order.
template <class T>
const WordOf<T>* words(const OLattice<T>& x, int site) {
  return reinterpret_cast<const WordOf<T>*>(&x.elem(site));
}

template <class T>
void check_random(OLattice<T> x, const Extents& extents) {
  constexpr int n = detail::shape_of<T>.components();
  set_seed(kSeed);
  Limbs seed = kSeed;
  for (int draw = 0; draw < 2; ++draw) {  // the second starts where the first ended
    const Draws expected = reference_draw(seed, extents, n);
    random(x);
    bool same = true;
    for (int site = 0; site < Layout::sitesOnNode(); ++site)
      for (int c = 0; c < n; ++c) same = same && words(x, site)[c] == expected[site][c];
    CHECK(same);
    CHECK(present_seed() == seed);
  }
}

/// Largest distance from the Box-Muller formula, in units of the word's rounding error.
template <class T>
double gaussian_error(const OLattice<T>& x, const Draws& r1, const Draws& r2, const Subset& subset) {
  using W = WordOf<T>;
  constexpr detail::Shape shape = detail::shape_of<T>;
  const int stride = shape.complex ? 2 : 1;
  double worst = 0;
  const auto compare = [&](W got, double expected) {
    worst = std::max(worst, std::abs(got - expected) / std::max(1.0, std::abs(expected)));
  };
  for (int site : subset.siteTable())
    for (int c = 0; c < shape.components(); c += stride) {
      const double radius = std::sqrt(-2.0 * std::log(static_cast<double>(r1[site][c])));
      const double angle = static_cast<W>(static_cast<W>(6.283185307) * static_cast<W>(r2[site][c]));
      compare(words(x, site)[c], radius * std::cos(angle));
      if (shape.complex) compare(words(x, site)[c + 1], radius * std::sin(angle));
    }
  return worst / std::numeric_limits<W>::epsilon();
}

template <class T>
void check_gaussian(OLattice<T> x, const Extents& extents) {
  constexpr int n = detail::shape_of<T>.components();
  set_seed(kSeed);
  Limbs seed = kSeed;
  const Draws r1 = reference_draw(seed, extents, n), r2 = reference_draw(seed, extents, n);
  gaussian(x);
  CHECK(gaussian_error(x, r1, r2, all) < 8);
  CHECK(present_seed() == seed);
}

/// Kinetic energy sum(|P|^2 - 4) over links of momenta P = taproj(sqrt(1/2) gaussian), drawn direction by direction.
double start_kinetic_energy(const Extents& extents) {
  tests::create_lattice(extents);
  set_seed({11, 0, 0, 0});
  double energy = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeColorMatrixD p;
    gaussian(p);
    for (const auto& site : reference::whole(p)) {
      const auto at = [&](int i, int j) {
        const auto& z = site.elem().elem(i, j);
        return std::complex<double>(z.real(), z.imag()) * std::sqrt(0.5);
      };
      double trace = 0;  // of the anti-hermitian part, over i
      for (int i = 0; i < 3; ++i) trace += at(i, i).imag();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          std::complex<double> a = 0.5 * (at(i, j) - std::conj(at(j, i)));
          if (i == j) a -= std::complex<double>(0, trace / 3);
          energy += std::norm(a);
        }
      energy -= 4;
    }
  }
  return energy;
}

}  // namespace

TEST_CASE("multiplier, powers and limbs") {
  CHECK(detail::to_limbs(detail::kLcgMultiplier) == detail::SeedLimbs(kA));
  CHECK(detail::from_limbs(kA) == detail::kLcgMultiplier);
  Limbs limbs{1, 0, 0, 0};
  for (int n = 0; n < 200; ++n, limbs = multiply(limbs, kA)) {
    CHECK(detail::lcg_power(detail::kLcgMultiplier, n) == detail::from_limbs(limbs));
    CHECK(detail::lcg_uniform(detail::from_limbs(limbs)) == uniform(limbs));
  }
  CHECK(detail::from_limbs({4096 + 5, 0, 0, 0}) == detail::from_limbs({5, 1, 0, 0}));
  CHECK(detail::lcg_uniform(detail::kLcgMask) == 1.0f);
  CHECK(detail::lcg_uniform(0) == 0.0f);
}

TEST_CASE("random fields are the numbers of the serial generator, on any lattice, float and double") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    check_random(LatticeRealF(), extents);
    check_random(LatticeRealD(), extents);
    check_random(LatticeComplexD(), extents);
    check_random(LatticeColorMatrixF(), extents);
    check_random(LatticeColorMatrixD(), extents);
    check_random(LatticeFermionF(), extents);
    check_random(LatticeFermionD(), extents);
  }
}

TEST_CASE("nothing of one layout is left in the next, be it of the same volume") {
  for (const Extents& extents :
       tests::shared_out({{4, 2, 6, 8}, {8, 6, 2, 4}, {6, 8, 4, 2}, {4, 2, 6, 8}, {2, 2, 12, 8}})) {
    tests::create_lattice(extents);
    CAPTURE(extents[0]);
    check_random(LatticeRealD(), extents);
    check_random(LatticeColorMatrixF(), extents);
    check_gaussian(LatticeFermionD(), extents);
    bool right = true;
    for (int mu = 0; mu < Nd; ++mu) {
      const LatticeInteger x = Layout::latticeCoordinate(mu), ahead = shift(x, FORWARD, mu);
      for (int site = 0; site < Layout::sitesOnNode(); ++site) {
        const int here = Layout::siteCoords(Layout::nodeNumber(), site)[mu];
        right = right && x.elem(site).elem().elem().elem() == here &&
                ahead.elem(site).elem().elem().elem() == (here + 1) % extents[mu];
      }
    }
    CHECK(right);
    FlopCounter flops;
    flops.addSiteFlops(3);
    CHECK(flops.getFlops() == 3ull * static_cast<unsigned long long>(Layout::sitesOnNode()));
  }
}

TEST_CASE("a propagator draws its 288 components in order: spin, colour row, colour column, re, im") {
  const Extents extents{2, 2, 2, 4};
  tests::create_lattice(extents);
  check_random(LatticePropagatorF(), extents);
  check_random(LatticePropagatorD(), extents);
  check_gaussian(LatticePropagatorF(), extents);
}

TEST_CASE("gaussian fields are Box-Muller of two whole draws") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    check_gaussian(LatticeRealF(), extents);
    check_gaussian(LatticeRealD(), extents);
    check_gaussian(LatticeColorMatrixF(), extents);
    check_gaussian(LatticeColorMatrixD(), extents);
    check_gaussian(LatticeFermionD(), extents);
  }
}

TEST_CASE("start momenta have the kinetic energies that Chroma prints for seed 11") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  const auto check = [](const Extents& extents, double printed) {
    const double energy = start_kinetic_energy(extents);
    CHECK(energy == doctest::Approx(printed).epsilon(1e-11));
  };
  check({4, 4, 4, 4}, -9.97478824149188);
  check({4, 4, 4, 8}, 71.0251442444115);
  check({2, 2, 2, 2}, 11.9513880870327);
}

TEST_CASE("on a subset the sites get the numbers of the whole draw, others keep theirs, and the seed moves as far") {
  for (const Extents& extents : tests::lattices()) {
    tests::create_lattice(extents);
    constexpr int kWords = 2 * Nc * Nc;
    for (const Subset& subset : {rb[0], rb[1], rb3[1], mcb[3], mcb[(2 << Nd) - 1]}) {
      Limbs seed = kSeed;
      set_seed(kSeed);
      const Draws uniform_draw = reference_draw(seed, extents, kWords);
      LatticeColorMatrixD x;
      x = 7.0;
      random(x, subset);
      CHECK(present_seed() == seed);
      const auto& colors = subset.getSet().latticeColoring();
      bool same = true;
      for (int site = 0; site < Layout::sitesOnNode(); ++site)
        for (int c = 0; c < kWords; ++c) {
          const double kept = c % (2 * Nc + 2) == 0 ? 7.0 : 0.0;
          same = same && words(x, site)[c] == (colors[site] == subset.color() ? uniform_draw[site][c] : kept);
        }
      CHECK(same);

      const Draws r1 = reference_draw(seed, extents, kWords), r2 = reference_draw(seed, extents, kWords);
      gaussian(x[subset]);
      CHECK(gaussian_error(x, r1, r2, subset) < 8);
      CHECK(present_seed() == seed);
    }
  }
}

TEST_CASE("an empty subset moves the seed like any other") {
  const Extents extents{1, 1, 1, 1};
  tests::create_lattice(extents);
  REQUIRE(rb[1].numSiteTable() == 0);
  Limbs seed = kSeed;
  set_seed(kSeed);
  LatticeReal x;
  x = 3.0;
  random(x, rb[1]);
  reference_draw(seed, extents, 1);
  CHECK(present_seed() == seed);
  gaussian(x[rb[1]]);
  reference_draw(seed, extents, 1);
  reference_draw(seed, extents, 1);
  CHECK(present_seed() == seed);
  CHECK(words(x, 0)[0] == 3.0);
}

TEST_CASE("scalars draw s a, s a^2, ... and leave the seed there") {
  tests::create_lattice({2, 2, 2, 2});
  Limbs seed = kSeed;
  const auto next = [&] { return uniform(seed = multiply(seed, kA)); };
  set_seed(kSeed);
  RealF f;
  random(f);
  CHECK(f.elem().elem().elem().elem() == next());
  Double d;
  random(d);
  CHECK(d.elem().elem().elem().elem() == next());
  ComplexD z;
  random(z);
  CHECK(z.elem().elem().elem().real() == next());
  CHECK(z.elem().elem().elem().imag() == next());
  CHECK(present_seed() == seed);

  gaussian(z);
  const double r1 = next(), unused1 = next(), r2 = next(), unused2 = next();
  CHECK(unused1 != unused2);
  CHECK(z.elem().elem().elem().real() == doctest::Approx(std::sqrt(-2 * std::log(r1)) * std::cos(6.283185307 * r2)));
  CHECK(z.elem().elem().elem().imag() == doctest::Approx(std::sqrt(-2 * std::log(r1)) * std::sin(6.283185307 * r2)));
  CHECK(present_seed() == seed);
}

TEST_CASE("setrn and savern are inverse, and a seed repeats the numbers") {
  tests::create_lattice({4, 4, 4, 8});
  CHECK(present_seed() == Limbs{11, 0, 0, 0});
  LatticeRealD first, second;
  Seed seed;
  random(first);
  RNG::savern(seed);
  random(first);
  RNG::setrn(seed);
  random(second);
  bool same = true;
  for (int site = 0; site < Layout::sitesOnNode(); ++site)
    same = same && words(first, site)[0] == words(second, site)[0];
  CHECK(same);
  RNG::initDefaultRNG();
  CHECK(present_seed() == Limbs{11, 0, 0, 0});
  set_seed(kSeed);
  RNG::finalizeRNG();
  RNG::initRNG();
  CHECK(present_seed() == kSeed);
  random(second);
  CHECK(words(second, 0)[0] != words(first, 0)[0]);
}

TEST_CASE("seeds are numbers modulo 2^47 with products, shifts and bits") {
  const auto seed_of = [](const Limbs& limbs) {
    Seed seed;
    for (int i = 0; i < 4; ++i) seed.elem().elem().elem(i).elem() = limbs[i];
    return seed;
  };
  const auto limbs_of = [](const Seed& seed) {
    Limbs limbs;
    for (int i = 0; i < 4; ++i) limbs[i] = seed.elem().elem().elem(i).elem();
    return limbs;
  };
  const Seed a = seed_of(kA), s = seed_of(kSeed);
  CHECK(limbs_of(a * s) == multiply(kA, kSeed));
  CHECK(limbs_of(s * s * a) == multiply(multiply(kSeed, kSeed), kA));
  CHECK(limbs_of(seed_of({4095, 4095, 4095, 2047}) * seed_of({4095, 4095, 4095, 2047})) == Limbs{1, 0, 0, 0});

  CHECK(limbs_of(s << 0) == kSeed);
  Limbs doubled = kSeed;
  for (int n = 1; n < 60; ++n) {
    doubled = multiply(doubled, {2, 0, 0, 0});
    CHECK(limbs_of(s << n) == doubled);
    CHECK(limbs_of(s << Integer(n)) == doubled);
  }
  CHECK(limbs_of(s << 64) == Limbs{0, 0, 0, 0});

  CHECK(limbs_of(seed_of({1, 2, 4, 8}) | seed_of({3, 0, 8, 2})) == Limbs{3, 2, 12, 10});
  CHECK(limbs_of(seed_of({1, 2, 4, 8}) | 6) == Limbs{7, 2, 4, 8});
  CHECK(limbs_of(seed_of({1, 2, 4, 8}) | Integer(2)) == Limbs{3, 2, 4, 8});
  static_assert(std::is_same_v<BinaryReturn<Seed, Seed, OpMultiply>::Type_t, Seed>);
}

TEST_CASE("sranf gives the number of the skewed seed and moves both seeds") {
  tests::create_lattice({2, 2, 2, 2});
  Seed seed, skewed, multiplier;
  set_seed(kSeed);
  RNG::savern(seed);
  set_seed(kA);
  RNG::savern(multiplier);
  RNG::savern(skewed);
  CHECK(RNG::sranf(seed, skewed, multiplier) == uniform(kA));
  RNG::setrn(seed);
  CHECK(present_seed() == multiply(kSeed, kA));
  RNG::setrn(skewed);
  CHECK(present_seed() == multiply(kA, kA));
}

TEST_CASE("a draw is one kernel, made once per site type") {
  tests::create_lattice({4, 4, 4, 8});
  LatticeFermionD x, y;
  gaussian(x);
  random(x);
  const jit::Runtime& runtime = jit::Runtime::instance();
  const auto launches = runtime.launches();
  const auto kernels = runtime.kernels().size();
  gaussian(y);
  CHECK(runtime.launches() == launches + 1);
  random(y);
  CHECK(runtime.launches() == launches + 2);
  CHECK(runtime.kernels().size() == kernels);
}

TEST_CASE("large lattices, tabulated by several threads, have the multipliers of the serial order") {
  const Extents extents{16, 8, 16, 32};
  const detail::Geometry lattice(extents);
  const auto multipliers = detail::site_multipliers(lattice, lattice);
  std::uint64_t expected = detail::kLcgMultiplier;
  bool right = true;
  for (int n = 0; n < tests::volume(extents); ++n, expected = detail::lcg_multiply(expected, detail::kLcgMultiplier))
    right = right && multipliers[lattice.index(tests::lexicographic_coordinates(n, extents))] == expected;
  CHECK(right);
  CHECK(detail::step_multiplier(lattice) == expected);
}

TEST_CASE("random integers, and subsets of another lattice, are refused") {
  static_assert(detail::Drawable<LatticePropagatorF::Site>);
  static_assert(!detail::Drawable<LatticeInteger::Site>);
  static_assert(!detail::Drawable<LatticeBoolean::Site>);
  static_assert(!detail::Drawable<Seed::Site>);
  tests::create_lattice({4, 4, 4, 8});
  class TimeSlices : public SetFunc {
   public:
    int operator()(const multi1d<int>& x) const override { return x[Nd - 1]; }
    int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
  };
  const Subset old = Set(TimeSlices())[0];
  LatticeInteger integers;
  CHECK(contains(message_of([&] { detail::random_field(*integers.field(), all); }), "float or double"));
  CHECK(contains(message_of([&] { detail::gaussian_field(*integers.field(), false, all); }), "float or double"));
  int word = 0;
  CHECK(contains(message_of([&] { detail::random_scalar(&word, jit::ir::Type::i32, 1); }), "got i32"));
  tests::create_lattice({4, 4, 4, 8});
  LatticeReal x;
  const Limbs seed = present_seed();
  CHECK(contains(message_of([&] { random(x, old); }), "subset set[0]"));
  CHECK(present_seed() == seed);
}
