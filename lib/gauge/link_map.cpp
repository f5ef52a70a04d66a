#include "lib/gauge/link_map.hpp"

#include "lib/gauge/su3.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

bool same_maps(const LinkMaps& a, const LinkMaps& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || x->same_as(*y); });
}

}  // namespace

LinkState::LinkState(const GaugeField& u, const LinkMaps& maps) : maps_(maps) {
  require_gauge_field(u, "LinkState");
  stages_.push_back(u);
  for (const auto& map : maps_) stages_.push_back(map->apply(stages_.back()));
}

void LinkState::pull_back(GaugeField& g) const {
  require_gauge_field(g, "LinkState::pull_back");
  for (std::size_t k = maps_.size(); k-- > 0;) maps_[k]->pull_back(g, stages_[k]);
}

GaugeField LinkState::force(GaugeField& g) const {
  pull_back(g);
  GaugeField f(Nd);
  for (int mu = 0; mu < Nd; ++mu) f[mu] = taproj(gauge()[mu] * g[mu]);
  return f;
}

std::shared_ptr<const LinkState> LinkStates::of(const LinkMaps& maps) {
  for (const auto& state : states_)
    if (same_maps(state->maps(), maps)) return state;
  states_.push_back(std::make_shared<LinkState>(u_, maps));
  return states_.back();
}

}  // namespace qcd
