// From unrolled kernels back to loops: what bounds the code of objects with hundreds of components.
//
// The front end writes a kernel out component by component. If the values stored in components c, c + d, c + 2d, ...
// are computed by the same operations from loads that advance from one to the next by constants, then the program of
// the first serves for all: it runs once per trip, and its loads and stores walk (Place::stride). Applied twice, rows
// and columns of a product become rounds and trips. Every stored word is computed by the same operations in the same
// order, from the same words: bits stay what they were.
#pragma once

#include <cstddef>

#include "jit/ir/ir.hpp"

namespace jit::ir {

/// Rolls the kernel until a trip has at most `nodes` nodes or no loop is found that would not repeat too much work.
/// Kernels with sums stay as they are. Returns whether it became another one.
bool reroll(Kernel& kernel, std::size_t nodes);

}  // namespace jit::ir
