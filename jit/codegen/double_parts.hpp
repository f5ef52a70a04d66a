// Doubles in two parts: what lets kernels of words of four bytes fill registers although they add up in double precision.
//
// A step has as many sites as its widest values fit registers, so one norm would halve the width of a whole hopping term. Where doubles
// only lead from shorter words to reductions, a step has all the sites whose short words fill a register, and each double is two
// values: that of the lower and that of the upper half of its lanes.
#pragma once

#include "jit/ir/ir.hpp"

namespace jit {

/// Whether all words of eight bytes are doubles that come from words of four, are computed lane by lane, and are read by reductions only.
bool reduces_doubles_only(const ir::Kernel& kernel);

/// The kernel with each of its doubles twice. A conversion's `integer` is the half of the lanes that it takes, 0 the lower one;
/// reduction r is those of 2r and 2r + 1 together.
ir::Kernel with_doubles_in_two_parts(const ir::Kernel& kernel);

}  // namespace jit
