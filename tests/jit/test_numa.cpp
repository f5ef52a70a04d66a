// Ranks of a machine and its NUMA domains.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "jit/comm/numa.hpp"
#include "tests/skip.hpp"

using jit::share_of_domains;

namespace {

using Processors = std::vector<int>;

cpu_set_t set_of(const Processors& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : processors) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return set;
}
Processors list_of(const cpu_set_t& set) {
  Processors processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) processors.push_back(cpu);
  return processors;
}
/// What each of so many ranks gets; empty: they go where they like.
std::vector<Processors> shared_out(const std::vector<Processors>& domains, const Processors& allowed, int ranks) {
  std::vector<cpu_set_t> sets;
  for (const Processors& domain : domains) sets.push_back(set_of(domain));
  std::vector<Processors> shares;
  for (int rank = 0; rank < ranks; ++rank)
    if (const auto share = share_of_domains(sets, set_of(allowed), rank, ranks)) shares.push_back(list_of(*share));
  return shares;
}

}  // namespace

TEST_CASE("ranks of a machine share its domains, if all get as many processors") {
  using Shares = std::vector<Processors>;
  const std::vector<Processors> two{{0, 1, 4, 5}, {2, 3, 6, 7}}, four{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  const Processors all{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(shared_out(two, all, 1) == Shares{all});
  CHECK(shared_out(two, all, 2) == Shares(two));
  CHECK(shared_out(two, all, 4) == Shares{two[0], two[0], two[1], two[1]});
  CHECK(shared_out(two, all, 3).empty());
  CHECK(shared_out(four, all, 2) == Shares{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(shared_out(four, all, 4) == Shares(four));
  CHECK(shared_out(four, all, 8) == Shares{four[0], four[0], four[1], four[1], four[2], four[2], four[3], four[3]});
  CHECK(shared_out(four, all, 6).empty());
  CHECK(shared_out({all}, all, 2).empty());  // one domain
  CHECK(shared_out({}, all, 2).empty());     // no libhwloc
  // What a batch system has left of the machine.
  CHECK(shared_out(four, {2, 3, 6, 7}, 2) == Shares{{2, 3}, {6, 7}});
  CHECK(shared_out(two, {0, 1, 2, 3}, 2) == Shares{{0, 1}, {2, 3}});
  CHECK(shared_out(two, {0, 1, 2}, 2).empty());               // unequal
  CHECK(shared_out(two, {0, 1, 4, 5}, 2).empty());            // one of them
  CHECK(shared_out(two, {0, 1, 2, 3, 8}, 2).empty());         // one processor that no domain knows of
  CHECK(shared_out({{0, 1}, {1, 2}}, {0, 1, 2}, 2).empty());  // one in two
}

TEST_CASE("libhwloc tells the domains of a machine") {
  if (jit::numa_domains().empty()) TESSERA_SKIP("libhwloc is not here, or its header was not when this was built");
  Processors seen;
  for (const cpu_set_t& domain : jit::numa_domains())
    for (const int cpu : list_of(domain)) seen.push_back(cpu);
  CHECK(seen.size() >= 1);
  setenv("HWLOC_SYNTHETIC", "numa:2 core:3 pu:2", 1);
  const auto domains = jit::numa_domains();
  unsetenv("HWLOC_SYNTHETIC");
  REQUIRE(domains.size() == 2);
  CHECK(list_of(domains[0]) == Processors{0, 1, 2, 3, 4, 5});
  CHECK(list_of(domains[1]) == Processors{6, 7, 8, 9, 10, 11});
}
