#include "lib/smear/stout.hpp"

#include "lib/gauge/su3.hpp"

#include <algorithm>
#include <string>

namespace qcd {

using namespace QDP;

namespace {

const StoutWeights& checked(const StoutWeights& rho) {
  const auto is_row = [](const auto& row) { return row.size() == static_cast<std::size_t>(Nd); };
  if (!is_row(rho) || !std::all_of(rho.begin(), rho.end(), is_row))
    throw ShapeError("StoutLinks: expected weights rho[mu][nu] for " + std::to_string(Nd) + " x " + std::to_string(Nd) +
                     " directions");
  return rho;
}

}  // namespace

StoutWeights stout_weights(double rho, const std::vector<bool>& smear) {
  StoutWeights weights(Nd, std::vector<double>(Nd, 0.0));
  for (std::size_t mu = 0; mu < Nd; ++mu)
    for (std::size_t nu = 0; nu < Nd; ++nu)
      if (mu != nu && smear.at(mu) && smear.at(nu)) weights[mu][nu] = rho;
  return weights;
}

StoutLinks::StoutLinks(const StoutWeights& rho) : staples_(staple_paths(checked(rho))) {
  for (std::size_t mu = 0; mu < Nd; ++mu) {
    bool any = false;
    for (std::size_t nu = 0; nu < Nd; ++nu) any = any || (nu != mu && rho[mu][nu] != 0);
    smeared_.push_back(any);
  }
}

bool StoutLinks::same_as(const LinkMap& other) const {
  const auto* stout = dynamic_cast<const StoutLinks*>(&other);
  return stout && stout->staples_.same_as(staples_);
}

GaugeField StoutLinks::apply(const GaugeField& u) const {
  GaugeField v = staples_.apply(u);
  for (int mu = 0; mu < Nd; ++mu) {
    if (smeared_[static_cast<std::size_t>(mu)])
      v[mu] = su3_exp(taproj(v[mu] * adj(u[mu]))) * u[mu];
    else
      v[mu] = u[mu];
  }
  return v;
}

// dV = d(exp X) U + exp(X) dU with X = taproj(C U^+). The first term gives 2 Re tr(A dX) = 2 Re tr[A d(C U^+)] with
// A = su3_exp_pull_back(X, U g), and that is 2 Re tr[U^+ A dC] - 2 Re tr[C^+ A dU]: (75), with A = -i Lambda.
void StoutLinks::pull_back(GaugeField& g, const GaugeField& u) const {
  require_gauge_field(g, "StoutLinks::pull_back");
  const GaugeField c = staples_.apply(u);
  GaugeField by_staples(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    if (!smeared_[static_cast<std::size_t>(mu)]) {
      by_staples[mu] = zero;
      continue;
    }
    const LatticeColorMatrix x = taproj(c[mu] * adj(u[mu]));
    const LatticeColorMatrix a = su3_exp_pull_back(x, u[mu] * g[mu]);
    by_staples[mu] = adj(u[mu]) * a;
    g[mu] = g[mu] * su3_exp(x) - adj(c[mu]) * a;
  }
  staples_.pull_back(by_staples, u);
  for (int mu = 0; mu < Nd; ++mu) g[mu] += by_staples[mu];
}

LinkMaps stout_links(const StoutWeights& rho, int steps) {
  if (steps < 0) throw ShapeError("stout_links: expected a number of steps >= 0, got " + std::to_string(steps));
  return LinkMaps(static_cast<std::size_t>(steps), std::make_shared<StoutLinks>(rho));
}

}  // namespace qcd
