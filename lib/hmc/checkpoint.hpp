// Saved states of a run: <prefix>_cfg_<n>.lime and <prefix>_restart_<n>.xml, the latter a complete input.
#pragma once

#include "lib/hmc/parameters.hpp"
#include "lib/io/seed.hpp"

#include <string>

namespace qcd {

struct CheckpointFiles {
  std::string configuration;
  std::string restart;
};

CheckpointFiles checkpoint_files(const McControl& control, unsigned long update_no);

/// Saves `u` and an input that continues after `update_no` with the generator's present seed, to the same bits.
/// Each file appears whole or not at all, the configuration first: a restart file found on disk always works.
/// Throws InputError or the file system's error; files saved before are untouched then.
CheckpointFiles save_checkpoint(const HmcParameters& parameters, unsigned long update_no, const GaugeField& u);

}  // namespace qcd
