// Size of a force, for the log.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/log.hpp"

#include <vector>

namespace qcd {

/// The size of the force that f is when this begins; f may change before the sums are asked for, so that they come from the kernels that
/// compute the force and use it.
class ForceMonitor {
 public:
  explicit ForceMonitor(const GaugeField& f);

  /// Writes the group `Forces`: with f(x,mu) = sqrt(2) |F_mu(x)| (that is, sqrt(sum_a F_a^2)), per direction and over all
  /// directions, the mean of f^2 (F_sq) and of f (F_avg) over sites, and the largest f (F_max), also times the
  /// direction's step factor (F_max_dt).
  void write(const Log& log, const QDP::multi1d<QDP::Real>& step_factor) const;

 private:
  QDP::multi1d<QDP::LatticeReal> size_;
  std::vector<QDP::PendingSum<QDP::Double>> squares_, sums_;
};

}  // namespace qcd
