// From colours of sites to what kernels visit: groups of lanes.
#pragma once

#include "jit/memory/sites.hpp"
#include "qdp/util/multi.hpp"

#include <vector>

namespace QDP::detail {

/// The sites of each colour 0 .. n-1 as a domain. `colors`: [sites] by host index.
/// A domain is a range of groups where it can be: neighbouring groups of which every lane takes part. Groups with
/// padding always are listed, because a kernel over a range takes every lane. A colour without sites is an empty range.
std::vector<jit::Domain> make_domains(const jit::SiteOrder& order, const multi1d<int>& colors, int n);

}  // namespace QDP::detail
