// Fused multiply-adds in code that is made quickly.
//
// LLVM's quick instruction selection knows sums, products and quotients, but no fused multiply-add: for each it calls the slow
// one, which takes longer than for all other instructions of a kernel. So fma(a, b, c) is written as the quotient (a b) / c, and
// made what it means when instructions are selected. A true quotient's dividend is never a product there: -0 is added to it, in a
// way that LLVM does not see through, which changes nothing.
//
// INVARIANT: what LLVM knows of quotients must not be applied. Without fast-math flags that is (-x) / (-y) = x / y, x / c = x (1 / c)
// for powers of two, and 0 / 0 = NaN. So neither constants nor changes of sign are to be seen in floating-point operations of quick
// code: -0 and constants are read from memory, what comes of integers and truth values goes through memory, and -x is -0 - x.
// Behind that, instructions are counted: if not all fused multiply-adds and quotients that were written come out, the kernel is
// compiled without.
#pragma once

#include "jit/codegen/llvm.hpp"

namespace llvm {
class FunctionPass;
}

namespace jit {

/// Instructions.
struct QuickCounts {
  int fmas = 0, quotients = 0;
  bool operator==(const QuickCounts&) const = default;
};

/// Writes fused multiply-adds and what must not be taken for one, and counts.
class QuickFma {
 public:
  QuickFma(llvm::IRBuilder<>& builder, int register_bytes) : builder_(builder), register_bytes_(register_bytes) {}
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* quotient(llvm::Value* a, llvm::Value* b);
  /// -0 - x, which is -x for all numbers, zeros included.
  llvm::Value* negative(llvm::Value* a);
  /// The same, of which LLVM knows nothing: words that come of integers or truth values may be constants when instructions are selected.
  llvm::Value* unknown(llvm::Value* value);
  /// A constant that LLVM does not see: read from memory at the function's beginning.
  llvm::Value* constant(llvm::Constant* value);
  /// What make_quick_fma_pass() must find.
  QuickCounts counts() const { return counts_; }

 private:
  int instructions(const llvm::Type* type) const;

  llvm::IRBuilder<>& builder_;
  int register_bytes_;
  llvm::DenseMap<llvm::Constant*, llvm::Value*> known_;
  QuickCounts counts_;
};

/// For between the selection of instructions and the allocation of registers. Adds what it has made, and the quotients that are left,
/// to `found`.
llvm::FunctionPass* make_quick_fma_pass(QuickCounts& found);

}  // namespace jit
