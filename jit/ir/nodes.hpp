// Questions about nodes that several parts of the compiler ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/ir/ir.hpp"

namespace jit::ir {

/// sin, exp, pow, ...: functions that a library computes, on floating point only.
constexpr bool is_elementary(Op op) {
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

/// The slot whose frame a permute carries its operand to.
inline int carried_to(const Kernel& kernel, const Node& permute) {
  return permute.ancestor >= 0 ? permute.ancestor : kernel.slots[static_cast<std::size_t>(permute.integer)].parent;
}
/// f(slot) for those whose exchanges a permute undoes, in turn: from its operand's on.
template <class F>
void for_slots_left(const Kernel& kernel, const Node& permute, F&& f) {
  const auto to = static_cast<std::size_t>(carried_to(kernel, permute));
  for (auto s = static_cast<std::size_t>(permute.integer); s != to;
       s = static_cast<std::size_t>(kernel.slots[s].parent))
    f(s);
}

/// Whether an operation is one of words of this type; of those whose operands have other types than the result: true.
constexpr bool applies_to(Op op, Type t) {
  if (is_elementary(op)) return is_float(t);
  switch (op) {
    case Op::fma:
    case Op::sqrt:
    case Op::floor:
    case Op::ceil:
      return is_float(t);
    case Op::rem:
    case Op::shl:
    case Op::shr:
      return is_int(t);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::lt:
    case Op::le:
      return t != Type::b1;
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
      return !is_float(t);
    default:
      return true;
  }
}

/// The word that a constant is, in the low bytes; a truth value is 0 or 1.
std::uint64_t bits_of_constant(const Node& node);

/// For each node, whether a store or a reduction needs it.
std::vector<bool> live_nodes(const Kernel& kernel);

/// [leaf] slots in which it is read.
std::vector<std::size_t> slots_of_leaves(const Kernel& kernel);
/// Whether a leaf that is read in so many slots is a field whose sites many neighbours read, as a hopping term's spinor is in eight; a
/// link there is read in two.
constexpr bool is_shared(std::size_t slots) { return slots > 2; }
/// [leaf] whether it is only read, in few slots and in no trip again: caches need not keep it.
std::vector<bool> once_touched(const Kernel& kernel);

}  // namespace jit::ir
