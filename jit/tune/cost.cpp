#include "jit/tune/cost.hpp"

#include <set>
#include <tuple>
#include <vector>

#include "jit/ir/nodes.hpp"
#include "jit/ir/trips.hpp"

namespace jit {
namespace {

double flops(ir::Op op) {
  using enum ir::Op;
  switch (op) {
    case fma:
      return 2;
    case add:
    case sub:
    case mul:
    case div:
    case rem:
    case min:
    case max:
    case sqrt:
    case floor:
    case ceil:
      return 1;
    default:
      return ir::is_elementary(op) ? 1 : 0;
  }
}

}  // namespace

KernelCost cost(const ir::Kernel& kernel) {
  KernelCost result;
  for (const ir::Leaf& leaf : kernel.leaves) result.reads_written |= leaf.read && leaf.written;
  for (const ir::Slot& slot : kernel.slots) result.structured |= slot.parent >= 0 && !slot.gathered;

  for (const std::size_t slots : ir::slots_of_leaves(kernel)) result.shares_neighbours |= ir::is_shared(slots);

  // Odd and even numbers of hops read different checkerboards.
  std::vector<bool> odd(kernel.slots.size());
  for (std::size_t s = 0; s < kernel.slots.size(); ++s)
    if (kernel.slots[s].parent >= 0) odd[s] = !odd[static_cast<std::size_t>(kernel.slots[s].parent)];

  std::set<std::tuple<int, int, int, bool>> read;  // leaf, what it is shifted by, word, odd
  const auto word_bytes = [&](int leaf) { return ir::bytes(kernel.leaves[static_cast<std::size_t>(leaf)].word); };
  const int runs = ir::runs(kernel);
  for (int run = 0; run < runs; ++run) {
    const int trip = run % kernel.trips, round = run / kernel.trips;
    for (const ir::Node& node : kernel.nodes)
      if (node.op == ir::Op::load)
        read.emplace(node.place.leaf, node.place.shifted_by, ir::component_in(node.place, trip, round),
                     odd[static_cast<std::size_t>(node.place.slot)]);
    for (const ir::Store& store : kernel.stores) result.stored += word_bytes(store.place.leaf);
  }
  for (const auto& [leaf, shifted_by, word, is_odd] : read) {
    result.bytes_of_part += word_bytes(leaf);
    if (!is_odd || !read.contains({leaf, shifted_by, word, false})) result.bytes += word_bytes(leaf);
  }
  result.bytes += result.stored;
  result.bytes_of_part += result.stored;

  for (const ir::Node& node : kernel.nodes) {
    if (ir::is_float(node.type)) result.flops += flops(node.op);
    if (node.op != ir::Op::constant && node.op != ir::Op::argument) result.operations += 1;
  }
  result.flops += static_cast<double>(kernel.reductions.size());
  result.operations += static_cast<double>(kernel.stores.size() + 6 * kernel.reductions.size());
  result.flops *= runs;
  result.operations *= runs;
  return result;
}

}  // namespace jit
