// The loop that every Monte Carlo run is: update, measure, write, save, look whether to stop.
#pragma once

#include "lib/hmc/checkpoint.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/io/log.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace qcd {

/// How a run changes the gauge field.
class UpdateMethod {
 public:
  virtual ~UpdateMethod() = default;
  /// Called once between the making of the start field and the setting of the run's seed.
  virtual void prepare() {}
  /// Update number n of `u`. `record` goes into both documents, `detail` into the log. A method that always accepts
  /// says so in the result.
  virtual TrajectoryResult update(GaugeField& u, unsigned long n, bool warm_up, const Log& record,
                                  const Log& detail) = 0;
};

/// What one update did, for the line on the terminal.
struct UpdateReport {
  unsigned long update_no = 0;
  unsigned long done = 0;   ///< updates of this run so far
  unsigned long to_do = 0;  ///< and in all
  bool warm_up = false;
  double plaquette = 0;
  TrajectoryResult trajectory;
  double acceptance = 0;    ///< accepted share of this run's updates after warm-up (of all while warming up)
  double seconds = 0;       ///< this update, measurements and checks included
  double seconds_left = 0;  ///< estimate for the rest of the run
};

struct RunSummary {
  unsigned long updates = 0;
  unsigned long last_update = 0;
  bool stopped = false;  ///< by request, before all updates were done
  double acceptance = 0;
  double mean_plaquette = 0;     ///< over this run's updates after warm-up (all, if there is none)
  double mean_exp_minus_dh = 0;  ///< 1 in equilibrium
  double seconds = 0;
  CheckpointFiles last_checkpoint;
};

/// Callbacks of a run.
struct RunHooks {
  std::function<void(const UpdateReport&)> report;  ///< after each update
  std::function<bool()> stop_requested;             ///< asked after each update; true anywhere: save and return
  Warn warning;                                     ///< disks that fill up, saves that failed
  /// The save that nothing comes after has failed for the n-th time: true everywhere to try again. Null: do not.
  std::function<bool(const std::string& why, int n)> retry_last_save;
};

/// Makes the start field and runs the updates. The layout must exist. `data` and `log` have their root element open;
/// both are flushed after every update.
/// A save that fails is tried again after each of the next updates, until the next save is due. Throws FileError
/// if that fails as well (checkpoints saved before are untouched), or, after saving, if a document cannot be written,
/// and what the method throws, NumericsError if a plaquette is not finite: then the state before that update is saved.
RunSummary run_updates(RunParameters& parameters, UpdateMethod& method, QDP::XMLFileWriter& data,
                       QDP::XMLFileWriter& log, const RunHooks& hooks);

/// Seconds since construction.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace qcd
