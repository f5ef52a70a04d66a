// Field strength, topological charge, energy density.

#include "lib/meas/field_strength.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

/// diag(e^{i angle}, e^{-i angle}, 1) from a field of angles.
LatticeColorMatrix abelian(const LatticeReal& angle) {
  LatticeColorMatrix u;
  u = Real(1);
  pokeColor(u, LatticeComplex(cmplx(cos(angle), sin(angle))), 0, 0);
  pokeColor(u, LatticeComplex(cmplx(cos(angle), -sin(angle))), 1, 1);
  return u;
}

/// Adds the flux 2 pi n/(L_mu L_nu) through every plaquette of the mu-nu plane, constant and periodic: the angle of
/// U_nu grows along mu, and the links U_mu at the edge make up for the jump.
void add_flux(multi1d<LatticeReal>& angle, int mu, int nu, int n) {
  const double phi = 2 * M_PI * n / (Layout::lattSize()[mu] * Layout::lattSize()[nu]);
  const LatticeReal x = Layout::latticeCoordinate(mu), y = Layout::latticeCoordinate(nu);
  angle[nu] += Real(phi) * x;
  const LatticeBoolean edge = Layout::latticeCoordinate(mu) == Layout::lattSize()[mu] - 1;
  angle[mu] -= where(edge, LatticeReal(Real(phi * Layout::lattSize()[mu]) * y), LatticeReal(Real(0)));
}

GaugeField flux_field(const std::vector<std::array<int, 3>>& fluxes) {
  multi1d<LatticeReal> angle(Nd);
  for (int mu = 0; mu < Nd; ++mu) angle[mu] = zero;
  for (const auto& [mu, nu, n] : fluxes) add_flux(angle, mu, nu, n);
  GaugeField u(Nd);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = abelian(angle[mu]);
  return u;
}

/// i sin(phi) diag(1, -1, 0).
LatticeColorMatrix leaf(double phi) {
  LatticeColorMatrix m = zero;
  pokeColor(m, LatticeComplex(cmplx(Real(0), Real(std::sin(phi)))), 0, 0);
  pokeColor(m, LatticeComplex(cmplx(Real(0), Real(-std::sin(phi)))), 1, 1);
  return m;
}

}  // namespace

TEST_CASE("a constant Abelian field has the field strength sin(phi) of every loop") {
  TESSERA_NEEDS_QCD("fields of SU(3) in four dimensions");
  tests::use_lattice({6, 6, 4, 4});
  const double phi = 2 * M_PI / 36;
  const GaugeField u = flux_field({{0, 1, 1}});
  CHECK(toDouble(measure_plaquettes(u).plane(0, 1)) ==
        doctest::Approx((2 * std::cos(phi) + 1) / 3).epsilon(base_tol(1e-13)));
  CHECK(distance(field_strength(u, 0, 1), leaf(phi)) < base_tol(1e-12));
  CHECK(distance(field_strength(u, 1, 0), LatticeColorMatrix(-leaf(phi))) < base_tol(1e-12));
  CHECK(std::sqrt(toDouble(norm2(field_strength(u, 0, 2)))) < base_tol(1e-12));

  for (const auto& [m, n] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{1, 3}, std::pair{3, 3}})
    CHECK(distance(field_strength(u, 0, 1, {{m, n, 1.0}}), leaf(m * n * phi)) < base_tol(1e-12));
  const double improved = 5.0 / 3 * std::sin(phi) - 1.0 / 3 * std::sin(2 * phi);
  CHECK(distance(field_strength(u, 0, 1, rectangle_improved_definition()), leaf(std::asin(improved))) <
        base_tol(1e-12));

  double five_loop = 0;
  for (const auto& [m, n, c] : five_loop_definition(0.01)) five_loop += c * std::sin(m * n * phi);
  CHECK(distance(field_strength(u, 0, 1, five_loop_definition(0.01)), leaf(std::asin(five_loop))) < base_tol(1e-12));
}

TEST_CASE("every definition has the right continuum limit, the improved ones up to order a^4 and beyond") {
  // sum_k c_k m n = 1 and, for the a^2 errors of sin(m n phi) and of the loop's shape, sum_k c_k m n (m^2 + n^2) = 0.
  for (const auto& definition :
       {rectangle_improved_definition(), five_loop_definition(0), five_loop_definition(0.05)}) {
    double classical = 0, second = 0;
    for (const auto& [m, n, c] : definition) {
      classical += c * m * n;
      second += c * m * n * (m * m + n * n);
    }
    CHECK(classical == doctest::Approx(1).epsilon(base_tol(1e-13)));
    CHECK(std::fabs(second) < base_tol(1e-13));
  }
}

TEST_CASE("crossed fluxes carry the topological charge 2 n m of their classical field") {
  TESSERA_NEEDS_QCD("fields of SU(3) in four dimensions");
  // F = phi lambda_3 in two planes: Q = (1/4 pi^2) V tr(F01 F23) = 2 n m; on the lattice phi becomes sin(phi).
  tests::use_lattice({4, 6, 4, 6});
  for (const auto& [n, m] : {std::pair{1, 1}, std::pair{2, -1}}) {
    CAPTURE(n);
    const GaugeField u = flux_field({{0, 1, n}, {2, 3, m}});
    const double a = 2 * M_PI * n / 24, b = 2 * M_PI * m / 24;
    const double lattice = 2 * n * m * std::sin(a) / a * std::sin(b) / b;
    CHECK(toDouble(topological_charge(u)) == doctest::Approx(lattice).epsilon(base_tol(1e-12)));
  }
  // The other pairs of planes, and their signs under exchange of directions.
  const double one = toDouble(topological_charge(flux_field({{0, 2, 1}, {3, 1, 1}})));
  const double two = toDouble(topological_charge(flux_field({{0, 3, 1}, {1, 2, 1}})));
  CHECK(one > 1.5);
  CHECK(two > 1.5);
  CHECK(toDouble(topological_charge(flux_field({{1, 0, 1}, {2, 3, 1}}))) < -1.5);
}

TEST_CASE("topological charge and energy density are gauge invariant") {
  TESSERA_NEEDS_QCD("fields of SU(3) in four dimensions");
  tests::use_lattice({4, 2, 4, 6});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  for (const auto& definition : {clover_definition(), rectangle_improved_definition()}) {
    const double q = toDouble(topological_charge(u, definition));
    CHECK(std::fabs(q - toDouble(topological_charge(v, definition))) < base_tol(1e-13) * std::fmax(1.0, std::fabs(q)));
  }
  const EnergyDensity e = energy_density(u), f = energy_density(v);
  CHECK(toDouble(f.clover) == doctest::Approx(toDouble(e.clover)).epsilon(base_tol(1e-13)));
  CHECK(toDouble(f.plaquette) == doctest::Approx(toDouble(e.plaquette)).epsilon(base_tol(1e-13)));
  // The field strength itself turns with the gauge transformation.
  const LatticeColorMatrix turned = g * field_strength(u, 1, 3) * adj(g);
  CHECK(distance(turned, field_strength(v, 1, 3)) < base_tol(1e-12));
}

TEST_CASE("the energy density of a constant Abelian field, both ways") {
  TESSERA_NEEDS_QCD("fields of SU(3) in four dimensions");
  tests::use_lattice({4, 4, 4, 4});
  const double phi = 2 * M_PI / 16;
  const GaugeField u = flux_field({{0, 3, 1}});
  const EnergyDensity e = energy_density(u);
  CHECK(toDouble(e.clover) == doctest::Approx(2 * std::pow(std::sin(phi), 2)).epsilon(base_tol(1e-12)));
  CHECK(toDouble(e.plaquette) == doctest::Approx(4 * (1 - std::cos(phi))).epsilon(base_tol(1e-12)));
  CHECK(toDouble(e.time) == doctest::Approx(toDouble(e.clover)).epsilon(base_tol(1e-12)));
  CHECK(std::fabs(toDouble(e.space)) < std::pow(base_tol(1e-10), 2));
  CHECK(toDouble(energy_density(u, 1).time) < std::pow(base_tol(1e-10), 2));
}

TEST_CASE("field strengths need a plane") {
  tests::use_lattice({2, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  CHECK_THROWS_WITH_AS(field_strength(u, 1, 1), doctest::Contains("two different directions"), ShapeError);
  CHECK_THROWS_AS(field_strength(u, 0, Nd), ShapeError);
  CHECK_THROWS_AS(topological_charge(GaugeField(1)), ShapeError);
}
