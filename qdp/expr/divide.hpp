// Statements too large for one kernel: which part to compute aside, into a field of its own.
//
// A sub-expression that is needed as a whole, at this site, may as well be stored and read back: at the precision it
// has, so bits do not change. It pays when what is left, or the part, can then be written as a loop
// (jit/ir/reroll.hpp), or when a few words stand for thousands of operations: the di-quark of a baryon, a spin matrix
// traced over colour.
#pragma once

#include <span>

#include "qdp/expr/lowering.hpp"

namespace QDP::detail {

/// Nodes of a trip of a loop; what a kernel may have before a part of its statement is computed aside (some 100 kB of
/// PTX); and what kernels without propagators may have before either is tried: sums of paths of links, of some 3000
/// nodes, fit the registers and would only be repeated.
constexpr std::size_t kWantedNodes = 1200, kLargestKernel = 2000, kLargeWithoutBigObjects = 5000;
/// Beyond this many, the statements of a program are computed one by one.
constexpr std::size_t kLargestProgram = 3000;

/// The record of the part that leaves the smallest kernels when it is computed aside; -1 if none helps. `kernel`: the
/// statement's, before Builder::finish, with its stores and sums. `nodes`: what it has when finished and rolled.
int part_to_compute_aside(const jit::ir::Kernel& kernel, std::span<const Part> parts, std::size_t nodes);

}  // namespace QDP::detail
