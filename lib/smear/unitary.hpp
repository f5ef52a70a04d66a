// Projection of links to U(3), W = V (V^+ V)^(-1/2), as a map with its exact derivative: the reunitarisation of HISQ.
#pragma once

#include "lib/gauge/link_map.hpp"

namespace qcd {

namespace site {
QDP::Sym u3_project(const QDP::Sym& v);
QDP::Sym u3_project_pull_back(const QDP::Sym& v, const QDP::Sym& w, const QDP::Sym& g);
}  // namespace site

/// The unitary factor W of the polar decomposition V = W H, H positive; of all unitary matrices the nearest to V.
/// Nc = 3. Loses digits, and its derivative more, as det V goes to zero.
inline const auto u3_project = QDP::siteFunction<1>("u3_project", site::u3_project);

/// u3_project_pull_back(v, w, g), w = u3_project(v): the derivative (conv. 9) with respect to V if g is that with
/// respect to W: Z W^+ where H Z + Z H = g W - (g W)^+.
inline const auto u3_project_pull_back = QDP::siteFunction<3>("u3_project_pull_back", site::u3_project_pull_back);

/// W for each link.
class UnitaryLinks : public LinkMap {
 public:
  GaugeField apply(const GaugeField& v) const override;
  void pull_back(GaugeField& g, const GaugeField& v) const override;
  bool same_as(const LinkMap& other) const override;
};

/// The fat links of HISQ: fat7, projection to U(3), hisq_weights(). Without the Naik term.
/// Source: Follana et al., Phys. Rev. D75 (2007) 054502.
LinkMaps hisq_links();

}  // namespace qcd
