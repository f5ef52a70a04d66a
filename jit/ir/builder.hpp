// Builds kernel IR: shares equal sub-expressions, moves signs outwards and folds what is exact.
//
// Rules applied (all exact in IEEE arithmetic except that x+0, x*0 with *structural* zeros are dropped by the front end):
// -(-x) = x;  x + (-y) = x - y;  (-x)*y = -(x*y);  fma(-x,-y,z) = fma(x,y,z);  x*1, x/1 = x;  x*(-1) = -x;
// of integers, for the sign of a zero would change: -(x - y) = y - x;  -x - y = -(x + y);
// constants of operations on constants; conversions to the same type; permute of values that are equal in all lanes, of -x and of
// what was permuted before.
#pragma once

#include <unordered_map>

#include "jit/ir/ir.hpp"

namespace jit::ir {

class Builder {
 public:
  explicit Builder(Kernel& kernel) : k_(kernel) {}

  Value constant(Type t, double v);
  Value constant_int(Type t, std::int64_t v);
  /// Appends a scalar argument.
  Value argument(Type t);
  Value load(Place p);
  Value permute(int slot, Value v);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value fma(Value a, Value b, Value c);  ///< a*b + c, one rounding; for integers mul and add
  Value neg(Value a);
  Value unary(Op op, Value a);
  Value binary(Op op, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value convert(Type t, Value v);
  Value bitcast(Type t, Value v);

  Type type(Value v) const { return k_.nodes[static_cast<std::size_t>(v)].type; }
  Kernel& kernel() { return k_; }
  /// Drops what no store or reduction needs and orders the rest depth first.
  void finish();

 private:
  const Node& node(Value v) const { return k_.nodes[static_cast<std::size_t>(v)]; }
  bool is_constant(Value v) const { return node(v).op == Op::constant; }
  bool is_constant(Value v, double x) const;
  /// What the operation gives of constants.
  Value folded(Op op, Value a, Value b);
  bool negated(Value v) const { return node(v).op == Op::neg; }
  Value push(Node n);
  bool uniform(Value v) const { return uniform_[static_cast<std::size_t>(v)]; }

  struct NodeHash {
    std::size_t operator()(const Node& n) const;
  };
  Kernel& k_;
  std::unordered_map<Node, Value, NodeHash> index_;
  std::vector<bool> uniform_;  // the same in all lanes
};

}  // namespace jit::ir
