// From colours of sites to what kernels visit: groups of lanes.
#pragma once

#include "jit/memory/sites.hpp"
#include "qdp/util/multi.hpp"

#include <vector>

namespace QDP::detail {

/// The mask of a whole group.
constexpr std::uint64_t every_lane(int lanes) {
  return lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
}

/// The sites of each colour 0 .. n-1 as a domain. `colors`: [sites] by host index.
/// A domain is a range of groups where it can be: neighbouring groups of which every lane takes part. Groups with
/// padding always are listed, because a kernel over a range takes every lane. A colour without sites is an empty range.
std::vector<jit::Domain> make_domains(const jit::SiteOrder& order, const multi1d<int>& colors, int n);

/// The groups of a list and their lanes as a domain: a range where it can be. The domain is listed, and has no sites counted.
void use_range_if_possible(jit::Domain& domain, int lanes);

}  // namespace QDP::detail
