// Saved states of a run: <prefix>_cfg_<n>.lime and <prefix>_restart_<n>.xml, the latter a complete input.
//
// A file appears whole or not at all, and is on disk when it appears. Of a pair the configuration comes first and goes
// last, so any restart file that is found works.
#pragma once

#include "lib/hmc/parameters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace qcd {

struct CheckpointFiles {
  unsigned long update_no = 0;
  std::string configuration;
  std::string restart;
};

CheckpointFiles checkpoint_files(const std::string& prefix, unsigned long update_no);

/// The checkpoints with this prefix that have both files, newest first.
std::vector<CheckpointFiles> find_checkpoints(const std::string& prefix);

/// Saves `u` and an input that continues after `update_no` with the generator's present seed, to the same bits. Then the
/// rolling set loses what MCControl/KeepCheckpoints says; configurations due by ArchiveInterval do not belong to it.
/// Throws FileError; checkpoints saved before are untouched then.
CheckpointFiles save_checkpoint(HmcParameters& parameters, unsigned long update_no, const GaugeField& u);

/// Reads the start field of a run and checks what can be known about its checkpoints now, before any time is spent: that
/// their folder can be written and has room for one (FileError), and for all that will stay (otherwise `warning`).
/// If the field of a restart is damaged or missing, the error names the newest checkpoint before it that is not.
void read_start_field(const HmcParameters& parameters, GaugeField& u);
void check_room(const HmcParameters& parameters, const std::function<void(const std::string&)>& warning);

/// Bytes of one checkpoint of the run.
std::uint64_t checkpoint_bytes(const HmcParameters& parameters);

/// Makes `parameters` continue from the newest checkpoint with their SavePrefix that can be read, and returns its files:
/// start field, seed, update number and state of the step tuning are the checkpoint's, all else stays. Damaged ones are
/// passed over with a `warning`. None: nothing changes, update_no is 0. Creates the layout.
CheckpointFiles continue_from_newest(HmcParameters& parameters, const std::function<void(const std::string&)>& warning);

}  // namespace qcd
