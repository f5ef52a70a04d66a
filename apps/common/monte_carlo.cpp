#include "apps/common/monte_carlo.hpp"

#include "apps/common/program.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/signals.hpp"

#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "lib/hmc/run_lock.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace common {

namespace {

/// Somebody may free space: tries for five minutes, unless asked to stop (again).
bool wait_for_disk(Progress& progress, const std::string& why, int failures) {
  constexpr int kSeconds = 10, kTimes = 30;
  if (failures > kTimes) return false;
  progress.warning(why + "\nTrying again in " + std::to_string(kSeconds) + " s");
  forget_stop_request();
  ::sleep(kSeconds);  // a signal cuts it short
  return !stop_requested();
}

/// out.xml -> out_20.xml for a run that continues from update 20.
std::string numbered(const std::string& name, unsigned long update_no) {
  const std::filesystem::path path(name);
  std::filesystem::path file = path.stem();
  file += "_" + std::to_string(update_no);
  file += path.extension();
  return (path.parent_path() / file).string();
}

/// Throws FileError if the run would write over checkpoints of another one.
void require_free_checkpoints(const qcd::RunParameters& parameters) {
  const qcd::McControl& control = parameters.control;
  const auto there = qcd::find_checkpoints(control.save_prefix);
  if (there.empty() || there.front().update_no <= control.start_update) return;
  throw qcd::FileError("SavePrefix " + control.save_prefix + ": expected no checkpoint after update " +
                       std::to_string(control.start_update) + ", where this run starts, got " + there.front().restart +
                       " of an earlier run. --continue goes on from the newest good one, --overwrite replaces them; or "
                       "choose another SavePrefix");
}

/// A new folder <SavePrefix>_precompile for what a run writes and nobody keeps. It goes with this object.
class ScrapFolder {
 public:
  explicit ScrapFolder(const std::string& save_prefix) : path_(save_prefix + "_precompile") {
    QDP::io::once([&] {
      std::error_code error;
      if (std::filesystem::create_directory(path_, error)) return;
      throw qcd::FileError(path_.string() + ": expected to make this folder for what is not kept, got " +
                           (error ? error.message() : "one that is there. Remove it if no other run is at work in it"));
    });
  }
  ~ScrapFolder() {
    std::error_code ignored;
    if (QDP::Layout::primaryNode()) std::filesystem::remove_all(path_, ignored);
  }
  ScrapFolder(const ScrapFolder&) = delete;
  ScrapFolder& operator=(const ScrapFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// One update from the start that the input names, as it will be: with its steps, measurements and a checkpoint.
int precompile(const qcd::InputFile& file, qcd::RunParameters& parameters, const MonteCarlo& program,
               const qcd::Warn& warn) {
  if (!jit::env().cache) throw qcd::InputError("--precompile: expected a kernel cache to fill, got TESSERA_CACHE=0");
  const ScrapFolder scrap(parameters.control.save_prefix);
  qcd::McControl& control = parameters.control;
  control.save_prefix = scrap.file("run");
  control.rolling_checkpoints.clear();
  if (parameters.kind->warm_up_apart) control.warm_up_updates = 0;
  control.production_updates = control.start_update + 1;
  control.updates_this_run = 1;
  std::erase_if(parameters.measurements, std::mem_fn(&qcd::ScheduledMeasurement::writes_files));
  for (qcd::ScheduledMeasurement& m : parameters.measurements) {
    m.frequency = 1;
    m.xml_file.clear();
  }
  qcd::load_start(parameters, warn);
  Document data(scrap.file("data.xml"), parameters.kind->program, file.root()),
      log(scrap.file("log.xml"), parameters.kind->program, file.root());
  qcd::RunHooks hooks;
  hooks.warning = warn;
  program.run(data.xml, log.xml, hooks);
  data.close();
  log.close();
  const std::vector<jit::KernelInfo> kernels = jit::Runtime::instance().kernels();
  const auto compiled = std::ranges::count_if(kernels, [](const jit::KernelInfo& k) { return !k.from_cache; });
  QDP::QDPIO::cout << kernels.size() << " kernels, " << compiled << " of them compiled now, are in the kernel cache "
                   << jit::env().cache_dir << "\n";
  return 0;
}

}  // namespace

int run_monte_carlo(const qcd::InputFile& file, Arguments arguments, qcd::RunParameters& parameters,
                    const MonteCarlo& program) {
  Progress progress(QDP::QDPIO::cout);
  const std::vector<std::string> remarks = remarks_on(file, parameters.lattice(), parameters.memory);
  const std::string text = QDP::read_whole_file(arguments.input),
                    note = qcd::require_unchanged_restart(text, arguments.input, arguments.accept_edited);
  if (!note.empty()) progress.warning(note);
  parameters.accept_edited = arguments.accept_edited;
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters.lattice(),
                            program.contents + ", " + std::to_string(parameters.updates_to_do()) + " update(s)");
    return report_remarks(remarks);
  }
  const qcd::Warn warn = [&](const std::string& text) { progress.warning(text); };
  print_header();
  warn_of_remarks(arguments.input, remarks);
  create_layout(parameters.lattice());
  const qcd::RunLock lock(parameters.control.save_prefix);
  if (!lock.warning().empty()) progress.warning(lock.warning());
  if (arguments.precompile_only) return precompile(file, parameters, program, warn);
  if (arguments.continue_run)
    if (const qcd::CheckpointFiles from = continue_from_newest(parameters, warn); !from.restart.empty()) {
      arguments.data = numbered(arguments.data, from.update_no);
      arguments.log = numbered(arguments.log, from.update_no);
    }
  if (parameters.updates_to_do() == 0) {
    progress.nothing_to_do(parameters);
    return 0;
  }
  const bool may_replace = arguments.overwrite || arguments.continue_run;
  require_free_documents(arguments, may_replace);
  if (!may_replace) require_free_checkpoints(parameters);
  qcd::load_start(parameters, warn);
  if (arguments.overwrite && !arguments.continue_run) qcd::remove_later_checkpoints(parameters);
  Document data(arguments.data, parameters.kind->program, file.root()),
      log(arguments.log, parameters.kind->program, file.root());

  catch_stop_signals(parameters.kind->program, "this update");
  progress.begin(parameters, program.method);
  qcd::RunHooks hooks;
  hooks.report = [&](const qcd::UpdateReport& report) { progress.update(report); };
  hooks.stop_requested = stop_requested;
  hooks.warning = warn;
  hooks.retry_last_save = [&](const std::string& why, int failures) { return wait_for_disk(progress, why, failures); };
  const qcd::RunSummary summary = program.run(data.xml, log.xml, hooks);
  data.close();
  log.close();
  progress.end(summary, arguments);
  return 0;
}

}  // namespace common
