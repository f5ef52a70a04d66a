// One IR operation -> LLVM instructions on vectors of lanes. The meanings are those of ir/interpret.cpp, to the bit
// (elementary functions: to the error of the vector library).
#pragma once

#include "jit/codegen/llvm.hpp"
#include "jit/codegen/vector_math.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

class OperationEmitter {
 public:
  OperationEmitter(llvm::IRBuilder<>& builder, VectorIsa isa, int lanes)
      : builder_(builder), isa_(isa), lanes_(lanes) {}

  llvm::FixedVectorType* vector(ir::Type type) const;
  llvm::Type* word(ir::Type type) const;
  /// All lanes alike.
  llvm::Constant* constant(const ir::Node& node) const;
  /// add ... convert; `from` is the type of the operands (of the branches for select).
  llvm::Value* operation(const ir::Node& node, ir::Type from, llvm::Value* a, llvm::Value* b, llvm::Value* c);

 private:
  llvm::Value* floating(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* integer(ir::Op op, llvm::Value* a, llvm::Value* b);
  llvm::Value* logical(ir::Op op, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(ir::Type to, ir::Type from, llvm::Value* a);

  llvm::IRBuilder<>& builder_;
  VectorIsa isa_;
  int lanes_;
};

}  // namespace jit
