#include "jit/ir/nodes.hpp"

namespace jit::ir {

bool is_elementary(Op op) {
  switch (op) {
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::exp:
    case Op::log:
    case Op::log10:
    case Op::pow:
    case Op::atan2:
    case Op::fmod:
      return true;
    default:
      return false;
  }
}

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
