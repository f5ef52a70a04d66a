// Questions about nodes that several parts of the compiler ask.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/ir.hpp"

namespace jit::ir {

/// sin, exp, pow, ...: functions that a library computes, on floating point only.
bool is_elementary(Op op);

/// The word that a constant is, in the low bytes; a truth value is 0 or 1.
std::uint64_t bits_of_constant(const Node& node);

/// For each node, whether a store or a reduction needs it.
std::vector<bool> live_nodes(const Kernel& kernel);

}  // namespace jit::ir
