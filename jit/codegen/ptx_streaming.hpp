// Loads and stores of what is touched once, for NVIDIA GPUs: evicted first from both levels of cache, so that they do
// not drive out what neighbours share. LLVM knows no such instructions of PTX: they are written as text, which ptxas
// treats as any others. `ld.global.cs.nc` is what newer versions of PTX call `ld.global.nc.L1::evict_first`: ptxas
// makes the same instruction of both.
#pragma once

#include <cstdint>

#include "jit/codegen/llvm.hpp"

namespace jit {

/// A word of 4 or 8 bytes, or a vector of such words, 16 bytes at most, at base + bytes. Nothing writes there while the
/// kernel runs, so LLVM may move the load.
llvm::Value* load_once(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* base, std::int64_t bytes);
void store_once(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* base, std::int64_t bytes);

}  // namespace jit
