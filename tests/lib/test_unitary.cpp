// The projection of links to U(3).
#include "lib/io/fermion_state.hpp"
#include "lib/smear/fat_links.hpp"
#include "lib/smear/unitary.hpp"
#include "tests/lib/link_maps.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

LatticeColorMatrix times_unit(double factor) {
  LatticeColorMatrix one;
  one = Real(factor);
  return one;
}

/// g diag(a, b, c) g' with random g, g' in SU(3).
LatticeColorMatrix with_singular_values(double a, double b, double c) {
  LatticeColorMatrix d = zero, left, right;
  const double entry[] = {a, b, c};
  for (int k = 0; k < Nc; ++k) pokeColor(d, LatticeComplex(cmplx(Real(entry[k]), Real(0))), k, k);
  gaussian(left);
  gaussian(right);
  return LatticeColorMatrix(su3_unitarize(left) * d * su3_unitarize(right));
}

double norm(const LatticeColorMatrix& x) { return std::sqrt(toDouble(norm2(x))); }

void check_polar(const LatticeColorMatrix& v, double tolerance) {
  tolerance = base_tol(tolerance);
  const LatticeColorMatrix w = u3_project(v);
  const double sites = norm(times_unit(1));
  CHECK(tests::distance(LatticeColorMatrix(adj(w) * w), times_unit(1)) < tolerance * sites);
  // H = W^+ V is Hermitian and, as the square root of V^+ V, positive: its smallest eigenvalue is not seen to be
  // negative by its invariants e1, e2, e3 > 0.
  const LatticeColorMatrix h = adj(w) * v;
  CHECK(tests::distance(h, LatticeColorMatrix(adj(h))) < tolerance * norm(v));
  const LatticeReal e1 = real(trace(h)), t2 = real(trace(h * h)), t3 = real(trace(h * h * h));
  const LatticeReal e2 = Real(0.5) * (e1 * e1 - t2);
  const LatticeReal e3 = Real(1.0 / 3) * (t3 - e1 * (t2 - e2));
  for (const LatticeReal& e : {e1, e2, e3}) CHECK(toDouble(globalMin(e)) > 0);
}

}  // namespace

TEST_CASE("u3_project gives the unitary factor of the polar decomposition, whatever the singular values") {
  tests::use_lattice({4, 2, 4, 2});
  check_polar(with_singular_values(1, 1, 1), 1e-14);
  check_polar(with_singular_values(0.3, 0.3, 0.3), 1e-14);
  check_polar(with_singular_values(1, 1, 0.5), 1e-14);
  check_polar(with_singular_values(1, 0.4, 0.4 + 1e-9), 1e-14);
  check_polar(with_singular_values(1.2, 0.8, 0.3), 1e-14);
  check_polar(with_singular_values(1, 0.5, 0.01), 1e-11);
  LatticeColorMatrix unitary = with_singular_values(1, 1, 1);
  unitary = cmplx(Real(0.6), Real(0.8)) * unitary;  // in U(3), not in SU(3)
  CHECK(tests::distance(LatticeColorMatrix(u3_project(unitary)), unitary) < base_tol(1e-14) * norm(unitary));
}

TEST_CASE("the derivative of the projection is that of finite differences") {
  tests::use_lattice({3, 5, 3, 2});
  const GaugeField u = tests::random_field();
  const auto projection = std::make_shared<UnitaryLinks>();
  const auto fat = [](const Fat7Weights& weights) { return std::make_shared<FatLinks>(fat7_paths(weights)); };
  // Near the identity as in a simulation, and rough.
  GaugeField smooth(Nd);
  weak_field_start(smooth);
  tests::check_pull_back({fat({.one = 0.4, .three = 0.1}), projection}, smooth);
  tests::check_pull_back({fat({.one = 1, .three = 0.1}), projection}, u);
  tests::check_pull_back({projection}, u);  // V unitary: H = 1
}

TEST_CASE("HISQ links: derivative through both smearings and the projection, and inputs") {
  tests::use_lattice({3, 5, 3, 2});
  GaugeField u(Nd);
  weak_field_start(u);
  tests::check_pull_back(hisq_links(), u);

  const auto links = [&](const std::string& xml) {
    const InputFile document =
        tests::input("<FermionAction><FermState>" + xml + "<boundary>1 1 1 1</boundary></FermState></FermionAction>");
    const LinkMaps maps = read_fermion_state(document.root());
    document.require_valid();
    return LinkState(u, maps).links();
  };
  CHECK(tests::distance(links("<Name>HISQ_FERM_STATE</Name>"), LinkState(u, hisq_links()).links()) == 0);
  const LinkMaps twice = {std::make_shared<FatLinks>(fat7_paths({.one = 0.4, .three = 0.1})),
                          std::make_shared<UnitaryLinks>()};
  const GaugeField expected = LinkState(LinkState(u, twice).links(), twice).links();
  CHECK(tests::distance(links("<Name>FAT_FERM_STATE</Name><one>0.4</one><three>0.1</three><n_smear>2</n_smear>"
                              "<unitarize>true</unitarize>"),
                        expected) == 0);
  CHECK_THROWS_WITH_AS(links("<Name>FAT_FERM_STATE</Name>"), doctest::Contains("one"), InputError);
}

TEST_CASE("projected links are gauge covariant") {
  tests::use_lattice({3, 5, 3, 2});
  const LinkMaps maps = {std::make_shared<FatLinks>(fat7_paths({.one = 1, .three = 0.1})),
                         std::make_shared<UnitaryLinks>()};
  tests::check_covariance(maps, tests::random_field());
  GaugeField g(2);
  CHECK_THROWS_AS(UnitaryLinks().apply(g), ShapeError);
  CHECK_THROWS_AS(UnitaryLinks().pull_back(g, tests::random_field()), ShapeError);
}
