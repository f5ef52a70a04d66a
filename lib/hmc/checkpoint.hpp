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

/// Writes a pair of files; `restart` becomes the restart file and the record XML of the configuration. Throws FileError;
/// files that were there before are untouched then.
void write_checkpoint(const CheckpointFiles& files, const QDP::XMLBufferWriter& restart, bool parallel_io,
                      const GaugeField& u);

/// Saves `u` and an input that continues after `update_no` with the generator's present seed, to the same bits. Then
/// the rolling set (MCControl/KeepCheckpoints) loses its oldest members. Throws FileError as write_checkpoint.
CheckpointFiles save_checkpoint(RunParameters& parameters, unsigned long update_no, const GaugeField& u);

/// Bytes of a configuration of this lattice in the run's precision, and of what comes with it.
std::uint64_t checkpoint_bytes(const std::vector<int>& lattice);

/// Does what can fail before time is spent or documents are opened; run_simulation calls it if nobody has. Makes the
/// start field; if that of a restart is damaged or missing, the FileError names the newest checkpoint before it that
/// is not. Looks whether checkpoints will fit: throws FileError if their folder cannot be written or has no room for
/// one, warns if it has no room for all that this run will leave. Removes what a killed run left half written.
/// The layout must exist.
void load_start(RunParameters& parameters, const Warn& warn);

/// Makes `parameters` continue from the newest checkpoint with their SavePrefix: start field (read and verified here),
/// seed, update number and step numbers are the checkpoint's, all else stays. Damaged checkpoints are passed over with a
/// warning. If there is none, nothing changes and update_no is 0. The layout must exist.
/// Throws InputError if the checkpoint is of another lattice.
CheckpointFiles continue_from_newest(RunParameters& parameters, const Warn& warn);

}  // namespace qcd
