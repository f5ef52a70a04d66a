#include "lib/smear/hyp.hpp"

#include "lib/smear/staples.hpp"

#include <bitset>
#include <map>
#include <utility>

namespace qcd {

using namespace QDP;

namespace {

using Directions = std::bitset<Nd>;

/// The links V_mu;D of one smearing step, each computed once.
class DecoratedLinks {
 public:
  DecoratedLinks(const GaugeField& u, const HypSmearing& smearing) : u_(u), smearing_(smearing) {}

  const LatticeColorMatrix& link(int mu, const Directions& d) {
    if (d.none()) return u_[mu];
    const auto key = std::make_pair(mu, d.to_ulong());
    if (const auto known = links_.find(key); known != links_.end()) return known->second;
    return links_.emplace(key, decorated(mu, d)).first->second;
  }

 private:
  LatticeColorMatrix decorated(int mu, const Directions& d) {
    const double alpha = d.count() == 1 ? smearing_.alpha3 : d.count() == 2 ? smearing_.alpha2 : smearing_.alpha1;
    const double weight = alpha / (2.0 * static_cast<double>(d.count()));
    ColorMatrixExpr sum = Real(1 - alpha) * u_[mu];
    for (int nu = 0; nu < Nd; ++nu) {
      if (!d[static_cast<std::size_t>(nu)]) continue;
      Directions rest = d;
      rest.reset(static_cast<std::size_t>(nu));
      sum = sum + Real(weight) * staple_pair(link(nu, rest), link(mu, rest), mu, nu);
    }
    const LatticeColorMatrix target = sum;
    LatticeColorMatrix v = u_[mu];
    project(v, target, smearing_.projection);
    return v;
  }

  const GaugeField& u_;
  const HypSmearing& smearing_;
  std::map<std::pair<int, unsigned long>, LatticeColorMatrix> links_;
};

}  // namespace

GaugeField hyp_smeared(const GaugeField& u, const HypSmearing& smearing) {
  require_gauge_field(u, "hyp_smeared");
  GaugeField v = u;
  for (int step = 0; step < smearing.steps; ++step) {
    const GaugeField from = v;
    DecoratedLinks links(from, smearing);
    for (int mu = 0; mu < Nd; ++mu) {
      Directions d;
      for (int nu = 0; nu < Nd; ++nu) d[static_cast<std::size_t>(nu)] = nu != mu && nu != smearing.no_smear_dir;
      if (mu != smearing.no_smear_dir) v[mu] = links.link(mu, d);
    }
  }
  return v;
}

}  // namespace qcd
