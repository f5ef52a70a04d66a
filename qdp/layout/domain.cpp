#include "qdp/layout/domain.hpp"

#include <bit>
#include <cstdint>

namespace QDP::detail {

namespace {

/// Lanes of a group that hold a site.
std::uint64_t occupied(const jit::SiteOrder& order, std::int64_t group) {
  std::uint64_t mask = 0;
  for (int lane = 0; lane < order.lanes; ++lane)
    if (order.host_index[group * order.lanes + lane] >= 0) mask |= std::uint64_t{1} << lane;
  return mask;
}

}  // namespace

void use_range_if_possible(jit::Domain& domain, int lanes) {
  domain.listed = true;
  domain.begin = 0;
  domain.end = static_cast<std::int64_t>(domain.groups.size());
  for (std::size_t i = 0; i < domain.groups.size(); ++i)
    if (domain.masks[i] != every_lane(lanes) || domain.groups[i] != domain.groups[0] + static_cast<std::int32_t>(i))
      return;
  domain.listed = false;
  domain.begin = domain.groups.empty() ? 0 : domain.groups.front();
  domain.end = domain.groups.empty() ? 0 : domain.groups.back() + 1;
  domain.groups = {};
  domain.masks = {};
}

std::vector<jit::Domain> make_domains(const jit::SiteOrder& order, const multi1d<int>& colors, int n) {
  std::vector<jit::Domain> domains(n);
  for (std::int64_t group = 0; group < order.groups; ++group) {
    const auto color_of = [&](int lane) { return colors[order.host_index[group * order.lanes + lane]]; };
    std::uint64_t left = occupied(order, group);
    while (left != 0) {  // one colour of the group at a time
      const int color = color_of(std::countr_zero(left));
      std::uint64_t mask = 0;
      for (std::uint64_t rest = left; rest != 0; rest &= rest - 1)
        if (color_of(std::countr_zero(rest)) == color) mask |= rest & -rest;
      left &= ~mask;
      domains[color].groups.push_back(static_cast<std::int32_t>(group));
      domains[color].masks.push_back(mask);
      domains[color].sites += std::popcount(mask);
    }
  }
  for (jit::Domain& domain : domains) {
    domain.whole = domain.sites == order.sites;
    use_range_if_possible(domain, order.lanes);
  }
  return domains;
}

}  // namespace QDP::detail
