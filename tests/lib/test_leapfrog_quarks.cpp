// Energies of single trajectories with quarks as Chroma finds them (its tests/hmc and tests/t_leapfrog, double precision):
// random numbers, operators, forces, solvers, smearing and rational functions all enter.

#include "tests/lib/hmc_run.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::tag;

namespace {

struct Case {
  std::string lattice;
  std::vector<std::string> monomials;  ///< each with its id
  std::string integrator;              ///< name, steps and what else it takes, but for the ids
  std::string tau = "1.0";
};

std::string monomial(const std::string& name, const std::string& id, const std::string& elements) {
  return tag("elem", tag("Name", name) + elements + tag("NamedObject", tag("monomial_id", id)));
}

/// The energy violations of one trajectory from the unit field.
void check(const Case& c, double kinetic, double potential) {
  std::string ids, monomials;
  for (const std::string& m : c.monomials) {
    monomials += m;
    const auto begin = m.find("<monomial_id>") + 13;
    ids += tag("elem", m.substr(begin, m.find('<', begin) - begin));
  }
  ids = tag("monomial_ids", ids);
  const InputFile file = tests::input(
      tag("LeapfrogTest", tag("nrow", c.lattice) + tag("GaugeStartup", tag("cfg_type", "UNIT")) +
                              tag("MonitorForces", "false") + tag("Monomials", monomials) + tag("Hamiltonian", ids) +
                              tag("MDIntegrator", tag("tau0", c.tau) + tag("Integrator", c.integrator + ids))));
  LeapfrogParameters parameters = read_leapfrog_parameters(file.root());
  file.require_valid();
  tests::use_lattice(parameters.dynamics.lattice);
  const tests::ScratchFolder folder("leapfrog_quarks");
  XMLFileWriter data(folder.file("data.xml")), log(folder.file("log.xml"));
  for (XMLFileWriter* xml : {&data, &log}) push(*xml, "t_leapfrog");
  run_leapfrog_test(parameters, data, log);
  for (XMLFileWriter* xml : {&data, &log}) {
    pop(*xml);
    xml->close();
  }
  XMLReader result(folder.file("log.xml"));
  double dk, dp;
  read(result, "/t_leapfrog/DeltaE/DeltaKE", dk);
  read(result, "/t_leapfrog/DeltaE/DeltaPE", dp);
  const double tolerance = tests::kDoubles ? 1e-9 : 1e-3;  // the solver's residual, tests::solver_residual()
  CHECK(dk == doctest::Approx(kinetic).epsilon(tolerance));
  CHECK(dp == doctest::Approx(potential).epsilon(tolerance));
}

std::string scheme(const std::string& name, int steps) {
  return tag("Name", name) + tag("n_steps", std::to_string(steps));
}

std::string aniso(const std::string& nu = "") {
  return tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", "3") + tag("xi_0", "2.464") + nu);
}

std::string cg(const std::string& residual) { return tests::inverter(tests::solver_residual(residual)); }

std::string bicgstab(const std::string& residual) {
  return tag("InvertParam", tag("invType", "BICGSTAB_INVERTER") + tag("RsdBiCGStab", tests::solver_residual(residual)) +
                                tag("MaxBiCGStab", "20000"));
}

std::string stout_clover(const std::string& mass) {
  return tag("FermionAction",
             tag("FermAct", "SEOPREC_CLOVER") + tag("Mass", mass) + tag("clovCoeff", "1.0") +
                 tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.125") + tag("n_smear", "1") +
                                      tag("orthog_dir", "-1") + tests::fermion_bc()));
}

const std::string kMinimalResidual =
    tag("ChronologicalPredictor", tag("Name", "MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR") + tag("MaxChrono", "5"));

std::string wilson_gauge(const std::string& beta, const std::string& more = "") {
  return monomial("GAUGE_MONOMIAL", "gauge",
                  tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", beta) + more));
}

}  // namespace

TEST_CASE("two flavours of anisotropic Wilson quarks (prec_wilson)") {
  const std::string action = tag("FermionAction", tag("FermAct", "WILSON") + tag("Kappa", "0.11") +
                                                      aniso(tag("nu", "0.95")) + tests::fermion_bc());
  check({"2 2 2 2",
         {monomial("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", "wilson", cg("1.0e-8") + action),
          wilson_gauge("5.2", aniso())},
         scheme("LCM_STS_LEAPFROG", 50)},
        -96.2967905573576, 96.3920793392496);
}

TEST_CASE("one flavour of anisotropic clover quarks, two pseudofermions, rational (prec_1flav_clover)") {
  const std::string action =
      tag("FermionAction", tag("FermAct", "CLOVER") + tag("Kappa", "0.115") + tag("clovCoeffR", "0.91") +
                               tag("clovCoeffT", "1.07") + aniso(tag("nu", "0.95")) + tests::fermion_bc());
  const auto approx = [](const char* power, const char* degree, const char* residual) {
    return tag("RationalApprox", tag("ratApproxType", "REMEZ") + tag("numPower", "-1") + tag("denPower", power) +
                                     tag("lowerMin", "8") + tag("upperMax", "40") + tag("degree", degree)) +
           cg(residual);
  };
  check({"4 4 4 4",
         {monomial("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", "fermion",
                   tag("num_pf", "2") + tag("Action", action + tag("ActionApprox", approx("8", "10", "1.0e-13")) +
                                                          tag("ForceApprox", approx("4", "7", "1.0e-12")))),
          wilson_gauge("5.7")},
         scheme("LCM_STS_LEAPFROG", 20)},
        -1453.69854921714, 1459.81786970633);
}

TEST_CASE("two flavours of clover quarks on stout links, symmetric preconditioning (seoprec_2flav)") {
  check({"4 4 4 8",
         {monomial("TWO_FLAVOR_SEOPREC_CONSTDET_FERM_MONOMIAL", "strange",
                   stout_clover("0.05") + bicgstab("1.0e-12") + kMinimalResidual)},
         scheme("LCM_STS_MIN_NORM_2", 8)},
        -268.945620739056, 268.867868443299);
}

TEST_CASE("Hasenbusch ratio of clover quarks on stout links (seoprec_hasenbusch_ratio)") {
  check({"4 4 4 8",
         {monomial("TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", "ratio",
                   tag("Action", stout_clover("0.00") + bicgstab("1.0e-13")) +
                       tag("PrecAction", stout_clover("0.05") + bicgstab("1.0e-13")) + kMinimalResidual)},
         scheme("LCM_STS_MIN_NORM_2", 8)},
        -7.93587727737373, 7.93836058216993);
}

TEST_CASE("hmc's first trajectory of Chroma's regression test prec_wilson: dH and the number of iterations") {
  const std::string action =
      tag("FermionAction", tag("FermAct", "WILSON") + tag("Kappa", "0.11") + tests::fermion_bc());
  const std::string ids = tag("monomial_ids", tag("elem", "quarks") + tag("elem", "gauge"));
  const tests::ScratchFolder folder("prec_wilson");
  const InputFile file = tests::input(tag(
      "Params",
      tag("MCControl", tag("Cfg", tag("cfg_type", "WEAK_FIELD")) +
                           tag("RNG", "<Seed><elem>11</elem><elem>0</elem><elem>0</elem><elem>0</elem></Seed>") +
                           tag("StartUpdateNum", "0") + tag("NWarmUpUpdates", "0") + tag("NProductionUpdates", "1") +
                           tag("NUpdatesThisRun", "1") + tag("SaveInterval", "1") +
                           tag("SavePrefix", folder.file("run")) + tag("SaveVolfmt", "SINGLEFILE") +
                           tag("ReproCheckP", "false") + tag("ReverseCheckP", "false")) +
          tag("HMCTrj",
              tag("nrow", "4 4 4 4") +
                  tag("Monomials",
                      monomial("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", "quarks",
                               cg("1.0e-7") + action +
                                   tag("ChronologicalPredictor", tag("Name", "LAST_SOLUTION_4D_PREDICTOR"))) +
                          wilson_gauge("5.7")) +
                  tag("Hamiltonian", ids) +
                  tag("MDIntegrator", tag("tau0", "0.5") + tag("Integrator", scheme("LCM_STS_LEAPFROG", 25) + ids)))));
  tests::run(file, folder.file("data.xml"), folder.file("log.xml"));
  XMLReader data(folder.file("data.xml")), log(folder.file("log.xml"));
  const std::string trajectory = "/hmc/doHMC/MCUpdates/elem[1]/Update/HMCTrajectory/";
  double dk, dp, dh;
  read(data, trajectory + "deltaKE", dk);
  read(data, trajectory + "deltaPE", dp);
  read(data, trajectory + "deltaH", dh);
  CHECK(dk == doctest::Approx(-2450.02859132141).epsilon(base_tol(1e-12)));
  CHECK(dp == doctest::Approx(2451.94153971894).epsilon(base_tol(1e-12)));
  CHECK(dh == doctest::Approx(1.91294839753164).epsilon(tests::kDoubles ? 1e-9 : 5e-3));
  if (!tests::kDoubles) return;  // the count is that of a residual of 1e-7
  int first, next;
  const std::string count =
      "/AbsHamiltonianForce/ForcesByMonomial/elem[1]/TwoFlavorExactWilsonTypeFermMonomial/n_count";
  read(log, trajectory + "leapP[1]" + count, first);
  read(log, trajectory + "leapP[2]" + count, next);
  CHECK(first == 18);
  CHECK(next == 13);
}
