#include "jit/ir/builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "jit/ir/nodes.hpp"
#include "jit/ir/words.hpp"

namespace jit::ir {

std::size_t Builder::NodeHash::operator()(const Node& n) const {
  std::uint64_t h = static_cast<std::uint64_t>(n.op) * 31 + static_cast<std::uint64_t>(n.type);
  auto mix = [&h](std::uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  };
  mix(static_cast<std::uint32_t>(n.a)), mix(static_cast<std::uint32_t>(n.b)), mix(static_cast<std::uint32_t>(n.c));
  mix(std::bit_cast<std::uint64_t>(n.real)), mix(static_cast<std::uint64_t>(n.integer));
  const Place& p = n.place;
  mix(static_cast<std::uint64_t>(static_cast<std::uint16_t>(p.leaf)) << 32 |
      static_cast<std::uint64_t>(static_cast<std::uint16_t>(p.slot)) << 16 | static_cast<std::uint16_t>(p.component));
  mix(static_cast<std::uint64_t>(static_cast<std::uint16_t>(p.shifted_by)) << 32 |
      static_cast<std::uint64_t>(static_cast<std::uint16_t>(p.stride)) << 16 | static_cast<std::uint16_t>(p.leap));
  mix(static_cast<std::uint16_t>(n.ancestor));
  return h;
}

Value Builder::push(Node n) {
  if (n.op == Op::constant && std::isnan(n.real))
    n.integer = std::bit_cast<std::int64_t>(n.real), n.real = 0;  // NaN != NaN
  auto [it, fresh] = index_.try_emplace(n, static_cast<Value>(k_.nodes.size()));
  if (!fresh) return it->second;
  bool uniform = n.op == Op::constant || n.op == Op::argument;
  if (arity(n.op) > 0) {
    uniform = true;
    for (Value v : {n.a, n.b, n.c})
      if (v != kNone) uniform = uniform && uniform_[static_cast<std::size_t>(v)];
  }
  uniform_.push_back(uniform);
  k_.nodes.push_back(n);
  return it->second;
}

bool Builder::is_constant(Value v, double x) const {
  const Node& n = node(v);
  return n.op == Op::constant && (is_float(n.type) ? n.real == x : static_cast<double>(n.integer) == x);
}

Value Builder::constant(Type t, double v) {
  if (!is_float(t)) return constant_int(t, static_cast<std::int64_t>(v));
  Node n{.op = Op::constant, .type = t};
  n.real = t == Type::f32 ? static_cast<double>(static_cast<float>(v)) : v;
  return push(n);
}
Value Builder::constant_int(Type t, std::int64_t v) {
  if (is_float(t)) return constant(t, static_cast<double>(v));
  Node n{.op = Op::constant, .type = t};
  n.integer = t == Type::b1 ? v != 0 : t == Type::i32 ? static_cast<std::int32_t>(v) : v;
  return push(n);
}
Value Builder::argument(Type t) {
  Node n{.op = Op::argument, .type = t};
  n.integer = static_cast<std::int64_t>(k_.arguments.size());
  k_.arguments.push_back(t);
  return push(n);
}
Value Builder::load(Place p) {
  Leaf& leaf = k_.leaves[static_cast<std::size_t>(p.leaf)];
  leaf.read = true;
  Node n{.op = Op::load, .type = leaf.word};
  n.place = p;
  return push(n);
}
Value Builder::permute(int slot, Value v) {
  if (uniform(v)) return v;
  if (negated(v)) return neg(permute(slot, node(v).a));
  Node n{.op = Op::permute, .type = type(v), .a = v};
  n.integer = slot;
  if (const Node& inner = node(v); inner.op == Op::permute) {
    n = inner;
    n.ancestor = k_.slots[static_cast<std::size_t>(slot)].parent;
  }
  return push(n);
}

Value Builder::folded(Op op, Value a, Value b) {
  const Type t = type(a);
  if (is_float(t)) return constant(t, floating(op, node(a).real, node(b).real, 0.0));
  const std::int64_t x = node(a).integer, y = node(b).integer;
  return constant_int(
      t, t == Type::i32 ? integer(op, static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)) : integer(op, x, y));
}

Value Builder::neg(Value a) {
  const Node n = node(a);
  if (n.op == Op::neg) return n.a;
  if (n.op == Op::constant) return folded(Op::neg, a, a);
  if (n.op == Op::sub && is_int(n.type)) return sub(n.b, n.a);
  return push({.op = Op::neg, .type = n.type, .a = a});
}

Value Builder::add(Value a, Value b) {
  if (negated(b)) return sub(a, node(b).a);
  if (negated(a)) return sub(b, node(a).a);
  if (is_constant(a) && is_constant(b)) return folded(Op::add, a, b);
  if (a > b) std::swap(a, b);
  return push({.op = Op::add, .type = type(a), .a = a, .b = b});
}
Value Builder::sub(Value a, Value b) {
  if (negated(b)) return add(a, node(b).a);
  if (negated(a) && is_int(type(a))) return neg(add(node(a).a, b));
  if (is_constant(a) && is_constant(b)) return folded(Op::sub, a, b);
  return push({.op = Op::sub, .type = type(a), .a = a, .b = b});
}
Value Builder::mul(Value a, Value b) {
  if (negated(a)) return neg(mul(node(a).a, b));
  if (negated(b)) return neg(mul(a, node(b).a));
  if (is_constant(a) && is_constant(b)) return folded(Op::mul, a, b);
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    if (is_constant(x, 1)) return y;
    if (is_constant(x, -1)) return neg(y);
  }
  if (a > b) std::swap(a, b);
  return push({.op = Op::mul, .type = type(a), .a = a, .b = b});
}
Value Builder::div(Value a, Value b) {
  if (negated(a)) return neg(div(node(a).a, b));
  if (negated(b)) return neg(div(a, node(b).a));
  if (is_constant(b, 1)) return a;
  return push({.op = Op::div, .type = type(a), .a = a, .b = b});
}
Value Builder::fma(Value a, Value b, Value c) {
  if (!is_float(type(a))) return add(mul(a, b), c);
  bool minus = false;
  if (negated(a)) a = node(a).a, minus = !minus;
  if (negated(b)) b = node(b).a, minus = !minus;
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {  // a product with +-1 is exact: one rounding remains
    if (is_constant(x, 1)) return minus ? sub(c, y) : add(y, c);
    if (is_constant(x, -1)) return minus ? add(y, c) : sub(c, y);
  }
  if (a > b) std::swap(a, b);
  if (minus) a = push({.op = Op::neg, .type = type(a), .a = a});
  return push({.op = Op::fma, .type = type(c), .a = a, .b = b, .c = c});
}

Value Builder::unary(Op op, Value a) {
  if (op == Op::neg) return neg(a);
  if (op == Op::abs && negated(a)) a = node(a).a;
  return push({.op = op, .type = type(a), .a = a});
}
Value Builder::binary(Op op, Value a, Value b) {
  switch (op) {
    case Op::add:
      return add(a, b);
    case Op::sub:
      return sub(a, b);
    case Op::mul:
      return mul(a, b);
    case Op::div:
      return div(a, b);
    case Op::lt:
    case Op::le:
    case Op::eq:
    case Op::ne:
      return push({.op = op, .type = Type::b1, .a = a, .b = b});
    default:
      if (is_int(type(a)) && is_constant(a) && is_constant(b)) return folded(op, a, b);
      return push({.op = op, .type = type(a), .a = a, .b = b});
  }
}
Value Builder::select(Value condition, Value a, Value b) {
  if (a == b) return a;
  if (is_constant(condition)) return node(condition).integer ? a : b;
  return push({.op = Op::select, .type = type(a), .a = condition, .b = a, .c = b});
}
Value Builder::convert(Type t, Value v) {
  const Node n = node(v);
  if (n.type == t) return v;
  if (n.op == Op::constant) {
    if (is_float(n.type)) return t == Type::b1 ? constant_int(t, n.real != 0) : constant(t, n.real);
    return constant_int(t, n.integer);
  }
  if (n.op == Op::neg && is_float(n.type) && is_float(t)) return neg(convert(t, n.a));
  return push({.op = Op::convert, .type = t, .a = v});
}

Value Builder::bitcast(Type t, Value v) {
  const Node n = node(v);
  if (n.type == t) return v;
  if (n.op == Op::bitcast) return bitcast(t, n.a);
  if (n.op == Op::constant) {
    const std::uint64_t bits = bits_of_constant(n);
    if (is_int(t)) return constant_int(t, static_cast<std::int64_t>(bits));
    const double x =
        t == Type::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
    if (!std::isnan(x)) return constant(t, x);  // whose bits would not stay
  }
  return push({.op = Op::bitcast, .type = t, .a = v});
}

void Builder::finish() {
  // The order stays that of evaluation, term by term: the code generators' schedules start from it. Depth first from the
  // stores would evaluate all terms of the first component, then of the next, and cost half of the speed of a Dslash.
  const std::vector<bool> live = live_nodes(k_);
  std::vector<Value> renamed(k_.nodes.size(), kNone);
  std::vector<Node> kept;
  kept.reserve(static_cast<std::size_t>(std::ranges::count(live, true)));
  for (std::size_t i = 0; i < k_.nodes.size(); ++i) {
    if (!live[i]) continue;
    Node copy = k_.nodes[i];
    for (Value* o : {&copy.a, &copy.b, &copy.c})
      if (*o != kNone) *o = renamed[static_cast<std::size_t>(*o)];
    renamed[i] = static_cast<Value>(kept.size());
    kept.push_back(copy);
  }
  for (Store& s : k_.stores) s.value = renamed[static_cast<std::size_t>(s.value)];
  for (Reduction& r : k_.reductions) r.value = renamed[static_cast<std::size_t>(r.value)];
  k_.nodes = std::move(kept);
  for (Leaf& leaf : k_.leaves) leaf.read = false;
  for (const Node& n : k_.nodes)
    if (n.op == Op::load) k_.leaves[static_cast<std::size_t>(n.place.leaf)].read = true;
  index_.clear();
}

}  // namespace jit::ir
