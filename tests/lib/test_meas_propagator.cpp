// Propagators and their sources against numbers of other programs and exact results (physics.md 3 and 5).

#include "lib/dirac/staggered.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/meas/baryons.hpp"
#include "lib/meas/condensate.hpp"
#include "lib/meas/mesons.hpp"
#include "lib/meas/source.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

template <class F>
QuarkInverter<F> inverter(const GaugeField& u, const std::string& action, double residual = 1e-13,
                          const std::string& solver = "CG_INVERTER") {
  const InputFile file =
      tests::input("<q><FermionAction>" + action + "</FermionAction><InvertParam><invType>" + solver +
                   "</invType><RsdCG>" + tests::solver_residual(std::to_string(residual * 1e13) + "e-13") +
                   "</RsdCG><MaxCG>2000</MaxCG></InvertParam></q>");
  const Input group = file.root().group("FermionAction");
  const auto& table = [&]() -> const auto& {
    if constexpr (std::is_same_v<F, LatticeFermion>)
      return wilson_type_action_table();
    else
      return staggered_type_action_table();
  }();
  const auto action_row = table.find(group, "FermAct");
  REQUIRE(action_row);
  auto quark = action_row->make(group);
  auto solve = read_direct_solver<F>(file.root().group("InvertParam"));
  file.require_valid();
  return QuarkInverter<F>(std::move(quark), std::move(solve), u);
}

QuarkInverter<LatticeFermion> wilson(const GaugeField& u, const std::string& kappa, const std::string& bc,
                                     const std::string& more = "") {
  return inverter<LatticeFermion>(u, "<FermAct>WILSON</FermAct><Kappa>" + kappa + "</Kappa>" + more + bc);
}

std::string boundary(const std::string& phases) {
  return "<FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>" + phases + "</boundary></FermionBC>";
}

LatticePropagator point_source() {
  multi1d<int> origin(Nd);
  origin = 0;
  LatticePropagator source;
  source = point_profile(origin);
  return source;
}

void check_correlator(const multi1d<Double>& c, const std::vector<double>& expected, double factor, double tolerance) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    CAPTURE(t);
    CHECK(factor * toDouble(c[static_cast<int>(t)]) == doctest::Approx(expected[t]).epsilon(base_tol(tolerance)));
  }
}

GaugeField unit_field(const std::vector<int>& extents) {
  tests::use_lattice(extents);
  GaugeField u(Nd);
  unit_start(u);
  return u;
}

}  // namespace

TEST_CASE("free pion on 8^3 x 16, antiperiodic in time") {
  const GaugeField u = unit_field({8, 8, 8, 16});
  const LatticePropagator s = wilson(u, "0.12", boundary("1 1 1 -1")).propagator(point_source());
  const multi1d<Double> pion = slice_norms(s, 3);
  const std::vector<double> exact = {.807163976769,   .0487114132086,  .0095718387433, .00396792018302, .00250090665396,
                                     .00185427789091, .00149559757962, .0013040019511, .00124313640711};
  check_correlator(pion, exact, 1, 1e-9);
  for (int t = 1; t < 8; ++t)
    CHECK(toDouble(pion[16 - t]) == doctest::Approx(toDouble(pion[t])).epsilon(base_tol(1e-10)));
}

TEST_CASE("free pion with twisted spatial boundary conditions") {
  const GaugeField u = unit_field({4, 4, 4, 8});
  const std::string twisted =
      "<FermionBC><FermBC>TWISTED_FERMBC</FermBC><boundary>1 1 1 1</boundary><phases_by_pi>0.2 0.4 0</phases_by_pi>"
      "<phases_dir>0 1 2</phases_dir></FermionBC>";
  const LatticePropagator s = wilson(u, "0.1", twisted).propagator(point_source());
  check_correlator(slice_norms(s, 3),
                   {.550448083033, .0187776812877, .0019130356265, .000304754934667, .000111618726903}, 1, 1e-9);
}

TEST_CASE("Wilson pseudoscalar correlator on conf.00200") {
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  const LatticePropagator s = wilson(u, "0.15", boundary("1 1 1 1")).propagator(point_source());
  check_correlator(slice_norms(s, 2),
                   {2.23946028664745e-2, 2.05485346957700e-3, 6.96566865496375e-4, 2.17148162775779e-3}, 1.0 / 64,
                   1e-9);
}

TEST_CASE("Chroma's prec_wilson correlator on weak_field.lime, anisotropic with a smeared source") {
  const std::string file = tests::data_file("weak_field.lime");
  tests::use_lattice({4, 4, 4, 8});
  const GaugeField u = tests::read_field("SCIDAC", file);
  LatticePropagator source = point_source();
  gaussian_smear(source, u, 2.0, 5, 3);
  CHECK(toDouble(norm2(source)) == doctest::Approx(6.6339991).epsilon(base_tol(1e-8)));
  const LatticePropagator s =
      wilson(u, "0.135", boundary("1 1 1 -1"),
             "<AnisoParam><anisoP>true</anisoP><t_dir>3</t_dir><xi_0>2.464</xi_0><nu>0.95</nu></AnisoParam>")
          .propagator(source);
  check_correlator(slice_norms(s, 3),
                   {.749881742617, .127559095991, .0488181621852, .026170699012, .0205313324674, .0261869745887,
                    .0488589430669, .127618678556},
                   1, 1e-9);
}

TEST_CASE("the staggered inverse of a source of ones on conf.00200") {
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  const auto ones = trace_source<LatticeStaggeredFermion>(TraceNoise::unit);
  // Two flavours are half of the four tastes.
  const auto check = [&](const std::string& bc, double re, double im) {
    const auto inverse = inverter<LatticeStaggeredFermion>(u, "<FermAct>STAGGERED</FermAct><Mass>0.1</Mass>" + bc);
    const Condensate c = estimate_condensate(inverse, ones);
    CHECK(toDouble(real(c.scalar)) / 2 == doctest::Approx(re).epsilon(base_tol(1e-10)));
    CHECK(toDouble(imag(c.scalar)) / 2 == doctest::Approx(im).epsilon(base_tol(1e-10)));
  };
  check(boundary("1 1 1 1"), 0.20344039707296779, -0.00655061784868673);
  // exp(i pi/4) on every link in time: pi once around.
  check(boundary("1 1 1 1") +
            "<ImaginaryChemicalPotential><MuByT>3.14159265358979324</MuByT></ImaginaryChemicalPotential>",
        0.25968115501530797, -0.02196357651209398);
}

TEST_CASE("a propagator solves D S = source on all sites, whatever the preconditioning and the solver") {
  tests::use_lattice({4, 4, 2, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  LatticeFermion chi;
  gaussian(chi);
  std::vector<LatticeFermion> solutions;
  for (const char* action : {"WILSON", "UNPRECONDITIONED_WILSON"})
    for (const char* solver : {"CG_INVERTER", "MIXED_CG_INVERTER"}) {
      const auto inverse = inverter<LatticeFermion>(
          u, std::string("<FermAct>") + action + "</FermAct><Mass>0.2</Mass>" + boundary("1 1 1 -1"), 1e-12, solver);
      solutions.push_back(inverse(chi));
      CHECK(inverse.residual(solutions.back(), chi) < base_tol(1e-11));
    }
  for (const LatticeFermion& psi : solutions) CHECK(std::sqrt(toDouble(norm2(psi - solutions[0]))) < base_tol(1e-9));
}

TEST_CASE("clover, twisted-mass and staggered propagators solve D S = source on all sites") {
  tests::use_lattice({4, 2, 2, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  LatticeFermion chi;
  gaussian(chi);
  const std::string mass = "<Mass>0.2</Mass>" + boundary("1 1 1 -1");
  const auto solve = [&](const std::string& action) {
    const auto inverse = inverter<LatticeFermion>(u, action + mass, 1e-12);
    const LatticeFermion psi = inverse(chi);
    CHECK(inverse.residual(psi, chi) < base_tol(1e-11));
    return psi;
  };
  const LatticeFermion clover = solve("<FermAct>CLOVER</FermAct><clovCoeff>1.5</clovCoeff>");
  const LatticeFermion all_sites = solve("<FermAct>UNPRECONDITIONED_CLOVER</FermAct><clovCoeff>1.5</clovCoeff>");
  CHECK(std::sqrt(toDouble(norm2(clover - all_sites))) < base_tol(1e-9));
  const LatticeFermion wilson_solution = solve("<FermAct>WILSON</FermAct>");
  CHECK(std::sqrt(toDouble(norm2(clover - wilson_solution))) > 1e-3);
  const LatticeFermion twisted = solve("<FermAct>TWISTED_MASS</FermAct><TwistedMass>0.3</TwistedMass>");
  CHECK(std::sqrt(toDouble(norm2(twisted - wilson_solution))) > 0.1);

  LatticeStaggeredFermion eta;
  gaussian(eta);
  const auto inverse = inverter<LatticeStaggeredFermion>(u, "<FermAct>STAGGERED</FermAct>" + mass, 1e-12);
  CHECK(inverse.residual(inverse(eta), eta) < base_tol(1e-11));
}

TEST_CASE("the free propagator reversed in time is the propagator at -t") {
  const GaugeField u = unit_field({2, 4, 2, 6});
  const LatticePropagator s = wilson(u, "0.11", boundary("1 1 1 1")).propagator(point_source());
  const LatticePropagator back = time_reversed(s);
  LatticePropagator reflected;
  for (int n = 0; n < static_cast<int>(Layout::vol()); ++n) {
    multi1d<int> x = crtesn(n, Layout::lattSize());
    const Propagator here = peekSite(s, x);
    x[3] = (6 - x[3]) % 6;
    pokeSite(reflected, here, x);
  }
  CHECK(std::sqrt(toDouble(norm2(back - reflected))) < base_tol(1e-11));
  CHECK(std::sqrt(toDouble(norm2(s - reflected))) > 0.01);
}

TEST_CASE("columns of a propagator are the solutions for unit vectors") {
  tests::use_lattice({2, 2, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  const auto inverse = wilson(u, "0.11", boundary("1 1 1 1"));
  const LatticePropagator source = point_source(), s = inverse.propagator(source);
  const auto units = unit_vectors<LatticeFermion>();
  CHECK(units.size() == 12);
  for (int k : {0, 5, 11}) {
    const LatticeFermion column = s * units[static_cast<std::size_t>(k)];
    const LatticeFermion expected = inverse(LatticeFermion(source * units[static_cast<std::size_t>(k)]));
    CHECK(std::sqrt(toDouble(norm2(column - expected))) < base_tol(1e-10));
  }
}

TEST_CASE("a list of results grows at its end, solve by solve") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const auto inverse = wilson(u, "0.12", boundary("1 1 1 1"));
  LatticeFermion chi;
  gaussian(chi);
  std::vector<SolveResult> results;
  inverse(chi, &results);
  REQUIRE(results.size() == 1);
  const int iterations = results[0].iterations;
  CHECK(iterations > 0);
  inverse(chi, &results);
  inverse(LatticeFermion(zero), &results);  // costs none
  REQUIRE(results.size() == 3);
  const int expected[] = {iterations, iterations, 0};
  for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i].iterations == expected[i]);
  CHECK(total_iterations(results) == 2 * iterations);
}

TEST_CASE("a solve that does not converge is an error with its residual") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const InputFile file = tests::input("<q><FermAct>WILSON</FermAct><Kappa>0.12</Kappa>" + boundary("1 1 1 1") + "</q>");
  const auto solver_file = tests::input("<p><invType>CG_INVERTER</invType><RsdCG>1e-12</RsdCG><MaxCG>2</MaxCG></p>");
  const QuarkInverter<LatticeFermion> inverse(
      wilson_type_action_table().find(file.root(), "FermAct")->make(file.root()),
      read_direct_solver<LatticeFermion>(solver_file.root()), u);
  LatticeFermion chi;
  gaussian(chi);
  CHECK_THROWS_WITH_AS(inverse(chi), doctest::Contains("quark propagator"), NumericsError);
}
