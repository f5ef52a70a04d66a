// The order in which a kernel's nodes and stores are emitted: what decides whether a kernel of a thousand nodes fits 32
// registers, since LLVM keeps to the order it is given.
//
// The backbone is the order of the nodes in the kernel, that is the order in which the front end evaluated the terms of
// the expression. It is changed in three ways:
//   - loads, constants and arguments move down to their first use, and so do loads with their lanes permuted, and what is made of
//     one or two words that hardly anything else is made of;
//   - an operation that ends the life of more values than it begins (an accumulation, a store) moves up to where its
//     last operand appears: a finished row of a product goes into the sum at once;
//   - after a load that has several users, those whose other operands are at hand (or will be needed longer than it)
//     follow immediately: each element of a matrix is loaded once, used for all columns, and forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/ir/ir.hpp"

namespace jit {

/// One step: compute a node, write a store, or add to a reduction.
struct Step {
  enum class Kind : std::uint8_t { node, store, reduction } kind;
  int number;  ///< index into nodes, stores or reductions
};

/// `once` runs before the trips, `each` in every trip (jit/ir/trips.hpp). A kernel of one trip has everything in `each`.
/// Dead nodes are left out. Within a trip a store to a leaf that is also read comes after all loads it could overwrite.
struct Schedule {
  std::vector<Step> once, each;
};

Schedule schedule(const ir::Kernel& kernel);

/// How many of a program's steps to put into one block of LLVM's instructions. LLVM's time grows as the square of a block's
/// length: programs far longer than those of loops over physics' types are cut.
constexpr std::size_t steps_per_block(std::size_t steps) {
  constexpr std::size_t kOneBlock = 5000, kOfMany = 150;
  return steps <= kOneBlock ? kOneBlock + 1 : kOfMany;
}

}  // namespace jit
