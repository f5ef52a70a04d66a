// Inputs that can be read and cannot be meant: each is an error, or a warning where somebody might mean it.

#include "lib/gauge/start.hpp"
#include "lib/heatbath/run.hpp"
#include "lib/io/memory.hpp"
#include "lib/meas/parameters.hpp"
#include "lib/rational/rational.hpp"
#include "qdp/util/spelling.hpp"
#include "tests/lib/hmc_input.hpp"
#include "tests/lib/measurements.hpp"

#include <doctest/doctest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <functional>

using namespace qcd;
using tests::hmc_errors;
using tests::hmc_input;
using tests::id_list;
using tests::leapfrog;
using tests::list_element;
using tests::tag;

namespace {

bool contains(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string gauge(const std::string& id, const std::string& beta = "5.5") {
  return list_element("GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", beta)), id);
}

std::string quarks(const std::string& id) {
  return list_element("TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
                      tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") + tests::inverter(), id);
}

std::string md(const std::string& integrator, const std::string& more = "") {
  return tag("tau0", "1") + more + tag("Integrator", integrator);
}

const std::string kTerms = gauge("g") + gauge("h") + quarks("q");
const std::string kPartial = tag("AllowPartialHamiltonian", "true");

/// Errors of a run of g, h and q.
std::string terms(const std::string& hamiltonian, const std::string& integrator, const std::string& more = "") {
  return hmc_errors(hmc_input("4 4 4 4", kTerms, hamiltonian, md(integrator, more)));
}

std::vector<std::string> warnings(const std::string& text) {
  const InputFile file = tests::input(text);
  read_hmc_parameters(file.root());
  file.require_valid();
  return file.warnings();
}

/// The errors of one monomial on 4^4.
std::string monomial_errors(const std::string& name, const std::string& elements, const std::string& nrow = "4 4 4 4") {
  return hmc_errors(hmc_input(nrow, list_element(name, elements)));
}

std::string measure_errors(const std::string& measurements, const std::string& cfg = tag("cfg_type", "UNIT"),
                           const std::string& nrow = "4 4 4 8") {
  const InputFile file = tests::input(
      tag("chroma", tag("Param", tag("InlineMeasurements", measurements) + tag("nrow", nrow)) + tag("Cfg", cfg)));
  read_measure_parameters(file.root());
  std::string all;
  for (const std::string& error : file.errors()) all += error + '\n';
  return all;
}

std::string source(const std::string& elements) {
  return tag("elem", tag("Name", "MAKE_SOURCE") + tag("Param", tag("version", "6") + tag("Source", elements)) +
                         tag("NamedObject", tag("gauge_id", "default_gauge_field") + tag("source_id", "s")));
}

void write_file(const std::filesystem::path& name, const std::string& text) {
  std::filesystem::create_directories(name.parent_path());
  tests::Written(name) << text;
}

}  // namespace

// ---- Hamiltonian and integrator ------------------------------------------------------------------------------------

TEST_CASE("Hamiltonian and integrator are made of the same monomials, each once") {
  CHECK(terms(id_list({"g", "h", "q"}), leapfrog(id_list({"q", "g", "h"}))) == "");
  CHECK(terms(id_list({"g", "h", "q"}), leapfrog(id_list({"q"}), leapfrog(id_list({"h"}), leapfrog(id_list({"g"}))))) ==
        "");

  CHECK(contains(terms(id_list({"g", "h"}), leapfrog(id_list({"g", "h", "q"}))), "q in MDIntegrator only"));
  CHECK(contains(terms(id_list({"g", "h", "q"}), leapfrog(id_list({"g", "h"}))), "q in Hamiltonian only"));
  CHECK(contains(terms(id_list({"g", "h", "q"}), leapfrog(id_list({"q"}), leapfrog(id_list({"g"})))),
                 "h in Hamiltonian only"));
  CHECK(contains(terms(id_list({"g", "h", "q", "h"}), leapfrog(id_list({"q", "g", "h"}))), "h 2 times"));
  CHECK(contains(terms(id_list({"g", "h", "q"}), leapfrog(id_list({"q", "g", "h", "g"}))), "g 2 times"));
  const std::string twice =
      terms(id_list({"g", "h", "q"}), leapfrog(id_list({"q", "g"}), leapfrog(id_list({"g", "h"}))));
  CHECK(contains(twice, "one time scale"));
  CHECK(contains(twice, "g 2 times"));
  // Drifts only: a free walk.
  CHECK(lines(terms(id_list({"g", "h", "q"}), tag("Name", "LCM_EXP_T") + tag("n_steps", "1"))) == 3);
}

TEST_CASE("who means a partial Hamiltonian says so, and is told of it; twice is never meant") {
  const std::string input =
      hmc_input("4 4 4 4", kTerms, id_list({"g", "h"}) + kPartial, md(leapfrog(id_list({"g", "q"}))));
  const auto said = warnings(input);
  REQUIRE(said.size() == 2);
  CHECK(contains(said[0], "h in Hamiltonian only"));
  CHECK(contains(said[1], "q in MDIntegrator only"));
  CHECK(terms(id_list({"g", "g", "h", "q"}) + kPartial, leapfrog(id_list({"q", "g", "h"}))) != "");
  CHECK(terms(id_list({"g", "h", "q"}) + kPartial, leapfrog(id_list({"q", "g"}), leapfrog(id_list({"g", "h"})))) != "");
  CHECK(terms(id_list({"g", "h"}) + tag("AllowPartialHamiltonian", "false"), leapfrog(id_list({"g", "h", "q"}))) != "");
}

TEST_CASE("a monomial that stands in for another in molecular dynamics gets its fields by copyList") {
  const std::string monomials = gauge("g") + quarks("exact") + quarks("fast");
  const auto copies = [](const std::string& from, const std::string& to) {
    return tag("copyList", tag("elem", tag("copyFrom", from) + tag("copyTo", to)));
  };
  const auto errors = [&](const std::string& hamiltonian, const std::string& integrator, const std::string& list) {
    return hmc_errors(hmc_input("4 4 4 4", monomials, hamiltonian, md(integrator, list)));
  };
  const std::string h = id_list({"g", "exact"}), i = leapfrog(id_list({"g", "fast"}));
  CHECK(errors(h, i, copies("exact", "fast")) == "");
  CHECK(errors(h, i, "") != "");
  CHECK(contains(errors(h, i, copies("fast", "exact")), "copyFrom"));
  // Copied from what no one draws.
  CHECK(contains(hmc_errors(hmc_input("4 4 4 4", monomials + quarks("idle"), h, md(i, copies("idle", "fast")))),
                 "copyFrom"));
  // Overwritten with what was drawn for another action.
  CHECK(contains(
      errors(id_list({"g", "exact", "fast"}), leapfrog(id_list({"g", "exact", "fast"})), copies("exact", "fast")),
      "copyTo"));
}

TEST_CASE("the direction of time of an integrator is on the lattice") {
  for (const auto& [direction, good] :
       {std::pair{"-1", false}, std::pair{"0", true}, std::pair{"3", true}, std::pair{"4", false}}) {
    const std::string more = tag("anisoP", "true") + tag("t_dir", direction) + tag("xi_mom", "3");
    const std::string errors =
        hmc_errors(hmc_input("4 4 4 4", gauge("g"), id_list({"g"}), md(leapfrog(id_list({"g"})), more)));
    CAPTURE(direction);
    CHECK((errors == "") == good);
    if (!good) CHECK(contains(errors, "t_dir"));
  }
}

TEST_CASE("a monomial that is in neither is named") {
  const auto said = warnings(hmc_input("4 4 4 4", kTerms, id_list({"g", "q"}), md(leapfrog(id_list({"g", "q"})))));
  REQUIRE(said.size() == 1);
  CHECK(contains(said[0], "monomial h"));
}

// ---- lists ---------------------------------------------------------------------------------------------------------

TEST_CASE("text or nothing where a list is due is an error, wherever it stands") {
  const std::string good = id_list({"m"}), integrator = md(leapfrog(good)),
                    monomial = list_element("GAUGE_MONOMIAL",
                                            tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "5.5")));
  for (const std::string& wrong :
       {std::string("m"), std::string(), std::string("<elm>m</elm>"), std::string("  \n ")}) {
    CAPTURE(wrong);
    const std::string list = tag("monomial_ids", wrong);
    const std::string errors = hmc_errors(hmc_input("4 4 4 4", monomial, list, integrator));
    CHECK(contains(errors, "/Params/HMCTrj/Hamiltonian/monomial_ids: expected a list of <elem>"));
    CHECK(contains(hmc_errors(hmc_input("4 4 4 4", monomial, good, md(leapfrog(list)))),
                   "/Integrator/monomial_ids: expected a list of <elem>"));
    CHECK(contains(
        hmc_errors(hmc_input("4 4 4 4", monomial, good,
                             md(tag("Name", "LCM_EXP_S") + tag("n_steps", "1") + tag("monomial_list", wrong)))),
        "/monomial_list: expected a list of <elem>"));
    CHECK(contains(hmc_errors(hmc_input("4 4 4 4", wrong, good, integrator)), "/Monomials: expected a list of <elem>"));
    std::string seed = hmc_input("4 4 4 4", monomial);
    const std::size_t at = seed.find("<Seed>") + 6;
    seed.replace(at, seed.find("</Seed>") - at, wrong);
    CHECK(contains(hmc_errors(seed), "/Seed: expected a list of <elem>"));
    CHECK(contains(measure_errors(tag("elem", tag("Name", "HADRON_SPECTRUM") +
                                                  tag("NamedObject", tag("gauge_id", "default_gauge_field") +
                                                                         tag("sink_pairs", wrong)))),
                   "/sink_pairs: expected a list of <elem>"));
  }
  CHECK(contains(hmc_errors(hmc_input("4 4 4 4", monomial, tag("monomial_ids", "m"), integrator)), "the text \"m\""));
  CHECK(contains(hmc_errors(hmc_input("4 4 4 4", monomial, tag("monomial_ids", "<elm>m</elm>"), integrator)),
                 "<elm> in line 1"));
  // No measurements is something to ask for; a word where they belong is not.
  CHECK(measure_errors("") == "");
  CHECK(contains(measure_errors("PLAQUETTE"), "the text \"PLAQUETTE\""));
}

TEST_CASE("a list of numbers without a number, and numbers that are none") {
  const auto errors = [](const std::string& residuals) {
    const auto approximation = [&](const char* power) {
      return tag("RationalApprox", tag("ratApproxType", "REMEZ") + tag("numPower", "-1") + tag("denPower", power) +
                                       tag("lowerMin", "0.1") + tag("upperMax", "40") + tag("degree", "6")) +
             tag("InvertParam", tag("invType", "CG_INVERTER") + tag("RsdCG", residuals) + tag("MaxCG", "100"));
    };
    return monomial_errors("ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL",
                           tag("num_pf", "1") + tag("Action", tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") +
                                                                  tag("ActionApprox", approximation("4")) +
                                                                  tag("ForceApprox", approximation("2"))));
  };
  CHECK(errors("1e-8 1e-8") == "");
  for (const char* wrong : {"", "1e-8x", "1e-8 inf", "nan", "1e-8,1e-8", "+-1e-8", "1e-999", "0", "1.5", "1", "-1e-8"})
    CHECK_MESSAGE(contains(errors(wrong), "RsdCG"), wrong);
  for (const char* wrong : {"0.3x", "0.3 0.4", "+-0.3", "++0.3", "0,3", "1e999", "", "nan", "0x1", "0.3d0", "- 0.3"})
    CHECK_MESSAGE(contains(monomial_errors("TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
                                           tests::wilson_action("UNPRECONDITIONED_WILSON", wrong) + tests::inverter()),
                           "Mass"),
                  wrong);
}

// ---- determinants --------------------------------------------------------------------------------------------------

TEST_CASE("num_pf, num_flavors and the powers of both approximations have to say one thing") {
  const auto part = [](const std::string& numerator, const std::string& denominator) {
    return tests::approximation(numerator, denominator, "0.01", "80");
  };
  const auto rational = [&](const std::string& name, const std::string& action, const std::string& head,
                            const std::string& a, const std::string& f, const std::string& sign = "-1") {
    return monomial_errors(
        name, head + tag("Action", action + tag("ActionApprox", part(sign, a)) + tag("ForceApprox", part(sign, f))));
  };
  const auto wilson = [&](const std::string& head, const std::string& a, const std::string& f,
                          const std::string& sign = "-1") {
    return rational("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", tests::wilson_action("WILSON", "0.3"), head, a, f,
                    sign);
  };
  CHECK(wilson(tag("num_pf", "1"), "4", "2") == "");
  CHECK(wilson(tag("num_pf", "2"), "8", "4") == "");
  CHECK(contains(wilson(tag("num_pf", "2"), "4", "2"), "for 2 flavours"));
  CHECK(contains(wilson(tag("num_pf", "1"), "8", "4"), "for 0.5 flavours"));
  CHECK(wilson(tag("num_pf", "2") + tag("num_flavors", "2"), "4", "2") == "");
  CHECK(contains(wilson(tag("num_pf", "1"), "4", "4"), "twice the power of ActionApprox, -0.5"));
  CHECK(contains(wilson(tag("num_pf", "1"), "2", "4"), "twice the power of ActionApprox"));
  CHECK(contains(wilson(tag("num_pf", "1"), "4", "2", "1"), "a negative power"));

  const auto staggered = [&](const std::string& head, const std::string& a, const std::string& f) {
    return rational("ROOTED_STAGGERED_FERM_RAT_MONOMIAL",
                    tag("FermionAction", tag("FermAct", "STAGGERED") + tag("Mass", "0.5") + tests::fermion_bc()), head,
                    a, f);
  };
  CHECK(staggered(tag("num_pf", "1"), "4", "2") == "");
  CHECK(staggered(tag("num_pf", "1") + tag("num_flavors", "2"), "4", "2") == "");
  const std::string one = staggered(tag("num_pf", "1") + tag("num_flavors", "1"), "4", "2");
  CHECK(contains(one, "for 2 flavours"));
  CHECK(contains(one, "-num_flavors/4 = -0.25"));
  CHECK(contains(staggered(tag("num_pf", "2"), "8", "4"), "num_flavors"));
  CHECK(staggered(tag("num_pf", "2") + tag("num_flavors", "2"), "8", "4") == "");
  CHECK(contains(staggered(tag("num_pf", "1"), "4", "3"), "twice the power"));
}

TEST_CASE("approximations that are given by their coefficients alone are compared as well") {
  const auto coefficients = [](int denominator) {
    const RationalApproximation r = remez({1, denominator}, 0.01, 80, 10).reciprocal();
    const auto terms = [](const PartialFractions& f) {
      std::ostringstream text;
      text.precision(15);
      const auto list = [&](const std::vector<double>& values) {
        text.str("");
        for (double x : values) text << x << ' ';
        return text.str();
      };
      text << f.constant;
      const std::string constant = text.str();
      return tag("norm", constant) + tag("res", list(f.residues)) + tag("pole", list(f.poles));
    };
    return tag("RationalApprox", tag("ratApproxType", "READ_COEFFS") + tag("PFECoeffs", terms(r.function)) +
                                     tag("IPFECoeffs", terms(r.inverse))) +
           tests::inverter();
  };
  const auto errors = [&](const std::string& num_pf, int action, int force) {
    return monomial_errors("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL",
                           tag("num_pf", num_pf) + tag("Action", tests::wilson_action("WILSON", "0.3") +
                                                                     tag("ActionApprox", coefficients(action)) +
                                                                     tag("ForceApprox", coefficients(force))));
  };
  CHECK(errors("1", 4, 2) == "");
  CHECK(errors("2", 8, 4) == "");
  CHECK(contains(errors("1", 4, 4), "twice the power"));
  CHECK(contains(errors("1", 8, 4), "flavours"));
  CHECK(contains(errors("2", 4, 2), "flavours"));
}

// ---- values --------------------------------------------------------------------------------------------------------

TEST_CASE("values that cannot be meant") {
  const auto action = [](const std::string& name, const std::string& more) {
    return monomial_errors("GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", name) + more));
  };
  CHECK(contains(action("WILSON_GAUGEACT", tag("beta", "-5.7")), "beta: expected a number, zero or more"));
  CHECK(action("WILSON_GAUGEACT", tag("beta", "0")) == "");
  CHECK(contains(action("LW_TREE_GAUGEACT", tag("beta", "-1") + tag("u0", "0.9")), "beta"));
  CHECK(contains(action("RBC_GAUGEACT", tag("beta", "-1") + tag("c1", "-1.4")), "beta"));
  // Where another term keeps the action bounded.
  CHECK(action("PLAQ_PLUS_PLAQ_POWER_GAUGEACT", tag("beta", "-2.4") + tag("gamma", "200") + tag("q", "10")) == "");
  const auto adjoint = [&](const std::string& q) {
    return action("PLAQ_PLUS_ADJ_POWER_GAUGEACT", tag("beta", "5") + tag("gamma", "1") + tag("q", q));
  };
  CHECK(adjoint("2") == "");
  CHECK(contains(adjoint("3"), "an even number"));
  CHECK(contains(adjoint("0"), "q"));

  const auto kappa = [](const std::string& value) {
    return monomial_errors(
        "TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
        tag("FermionAction", tag("FermAct", "UNPRECONDITIONED_WILSON") + tag("Kappa", value) + tests::fermion_bc()) +
            tests::inverter());
  };
  CHECK(kappa("0.12") == "");
  for (const char* wrong : {"1000", "1e3", "1e30", "0", "-0.1"})
    CHECK_MESSAGE(contains(kappa(wrong), "Kappa: expected a number above zero and below 1000"), wrong);
  const auto residual = [](const std::string& value) {
    return monomial_errors("TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
                           tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") + tests::inverter(value));
  };
  CHECK(residual("0.5") == "");
  for (const char* wrong : {"1", "1.5", "10000000", "0"})
    CHECK_MESSAGE(contains(residual(wrong), "RsdCG: expected a number above zero and below 1"), wrong);
}

namespace {

/// The ends of what an element accepts, and the next values beyond them.
struct Ends {
  std::string element;
  std::vector<std::string> accepted, refused;
  std::function<std::string(const std::string& element_with_value)> errors;
};

void check_ends(const std::vector<Ends>& all) {
  for (const Ends& e : all) {
    CAPTURE(e.element);
    for (const std::string& value : e.accepted) {
      const std::string errors = e.errors(tag(e.element, value));
      CHECK_MESSAGE(!contains(errors, e.element), value << ": " << errors);
    }
    for (const std::string& value : e.refused) {
      const std::string errors = e.errors(tag(e.element, value));
      CHECK_MESSAGE(contains(errors, e.element + ": expected"), value << ": " << errors);
    }
  }
}

}  // namespace

TEST_CASE("both ends of what an element of a run accepts belong to it, and nothing beyond") {
  const std::string ids = id_list({"m"});
  const auto control = [&](const std::string& x) {
    return hmc_errors(hmc_input("4 4 4 4", gauge("m"), ids, md(leapfrog(ids)), x));
  };
  const auto dynamics = [&](const std::string& x) {
    return hmc_errors(hmc_input("4 4 4 4", gauge("m"), ids, md(leapfrog(ids), tag("anisoP", "true") + x)));
  };
  const auto tuned = [&](const std::string& x) {
    std::string text = hmc_input("4 4 4 4", gauge("m"), ids, md(leapfrog(ids), tag("AutoTune", x)));
    return hmc_errors(text.replace(text.find("<NWarmUpUpdates>0"), 17, "<NWarmUpUpdates>90"));
  };
  const auto scheme = [&](const std::string& name) {
    return [&ids, name](const std::string& x) {
      return hmc_errors(hmc_input("4 4 4 4", gauge("m"), ids, md(tag("Name", name) + x + ids)));
    };
  };
  const auto tau = [&](const std::string& x) {
    return hmc_errors(hmc_input("4 4 4 4", gauge("m"), ids, x + tag("Integrator", leapfrog(ids))));
  };
  const auto action = [](const std::string& name, const std::string& more) {
    return [=](const std::string& x) {
      return monomial_errors("GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", name) + more + x));
    };
  };
  const auto aniso = [&](const std::string& more) {
    return [=](const std::string& x) {
      return action("WILSON_GAUGEACT", tag("beta", "5") + tag("AnisoParam", tag("anisoP", "true") + more + x))("");
    };
  };
  const auto boundary = [&](const std::string& x) {
    return action("WILSON_GAUGEACT",
                  tag("beta", "5") + tag("GaugeState", tag("Name", "SIMPLE_GAUGE_STATE") +
                                                           tag("GaugeBC", tag("Name", "SCHROEDINGER_TRIVIAL_GAUGEBC") +
                                                                              tag("SchrPhiMult", "1") + x)))("");
  };
  const std::string beta = tag("beta", "5"), gamma = tag("gamma", "1"), u_s = tag("u_s", "0.9"), u_t = tag("u_t", "1"),
                    omega = tag("omega", "3");
  const auto quark = [](const std::string& name, const std::string& more) {
    return [=](const std::string& x) { return monomial_errors(name, more + x); };
  };
  const auto solved = [](const std::string& solver) {
    return [=](const std::string& x) {
      return monomial_errors("TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
                             tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") + tag("InvertParam", solver + x));
    };
  };
  const std::string mixed = tag("invType", "MIXED_CG_INVERTER") + tag("RsdCG", "1e-8") + tag("MaxCG", "100");
  const auto rational = [](const std::string& more, const std::string& inverter) {
    return [=](const std::string& x) {
      const auto term = [&](const std::string& den) {
        return tag("RationalApprox", tag("ratApproxType", "REMEZ") + tag("numPower", "-1") + tag("denPower", den) +
                                         tag("lowerMin", "0.01") + tag("upperMax", "80") + tag("degree", "8")) +
               (inverter.empty() ? tests::inverter() : tag("InvertParam", inverter + x));
      };
      return monomial_errors("ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL",
                             more + (inverter.empty() ? x : "") +
                                 tag("Action", tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") +
                                                   tag("ActionApprox", term("4")) + tag("ForceApprox", term("2"))));
    };
  };
  const auto approximation = [](const std::string& lower, const std::string& den) {
    return [=](const std::string& x) {
      const std::string approx =
          tag("RationalApprox", tag("ratApproxType", "REMEZ") + tag("numPower", "-1") + den + lower + x);
      return monomial_errors("ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL",
                             tag("num_pf", "1") + tag("Action", tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3") +
                                                                    tag("ActionApprox", approx + tests::inverter()) +
                                                                    tag("ForceApprox", approx + tests::inverter())));
    };
  };
  const std::string interval = tag("lowerMin", "0.5") + tag("upperMax", "2"), degree = tag("degree", "3");
  const std::string chrono = tag("invType", "CG_CHRONO_CLOVER_INVERTER") + tag("RsdTarget", "1e-8") +
                             tag("MaxIter", "100") + tag("Delta", "0.1"),
                    cutoff = tag("CutoffRsd", "1e-5");
  const std::string tiny = "1e-300", wilson = tests::wilson_action("UNPRECONDITIONED_WILSON", "0.3");
  check_ends({
      {"KeepCheckpoints", {"1"}, {"0"}, control},
      {"ArchiveInterval", {"1"}, {"0"}, control},
      {"ReproCheckFrequency", {"1"}, {"0"}, control},
      {"ReverseCheckFrequency", {"1"}, {"0"}, control},
      {"ReverseCheckTolerance", {tiny}, {"0", "-1"}, control},
      {"tau0", {tiny}, {"0"}, tau},
      {"t_dir", {"0", "3"}, {"-1", "4"}, dynamics},
      {"xi_mom", {tiny}, {"0"}, dynamics},
      {"TargetAcceptance", {"0.01", "0.9999"}, {"0.0099", "0.99991"}, tuned},
      {"Rounds", {"1", "9"}, {"0"}, tuned},
      {"Trajectories", {"2", "30"}, {"1", "31"}, tuned},
      {"n_steps", {"1"}, {"0"}, scheme("LCM_TST_MIN_NORM_2")},
      {"delta_tau_max", {tiny}, {"0"}, scheme("LCM_STS_MIN_NORM_2_DTAU")},
      {"t_dir", {"0", "3"}, {"-1", "4"}, aniso(tag("xi_0", "2"))},
      {"xi_0", {tiny}, {"0"}, aniso(tag("t_dir", "2"))},
      {"loop_extent", {"1", "2"}, {"0", "3"}, boundary},
      {"decay_dir", {"0", "3"}, {"-1", "4"}, boundary},
      {"beta", {"0"}, {"-1e-9"}, action("RG_GAUGEACT", tag("c1", "-0.3"))},
      {"beta", {"0"}, {"-1e-9"}, action("SPATIAL_WILSON_GAUGEACT", "")},
      {"beta", {"0"}, {"-1e-9"}, action("LW_1LOOP_GAUGEACT", tag("u0", "0.9"))},
      {"u0", {tiny}, {"0"}, action("LW_1LOOP_GAUGEACT", beta)},
      {"u0", {tiny}, {"0"}, action("LW_TREE_GAUGEACT", beta)},
      {"u_s", {tiny}, {"0"}, action("ANISO_SPECTRUM_GAUGEACT", beta + u_t + omega)},
      {"u_t", {tiny}, {"0"}, action("ANISO_SPECTRUM_GAUGEACT", beta + u_s + omega)},
      {"beta", {"0"}, {"-1e-9"}, action("ANISO_SPECTRUM_GAUGEACT", u_t + u_s + omega)},
      {"u_s", {tiny}, {"0"}, action("ANISO_SYM_SPATIAL_GAUGEACT", beta)},
      {"u_t", {tiny}, {"0"}, action("ANISO_SYM_TEMPORAL_GAUGEACT", beta + u_s)},
      {"q", {"1", "1.5"}, {"0.999"}, action("CONSTRAINED_PLAQ_GAUGEACT", beta + gamma)},
      {"q", {"1"}, {"0"}, action("PLAQ_PLUS_PLAQ_POWER_GAUGEACT", beta + gamma)},
      {"decay_dir",
       {"0", "3"},
       {"-1", "4"},
       action("SF_PLAQ_PLUS_ADJOINT_GAUGEACT", tag("beta_F", "1") + tag("beta_A", "1"))},
      {"beta",
       {tiny},
       {"0"},
       action("WILSON_COARSE_FINE_1LOOP_GAUGEACT",
              tag("coarse_dirs", "1 0 0 1") + tag("xi", "2") + tag("coeff_ff", "0") + tag("coeff_cc", "0"))},
      {"xi",
       {tiny},
       {"0"},
       action("WILSON_COARSE_FINE_1LOOP_GAUGEACT",
              beta + tag("coarse_dirs", "1 0 0 1") + tag("coeff_ff", "0") + tag("coeff_cc", "0"))},
      {"NumofHasenTerms",
       {"1"},
       {"0"},
       quark("TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL",
             tag("Action", tests::wilson_action("WILSON", "0.3") + tests::inverter()) + tag("ShiftedMass", "0 0.3"))},
      {"num_flavors", {"1"}, {"0"}, rational(tag("num_pf", "1"), "")},
      {"num_pf", {"1"}, {"0"}, rational("", "")},
      {"BoundsCheckFrequency", {"0"}, {"-1"}, rational(tag("num_pf", "1"), "")},
      {"BoundsAccuracy", {tiny}, {"0"}, rational(tag("num_pf", "1"), "")},
      {"Delta", {"1e-12", "1"}, {"0.9e-12", "1.001"}, solved(mixed)},
      {"MaxCG", {"1"}, {"0"}, solved(tag("invType", "CG_INVERTER") + tag("RsdCG", "1e-8"))},
      {"MROver", {tiny}, {"0"}, solved(tag("invType", "MR_INVERTER") + tag("RsdMR", "1e-8") + tag("MaxMR", "10"))},
      {"NKrylov", {"1"}, {"0"}, solved(tag("invType", "GCR_INVERTER") + tag("RsdGCR", "1e-8") + tag("MaxGCR", "10"))},
      {"CutoffRsd", {tiny}, {"0"}, rational(tag("num_pf", "1"), mixed)},
      {"CutoffRsd", {tiny}, {"0"}, rational(tag("num_pf", "1"), chrono + tag("MaxChrono", "1"))},
      {"MaxChrono", {"0"}, {"-1"}, rational(tag("num_pf", "1"), chrono + cutoff)},
      {"degree", {"1"}, {"0", std::to_string(kMaxRationalDegree + 1)}, approximation(interval, tag("denPower", "2"))},
      {"digitPrecision", {"1"}, {"0", "10001"}, approximation(interval + degree, tag("denPower", "2"))},
      {"denPower", {"2"}, {"0"}, approximation(interval + degree, "")},
      {"lowerMin", {"1e-3"}, {"0"}, approximation(tag("upperMax", "2") + degree, tag("denPower", "2"))},
      {"upperMax", {"0.6"}, {"0.5", "0"}, approximation(tag("lowerMin", "0.5") + degree, tag("denPower", "2"))},
      {"MaxChrono",
       {"1"},
       {"0"},
       [&](const std::string& x) {
         return monomial_errors(
             "TWO_FLAVOR_UNPREC_FERM_MONOMIAL",
             wilson + tests::inverter() +
                 tag("ChronologicalPredictor", tag("Name", "MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR") + x));
       }},
      {"n_smear",
       {"0"},
       {"-1"},
       [](const std::string& x) {
         return monomial_errors(
             "FIXED_RANDOM_X_FERM_MONOMIAL",
             tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.1") + x + tests::fermion_bc()));
       }},
  });
}

TEST_CASE("both ends of what an element of a measurement accepts belong to it, and nothing beyond") {
  const auto in = [](const std::string& name, const std::string& more, const std::string& objects = "") {
    return [=](const std::string& x) {
      return measure_errors(
          tests::measurement(name, tag("Param", more + x) + (objects.empty() ? "" : tag("NamedObject", objects))));
    };
  };
  const auto beside = [](const std::string& name, const std::string& group, const std::string& more) {
    return [=](const std::string& x) {
      return measure_errors(tests::measurement(name, group.empty() ? more + x : tag(group, x) + more));
    };
  };
  const std::string gauge_id = tag("gauge_id", "default_gauge_field"),
                    gauge_in = tag("gauge_in", "default_gauge_field"), fermion = tests::wilson_action("WILSON", "0.3"),
                    v1 = tag("version", "1");
  const auto fixing = [&](const std::string& without) {
    std::string all = v1;
    for (const auto& [name, value] :
         {std::pair{"GFAccu", "1e-5"}, {"GFMax", "10"}, {"OrPara", "1.5"}, {"j_decay", "3"}})
      if (name != without) all += tag(name, value);
    return in("COULOMB_GAUGEFIX", tag("OrDo", "true") + all, gauge_id + tag("gfix_id", "f") + tag("gauge_rot_id", "r"));
  };
  const auto loops = [&](const std::string& without) {
    std::string all = tag("version", "3");
    for (const auto& [name, value] : {std::pair{"kind", "1"}, {"j_decay", "3"}, {"t_dir", "3"}})
      if (name != without) all += tag(name, value);
    return in("WILSLP", all, gauge_id);
  };
  const std::string smeared = gauge_id + tag("linksmear_id", "s");
  const std::string ape = tag("LinkSmearingType", "APE_SMEAR") + tag("link_smear_fact", "2.5");
  const std::string hyp =
      tag("LinkSmearingType", "HYP_SMEAR") + tag("alpha1", "0.7") + tag("alpha2", "0.6") + tag("alpha3", "0.3");
  const std::string num = tag("link_smear_num", "1");
  const std::string flow = tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "1"));
  const std::string seed = tag("ran_seed", tag("Seed", "<elem>1</elem><elem>0</elem><elem>0</elem><elem>0</elem>"));
  const auto make_source = [](const std::string& more) {
    return [=](const std::string& x) { return measure_errors(source(more + x)); };
  };
  const std::string shell = tag("SourceType", "SHELL_SOURCE") + tag("j_decay", "3") + tag("t_srce", "0 0 0 0");
  const auto gaussian = [&](const std::string& x) {
    return measure_errors(
        source(shell + tag("SmearingParam", tag("wvf_kind", "GAUGE_INV_GAUSSIAN") + tag("wvf_param", "1") +
                                                tag("no_smear_dir", "3") + x)));
  };
  const auto displaced = [&](const std::string& x) {
    return measure_errors(
        source(tag("SourceType", "POINT_SOURCE") + tag("j_decay", "3") + tag("t_srce", "0 0 0 0") +
               tag("Displacement", tag("DisplacementType", "SIMPLE_DISPLACEMENT") + tag("disp_length", "1") + x)));
  };
  check_ends({
      {"Frequency", {"1"}, {"0"}, beside("PLAQUETTE", "", "")},
      {"n_sources", {"1"}, {"0"}, in("CHIRAL_CONDENSATE", fermion + tests::inverter())},
      {"RsdR", {"1e-300"}, {"0"}, beside("EIGBNDSMDAGM", "Ritz", fermion)},
      {"Neig",
       {"1"},
       {"0"},
       [&](const std::string& x) {
         return measure_errors(tests::measurement("EIGBNDSMDAGM", tag("Ritz", tag("RsdR", "1e-3") + x) + fermion));
       }},
      {"GFAccu", {"1e-300"}, {"0"}, fixing("GFAccu")},
      {"GFMax", {"1"}, {"0"}, fixing("GFMax")},
      {"OrPara", {"1", "1.9999"}, {"0.9999", "2"}, fixing("OrPara")},
      {"j_decay", {"-1", "0", "4"}, {"-2", "5"}, fixing("j_decay")},
      {"kind", {"1", "7"}, {"0", "8"}, loops("kind")},
      {"j_decay", {"0", "3"}, {"-1", "4"}, loops("j_decay")},
      {"t_dir", {"0", "3"}, {"-1", "4"}, loops("t_dir")},
      {"nstep", {"1"}, {"0"}, in("WILSON_FLOW", v1 + tag("wtime", "1") + tag("t_dir", "3"), gauge_in)},
      {"wtime", {"1e-300"}, {"0"}, in("WILSON_FLOW", v1 + tag("nstep", "1") + tag("t_dir", "3"), gauge_in)},
      {"t_dir", {"0", "3"}, {"-1", "4"}, in("WILSON_FLOW", v1 + tag("nstep", "1") + tag("wtime", "1"), gauge_in)},
      {"nstep", {"1"}, {"0"}, in("GRADIENT_FLOW", tag("eps", "0.1") + flow, gauge_in)},
      {"eps", {"1e-300"}, {"0"}, in("GRADIENT_FLOW", tag("nstep", "1") + flow, gauge_in)},
      {"t_dir", {"0", "3"}, {"-1", "4"}, in("GRADIENT_FLOW", tag("nstep", "1") + tag("eps", "0.1") + flow, gauge_in)},
      {"link_smear_num", {"0"}, {"-1"}, in("LINK_SMEAR", ape, smeared)},
      {"BlkAccu", {"0", "1"}, {"-1e-9", "1.001"}, in("LINK_SMEAR", ape + num, smeared)},
      {"BlkMax", {"1"}, {"0"}, in("LINK_SMEAR", ape + num, smeared)},
      {"num_smear", {"0"}, {"-1"}, in("LINK_SMEAR", hyp, smeared)},
      {"link_smear_num",
       {"0"},
       {"-1"},
       in("LINK_SMEAR", tag("LinkSmearingType", "STOUT_SMEAR") + tag("link_smear_fact", "0.1"), smeared)},
      {"j_decay", {"0", "3"}, {"-1", "4"}, make_source(tag("SourceType", "WALL_SOURCE") + tag("t_source", "0"))},
      {"N",
       {"2"},
       {"1"},
       make_source(tag("SourceType", "RAND_ZN_WALL_SOURCE") + tag("j_decay", "3") + tag("t_source", "0") + seed)},
      {"wvfIntPar", {"0"}, {"-1"}, gaussian},
      {"disp_dir", {"0", "3"}, {"-1", "4"}, displaced},
  });
}

TEST_CASE("names of output files fit the file system") {
  const auto prefix = [](const std::string& name) {
    std::string text = hmc_input("4 4 4 4", gauge("m"));
    return hmc_errors(text.replace(text.find("never_run"), 9, name));
  };
  CHECK(prefix(std::string(200, 'x')) == "");
  const std::string most = "SavePrefix: expected a name of at most ", refused = prefix(std::string(250, 'x'));
  REQUIRE(contains(refused, most));
  const std::size_t longest = std::stoul(refused.substr(refused.find(most) + most.size()));
  CHECK(prefix(std::string(longest, 'x')) == "");
  CHECK(contains(prefix(std::string(longest + 1, 'x')), most + std::to_string(longest)));
  CHECK(contains(prefix(std::string(300, 'x')), "SavePrefix: expected a name of at most"));
  CHECK(contains(prefix("/no/such/folder/x"), "SavePrefix: expected a name in a folder that exists"));
  std::string deep = ".";
  while (deep.size() < 5000) deep += "/.";
  CHECK(contains(prefix(deep + "/x"), "SavePrefix"));
  // What is just short enough can be written: 255 less "_restart_1.xml" and ".tmp-XXXXXX".
  CHECK(prefix(std::string(255 - 14 - 11, 'x')) == "");
  CHECK(prefix(std::string(256 - 14 - 11, 'x')) != "");

  // And the path, of which the system takes less than PATH_MAX characters with what is added to the name.
  const auto path = [](std::size_t characters) {
    std::string text = ".";
    while (text.size() + 2 < characters) text += "/.";
    return text.replace(text.size() - 1, 1, characters - text.size() + 1, 'x');
  };
  const std::size_t most_of_path = PATH_MAX - 1 - 14 - 11;
  for (const std::size_t characters : {most_of_path - 1, most_of_path}) {
    REQUIRE(path(characters).size() == characters);
    CHECK(prefix(path(characters)) == "");
  }
  for (const std::size_t characters : {most_of_path + 1, most_of_path + 2})
    CHECK(contains(prefix(path(characters)), "expected a path of less than " + std::to_string(most_of_path + 1)));

  const auto plaquette = [](const std::string& file) {
    return measure_errors(tag("elem", tag("Name", "PLAQUETTE") + tag("xml_file", file)));
  };
  CHECK(plaquette("p.xml") == "");
  CHECK(contains(plaquette("/no/such/folder/p.xml"), "xml_file"));
  CHECK(contains(plaquette(std::string(255, 'x')), "xml_file"));
}

TEST_CASE("sources are on the lattice") {
  const std::string point = tag("SourceType", "POINT_SOURCE") + tag("j_decay", "3");
  CHECK(measure_errors(source(point + tag("t_srce", "3 3 3 7"))) == "");
  CHECK(contains(measure_errors(source(point + tag("t_srce", "3 4 3 7"))),
                 "a site of the lattice 4x4x4x8, got 4 in direction 1"));
  CHECK(contains(measure_errors(source(point + tag("t_srce", "0 0 0 8"))), "t_srce"));
  CHECK(contains(measure_errors(source(point + tag("t_srce", "0 0 0 -1"))), "t_srce"));
  const std::string wall = tag("SourceType", "WALL_SOURCE") + tag("j_decay", "3");
  CHECK(measure_errors(source(wall + tag("t_source", "7"))) == "");
  CHECK(contains(measure_errors(source(wall + tag("t_source", "8"))), "t_source: expected an integer from 0 to 7"));
  CHECK(contains(measure_errors(source(wall + tag("t_source", "-1"))), "t_source"));
  const std::string seed = tag("ran_seed", tag("Seed", "<elem>1</elem><elem>0</elem><elem>0</elem><elem>0</elem>"));
  const std::string noise = tag("SourceType", "RAND_ZN_WALL_SOURCE") + tag("j_decay", "3") + tag("N", "4") + seed;
  CHECK(measure_errors(source(noise + tag("t_source", "-1"))) == "");  // everywhere
  CHECK(contains(measure_errors(source(noise + tag("t_source", "8"))), "t_source"));
  const std::string partial = tag("SourceType", "PARTIAL_WALL_SOURCE") + tag("j_decay", "3") + tag("t_source", "0");
  CHECK(measure_errors(source(partial + tag("FixedDirs", tag("elem", tag("dir", "0") + tag("coord", "3"))))) == "");
  CHECK(contains(measure_errors(source(partial + tag("FixedDirs", tag("elem", tag("dir", "0") + tag("coord", "4"))))),
                 "coord"));
}

TEST_CASE("a configuration of another lattice, or none, is found when the input is read") {
  tests::ScratchFolder folder("input_sizes");
  tests::use_lattice({2, 4, 4, 6});
  const GaugeField u = tests::random_field();
  const std::string nersc = folder.file("u.nersc"), lime = folder.file("u.lime"), text = folder.file("u.txt");
  QDP::writeArchiv(u, nersc);
  {
    QDP::XMLBufferWriter file_xml, record_xml;
    QDP::push(file_xml, "gauge");
    QDP::pop(file_xml);
    QDP::push(record_xml, "gauge");
    QDP::pop(record_xml);
    QDP::QDPFileWriter file(file_xml, lime, QDP::QDPIO_SINGLEFILE, QDP::QDPIO_SERIAL, QDP::QDPIO_OPEN);
    QDP::write(file, record_xml, u);
    QDP::close(file);
  }
  write_file(text, "no configuration\n");
  const auto errors = [](const std::string& type, const std::string& file, const std::string& nrow) {
    return measure_errors("", tag("cfg_type", type) + tag("cfg_file", file), nrow);
  };
  for (const auto& [type, file] : {std::pair{"NERSC", nersc}, std::pair{"SZINQIO", lime}, std::pair{"SCIDAC", lime}}) {
    CAPTURE(type);
    CHECK(errors(type, file, "2 4 4 6") == "");
    CHECK(
        contains(errors(type, file, "4 4 4 6"), "a configuration of the lattice 4x4x4x6, got " + file + " of 2x4x4x6"));
    CHECK(contains(errors(type, file, "6 4 4 2"), "2x4x4x6"));
    CHECK(contains(errors(type, text, "2 4 4 6"), "a gauge file"));
  }
  const auto read = [&](const std::string& name, const std::string& file, const std::string& nrow) {
    return measure_errors(
        tag("elem", tag("Name", name) + tag("File", tag("file_name", file)) +
                        tag("NamedObject", tag("object_id", "v") + tag("object_type", "Multi1dLatticeColorMatrix"))),
        tag("cfg_type", "UNIT"), nrow);
  };
  CHECK(read("NERSC_READ_NAMED_OBJECT", nersc, "2 4 4 6") == "");
  CHECK(contains(read("NERSC_READ_NAMED_OBJECT", nersc, "4 4 4 4"), "of 2x4x4x6"));
  CHECK(contains(read("QIO_READ_NAMED_OBJECT", lime, "4 4 4 4"), "of 2x4x4x6"));
}

// ---- measurements --------------------------------------------------------------------------------------------------

TEST_CASE("a file that an earlier measurement writes need not be there; one that a later one writes must") {
  tests::ScratchFolder folder("input_files");
  const std::string file = tag("File", tag("file_name", folder.file("later")) + tag("file_volfmt", "SINGLEFILE"));
  const auto object = [](const std::string& id) {
    return tag("NamedObject", tag("object_id", id) + tag("object_type", "Multi1dLatticeColorMatrix"));
  };
  const std::string write = tag("elem", tag("Name", "QIO_WRITE_NAMED_OBJECT") + object("default_gauge_field") + file),
                    read = tag("elem", tag("Name", "QIO_READ_NAMED_OBJECT") + object("again") + file);
  CHECK(measure_errors(write + read) == "");
  CHECK(contains(measure_errors(read + write), "file_name: expected a file that can be read"));
  CHECK(contains(measure_errors(tag("elem", tag("Name", "NERSC_WRITE_NAMED_OBJECT") + object("default_gauge_field") +
                                                tag("File", tag("file_name", "/no/such/folder/x")))),
                 "a folder that exists"));
}

TEST_CASE("one unknown measurement makes one message") {
  std::string list = tag("elem", tag("Name", "MAKE_SORCE") + tag("NamedObject", tag("gauge_id", "default_gauge_field") +
                                                                                    tag("source_id", "s")));
  for (int i = 0; i < 40; ++i)
    list += tag("elem", tag("Name", "SINK_SMEAR") +
                            tag("Param", tag("version", "5") + tag("Sink", tag("SinkType", "POINT_SINK"))) +
                            tag("NamedObject", tag("gauge_id", "default_gauge_field") + tag("prop_id", "s") +
                                                   tag("smeared_prop_id", "p" + std::to_string(i))));
  const std::string errors = measure_errors(list);
  CHECK(lines(errors) == 1);
  CHECK(contains(errors, "MAKE_SORCE; did you mean MAKE_SOURCE?"));
  // What it cannot have made is still found.
  CHECK(lines(measure_errors(list + tag("elem", tag("Name", "ERASE_NAMED_OBJECT") +
                                                    tag("NamedObject", tag("object_id", "nowhere"))))) == 2);
  // The same wrong name many times is one mistake.
  std::string many;
  for (int i = 0; i < 40; ++i) many += tag("elem", tag("Name", "PLAQETTE"));
  CHECK(lines(measure_errors(many)) == 1);
  CHECK(lines(measure_errors(many + tag("elem", tag("Name", "POLYAKOW_LOOP")))) == 2);
}

// ---- what nothing reads --------------------------------------------------------------------------------------------

TEST_CASE("elements that nothing reads are named with what they may have been meant to be") {
  const auto said = [](const std::string& control) {
    std::string all;
    for (const std::string& text :
         warnings(hmc_input("4 4 4 4", gauge("m"), id_list({"m"}), md(leapfrog(id_list({"m"}))), control)))
      all += text + '\n';
    return all;
  };
  CHECK(said("") == "");
  CHECK(contains(said(tag("ReproCheckFreqency", "5")),
                 "/Params/MCControl/ReproCheckFreqency (line 1); did you mean ReproCheckFrequency?"));
  CHECK(contains(said(tag("reprocheckp", "false")), "did you mean ReproCheckP?"));
  CHECK(contains(said(tag("tau0", "2")), "it would be read in /Params/HMCTrj/MDIntegrator"));
  const std::string strange = said(tag("SomethingElse", "1"));
  CHECK(contains(strange, "not used: /Params/MCControl/SomethingElse"));
  CHECK(!contains(strange, "did you mean"));
  CHECK(contains(said("5.7"), "/Params/MCControl: text between its elements"));
  // A check that is off keeps its frequency without complaint; so does what Chroma reads and this program has no use for.
  CHECK(said(tag("ReproCheckP", "false") + tag("ReproCheckFrequency", "10") + tag("annotation", "free text")) == "");
}

TEST_CASE("a required element that is misspelt is found under its wrong name") {
  std::string text = hmc_input("4 4 4 4", gauge("m"));
  text.replace(text.find("<tau0>"), 6, "<tauO>");
  text.replace(text.find("</tau0>"), 7, "</tauO>");
  CHECK(contains(hmc_errors(text), "no such element; is <tauO> in line 1 meant to be it?"));
  // Its own line, not the group's.
  text.insert(text.find("<tauO>"), "\n\n\n");
  CHECK(contains(hmc_errors(text), "is <tauO> in line 4 meant to be it?"));
}

TEST_CASE("the nearest word") {
  const std::vector<std::string> words = {"WILSON", "CLOVER", "SEOPREC_CLOVER", "UNPRECONDITIONED_WILSON"};
  CHECK(QDP::nearest_word("WILSN", words) == "WILSON");
  CHECK(QDP::nearest_word("WISLON", words) == "WILSON");
  CHECK(QDP::nearest_word("clover", words) == "CLOVER");
  CHECK(QDP::nearest_word("SEOPERC_CLOVER", words) == "SEOPREC_CLOVER");
  CHECK(QDP::nearest_word("STAGGERED", words) == "");
  CHECK(QDP::nearest_word("x", words) == "");
  CHECK(QDP::did_you_mean("CLOVR", words) == "; did you mean CLOVER?");
  CHECK(QDP::did_you_mean("DWF", words) == "");
  // A third of the letters may differ, and always one; the first of those that are equally near.
  CHECK(QDP::nearest_word("abcdef", {"abcdxy"}) == "abcdxy");
  CHECK(QDP::nearest_word("abcdef", {"abcxyz"}) == "");
  CHECK(QDP::nearest_word("abcde", {"abcdx"}) == "abcdx");
  CHECK(QDP::nearest_word("abcde", {"abcxy"}) == "");
  CHECK(QDP::nearest_word("ab", {"ax"}) == "ax");
  CHECK(QDP::nearest_word("ab", {"xy"}) == "");
  CHECK(QDP::nearest_word("abcdef", {"abcdxy", "abcdex", "xbcdef"}) == "abcdex");
}

// ---- memory --------------------------------------------------------------------------------------------------------

TEST_CASE("available memory is what the machine or a control group leaves, not what is installed") {
  tests::ScratchFolder folder("input_memory");
  const std::string root = folder.file("root");
  const auto put = [&](const std::string& name, const std::string& text) { write_file(root + name, text); };
  CHECK(!available_memory(root));
  put("/proc/meminfo", "MemTotal:       64000000 kB\nMemFree:         1000 kB\nMemAvailable:   20000000 kB\n");
  CHECK(available_memory(root) == 20000000ull * 1024);
  // Version 2: the group's own limit, that of a group around it, and pages of files that can be dropped.
  put("/proc/self/cgroup", "0::/job/step\n");
  put("/sys/fs/cgroup/job/step/memory.max", "max\n");
  CHECK(available_memory(root) == 20000000ull * 1024);
  put("/sys/fs/cgroup/job/memory.max", "8000000000\n");
  put("/sys/fs/cgroup/job/memory.current", "3000000000\n");
  put("/sys/fs/cgroup/job/memory.stat", "anon 5\ninactive_file 1000000000\n");
  CHECK(available_memory(root) == 6000000000ull);
  put("/sys/fs/cgroup/job/step/memory.max", "1000000000\n");
  put("/sys/fs/cgroup/job/step/memory.current", "2000000000\n");
  CHECK(available_memory(root) == 0);
  put("/sys/fs/cgroup/job/step/memory.current", "400000000\n");
  CHECK(available_memory(root) == 600000000ull);
  // Version 1.
  put("/proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/slurm\n");
  put("/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "5000000000\n");
  put("/sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "1000000000\n");
  CHECK(available_memory(root) == 4000000000ull);
  put("/sys/fs/cgroup/memory/slurm/memory.stat", "inactive_file 300000000\ntotal_inactive_file 500000000\n");
  CHECK(available_memory(root) == 4500000000ull);
  // The group at the top, which is the whole container, in both versions.
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000000\n");
  CHECK(available_memory(root) == 1900000000ull);
  put("/proc/self/cgroup", "0::/\n");
  CHECK(available_memory(root) == 20000000ull * 1024);
  put("/sys/fs/cgroup/memory.max", "700000000\n");
  CHECK(available_memory(root) == 700000000ull);
  put("/sys/fs/cgroup/memory.current", "200000000\n");
  CHECK(available_memory(root) == 500000000ull);
  CHECK(available_memory().value_or(1) > 0);
}

TEST_CASE("the need of a lattice is that of the product of its extents") {
  for (const std::vector<int>& lattice : {std::vector{2, 4, 6, 8}, {8, 2, 6, 4}, {4, 8, 2, 6}}) {
    CHECK(memory_fault(lattice, 8, 3072) == "");
    CHECK(memory_fault(lattice, 8, 3071) != "");
  }
  CHECK(memory_fault({4, 4, 4, 4}, 1.5 * (1 << 22), std::uint64_t{1} << 29) ==
        "the fields need at least 1.5 GiB, and 0.5 GiB of memory are available");
  CHECK(memory_fault({4, 4, 4, 4}, 1e30, std::nullopt) == "");
}

TEST_CASE("bytes per site are those of the fields that monomials keep, and of the most that one of them works with") {
  using namespace QDP;
  const double links = 2.0 * Nd * Nc * Nc * sizeof(REAL), quark = 2.0 * Ns * Nc * sizeof(REAL);
  CHECK(bytes_of_gauge_field() == links);
  const auto inputs = tests::monomial_inputs();
  const auto memory = [](const std::string& monomials, const std::vector<std::string>& ids) {
    const InputFile file = tests::input(hmc_input("2 4 2 4", monomials, id_list(ids), md(leapfrog(id_list(ids)))));
    const HmcParameters p = read_hmc_parameters(file.root());
    file.require_valid();
    return p.memory;
  };
  const auto listed = [&](const char* name, const char* id) { return list_element(name, inputs.at(name), id); };
  // Of even-odd Wilson quarks: pseudofermions that stay, and how many fields a solve has besides.
  struct Case {
    const char* name;
    int kept, working;
  };
  const int degree = 16;
  for (const Case& c :
       {Case{"TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", 1, 6}, Case{"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", 1, 6},
        Case{"TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", 2, 6},
        Case{"ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL", 1, 6 + 2 * degree},
        Case{"ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", 2, 6 + 2 * degree}}) {
    CAPTURE(c.name);
    const MemoryNeed need = memory(listed(c.name, "m"), {"m"});
    CHECK(need.kept == 6 * links + c.kept * quark);
    CHECK(need.working == c.working * quark + 2 * links);
  }
  const MemoryNeed staggered = memory(listed("FOUR_TASTE_STAGGERED_FERM_MONOMIAL", "m"), {"m"});
  CHECK(staggered.kept == 6 * links + quark / Ns);
  CHECK(staggered.working == 6 * quark / Ns + 2 * links);
  const MemoryNeed several = memory(listed("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", "a") +
                                        listed("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", "b") + gauge("g") +
                                        listed("TWO_FLAVOR_SEOPREC_LOGDET_FERM_MONOMIAL", "c"),
                                    {"a", "b", "c", "g"});
  CHECK(several.kept == 6 * links + 4 * quark);
  CHECK(several.working == (6 + 2 * degree) * quark + 2 * links);

  // What measurements of the run work with, if that is more than what its monomials do.
  const auto with_measurements = [&](const std::string& list) {
    std::string text = hmc_input("2 4 2 4", gauge("m"));
    const std::string end = "</MCControl>";
    text.insert(text.find(end), tag("InlineMeasurements", list));
    const InputFile file = tests::input(text);
    const HmcParameters p = read_hmc_parameters(file.root());
    file.require_valid();
    return p.memory;
  };
  const std::string point = source(tag("SourceType", "WALL_SOURCE") + tag("j_decay", "3") + tag("t_source", "0"));
  CHECK(with_measurements(point).working == Ns * Nc * quark);
  CHECK(with_measurements(point).kept == 6 * links);

  const InputFile leapfrog_test = tests::input(
      tag("LeapfrogTest", tag("nrow", "2 4 2 4") + tag("GaugeStartup", tag("cfg_type", "UNIT")) +
                              tag("Monomials", listed("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", "m")) +
                              tag("Hamiltonian", id_list({"m"})) + tag("MDIntegrator", md(leapfrog(id_list({"m"}))))));
  const LeapfrogParameters one = read_leapfrog_parameters(leapfrog_test.root());
  leapfrog_test.require_valid();
  CHECK(one.memory.kept == 6 * links + quark);
  CHECK(one.memory.working == 6 * quark + 2 * links);
}

TEST_CASE("what a lattice needs at least: 64^4 does not fit in 23 GB, 16^4 does") {
  const auto fault = [](const std::string& nrow, std::optional<std::uint64_t> available) {
    const InputFile file = tests::input(hmc_input(nrow, gauge("m")));
    const HmcParameters p = read_hmc_parameters(file.root());
    file.require_valid();
    return memory_fault(p.lattice(), p.memory.kept + p.memory.working, available);
  };
  constexpr std::uint64_t gb = 1000000000;
  CHECK(contains(fault("64 64 64 64", 23 * gb), "21.4 GiB of memory are available"));
  CHECK(fault("16 16 16 16", 23 * gb) == "");
  CHECK(fault("64 64 64 64", std::nullopt) == "");  // not known
  CHECK(fault("2 2 2 2", 0) != "");
  // Quarks, shifts and propagators add to it.
  const auto bytes = [](const std::string& monomial) {
    const InputFile file = tests::input(hmc_input("4 4 4 4", monomial));
    const HmcParameters p = read_hmc_parameters(file.root());
    return p.memory.kept + p.memory.working;
  };
  const auto inputs = tests::monomial_inputs();
  const auto of = [&](const char* name) { return bytes(list_element(name, inputs.at(name))); };
  CHECK(bytes(gauge("m")) == 6 * bytes_of_gauge_field());
  CHECK(of("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL") > bytes(gauge("m")));
  CHECK(of("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL") >
        of("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL") + 2 * 16 * 24 * sizeof(QDP::REAL));
  // Objects count while they are there.
  const auto measured = [](const std::string& list) {
    const InputFile file = tests::input("<in><InlineMeasurements>" + list + "</InlineMeasurements></in>");
    double most = 0;
    read_measurements(file.root(), &most);
    file.require_valid();
    return most;
  };
  const std::string make = source(tag("SourceType", "WALL_SOURCE") + tag("j_decay", "3") + tag("t_source", "0")),
                    erase = tag("elem", tag("Name", "ERASE_NAMED_OBJECT") + tag("NamedObject", tag("object_id", "s")));
  const double propagator = 288.0 * sizeof(QDP::REAL);
  CHECK(measured(make) == propagator);
  CHECK(measured(make + erase + make) == propagator);
}
