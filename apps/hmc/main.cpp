// hmc: hybrid Monte Carlo from an XML input, with checkpoints.
//
//   hmc -i in.xml [-o out.xml] [-l log.xml]      run            hmc --check in.xml      only read the input
//   hmc -i in.xml --continue                     run on from the newest checkpoint, if there is one
//
// Exit status: 0 done (or stopped by SIGTERM, SIGUSR1 or SIGINT after saving), 1 anything else.

#include "apps/common/program.hpp"
#include "apps/hmc/arguments.hpp"
#include "apps/hmc/progress.hpp"

#include "lib/hmc/simulation.hpp"
#include "lib/io/input.hpp"

#include <csignal>
#include <filesystem>

#include <unistd.h>

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void request_stop(int signal) {
  stop_signal = signal;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // the second one ends the program at once
}

/// Somebody may free space: tries for five minutes, unless asked to stop (again).
bool wait_for_disk(hmc::Progress& progress, const std::string& why, int failures) {
  constexpr int kSeconds = 10, kTimes = 30;
  if (failures > kTimes) return false;
  progress.warning(why + "\nTrying again in " + std::to_string(kSeconds) + " s");
  stop_signal = 0;
  ::sleep(kSeconds);  // a signal cuts it short
  return stop_signal == 0;
}

/// out.xml -> out_20.xml for a run that continues from update 20.
std::string numbered(const std::string& name, unsigned long update_no) {
  const std::filesystem::path path(name);
  std::filesystem::path file = path.stem();
  file += "_" + std::to_string(update_no);
  file += path.extension();
  return (path.parent_path() / file).string();
}

int run_hmc(const qcd::InputFile& file, hmc::Arguments arguments) {
  qcd::HmcParameters parameters = qcd::read_hmc_parameters(file.root());
  file.require_valid();
  hmc::Progress progress(QDP::QDPIO::cout);
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters);
    progress.unused_elements(file.unused_elements());
    return 0;
  }
  const qcd::Warn warn = [&](const std::string& text) { progress.warning(text); };
  common::create_layout(parameters.dynamics.lattice);
  if (arguments.continue_run)
    if (const unsigned long n = qcd::continue_from_newest(parameters, warn).update_no; n > 0) {
      arguments.data = numbered(arguments.data, n);
      arguments.log = numbered(arguments.log, n);
    }
  if (parameters.control.updates_to_do() == 0) {
    progress.nothing_to_do(parameters);
    return 0;
  }
  qcd::load_start(parameters, warn);
  common::Document data(arguments.data, "hmc", file.root()), log(arguments.log, "hmc", file.root());

  std::signal(SIGTERM, request_stop);
  std::signal(SIGUSR1, request_stop);
  std::signal(SIGINT, request_stop);
  progress.begin(parameters);
  qcd::RunHooks hooks;
  hooks.report = [&](const qcd::UpdateReport& report) { progress.update(report); };
  hooks.stop_requested = [] { return stop_signal != 0; };
  hooks.warning = warn;
  hooks.retry_last_save = [&](const std::string& why, int failures) { return wait_for_disk(progress, why, failures); };
  const qcd::RunSummary summary = qcd::run_simulation(parameters, data.xml, log.xml, hooks);
  data.close();
  log.close();
  progress.end(summary, arguments);
  return 0;
}

int run_leapfrog(const qcd::InputFile& file, const hmc::Arguments& arguments) {
  qcd::LeapfrogParameters parameters = qcd::read_leapfrog_parameters(file.root());
  file.require_valid();
  hmc::Progress progress(QDP::QDPIO::cout);
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters);
    progress.unused_elements(file.unused_elements());
    return 0;
  }
  common::create_layout(parameters.dynamics.lattice);
  common::Document data(arguments.data, "t_leapfrog", file.root()), log(arguments.log, "t_leapfrog", file.root());
  const double delta_h = qcd::run_leapfrog_test(parameters, data.xml, log.xml);
  data.close();
  log.close();
  progress.leapfrog(delta_h, arguments);
  return 0;
}

int run(const hmc::Arguments& arguments) {
  const qcd::InputFile file(arguments.input);
  if (file.root_name() == "Params") return run_hmc(file, arguments);
  if (file.root_name() == "LeapfrogTest") return run_leapfrog(file, arguments);
  throw qcd::InputError(arguments.input + ": expected the root element Params or LeapfrogTest, got " +
                        file.root_name());
}

}  // namespace

int main(int argc, char** argv) {
  const hmc::Arguments arguments = hmc::read_arguments(argc, argv);
  if (arguments.exit_now) return arguments.exit_status;
  return common::run_program("hmc", argc, argv, [&] { return run(arguments); });
}
