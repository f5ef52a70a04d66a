#include "lib/meas/link_smearing.hpp"

#include "lib/smear/ape.hpp"
#include "lib/smear/hyp.hpp"
#include "lib/smear/stout.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

GaugeField unsmeared(const GaugeField& u) { return u; }

/// [BlkAccu = 1e-5], [BlkMax = 100]: Chroma's defaults.
Projection read_projection(const Input& in) {
  return {in.real("BlkAccu", {0, 1}, 1e-5), in.integer("BlkMax", at_least(1), 100)};
}

/// A direction, or any other number for none.
int read_no_smear_dir(const Input& in, int fallback) {
  const int direction = in.integer("no_smear_dir", {}, fallback);
  return direction < Nd ? direction : -1;
}

LinkSmearing read_ape(const Input& in) {
  ApeSmearing ape;
  ape.factor = in.real("link_smear_fact");
  ape.steps = in.integer("link_smear_num", at_least(0));
  ape.no_smear_dir = read_no_smear_dir(in, -1);
  ape.projection = read_projection(in);
  return [ape](const GaugeField& u) { return ape_smeared(u, ape); };
}

LinkSmearing read_hyp(const Input& in) {
  HypSmearing hyp;
  hyp.alpha1 = in.real("alpha1");
  hyp.alpha2 = in.real("alpha2");
  hyp.alpha3 = in.real("alpha3");
  hyp.steps = in.integer("num_smear", at_least(0), 1);
  hyp.no_smear_dir = read_no_smear_dir(in, -1);
  hyp.projection = read_projection(in);
  return [hyp](const GaugeField& u) { return hyp_smeared(u, hyp); };
}

LinkSmearing read_stout_smearing(const Input& in) {
  const double rho = in.real("link_smear_fact");
  const int steps = in.integer("link_smear_num", at_least(0));
  std::vector<bool> smear(Nd, true);
  if (in.has("smear_dirs")) {
    const std::vector<int> flags = in.integers("smear_dirs", Nd, {0, 1});
    std::transform(flags.begin(), flags.end(), smear.begin(), [](int flag) { return flag != 0; });
  } else if (const int without = read_no_smear_dir(in, -1); without >= 0) {
    smear[static_cast<std::size_t>(without)] = false;
  }
  return [maps = stout_links(stout_weights(rho, smear), steps)](const GaugeField& u) {
    return LinkState(u, maps).links();
  };
}

}  // namespace

const Table<LinkSmearing>& link_smearing_table() {
  static const Table<LinkSmearing> table(
      "a link smearing",
      {
          {"NONE", "links as they are", [](const Input&) -> LinkSmearing { return unsmeared; }},
          {"APE_SMEAR",
           "link_smear_fact (weight of the link), link_smear_num, [no_smear_dir], [BlkAccu = 1e-5, BlkMax = 100]: link "
           "plus staples, projected",
           read_ape},
          {"HYP_SMEAR",
           "alpha1, alpha2, alpha3, [num_smear = 1], [no_smear_dir], [BlkAccu = 1e-5, BlkMax = 100]: hypercubic "
           "blocking",
           read_hyp},
          {"STOUT_SMEAR", "link_smear_fact (rho), link_smear_num, [smear_dirs: Nd times 0 or 1] or [no_smear_dir]",
           read_stout_smearing},
      });
  return table;
}

LinkSmearing read_link_smearing(const Input& group) {
  const auto* row = link_smearing_table().find(group, "LinkSmearingType");
  return row ? row->make(group) : unsmeared;
}

LinkSmearing read_optional_link_smearing(const Input& parent) {
  return parent.has("LinkSmearing") ? read_link_smearing(parent.group("LinkSmearing")) : unsmeared;
}

}  // namespace qcd
