#include "lib/hmc/simulation.hpp"

namespace qcd {

using namespace QDP;

namespace {

bool same_bits(const GaugeField& a, const GaugeField& b) {
  for (int mu = 0; mu < Nd; ++mu)
    if (toDouble(norm2(a[mu] - b[mu])) != 0) return false;
  return true;
}

/// Trajectories, with the checks that MCControl asks for.
class Trajectories : public UpdateMethod {
 public:
  explicit Trajectories(HmcParameters& parameters)
      : parameters_(parameters), hamiltonian_(parameters.dynamics.monomials, parameters.dynamics.hamiltonian_ids) {}

  void prepare() override { draw_constants(parameters_.dynamics.monomials); }

  TrajectoryResult update(GaugeField& u, unsigned long n, bool warm_up, const Log& record, const Log& detail) override {
    const McControl& control = parameters_.control;
    TrajectoryOptions options;
    options.warm_up = warm_up;
    options.check_reversibility = control.check_reverse && n % control.reverse_frequency == 0;
    options.reversibility_tolerance = control.reverse_tolerance;
    options.monitor_forces = control.monitor_forces;
    StepTuner* tuner = parameters_.dynamics.tuner.get();
    if (tuner && tuner->observes(n)) options.observer = tuner;
    const bool check_repro = control.check_repro && n % control.repro_frequency == 0;

    const Clock clock;
    Seed start_seed;
    GaugeField start;
    MonomialStates start_states;
    if (check_repro) {
      RNG::savern(start_seed);
      start = u;
      start_states = states_of(parameters_.dynamics.monomials);
    }
    const TrajectoryResult result =
        run_trajectory(u, hamiltonian_, *parameters_.dynamics.integrator, options, record, detail);
    record.write("seconds_for_trajectory", clock.seconds());
    if (check_repro) {
      set_states(parameters_.dynamics.monomials, start_states);
      repeat(n, result, std::move(start), start_seed, u, warm_up, record);
    }
    if (options.observer) tuner->end_trajectory(result.delta_h, record);
    return result;
  }

 private:
  /// Does the trajectory from `start` to `end` again; everything must come out the same, to the bit.
  void repeat(unsigned long n, const TrajectoryResult& first, GaugeField start, const Seed& start_seed,
              const GaugeField& end, bool warm_up, const Log& record) {
    Seed end_seed, again_seed;
    RNG::savern(end_seed);
    RNG::setrn(start_seed);
    TrajectoryOptions options;
    options.warm_up = warm_up;
    const TrajectoryResult again = run_trajectory(start, hamiltonian_, *parameters_.dynamics.integrator, options);
    RNG::savern(again_seed);
    const bool same = again.delta_h == first.delta_h && again.accepted == first.accepted &&
                      !toBool(end_seed != again_seed) && same_bits(end, start);
    record.write("ReproCheck", same);
    if (!same)
      throw NumericsError(
          "update " + std::to_string(n) + ": the same trajectory done twice gave dH = " +
          std::to_string(first.delta_h) + " and " + std::to_string(again.delta_h) +
          ", expected the same to the bit. This points to a hardware fault or a bug; please report it.");
  }

  HmcParameters& parameters_;
  Hamiltonian hamiltonian_;
};

}  // namespace

RunSummary run_simulation(HmcParameters& parameters, XMLFileWriter& data, XMLFileWriter& log, const RunHooks& hooks) {
  Trajectories trajectories(parameters);
  return run_updates(parameters, trajectories, data, log, hooks);
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
