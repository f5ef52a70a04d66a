// Stout smearing: V_mu = exp(i Q_mu) U_mu, i Q_mu = taproj( C_mu U_mu^+ ), with C_mu the weighted sum of staples.
// Source: Morningstar and Peardon, Phys. Rev. D69 (2004) 054501 (hep-lat/0311018).
#pragma once

#include "lib/smear/fat_links.hpp"

#include <memory>
#include <vector>

namespace qcd {

/// rho[mu][nu], the weight of the staples of link mu in the plane (mu, nu); the diagonal is not used.
using StoutWeights = std::vector<std::vector<double>>;

/// `rho` in all planes of the directions for which `smear` holds, zero in the others. [Nd]
StoutWeights stout_weights(double rho, const std::vector<bool>& smear = std::vector<bool>(QDP::Nd, true));

/// One step of smearing, with its exact derivative. V is in SU(Nc) if U is.
class StoutLinks : public LinkMap {
 public:
  /// Throws ShapeError unless `rho` is Nd by Nd.
  explicit StoutLinks(const StoutWeights& rho);

  GaugeField apply(const GaugeField& u) const override;
  void pull_back(GaugeField& g, const GaugeField& u) const override;
  bool same_as(const LinkMap& other) const override;

 private:
  FatLinks staples_;
  std::vector<bool> smeared_;  ///< directions with a weight other than 0
};

/// `steps` steps with the same weights.
LinkMaps stout_links(const StoutWeights& rho, int steps);

}  // namespace qcd
