// Memory that a run needs, and that there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qcd {

/// Bytes that this process can get now: what Linux calls available, or what is left to its control group if that is less.
/// Nothing where neither is known. `root` stands before the paths of /proc and /sys, for tests.
std::optional<std::uint64_t> available_memory(const std::string& root = "");

/// Nothing if fields of `bytes_per_site` fit on a lattice; else "needs at least 38 GiB, 20 GiB are available".
std::string memory_fault(const std::vector<int>& lattice, double bytes_per_site,
                         std::optional<std::uint64_t> available);

/// Bytes per site: at least.
struct MemoryNeed {
  double kept = 0;     ///< as long as the run lasts
  double working = 0;  ///< besides, while it works
};

}  // namespace qcd
