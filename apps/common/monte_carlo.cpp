#include "apps/common/monte_carlo.hpp"

#include "apps/common/program.hpp"
#include "apps/common/progress.hpp"

#include <csignal>
#include <filesystem>

#include <unistd.h>

namespace common {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void request_stop(int signal) {
  stop_signal = signal;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // the second one ends the program at once
}

/// Somebody may free space: tries for five minutes, unless asked to stop (again).
bool wait_for_disk(Progress& progress, const std::string& why, int failures) {
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

}  // namespace

int run_monte_carlo(const qcd::InputFile& file, Arguments arguments, qcd::RunParameters& parameters,
                    const MonteCarlo& program) {
  Progress progress(QDP::QDPIO::cout);
  const std::vector<std::string> remarks = remarks_on(file, parameters.lattice(), parameters.memory);
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters.lattice(),
                            program.contents + ", " + std::to_string(parameters.updates_to_do()) + " update(s)");
    return report_remarks(remarks);
  }
  const qcd::Warn warn = [&](const std::string& text) { progress.warning(text); };
  print_header();
  warn_of_remarks(arguments.input, remarks);
  create_layout(parameters.lattice());
  if (arguments.continue_run)
    if (const qcd::CheckpointFiles from = continue_from_newest(parameters, warn); !from.restart.empty()) {
      arguments.data = numbered(arguments.data, from.update_no);
      arguments.log = numbered(arguments.log, from.update_no);
    }
  if (parameters.updates_to_do() == 0) {
    progress.nothing_to_do(parameters);
    return 0;
  }
  qcd::load_start(parameters, warn);
  Document data(arguments.data, parameters.kind->program, file.root()),
      log(arguments.log, parameters.kind->program, file.root());

  std::signal(SIGTERM, request_stop);
  std::signal(SIGUSR1, request_stop);
  std::signal(SIGINT, request_stop);
  progress.begin(parameters, program.method);
  qcd::RunHooks hooks;
  hooks.report = [&](const qcd::UpdateReport& report) { progress.update(report); };
  hooks.stop_requested = [] { return stop_signal != 0; };
  hooks.warning = warn;
  hooks.retry_last_save = [&](const std::string& why, int failures) { return wait_for_disk(progress, why, failures); };
  const qcd::RunSummary summary = program.run(data.xml, log.xml, hooks);
  data.close();
  log.close();
  progress.end(summary, arguments);
  return 0;
}

}  // namespace common
