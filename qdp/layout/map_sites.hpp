// Maps as tables: for every site, the site that its value comes from.
#pragma once

#include "jit/memory/sites.hpp"
#include "qdp/layout/geometry.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace QDP::detail {

/// Stands for a source on another rank.
constexpr std::int32_t kElsewhere = -1;

/// A map from one order to another: [sites of `target`] the position of the source of each, or kElsewhere. Structured
/// as make_map says.
jit::SiteMap map_between(const jit::SiteOrder& target, const std::vector<std::int32_t>& source);
/// The table of `source`: [sites] host index of the site that each site's value comes from, in host order, or kElsewhere.
/// Structured whenever every group takes all its sites from one group, in the same lanes or with one common exchange;
/// that holds for the shifts of a lattice cut into virtual nodes, and is found by looking.
jit::SiteMap make_map(const jit::SiteOrder& order, const std::vector<std::int32_t>& source);
/// The reverse of make_map.
std::vector<std::int32_t> host_sources(const jit::SiteOrder& order, const jit::SiteMap& map);

/// result(x) = source(x + sign mu), periodic, on a lattice of which `rank` has the sites in this order.
jit::SiteMap make_neighbours(const Geometry& lattice, const RankGrid& grid, int rank, const jit::SiteOrder& order,
                             int sign, int mu);

}  // namespace QDP::detail
