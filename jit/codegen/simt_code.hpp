// What code for threads is written with: numbers, loops and branches of LLVM's IR.
#pragma once

#include <cstdint>

#include "jit/codegen/llvm.hpp"

namespace jit {

/// Whoever writes code at the place where a builder stands. Positions are 32 bits wide, addresses 64.
class SimtCode {
 protected:
  using Value = llvm::Value;

  explicit SimtCode(llvm::IRBuilder<>& builder) : builder_(builder) {}

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }
  Value* i32(std::uint64_t x) { return builder_.getInt32(std::uint32_t(x)); }
  Value* i64(std::uint64_t x) { return builder_.getInt64(x); }
  Value* wide(Value* x) { return builder_.CreateZExt(x, builder_.getInt64Ty()); }
  Value* narrow(Value* x) { return builder_.CreateTrunc(x, builder_.getInt32Ty()); }
  Value* advance(Value* address, Value* bytes) { return builder_.CreateGEP(builder_.getInt8Ty(), address, bytes); }
  Value* advance(Value* address, std::int64_t bytes) {
    return bytes == 0 ? address : advance(address, i64(std::uint64_t(bytes)));
  }

  /// while (x < last) { body(x); x += step; }, unsigned.
  template <class Body>
  void loop(Value* first, Value* last, Value* step, const char* name, const Body& body) {
    auto* before = builder_.GetInsertBlock();
    auto* head = block(name);
    auto* inside = block("body");
    auto* after = block("after");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* x = builder_.CreatePHI(first->getType(), 2, name);
    x->addIncoming(first, before);
    builder_.CreateCondBr(builder_.CreateICmpULT(x, last), inside, after);
    builder_.SetInsertPoint(inside);
    body(x);
    Value* next = builder_.CreateNUWAdd(x, step);
    x->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(after);
  }

  /// if (condition) body();
  template <class Body>
  void when(Value* condition, const Body& body) {
    auto* inside = block("then");
    auto* after = block("next");
    builder_.CreateCondBr(condition, inside, after);
    builder_.SetInsertPoint(inside);
    body();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  llvm::IRBuilder<>& builder_;
};

}  // namespace jit
