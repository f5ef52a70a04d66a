#include "lib/meas/wilson_loops.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

std::vector<int> displacement(const Path& path) {
  std::vector<int> d(Nd, 0);
  for (int k = 0; k < path.length(); ++k) d.at(static_cast<std::size_t>(path[k].mu)) += path[k].sign;
  return d;
}

void require_step(const std::vector<WeightedPath>& step, int t_dir) {
  if (t_dir < 0 || t_dir >= Nd)
    throw ShapeError("wilson_loops: expected a time direction 0.." + std::to_string(Nd - 1) + ", got " +
                     std::to_string(t_dir));
  if (step.empty()) throw ShapeError("wilson_loops: expected a step of at least one path, got none");
  const std::vector<int> d = displacement(step[0].path);
  for (const auto& [path, weight] : step)
    if (displacement(path) != d)
      throw ShapeError("wilson_loops: expected paths to one site, got " + step[0].path.str() + " and " + path.str());
  if (d[static_cast<std::size_t>(t_dir)] != 0)
    throw ShapeError("wilson_loops: expected a step across time direction " + std::to_string(t_dir) + ", got " +
                     step[0].path.str());
}

/// x -> its value one step further on. One shift per statement: each kernel is needed once only.
void move(LatticeColorMatrix& x, const std::vector<int>& d) {
  for (int mu = 0; mu < Nd; ++mu)
    for (int n = d[static_cast<std::size_t>(mu)]; n != 0; n -= n > 0 ? 1 : -1)
      x = LatticeColorMatrix(shift(x, n > 0 ? FORWARD : BACKWARD, mu));
}

}  // namespace

multi2d<Double> wilson_loops(const GaugeField& u, const std::vector<WeightedPath>& step, int t_dir, int r_max,
                             int t_max) {
  require_gauge_field(u, "wilson_loops");
  require_step(step, t_dir);
  const std::vector<int> d = displacement(step[0].path);
  const LatticeColorMatrix space_step = weighted_sum(u, step);

  // time_lines[k]: k + 1 links from x; far_lines[k]: the same from x + R d.
  std::vector<LatticeColorMatrix> time_lines;
  for (int t = 0; t < t_max; ++t) {
    LatticeColorMatrix line = u[t_dir];
    if (t > 0) line = u[t_dir] * shift(time_lines.back(), FORWARD, t_dir);
    time_lines.push_back(std::move(line));
  }
  std::vector<LatticeColorMatrix> far_lines = time_lines;

  const Double norm = Double(1) / (Double(Layout::vol()) * Double(Nc));
  multi2d<Double> loops(r_max, t_max);
  LatticeColorMatrix space_line;
  for (int r = 0; r < r_max; ++r) {
    if (r == 0) {
      space_line = space_step;
    } else {
      move(space_line, d);
      space_line = space_step * space_line;
    }
    LatticeColorMatrix top = space_line;
    for (int t = 0; t < t_max; ++t) {
      const auto k = static_cast<std::size_t>(t);
      move(far_lines[k], d);
      top = LatticeColorMatrix(shift(top, FORWARD, t_dir));
      loops(r, t) = norm * sum(real(trace(space_line * far_lines[k] * adj(time_lines[k] * top))));
    }
  }
  return loops;
}

multi2d<Double> planar_wilson_loops(const GaugeField& u, int mu, int nu, int r_max, int t_max) {
  return wilson_loops(u, {{Path{forward(mu)}, 1.0}}, nu, r_max, t_max);
}

std::vector<WeightedPath> averaged_orders(std::vector<Step> steps) {
  std::vector<WeightedPath> paths;
  std::sort(steps.begin(), steps.end());
  do {
    paths.push_back({Path(steps), 1});
  } while (std::next_permutation(steps.begin(), steps.end()));
  for (WeightedPath& path : paths) path.weight = 1.0 / static_cast<double>(paths.size());
  return paths;
}

}  // namespace qcd
