// TESSERA_CHECK=1: what a launch may assume of its operands, and what it made, looked at one by one.
#pragma once

#include <cstddef>
#include <string>

#include "jit/runtime.hpp"

namespace jit {

/// "operand 1 (f64[18]) of kernel axpy"
std::string describe_operand(const ir::Kernel& kernel, std::size_t leaf);

/// Throws UserError if a field to be read was never written; InternalError if a table points outside of the lattice.
void check_operands(const ir::Kernel& kernel, const Launch& launch);

/// Throws UserError naming the first site (host index) and word of a written field that is NaN.
void check_results(const ir::Kernel& kernel, const Launch& launch);

}  // namespace jit
