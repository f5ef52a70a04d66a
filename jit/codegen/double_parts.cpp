#include "jit/codegen/double_parts.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "jit/ir/nodes.hpp"

namespace jit {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Type;

namespace {

bool same_for_all_lanes(const Node& n) { return n.op == Op::constant || n.op == Op::argument; }

template <class F>
bool all_operands(const Kernel& kernel, const Node& n, F&& is) {
  for (const ir::Value v : {n.a, n.b, n.c})
    if (v != ir::kNone && !is(kernel.nodes[std::size_t(v)].type)) return false;
  return true;
}

}  // namespace

bool reduces_doubles_only(const Kernel& kernel) {
  for (const ir::Leaf& leaf : kernel.leaves)
    if (ir::bytes(leaf.word) > 4) return false;
  const std::vector<bool> live = ir::live_nodes(kernel);
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
    const Node& n = kernel.nodes[i];
    if (!live[i]) continue;
    if (n.type != Type::f64) {
      if (ir::bytes(n.type) > 4 || !all_operands(kernel, n, [](Type t) { return ir::bytes(t) <= 4; })) return false;
    } else if (n.op == Op::convert) {
      if (!all_operands(kernel, n, [](Type t) { return ir::bytes(t) == 4; })) return false;
    } else if (!same_for_all_lanes(n)) {
      if (ir::is_elementary(n.op) || n.op == Op::permute) return false;
      if (!all_operands(kernel, n, [](Type t) { return t == Type::f64; }))
        return false;  // nor select, of a truth value
    }
  }
  return !kernel.reductions.empty();
}

Kernel with_doubles_in_two_parts(const Kernel& kernel) {
  Kernel result = kernel;
  result.nodes.clear();
  std::array<std::vector<ir::Value>, 2> part;  // [node of the kernel]
  const auto copied = [&](Node n, std::size_t p) {
    for (ir::Value* v : {&n.a, &n.b, &n.c})
      if (*v != ir::kNone) *v = part[p][std::size_t(*v)];
    if (n.type == Type::f64 && n.op == Op::convert) n.integer = std::int64_t(p);
    result.nodes.push_back(n);
    return static_cast<ir::Value>(result.nodes.size()) - 1;
  };
  for (const Node& n : kernel.nodes) {
    part[0].push_back(copied(n, 0));
    part[1].push_back(n.type != Type::f64 || same_for_all_lanes(n) ? part[0].back() : copied(n, 1));
  }
  for (ir::Store& s : result.stores) s.value = part[0][std::size_t(s.value)];
  result.reductions.clear();
  for (const ir::Reduction& r : kernel.reductions)
    for (const auto& values : part) result.reductions.push_back({r.kind, values[std::size_t(r.value)]});
  return result;
}

}  // namespace jit
