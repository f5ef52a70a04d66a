// Several launches of a kernel over the same sites as one: hopping terms of many right-hand sides, which share the links.
#pragma once

#include <cstddef>
#include <vector>

#include "jit/ir/ir.hpp"

namespace jit::ir {

/// What `sides` launches of `kernel` compute, in one kernel. shared[leaf]: a field that is the same in all of them, which is read once
/// for all; what is computed from such fields alone is computed once. Everything else stands there once per side, each operation beside
/// the same one of the other sides, so that a word is at hand for all when it has been read.
///
/// Leaves and arguments are those of `kernel` in order; each leaf that is not shared and each argument `sides` times, one behind the
/// other. Reductions are those of the first side, then those of the second, and so on.
///
/// Bits are those of the launches one by one, if none of them reads what another one writes. A shared leaf must not be written.
Kernel side_by_side(const Kernel& kernel, int sides, const std::vector<bool>& shared);

/// Registers of four bytes that values take at most at a time, if a kernel is computed in its order, each word is loaded where it is
/// first used, and is stored or summed as soon as it is known. Constants and arguments take none.
std::size_t most_registers(const Kernel& kernel);

}  // namespace jit::ir
