// Fat links: each link replaced by a weighted sum of paths between its ends, with the exact derivative.
//
// A list of paths from x to x + mu is kept as a tree of staples: the paths that begin with step s and end with -s are
// L_s(x) T(x+s) L_s(x+mu)^+, where L_s is the link of the step and T the sum of what lies between, a list of the same
// kind. Equal sums are computed once, so that the 48 seven-link paths of fat7 cost no more than 6 pairs of staples. The
// derivative follows from the tree by the chain rule; no action needs a second description.
#pragma once

#include "lib/gauge/link_map.hpp"
#include "lib/gauge/loop.hpp"

#include <map>
#include <vector>

namespace qcd {

/// paths[mu]: weighted paths from x to x + mu, [Nd].
using PathSums = std::vector<std::vector<WeightedPath>>;

/// V_mu(x) = sum_k w_k P_k(x); zero for a direction without paths.
class FatLinks : public LinkMap {
 public:
  /// Throws ShapeError unless there is one list per direction, and every path of list mu ends at x + mu.
  explicit FatLinks(const PathSums& paths);

  GaugeField apply(const GaugeField& u) const override;
  void pull_back(GaugeField& g, const GaugeField& u) const override;
  bool same_as(const LinkMap& other) const override;

 private:
  struct Staple {
    Step step;
    std::size_t inner;  ///< node of T
    double weight;
  };
  /// T(x) = link U_mu(x) + sum staples + sum paths. One statement per plane: the two staples of a plane share most of
  /// what they read, and kernels stay few and small.
  struct Node {
    double link = 0;
    std::vector<std::vector<Staple>> planes;  ///< the staples with steps in one direction, one or two
    std::vector<WeightedPath> paths;          ///< those that are not staples of something
    bool is_link() const { return link == 1 && planes.empty() && paths.empty(); }
  };
  /// The sums for one direction, each after those that it needs; the last one is V_mu.
  struct Tree {
    std::vector<Node> nodes;
    std::map<std::vector<std::pair<Path, double>>, std::size_t> known;
  };

  static std::size_t add(Tree& tree, int mu, std::map<Path, double> paths);
  class Values;
  static void add_derivative(GaugeFieldTotal& to, const Tree& tree, int mu, const QDP::LatticeColorMatrix& g,
                             const GaugeField& u);

  std::vector<std::map<Path, double>> paths_;  ///< [Nd], those with a weight
  std::vector<Tree> trees_;
};

/// The staples of each link, (+nu +mu -nu) and (-nu +mu +nu), with weights rho[mu][nu]; zero ones are left out.
PathSums staple_paths(const std::vector<std::vector<double>>& rho);

/// Weights of the paths of fat7 and asqtad smearing, each for every path of its kind.
struct Fat7Weights {
  double one = 0;     ///< the link
  double three = 0;   ///< (+-nu mu -+nu)
  double five = 0;    ///< (+-nu +-rho mu -+rho -+nu)
  double seven = 0;   ///< the same with three directions
  double lepage = 0;  ///< (+-nu +-nu mu -+nu -+nu)
};
PathSums fat7_paths(const Fat7Weights& weights);

/// fat7: 1/8, 1/16, 1/64, 1/384. Source: Orginos, Toussaint, Sugar, Phys. Rev. D60 (1999) 054503.
Fat7Weights fat7_weights();
/// The fat links of asqtad, tadpole improved with u0: 5/8, 1/(16 u0^2), 1/(64 u0^4), 1/(384 u0^6), -1/(16 u0^4); 1/8 of
/// the 5/8 goes with the Naik term, which is not part of them.
/// Source: Orginos, Toussaint, Sugar; Lepage, Phys. Rev. D59 (1999) 074502.
Fat7Weights asqtad_weights(double u0);

/// The second smearing of HISQ: asqtad with 1 for the link and twice the Lepage term.
/// Source: Follana et al., Phys. Rev. D75 (2007) 054502.
Fat7Weights hisq_weights();

}  // namespace qcd
