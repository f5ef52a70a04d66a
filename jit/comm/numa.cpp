#include "jit/comm/numa.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#if __has_include(<hwloc.h>)
#include <hwloc.h>
#endif

#include "jit/comm/collectives.hpp"
#include "jit/support/env.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

cpu_set_t both(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t set;
  CPU_AND(&set, &a, &b);
  return set;
}

/// "0-7,16-23"
std::string to_text(const cpu_set_t& set) {
  std::string text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::size_t first = cpu;
    while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, &set)) ++cpu;
    text += (text.empty() ? "" : ",") + std::to_string(first) + (cpu > first ? "-" + std::to_string(cpu) : "");
  }
  return text;
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

#if __has_include(<hwloc.h>)

std::vector<cpu_set_t> numa_domains() {
  void* const library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);  // of the interface 2.x
  if (library == nullptr) return {};
  bool complete = true;
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
  decltype(hwloc_topology_init)* init;
  decltype(hwloc_topology_load)* load;
  decltype(hwloc_topology_destroy)* destroy;
  decltype(hwloc_get_nbobjs_by_depth)* count;
  decltype(hwloc_get_obj_by_depth)* object;
  decltype(hwloc_bitmap_next)* next;
  find(init, "hwloc_topology_init");
  find(load, "hwloc_topology_load");
  find(destroy, "hwloc_topology_destroy");
  find(count, "hwloc_get_nbobjs_by_depth");
  find(object, "hwloc_get_obj_by_depth");
  find(next, "hwloc_bitmap_next");
  std::vector<cpu_set_t> domains;
  hwloc_topology_t topology = nullptr;
  if (complete && init(&topology) == 0) {
    if (load(topology) == 0)
      for (unsigned i = 0; i < count(topology, HWLOC_TYPE_DEPTH_NUMANODE); ++i) {
        cpu_set_t set;
        CPU_ZERO(&set);
        hwloc_const_cpuset_t processors = object(topology, HWLOC_TYPE_DEPTH_NUMANODE, i)->cpuset;
        for (int cpu = next(processors, -1); cpu >= 0 && cpu < CPU_SETSIZE; cpu = next(processors, cpu))
          CPU_SET(static_cast<std::size_t>(cpu), &set);
        if (CPU_COUNT(&set) > 0) domains.push_back(set);
      }
    destroy(topology);
  }
  dlclose(library);
  return domains;
}

#else

std::vector<cpu_set_t> numa_domains() { return {}; }

#endif

std::optional<cpu_set_t> share_of_domains(std::span<const cpu_set_t> domains, const cpu_set_t& allowed, int rank,
                                          int ranks) {
  std::vector<cpu_set_t> here;
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (const cpu_set_t& domain : domains) {
    const cpu_set_t ours = both(domain, allowed);
    if (CPU_COUNT(&ours) == 0) continue;
    const cpu_set_t twice = both(ours, seen);
    if (CPU_COUNT(&twice) > 0 || (!here.empty() && CPU_COUNT(&ours) != CPU_COUNT(&here[0]))) return std::nullopt;
    CPU_OR(&seen, &seen, &ours);
    here.push_back(ours);
  }
  const int all = static_cast<int>(here.size());
  if (all < 2 || !CPU_EQUAL(&seen, &allowed) || (all % ranks != 0 && ranks % all != 0)) return std::nullopt;
  const int first = rank * all / ranks, last = ranks < all ? first + all / ranks : first + 1;
  cpu_set_t mine = here[static_cast<std::size_t>(first)];
  for (int d = first + 1; d < last; ++d) CPU_OR(&mine, &mine, &here[static_cast<std::size_t>(d)]);
  return mine;
}

void stay_in_domain(Communicator& ranks, std::span<const int> hosts) {
  const std::vector<cpu_set_t> masks = processors_of(ranks);
  if (!env().numa || is_set("OMP_PROC_BIND") || is_set("OMP_PLACES") || is_set("GOMP_CPU_AFFINITY")) return;
  const Host host = place_on_host(ranks, hosts);
  const cpu_set_t& mine = masks[static_cast<std::size_t>(ranks.rank())];
  for (std::size_t r = 0; r < masks.size(); ++r)
    if (hosts[r] == host.first && !CPU_EQUAL(&masks[r], &mine)) return;  // somebody has shared the processors out
  const std::optional<cpu_set_t> share = share_of_domains(numa_domains(), mine, host.rank, host.ranks);
  if (!share || sched_setaffinity(0, sizeof *share, &*share) != 0) return;
  log_info("comm", "stays in its part of the NUMA domains: processors ", to_text(*share));
}

}  // namespace jit
