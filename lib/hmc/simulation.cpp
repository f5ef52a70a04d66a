#include "lib/hmc/simulation.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/meas/glue.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

namespace qcd {

using namespace QDP;

void write_program_info(XMLWriter& xml) {
  push(xml, "ProgramInfo");
  push(xml, "code_version");
  write(xml, "tessera", std::string(TESSERA_VERSION));
  write(xml, "basePrecision", static_cast<int>(8 * sizeof(REAL)));
  pop(xml);
  char date[64] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %Z", std::localtime(&now));
  write(xml, "run_date", std::string(date));
  push(xml, "Setgeom");
  write(xml, "latt_size", Layout::lattSize());
  write(xml, "subgrid_latt_size", Layout::subgridLattSize());
  write(xml, "total_volume", static_cast<int>(Layout::vol()));
  pop(xml);
  pop(xml);
}

namespace {

/// Seconds since construction.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Makes the start field; links outside the group (files in single precision) are projected.
GaugeField make_start(const GaugeInit& start, const std::string& cfg_type, const Log& record) {
  GaugeField u(Nd);
  start(u);
  const long projected = reunitarize(u);
  const auto group = record.group("Config_info");
  record.write("cfg_type", cfg_type);
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
    u_ = make_start(parameters_.start, parameters_.cfg_type, record_);
    RNG::setrn(make_seed(control_.seed));

    const unsigned long to_do = control_.updates_to_do();
    {
      const auto hmc = record_.group("doHMC");
      const auto updates = record_.group("MCUpdates");
      summary_.last_update = control_.start_update;
      for (unsigned long i = 0; i < to_do && !summary_.stopped; ++i) {
        const unsigned long n = control_.start_update + i + 1;
        update(n, i + 1, to_do);
        if (hooks_.stop_requested && hooks_.stop_requested()) summary_.stopped = i + 1 < to_do;
        if (n % control_.save_interval == 0 || summary_.stopped || i + 1 == to_do)
          summary_.last_checkpoint = save_checkpoint(parameters_, n, u_);
      }
    }
    summary_.seconds = clock_.seconds();
    return summary_;
  }

 private:
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
      const auto observables = data_only_.group("InlineObservables");
      {
        const auto elem = data_only_.group("elem");
        plaquette = write_plaquettes(n, u_, data_only_);
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
