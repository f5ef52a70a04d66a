// Elementary functions on vectors: calls of SLEEF's entries for the target's registers, error below 1 ulp.
//
// It is always the vector entry of the full register, whatever the number of lanes in use: so a site's value has the
// same bits in every lane and in every variant of a kernel (design D4, D15).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/llvm.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Registers of the target: what decides widths and SLEEF's names.
enum class VectorIsa { sse4, avx2, avx512 };

/// Bytes of a register.
constexpr int register_bytes(VectorIsa isa) { return isa == VectorIsa::avx512 ? 64 : isa == VectorIsa::avx2 ? 32 : 16; }

/// True for sin ... fmod.
bool is_vector_function(ir::Op op);

/// The call op(arguments) on vectors of `type` words, any number of lanes.
llvm::Value* emit_vector_function(llvm::IRBuilder<>& builder, VectorIsa isa, ir::Op op, ir::Type type,
                                  const std::vector<llvm::Value*>& arguments);

/// Name and address of everything that emit_vector_function may call.
std::vector<std::pair<std::string, void*>> vector_function_symbols();

}  // namespace jit
