// Size of a force, for the log.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/log.hpp"

namespace qcd {

/// Writes the group `Forces`: with f(x,mu) = sqrt(2) |F_mu(x)| (that is, sqrt(sum_a F_a^2)), per direction and over all
/// directions, the mean of f^2 (F_sq) and of f (F_avg) over sites, and the largest f (F_max), also times the
/// direction's step factor (F_max_dt).
void write_force_monitor(const Log& log, const GaugeField& f, const QDP::multi1d<QDP::Real>& step_factor);

}  // namespace qcd
