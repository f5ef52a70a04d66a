#include "jit/memory/sites.hpp"

#include <utility>

namespace jit {
namespace {

std::vector<std::int32_t> padded(std::vector<std::int32_t> table) {
  if (!table.empty()) table.insert(table.end(), kTablePadding, table.back());
  return table;
}

}  // namespace

SiteMap SiteMap::gathered(std::vector<std::int32_t> sources) {
  SiteMap map;
  map.positions_ = padded(std::move(sources));
  return map;
}

SiteMap SiteMap::structured(std::vector<std::int32_t> group_sources, int lanes, int lane_xor) {
  SiteMap map;
  map.groups_ = padded(std::move(group_sources));
  map.lanes_ = lanes;
  map.lane_xor_ = lane_xor;
  return map;
}

const std::vector<std::int32_t>& SiteMap::derived_sources() const {
  return derived_.get([this] {
    std::vector<std::int32_t> sources;
    const std::size_t groups = groups_.size() - kTablePadding;
    sources.reserve(groups * static_cast<std::size_t>(lanes_) + kTablePadding);
    for (std::size_t group = 0; group < groups; ++group)
      for (int lane = 0; lane < lanes_; ++lane)
        sources.push_back(groups_[group] / 2 * lanes_ + (groups_[group] % 2 != 0 ? lane ^ lane_xor_ : lane));
    return std::make_unique<std::vector<std::int32_t>>(padded(std::move(sources)));
  });
}

std::size_t SiteMap::bytes() const {
  const std::size_t derived = derived_.made() != nullptr ? derived_.made()->size() : 0;
  return (positions_.size() + groups_.size() + derived) * sizeof(std::int32_t);
}

}  // namespace jit
