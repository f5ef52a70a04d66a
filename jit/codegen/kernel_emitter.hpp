// A kernel's function in LLVM IR: void name(const LaunchArguments*, int64 begin, int64 end).
//
//   for step in [begin, end) x halves:            one block of V lanes; two halves per group if a field has 8-byte words
//     group, half, mask <- domain
//     per slot, at first use: neighbour's group, half, wraps (or positions of a gathered slot)
//     nodes and stores in scheduled order, operands in registers
//     reductions into the thread's accumulators
#pragma once

#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/llvm.hpp"
#include "jit/codegen/vector_math.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Lanes processed together: the smallest block of all fields. What is computed in 8-byte words alone takes two registers.
int lanes_per_step(const ir::Kernel& kernel);

/// Adds the function `symbol` to the module.
void emit_kernel(llvm::Module& module, const std::string& symbol, const ir::Kernel& kernel, const CodeOptions& options,
                 VectorIsa isa);

}  // namespace jit
