// Inputs of every monomial, for the tests of forces and of detailed balance: one per row of monomial_table(); and forces
// against differences of the action.
#pragma once

#include "lib/action/monomial_table.hpp"
#include "lib/gauge/su3.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

namespace tests {

inline std::string tag(const std::string& name, const std::string& content) {
  return "<" + name + ">" + content + "</" + name + ">";
}

inline std::string fermion_bc() {
  return tag("FermionBC", tag("FermBC", "SIMPLE_FERMBC") + tag("boundary", "1 1 1 -1"));
}
inline std::string wilson_action(const std::string& name, const std::string& mass) {
  return tag("FermionAction", tag("FermAct", name) + tag("Mass", mass) + fermion_bc());
}
inline std::string clover_action(const std::string& name, const std::string& mass) {
  return tag("FermionAction", tag("FermAct", name) + tag("Mass", mass) + tag("clovCoeff", "1.2") + fermion_bc());
}
inline std::string inverter(const std::string& residual = solver_residual("1.0e-13")) {
  return tag("InvertParam", tag("invType", "CG_INVERTER") + tag("RsdCG", residual) + tag("MaxCG", "2000"));
}
/// x^power on an interval that holds the spectra met in the tests.
inline std::string approximation(const std::string& numerator, const std::string& denominator, const std::string& lower,
                                 const std::string& upper) {
  return tag("RationalApprox", tag("ratApproxType", "REMEZ") + tag("numPower", numerator) +
                                   tag("denPower", denominator) + tag("lowerMin", lower) + tag("upperMax", upper) +
                                   tag("degree", "16")) +
         inverter();
}

/// Name of the monomial -> its elements, on 4^4 or smaller lattices. `mass`es are heavy enough for disordered fields.
inline std::map<std::string, std::string> monomial_inputs() {
  const std::string predictor = tag("ChronologicalPredictor", tag("Name", "ZERO_GUESS_4D_PREDICTOR"));
  const auto two_flavor = [&](const std::string& action) { return action + inverter() + predictor; };
  const auto ratio = [&](const std::string& light, const std::string& heavy) {
    return tag("Action", light + inverter()) + tag("PrecAction", heavy + inverter()) + predictor;
  };
  const auto rational = [&](const std::string& action, const std::string& pseudofermions, const std::string& power,
                            const std::string& force_power, const std::string& lower, const std::string& upper) {
    return tag("num_pf", pseudofermions) +
           tag("Action", action + tag("ActionApprox", approximation("-1", power, lower, upper)) +
                             tag("ForceApprox", approximation("-1", force_power, lower, upper)));
  };
  const auto multi = [&](const std::string& action) {
    return tag("Action", action + inverter()) + tag("ShiftedMass", "0 0.3 0.8") + tag("NumofHasenTerms", "2");
  };
  const auto staggered = [](const std::string& mass) {
    return tag("FermionAction", tag("FermAct", "STAGGERED") + tag("Mass", mass) + fermion_bc());
  };
  const std::string seo = clover_action("SEOPREC_CLOVER", "0.3"), eo = clover_action("CLOVER", "0.3");
  const std::string wilson = wilson_action("WILSON", "0.3"), heavier = wilson_action("WILSON", "0.8");
  return {
      {"GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "5.5"))},
      {"TWO_FLAVOR_UNPREC_FERM_MONOMIAL", two_flavor(wilson_action("UNPRECONDITIONED_WILSON", "0.3"))},
      {"TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", two_flavor(wilson)},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_FERM_MONOMIAL", two_flavor(seo)},
      {"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", two_flavor(eo)},
      {"TWO_FLAVOR_SEOPREC_LOGDET_FERM_MONOMIAL", two_flavor(seo)},
      {"TWO_FLAVOR_UNPREC_RATIO_CONV_CONV_FERM_MONOMIAL",
       ratio(wilson_action("UNPRECONDITIONED_WILSON", "0.3"), wilson_action("UNPRECONDITIONED_WILSON", "0.8"))},
      {"TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", ratio(wilson, heavier)},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", ratio(seo, clover_action("SEOPREC_CLOVER", "0.8"))},
      {"TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", multi(wilson)},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", multi(seo)},
      {"TWO_FLAVOR_EOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL", two_flavor(wilson) + tag("ShiftedMass", "0.8")},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL", two_flavor(seo) + tag("ShiftedMass", "0.8")},
      {"ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL",
       rational(wilson_action("UNPRECONDITIONED_WILSON", "0.3"), "1", "4", "2", "0.01", "80")},
      {"ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", rational(wilson, "2", "8", "4", "0.01", "80")},
      {"ONE_FLAVOR_SEOPREC_CONSTDET_FERM_RAT_MONOMIAL", rational(seo, "1", "4", "2", "0.001", "8")},
      {"N_FLAVOR_LOGDET_EVEN_EVEN_FERM_MONOMIAL", eo + tag("num_flavors", "2")},
      {"N_FLAVOR_LOGDET_DIAG_FERM_MONOMIAL", seo + tag("num_flavors", "1")},
      {"FOUR_TASTE_STAGGERED_FERM_MONOMIAL", two_flavor(staggered("0.5"))},
      {"ROOTED_STAGGERED_FERM_RAT_MONOMIAL", rational(staggered("0.5"), "1", "8", "4", "0.2", "8")},
      {"FIXED_RANDOM_X_FERM_MONOMIAL",
       tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.1") + tag("n_smear", "2") +
                            tag("orthog_dir", "3") + fermion_bc())},
  };
}

/// The monomial of an input's list element.
inline std::shared_ptr<qcd::Monomial> make_monomial(const std::string& name, const std::string& elements) {
  const qcd::InputFile document = input(
      tag("HMCTrj",
          tag("Monomials", tag("elem", tag("Name", name) + elements + tag("NamedObject", tag("monomial_id", "m"))))));
  const qcd::MonomialMap monomials = qcd::read_monomials(document.root());
  document.require_valid();
  return monomials.at("m");
}

inline GaugeField moved(const GaugeField& u, const GaugeField& x, double t) {
  GaugeField v(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) v[mu] = qcd::su3_exp(QDP::Real(t) * x[mu]) * u[mu];
  return v;
}

/// Against differences along three random directions.
inline void check_force(const std::string& name, const std::string& elements, const GaugeField& u) {
  CAPTURE(name);
  const auto monomial = make_monomial(name, elements);
  monomial->refresh(u);
  GaugeField f;
  monomial->force(f, u, {});
  const auto action = [&](const GaugeField& x, double t) {
    return QDP::toDouble(monomial->action(moved(u, x, t), {}));
  };
  for (int direction = 0; direction < 3; ++direction) {
    const GaugeField x = random_algebra();
    double exact = 0;  // conv. 4
    for (int mu = 0; mu < QDP::Nd; ++mu) exact += 2 * QDP::toDouble(QDP::sum(QDP::real(QDP::trace(x[mu] * f[mu]))));
    const double h = 2e-3;
    const double difference = (8 * (action(x, h) - action(x, -h)) - (action(x, 2 * h) - action(x, -2 * h))) / (12 * h);
    // A direction may happen to be almost orthogonal to the force: |F| is the usual size of dS.
    CHECK(difference == doctest::Approx(exact).epsilon(1e-7).scale(std::sqrt(inner(f, f))));
  }
}

}  // namespace tests
