// Odd extents: what lives on one parity is refused, by the operator and when its input is read; what does not is right.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/dirac/quark_operator.hpp"
#include "lib/gauge/checkerboard.hpp"
#include "lib/heatbath/run.hpp"
#include "lib/hmc/parameters.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/parameters.hpp"
#include "lib/meas/propagator.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "tests/lib/dirac.hpp"
#include "tests/lib/hmc_input.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::tag;

namespace {

const std::vector<std::vector<int>> kOdd = {{3, 3, 3, 3}, {4, 4, 4, 3}, {1, 4, 2, 4}};

template <class F>
std::shared_ptr<const FermionAction<F>> action(const std::string& elements) {
  const InputFile document = tests::input(tests::tag("FermionAction", elements));
  std::shared_ptr<const FermionAction<F>> made;
  if constexpr (std::is_same_v<F, LatticeFermion>)
    made = wilson_type_action_table().find(document.root(), "FermAct")->make(document.root());
  else
    made = staggered_type_action_table().find(document.root(), "FermAct")->make(document.root());
  document.require_valid();
  return made;
}

std::string elements(const std::string& name) {
  return tag("FermAct", name) + tag("Mass", "0.4") +
         (name.find("CLOVER") != std::string::npos ? tag("clovCoeff", "1.1") : "") +
         (name.find("TWISTED") != std::string::npos ? tag("TwistedMass", "0.2") : "") +
         (name.find("PARWILSON") != std::string::npos ? tag("H", "0.2") : "") + tests::fermion_bc();
}

}  // namespace

TEST_CASE("a hop changes parity in the directions of even extent only") {
  CHECK(!checkerboard_fault({4, 4, 2, 8}));
  for (const auto& extents : kOdd) CHECK(checkerboard_fault(extents));
  CHECK(checkerboard_fault({4, 5, 2, 1}).got == "4x5x2x1, odd in direction 1, 3");
  // The claim itself: parity at the end of every hop.
  for (const std::vector<int>& extents : {std::vector{4, 3, 2, 5}, {1, 2, 4, 4}}) {
    tests::use_lattice(extents);
    LatticeInteger sum = 0;
    for (int mu = 0; mu < Nd; ++mu) sum += Layout::latticeCoordinate(mu);
    const LatticeInteger parity = sum & 1;
    for (int mu = 0; mu < Nd; ++mu) {
      const LatticeInteger ahead = shift(parity, FORWARD, mu);
      const int same = toInt(QDP::sum(where(ahead == parity, LatticeInteger(1), LatticeInteger(0))));
      CHECK((same == 0) == (extents[static_cast<std::size_t>(mu)] % 2 == 0));
    }
  }
}

TEST_CASE("operators on one parity, and staggered ones, are refused on odd extents") {
  for (const auto& extents : kOdd) {
    tests::use_lattice(extents);
    const GaugeField u = tests::random_field();
    for (const auto& row : wilson_type_action_table().rows()) {
      CAPTURE(row.name);
      const auto a = action<LatticeFermion>(elements(row.name));
      if (a->preconditioning() == Preconditioning::none) {
        CHECK_NOTHROW(QuarkOperator<LatticeFermion>(Quark<LatticeFermion>(a), u));
        continue;
      }
      CHECK_THROWS_WITH_AS(QuarkOperator<LatticeFermion>(Quark<LatticeFermion>(a), u),
                           doctest::Contains("even extents"), ShapeError);
      const auto cg = std::make_shared<DirectByNormal<LatticeFermion>>(
          std::make_shared<CG<LatticeFermion>>(StoppingCriterion{1e-8, 100}));
      CHECK_THROWS_AS(QuarkInverter<LatticeFermion>(a, cg, u), ShapeError);
      // Its partner in single precision, which solvers ask for.
      const auto single = a->make_single(converted_links<LinksOf<LatticeFermionF>>(u));
      CHECK_THROWS_AS(make_preconditioned<LatticeFermionF>(single, a->preconditioning()), ShapeError);
    }
    for (const auto& row : staggered_type_action_table().rows()) {
      CAPTURE(row.name);
      const auto a = action<LatticeStaggeredFermion>(elements(row.name));
      CHECK_THROWS_WITH_AS(QuarkOperator<LatticeStaggeredFermion>(Quark<LatticeStaggeredFermion>(a), u),
                           doctest::Contains("even extents"), ShapeError);
    }
  }
}

TEST_CASE("every monomial on an odd lattice: refused, or its force is the derivative of its action") {
  tests::use_lattice({3, 3, 3, 3});
  const GaugeField u = tests::random_field();
  int refused = 0, right = 0;
  for (const auto& [name, parts] : tests::monomial_inputs()) {
    CAPTURE(name);
    const bool on_all_sites = name.find("UNPREC") != std::string::npos || name.find("GAUGE") == 0 ||
                              name.find("RANDOM") != std::string::npos || name.find("_DIAG_") != std::string::npos;
    const auto monomial = tests::make_monomial(name, parts);
    const auto use = [&] {
      monomial->draw_constants();
      monomial->refresh(u);
      return toDouble(monomial->action(u, {}));
    };
    if (!on_all_sites) {
      CHECK_THROWS_WITH_AS(use(), doctest::Contains("even extents"), ShapeError);
      ++refused;
      continue;
    }
    CHECK(std::isfinite(use()));
    if (sizeof(REAL) == 8) tests::check_force(name, parts, u);
    ++right;
  }
  CHECK(refused > 10);
  CHECK(right >= 5);
}

TEST_CASE("inputs of quarks on one parity and an odd extent are errors when they are read; others are not") {
  for (const auto& [name, parts] : tests::monomial_inputs()) {
    CAPTURE(name);
    const std::string monomial = tests::list_element(name, parts);
    CHECK(tests::hmc_errors(tests::hmc_input("4 4 4 4", monomial)) == "");
    const std::string errors = tests::hmc_errors(tests::hmc_input("4 4 3 4", monomial));
    const bool on_all_sites =
        name.find("UNPREC") != std::string::npos || name.find("GAUGE") == 0 || name.find("RANDOM") != std::string::npos;
    const bool log_det = name.find("_DIAG_") != std::string::npos;  // with an action that is preconditioned
    CHECK((errors == "") == on_all_sites);
    if (!on_all_sites && !log_det) CHECK(errors.find("4x4x3x4, odd in direction 2") != std::string::npos);
  }
}

TEST_CASE("measurements on one parity are refused on odd lattices when they are read") {
  const auto errors = [](const std::string& nrow, const std::string& measurement) {
    const InputFile file = tests::input("<chroma><Param><InlineMeasurements>" + measurement + "</InlineMeasurements>" +
                                        tag("nrow", nrow) + "</Param><Cfg><cfg_type>UNIT</cfg_type></Cfg></chroma>");
    read_measure_parameters(file.root());
    std::string all;
    for (const std::string& error : file.errors()) all += error + '\n';
    return all;
  };
  const auto condensate = [](const std::string& stag, const std::string& name) {
    return tag("elem", tag("Name", "CHIRAL_CONDENSATE" + stag) +
                           tag("Param", tag("FermionAction", elements(name)) + tests::inverter()));
  };
  const std::string fix =
      tag("elem", tag("Name", "COULOMB_GAUGEFIX") +
                      tag("Param",
                          "<version>1</version><GFAccu>1e-6</GFAccu><GFMax>10</GFMax><OrDo>false</OrDo>"
                          "<OrPara>1</OrPara><j_decay>3</j_decay>") +
                      tag("NamedObject",
                          "<gauge_id>default_gauge_field</gauge_id><gfix_id>f</gfix_id>"
                          "<gauge_rot_id>r</gauge_rot_id>"));
  for (const std::string& measurement :
       {condensate("", "WILSON"), condensate("", "SEOPREC_CLOVER"), condensate("_STAG", "STAGGERED"),
        condensate("_STAG", "UNPRECONDITIONED_STAGGERED"), fix}) {
    CAPTURE(measurement);
    CHECK(errors("4 4 4 4", measurement) == "");
    CHECK(errors("4 4 4 5", measurement).find("odd in direction 3") != std::string::npos);
  }
  CHECK(errors("3 5 4 5", condensate("", "UNPRECONDITIONED_WILSON")) == "");
}

TEST_CASE("unpreconditioned propagators on odd lattices: the same by the dense inverse, free ones by plane waves") {
  tests::use_lattice({3, 2, 1, 3});
  const GaugeField u = tests::random_field();
  for (const char* name : {"UNPRECONDITIONED_WILSON", "UNPRECONDITIONED_CLOVER"}) {
    CAPTURE(name);
    const auto a = action<LatticeFermion>(elements(name));
    const QuarkInverter<LatticeFermion> inverse(
        a,
        std::make_shared<DirectByNormal<LatticeFermion>>(
            std::make_shared<CG<LatticeFermion>>(StoppingCriterion{base_tol(1e-12), 2000})),
        u);
    LatticeFermion chi;
    gaussian(chi);
    const LatticeFermion psi = inverse(chi);
    CHECK(inverse.residual(psi, chi) < base_tol(1e-10));
    // gamma_5 hermiticity needs each hop to be the adjoint of the one back, across the boundaries as well.
    LatticeFermion eta;
    gaussian(eta);
    const LatticeFermion other = inverse(LatticeFermion(Gamma(Ns * Ns - 1) * eta));
    const DComplex left = innerProduct(eta, psi), right = innerProduct(LatticeFermion(Gamma(Ns * Ns - 1) * other), chi);
    CHECK(toDouble(real(left)) == doctest::Approx(toDouble(real(right))).epsilon(base_tol(1e-8)));
    CHECK(toDouble(imag(left)) == doctest::Approx(toDouble(imag(right))).epsilon(base_tol(1e-8)));
  }
}

TEST_CASE(
    "heatbath on odd lattices: three colours for plaquettes, an error when the input is read where none will do") {
  const auto errors = [](const std::string& action, const std::string& nrow) {
    const InputFile file = tests::input(tag(
        "purgaug", tag("Cfg", tag("cfg_type", "UNIT")) +
                       tag("MCControl",
                           tag("RNG", tag("Seed", "<elem>1</elem><elem>0</elem><elem>0</elem><elem>0</elem>")) +
                               tag("StartUpdateNum", "0") + tag("NWarmUpUpdates", "0") +
                               tag("NProductionUpdates", "1") + tag("NUpdatesThisRun", "1") + tag("SaveInterval", "1") +
                               tag("SavePrefix", "never_run") + tag("SaveVolfmt", "SINGLEFILE")) +
                       tag("HBItr", tag("nrow", nrow) + tag("GaugeAction", action) +
                                        tag("HBParams", tag("nOver", "1") + tag("NmaxHB", "0")))));
    read_purgaug_parameters(file.root());
    std::string all;
    for (const std::string& error : file.errors()) all += error + '\n';
    return all;
  };
  const std::string wilson = tag("Name", "WILSON_GAUGEACT") + tag("beta", "5.7"),
                    rectangles = tag("Name", "RBC_GAUGEACT") + tag("beta", "5.7") + tag("c1", "-0.331");
  for (const char* nrow : {"4 4 4 4", "3 3 3 3", "3 5 4 7", "5 5 5 5"}) CHECK_MESSAGE(errors(wilson, nrow) == "", nrow);
  CHECK(errors(wilson, "4 4 4 1").find("twice through a link") != std::string::npos);
  CHECK(errors(rectangles, "4 4 4 4") == "");
  CHECK(errors(rectangles, "3 3 4 4").find("cannot be told apart") != std::string::npos);
}

TEST_CASE("heatbath on 3^4 has the average plaquette of hybrid Monte Carlo there") {
  // Both know only their own division of the lattice: none at all for molecular dynamics.
  tests::use_lattice({3, 3, 3, 3});
  const InputFile document = tests::input(tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "4.0")));
  const auto action =
      std::dynamic_pointer_cast<const LoopAction>(gauge_action_table().find(document.root())->make(document.root()));
  const auto mean = [](int n, const auto& update) {
    GaugeField u = tests::random_field();
    for (int i = 0; i < 30; ++i) update(u);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      update(u);
      sum += toDouble(average_plaquette(u));
    }
    return sum / n;
  };
  HeatbathParameters parameters;
  parameters.over_relaxation = 1;
  Heatbath heatbath(action, {}, parameters);
  const double by_heatbath = mean(300, [&](GaugeField& u) { heatbath.update(u); });

  const MonomialMap monomials = {{"g", std::make_shared<GaugeMonomial>(action, LinkMaps())}};
  Hamiltonian hamiltonian(monomials, {"g"});
  const Integrator integrator(
      1, make_evolution(find_scheme("LCM_STS_MIN_NORM_2").stages({0.1931833275037836}), 8, {{"g", monomials.at("g")}}));
  const double by_dynamics = mean(300, [&](GaugeField& u) { run_trajectory(u, hamiltonian, integrator, {}); });
  CHECK(by_heatbath == doctest::Approx(by_dynamics).epsilon(0.015));
}
