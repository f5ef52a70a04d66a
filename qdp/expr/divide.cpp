#include "qdp/expr/divide.hpp"

#include <algorithm>
#include <tuple>

#include "jit/ir/nodes.hpp"
#include "jit/ir/reroll.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

/// Whether the part can be stored and read back without a change: all components are needed, none is a structural zero
/// (a product with it is dropped, one with a stored zero is not), all have their own words' precision.
bool storable(const ir::Kernel& k, const std::vector<bool>& live, const Part& part) {
  if (part.op == Op::field || part.op == Op::value || part.op == Op::shift) return false;
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

int part_to_compute_aside(const ir::Kernel& kernel, std::span<const Part> parts, std::size_t nodes) {
  constexpr double kWorthwhile = 0.75;
  const std::vector<bool> live = ir::live_nodes(kernel);
  int best = -1;
  std::tuple<std::size_t, std::size_t> best_cost{static_cast<std::size_t>(kWorthwhile * static_cast<double>(nodes)), 0};
  for (const Part& part : parts) {
    if (!storable(kernel, live, part)) continue;
    const std::size_t left = size_when_ready(rest(kernel, *part.value)),
                      alone = size_when_ready(part_alone(kernel, *part.value));
    const std::tuple cost{std::max({left, alone, kWantedNodes}), part.value->v.size()};
    if (best >= 0 ? cost < best_cost : std::get<0>(cost) <= std::get<0>(best_cost))
      best = part.record, best_cost = cost;
  }
  return best;
}

}  // namespace QDP::detail
