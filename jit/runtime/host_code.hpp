// Machine code for the host's own values, whatever device the statements run on.
#pragma once

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Code of a kernel of one lane over a range, for this machine's processor: of the same bits as ir::interpret(). nullptr if it has
/// elementary functions, which the interpreter takes from another library. It stays to the end of the process, and may run on any
/// thread. Throws InternalError.
KernelFunction compile_for_host(const ir::Kernel& kernel);

}  // namespace jit
