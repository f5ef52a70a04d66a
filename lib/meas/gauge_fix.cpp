#include "lib/meas/gauge_fix.hpp"

#include "lib/gauge/checkerboard.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/smear/project.hpp"

#include <cmath>
#include <vector>

namespace qcd {

using namespace QDP;

namespace {

std::vector<int> fixed_directions(int j_decay) {
  std::vector<int> directions;
  for (int mu = 0; mu < Nd; ++mu)
    if (mu != j_decay) directions.push_back(mu);
  return directions;
}

double functional(const GaugeField& u, const std::vector<int>& directions) {
  Double total = zero;
  for (int mu : directions) total += sum(real(trace(u[mu])));
  return toDouble(total) / (static_cast<double>(Layout::vol()) * Nc * static_cast<double>(directions.size()));
}

// Each sweep leaves the group by a rounding; in single precision 2000 of them move the plaquette by 1e-4.
constexpr int kSweepsBetweenProjections = 100;

void back_to_group(GaugeField& u, LatticeColorMatrix& g) {
  g = su3_unitarize(g);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = su3_unitarize(u[mu]);
}

}  // namespace

double gauge_divergence(const GaugeField& u, int j_decay) {
  require_gauge_field(u, "gauge_divergence");
  LatticeColorMatrix divergence = zero;
  for (int mu : fixed_directions(j_decay)) divergence += u[mu] - shift(u[mu], BACKWARD, mu);
  return toDouble(norm2(taproj(divergence))) / (static_cast<double>(Layout::vol()) * Nc);
}

GaugeFixingResult fix_gauge(GaugeField& u, LatticeColorMatrix& g, const GaugeFixing& how) {
  require_gauge_field(u, "fix_gauge");
  if (!(how.over_relaxation >= 1 && how.over_relaxation < 2))
    throw ShapeError("fix_gauge: expected an over-relaxation factor from 1 up to (not including) 2, got " +
                     std::to_string(how.over_relaxation));
  require_checkerboard("fix_gauge");  // the sites are visited by parity
  const std::vector<int> directions = fixed_directions(how.j_decay);
  const bool over = how.over_relaxation != 1;
  const Real omega = how.over_relaxation;

  GaugeFixingResult result;
  result.functional = functional(u, directions);
  g = Real(1);
  LatticeColorMatrix v, h;
  while (!result.converged && result.sweeps < how.max_sweeps) {
    for (int parity = 0; parity < 2; ++parity) {
      const Subset &here = rb[parity], &there = rb[1 - parity];
      // F depends on h(x) through Re tr h(x) v(x).
      for (std::size_t i = 0; i < directions.size(); ++i) {
        const int mu = directions[i];
        if (i == 0)
          v[here] = u[mu] + adj(shift(u[mu], BACKWARD, mu));
        else
          v[here] = v + u[mu] + adj(shift(u[mu], BACKWARD, mu));
      }
      if (over)
        h[here] = su2_over_ascent(v, omega);
      else
        h[here] = su2_ascent(v);
      g[here] = h * g;
      for (int mu = 0; mu < Nd; ++mu) {
        u[mu][here] = h * u[mu];
        u[mu][there] = u[mu] * adj(shift(h, FORWARD, mu));
      }
    }
    if (++result.sweeps % kSweepsBetweenProjections == 0) back_to_group(u, g);
    const double now = functional(u, directions);
    result.converged = std::fabs(now - result.functional) <= how.accuracy * std::fabs(now);
    result.functional = now;
  }
  back_to_group(u, g);
  result.theta = gauge_divergence(u, how.j_decay);
  return result;
}

}  // namespace qcd
