#include "lib/hmc/simulation.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/io/seed.hpp"
#include "lib/meas/glue.hpp"

#include <chrono>
#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

/// Seconds since construction.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The start field; links outside the group (files in single precision) are projected.
GaugeField make_start(HmcParameters& parameters, const Log& record, const Warn& warn) {
  if (!parameters.start_field) load_start(parameters, warn);
  GaugeField u = std::move(*parameters.start_field);
  parameters.start_field = nullptr;
  const long projected = reunitarize(u);
  const auto group = record.group("Config_info");
  record.write("cfg_type", parameters.cfg_type);
  record.write("reunitarized_links", static_cast<int>(projected));
  record.write("w_plaq", average_plaquette(u));
  return u;
}

bool same_bits(const GaugeField& a, const GaugeField& b) {
  for (int mu = 0; mu < Nd; ++mu)
    if (toDouble(norm2(a[mu] - b[mu])) != 0) return false;
  return true;
}

class Simulation {
 public:
  Simulation(HmcParameters& parameters, XMLFileWriter& data, XMLFileWriter& log, const RunHooks& hooks)
      : parameters_(parameters),
        control_(parameters.control),
        hooks_(hooks),
        data_(data),
        log_(log),
        record_{&data, &log},
        detail_{&log},
        data_only_{&data},
        hamiltonian_(parameters.dynamics.monomials, parameters.dynamics.hamiltonian_ids) {}

  RunSummary run() {
    u_ = make_start(parameters_, record_, hooks_.warning);
    draw_constants(parameters_.dynamics.monomials);
    RNG::setrn(make_seed(control_.seed));

    const unsigned long to_do = control_.updates_to_do();
    {
      const auto hmc = record_.group("doHMC");
      const auto updates = record_.group("MCUpdates");
      summary_.last_update = control_.start_update;
      for (unsigned long i = 0; i < to_do && !summary_.stopped; ++i) {
        const unsigned long n = control_.start_update + i + 1;
        update(n, i + 1, to_do);
        const bool last = i + 1 == to_do, broken = data_.fail() || log_.fail();
        if (broken || (hooks_.stop_requested && hooks_.stop_requested())) summary_.stopped = !last;
        save_if_due(n, last || summary_.stopped);
        if (broken)
          throw FileError("update " + std::to_string(n) + ": the data or the log document could not be written (disk " +
                          "full?); the state is saved. Continue with: hmc -i " + summary_.last_checkpoint.restart);
      }
    }
    summary_.seconds = clock_.seconds();
    return summary_;
  }

 private:
  /// Saves every SaveInterval updates and after the last one.
  void save_if_due(unsigned long n, bool last) {
    const bool due = last || n % control_.save_interval == 0;
    if (!due && !save_failed_) return;
    for (int attempt = 1;; ++attempt) try {
        summary_.last_checkpoint = save_checkpoint(parameters_, n, u_);
        save_failed_ = false;
        if (!last) prepare_next_save();
        return;
      } catch (const FileError& error) {
        if (!last && !(due && save_failed_)) {
          save_failed_ = true;
          warn(std::string(error.what()) + "\nThe run goes on and tries again after the next update.");
          return;
        }
        if (last && hooks_.retry_last_save && hooks_.retry_last_save(error.what(), attempt)) continue;
        const std::string& restart = summary_.last_checkpoint.restart;
        throw FileError(std::string(error.what()) + "\nGiven up after update " + std::to_string(n) + ". " +
                        (restart.empty() ? "Nothing was saved in this run."
                                         : "The newest checkpoint continues to the same state: hmc -i " + restart));
      }
  }

  /// Tells of a disk that fills up while there is time to do something.
  void prepare_next_save() {
    try {
      const std::uint64_t need = checkpoint_bytes(parameters_.dynamics.lattice),
                          room = free_disk_space(control_.save_prefix);
      if (room < need)
        warn("the next checkpoint needs " + std::to_string(need) + " bytes and there are only " +
             std::to_string(room) + " free where " + control_.save_prefix + " points to: free space now");
    } catch (const std::exception& error) {
      warn(error.what());
    }
  }

  void warn(const std::string& text) const {
    if (hooks_.warning) hooks_.warning(text);
  }

  void update(unsigned long n, unsigned long done, unsigned long to_do) {
    const double begin = clock_.seconds();
    UpdateReport report;
    report.update_no = n;
    report.done = done;
    report.to_do = to_do;
    report.warm_up = n <= control_.warm_up_updates;
    {
      const auto elem = record_.group("elem");
      const auto group = record_.group("Update");
      record_.write("update_no", n);
      record_.write("WarmUpP", report.warm_up);
      report.trajectory = trajectory(n, report.warm_up);
      report.plaquette = measure(n);
    }
    data_.flush();
    log_.flush();

    report.seconds = clock_.seconds() - begin;
    count(report);
    report.acceptance = summary_.acceptance;
    report.seconds_left = clock_.seconds() / static_cast<double>(done) * static_cast<double>(to_do - done);
    if (hooks_.report) hooks_.report(report);
  }

  TrajectoryResult trajectory(unsigned long n, bool warm_up) {
    TrajectoryOptions options;
    options.warm_up = warm_up;
    options.check_reversibility = control_.check_reverse && n % control_.reverse_frequency == 0;
    options.monitor_forces = control_.monitor_forces;
    StepTuner* tuner = parameters_.dynamics.tuner.get();
    if (tuner && tuner->observes(n)) options.observer = tuner;
    const bool check_repro = control_.check_repro && n % control_.repro_frequency == 0;

    const Clock clock;
    Seed start_seed;
    GaugeField start;
    if (check_repro) {
      RNG::savern(start_seed);
      start = u_;
    }
    const TrajectoryResult result =
        run_trajectory(u_, hamiltonian_, *parameters_.dynamics.integrator, options, record_, detail_);
    record_.write("seconds_for_trajectory", clock.seconds());
    if (check_repro) {
      repeat(n, result, start, start_seed, warm_up);
      record_.write("ReproCheck", true);
    }
    if (options.observer) tuner->end_trajectory(result.delta_h, record_);
    return result;
  }

  /// Does the trajectory again; everything must come out the same, to the bit.
  void repeat(unsigned long n, const TrajectoryResult& first, GaugeField start, const Seed& start_seed, bool warm_up) {
    Seed end_seed, again_seed;
    RNG::savern(end_seed);
    RNG::setrn(start_seed);
    TrajectoryOptions options;
    options.warm_up = warm_up;
    const TrajectoryResult again = run_trajectory(start, hamiltonian_, *parameters_.dynamics.integrator, options);
    RNG::savern(again_seed);
    if (again.delta_h != first.delta_h || again.accepted != first.accepted || toBool(end_seed != again_seed) ||
        !same_bits(u_, start)) {
      record_.write("ReproCheck", false);
      data_.flush();
      log_.flush();
      throw NumericsError(
          "update " + std::to_string(n) + ": the same trajectory done twice gave dH = " +
          std::to_string(first.delta_h) + " and " + std::to_string(again.delta_h) +
          ", expected the same to the bit. This points to a hardware fault or a bug; please report it.");
    }
  }

  double measure(unsigned long n) {
    const Clock clock;
    double plaquette;
    {
      const auto observables = record_.group("InlineObservables");
      {
        const auto elem = record_.group("elem");
        plaquette = write_plaquettes(n, u_, record_);
      }
      run_measurements(parameters_.measurements, n, u_, data_only_);
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
    summary_.last_update = report.update_no;
    summary_.acceptance = accepted_ / n;
    summary_.mean_plaquette = plaquettes_ / n;
    summary_.mean_exp_minus_dh = exponentials_ / n;
  }

  HmcParameters& parameters_;
  const McControl& control_;
  const RunHooks& hooks_;
  XMLFileWriter& data_;
  XMLFileWriter& log_;
  Log record_, detail_, data_only_;
  Hamiltonian hamiltonian_;
  GaugeField u_;
  const Clock clock_;
  RunSummary summary_;
  bool save_failed_ = false;  ///< the state has not been saved although it was due
  bool counting_warm_up_ = true;
  unsigned long counted_ = 0;
  double accepted_ = 0, plaquettes_ = 0, exponentials_ = 0;
};

}  // namespace

RunSummary run_simulation(HmcParameters& parameters, XMLFileWriter& data, XMLFileWriter& log, const RunHooks& hooks) {
  return Simulation(parameters, data, log, hooks).run();
}

double run_leapfrog_test(LeapfrogParameters& parameters, XMLFileWriter& data, XMLFileWriter& log) {
  const Log record{&data, &log}, detail{&log};
  // No projection here: the start field is used as it is, so that energies can be compared with other programs.
  PhaseSpace state;
  parameters.start(state.u);
  draw_constants(parameters.dynamics.monomials);
  record.write("cfg_type", parameters.cfg_type);
  Hamiltonian hamiltonian(parameters.dynamics.monomials, parameters.dynamics.hamiltonian_ids);
  const Integrator& integrator = *parameters.dynamics.integrator;
  refresh_momenta(state.p);
  hamiltonian.refresh(state.u);
  const Energies before = hamiltonian.measure(state, detail);
  integrator.copy_fields();
  integrator.run(state, detail, parameters.monitor_forces);
  const Energies after = hamiltonian.measure(state, detail);

  const Double kinetic = after.kinetic - before.kinetic, potential = after.potential - before.potential;
  const auto group = detail.group("DeltaE");
  detail.write("DeltaKE", kinetic);
  detail.write("DeltaPE", potential);
  detail.write("DeltaH", Double(kinetic + potential));
  return toDouble(kinetic + potential);
}

}  // namespace qcd
