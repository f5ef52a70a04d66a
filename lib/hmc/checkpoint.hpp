// Saved states of a run: <prefix>_cfg_<n>.lime and <prefix>_restart_<n>.xml, the latter a complete input.
//
// A file appears whole or not at all, and is on disk when it appears. Of a pair the configuration comes first and goes
// last, so any restart file that is found works.
#pragma once

#include "lib/hmc/run_parameters.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace qcd {

struct CheckpointFiles {
  unsigned long update_no = 0;
  std::string configuration;
  std::string restart;
};

/// Takes sentences that somebody should read.
using Warn = std::function<void(const std::string&)>;

CheckpointFiles checkpoint_files(const std::string& prefix, unsigned long update_no);

/// The checkpoints with this prefix that have both files, newest first.
std::vector<CheckpointFiles> find_checkpoints(const std::string& prefix);

/// What a run stands at between two updates.
struct RunState {
  GaugeField u;
  QDP::Seed seed;
  std::string method;  ///< elements that write_method_state gave
};
/// With the generator's present seed.
RunState present_state(const RunParameters& parameters, const GaugeField& u);

/// Saves `state` and an input that continues after `update_no` to the same bits. Then the rolling set
/// (MCControl/KeepCheckpoints) loses its oldest members. Throws FileError; files that were there before are untouched
/// then.
CheckpointFiles save_checkpoint(RunParameters& parameters, unsigned long update_no, const RunState& state);

/// Removes the checkpoints with the run's prefix that come after its start: those of the run that it replaces.
void remove_later_checkpoints(const RunParameters& parameters);

/// Bytes of a configuration of this lattice in the run's precision, and of what comes with it.
std::uint64_t checkpoint_bytes(const std::vector<int>& lattice);

/// Does what can fail before time is spent or documents are opened; run_simulation calls it if nobody has. Makes the
/// start field; if that of a restart is damaged, missing, or not the one that the restart file was written with, the
/// FileError names the newest checkpoint before it that is good. Looks whether checkpoints will fit: throws FileError if their folder cannot be written or has no room for
/// one, warns if it has no room for all that this run will leave. Removes what a killed run left half written.
/// The layout must exist.
void load_start(RunParameters& parameters, const Warn& warn);

/// Makes `parameters` continue from the newest checkpoint with their SavePrefix: start field (read and verified here),
/// seed, update number and step numbers are the checkpoint's, all else stays. Damaged checkpoints are passed over with a
/// warning. If there is none, nothing changes and update_no is 0. The layout must exist.
/// Restart files that were edited are said so; edited beyond free_elements() they are passed over like damaged ones, unless
/// parameters.accept_edited. Throws InputError if the checkpoint is of another lattice.
CheckpointFiles continue_from_newest(RunParameters& parameters, const Warn& warn);

}  // namespace qcd
