// A Monte Carlo run with all that is around it: checks of the input, continuing, documents, signals, full disks.
#pragma once

#include "apps/common/arguments.hpp"

#include "lib/hmc/update_loop.hpp"
#include "lib/io/input.hpp"

#include <functional>
#include <string>

namespace common {

/// What is particular to a program.
struct MonteCarlo {
  std::string contents;  ///< of the input, for --check: "2 monomial(s)"
  std::string method;    ///< what an update is, for the header
  std::function<qcd::RunSummary(QDP::XMLFileWriter& data, QDP::XMLFileWriter& log, const qcd::RunHooks&)> run;
};

/// Does the run that `parameters`, read from `file` and valid, describe, or with --check only says so, or with --precompile compiles
/// what it needs. The signals of catch_stop_signals stop it after the present update. Returns the exit status.
int run_monte_carlo(const qcd::InputFile& file, Arguments arguments, qcd::RunParameters& parameters,
                    const MonteCarlo& program);

}  // namespace common
