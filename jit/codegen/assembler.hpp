// Machine code of the CPU's kernels without LLVM: straight from the schedule, in some tenths of a microsecond per node.
//
// What LLVM spends its time on is decided by a kernel's form. It is a straight line of vector operations, so an operation is an
// instruction, and the next use of every value is known: registers are given to those that are needed soonest (Belady's rule);
// what has to go is read again from where it came from, or from the stack.
#pragma once

#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/vector_isa.hpp"

namespace jit {

/// Whether assemble() can: on processors with AVX2 and fused multiply-adds or AVX-512; not quotients of integers, gathered truth values, or,
/// with AVX2, what it has no conversion for.
bool can_assemble(const ir::Kernel& kernel, VectorIsa isa);

/// A KernelFunction for AssembledCode. Throws InternalError.
std::string assemble(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options, VectorIsa isa);

}  // namespace jit
