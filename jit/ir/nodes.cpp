#include "jit/ir/nodes.hpp"

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

}  // namespace jit::ir
