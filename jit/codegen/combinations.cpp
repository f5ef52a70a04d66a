#include "jit/codegen/combinations.hpp"

#include <optional>
#include <utility>

#include "jit/ir/type.hpp"
#include "jit/ir/words.hpp"

namespace jit {
namespace {

using ir::Node;
using ir::Op;
using ir::Value;

bool is_bitwise(Op op) { return op == Op::and_ || op == Op::or_ || op == Op::xor_; }

class Combiner {
 public:
  Combiner(const ir::Kernel& kernel, const Schedule& order, BitInstructions there_are)
      : kernel_(kernel),
        there_are_(there_are),
        uses_(kernel.nodes.size()),
        in_trips_(kernel.nodes.size()),
        result_(kernel.nodes.size()) {
    count(order.once, false);
    count(order.each, true);
    for (const auto* steps : {&order.once, &order.each})
      for (const Step& s : *steps)
        if (s.kind == Step::Kind::node && ir::is_int(node(s.number).type)) combine(s.number);
    put_inside(order.each), put_inside(order.once);
  }
  std::vector<Combination> result() && { return std::move(result_); }

 private:
  const Node& node(Value v) const { return kernel_.nodes[std::size_t(v)]; }
  Combination& at(Value v) { return result_[std::size_t(v)]; }

  void count(const std::vector<Step>& steps, bool in_trips) {
    for (const Step& s : steps) {
      if (s.kind == Step::Kind::store) change_uses(kernel_.stores[std::size_t(s.number)].value, +1);
      if (s.kind == Step::Kind::reduction) change_uses(kernel_.reductions[std::size_t(s.number)].value, +1);
      if (s.kind != Step::Kind::node) continue;
      in_trips_[std::size_t(s.number)] = in_trips;
      for (const Value v : operands_of(s.number)) change_uses(v, +1);
    }
  }

  /// Whether an operand is there for this node alone.
  bool may_be_inside(Value operand, Value user) const {
    return uses_[std::size_t(operand)] == 1 && in_trips_[std::size_t(operand)] == in_trips_[std::size_t(user)];
  }
  /// From now on the node is computed of others than its operands.
  void replace(Value v, const Combination& whole) {
    for (const Value operand : operands_of(v)) change_uses(operand, -1);
    at(v) = whole;
    for (const Value operand : operands_of(v)) change_uses(operand, +1);
  }
  std::array<Value, 3> operands_of(Value v) const {
    const Combination& c = result_[std::size_t(v)];
    const Node& n = node(v);
    return c.kind == Combination::Kind::none ? std::array{n.a, n.b, n.c} : c.of;
  }
  void change_uses(Value v, int by) {
    if (v != ir::kNone) uses_[std::size_t(v)] += by;
  }
  /// What nobody reads by itself any more, from the last on.
  void put_inside(const std::vector<Step>& steps) {
    for (std::size_t i = steps.size(); i-- > 0;) {
      if (steps[i].kind != Step::Kind::node) continue;
      const Value v = steps[i].number;
      if (uses_[std::size_t(v)] > 0 || ir::arity(node(v).op) == 0) continue;
      for (const Value operand : operands_of(v)) change_uses(operand, -1);
      at(v) = {.kind = Combination::Kind::inside};
    }
  }

  void combine(Value v) {
    const Node& n = node(v);
    for (const auto& [x, y] : {std::pair(n.a, n.b), std::pair(n.b, n.a)}) {
      if (x == ir::kNone || y == ir::kNone) return;
      if (shifts(v, x, y) || splices(v, x, y) || joins(v, x, y)) return;
    }
  }

  int width(Value v) const { return 8 * ir::bytes(node(v).type); }
  std::optional<std::uint64_t> constant(Value v) const {
    if (node(v).op != Op::constant) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(node(v).integer);
    return width(v) == 64 ? bits : bits & 0xFFFFFFFF;
  }
  std::uint64_t ones(Value v, int without) const { return ~std::uint64_t{0} >> (64 - width(v) + without); }

  /// (x >> n) & 11...1, of as many bits as are left.
  bool shifts(Value v, Value shifted, Value mask) {
    if (node(v).op != Op::and_ || node(shifted).op != Op::shr) return false;
    const auto by = constant(node(shifted).b), kept = constant(mask);
    if (!by || !kept || *by == 0 || *by >= std::uint64_t(width(v)) || *kept != ones(v, int(*by))) return false;
    replace(
        v, {.kind = Combination::Kind::shift, .how = std::uint8_t(*by), .of = {node(shifted).a, ir::kNone, ir::kNone}});
    return true;
  }

  /// The same, together with (y << (width - n)), or with a constant that has no other bits.
  bool splices(Value v, Value shifted, Value above) {
    const Op op = node(v).op;
    if (!there_are_.splice || width(v) != 32 || !(op == Op::or_ || op == Op::xor_ || op == Op::add)) return false;
    const Combination& inner = at(shifted);
    if (inner.kind != Combination::Kind::shift || !may_be_inside(shifted, v)) return false;
    Combination whole = {.kind = Combination::Kind::splice, .how = inner.how, .of = inner.of};
    if (const auto bits = constant(above)) {
      if ((*bits & ones(v, inner.how)) != 0) return false;
      whole.upper = static_cast<std::uint32_t>(*bits >> (width(v) - inner.how));
    } else {
      if (node(above).op != Op::shl) return false;
      const auto by = constant(node(above).b);
      if (!by || *by != std::uint64_t(width(v) - inner.how)) return false;
      whole.of[1] = node(above).a;
    }
    replace(v, whole);
    return true;
  }

  bool joins(Value v, Value inner, Value other) {
    const Op outer = node(v).op, first = node(inner).op;
    if (!there_are_.of_three || !is_bitwise(outer) || !is_bitwise(first)) return false;
    if (at(inner).kind != Combination::Kind::none || !may_be_inside(inner, v)) return false;
    constexpr int kA = 0xF0, kB = 0xCC, kC = 0xAA;  // tables of the values themselves
    const int table = ir::integer(outer, ir::integer(first, kA, kB), kC);
    replace(v,
            {.kind = Combination::Kind::bits, .how = std::uint8_t(table), .of = {node(inner).a, node(inner).b, other}});
    return true;
  }

  const ir::Kernel& kernel_;
  const BitInstructions there_are_;
  std::vector<int> uses_;
  std::vector<bool> in_trips_;
  std::vector<Combination> result_;
};

}  // namespace

std::vector<Combination> combinations(const ir::Kernel& kernel, const Schedule& order, BitInstructions there_are) {
  return Combiner(kernel, order, there_are).result();
}

}  // namespace jit
