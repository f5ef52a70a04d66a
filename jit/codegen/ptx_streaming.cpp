#include "jit/codegen/ptx_streaming.hpp"

#include <string>
#include <vector>

namespace jit {
namespace {

unsigned words_in(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

/// What a type is in PTX: ".f32", ".v2.f32".
std::string suffix(llvm::Type* type) {
  const llvm::Type* word = type->getScalarType();
  const std::string name =
      (word->isFloatingPointTy() ? ".f" : ".b") + std::to_string(word->getPrimitiveSizeInBits().getFixedValue());
  return words_in(type) == 1 ? name : ".v" + std::to_string(words_in(type)) + name;
}

/// The letter of a word's register.
std::string constraint(llvm::Type* type) {
  const llvm::Type* word = type->getScalarType();
  if (word->isFloatTy()) return "f";
  if (word->isDoubleTy()) return "d";
  return word->isIntegerTy(64) ? "l" : "r";
}

std::string repeated(const std::string& item, unsigned count) {
  std::string list = item;
  for (unsigned i = 1; i < count; ++i) list += "," + item;
  return list;
}

/// Operands [first, first + count) as PTX writes them: "$0", "{$0, $1}".
std::string operands(unsigned first, unsigned count) {
  std::string list = "$" + std::to_string(first);
  for (unsigned i = 1; i < count; ++i) list += ", $" + std::to_string(first + i);
  return count == 1 ? list : "{" + list + "}";
}

std::string place(unsigned operand, std::int64_t bytes) {
  return "[$" + std::to_string(operand) + (bytes < 0 ? "" : "+") + std::to_string(bytes) + "]";
}

}  // namespace

llvm::Value* load_once(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* base, std::int64_t bytes) {
  const unsigned count = words_in(type);
  llvm::Type* word = type->getScalarType();
  llvm::Type* result =
      count == 1 ? word : llvm::StructType::get(builder.getContext(), std::vector<llvm::Type*>(count, word));
  auto* instruction = llvm::InlineAsm::get(
      llvm::FunctionType::get(result, {base->getType()}, false),
      "ld.global.cs.nc" + suffix(type) + " " + operands(0, count) + ", " + place(count, bytes) + ";",
      repeated("=" + constraint(type), count) + ",l", /*hasSideEffects=*/false);
  llvm::CallInst* loaded = builder.CreateCall(instruction, {base});
  loaded->setDoesNotAccessMemory();  // none that anything writes
  loaded->setDoesNotThrow();
  if (count == 1) return loaded;
  llvm::Value* vector = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < count; ++i)
    vector = builder.CreateInsertElement(vector, builder.CreateExtractValue(loaded, i), std::uint64_t{i});
  return vector;
}

void store_once(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* base, std::int64_t bytes) {
  llvm::Type* type = value->getType();
  const unsigned count = words_in(type);
  std::vector<llvm::Value*> arguments{base};
  for (unsigned i = 0; i < count; ++i)
    arguments.push_back(count == 1 ? value : builder.CreateExtractElement(value, std::uint64_t{i}));
  std::vector<llvm::Type*> types;
  for (const llvm::Value* x : arguments) types.push_back(x->getType());
  auto* instruction =
      llvm::InlineAsm::get(llvm::FunctionType::get(builder.getVoidTy(), types, false),
                           "st.global.cs" + suffix(type) + " " + place(0, bytes) + ", " + operands(1, count) + ";",
                           "l," + repeated(constraint(type), count) + ",~{memory}", /*hasSideEffects=*/true);
  builder.CreateCall(instruction, arguments)->setDoesNotThrow();
}

}  // namespace jit
