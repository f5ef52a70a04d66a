// Heatbath and over-relaxation of pure gauge theory, for actions that are linear in each link.
//
// Of S = -(1/Nc) sum_l c_l Re tr W_l the part with one link is -(1/Nc) Re tr U_mu(x) W, W the weighted sum of its
// staples. Links that do not occur in each other's staples are changed together, one SU(2) subgroup after the other
// (su2.hpp).
#pragma once

#include "lib/gauge/link_map.hpp"
#include "lib/gauge/loop_action.hpp"

#include <optional>
#include <vector>

namespace qcd {

/// How the SU(2) heatbath finds a_0 with the weight sqrt(1 - a_0^2) exp(w a_0).
enum class HeatbathTrial {
  creutz,            ///< exp(w a_0), accepted with probability sqrt(1 - a_0^2): Phys. Rev. D21 (1980) 2308
  kennedy_pendleton  ///< sqrt(1 - a_0) exp(w a_0), accepted with sqrt((1 + a_0)/2): Phys. Lett. 156B (1985) 393
};

struct HeatbathParameters {
  int over_relaxation = 0;  ///< sweeps of over-relaxation before each heatbath sweep
  int max_trials = 0;       ///< per subgroup; where all fail the link stays; 0: until all succeed
  HeatbathTrial trial = HeatbathTrial::creutz;
};

/// Draws a quaternion's components with the weight of a heatbath, d^4a delta(|a|^2 - 1) exp(w a_0), on `sites`, and
/// where that succeeded. The random numbers are drawn in the order of Chroma's purgaug.
struct HeatbathDraw {
  QDP::LatticeReal a[4];
  QDP::LatticeBoolean accepted;
};
HeatbathDraw draw_heatbath(const QDP::LatticeReal& weight, const HeatbathParameters& parameters,
                           const QDP::Subset& sites);

/// For links of direction mu, the sets of sites that may be updated together. Each is {x: sum_i a_i x_i mod n = c} with
/// the smallest n that works; even and odd sites for plaquette actions on even lattices. Where none does, as across the
/// boundaries of odd extents, three colours of which no two neighbours share one. Throws InputError if a loop meets a link
/// twice on this lattice, or if no such colouring exists.
QDP::Set independent_links(const LoopAction& action, int mu);
/// Throws as independent_links() would for some direction on a lattice of these extents.
void require_independent_links(const LoopAction& action, const std::vector<int>& extents);

/// The maps are phases and Schroedinger functional boundaries, which leave an action linear in each link of U.
bool links_stay_linear(const LinkMaps& links);

class Heatbath {
 public:
  /// Throws InputError unless links_stay_linear(links).
  Heatbath(std::shared_ptr<const LoopAction> action, LinkMaps links, const HeatbathParameters& parameters);

  /// One update: over-relaxation sweeps, then a heatbath sweep. Links on fixed boundaries get their boundary values.
  /// The sets of links are those of the lattice at the first call.
  void update(GaugeField& u);

  const HeatbathParameters& parameters() const { return parameters_; }

  /// One sweep over all links, each with a new value of the same action.
  void overrelax_sweep(GaugeField& u);
  /// One sweep over all links, each with a value drawn at random; the links are projected to SU(Nc).
  void heat_sweep(GaugeField& u);

 private:
  /// change(link field, its staples, sites) for all links.
  template <class Change>
  void sweep(GaugeField& u, const Change& change);
  QDP::LatticeColorMatrix staple(const GaugeField& u, int mu, const QDP::Subset& sites) const;

  std::shared_ptr<const LoopAction> action_;
  LinkMaps links_;
  HeatbathParameters parameters_;
  std::vector<QDP::Set> sets_;  ///< [mu]
};

}  // namespace qcd
