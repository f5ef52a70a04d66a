#include "qdp/expr/divide.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "jit/ir/nodes.hpp"
#include "jit/ir/reroll.hpp"
#include "jit/support/error.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

/// Whether the part can be stored and read back without a change: all components are needed, none is a structural zero
/// (a product with it is dropped, one with a stored zero is not), all have their own words' precision.
bool storable(const ir::Kernel& k, const std::vector<bool>& live, const Part& part) {
  if (part.node->op == Op::field || part.node->op == Op::value || part.node->op == Op::shift) return false;
  return std::all_of(part.value->v.begin(), part.value->v.end(), [&](Value v) {
    return v != kZero && live[static_cast<std::size_t>(v)] &&
           k.nodes[static_cast<std::size_t>(v)].type == part.value->shape.word;
  });
}

std::size_t size_when_ready(ir::Kernel k) {
  ir::Builder(k).finish();
  ir::reroll(k, kWantedNodes);
  return k.nodes.size();
}

ir::Kernel with_aside(const ir::Kernel& kernel, const Tensor& value) {
  ir::Kernel k = kernel;
  k.leaves.push_back({value.shape.word, static_cast<std::int16_t>(value.v.size())});
  return k;
}

ir::Kernel part_alone(const ir::Kernel& kernel, const Tensor& value) {
  ir::Kernel k = with_aside(kernel, value);
  k.stores.clear(), k.reductions.clear();
  k.trips = 1;
  const auto leaf = static_cast<std::int16_t>(k.leaves.size() - 1);
  for (std::size_t c = 0; c < value.v.size(); ++c)
    k.stores.push_back({{leaf, 0, static_cast<std::int16_t>(c)}, value.v[c]});
  return k;
}

ir::Kernel rest(const ir::Kernel& kernel, const Tensor& value) {
  ir::Kernel k = with_aside(kernel, value);
  const auto leaf = static_cast<std::int16_t>(k.leaves.size() - 1);
  for (std::size_t c = 0; c < value.v.size(); ++c) {
    ir::Node n{.op = ir::Op::load, .type = value.shape.word};
    n.place = {leaf, 0, static_cast<std::int16_t>(c)};
    k.nodes[static_cast<std::size_t>(value.v[c])] = n;
  }
  return k;
}

}  // namespace

const Node* part_to_compute_aside(const ir::Kernel& kernel, std::span<const Part> parts, std::size_t nodes) {
  constexpr double kWorthwhile = 0.75;
  const std::vector<bool> live = ir::live_nodes(kernel);
  const Node* best = nullptr;
  std::tuple<std::size_t, std::size_t> best_cost{static_cast<std::size_t>(kWorthwhile * static_cast<double>(nodes)), 0};
  for (const Part& part : parts) {
    if (!storable(kernel, live, part)) continue;
    const std::size_t left = size_when_ready(rest(kernel, *part.value)),
                      alone = size_when_ready(part_alone(kernel, *part.value));
    const std::tuple cost{std::max({left, alone, kWantedNodes}), part.value->v.size()};
    if (best ? cost < best_cost : std::get<0>(cost) <= std::get<0>(best_cost)) best = part.node, best_cost = cost;
  }
  return best;
}

TreePath path_to(const Node& root, const Node& node) {
  TreePath path;
  std::set<const Node*> seen;
  const auto search = [&](const auto& self, const Node& n) -> bool {
    if (&n == &node) return true;
    if (n.op == Op::shift || !seen.insert(&n).second) return false;
    for (int i = 0; i < 3; ++i) {
      if (!n.kid[i]) continue;
      path.push_back(i);
      if (self(self, *n.kid[i])) return true;
      path.pop_back();
    }
    return false;
  };
  if (!search(search, root)) throw jit::InternalError("division of a statement: a part that is not in its tree");
  return path;
}

Expr at(const Expr& root, std::span<const int> path) {
  Expr e = root;
  for (int i : path) e = Expr(e->kid[i]);
  return e;
}

Expr replace(const Expr& root, const Node& node, const Expr& by) {
  std::map<const Node*, Expr> done;  // sub-expressions held in variables may occur often
  const auto copy = [&](const auto& self, const Expr& e) -> Expr {
    if (e && e.get() == &node) return by;
    if (!e || e->op == Op::shift) return e;
    if (const auto known = done.find(e.get()); known != done.end()) return known->second;
    Expr kid[3];
    bool changed = false;
    for (int i = 0; i < 3; ++i) kid[i] = self(self, e->kid[i]), changed |= kid[i].get() != e->kid[i].get();
    Expr result = e;
    if (changed) result = make_node(e->op, e->shape, e->attribute, kid[0], kid[1], kid[2]);
    return done.emplace(e.get(), std::move(result)).first->second;
  };
  return copy(copy, root);
}

}  // namespace QDP::detail
