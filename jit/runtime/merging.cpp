#include "jit/runtime/merging.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "jit/ir/side_by_side.hpp"
#include "jit/runtime/launch.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

// A thread of a GPU has 255 registers; assemblers find orders that take a tenth less than the one that is counted in.
constexpr std::size_t kMostRegisters = 280;
// A power of two, and so are the numbers that are merged: sides that are done drop out, and each number is a kernel of its own.
constexpr std::size_t kMostSides = 4;
// Beyond that compilers take long, and operands are too many streams.
constexpr std::size_t kMostNodes = 8000, kMostReductions = 24, kMostLeaves = 32;

bool contains(std::uint64_t shared, std::size_t leaf) { return (shared >> leaf & 1) != 0; }

ir::Kernel merged(const ir::Kernel& kernel, std::size_t sides, std::uint64_t shared) {
  std::vector<bool> list;
  for (std::size_t l = 0; l < kernel.leaves.size(); ++l) list.push_back(contains(shared, l));
  return ir::side_by_side(kernel, static_cast<int>(sides), list);
}

/// Whether one kernel may do what two launches do: all that it has once is the same for both.
bool are_alike(const Launch& a, const Launch& b) {
  return a.kernel == b.kernel && a.domain == b.domain && a.sites_of_all == b.sites_of_all &&
         a.component == b.component && std::ranges::equal(a.maps, b.maps) &&
         b.result == a.result + static_cast<int>(a.kernel->ir.reductions.size());
}

/// Bit l: the launches have the same field l, and it is only read.
std::uint64_t shared_fields(std::span<const Launch> parts) {
  const std::vector<ir::Leaf>& leaves = parts[0].kernel->ir.leaves;
  if (leaves.size() > 64) return 0;
  std::uint64_t shared = 0;
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const auto is_same = [&](const Launch& part) { return part.fields[l] == parts[0].fields[l]; };
    if (!leaves[l].written && std::ranges::all_of(parts, is_same)) shared |= std::uint64_t{1} << l;
  }
  return shared;
}

/// How many of them a thread has registers for.
std::size_t most_sides(KernelHandle& kernel, std::uint64_t shared) {
  const auto [known, is_new] = kernel.most_sides.try_emplace(shared, 1);
  if (!is_new) return known->second;
  for (std::size_t sides = kMostSides; sides > 1; sides /= 2) {
    const ir::Kernel all = merged(kernel.ir, sides, shared);
    const std::size_t registers = ir::most_registers(all);
    log_debug("tune", all.name, ": ", all.nodes.size(), " nodes, about ", registers, " registers");
    if (all.nodes.size() <= kMostNodes && all.reductions.size() <= kMostReductions &&
        all.leaves.size() <= kMostLeaves && registers <= kMostRegisters)
      return known->second = sides;
  }
  return 1;
}

}  // namespace

KernelHandle& Merging::kernel_for(const KernelHandle& kernel, std::size_t sides, std::uint64_t shared) {
  return table_.derived(kernel, "side by side " + std::to_string(sides) + " " + std::to_string(shared),
                        [&](const ir::Kernel& of) { return merged(of, sides, shared); });
}

/// One launch for all of them. False: its code is not there yet.
bool Merging::add(std::span<const Launch> parts, std::uint64_t shared) {
  Launch one = parts[0];
  one.kernel = &kernel_for(*one.kernel, parts.size(), shared);
  if (!variants_.is_at_hand(*one.kernel, size_class_of(*one.domain), bytes_of_all(one))) return false;
  const std::size_t fields = fields_.size(), scalars = scalars_.size();
  for (std::size_t l = 0; l < parts[0].fields.size(); ++l)
    for (std::size_t side = 0; side < (contains(shared, l) ? 1 : parts.size()); ++side)
      fields_.push_back(parts[side].fields[l]);
  for (std::size_t a = 0; a < parts[0].scalars.size(); ++a)
    for (const Launch& part : parts) scalars_.push_back(part.scalars[a]);
  one.fields = std::span(fields_).subspan(fields);
  one.scalars = std::span(scalars_).subspan(scalars);
  merged_.push_back(one);
  return true;
}

std::span<const Launch> Merging::merge(std::span<const Launch> parts) {
  if (!useful_ || parts.size() < 2) return parts;
  merged_.clear();
  std::size_t fields = 0, scalars = 0;
  for (const Launch& part : parts) fields += part.fields.size(), scalars += part.scalars.size();
  fields_.clear();
  scalars_.clear();
  fields_.reserve(fields);  // INVARIANT: what launches refer to does not move
  scalars_.reserve(scalars);
  while (!parts.empty()) {
    std::size_t alike = 1;
    while (alike < parts.size() && are_alike(parts[alike - 1], parts[alike])) ++alike;
    std::size_t sides = std::bit_floor(std::min(alike, kMostSides));
    std::uint64_t shared = 0;
    for (; sides > 1; sides /= 2) {
      shared = shared_fields(parts.first(sides));
      if (shared != 0 && sides <= most_sides(*parts[0].kernel, shared)) break;
    }
    if (sides < 2 || !add(parts.first(sides), shared)) {
      merged_.insert(merged_.end(), parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(sides));
      postponed_ += sides > 1;
    }
    parts = parts.subspan(sides);
  }
  return merged_;
}

}  // namespace jit
