// What the input of the program hmc says: root Params (a run) or LeapfrogTest (one trajectory, energies only).
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/hmc/run_parameters.hpp"
#include "lib/hmc/step_tuner.hpp"
#include "lib/io/gauge_init.hpp"

#include <string>
#include <vector>

namespace qcd {

/// Everything the molecular dynamics of a run consists of.
struct Dynamics {
  std::vector<int> lattice;
  MonomialMap monomials;
  std::vector<std::string> hamiltonian_ids;
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<StepTuner> tuner;  ///< none without MDIntegrator/AutoTune
};

/// What root Params says.
struct HmcParameters : RunParameters {
  Dynamics dynamics;

  HmcParameters();
  const std::vector<int>& lattice() const override { return dynamics.lattice; }
  void write_method_state(QDP::XMLWriter& xml) const override;
  void read_method_state(const Input& mc_control) override;
};

struct LeapfrogParameters {
  std::string cfg_type;
  GaugeInit start;
  bool monitor_forces = true;
  Dynamics dynamics;
  MemoryNeed memory;
};

/// Reads root Params. What is wrong is recorded in the document (InputFile::require_valid).
HmcParameters read_hmc_parameters(const Input& root);

/// Reads root LeapfrogTest {nrow, GaugeStartup, [MonitorForces], Monomials, Hamiltonian, MDIntegrator}.
LeapfrogParameters read_leapfrog_parameters(const Input& root);

/// The elements of both documents and the tables of names, for --help.
std::string input_help();

}  // namespace qcd
