#include "jit/ir/nodes.hpp"

#include <set>

namespace jit::ir {

std::vector<bool> live_nodes(const Kernel& kernel) {
  std::vector<bool> live(kernel.nodes.size(), false);
  for (const Store& s : kernel.stores) live[static_cast<std::size_t>(s.value)] = true;
  for (const Reduction& r : kernel.reductions) live[static_cast<std::size_t>(r.value)] = true;
  for (std::size_t i = kernel.nodes.size(); i-- > 0;)
    if (live[i])
      for (Value v : {kernel.nodes[i].a, kernel.nodes[i].b, kernel.nodes[i].c})
        if (v != kNone) live[static_cast<std::size_t>(v)] = true;
  return live;
}

std::vector<std::size_t> slots_of_leaves(const Kernel& kernel) {
  std::vector<std::set<int>> slots(kernel.leaves.size());
  for (const Node& n : kernel.nodes)
    if (n.op == Op::load) slots[std::size_t(n.place.leaf)].insert(n.place.slot);
  std::vector<std::size_t> counts;
  for (const std::set<int>& of_leaf : slots) counts.push_back(of_leaf.size());
  return counts;
}

std::vector<bool> once_touched(const Kernel& kernel) {
  std::vector<bool> again(kernel.leaves.size());  // read in several trips
  for (const Node& n : kernel.nodes)
    if (n.op == Op::load) {
      const Place& p = n.place;
      if ((kernel.trips > 1 && p.stride == 0) || (kernel.rounds > 1 && p.leap == 0)) again[std::size_t(p.leaf)] = true;
    }
  const std::vector<std::size_t> slots = slots_of_leaves(kernel);
  std::vector<bool> once;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Leaf& leaf = kernel.leaves[i];
    once.push_back(!leaf.written && !again[i] && leaf.word != Type::b1 && !is_shared(slots[i]));
  }
  return once;
}

}  // namespace jit::ir
