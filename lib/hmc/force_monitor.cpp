#include "lib/hmc/force_monitor.hpp"

namespace qcd {

using namespace QDP;

ForceMonitor::ForceMonitor(const GaugeField& f) : size_(Nd) {
  for (int mu = 0; mu < Nd; ++mu) {
    size_[mu] = sqrt(Real(2) * localNorm2(f[mu]));
    squares_.push_back(pending_sum(localNorm2(size_[mu]), all));
    sums_.push_back(pending_sum(size_[mu], all));
  }
}

void ForceMonitor::write(const Log& log, const multi1d<Real>& step_factor) const {
  const Double sites = static_cast<double>(Layout::vol());
  multi1d<Real> squares(Nd), averages(Nd), largest(Nd), largest_step(Nd);
  Real square = zero, average = zero, maximum = zero, maximum_step = zero;
  for (int mu = 0; mu < Nd; ++mu) {
    const auto direction = static_cast<std::size_t>(mu);
    squares[mu] = squares_[direction].get() / sites;
    averages[mu] = sums_[direction].get() / sites;
    largest[mu] = globalMax(size_[mu]);
    largest_step[mu] = step_factor[mu] * largest[mu];

    square += squares[mu] / Real(Nd);
    average += averages[mu] / Real(Nd);
    if (toBool(maximum < largest[mu])) maximum = largest[mu];
    if (toBool(maximum_step < largest_step[mu])) maximum_step = largest_step[mu];
  }

  const auto group = log.group("Forces");
  log.write("F_sq_per_direction", squares);
  log.write("F_avg_per_direction", averages);
  log.write("F_max_per_direction", largest);
  log.write("F_max_dt_per_direction", largest_step);
  log.write("F_sq", square);
  log.write("F_avg", average);
  log.write("F_max", maximum);
  log.write("F_max_dt", maximum_step);
}

}  // namespace qcd
