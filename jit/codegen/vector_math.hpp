// Elementary functions: on the host calls of SLEEF's vector entries for the target's registers, error below 1 ulp; on
// NVIDIA GPUs calls of libdevice, error 4 ulp at most by the CUDA manual.
//
// On the host it is always the vector entry of the full register, whatever the number of lanes in use: so a site's
// value has the same bits in every lane and in every variant of a kernel (design D4, D15).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/llvm.hpp"
#include "jit/codegen/vector_isa.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// True for sin ... fmod.
bool is_vector_function(ir::Op op);

/// The function of SLEEF on vectors that fill a register.
std::string vector_function_name(VectorIsa isa, ir::Op op, ir::Type type);

/// The operation of which the function gives the value, too: sin for cos and the other way round. Such a function takes the
/// address of two vectors first, and writes its results there.
std::optional<ir::Op> computed_beside(ir::Op op);
/// Which of the two vectors has the value of `op`; -1: the function gives one.
int result_of_vector_function(ir::Op op);

/// Emits the call op(arguments) on values of `type` words.
using FunctionEmitter = std::function<llvm::Value*(llvm::IRBuilder<>&, ir::Op op, ir::Type type,
                                                   const std::vector<llvm::Value*>& arguments)>;

/// SLEEF's functions on vectors of any number of lanes, or on scalars.
FunctionEmitter sleef(VectorIsa isa);

/// libdevice's functions on vectors, lane by lane, or on scalars. They stay undefined until libdevice is linked into
/// the module.
FunctionEmitter libdevice();

/// Name and address of everything that sleef() may call.
std::vector<std::pair<std::string, void*>> vector_function_symbols();

}  // namespace jit
