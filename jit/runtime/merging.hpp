// Launches side by side as one, on devices without caches to speak of.
//
// Where threads have many registers, as on GPUs, and caches are small for what so many threads touch, what several launches of a kernel
// have in common is best read by one thread for all of them: the links of a hopping term are two thirds of what it reads, and
// four right-hand sides read them once. A lattice that is too small to fill a GPU is computed in the time of one side, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/runtime.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/variants.hpp"

namespace jit {

class Merging {
 public:
  /// Does nothing on devices of which `useful` is false.
  Merging(KernelTable& table, Variants& variants, bool useful) : table_(table), variants_(variants), useful_(useful) {}

  /// Parts of a plan side by side (Plan::side_by_side), fewer if some of them are launches of the same kernel that share a field. Good
  /// until the next call.
  std::span<const Launch> merge(std::span<const Launch> parts);
  /// Launches that would have been merged, but for code that is being made beside the program.
  std::int64_t postponed() const { return postponed_; }

 private:
  KernelHandle& kernel_for(const KernelHandle& kernel, std::size_t sides, std::uint64_t shared);
  bool add(std::span<const Launch> parts, std::uint64_t shared);

  KernelTable& table_;
  Variants& variants_;
  const bool useful_;
  std::int64_t postponed_ = 0;
  std::vector<Launch> merged_;
  std::vector<Field*> fields_;
  std::vector<std::uint64_t> scalars_;
};

}  // namespace jit
