// Gauge boundary conditions and gauge states: masks and fields of the Schroedinger functional, forces through them.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/io/boundary.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

constexpr double kPi = std::numbers::pi;

int count(const LatticeBoolean& mask) { return toInt(sum(where(mask, LatticeInteger(1), LatticeInteger(0)))); }

/// A GaugeBC group in a GaugeState, or the state alone.
std::string state(const std::string& bc, const std::string& name = "SIMPLE_GAUGE_STATE", const std::string& more = "") {
  return "<GaugeState><Name>" + name + "</Name>" + more + "<GaugeBC>" + bc + "</GaugeBC></GaugeState>";
}

std::string schroedinger(const std::string& kind, int loop_extent = 1, const std::string& factor = "1",
                         int decay_dir = 3) {
  return "<Name>SCHROEDINGER_" + kind + "_GAUGEBC</Name><SchrPhiMult>" + factor + "</SchrPhiMult><loop_extent>" +
         std::to_string(loop_extent) + "</loop_extent><decay_dir>" + std::to_string(decay_dir) + "</decay_dir>";
}

LinkMaps read_state(const std::string& elements) {
  const InputFile document = tests::input("<GaugeAction>" + elements + "</GaugeAction>");
  LinkMaps maps = read_gauge_state(document.root());
  document.require_valid();
  return maps;
}

const SchroedingerBoundary& boundary_of(const LinkMaps& maps) {
  const auto boundary = find_schroedinger_boundary(maps);
  REQUIRE(boundary);
  return *boundary;
}

/// dS/dt along exp(t X) U, from values and from the force.
void check_force(Monomial& monomial, const GaugeField& u) {
  TESSERA_NEEDS_DOUBLES("finite differences");
  GaugeField f;
  monomial.force(f, u, {});
  for (int direction = 0; direction < 3; ++direction) {
    const GaugeField x = tests::random_algebra();
    const auto value = [&](double t) {
      GaugeField v(Nd);
      for (int mu = 0; mu < Nd; ++mu) v[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
      return toDouble(monomial.action(v, {}));
    };
    const auto difference = [&](double h) { return (value(h) - value(-h)) / (2 * h); };
    const double slope = (4 * difference(5e-4) - difference(1e-3)) / 3;
    CHECK(-2 * tests::inner(x, f) == doctest::Approx(slope).epsilon(1e-8));
  }
}

const char* const kKinds[] = {"TRIVIAL", "NONPERT", "COUPLING", "CHROMOMAG", "DIRICHLET"};

}  // namespace

TEST_CASE("the boundaries of the Schroedinger functional fix the links that a loop across them would need") {
  tests::use_lattice({2, 4, 2, 8});
  const int plane = 16;  // sites per time
  const LinkMaps short_loops = read_state(state(schroedinger("TRIVIAL", 1)));
  const LinkMaps long_loops = read_state(state(schroedinger("TRIVIAL", 2)));
  for (int mu = 0; mu < 3; ++mu) {
    CHECK(count(boundary_of(short_loops).mask(mu)) == 2 * plane);
    CHECK(count(boundary_of(long_loops).mask(mu)) == 4 * plane);
  }
  CHECK(count(boundary_of(short_loops).mask(3)) == plane);
  CHECK(count(boundary_of(long_loops).mask(3)) == 3 * plane);

  // The same along another direction: 4 sites, so all spatial links are fixed with long loops but not with short ones.
  const LinkMaps sideways = read_state(state(schroedinger("TRIVIAL", 1, "1", 1)));
  CHECK(count(boundary_of(sideways).mask(0)) == 2 * 32);
  CHECK(count(boundary_of(sideways).mask(1)) == 32);

  // Whatever the links on the boundary were, the others do not see it.
  const GaugeField u = tests::random_field(), other = tests::random_field();
  const SchroedingerBoundary& boundary = boundary_of(long_loops);
  GaugeField mixed(Nd);
  for (int mu = 0; mu < Nd; ++mu) mixed[mu] = where(boundary.mask(mu), other[mu], u[mu]);
  CHECK(tests::distance(boundary.apply(u), boundary.apply(mixed)) == 0);
}

TEST_CASE("boundary fields are in SU(3) and interpolate between the phases of the literature") {
  tests::use_lattice({4, 2, 2, 7});
  const double lower[] = {-kPi / 6, 0, kPi / 6}, upper[] = {-5 * kPi / 6, kPi / 3, kPi / 2};
  const double lower_a[] = {-kPi / 3, 0, kPi / 3}, upper_a[] = {-kPi, kPi / 3, 2 * kPi / 3};
  for (const char* kind : kKinds) {
    CAPTURE(kind);
    const LinkMaps maps = read_state(state(schroedinger(kind)));
    for (int mu = 0; mu < Nd; ++mu) CHECK_NOTHROW(check_unitarity(boundary_of(maps).field()[mu], kind));
  }
  const auto element = [](const LatticeColorMatrix& w, int t, int c) {
    multi1d<int> x(Nd);
    x = 0;
    x[3] = t;
    const DComplex z = peekColor(peekSite(w, x), c, c);
    return std::arg(std::complex<double>(toDouble(real(z)), toDouble(imag(z))));
  };
  for (const auto& [kind, low, high] :
       {std::tuple{"NONPERT", lower, upper}, std::tuple{"COUPLING", lower_a, upper_a}}) {
    const LinkMaps maps = read_state(state(schroedinger(kind)));
    const GaugeField& w = boundary_of(maps).field();
    for (int c = 0; c < 3; ++c) {
      CHECK(element(w[0], 0, c) == doctest::Approx(low[c] / 4));
      CHECK(element(w[1], 6, c) == doctest::Approx(high[c] / 2));  // T = 6
      CHECK(element(w[0], 3, c) == doctest::Approx((low[c] + high[c]) / 8));
      CHECK(element(w[3], 3, c) == 0);
    }
  }
}

TEST_CASE("the chromomagnetic field is that of links in direction 0 along the last spatial direction") {
  for (const int decay_dir : {3, 2}) {
    tests::use_lattice({4, 2, 6, 5});
    const int along = decay_dir == 3 ? 2 : 3;
    const LinkMaps maps = read_state(state(schroedinger("CHROMOMAG", 1, "0.5", decay_dir)));
    const GaugeField& w = boundary_of(maps).field();
    for (int mu = 0; mu < Nd; ++mu)
      for (int x = 0; x < Layout::lattSize()[along]; ++x)
        for (int c = 0; c < Nc; ++c) {
          multi1d<int> site(Nd);
          site = 1;
          site[along] = x;
          const DComplex z = peekColor(peekSite(w[mu], site), c, c);
          const double turn = mu != 0 || c == 2 ? 0 : (c == 0 ? 1 : -1) * kPi * x / Layout::lattSize()[along];
          CHECK(toDouble(real(z)) == doctest::Approx(std::cos(turn)).epsilon(base_tol(1e-13)));
          CHECK(toDouble(imag(z)) == doctest::Approx(std::sin(turn)).epsilon(base_tol(1e-13)));
        }
  }
}

TEST_CASE(
    "the field between the boundaries is a classical solution, with the plaquettes of a constant electric field") {
  tests::use_lattice({4, 4, 4, 6});
  for (const char* kind : {"NONPERT", "COUPLING"}) {
    CAPTURE(kind);
    const LinkMaps maps = read_state(state(schroedinger(kind)));
    const GaugeField& w = boundary_of(maps).field();
    GaugeMonomial monomial(std::make_shared<LoopAction>(wilson_action(6)), maps);
    GaugeField f;
    monomial.force(f, w, {});
    CHECK(std::sqrt(tests::inner(f, f)) < base_tol(1e-11));

    // Phases per plaquette (phi' - phi)/(T L), T = 5, L = 4; spatial plaquettes are 1. Five planes of temporal
    // plaquettes between the boundaries, those around the lattice are 1, too far from it: the field jumps back there.
    double plaquette = 0, jump = 0;
    for (double phase : {-2 * kPi / 3, kPi / 3, kPi / 3}) {  // phi' - phi, the same for both
      plaquette += std::cos(phase / 20) / 3;
      jump += std::cos(phase / 4) / 3;
    }
    const double expected = -6.0 * 64 * (3 * 6 + 3 * (5 * plaquette + jump));
    CHECK(toDouble(monomial.action(w, {})) == doctest::Approx(expected).epsilon(base_tol(1e-12)));
  }
}

TEST_CASE("forces through every boundary condition and through stout links, and none on fixed links") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  const std::string stout = "<rho>0.12</rho><n_smear>2</n_smear><orthog_dir>3</orthog_dir>";
  std::vector<std::string> states;
  for (const char* kind : kKinds) states.push_back(state(schroedinger(kind, 2, "2")));
  states.push_back(state(schroedinger("ZERO")));
  states.push_back(state("<Name>SIMPLE_GAUGEBC</Name><boundary>1 1 -1 -1</boundary>"));
  states.push_back(
      state("<Name>SIMPLE_GAUGEBC</Name><boundary><elem><re>0</re><im>1</im></elem><elem><re>1</re><im>0</im>"
            "</elem><elem><re>1</re><im>0</im></elem><elem><re>-1</re><im>0</im></elem></boundary>"));
  states.push_back(state("<Name>PERIODIC_GAUGEBC</Name>", "STOUT_GAUGE_STATE", stout));
  states.push_back(state(schroedinger("NONPERT"), "STOUT_GAUGE_STATE", stout));
  for (const std::string& text : states) {
    CAPTURE(text);
    const LinkMaps maps = read_state(text);
    GaugeMonomial monomial(std::make_shared<LoopAction>(improved_action(2.6, -0.331)), maps);
    check_force(monomial, u);
    if (const auto boundary = find_schroedinger_boundary(maps)) {
      GaugeField f;
      monomial.force(f, u, {});
      for (int mu = 0; mu < Nd; ++mu) CHECK(toDouble(norm2(where(boundary->mask(mu), f[mu], Real(0) * f[mu]))) == 0);
    }
  }
}

TEST_CASE("phases at the boundary leave loops that do not wind, and their forces, as they are") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const auto action = std::make_shared<LoopAction>(improved_action(2.6, -0.331));
  GaugeMonomial periodic(action),
      phases(action, read_state("<GaugeBC><Name>SIMPLE_GAUGEBC</Name><boundary>-1 1 1 -1</boundary></GaugeBC>"));
  CHECK(toDouble(phases.action(u, {})) == doctest::Approx(toDouble(periodic.action(u, {}))).epsilon(base_tol(1e-13)));
  GaugeField a, b;
  periodic.force(a, u, {});
  phases.force(b, u, {});
  CHECK(tests::distance(a, b) < base_tol(1e-11));
}

TEST_CASE("states and conditions without a name are periodic; PERIODIC_GAUGE_STATE does not read a condition") {
  CHECK(read_state("").empty());
  CHECK(read_state("<GaugeState><Name>SIMPLE_GAUGE_STATE</Name></GaugeState>").empty());
  CHECK(read_state(state(schroedinger("NONPERT"), "PERIODIC_GAUGE_STATE")).empty());
  CHECK(read_state(state("<Name>PERIODIC_GAUGEBC</Name>")).empty());
  CHECK(read_state("<GaugeBC>" + schroedinger("NONPERT") + "</GaugeBC>").size() == 1);
}

TEST_CASE("the classical start is the field of its gauge state") {
  tests::use_lattice({2, 2, 4, 8});
  const std::string text = state(schroedinger("COUPLING", 1, "0.5"));
  const InputFile document = tests::input("<Cfg><cfg_type>CLASSICAL_SF</cfg_type>" + text + "</Cfg>");
  const GaugeInit init = read_gauge_init(document.root());
  document.require_valid();
  GaugeField u(Nd);
  init(u);
  CHECK(tests::distance(u, boundary_of(read_state(text)).field()) == 0);
  CHECK(toDouble(norm2(u[0] - u[1])) == 0);  // equal extents, equal links
  CHECK(toDouble(norm2(u[0] - u[2])) > 1);
}

TEST_CASE("wrong boundary conditions say what is wrong") {
  const auto message = [](const std::string& text) {
    const InputFile document = tests::input(text);
    (void)read_gauge_state(document.root());
    try {
      document.require_valid();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message("<A>" + state("<Name>SCHROEDINGER_GAUGEBC</Name>") + "</A>").find("SCHROEDINGER_COUPLING_GAUGEBC") !=
        std::string::npos);
  CHECK(message("<A>" + state(schroedinger("TRIVIAL", 3)) + "</A>").find("loop_extent") != std::string::npos);
  CHECK(message("<A>" + state("<Name>SIMPLE_GAUGEBC</Name><boundary>1 1</boundary>") + "</A>").find("boundary") !=
        std::string::npos);
  const InputFile periodic = tests::input("<Cfg><cfg_type>CLASSICAL_SF</cfg_type></Cfg>");
  (void)read_gauge_init(periodic.root());
  CHECK_THROWS_WITH_AS(periodic.require_valid(), doctest::Contains("Schroedinger"), InputError);

  tests::use_lattice({2, 2, 2, 4});
  const LinkMaps maps = read_state(state(schroedinger("TRIVIAL", 2)));
  CHECK_THROWS_WITH_AS(boundary_of(maps).mask(0), doctest::Contains("at least 5 sites"), ShapeError);
}
