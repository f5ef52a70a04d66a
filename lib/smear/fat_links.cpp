#include "lib/smear/fat_links.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace qcd {

using namespace QDP;

namespace {

Path joined(const Path& a, const Path& b) {
  std::vector<Step> steps;
  for (int k = 0; k < a.length(); ++k) steps.push_back(a[k]);
  for (int k = 0; k < b.length(); ++k) steps.push_back(b[k]);
  return Path(std::move(steps));
}

/// Steps first..last-1.
Path part(const Path& path, int first, int last) {
  std::vector<Step> steps;
  for (int k = first; k < last; ++k) steps.push_back(path[k]);
  return Path(std::move(steps));
}

/// (path product) * x and x * (path product), for paths that may be empty.
ColorMatrixExpr times(const GaugeField& u, const Path& path, const Path& after, const ColorMatrixExpr& x) {
  return path.length() ? path_product(u, path, after) * x : x;
}
ColorMatrixExpr times(const ColorMatrixExpr& x, const GaugeField& u, const Path& path, const Path& after) {
  return path.length() ? x * path_product(u, path, after) : x;
}

/// L_s(x) T(x+s) L_s(x+mu)^+.
ColorMatrixExpr staple(const GaugeField& u, Step s, const LatticeColorMatrix& inner, int mu) {
  return path_product(u, {s}) * at_end_of(inner, {s}) * adj(path_product(u, {s}, {forward(mu)}));
}

/// With 2 Re sum_x tr[g(x) staple(x)]: the derivative with respect to T.
ColorMatrixExpr inner_derivative(const GaugeField& u, Step s, const LatticeColorMatrix& g, int mu) {
  return path_product(u, {-s}, {forward(mu)}) * at_end_of(g, {-s}) * adj(path_product(u, {-s}));
}

/// And with respect to the links of L_s. By L_s(z), from its two places in the staples at z and z - mu, it is
///   D(z) = T(z+s) L_s(z+mu)^+ g(z) + [ g(z-mu) L_s(z-mu) T(z-mu+s) ]^+;
/// for a step backward L_s(z) = U(z-nu)^+, so that U(x) takes D(x+nu)^+.
ColorMatrixExpr side_derivative(const GaugeField& u, Step s, const LatticeColorMatrix& inner,
                                const LatticeColorMatrix& g, int mu) {
  const Path z = s.sign > 0 ? Path{} : Path{forward(s.mu)};
  const Path ahead = joined(z, {forward(mu)}), behind = joined(z, {backward(mu)});
  const ColorMatrixExpr left = at_end_of(inner, joined(z, {s})) * adj(path_product(u, {s}, ahead)) * at_end_of(g, z);
  const ColorMatrixExpr right =
      at_end_of(g, behind) * path_product(u, {s}, behind) * at_end_of(inner, joined(behind, {s}));
  return s.sign > 0 ? left + adj(right) : adj(left) + right;
}

/// With 2 Re sum_x tr[g(x) P(x)]: the derivative with respect to the link of step k, of direction path[k].mu.
ColorMatrixExpr path_derivative(const GaugeField& u, const Path& path, int k, const LatticeColorMatrix& g) {
  const Path head = part(path, 0, k), tail = path.tail(k + 1);
  const Path ahead = {forward(path[k].mu)};
  if (path[k].sign > 0) {
    const Path home = head.reversed();
    return times(times(u, tail, ahead, +at_end_of(g, home)), u, head, home);
  }
  const Path home = joined(ahead, head.reversed());
  return adj(times(times(u, tail, {}, +at_end_of(g, home)), u, head, home));
}

/// The sum of f(s) over one or two staples.
template <class Staples, class F>
ColorMatrixExpr sum_of_staples(const Staples& plane, const F& f) {
  return plane.size() == 2 ? f(plane[0]) + f(plane[1]) : +f(plane[0]);
}

}  // namespace

FatLinks::FatLinks(const PathSums& paths) : trees_(paths.size()) {
  if (paths.size() != static_cast<std::size_t>(Nd))
    throw ShapeError("FatLinks: expected one list of paths per direction (" + std::to_string(Nd) + "), got " +
                     std::to_string(paths.size()));
  for (int mu = 0; mu < Nd; ++mu) {
    std::map<Path, double> merged;
    for (const auto& [path, weight] : paths[static_cast<std::size_t>(mu)]) {
      if (path.displacement() != Path{forward(mu)}.displacement())
        throw ShapeError("FatLinks: expected paths from x to x + " + Path{forward(mu)}.str().substr(1) + ", got " +
                         path.str());
      if (weight != 0) merged[path] += weight;
    }
    if (!merged.empty()) add(trees_[static_cast<std::size_t>(mu)], mu, merged);
    paths_.push_back(std::move(merged));
  }
}

bool FatLinks::same_as(const LinkMap& other) const {
  const auto* fat = dynamic_cast<const FatLinks*>(&other);
  return fat && fat->paths_ == paths_;
}

std::size_t FatLinks::add(Tree& tree, int mu, std::map<Path, double> paths) {
  const std::vector<std::pair<Path, double>> key(paths.begin(), paths.end());
  if (const auto found = tree.known.find(key); found != tree.known.end()) return found->second;

  Node node;
  std::map<Step, std::map<Path, double>> inner;
  for (const auto& [path, weight] : paths) {
    const int last = path.length() - 1;
    if (last == 0)
      node.link = weight;
    else if (last >= 2 && path[0] == -path[last])
      inner[path[0]][part(path, 1, last)] = weight;
    else
      node.paths.push_back({path, weight});
  }
  for (auto& [step, list] : inner) {
    // Sums that differ by a factor only are the same node.
    const double scale = list.begin()->second;
    for (auto& [path, weight] : list) weight /= scale;
    if (node.planes.empty() || node.planes.back().front().step.mu != step.mu) node.planes.emplace_back();
    node.planes.back().push_back({step, add(tree, mu, std::move(list)), scale});
  }
  tree.nodes.push_back(std::move(node));
  return tree.known[key] = tree.nodes.size() - 1;
}

/// The sums of a tree, as far as they are wanted; one that is a link is that link.
class FatLinks::Values {
 public:
  Values(const Tree& tree, std::size_t count, int mu, const GaugeField& u) : tree_(tree), mu_(mu), u_(u) {
    while (sums_.size() < count) {
      const Node& node = tree.nodes[sums_.size()];
      sums_.push_back(node.is_link() ? LatticeColorMatrix() : sum_of_terms(node));
    }
  }
  const LatticeColorMatrix& operator[](std::size_t n) const { return tree_.nodes[n].is_link() ? u_[mu_] : sums_[n]; }
  /// Ends them.
  LatticeColorMatrix last() && { return tree_.nodes[sums_.size() - 1].is_link() ? u_[mu_] : std::move(sums_.back()); }

 private:
  LatticeColorMatrix sum_of_terms(const Node& node) const {
    ColorMatrixTotal sum;
    if (node.link != 0) sum.add(Real(node.link) * u_[mu_]);
    for (const auto& plane : node.planes)
      sum.add(sum_of_staples(
          plane, [&](const Staple& s) { return Real(s.weight) * staple(u_, s.step, (*this)[s.inner], mu_); }));
    for (const auto& [path, weight] : node.paths) sum.add(Real(weight) * path_product(u_, path));
    return sum.take();
  }

  const Tree& tree_;
  int mu_;
  const GaugeField& u_;
  std::vector<LatticeColorMatrix> sums_;
};

GaugeField FatLinks::apply(const GaugeField& u) const {
  require_gauge_field(u, "FatLinks::apply");
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    const Tree& tree = trees_[static_cast<std::size_t>(mu)];
    if (tree.nodes.empty())
      v[mu] = zero;
    else
      v[mu] = Values(tree, tree.nodes.size(), mu, u).last();
  }
  return v;
}

void FatLinks::pull_back(GaugeField& g, const GaugeField& u) const {
  require_gauge_field(g, "FatLinks::pull_back");
  require_gauge_field(u, "FatLinks::pull_back");
  GaugeFieldTotal total;
  for (int mu = 0; mu < Nd; ++mu) add_derivative(total, trees_[static_cast<std::size_t>(mu)], mu, g[mu], u);
  g = total.take();
}

void FatLinks::add_derivative(GaugeFieldTotal& to, const Tree& tree, int mu, const LatticeColorMatrix& g,
                              const GaugeField& u) {
  const std::vector<Node>& nodes = tree.nodes;
  if (nodes.empty()) return;
  const Values inner(tree, nodes.size() - 1, mu, u);
  // The derivatives with respect to the nodes but the last; those of a node are complete when all nodes above it are done.
  std::vector<ColorMatrixTotal> by_node(nodes.size());
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const Node& node = nodes[n];
    const LatticeColorMatrix& gn = n + 1 == nodes.size() ? g : by_node[n].value();
    if (node.link != 0) to[mu].add(Real(node.link) * gn);
    for (const auto& plane : node.planes) {
      to[plane[0].step.mu].add(sum_of_staples(
          plane, [&](const Staple& s) { return Real(s.weight) * side_derivative(u, s.step, inner[s.inner], gn, mu); }));
      const auto to_inner = [&](const Staple& s) { return Real(s.weight) * inner_derivative(u, s.step, gn, mu); };
      if (plane.size() == 2 && plane[0].inner == plane[1].inner)
        by_node[plane[0].inner].add(sum_of_staples(plane, to_inner));
      else
        for (const Staple& s : plane) by_node[s.inner].add(to_inner(s));
    }
    for (const auto& [path, weight] : node.paths)
      for (int k = 0; k < path.length(); ++k) to[path[k].mu].add(Real(weight) * path_derivative(u, path, k, gn));
    by_node[n] = {};
  }
}

PathSums staple_paths(const std::vector<std::vector<double>>& rho) {
  PathSums paths(Nd);
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu) {
      const double weight = rho.at(static_cast<std::size_t>(mu)).at(static_cast<std::size_t>(nu));
      if (nu == mu || weight == 0) continue;
      for (const Step s : {forward(nu), backward(nu)})
        paths[static_cast<std::size_t>(mu)].push_back({Path{s, forward(mu), -s}, weight});
    }
  return paths;
}

namespace {

/// Adds `middle` between the steps s, s', ... and their opposites, for all signs and all choices of `depth` directions
/// different from each other and from mu.
void add_staples(std::vector<WeightedPath>& paths, const Path& middle, int mu, int depth, double weight) {
  if (depth == 0) {
    if (weight != 0) paths.push_back({middle, weight});
    return;
  }
  for (int nu = 0; nu < Nd; ++nu) {
    bool used = nu == mu;
    for (int k = 0; k < middle.length(); ++k) used = used || middle[k].mu == nu;
    if (used) continue;
    for (const Step s : {forward(nu), backward(nu)})
      add_staples(paths, joined(joined({s}, middle), {-s}), mu, depth - 1, weight);
  }
}

}  // namespace

PathSums fat7_paths(const Fat7Weights& weights) {
  PathSums paths(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    auto& list = paths[static_cast<std::size_t>(mu)];
    const double by_depth[] = {weights.one, weights.three, weights.five, weights.seven};
    for (int depth = 0; depth < 4; ++depth) add_staples(list, {forward(mu)}, mu, depth, by_depth[depth]);
    for (int nu = 0; nu < Nd && weights.lepage != 0; ++nu)
      for (const Step s : {forward(nu), backward(nu)})
        if (nu != mu) list.push_back({Path{s, s, forward(mu), -s, -s}, weights.lepage});
  }
  return paths;
}

Fat7Weights fat7_weights() { return {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0}; }

Fat7Weights asqtad_weights(double u0) {
  const double u2 = u0 * u0;
  return {5.0 / 8, 1 / (16 * u2), 1 / (64 * u2 * u2), 1 / (384 * u2 * u2 * u2), -1 / (16 * u2 * u2)};
}

Fat7Weights hisq_weights() { return {1, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8}; }

}  // namespace qcd
