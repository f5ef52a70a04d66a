#include "lib/smear/ape.hpp"

#include "lib/smear/staples.hpp"

namespace qcd {

using namespace QDP;

GaugeField ape_smeared(const GaugeField& u, const ApeSmearing& smearing) {
  require_gauge_field(u, "ape_smeared");
  GaugeField from = u, to(Nd);
  for (int step = 0; step < smearing.steps; ++step) {
    for (int mu = 0; mu < Nd; ++mu) {
      to[mu] = from[mu];
      if (mu == smearing.no_smear_dir) continue;
      ColorMatrixExpr sum = Real(smearing.factor) * from[mu];
      for (int nu = 0; nu < Nd; ++nu)
        if (nu != mu && nu != smearing.no_smear_dir) sum = sum + staple_pair(from[nu], from[mu], mu, nu);
      const LatticeColorMatrix target = sum;
      project(to[mu], target, smearing.projection);
    }
    std::swap(from, to);
  }
  return from;
}

}  // namespace qcd
