// A map as a table: for every site, the site that its value comes from.
#pragma once

#include "jit/runtime/sites.hpp"
#include "qdp/layout/geometry.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace QDP::detail {

/// Light to copy. Two tables with one id are the same map.
struct MapTable {
  std::shared_ptr<const jit::SiteMap> sites;
  std::shared_ptr<const jit::SiteOrder> order;  ///< the layout it was made for
  std::uint64_t id = 0;                         ///< 0: not made
};

/// The table of `source`: [sites] host index of the site that each site's value comes from, in host order.
/// Structured whenever every group takes all its sites from one group, in the same lanes or with one common exchange
/// l -> l ^ lane_xor; that holds for the shifts of a lattice cut into virtual nodes, and is found by looking.
MapTable make_map_table(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<std::int32_t>& source);

/// The reverse of make_map_table.
std::vector<std::int32_t> host_sources(const MapTable& table);

}  // namespace QDP::detail
