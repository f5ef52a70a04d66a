#include "lib/gauge/loop.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace qcd {

using namespace QDP;

Displacement walk(const Step& step, Displacement& at) {
  const Displacement from = at;
  at.at(static_cast<std::size_t>(step.mu)) += step.sign;
  return step.sign > 0 ? from : at;
}

Displacement Path::displacement() const {
  Displacement total{};
  for (const Step& step : steps_) walk(step, total);
  return total;
}

bool Path::closed() const { return displacement() == Displacement{}; }

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

/// The link that a step from `at` walks along, or its adjoint.
ColorMatrixExpr link_along(const GaugeField& u, const Step& step, Displacement& at) {
  const ColorMatrixExpr link = displaced(u[step.mu], walk(step, at));
  return step.sign > 0 ? link : adj(link);
}

}  // namespace

ColorMatrixExpr path_product(const GaugeField& u, const Path& path, const Path& after) {
  require_gauge_field(u, "path_product");
  if (path.length() == 0) throw ShapeError("path_product: expected a path of at least one step, got an empty one");
  Displacement at = after.displacement();
  ColorMatrixExpr product = link_along(u, path[0], at);
  for (int k = 1; k < path.length(); ++k) product = product * link_along(u, path[k], at);
  return product;
}

// The product rule link by link, P for the product so far and P' for the sum: (P, P') -> (P U, P' U + P U x).
ColorMatrixExpr product_with_insertion(const GaugeField& u, const LatticeColorMatrix& x, const Path& path,
                                       const Path& after) {
  require_gauge_field(u, "product_with_insertion");
  Displacement at = after.displacement();
  std::optional<ColorMatrixExpr> product;
  ColorMatrixExpr sum = displaced(x, at);
  for (int k = 0; k < path.length(); ++k) {
    const ColorMatrixExpr link = link_along(u, path[k], at);
    product = product ? *product * link : link;
    sum = sum * link + *product * displaced(x, at);
  }
  return sum;
}

namespace {

/// Of sorted paths, `depth` steps of which have been walked and lead to `at` from where the products are wanted:
///   sum_k w_k U_s R_k = U_s (sum_k w_k R_k),
/// so that links which many paths begin with are multiplied once.
ColorMatrixExpr factored(const GaugeField& u, std::span<const WeightedPath> paths, int depth, const Displacement& at) {
  std::optional<ColorMatrixExpr> sum;
  while (!paths.empty()) {
    const Step step = paths.front().path[depth];
    const auto other = std::ranges::find_if(paths, [&](const WeightedPath& p) { return p.path[depth] != step; });
    auto same = paths.first(static_cast<std::size_t>(other - paths.begin()));
    paths = paths.subspan(same.size());

    double ends = 0;  // the weight of the paths whose last step it is: they are the first
    for (; !same.empty() && same.front().path.length() == depth + 1; same = same.subspan(1))
      ends += same.front().weight;
    Displacement further = at;
    ColorMatrixExpr term = link_along(u, step, further);
    if (same.empty()) {
      term = Real(ends) * term;
    } else {
      const ColorMatrixExpr product = term * factored(u, same, depth + 1, further);
      term = ends == 0 ? product : product + Real(ends) * term;
    }
    sum = sum ? *sum + term : term;
  }
  return *sum;
}

}  // namespace

ColorMatrixExpr weighted_sum(const GaugeField& u, const std::vector<WeightedPath>& paths, const Path& after) {
  require_gauge_field(u, "weighted_sum");
  if (paths.empty()) throw ShapeError("weighted_sum: expected at least one path, got none");
  std::vector<WeightedPath> sorted;
  std::span<const WeightedPath> in_order = paths;
  if (!std::ranges::is_sorted(paths, {}, &WeightedPath::path)) {
    sorted = paths;
    std::ranges::sort(sorted, {}, &WeightedPath::path);
    in_order = sorted;
  }
  if (in_order.front().path.length() == 0)
    throw ShapeError("weighted_sum: expected paths of at least one step, got an empty one");
  return factored(u, in_order, 0, after.displacement());
}

Double sum_real_trace(const GaugeField& u, const std::vector<WeightedPath>& loops) {
  return loops.empty() ? Double(0) : Double(sum(real(trace(weighted_sum(u, loops)))));
}

std::vector<LoopLink> links_along(const Path& loop, int mu) {
  if (!loop.closed()) throw ShapeError("links_along(): expected a closed loop, got " + loop.str());
  std::vector<LoopLink> links;
  for (int k = 0; k < loop.length(); ++k) {
    if (loop[k].mu != mu) continue;
    // The reversed loop, which has the same Re tr, runs through a backward link forward.
    if (loop[k].sign > 0)
      links.push_back({loop.rotated(k).tail(1), loop.tail(k), false});
    else
      links.push_back({loop.reversed().rotated(loop.length() - 1 - k).tail(1), loop.tail(k + 1), true});
  }
  return links;
}

std::vector<WeightedPath> staples(const std::vector<WeightedPath>& loops, int mu) {
  std::map<Path, double> merged;
  for (const auto& [loop, weight] : loops)
    for (const LoopLink& link : links_along(loop, mu)) merged[link.rest] += weight;
  std::vector<WeightedPath> result;
  for (const auto& [path, weight] : merged) result.push_back({path, weight});
  return result;
}

}  // namespace qcd
