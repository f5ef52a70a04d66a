#include "jit/support/cores.hpp"

#include <sched.h>

#include <atomic>

namespace jit {
namespace {

constinit std::atomic<double> told{0};
constinit std::atomic<int> place{0}, all_there{1};

}  // namespace

double cores_of_process() {
  if (const double cores = told.load(std::memory_order_relaxed); cores > 0) return cores;
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void set_cores_of_process(double cores) { told.store(cores, std::memory_order_relaxed); }

int rank_on_host() { return place.load(std::memory_order_relaxed); }

int ranks_on_host() { return all_there.load(std::memory_order_relaxed); }

void set_rank_on_host(int rank, int ranks) {
  place.store(rank, std::memory_order_relaxed);
  all_there.store(ranks, std::memory_order_relaxed);
}

}  // namespace jit
