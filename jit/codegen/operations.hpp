// One IR operation -> LLVM instructions, on vectors of lanes or on scalars. The meanings are those of ir/interpret.cpp,
// to the bit (elementary functions: to the error of their library).
#pragma once

#include <optional>
#include <vector>

#include "jit/codegen/llvm.hpp"
#include "jit/codegen/quick_fma.hpp"
#include "jit/codegen/vector_math.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

class OperationEmitter {
 public:
  /// Values are vectors of `lanes` words, one lane is <1 x word>.
  OperationEmitter(llvm::IRBuilder<>& builder, VectorIsa isa, int lanes)
      : builder_(builder), functions_(sleef(isa)), lanes_(lanes) {}
  /// Values are vectors of `lanes` words, or with 0 lanes single words.
  OperationEmitter(llvm::IRBuilder<>& builder, FunctionEmitter functions, int lanes)
      : builder_(builder), functions_(std::move(functions)), lanes_(lanes) {}

  /// From now on for LLVM's quick selection of instructions.
  void write_quick_code(VectorIsa isa) { quick_.emplace(builder_, register_bytes(isa)); }
  /// What is fused multiply-adds and quotients in quick code.
  QuickCounts quick_counts() const { return quick_ ? quick_->counts() : QuickCounts{}; }

  llvm::FixedVectorType* vector(ir::Type type) const;
  llvm::Type* word(ir::Type type) const;
  /// Of a value: vector(type) or word(type).
  llvm::Type* value(ir::Type type) const;
  /// Any node of a kernel but loads and permutes, from the values of the nodes before it and of the kernel's arguments.
  llvm::Value* node(const ir::Kernel& kernel, const ir::Node& node, const std::vector<llvm::Value*>& values,
                    const std::vector<llvm::Value*>& arguments);

 private:
  /// All lanes alike.
  llvm::Value* constant(const ir::Node& node);
  /// add ... convert; `from` is the type of the operands (of the branches for select).
  llvm::Value* operation(const ir::Node& node, ir::Type from, llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* floating(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* integer(ir::Op op, llvm::Value* a, llvm::Value* b);
  llvm::Value* logical(ir::Op op, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(ir::Type to, ir::Type from, llvm::Value* a);

  llvm::IRBuilder<>& builder_;
  FunctionEmitter functions_;
  int lanes_;  ///< 0: scalars
  std::optional<QuickFma> quick_;
};

}  // namespace jit
