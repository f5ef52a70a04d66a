// TwistedM of an action reaches everything that is built from the action: propagators, condensates, eigenvalues.

#include "lib/meas/condensate.hpp"
#include "lib/meas/propagator.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::measurement;
using tests::Output;
using tests::tag;

namespace {

constexpr double kTwist = 0.35;

std::string action(const std::string& name, double twist) {
  return tag("FermionAction", tag("FermAct", name) + tag("Mass", "0.2") + tag("clovCoeff", "1.1") +
                                  tag("TwistedM", std::to_string(twist)) + tests::fermion_bc());
}

QuarkInverter<LatticeFermion> inverter(const std::string& name, double twist, const GaugeField& u) {
  const InputFile document = tests::input(action(name, twist));
  const auto made = wilson_type_action_table().find(document.root(), "FermAct")->make(document.root());
  document.require_valid();
  return {made,
          std::make_shared<DirectByNormal<LatticeFermion>>(
              std::make_shared<CG<LatticeFermion>>(StoppingCriterion{base_tol(1e-12), 4000})),
          u};
}

const char* const kNames[] = {"UNPRECONDITIONED_CLOVER", "CLOVER", "SEOPREC_CLOVER"};

double relative(const LatticeFermion& a, const LatticeFermion& b) {
  return std::sqrt(toDouble(norm2(a - b)) / toDouble(norm2(b)));
}

}  // namespace

TEST_CASE("a propagator is the inverse of the operator with the twist where M has it") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  LatticeFermion chi;
  gaussian(chi);
  for (const std::string name : kNames) {
    CAPTURE(name);
    const auto inverse = inverter(name, kTwist, u);
    const LatticeFermion psi = inverse(chi);
    LatticeFermion twist = Real(kTwist) * i_gamma_5(psi);
    if (name == "SEOPREC_CLOVER") twist = inverse.dirac().diagonal(+twist, Sign::plus);
    LatticeFermion back = inverse.dirac().diagonal(+psi, Sign::plus) + inverse.dirac().hop(+psi, Sign::plus);
    if (name == "UNPRECONDITIONED_CLOVER")
      back += twist;
    else
      back[rb[1]] += twist;
    CHECK(relative(back, chi) < base_tol(1e-9));
    CHECK(inverse.residual(psi, chi) < base_tol(1e-9));
    CHECK(relative(inverter(name, 0, u)(chi), psi) > 0.01);
  }
}

TEST_CASE("PROPAGATOR and CHIRAL_CONDENSATE see TwistedM") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const std::string solver = tests::inverter(tests::solver_residual("1.0e-12"));
  for (const std::string name : kNames) {
    CAPTURE(name);
    const auto run = [&](double twist) {
      return Output(tests::run_measurements(
          measurement("MAKE_SOURCE",
                      "<Param><version>6</version><Source><SourceType>POINT_SOURCE</SourceType><j_decay>3</j_decay>"
                      "<t_srce>1 0 0 2</t_srce></Source></Param><NamedObject><gauge_id>default_gauge_field</gauge_id>"
                      "<source_id>s</source_id></NamedObject>") +
              measurement("PROPAGATOR", tag("Param", action(name, twist) + solver) +
                                            tag("NamedObject",
                                                "<gauge_id>default_gauge_field</gauge_id><source_id>s</source_id>"
                                                "<prop_id>p</prop_id>")) +
              measurement("CHIRAL_CONDENSATE", tag("Param", action(name, twist) + solver + tag("noise", "UNIT"))),
          u));
    };
    Output with = run(kTwist), without = run(0);
    const auto inverse = inverter(name, kTwist, u);
    const Condensate c = estimate_condensate(inverse, trace_source<LatticeFermion>(TraceNoise::unit));
    CHECK(with.number("//ChiralCondensate/scalar_mean") ==
          doctest::Approx(toDouble(real(c.scalar))).epsilon(base_tol(1e-8)));
    CHECK(std::fabs(with.number("//ChiralCondensate/scalar_mean") - without.number("//ChiralCondensate/scalar_mean")) >
          1e-4);
    LatticePropagator source = zero;
    multi1d<int> site(Nd);
    site = 0;
    site[0] = 1;
    site[3] = 2;
    Propagator one = zero;
    one = Real(1);
    pokeSite(source, one, site);
    const LatticePropagator s = inverse.propagator(source);
    double total = 0;
    for (double x : with.numbers("//propagator/Prop_correlator/prop_corr")) total += x;
    CHECK(total == doctest::Approx(toDouble(norm2(s))).epsilon(base_tol(1e-8)));
    double untwisted = 0;
    for (double x : without.numbers("//propagator/Prop_correlator/prop_corr")) untwisted += x;
    CHECK(std::fabs(untwisted / total - 1) > 1e-3);
  }
}

TEST_CASE("EIGBNDSMDAGM: with a twist mu the spectrum of M^+M is moved by mu^2 where g5 M = M^+ g5") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  for (const std::string name : {"UNPRECONDITIONED_CLOVER", "CLOVER"}) {
    CAPTURE(name);
    const auto lowest = [&](double twist) {
      Output out(tests::run_measurements(
          measurement("EIGBNDSMDAGM", tag("Ritz", tag("RsdR", "1e-5")) + action(name, twist)), u));
      return out.number("//LowestEv/EigSpecRitzCG/eValues/lambda");
    };
    CHECK(lowest(kTwist) - lowest(0) == doctest::Approx(kTwist * kTwist).epsilon(base_tol(1e-3)));
  }
}
