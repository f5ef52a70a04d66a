#include "jit/memory/sites.hpp"

#include <atomic>

namespace jit {
namespace {

std::vector<std::int32_t> padded(std::vector<std::int32_t> table) {
  if (!table.empty()) table.insert(table.end(), kTablePadding, table.back());
  return table;
}

}  // namespace

std::uint64_t Identity::next() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

SiteMap SiteMap::gathered(std::vector<std::int32_t> sources) {
  SiteMap map;
  map.positions_ = padded(std::move(sources));
  return map;
}

SiteMap SiteMap::structured(std::vector<std::int32_t> group_sources, int lanes, LaneExchange exchange) {
  SiteMap map;
  map.groups_ = padded(std::move(group_sources));
  map.lanes_ = lanes;
  map.exchange_ = exchange;
  return map;
}

const std::vector<std::int32_t>& SiteMap::derived_sources() const {
  return derived_.get([this] {
    std::vector<std::int32_t> sources;
    const auto positions = static_cast<std::int32_t>(groups_.size() - kTablePadding) * lanes_;
    sources.reserve(static_cast<std::size_t>(positions) + kTablePadding);
    for (std::int32_t position = 0; position < positions; ++position) sources.push_back(source(position));
    return std::make_unique<std::vector<std::int32_t>>(padded(std::move(sources)));
  });
}

std::size_t SiteMap::bytes() const {
  const std::size_t derived = derived_.made() != nullptr ? derived_.made()->size() : 0;
  std::size_t sources = 0;
  if (off_rank_)
    for (const OffRank::Partner& partner : off_rank_->from) sources += partner.sources.size();
  return (positions_.size() + groups_.size() + derived) * sizeof(std::int32_t) + sources * sizeof(OffRank::Source);
}

}  // namespace jit
