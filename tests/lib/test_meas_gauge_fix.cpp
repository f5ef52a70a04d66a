// Coulomb and Landau gauge.

#include "lib/meas/gauge_fix.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/plain.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

GaugeFixing strict(int j_decay, double over_relaxation = 1.7) {
  GaugeFixing how;
  how.j_decay = j_decay;
  how.accuracy = tests::kDoubles ? 1e-15 : 1e-8;
  how.over_relaxation = over_relaxation;
  return how;
}

}  // namespace

TEST_CASE("a fixed field is the transformed field, and its divergence vanishes") {
  tests::use_lattice({4, 2, 4, 6});
  GaugeField start(Nd);
  weak_field_start(start);
  const GaugeField weak = start;
  LatticeColorMatrix spin;
  start = tests::gauge_transformed(start, spin);
  for (int j_decay : {-1, 0, Nd - 1}) {
    CAPTURE(j_decay);
    GaugeField u = start;
    LatticeColorMatrix g;
    CHECK(gauge_divergence(u, j_decay) > 0.1);
    const GaugeFixingResult result = fix_gauge(u, g, strict(j_decay));
    CHECK(result.converged);
    CHECK(result.theta < base_tol(1e-12));
    // One of the fields that it may become is the weak one that it was.
    double before = 0;
    for (int mu = 0; mu < Nd; ++mu)
      if (mu != j_decay) before += toDouble(sum(real(trace(weak[mu]))));
    before /= Nc * (Nd - (j_decay < 0 ? 0 : 1)) * static_cast<double>(Layout::vol());
    CHECK(result.functional > before);
    CHECK(result.functional > (Nc == 2 ? 0.7 : 0.75));
    GaugeField expected(Nd);
    for (int mu = 0; mu < Nd; ++mu) expected[mu] = g * start[mu] * adj(shift(g, FORWARD, mu));
    CHECK(distance(u, expected) < base_tol(1e-11));
    CHECK(toDouble(average_plaquette(u)) ==
          doctest::Approx(toDouble(average_plaquette(start))).epsilon(base_tol(1e-12)));
  }
}

TEST_CASE("a pure gauge field is brought back to U = 1 in Landau gauge") {
  tests::use_lattice({4, 4, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  const GaugeField unit = u;
  LatticeColorMatrix smooth;
  gaussian(smooth);
  smooth = su3_exp(Real(0.3) * taproj(smooth));
  for (int mu = 0; mu < Nd; ++mu) u[mu] = smooth * u[mu] * adj(shift(smooth, FORWARD, mu));
  LatticeColorMatrix g;
  const GaugeFixingResult result = fix_gauge(u, g, strict(-1));
  CHECK(result.functional == doctest::Approx(1).epsilon(base_tol(1e-12)));
  CHECK(toDouble(average_link(u)) == doctest::Approx(1).epsilon(base_tol(1e-12)));
}

TEST_CASE("over-relaxation needs fewer sweeps and reaches the same functional") {
  tests::use_lattice(Nd == 4   ? std::vector{2, 2, 4, 16}
                     : Nd == 3 ? std::vector{2, 2, 16}
                               : std::vector{4, 16});  // long, so that there are slow modes
  GaugeField start(Nd);
  weak_field_start(start);
  LatticeColorMatrix g;
  GaugeField a = start, b = start;
  const GaugeFixingResult plain = fix_gauge(a, g, strict(-1, 1.0)), over = fix_gauge(b, g, strict(-1, 1.2));
  CHECK(over.sweeps < plain.sweeps);
  CHECK(over.functional == doctest::Approx(plain.functional).epsilon(base_tol(1e-9)));
}

// Chroma's regression test chroma/gfix/coulgauge, single precision.
TEST_CASE("the link trace in Coulomb gauge agrees with Chroma's") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  tests::use_lattice({4, 4, 4, 8});
  GaugeField u(Nd);
  weak_field_start(u);
  GaugeFixing how;
  how.accuracy = 1e-5;
  how.max_sweeps = 200;
  LatticeColorMatrix g;
  const GaugeFixingResult result = fix_gauge(u, g, how);
  CHECK(result.sweeps == 11);
  CHECK(toDouble(average_link(u)) == doctest::Approx(0.79502857428209).epsilon(2e-6));
}

TEST_CASE("gauge fixing that cannot work is refused, and an unfinished one is reported") {
  {
    tests::use_lattice({2, 3, 2, 3});
    LatticeColorMatrix g;
    GaugeField u = tests::random_field();
    CHECK_THROWS_WITH_AS(fix_gauge(u, g, {}), doctest::Contains("even extents"), ShapeError);
  }
  tests::use_lattice({4, 4, 2, 4});
  GaugeField u = tests::random_field();
  LatticeColorMatrix turn;
  GaugeFixing how;
  how.over_relaxation = 2;
  CHECK_THROWS_WITH_AS(fix_gauge(u, turn, how), doctest::Contains("over-relaxation"), ShapeError);
  how.over_relaxation = 1;
  how.j_decay = -1;
  how.max_sweeps = 2;
  const GaugeFixingResult result = fix_gauge(u, turn, how);
  CHECK(!result.converged);
  CHECK(result.sweeps == 2);
  GaugeField few(1);
  CHECK_THROWS_AS(fix_gauge(few, turn, {}), ShapeError);
}

TEST_CASE("functional and theta are the sums that define them, for every direction left out and for none") {
  TESSERA_NEEDS_QCD("plain links");
  tests::use_lattice({4, 2, 4, 6});
  const GaugeField u = tests::random_field();
  const reference::Links plain = tests::plain_links(u);
  for (int j_decay = -1; j_decay <= Nd; ++j_decay) {
    CAPTURE(j_decay);
    double theta = 0, functional = 0, links = 0;
    for (int x = 0; x < plain.volume(); ++x) {
      reference::Color divergence{};
      for (int mu = 0; mu < Nd; ++mu) {
        if (mu == j_decay) continue;
        divergence = divergence + plain.at(x, mu) + reference::Complex(-1) * plain.at(plain.neighbour(x, mu, -1), mu);
        functional += trace(plain.at(x, mu)).real() / 3;
        ++links;
      }
      const reference::Color delta = algebra_part(divergence);
      theta += trace(delta * adjoint(delta)).real() / (3 * plain.volume());
    }
    CHECK(gauge_divergence(u, j_decay) == doctest::Approx(theta).epsilon(base_tol(1e-12)));
    GaugeFixing none;
    none.j_decay = j_decay;
    none.max_sweeps = 0;
    GaugeField same = u;
    LatticeColorMatrix g;
    const GaugeFixingResult result = fix_gauge(same, g, none);
    CHECK(result.sweeps == 0);
    CHECK(result.theta == doctest::Approx(theta).epsilon(base_tol(1e-10)));
    CHECK(std::fabs(result.functional - functional / links) < base_tol(1e-13));
  }
}
