// What a launch moves.
#pragma once

#include <algorithm>

#include "jit/runtime.hpp"
#include "jit/runtime/kernel_table.hpp"

namespace jit {

inline double bytes_per_site(const Launch& launch) {
  const KernelCost& cost = launch.kernel->cost;
  return launch.domain->whole ? cost.bytes : cost.bytes_of_part;
}
/// Of the statement that it is a part of: how it runs is chosen for that.
inline double bytes_of_all(const Launch& launch) {
  return static_cast<double>(std::max(launch.domain->sites, launch.sites_of_all)) * bytes_per_site(launch);
}

}  // namespace jit
