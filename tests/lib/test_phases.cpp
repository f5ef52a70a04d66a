// Boundary conditions and Abelian phases of the links.

#include "lib/gauge/loop.hpp"
#include "lib/gauge/phases.hpp"
#include "lib/io/fermion_state.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <numbers>

using namespace QDP;
using namespace qcd;
using std::numbers::pi;
using tests::base_tol;

namespace {

GaugeField unit_field() {
  GaugeField u(Nd);
  unit_start(u);
  return u;
}

/// The product of all links of direction mu through x, divided by the unit matrix; `u` proportional to it.
std::complex<double> way_around(const GaugeField& u, int mu, const std::vector<int>& from = {0, 0, 0, 0}) {
  std::complex<double> product = 1;
  multi1d<int> x(Nd);
  for (int nu = 0; nu < Nd; ++nu) x[nu] = from[static_cast<std::size_t>(nu)];
  for (x[mu] = 0; x[mu] < Layout::lattSize()[mu]; ++x[mu]) {
    const Complex c = peekColor(peekSite(u[mu], x), 1, 1);
    product *= std::complex<double>(toDouble(real(c)), toDouble(imag(c)));
  }
  return product;
}

LinkMaps maps_from(const std::string& xml) {
  const InputFile document = tests::input("<FermionAction>" + xml + "</FermionAction>");
  const LinkMaps maps = read_fermion_state(document.root());
  document.require_valid();
  return maps;
}

GaugeField links_from(const std::string& xml, const GaugeField& u) { return LinkState(u, maps_from(xml)).links(); }

}  // namespace

TEST_CASE("boundary factors act on the last slice only") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  PhaseMap map;
  CHECK(map.trivial());
  map.boundary(0, 1).boundary(3, -1).boundary(1, 0);
  const GaugeField v = map.apply(u);
  CHECK(tests::distance(v[0], u[0]) == 0);
  CHECK(tests::distance(v[2], u[2]) == 0);
  LatticeColorMatrix expected = where(Layout::latticeCoordinate(3) == 5, LatticeColorMatrix(-u[3]), u[3]);
  CHECK(tests::distance(v[3], expected) == 0);
  expected = zero;
  expected = where(Layout::latticeCoordinate(1) == 3, expected, u[1]);
  CHECK(tests::distance(v[1], expected) == 0);
}

TEST_CASE("a twist gives its angle on the way around, and adds to the others") {
  tests::use_lattice({2, 4, 2, 6});
  PhaseMap map;
  map.twist(3, 0.7).twist(1, -0.2).boundary(3, -1).twist(1, 0.5);
  const GaugeField v = map.apply(unit_field());
  CHECK(std::abs(way_around(v, 3) + std::polar(1.0, 0.7)) < base_tol(1e-14));
  CHECK(std::abs(way_around(v, 1) - std::polar(1.0, 0.3)) < base_tol(1e-14));
  CHECK(std::abs(way_around(v, 0) - 1.0) < base_tol(1e-14));
}

TEST_CASE("a factor that comes after the first use acts like those before") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  PhaseMap map, at_once;
  map.boundary(0, -1);
  map.apply(u);
  map.twist(1, 0.5);
  CHECK(tests::distance(map.apply(u), PhaseMap().boundary(0, -1).twist(1, 0.5).apply(u)) == 0);
  map.boundary(1, -1);
  CHECK(tests::distance(map.apply(u), PhaseMap().boundary(0, -1).twist(1, 0.5).boundary(1, -1).apply(u)) == 0);
  map.flux(0, 1, 2);
  at_once.boundary(0, -1).twist(1, 0.5).boundary(1, -1).flux(0, 1, 2);
  CHECK(tests::distance(map.apply(u), at_once.apply(u)) == 0);
  GaugeField g = u, expected = u;
  map.pull_back(g, u);
  at_once.pull_back(expected, u);
  CHECK(tests::distance(g, expected) == 0);
}

TEST_CASE("a flux is the same through every plaquette of its planes and absent from the others") {
  tests::use_lattice({4, 2, 6, 4});
  for (const int quanta : {1, -3}) {
    const int mu = 2, nu = 0;
    PhaseMap map;
    map.flux(mu, nu, quanta);
    const GaugeField v = map.apply(unit_field());
    for (int a = 0; a < Nd; ++a)
      for (int b = 0; b < Nd; ++b) {
        if (a == b) continue;
        const double angle = (a == mu && b == nu ? 1 : a == nu && b == mu ? -1 : 0) * 2 * pi * quanta / (6 * 4);
        LatticeColorMatrix expected;
        expected = cmplx(Real(std::cos(angle)), Real(std::sin(angle)));
        CHECK(tests::distance(LatticeColorMatrix(path_product(v, plaquette_loop(a, b))), expected) < base_tol(1e-12));
      }
    // A quantum of flux more per slice turns the way around by 2 pi / L.
    CHECK(std::abs(way_around(v, nu, {0, 0, 1, 0}) - std::polar(1.0, 2 * pi * quanta / 6)) < base_tol(1e-13));
  }
}

TEST_CASE("the derivative through phases is that of finite differences") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice({2, 4, 2, 2});
  const GaugeField u = tests::random_field(), x = tests::random_algebra(), weight = tests::random_field();
  const auto map = std::make_shared<PhaseMap>();
  map->twist(3, 0.7).boundary(2, -1).flux(0, 1, 1);
  const LinkMaps maps = {map};
  // S = 2 sum Re tr W V, so its derivative with respect to V is W (conv. 9).
  const auto action = [&](double t) {
    GaugeField moved(Nd);
    for (int mu = 0; mu < Nd; ++mu) moved[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
    const LinkState state(moved, maps);
    double s = 0;
    for (int mu = 0; mu < Nd; ++mu) s += 2 * toDouble(sum(real(trace(weight[mu] * state.links()[mu]))));
    return s;
  };
  GaugeField g = weight;
  const GaugeField f = LinkState(u, maps).force(g);
  const double h = 1e-3;
  const double slope = (8 * (action(h) - action(-h)) - (action(2 * h) - action(-2 * h))) / (12 * h);
  CHECK(-2 * tests::inner(x, f) == doctest::Approx(slope).epsilon(1e-9));
}

TEST_CASE("inputs name boundary conditions as Chroma does") {
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField u = tests::random_field();
  const GaugeField antiperiodic = PhaseMap().boundary(3, -1).apply(u);
  const std::string simple = "<FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>";
  CHECK(tests::distance(links_from(simple, u), antiperiodic) == 0);
  CHECK(tests::distance(links_from("<boundary>1 1 1 -1</boundary>", u), antiperiodic) == 0);
  CHECK(tests::distance(links_from("<FermState><Name>SIMPLE_FERM_STATE</Name>" + simple + "</FermState>", u),
                        antiperiodic) == 0);
  CHECK(maps_from("<FermState><Name>PERIODIC_FERM_STATE</Name></FermState>").empty());
  CHECK(maps_from("<FermionBC><FermBC>PERIODIC_FERMBC</FermBC></FermionBC>").empty());
  CHECK(maps_from("<boundary>1 1 1 1</boundary>").empty());

  const GaugeField twisted = links_from(
      "<FermionBC><FermBC>TWISTED_FERMBC</FermBC><boundary>1 1 1 -1</boundary><phases_by_pi>0.2 0.4 0</phases_by_pi>"
      "<phases_dir>0 1 3</phases_dir></FermionBC>",
      unit_field());
  CHECK(std::abs(way_around(twisted, 0) - std::polar(1.0, 0.2 * pi)) < base_tol(1e-14));
  CHECK(std::abs(way_around(twisted, 1) - std::polar(1.0, 0.4 * pi)) < base_tol(1e-14));
  CHECK(std::abs(way_around(twisted, 3) + 1.0) < base_tol(1e-14));
}

TEST_CASE("inputs give imaginary chemical potentials and external fields") {
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField v = links_from(
      "<boundary>1 1 1 -1</boundary>"
      "<ImaginaryChemicalPotential><MuByT>0.3</MuByT></ImaginaryChemicalPotential>"
      "<ExternalField><elem><plane>0 1</plane><quanta>2</quanta></elem></ExternalField>",
      unit_field());
  CHECK(std::abs(way_around(v, 3) + std::polar(1.0, 0.3)) < base_tol(1e-14));
  CHECK(tests::distance(GaugeField(v), PhaseMap().flux(0, 1, 2).boundary(3, -1).twist(3, 0.3).apply(unit_field())) <
        base_tol(1e-13));
}

TEST_CASE("wrong boundary conditions are named with what was expected") {
  tests::use_lattice({4, 4, 4, 4});
  const auto message = [](const std::string& xml) -> std::string {
    try {
      maps_from(xml);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("").find("FermionBC") != std::string::npos);
  CHECK(message("<boundary>1 1 -1</boundary>").find("boundary") != std::string::npos);
  CHECK(message("<FermionBC><FermBC>OPEN</FermBC></FermionBC>").find("TWISTED_FERMBC") != std::string::npos);
  CHECK(message("<FermState><Name>MAGIC</Name><boundary>1 1 1 1</boundary></FermState>").find("SIMPLE_FERM_STATE") !=
        std::string::npos);
  CHECK(message("<boundary>1 1 1 1</boundary><ExternalField><elem><plane>1 1</plane><quanta>1</quanta></elem>"
                "</ExternalField>")
            .find("two different directions") != std::string::npos);
  CHECK(message("<boundary>1 1 1 1</boundary><ImaginaryChemicalPotential/>").find("MuByT") != std::string::npos);
  for (const char* direction : {"-1", "4"})
    CHECK(message("<boundary>1 1 1 1</boundary><ImaginaryChemicalPotential><MuByT>0.3</MuByT><t_dir>" +
                  std::string(direction) + "</t_dir></ImaginaryChemicalPotential>")
              .find("t_dir") != std::string::npos);
  CHECK_THROWS_WITH_AS(PhaseMap().twist(4, 1), doctest::Contains("direction"), ShapeError);
  CHECK_THROWS_WITH_AS(PhaseMap().flux(1, 1, 1), doctest::Contains("plane"), ShapeError);
  CHECK_THROWS_AS(PhaseMap().apply(GaugeField(2)), ShapeError);
}
