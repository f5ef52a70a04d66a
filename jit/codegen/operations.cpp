#include "jit/codegen/operations.hpp"

#include "jit/support/error.hpp"

namespace jit {

using ir::Op;
using ir::Type;
using llvm::Value;

namespace {

[[noreturn]] void unknown(Op op, const char* type) {
  throw InternalError(
      {.what = std::string("code generator: ") + ir::name(op), .expected = "an operation on other words", .got = type});
}

}  // namespace

llvm::Type* OperationEmitter::word(Type type) const {
  switch (type) {
    case Type::b1:
      return builder_.getInt1Ty();
    case Type::i32:
      return builder_.getInt32Ty();
    case Type::i64:
      return builder_.getInt64Ty();
    case Type::f32:
      return builder_.getFloatTy();
    case Type::f64:
      return builder_.getDoubleTy();
  }
  return nullptr;
}

llvm::FixedVectorType* OperationEmitter::vector(Type type) const {
  return llvm::FixedVectorType::get(word(type), unsigned(lanes_));
}

llvm::Type* OperationEmitter::value(Type type) const {
  return lanes_ == 0 ? word(type) : static_cast<llvm::Type*>(vector(type));
}

Value* OperationEmitter::constant(const ir::Node& node) {
  if (node.type == Type::b1) return llvm::ConstantInt::get(value(node.type), node.integer != 0);
  llvm::Constant* constant;
  if (ir::is_int(node.type)) {
    constant = llvm::ConstantInt::get(value(node.type), std::uint64_t(node.integer), true);
  } else {
    const llvm::APFloat number =
        node.type == Type::f32 ? llvm::APFloat(static_cast<float>(node.real)) : llvm::APFloat(node.real);
    constant = llvm::ConstantFP::get(value(node.type), number);
  }
  return quick_ ? quick_->constant(constant) : constant;
}

Value* OperationEmitter::node(const ir::Kernel& kernel, const ir::Node& node, const std::vector<Value*>& values,
                              const std::vector<Value*>& arguments) {
  if (node.op == Op::constant) return constant(node);
  if (node.op == Op::argument) return arguments[std::size_t(node.integer)];
  const auto operand = [&](ir::Value v) { return v == ir::kNone ? nullptr : values[std::size_t(v)]; };
  const ir::Value typical = node.op == Op::select ? node.b : node.a;
  const Type from = kernel.nodes[std::size_t(typical)].type;
  Value* result = operation(node, from, operand(node.a), operand(node.b), operand(node.c));
  const bool is_made_float = (node.op == Op::convert || node.op == Op::bitcast) && !ir::is_float(from);
  return quick_ && ir::is_float(node.type) && (is_made_float || llvm::isa<llvm::Constant>(result))
             ? quick_->unknown(result)
             : result;
}

Value* OperationEmitter::operation(const ir::Node& node, Type from, Value* a, Value* b, Value* c) {
  switch (node.op) {
    case Op::select:
      return builder_.CreateSelect(a, b, c);
    case Op::lt:
    case Op::le:
    case Op::eq:
    case Op::ne:
      return compare(node.op, from, a, b);
    case Op::convert:
      return convert(node.type, from, a);
    case Op::bitcast:
      return builder_.CreateBitCast(a, value(node.type));
    default:
      break;
  }
  if (node.type == Type::b1) return logical(node.op, a, b);
  return ir::is_int(node.type) ? integer(node.op, a, b) : floating(node.op, node.type, a, b, c);
}

Value* OperationEmitter::floating(Op op, Type type, Value* a, Value* b, Value* c) {
  switch (op) {
    case Op::add:
      return builder_.CreateFAdd(a, b);
    case Op::sub:
      return builder_.CreateFSub(a, b);
    case Op::mul:
      return builder_.CreateFMul(a, b);
    case Op::div:
      return quick_ ? quick_->quotient(a, b) : builder_.CreateFDiv(a, b);
    case Op::fma:
      return quick_ ? quick_->fma(a, b, c) : builder_.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {a, b, c});
    case Op::neg:
      return quick_ ? quick_->negative(a) : builder_.CreateFNeg(a);
    case Op::abs:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Op::min:
      return builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), a, b);
    case Op::max:
      return builder_.CreateSelect(builder_.CreateFCmpOGT(a, b), a, b);
    case Op::sqrt:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Op::floor:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Op::ceil:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
    default:
      break;
  }
  if (!is_vector_function(op)) unknown(op, ir::name(type));
  return ir::arity(op) == 2 ? functions_(builder_, op, type, {a, b}) : functions_(builder_, op, type, {a});
}

Value* OperationEmitter::integer(Op op, Value* a, Value* b) {
  const auto all = [&](std::int64_t x) { return llvm::ConstantInt::get(a->getType(), std::uint64_t(x), true); };
  // Divisors 0 and -1 trap in hardware: divide by 1 there and mend the quotient. The remainder comes out right by
  // itself.
  const auto safe = [&] {
    Value* bad = builder_.CreateOr(builder_.CreateICmpEQ(b, all(0)), builder_.CreateICmpEQ(b, all(-1)));
    return builder_.CreateSelect(bad, all(1), b);
  };
  const auto count = [&] { return builder_.CreateAnd(b, all(a->getType()->getScalarSizeInBits() - 1)); };
  switch (op) {
    case Op::add:
      return builder_.CreateAdd(a, b);
    case Op::sub:
      return builder_.CreateSub(a, b);
    case Op::mul:
      return builder_.CreateMul(a, b);
    case Op::div: {
      Value* quotient = builder_.CreateSDiv(a, safe());
      quotient = builder_.CreateSelect(builder_.CreateICmpEQ(b, all(-1)), builder_.CreateNeg(a), quotient);
      return builder_.CreateSelect(builder_.CreateICmpEQ(b, all(0)), all(0), quotient);
    }
    case Op::rem:
      return builder_.CreateSRem(a, safe());
    case Op::neg:
      return builder_.CreateNeg(a);
    case Op::abs:
      return builder_.CreateSelect(builder_.CreateICmpSLT(a, all(0)), builder_.CreateNeg(a), a);
    case Op::min:
      return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
    case Op::max:
      return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
      return logical(op, a, b);  // bit by bit the same
    case Op::shl:
      return builder_.CreateShl(a, count());
    case Op::shr:
      return builder_.CreateAShr(a, count());
    default:
      unknown(op, "integers");
  }
}

Value* OperationEmitter::logical(Op op, Value* a, Value* b) {
  switch (op) {
    case Op::and_:
      return builder_.CreateAnd(a, b);
    case Op::or_:
      return builder_.CreateOr(a, b);
    case Op::xor_:
      return builder_.CreateXor(a, b);
    case Op::not_:
      return builder_.CreateNot(a);
    default:
      unknown(op, "truth values");
  }
}

Value* OperationEmitter::compare(Op op, Type type, Value* a, Value* b) {
  if (ir::is_float(type)) {
    switch (op) {
      case Op::lt:
        return builder_.CreateFCmpOLT(a, b);
      case Op::le:
        return builder_.CreateFCmpOLE(a, b);
      case Op::eq:
        return builder_.CreateFCmpOEQ(a, b);
      default:
        return builder_.CreateFCmpUNE(a, b);
    }
  }
  switch (op) {
    case Op::lt:
      return builder_.CreateICmpSLT(a, b);
    case Op::le:
      return builder_.CreateICmpSLE(a, b);
    case Op::eq:
      return builder_.CreateICmpEQ(a, b);
    default:
      return builder_.CreateICmpNE(a, b);
  }
}

Value* OperationEmitter::convert(Type to, Type from, Value* a) {
  llvm::Type* target = value(to);
  if (to == from) return a;
  if (to == Type::b1) {
    llvm::Constant* zero = llvm::Constant::getNullValue(a->getType());
    return ir::is_float(from) ? builder_.CreateFCmpUNE(a, zero) : builder_.CreateICmpNE(a, zero);
  }
  if (from == Type::b1) return ir::is_float(to) ? builder_.CreateUIToFP(a, target) : builder_.CreateZExt(a, target);
  if (ir::is_float(from) && ir::is_float(to)) return builder_.CreateFPCast(a, target);
  if (ir::is_float(from)) return builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {target, a->getType()}, {a});
  if (ir::is_float(to)) return builder_.CreateSIToFP(a, target);
  return builder_.CreateSExtOrTrunc(a, target);
}

}  // namespace jit
