// Ranks and the NUMA domains of their machine: a rank whose threads wander reads memory that lies elsewhere.
#pragma once

#include <sched.h>

#include <optional>
#include <span>
#include <vector>

#include "jit/comm/communicator.hpp"

namespace jit {

/// The processors of each NUMA domain of this machine that has any, in the order of libhwloc; empty if that library is not here.
std::vector<cpu_set_t> numa_domains();

/// Where rank number `rank` of the `ranks` of a machine stays if all of them may run on `allowed`: several ranks in each domain, or
/// several domains for each rank. Nothing if there are not two domains, or if they cannot be shared out so that all have
/// as many processors.
std::optional<cpu_set_t> share_of_domains(std::span<const cpu_set_t> domains, const cpu_set_t& allowed, int rank,
                                          int ranks);

/// At the start of a job, before there are threads: ranks of a machine that nobody has bound to processors, neither the launcher nor OpenMP,
/// stay where their share of its domains is, unless TESSERA_NUMA=0. `hosts`: as hosts_of() tells. Collective.
void stay_in_domain(Communicator& ranks, std::span<const int> hosts);

}  // namespace jit
