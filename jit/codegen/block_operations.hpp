// The operations of the IR on the words of a block, one behind the other: what interpreted kernels consist of.
//
// Compiled for several processors from one source (block_operations_of.hpp); all give the same bits.
#pragma once

#include "jit/ir/ir.hpp"

namespace jit {

/// Words come in so many at a time; arrays begin at a multiple of 64 bytes, and the result is none of the operands.
constexpr int kBlockWords = 16;

/// result[i] = op(a[i], b[i], c[i]) for i < words, a multiple of kBlockWords. Words are those of the IR's types, truth values bool.
/// Where an operation has fewer operands, the others are any.
using BlockOperation = void (*)(void* result, const void* a, const void* b, const void* c, int words);

/// For this machine. `typical`: the type of the first operand, of select's second. nullptr: elementary functions, and what is none
/// on words: constants, arguments, loads, permutations.
BlockOperation block_operation(ir::Op op, ir::Type type, ir::Type typical);

namespace portable {
BlockOperation block_operation(ir::Op op, ir::Type type, ir::Type typical);
}
#if defined(__x86_64__)
namespace avx2 {
BlockOperation block_operation(ir::Op op, ir::Type type, ir::Type typical);
}
namespace avx512 {
BlockOperation block_operation(ir::Op op, ir::Type type, ir::Type typical);
}
#endif

}  // namespace jit
