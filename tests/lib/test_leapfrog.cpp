// Energies of single trajectories of pure gauge theory as Chroma finds them (its tests/t_leapfrog, double precision).

#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

struct Energies {
  double kinetic, potential;
};

/// One trajectory from the weak field on 4^3 x 8 with a monomial for each action; `md` precedes the integrator.
Energies trajectory(const std::vector<std::string>& actions, int steps, const std::string& md = "<tau0>1</tau0>") {
  std::string monomials, ids;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::string id = "gauge" + std::to_string(i);
    monomials += "<elem><Name>GAUGE_MONOMIAL</Name><GaugeAction>" + actions[i] +
                 "</GaugeAction><NamedObject><monomial_id>" + id + "</monomial_id></NamedObject></elem>";
    ids += "<elem>" + id + "</elem>";
  }
  const InputFile file = tests::input(
      "<LeapfrogTest><nrow>4 4 4 8</nrow><GaugeStartup><cfg_type>WEAK_FIELD</cfg_type></GaugeStartup>"
      "<MonitorForces>false</MonitorForces><Monomials>" +
      monomials + "</Monomials><Hamiltonian><monomial_ids>" + ids + "</monomial_ids></Hamiltonian><MDIntegrator>" + md +
      "<Integrator><Name>LCM_STS_LEAPFROG</Name><n_steps>" + std::to_string(steps) + "</n_steps><monomial_ids>" + ids +
      "</monomial_ids></Integrator></MDIntegrator></LeapfrogTest>");
  LeapfrogParameters parameters = read_leapfrog_parameters(file.root());
  file.require_valid();
  tests::use_lattice({4, 4, 4, 8});
  const tests::ScratchFolder folder("leapfrog");
  XMLFileWriter data(folder.file("data.xml")), log(folder.file("log.xml"));
  push(data, "t_leapfrog");
  push(log, "t_leapfrog");
  run_leapfrog_test(parameters, data, log);
  pop(data);
  pop(log);
  data.close();
  log.close();
  XMLReader result(folder.file("log.xml"));
  Energies e{};
  read(result, "/t_leapfrog/DeltaE/DeltaKE", e.kinetic);
  read(result, "/t_leapfrog/DeltaE/DeltaPE", e.potential);
  return e;
}

std::string action(const std::string& name, const std::string& elements, const std::string& xi_0 = "") {
  const std::string aniso =
      xi_0.empty() ? "" : "<AnisoParam><anisoP>true</anisoP><t_dir>3</t_dir><xi_0>" + xi_0 + "</xi_0></AnisoParam>";
  return "<Name>" + name + "_GAUGEACT</Name>" + elements + aniso +
         "<GaugeBC><Name>SCHROEDINGER_NONPERT_GAUGEBC</Name><SchrPhiMult>2</SchrPhiMult><loop_extent>2</loop_extent>"
         "<decay_dir>3</decay_dir></GaugeBC>";
}

void check(const Energies& got, double kinetic, double potential) {
  CHECK(got.kinetic == doctest::Approx(kinetic).epsilon(base_tol(1e-12)));
  CHECK(got.potential == doctest::Approx(potential).epsilon(base_tol(1e-12)));
}

}  // namespace

TEST_CASE("planes of coarse and fine directions") {
  check(trajectory({"<Name>WILSON_COARSE_FINE_GAUGEACT</Name><coarse_dirs>1 1 0 0</coarse_dirs><coeff_ff>0.1</coeff_ff>"
                    "<coeff_cf>0.2</coeff_cf><coeff_cc>0.3</coeff_cc>"},
                   20),
        -570.084980346364, 570.987781722677);
}

TEST_CASE("the anisotropic action for spectra, with products of plaquettes, in the Schroedinger functional") {
  check(
      trajectory({action("ANISO_SPECTRUM", "<beta>1.7</beta><u_s>0.73698</u_s><u_t>1</u_t><omega>3</omega>", "5")}, 10),
      2558.07440809644, -2620.19609831353);
  check(trajectory({action("SPATIAL_TWO_PLAQ", "<coeff>-0.46296296296296296296</coeff>", "3.4")}, 40), 63.6375185123347,
        -63.6695930191791);
}

TEST_CASE("the spatial and temporal parts of the Symanzik action as two monomials") {
  check(trajectory({action("ANISO_SYM_SPATIAL", "<beta>1.7</beta><u_s>0.73698</u_s>", "5"),
                    action("ANISO_SYM_TEMPORAL", "<beta>1.7</beta><u_s>0.73698</u_s><u_t>0.99</u_t>", "5")},
                   20),
        1033.37573915807, -1039.97704288804);
}

TEST_CASE("rectangles and the tree-level Luescher-Weisz action in the Schroedinger functional") {
  check(trajectory({action("LW_TREE", "<beta>7.5</beta><u0>0.9</u0>")}, 25), -957.157549775226, 960.333586601679);
  const std::string coefficients =
      "<coeff_s>-0.46296296296296296296</coeff_s><coeff_t2>-0.46296296296296296296</coeff_t2><coeff_t1>-100</coeff_t1>"
      "<no_temporal_2link>true</no_temporal_2link>";
  check(trajectory({action("RECT", coefficients, "2.6")}, 50), 1019.33870747539, -1019.61969312957);
}

TEST_CASE("the Wilson action in the Schroedinger functional, whole, in halves, and with anisotropic momenta") {
  const std::string beta = "<beta>5.6</beta>", tau = "<tau0>0.1</tau0>";
  check(trajectory({action("WILSON", beta)}, 1, tau), -155.411955266275, 161.422238909016);
  check(trajectory({action("SPATIAL_WILSON", beta), action("TEMPORAL_WILSON", beta)}, 1, tau), -155.411955266275,
        161.422238909016);
  check(
      trajectory({action("WILSON", beta, "2.464")}, 4, tau + "<anisoP>true</anisoP><t_dir>3</t_dir><xi_mom>3</xi_mom>"),
      -90.9538415014729, 91.1805735430135);
}
