// Runs of heatbath and over-relaxation from an input with root purgaug, as Chroma's program of that name reads it.
#pragma once

#include "lib/heatbath/heatbath.hpp"
#include "lib/hmc/update_loop.hpp"

#include <memory>
#include <string>
#include <vector>

namespace qcd {

/// What root purgaug says: Cfg, MCControl, [InlineMeasurements], HBItr {nrow, GaugeAction, HBParams}.
struct PurgaugParameters : RunParameters {
  PurgaugParameters();
  const std::vector<int>& lattice() const override { return nrow; }

  std::vector<int> nrow;
  std::unique_ptr<Heatbath> heatbath;
};

/// What is wrong is recorded in the document (InputFile::require_valid).
PurgaugParameters read_purgaug_parameters(const Input& root);

/// Updates with measurements and checkpoints (run_updates). NWarmUpUpdates come before the numbered ones, without
/// measurements but for the plaquette.
RunSummary run_heatbath(PurgaugParameters& parameters, QDP::XMLFileWriter& data, QDP::XMLFileWriter& log,
                        const RunHooks& hooks);

/// The elements of the document and the tables of names, for --help.
std::string purgaug_help();

}  // namespace qcd
