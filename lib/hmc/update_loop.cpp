#include "lib/hmc/update_loop.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/io/seed.hpp"
#include "lib/meas/glue.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

/// The start field; links outside the group (files in single precision) are projected. A run that goes on has none.
GaugeField make_start(RunParameters& parameters, const Log& record, const Warn& warn) {
  if (!parameters.start_field) load_start(parameters, warn);
  GaugeField u = std::move(*parameters.start_field);
  parameters.start_field = nullptr;
  const long projected = reunitarize(u);
  const StartReport& report = parameters.start_report;
  if (projected > 0 && parameters.control.start_update > 0 && !parameters.accept_edited)
    throw FileError(
        (report.file.empty() ? "the start field" : report.file) + ": expected links in SU(" + std::to_string(Nc) +
        "), as a run that continues leaves them, got " + std::to_string(projected) +
        " outside. The configuration is not the one that was saved; <reunit>true</reunit> in Cfg projects it.");
  const auto group = record.group("Config_info");
  record.write("cfg_type", parameters.cfg_type);
  if (!report.verdict.empty()) record.write("checksum", report.verdict);
  record.write("reunitarized_links", static_cast<int>(projected));
  record.write("w_plaq", average_plaquette(u));
  return u;
}

class UpdateLoop {
 public:
  UpdateLoop(RunParameters& parameters, UpdateMethod& method, XMLFileWriter& data, XMLFileWriter& log,
             const RunHooks& hooks)
      : parameters_(parameters),
        method_(method),
        control_(parameters.control),
        hooks_(hooks),
        data_(data),
        log_(log),
        record_{&data, &log},
        detail_{&log},
        data_only_{&data} {}

  RunSummary run() {
    u_ = make_start(parameters_, record_, hooks_.warning);
    method_.prepare();
    RNG::setrn(make_seed(control_.seed));
    summary_.last_update = control_.start_update;
    to_do_ = parameters_.updates_to_do();
    try {
      const auto group = record_.group(parameters_.kind->output);
      if (parameters_.separate_warm_up() > 0) warm_up();
      if (!summary_.stopped) updates();
    } catch (...) {
      data_.flush();
      log_.flush();
      throw;
    }
    summary_.seconds = clock_.seconds();
    return summary_;
  }

 private:
  /// Updates that do not count as such: a checkpoint tells how many of them are left.
  void warm_up() {
    const auto group = record_.group("WarmUpdates");
    const unsigned long to_do = control_.warm_up_updates;
    for (unsigned long n = 1; n <= to_do && !summary_.stopped; ++n) {
      update_or_save(n, true, control_.start_update);
      --control_.warm_up_updates;
      const bool broken = documents_broken();
      summary_.stopped = broken || stop_requested();
      if (summary_.stopped) finish(control_.start_update, broken);
    }
  }

  void updates() {
    const auto group = record_.group("MCUpdates");
    const unsigned long to_do = control_.updates_to_do();
    for (unsigned long i = 0; i < to_do && !summary_.stopped; ++i) {
      const unsigned long n = control_.start_update + i + 1;
      update_or_save(n, n <= control_.warm_up_updates, n - 1);
      summary_.last_update = n;
      const bool last = i + 1 == to_do, broken = documents_broken();
      if (broken || stop_requested()) summary_.stopped = !last;
      if (last || summary_.stopped)
        finish(n, broken);
      else
        save_if_due(n, false);
    }
  }

  bool stop_requested() const { return hooks_.stop_requested && io::anywhere(hooks_.stop_requested()); }
  bool try_again(const std::string& why, int attempt) const {
    return hooks_.retry_last_save && !io::anywhere(!hooks_.retry_last_save(why, attempt));
  }
  bool documents_broken() const { return data_.fail() || log_.fail(); }

  /// Saves the state that nothing comes after.
  void finish(unsigned long n, bool documents_are_broken) {
    save_if_due(n, true);
    if (documents_are_broken)
      throw FileError("update " + std::to_string(n) + ": the data or the log document could not be written (disk " +
                      "full?); the state is saved. Continue with: " + command(summary_.last_checkpoint.restart));
  }

  std::string command(const std::string& restart) const { return parameters_.kind->program + " -i " + restart; }

  /// Saves every SaveInterval updates and after the last one.
  void save_if_due(unsigned long n, bool last) {
    const bool due = last || n % control_.save_interval == 0;
    if (!due && !save_failed_) return;
    for (int attempt = 1;; ++attempt) try {
        summary_.last_checkpoint = save_checkpoint(parameters_, n, present_state(parameters_, u_));
        save_failed_ = unsaved_ = false;
        if (!last) prepare_next_save();
        return;
      } catch (const FileError& error) {
        if (!last && !(due && save_failed_)) {
          save_failed_ = true;
          warn(std::string(error.what()) + "\nThe run goes on and tries again after the next update.");
          return;
        }
        if (last && try_again(error.what(), attempt)) continue;
        const std::string& restart = summary_.last_checkpoint.restart;
        throw FileError(std::string(error.what()) + "\nGiven up after update " + std::to_string(n) + ". " +
                        (restart.empty() ? "Nothing was saved in this run."
                                         : "The newest checkpoint continues to the same state: " + command(restart)));
      }
  }

  /// Tells of a disk that fills up while there is time to do something.
  void prepare_next_save() {
    try {
      const std::uint64_t need = checkpoint_bytes(parameters_.lattice()), room = free_disk_space(control_.save_prefix);
      if (room < need)
        warn("the next checkpoint needs " + std::to_string(need) + " bytes and there are only " + std::to_string(room) +
             " free where " + control_.save_prefix + " points to: free space now");
    } catch (const std::exception& error) {
      warn(error.what());
    }
  }

  void warn(const std::string& text) const {
    if (hooks_.warning) hooks_.warning(text);
  }

  /// An update; if it throws, the state before it is saved as `before`, unless there is a checkpoint of it already.
  void update_or_save(unsigned long n, bool warm_up, unsigned long before) {
    const RunState state = present_state(parameters_, u_);
    try {
      update(n, warm_up);
    } catch (const std::exception&) {
      save_state_before(state, n, before);
      throw;
    }
  }

  void save_state_before(const RunState& state, unsigned long n, unsigned long before) {
    const std::string failed = "update " + std::to_string(n) + " failed; ";
    if (summary_.updates == 0 || (!summary_.last_checkpoint.restart.empty() && !unsaved_)) {
      const std::string& restart = summary_.last_checkpoint.restart;
      warn(failed + "the state before it is " + (restart.empty() ? "the start of this run" : restart));
      return;
    }
    try {
      warn(failed + "the state before it is saved: " + command(save_checkpoint(parameters_, before, state).restart));
    } catch (const std::exception& error) {
      warn(failed + "and the state before it could not be saved: " + error.what());
    }
  }

  void update(unsigned long n, bool warm_up) {
    const double begin = clock_.seconds();
    UpdateReport report;
    report.update_no = n;
    report.done = summary_.updates + 1;
    report.to_do = to_do_;
    report.warm_up = warm_up;
    {
      const auto elem = record_.group("elem");
      const auto group = record_.group("Update");
      record_.write("update_no", n);
      record_.write("WarmUpP", report.warm_up);
      report.trajectory = method_.update(u_, n, warm_up, record_, detail_);
      report.plaquette = measure(n, warm_up);
    }
    data_.flush();
    log_.flush();
    if (!std::isfinite(report.plaquette))
      throw NumericsError("update " + std::to_string(n) + ": expected a finite plaquette, got " +
                          std::to_string(report.plaquette) +
                          ". The couplings are out of range, or a field holds values that are not finite; "
                          "TESSERA_CHECK=1 names the first kernel that made one.");
    unsaved_ = true;

    report.seconds = clock_.seconds() - begin;
    count(report);
    report.acceptance = summary_.acceptance;
    report.seconds_left =
        clock_.seconds() / static_cast<double>(report.done) * static_cast<double>(report.to_do - report.done);
    if (hooks_.report) hooks_.report(report);
  }

  double measure(unsigned long n, bool warm_up) {
    const Clock clock;
    double plaquette;
    {
      const auto observables = record_.group("InlineObservables");
      {
        const auto elem = record_.group("elem");
        plaquette = write_plaquettes(n, u_, record_);
      }
      if (!warm_up || !parameters_.kind->warm_up_apart) run_measurements(parameters_.measurements, n, u_, data_only_);
    }
    record_.write("seconds_for_measurements", clock.seconds());
    return plaquette;
  }

  void count(const UpdateReport& report) {
    if (!report.warm_up && counting_warm_up_) {  // averages start over with the first update after the warm-up
      counting_warm_up_ = false;
      counted_ = 0;
      plaquettes_ = exponentials_ = accepted_ = 0;
    }
    ++counted_;
    accepted_ += report.trajectory.accepted;
    plaquettes_ += report.plaquette;
    exponentials_ += std::exp(-report.trajectory.delta_h);
    const double n = static_cast<double>(counted_);
    ++summary_.updates;
    summary_.acceptance = accepted_ / n;
    summary_.mean_plaquette = plaquettes_ / n;
    summary_.mean_exp_minus_dh = exponentials_ / n;
  }

  RunParameters& parameters_;
  UpdateMethod& method_;
  McControl& control_;
  const RunHooks& hooks_;
  XMLFileWriter& data_;
  XMLFileWriter& log_;
  Log record_, detail_, data_only_;
  GaugeField u_;
  const Clock clock_;
  RunSummary summary_;
  unsigned long to_do_ = 0;   ///< updates of this run
  bool unsaved_ = false;      ///< there are updates after the last checkpoint
  bool save_failed_ = false;  ///< the state has not been saved although it was due
  bool counting_warm_up_ = true;
  unsigned long counted_ = 0;
  double accepted_ = 0, plaquettes_ = 0, exponentials_ = 0;
};

}  // namespace

RunSummary run_updates(RunParameters& parameters, UpdateMethod& method, XMLFileWriter& data, XMLFileWriter& log,
                       const RunHooks& hooks) {
  return UpdateLoop(parameters, method, data, log, hooks).run();
}

}  // namespace qcd
