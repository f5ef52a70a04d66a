#include "lib/gauge/loop.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace qcd {

using namespace QDP;

bool Path::closed() const {
  std::vector<int> displacement(Nd, 0);
  for (const Step& step : steps_) displacement.at(static_cast<std::size_t>(step.mu)) += step.sign;
  return std::all_of(displacement.begin(), displacement.end(), [](int d) { return d == 0; });
}

Path Path::reversed() const {
  std::vector<Step> steps(steps_.rbegin(), steps_.rend());
  for (Step& step : steps) step = -step;
  return Path(std::move(steps));
}

Path Path::rotated(int first) const {
  std::vector<Step> steps = steps_;
  std::rotate(steps.begin(), steps.begin() + first, steps.end());
  return Path(std::move(steps));
}

Path Path::tail(int first) const { return Path(std::vector<Step>(steps_.begin() + first, steps_.end())); }

std::string Path::str() const {
  std::string text;
  for (const Step& step : steps_) {
    text += step.sign > 0 ? '+' : '-';
    text += step.mu < 4 ? std::string(1, "xyzt"[step.mu]) : std::to_string(step.mu);
  }
  return text;
}

Path plaquette_loop(int mu, int nu) { return {forward(mu), forward(nu), backward(mu), backward(nu)}; }

Path rectangle_loop(int mu, int nu) {
  return {forward(mu), forward(mu), forward(nu), backward(mu), backward(mu), backward(nu)};
}

std::vector<WeightedPath> all_plaquettes(double weight) {
  std::vector<WeightedPath> loops;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu) loops.push_back({plaquette_loop(mu, nu), weight});
  return loops;
}

std::vector<WeightedPath> all_rectangles(double weight) {
  std::vector<WeightedPath> loops;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu)
      if (nu != mu) loops.push_back({rectangle_loop(mu, nu), weight});
  return loops;
}

namespace {

using Displacement = std::vector<int>;

/// Walks along `path`, calling visit(link direction, sign, where the link starts); returns where the walk ends.
template <class Visit>
Displacement walk(const Path& path, Displacement at, const Visit& visit) {
  for (int k = 0; k < path.length(); ++k) {
    const auto [mu, sign] = path[k];
    auto& coordinate = at.at(static_cast<std::size_t>(mu));
    if (sign < 0) --coordinate;
    visit(mu, sign, at);
    if (sign > 0) ++coordinate;
  }
  return at;
}

/// U_mu(x + at). The shifts are applied in one fixed order of directions, so that a link used by several paths is the
/// same sub-expression and is loaded once.
ColorMatrixExpr displaced_link(const GaugeField& u, int mu, const Displacement& at) {
  ColorMatrixExpr link = +u[mu];
  for (int nu = 0; nu < Nd; ++nu)
    for (int n = at[static_cast<std::size_t>(nu)]; n != 0; n -= n > 0 ? 1 : -1)
      link = shift(link, n > 0 ? FORWARD : BACKWARD, nu);
  return link;
}

/// Links in one kernel at most: all plaquettes of four dimensions fit.
constexpr int kFusedLinks = 24;

}  // namespace

ColorMatrixExpr path_product(const GaugeField& u, const Path& path, const Path& after) {
  require_gauge_field(u, "path_product");
  if (path.length() == 0) throw ShapeError("path_product: expected a path of at least one step, got an empty one");
  const Displacement start = walk(after, Displacement(Nd, 0), [](auto&&...) {});
  std::optional<ColorMatrixExpr> product;
  walk(path, start, [&](int mu, int sign, const Displacement& at) {
    const ColorMatrixExpr link = displaced_link(u, mu, at);
    const ColorMatrixExpr factor = sign > 0 ? link : adj(link);
    product = product ? *product * factor : factor;
  });
  return *product;
}

ColorMatrixExpr weighted_sum(const GaugeField& u, const std::vector<WeightedPath>& paths, const Path& after) {
  std::optional<ColorMatrixExpr> sum;
  int links = 0;
  for (const auto& [path, weight] : paths) {
    if (sum && links + path.length() > kFusedLinks) {
      const LatticeColorMatrix part = *sum;
      sum = +part;
      links = 0;
    }
    const ColorMatrixExpr term = Real(weight) * path_product(u, path, after);
    sum = sum ? *sum + term : term;
    links += path.length();
  }
  if (!sum) throw ShapeError("weighted_sum: expected at least one path, got none");
  return *sum;
}

Double sum_real_trace(const GaugeField& u, const std::vector<WeightedPath>& loops) {
  return loops.empty() ? Double(0) : Double(sum(real(trace(weighted_sum(u, loops)))));
}

std::vector<WeightedPath> staples(const std::vector<WeightedPath>& loops, int mu) {
  std::map<Path, double> merged;
  for (const auto& [loop, weight] : loops) {
    if (!loop.closed()) throw ShapeError("staples(): expected closed loops, got " + loop.str());
    for (int k = 0; k < loop.length(); ++k) {
      if (loop[k].mu != mu) continue;
      const Path from_link = loop[k].sign > 0 ? loop.rotated(k) : loop.reversed().rotated(loop.length() - 1 - k);
      merged[from_link.tail(1)] += weight;
    }
  }
  std::vector<WeightedPath> result;
  for (const auto& [path, weight] : merged) result.push_back({path, weight});
  return result;
}

}  // namespace qcd
