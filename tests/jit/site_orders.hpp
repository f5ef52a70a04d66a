// Orders of sites for tests of the run time: any permutation, any number of lanes, with and without padding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>

#include "jit/memory/sites.hpp"

namespace tests {

/// `sites` sites at random positions of ceil(sites / lanes) + extra_groups groups.
inline std::shared_ptr<const jit::SiteOrder> random_order(int lanes, std::int64_t sites, std::int64_t extra_groups = 0,
                                                          unsigned seed = 1) {
  auto order = std::make_shared<jit::SiteOrder>();
  order->lanes = lanes;
  order->sites = sites;
  order->groups = (sites + lanes - 1) / lanes + extra_groups;
  order->first_odd = order->groups / 2;
  order->host_index.assign(static_cast<std::size_t>(order->groups * lanes), -1);
  std::iota(order->host_index.begin(), order->host_index.begin() + sites, 0);
  std::mt19937 random(seed);
  std::shuffle(order->host_index.begin(), order->host_index.end(), random);
  order->position.resize(static_cast<std::size_t>(sites));
  for (std::size_t p = 0; p < order->host_index.size(); ++p)
    if (order->host_index[p] >= 0)
      order->position[static_cast<std::size_t>(order->host_index[p])] = static_cast<std::int32_t>(p);
  return order;
}

/// All sites: a range if there is no padding, otherwise a list whose masks leave the padding out.
inline jit::Domain everything(const jit::SiteOrder& order) {
  jit::Domain domain;
  domain.sites = order.sites;
  domain.whole = true;
  domain.end = order.groups;
  domain.listed = order.groups * order.lanes != order.sites;
  if (domain.listed)
    for (std::int64_t g = 0; g < order.groups; ++g) {
      std::uint64_t mask = 0;
      for (int l = 0; l < order.lanes; ++l)
        if (order.host_index[static_cast<std::size_t>(g * order.lanes + l)] >= 0) mask |= std::uint64_t{1} << l;
      domain.groups.push_back(static_cast<std::int32_t>(g));
      domain.masks.push_back(mask);
    }
  return domain;
}

}  // namespace tests
