// What the input of the program hmc says: root Params (a run) or LeapfrogTest (one trajectory, energies only).
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/hmc/hamiltonian.hpp"
#include "lib/hmc/integrator.hpp"
#include "lib/hmc/step_tuner.hpp"
#include "lib/io/gauge_init.hpp"
#include "lib/meas/inline.hpp"

#include <array>
#include <string>
#include <vector>

namespace qcd {

/// MCControl: how many updates, what is saved when, what is checked how often.
struct McControl {
  std::array<int, 4> seed{11, 0, 0, 0};
  unsigned long start_update = 0;
  unsigned long warm_up_updates = 0;
  unsigned long production_updates = 0;
  unsigned long updates_this_run = 0;
  unsigned long save_interval = 1;
  std::string save_prefix;
  std::string save_volfmt;
  bool parallel_io = false;
  unsigned long keep_checkpoints = 0;              ///< size of the rolling set of checkpoints; 0: all stay
  unsigned long archive_interval = 0;              ///< updates whose checkpoints stay in any case; 0: none
  std::vector<unsigned long> rolling_checkpoints;  ///< of earlier runs of the chain; restart files list them
  bool check_repro = true;
  unsigned long repro_frequency = 10;
  bool check_reverse = true;
  unsigned long reverse_frequency = 10;
  bool monitor_forces = true;

  unsigned long total_updates() const { return warm_up_updates + production_updates; }
  /// Updates that this run does: updates_this_run, cut at the total; none once start_update reaches production_updates.
  unsigned long updates_to_do() const;
};

McControl read_mc_control(const Input& input);

/// Everything the molecular dynamics of a run consists of.
struct Dynamics {
  std::vector<int> lattice;
  MonomialMap monomials;
  std::vector<std::string> hamiltonian_ids;
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<StepTuner> tuner;  ///< none without MDIntegrator/AutoTune
};

struct HmcParameters {
  std::string cfg_type;
  GaugeInit start;
  std::shared_ptr<GaugeField> start_field;  ///< once it has been made: load_start, continue_from_newest
  McControl control;
  Dynamics dynamics;
  std::vector<ScheduledMeasurement> measurements;
  std::string measurements_xml;  ///< verbatim, for restart files; may be empty
  std::string trajectory_xml;    ///< HMCTrj verbatim, likewise
};

struct LeapfrogParameters {
  std::string cfg_type;
  GaugeInit start;
  bool monitor_forces = true;
  Dynamics dynamics;
};

/// Reads root Params. What is wrong is recorded in the document (InputFile::require_valid).
HmcParameters read_hmc_parameters(const Input& root);

/// Reads root LeapfrogTest {nrow, GaugeStartup, [MonitorForces], Monomials, Hamiltonian, MDIntegrator}.
LeapfrogParameters read_leapfrog_parameters(const Input& root);

/// The elements of both documents and the tables of names, for --help.
std::string input_help();

}  // namespace qcd
