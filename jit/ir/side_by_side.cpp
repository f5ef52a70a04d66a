#include "jit/ir/side_by_side.hpp"

#include <algorithm>
#include <string>

#include "jit/ir/nodes.hpp"
#include "jit/support/error.hpp"

namespace jit::ir {
namespace {

std::size_t index(Value v) { return static_cast<std::size_t>(v); }

/// Where the leaves, arguments and values of each side are in the new kernel.
class Sides {
 public:
  Sides(const Kernel& kernel, int sides, const std::vector<bool>& shared)
      : kernel_(kernel), sides_(sides), shared_(shared), values_(kernel.nodes.size()) {
    made_.name = kernel.name + " x " + std::to_string(sides);
    made_.lanes = kernel.lanes;
    made_.trips = kernel.trips;
    made_.rounds = kernel.rounds;
    made_.listed = kernel.listed;
    made_.slots = kernel.slots;
    for (std::size_t l = 0; l < kernel.leaves.size(); ++l) {
      if (shared[l] && kernel.leaves[l].written)
        throw InternalError({.what = "side_by_side(" + kernel.name + ")",
                             .expected = "shared fields that are only read",
                             .got = "leaf " + std::to_string(l) + ", which is written"});
      first_leaf_.push_back(static_cast<int>(made_.leaves.size()));
      made_.leaves.insert(made_.leaves.end(), shared[l] ? 1 : static_cast<std::size_t>(sides), kernel.leaves[l]);
    }
    for (const Type argument : kernel.arguments)
      made_.arguments.insert(made_.arguments.end(), static_cast<std::size_t>(sides), argument);
  }

  Kernel run() {
    for (std::size_t i = 0; i < kernel_.nodes.size(); ++i) {
      const Node& node = kernel_.nodes[i];
      const int copies = is_common(node) ? 1 : sides_;
      for (int side = 0; side < copies; ++side) {
        values_[i].push_back(static_cast<Value>(made_.nodes.size()));
        made_.nodes.push_back(of_side(node, side));
      }
    }
    for (const Store& store : kernel_.stores)
      for (int side = 0; side < sides_; ++side)
        made_.stores.push_back({of_side(store.place, side), of_side(store.value, side)});
    for (int side = 0; side < sides_; ++side)
      for (const Reduction& reduction : kernel_.reductions)
        made_.reductions.push_back({reduction.kind, of_side(reduction.value, side)});
    return std::move(made_);
  }

 private:
  bool is_common(Value v) const { return v == kNone || values_[index(v)].size() == 1; }
  bool is_common(const Node& node) const {
    if (node.op == Op::argument) return false;
    if (node.op == Op::load) return shared_[static_cast<std::size_t>(node.place.leaf)] && node.place.shifted_by < 0;
    return is_common(node.a) && is_common(node.b) && is_common(node.c);
  }

  Value of_side(Value v, int side) const {
    return v == kNone ? kNone : values_[index(v)][is_common(v) ? 0 : static_cast<std::size_t>(side)];
  }
  int argument(int number, int side) const { return number * sides_ + side; }
  Place of_side(Place place, int side) const {
    const auto leaf = static_cast<std::size_t>(place.leaf);
    place.leaf = static_cast<std::int16_t>(first_leaf_[leaf] + (shared_[leaf] ? 0 : side));
    if (place.shifted_by >= 0) place.shifted_by = static_cast<std::int16_t>(argument(place.shifted_by, side));
    return place;
  }
  Node of_side(Node node, int side) const {
    node.a = of_side(node.a, side);
    node.b = of_side(node.b, side);
    node.c = of_side(node.c, side);
    if (node.op == Op::load) node.place = of_side(node.place, side);
    if (node.op == Op::argument) node.integer = argument(static_cast<int>(node.integer), side);
    return node;
  }

  const Kernel& kernel_;
  const int sides_;
  const std::vector<bool>& shared_;
  std::vector<int> first_leaf_;
  std::vector<std::vector<Value>> values_;  ///< [node] of each side, or the one of all
  Kernel made_;
};

}  // namespace

Kernel side_by_side(const Kernel& kernel, int sides, const std::vector<bool>& shared) {
  return Sides(kernel, sides, shared).run();
}

std::size_t most_registers(const Kernel& kernel) {
  // The last node that needs each, and, of loads, the first.
  std::vector<std::size_t> first(kernel.nodes.size()), last(kernel.nodes.size());
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
    first[i] = last[i] = i;
    for (const Value v : {kernel.nodes[i].a, kernel.nodes[i].b, kernel.nodes[i].c}) {
      if (v == kNone) continue;
      if (last[index(v)] == index(v) && kernel.nodes[index(v)].op == Op::load) first[index(v)] = i;
      last[index(v)] = i;
    }
  }
  std::vector<std::ptrdiff_t> change(kernel.nodes.size() + 1);
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
    const Node& node = kernel.nodes[i];
    if (node.op == Op::constant || node.op == Op::argument || last[i] == i) continue;
    const std::ptrdiff_t registers = std::max(bytes(node.type), 4) / 4;
    change[first[i]] += registers;
    change[last[i]] -= registers;
  }
  std::ptrdiff_t now = 0, most = 0;
  for (const std::ptrdiff_t step : change) most = std::max(most, now += step);
  return static_cast<std::size_t>(most);
}

}  // namespace jit::ir
