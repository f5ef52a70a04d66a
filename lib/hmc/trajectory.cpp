#include "lib/hmc/trajectory.hpp"

#include <cmath>
#include <string>

namespace qcd {

using namespace QDP;

namespace {

/// sum over directions of the norm of the difference, per link.
double distance_per_link(const GaugeField& a, const GaugeField& b) {
  double total = 0;
  for (int mu = 0; mu < Nd; ++mu) total += std::sqrt(toDouble(norm2(a[mu] - b[mu])));
  return total / (static_cast<double>(Nd) * static_cast<double>(Layout::vol()));
}

void flip(GaugeField& p) {
  for (int mu = 0; mu < Nd; ++mu) p[mu] = -p[mu];
}

/// Integrates back from `end` and logs the distance from the start.
void log_reversibility(PhaseSpace end, const GaugeField& start_u, const GaugeField& start_p,
                       const Energies& start_energies, const Hamiltonian& hamiltonian, const Integrator& integrator,
                       const TrajectoryOptions& options, const Log& detail) {
  flip(end.p);
  integrator.run(end, detail, options.monitor_forces);
  flip(end.p);
  const Energies e = hamiltonian.measure(end, detail);
  const Double kinetic = e.kinetic - start_energies.kinetic, potential = e.potential - start_energies.potential;
  const auto group = detail.group("ReversibilityMetrics");
  detail.write("DeltaDeltaH", Double(fabs(kinetic + potential)));
  detail.write("DeltaDeltaKE", Double(fabs(kinetic)));
  detail.write("DeltaDeltaPE", Double(fabs(potential)));
  detail.write("DeltaQPerSite", distance_per_link(end.u, start_u));
  detail.write("DeltaPPerSite", distance_per_link(end.p, start_p));
  const double violation = std::fabs(toDouble(kinetic + potential));
  if (!(violation <= options.reversibility_tolerance))
    throw NumericsError(
        "reversibility: expected the energy of the start again after integrating back, within " +
        std::to_string(options.reversibility_tolerance) + ", got a difference of " + std::to_string(violation) +
        ". Smaller residuals of the force solvers, smaller steps or MDPrecision double make it smaller; "
        "ReverseCheckTolerance in MCControl is the limit.");
}

}  // namespace

bool metropolis(double delta_h) {
  if (delta_h <= 0) return true;
  Double r;
  random(r);
  return toDouble(r) <= std::exp(-delta_h);
}

TrajectoryResult run_trajectory(GaugeField& u, Hamiltonian& hamiltonian, const Integrator& integrator,
                                const TrajectoryOptions& options, const Log& record, const Log& detail) {
  const auto group = record.group("HMCTrajectory");
  record.write("WarmUpP", options.warm_up);

  PhaseSpace state;
  state.u = u;
  refresh_momenta(state.p);
  hamiltonian.refresh(state.u);

  Energies before;
  {
    const auto old = record.group("H_old");
    before = hamiltonian.measure(state, detail);
    record.write("KE_old", before.kinetic);
    record.write("PE_old", before.potential);
  }

  GaugeField start_p;  // `u` keeps the links; the momenta are needed again only to check the way back
  if (options.check_reversibility) start_p = state.p;
  integrator.copy_fields();
  integrator.run(state, detail, options.monitor_forces, options.observer);

  Energies after;
  {
    const auto now = record.group("H_new");
    after = hamiltonian.measure(state, detail);
    record.write("KE_new", after.kinetic);
    record.write("PE_new", after.potential);
  }

  TrajectoryResult result;
  result.delta_kinetic = toDouble(after.kinetic - before.kinetic);
  result.delta_potential = toDouble(after.potential - before.potential);
  result.delta_h = result.delta_kinetic + result.delta_potential;
  record.write("deltaKE", Double(result.delta_kinetic));
  record.write("deltaPE", Double(result.delta_potential));
  record.write("deltaH", Double(result.delta_h));
  record.write("AccProb", Double(result.delta_h < 0 ? 1 : std::exp(-result.delta_h)));

  result.accepted = options.warm_up || metropolis(result.delta_h);
  record.write("AcceptP", result.accepted);

  if (options.check_reversibility)
    log_reversibility(state, u, start_p, before, hamiltonian, integrator, options, detail);
  if (result.accepted) u = state.u;
  return result;
}

}  // namespace qcd
