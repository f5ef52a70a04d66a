// What the inputs of all Monte Carlo runs have in common: where they start, how many updates, what is saved and
// measured.
#pragma once

#include "lib/hmc/restart_file.hpp"
#include "lib/io/gauge_init.hpp"
#include "lib/io/memory.hpp"
#include "lib/meas/inline.hpp"

#include <array>
#include <memory>
#include <optional>
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
  double reverse_tolerance = 0.1;  ///< largest |DeltaDeltaH|: what accepting would go wrong by
  bool monitor_forces = true;

  unsigned long total_updates() const { return warm_up_updates + production_updates; }
  /// Updates that this run does: updates_this_run, cut at the total less `not_numbered`. Chroma also ends a run at once
  /// that starts at NProductionUpdates or later, though NWarmUpUpdates of it may be missing; here it goes on.
  unsigned long updates_to_do(unsigned long not_numbered = 0) const;
};

McControl read_mc_control(const Input& input);

/// Where the document of a run has its parts, and what its output calls them.
struct RunKind {
  std::string program;         ///< that reads the document
  std::string root;            ///< the document's root element
  std::string method;          ///< the group that says how an update is done
  std::string output;          ///< the group of all updates in the data document and the log
  bool all_in_control = true;  ///< Cfg and InlineMeasurements are in MCControl, else beside it
  bool warm_up_apart = false;  ///< warm-up updates come on top, with numbers and an output group of their own
  bool metropolis = true;      ///< updates are accepted or rejected
};

/// The input of a run, without what an update is.
struct RunParameters {
  explicit RunParameters(const RunKind& of) : kind(&of) {}
  virtual ~RunParameters() = default;
  RunParameters(RunParameters&&) = default;
  RunParameters& operator=(RunParameters&&) = default;

  const RunKind* kind;
  std::string cfg_type;
  GaugeInit start;
  std::shared_ptr<GaugeField> start_field;     ///< once it has been made: load_start, continue_from_newest
  StartReport start_report;                    ///< of that
  std::optional<CheckpointIdentity> identity;  ///< of the configuration that a restart file must come with
  bool accept_edited = false;  ///< restart files changed by hand, also to another configuration, are taken as they are
  McControl control;
  std::vector<ScheduledMeasurement> measurements;
  std::string measurements_xml;  ///< verbatim, for restart files; may be empty
  std::string method_xml;        ///< the group kind->method verbatim, likewise

  /// Updates that this run does, warm-up included.
  unsigned long updates_to_do() const { return separate_warm_up() + control.updates_to_do(separate_warm_up()); }
  /// Warm-up updates that come on top of the numbered ones.
  unsigned long separate_warm_up() const { return kind->warm_up_apart ? control.warm_up_updates : 0; }

  MemoryNeed memory;  ///< of the fields; what the measurements need is in `working`

  virtual const std::vector<int>& lattice() const = 0;
  /// What the method has learnt, as elements of MCControl in restart files.
  virtual void write_method_state(QDP::XMLWriter&) const {}
  virtual void read_method_state(const Input& /*mc_control*/) {}
};

/// Fills the members above, lattice() aside, from a document's root. The document knows the lattice (Input::read_lattice).
void read_run_parameters(RunParameters& p, const Input& root);

}  // namespace qcd
