// Paths of links on the lattice: closed loops, their traces, and their derivatives with respect to the links.
//
// A path is a list of steps. Its product at x is the ordered product of the links met on the way from x,
//   step +mu:  U_mu(x), then on to x + mu          step -mu:  U_mu(x - mu)^+, then on to x - mu,
// so the loop (+mu +nu -mu -nu) is the plaquette U_mu(x) U_nu(x+mu) U_mu(x+nu)^+ U_nu(x)^+.
// A gauge action is a weighted list of loops; its force follows from the same list (loop_action.hpp).
#pragma once

#include "lib/gauge/gauge_field.hpp"

#include <array>
#include <compare>
#include <string>
#include <utility>
#include <vector>

namespace qcd {

/// One link of a path: direction 0..Nd-1, walked forward (+1) or backward (-1).
struct Step {
  int mu = 0;
  int sign = +1;

  Step operator-() const { return {mu, -sign}; }
  auto operator<=>(const Step&) const = default;
};

inline Step forward(int mu) { return {mu, +1}; }
inline Step backward(int mu) { return {mu, -1}; }

/// [Nd] the steps in each direction that lead from one site to another one.
using Displacement = std::array<int, QDP::Nd>;

/// The signs and directions of a walk; comparable, so that equal paths can be merged.
class Path {
 public:
  Path() = default;
  Path(std::initializer_list<Step> steps) : steps_(steps) {}
  explicit Path(std::vector<Step> steps) : steps_(std::move(steps)) {}

  int length() const { return static_cast<int>(steps_.size()); }
  const Step& operator[](int k) const { return steps_[static_cast<std::size_t>(k)]; }
  const std::vector<Step>& steps() const { return steps_; }

  bool closed() const;                ///< returns to its start on an infinite lattice
  Path reversed() const;              ///< the same links walked the other way: its product is the adjoint
  Path rotated(int first) const;      ///< of a loop: the same loop starting at step `first`
  Path tail(int first) const;         ///< the steps from `first` on
  Displacement displacement() const;  ///< from the start of the path to its end
  std::string str() const;            ///< "+x+y-x-y"; directions beyond the fourth by number

  auto operator<=>(const Path&) const = default;

 private:
  std::vector<Step> steps_;
};

/// Takes a step from `at`, and returns where the link starts that it walks along: a link walked backward, where the step ends.
Displacement walk(const Step& step, Displacement& at);

/// The plaquette (+mu +nu -mu -nu).
Path plaquette_loop(int mu, int nu);
/// The 2x1 rectangle (+mu +mu +nu -mu -mu -nu), long side along mu.
Path rectangle_loop(int mu, int nu);

/// An expression with a colour matrix per site, not yet computed.
using ColorMatrixExpr = decltype(QDP::adj(std::declval<const QDP::LatticeColorMatrix&>()));

/// x(site + displacement). The shifts are applied in one fixed order of directions, so that a value that is met on several paths is the
/// same sub-expression and is loaded once.
template <class X>
auto displaced(const X& x, const Displacement& steps) {
  auto value = +x;
  for (int nu = 0; nu < QDP::Nd; ++nu)
    for (int n = steps[static_cast<std::size_t>(nu)]; n != 0; n -= n > 0 ? 1 : -1)
      value = QDP::shift(value, n > 0 ? FORWARD : BACKWARD, nu);
  return value;
}

/// x at the end of `path`.
template <class X>
auto at_end_of(const X& x, const Path& path) {
  return displaced(x, path.displacement());
}

/// The product of links along `path` from every site, as an expression; the path has at least one step.
/// With `after`, the path starts one step further on: at x + mu (or x - mu) instead of x.
ColorMatrixExpr path_product(const GaugeField& u, const Path& path, const Path& after = {});

/// sum over the corners of `path`, both ends included, of its product with x(corner) put in there: what the derivative
/// of a loop with x at its start becomes when the loop is begun at each of its corners.
ColorMatrixExpr product_with_insertion(const GaugeField& u, const QDP::LatticeColorMatrix& x, const Path& path,
                                       const Path& after = {});

/// A path and its weight in a sum.
struct WeightedPath {
  Path path;
  double weight = 1;
};

/// The Nd(Nd-1)/2 plaquettes, each with the same weight.
std::vector<WeightedPath> all_plaquettes(double weight = 1);
/// The Nd(Nd-1) rectangles, 2x1 and 1x2, each with the same weight.
std::vector<WeightedPath> all_rectangles(double weight = 1);

/// One link of a loop and where the rest of it goes: for W(y) from a site y, with the link U_mu(x),
///   Re tr W(y) = Re tr [ U_mu(x) R(x + mu) ],   y = the end of `home` from x.
/// R is `rest`; `reversed` tells that the loop runs through the link backward, so that tr W(y) = conj tr [U R].
struct LoopLink {
  Path rest;
  Path home;
  bool reversed = false;
};

/// All links of direction mu of a loop. Throws ShapeError for an open path.
std::vector<LoopLink> links_along(const Path& loop, int mu);

/// The derivative of sum_l w_l sum_x Re tr W_l(x) with respect to the links of direction mu: paths R_k and weights such
/// that
///   d/dt sum_l w_l sum_x Re tr W_l |_{U_mu -> exp(t X) U_mu}  =  sum_x Re tr [ X(x) U_mu(x) sum_k w_k R_k(x + mu) ].
/// By the product rule each link of a loop along mu gives one path, the rest of the loop. Equal paths are merged.
std::vector<WeightedPath> staples(const std::vector<WeightedPath>& loops, int mu);

/// sum_k w_k P_k, the weighted sum of path products (at least one); `after` as above. What paths begin with alike is factored out.
ColorMatrixExpr weighted_sum(const GaugeField& u, const std::vector<WeightedPath>& paths, const Path& after = {});

/// sum_k w_k sum_x Re tr W_k(x); for loops, gauge invariant.
QDP::Double sum_real_trace(const GaugeField& u, const std::vector<WeightedPath>& loops);

}  // namespace qcd
