// What tests ask of the simulated GPU besides the interface in driver.hpp. The process has one count over all drivers.
#pragma once

#include <cstdint>

namespace jit {

struct SimulatedCounts {
  std::int64_t allocations = 0;  ///< calls of allocate()
  std::int64_t launches = 0;     ///< calls of launch()
  std::int64_t copies = 0;       ///< calls of copy_in(), copy_out(), copy_rows_in(), copy_rows_out() and clear()
};

/// The calls so far, those that failed included.
SimulatedCounts simulated_counts();

/// Lets the n-th call of each kind from now on fail, once; 0: none. Takes the place of what was asked for before, as
/// opening a simulated driver does.
void set_simulated_faults(const SimulatedCounts& next);

}  // namespace jit
