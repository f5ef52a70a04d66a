#include "lib/meas/flow.hpp"

#include "lib/gauge/su3.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

void flow_step(GaugeField& v, const GaugeAction& action, double eps) {
  require_gauge_field(v, "flow_step");
  GaugeField z(Nd), k(Nd);
  const Real to_flow = 2 * Nc * eps;

  // k collects the exponents: Z0/4, then 8/9 Z1 - 17/9 (Z0/4), then 3/4 Z2 minus the one before.
  const auto substep = [&](double weight, double memory) {
    action.force(z, v);
    for (int mu = 0; mu < Nd; ++mu) {
      if (memory == 0)
        k[mu] = Real(weight) * to_flow * z[mu];
      else
        k[mu] = Real(weight) * to_flow * z[mu] + Real(memory) * k[mu];
      v[mu] = su3_exp(k[mu]) * v[mu];
    }
  };
  substep(1.0 / 4, 0);
  substep(8.0 / 9, -17.0 / 9);
  substep(3.0 / 4, -1);
}

LoopAction wilson_flow_action(const std::vector<bool>& flowing) {
  if (static_cast<int>(flowing.size()) != Nd)
    throw ShapeError("wilson_flow_action: expected one flag per direction (" + std::to_string(Nd) + "), got " +
                     std::to_string(flowing.size()));
  std::vector<WeightedPath> loops = all_plaquettes();
  std::erase_if(loops, [&](const WeightedPath& loop) {
    return !flowing[static_cast<std::size_t>(loop.path[0].mu)] || !flowing[static_cast<std::size_t>(loop.path[1].mu)];
  });
  return LoopAction(std::move(loops));
}

LoopAction symanzik_flow_action() {
  std::vector<WeightedPath> loops = all_plaquettes(5.0 / 3);
  const std::vector<WeightedPath> rectangles = all_rectangles(-1.0 / 12);
  loops.insert(loops.end(), rectangles.begin(), rectangles.end());
  return LoopAction(std::move(loops));
}

namespace {

/// The first x where y crosses `level` upwards, by linear interpolation.
std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& y, double level) {
  for (std::size_t i = 1; i < x.size(); ++i)
    if (y[i - 1] < level && y[i] >= level) return x[i - 1] + (x[i] - x[i - 1]) * (level - y[i - 1]) / (y[i] - y[i - 1]);
  return std::nullopt;
}

}  // namespace

std::vector<double> FlowResult::t2_energy(Double EnergyDensity::* energy) const {
  std::vector<double> values;
  for (const FlowPoint& p : points) values.push_back(p.t * p.t * toDouble(p.energy.*energy));
  return values;
}

std::optional<double> FlowResult::t0(Double EnergyDensity::* energy, double level) const {
  std::vector<double> t;
  for (const FlowPoint& p : points) t.push_back(p.t);
  return crossing(t, t2_energy(energy), level);
}

std::optional<double> FlowResult::w0(Double EnergyDensity::* energy, double level) const {
  const std::vector<double> y = t2_energy(energy);
  std::vector<double> t, slope;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    t.push_back(points[i].t);
    slope.push_back(points[i].t * (y[i + 1] - y[i - 1]) / (points[i + 1].t - points[i - 1].t));
  }
  const std::optional<double> w0_squared = crossing(t, slope, level);
  return w0_squared ? std::optional(std::sqrt(*w0_squared)) : std::nullopt;
}

FlowResult gradient_flow(GaugeField& v, const GaugeAction& action, int steps, double eps, int t_dir, bool with_charge) {
  require_gauge_field(v, "gradient_flow");
  if (!(eps > 0) || steps < 0)
    throw ShapeError("gradient_flow: expected a positive step and a number of steps from 0 on, got " +
                     std::to_string(eps) + " and " + std::to_string(steps));
  FlowResult result;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) flow_step(v, action, eps);
    result.points.push_back(
        {i * eps, energy_density(v, t_dir), with_charge && Nd == 4 ? topological_charge(v) : Double(0)});
  }
  return result;
}

}  // namespace qcd
