// APE and HYP smearing, and the projection to the group.

#include "lib/meas/glue.hpp"
#include "lib/smear/ape.hpp"
#include "lib/smear/hyp.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

GaugeField chroma_weak_field() {
  tests::use_lattice({4, 4, 4, 8});  // seed 11, as Chroma's main program without RNG
  GaugeField u(Nd);
  weak_field_start(u);
  return u;
}

/// A smearing commutes with gauge transformations.
template <class Smear>
double covariance_violation(const Smear& smear) {
  tests::use_lattice({4, 2, 4, 2});
  GaugeField u(Nd);
  weak_field_start(u);
  LatticeColorMatrix g;
  const GaugeField turned = tests::gauge_transformed(u, g);
  GaugeField expected = smear(u);
  const GaugeField smeared = smear(turned);
  for (int mu = 0; mu < Nd; ++mu) expected[mu] = g * expected[mu] * adj(shift(g, FORWARD, mu));
  return distance(smeared, expected) / std::sqrt(Nd * Nc * static_cast<double>(Layout::vol()));
}

}  // namespace

TEST_CASE("the projection finds the group element of largest overlap") {
  tests::use_lattice({4, 2, 2, 2});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix noise;
  gaussian(noise);
  const LatticeColorMatrix target = u[0] + Real(0.3) * noise;
  LatticeColorMatrix p = u[1];
  const int sweeps = project(p, target);
  CHECK(sweeps > (Nc > 2 ? 1 : 0));  // up to two colours one step does it
  CHECK(sweeps < 1000);
  CHECK(toDouble(globalMax(LatticeReal(su3_defect(p)))) < base_tol(1e-12));
  // At a maximum p target^+ has no anti-Hermitian traceless part ...
  CHECK(std::sqrt(toDouble(norm2(taproj(p * adj(target))))) < base_tol(1e-12));
  // ... and no neighbour in the group overlaps more.
  const double overlap = toDouble(sum(real(trace(p * adj(target)))));
  for (int trial = 0; trial < 5; ++trial) {
    const LatticeColorMatrix x = tests::random_algebra(0.05)[0];
    CHECK(toDouble(sum(real(trace(su3_exp(x) * p * adj(target))))) < overlap);
  }
}

TEST_CASE("the projection makes as many sweeps as allowed and no more, and says how many") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix target;
  gaussian(target);
  for (const double accuracy : {0.0, 1e-300})
    for (const int most : {0, 1, 3}) {
      LatticeColorMatrix p = u[0];
      const int sweeps = project(p, target, {.accuracy = accuracy, .max_sweeps = most});
      CHECK(sweeps <= most);
      if (Nc > 2) CHECK(sweeps == most);  // up to two colours one step does it
      CHECK((sweeps > 0) == (most > 0));
    }
}

TEST_CASE("a multiple of a group element is projected onto that element in one step") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix p = u[0];
  project(p, LatticeColorMatrix(Real(2.5) * u[0]));
  CHECK(distance(p, u[0]) < base_tol(1e-12));
}

TEST_CASE("over-relaxed rotations by factor 1 are the plain ones, by factor 2 they keep the trace") {
  tests::use_lattice({2, 2, 2, 2});
  LatticeColorMatrix m;
  gaussian(m);
  const LatticeColorMatrix plain = su2_ascent(m), one = su2_over_ascent(m, Real(1));
  CHECK(distance(plain, one) < base_tol(1e-12));
  CHECK(toDouble(sum(real(trace(plain * m)))) > toDouble(sum(real(trace(m)))));
  const LatticeColorMatrix two = su2_over_ascent(m, Real(2));
  CHECK(toDouble(sum(real(trace(two * m)))) == doctest::Approx(toDouble(sum(real(trace(m))))).epsilon(base_tol(1e-11)));
}

TEST_CASE("smearing leaves the unit field and pure gauge fields alone") {
  tests::use_lattice({2, 4, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  LatticeColorMatrix g;
  u = tests::gauge_transformed(u, g);
  CHECK(distance(ape_smeared(u, {}), u) < base_tol(1e-11));
  CHECK(distance(hyp_smeared(u), u) < base_tol(1e-11));
}

TEST_CASE("smearing is gauge covariant") {
  ApeSmearing ape;
  ape.steps = 2;
  const double of_ape = covariance_violation([&](const GaugeField& u) { return ape_smeared(u, ape); });
  CHECK(of_ape < base_tol(1e-13));
  HypSmearing hyp;
  const double of_hyp = covariance_violation([&](const GaugeField& u) { return hyp_smeared(u, hyp); });
  CHECK(of_hyp < base_tol(1e-13));
}

TEST_CASE("two steps are one step twice") {
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField u = tests::random_field();
  ApeSmearing ape, twice_ape;
  HypSmearing hyp, twice_hyp;
  ape.steps = hyp.steps = 1;
  twice_ape.steps = twice_hyp.steps = 2;
  const GaugeField a = ape_smeared(u, ape), h = hyp_smeared(u, hyp);
  const GaugeField aa = ape_smeared(u, twice_ape), hh = hyp_smeared(u, twice_hyp);
  CHECK(distance(aa, ape_smeared(a, ape)) == 0);
  CHECK(distance(hh, hyp_smeared(h, hyp)) == 0);
  CHECK(distance(aa, a) > 1e-2);
  CHECK(distance(hh, h) > 1e-2);
}

TEST_CASE("a direction without smearing keeps its links") {
  if (Nd == 2) TESSERA_SKIP("QDP_ND is 2: one direction alone has no staples");
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField u = tests::random_field();
  ApeSmearing ape;
  ape.no_smear_dir = 1;
  HypSmearing hyp;
  hyp.no_smear_dir = 1;
  for (const GaugeField& v : {ape_smeared(u, ape), hyp_smeared(u, hyp)}) {
    CHECK(distance(v[1], u[1]) == 0);
    CHECK(distance(v[0], u[0]) > 1);
  }
}

// Chroma's regression test chroma/smear/link_smear, single precision: agreement to some 1e-6 is what it can show.
TEST_CASE("smeared plaquettes agree with Chroma's") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  const GaugeField u = chroma_weak_field();
  CHECK(toDouble(measure_plaquettes(u).average) == doctest::Approx(0.994764811229996).epsilon(1e-6));

  ApeSmearing ape;
  ape.no_smear_dir = 3;
  ape.projection = {1e-5, 100};
  const Plaquettes a = measure_plaquettes(ape_smeared(u, ape));
  CHECK(toDouble(a.space) == doctest::Approx(0.999362534119023).epsilon(1e-6));
  CHECK(toDouble(a.time) == doctest::Approx(0.996162295238011).epsilon(1e-6));
  CHECK(toDouble(a.plane(1, 2)) == doctest::Approx(0.999336130917072).epsilon(1e-6));
  CHECK(toDouble(a.link) == doctest::Approx(0.379493533012768).epsilon(1e-6));

  HypSmearing hyp;
  hyp.projection = {5e-6, 100};
  hyp.no_smear_dir = 3;
  const Plaquettes h3 = measure_plaquettes(hyp_smeared(u, hyp));
  CHECK(toDouble(h3.space) == doctest::Approx(0.999667554731584).epsilon(1e-6));
  CHECK(toDouble(h3.time) == doctest::Approx(0.996240496480217).epsilon(1e-6));

  hyp.projection = {1e-5, 100};
  hyp.no_smear_dir = -1;
  const Plaquettes h4 = measure_plaquettes(hyp_smeared(u, hyp));
  CHECK(toDouble(h4.average) == doctest::Approx(0.99975084937695).epsilon(1e-6));
  CHECK(toDouble(h4.plane(0, 3)) == doctest::Approx(0.999751977777729).epsilon(1e-6));
  CHECK(toDouble(h4.link) == doctest::Approx(0.379593360800451).epsilon(1e-6));
}

TEST_CASE("smearing wants one field per direction") {
  tests::use_lattice({2, 2, 2, 2});
  const GaugeField few(Nd - 1);
  CHECK_THROWS_WITH_AS(ape_smeared(few, {}), doctest::Contains("ape_smeared"), ShapeError);
  CHECK_THROWS_WITH_AS(hyp_smeared(few), doctest::Contains("hyp_smeared"), ShapeError);
}
