#include "jit/codegen/vector_math.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>

#include "jit/support/error.hpp"

// X(operation, SLEEF's name, accuracy suffix, which of the function's two results; -1: it has one)
// clang-format off
#define TESSERA_SLEEF(X)                                                                                               \
  X(sin, sincos, u10, 0) X(cos, sincos, u10, 1) X(tan, tan, u10, -1) X(asin, asin, u10, -1) X(acos, acos, u10, -1)     \
  X(atan, atan, u10, -1) X(sinh, sinh, u10, -1) X(cosh, cosh, u10, -1) X(tanh, tanh, u10, -1) X(exp, exp, u10, -1)     \
  X(log, log, u10, -1) X(log10, log10, u10, -1) X(pow, pow, u10, -1) X(atan2, atan2, u10, -1) X(fmod, fmod, , -1)
// clang-format on

#if defined(__x86_64__)
// Only the addresses are taken here: the true types (vectors) need compiler flags that this file does not have.
extern "C" {
#define TESSERA_ROW(op, function, accuracy, result)                                                                    \
  void Sleef_##function##f4_##accuracy##sse4();                                                                        \
  void Sleef_##function##d2_##accuracy##sse4();                                                                        \
  void Sleef_##function##f8_##accuracy##avx2();                                                                        \
  void Sleef_##function##d4_##accuracy##avx2();                                                                        \
  void Sleef_##function##f16_##accuracy##avx512f();                                                                    \
  void Sleef_##function##d8_##accuracy##avx512f();
TESSERA_SLEEF(TESSERA_ROW)
#undef TESSERA_ROW
}
#endif

namespace jit {
namespace {

struct Row {
  ir::Op op;
  const char* function;
  const char* accuracy;
  int result;
};

constexpr Row kRows[] = {
#define TESSERA_ROW(op, function, accuracy, result) {ir::Op::op, #function, #accuracy, result},
    TESSERA_SLEEF(TESSERA_ROW)
#undef TESSERA_ROW
};

const Row* find(ir::Op op) {
  for (const Row& row : kRows)
    if (row.op == op) return &row;
  return nullptr;
}

const char* suffix(VectorIsa isa) {
  switch (isa) {
    case VectorIsa::sse4:
      return "sse4";
    case VectorIsa::avx2:
      return "avx2";
    case VectorIsa::avx512:
      return "avx512f";
  }
  return "";
}

const Row& at(ir::Op op) {
  if (const Row* row = find(op)) return *row;
  throw InternalError({.what = "elementary function", .expected = "sin ... fmod", .got = ir::name(op)});
}

/// What a function gives: one value, or two.
using Results = std::array<llvm::Value*, 2>;

/// On vectors that fill a register. A function with two results writes them to memory.
Results call_full(llvm::IRBuilder<>& builder, VectorIsa isa, ir::Op op, ir::Type type, llvm::Type* full,
                  llvm::SmallVector<llvm::Value*> arguments) {
  llvm::Function* caller = builder.GetInsertBlock()->getParent();
  const bool gives_two = at(op).result >= 0;
  llvm::Type* const both = llvm::ArrayType::get(full, 2);
  llvm::Value* memory = nullptr;
  if (gives_two) arguments.insert(arguments.begin(), memory = on_stack(*caller, both));

  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Value* x : arguments) types.push_back(x->getType());
  llvm::FunctionCallee callee = caller->getParent()->getOrInsertFunction(
      vector_function_name(isa, op, type),
      llvm::FunctionType::get(gives_two ? builder.getVoidTy() : full, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (!gives_two) {
    function->setDoesNotAccessMemory();
    return {builder.CreateCall(callee, arguments), nullptr};
  }
  function->setOnlyAccessesArgMemory();
  function->addParamAttr(0, llvm::Attribute::getWithStructRetType(builder.getContext(), both));
  builder.CreateCall(callee, arguments)->setAttributes(function->getAttributes());
  return {builder.CreateLoad(full, memory), builder.CreateLoad(full, builder.CreateConstGEP2_64(both, memory, 0, 1))};
}

/// On vectors of any number of lanes.
Results call_vectors(llvm::IRBuilder<>& builder, VectorIsa isa, ir::Op op, ir::Type type,
                     const std::vector<llvm::Value*>& arguments) {
  const int width = register_bytes(isa) / ir::bytes(type);
  auto* given = llvm::cast<llvm::FixedVectorType>(arguments.front()->getType());
  const int lanes = int(given->getNumElements());
  auto* full = llvm::FixedVectorType::get(given->getElementType(), unsigned(width));
  llvm::SmallVector<llvm::Value*> parts(arguments.begin(), arguments.end());
  if (lanes == width) return call_full(builder, isa, op, type, full, parts);
  if (lanes < width) {  // fill up with repetitions, so that no stray number costs a slow path
    llvm::SmallVector<int> repeat, low;
    for (int l = 0; l < width; ++l) repeat.push_back(l % lanes);
    for (int l = 0; l < lanes; ++l) low.push_back(l);
    for (llvm::Value*& part : parts) part = builder.CreateShuffleVector(part, repeat);
    Results results = call_full(builder, isa, op, type, full, parts);
    for (llvm::Value*& result : results)
      if (result != nullptr) result = builder.CreateShuffleVector(result, low);
    return results;
  }
  Results results = {};
  for (int from = 0; from < lanes; from += width) {
    llvm::Value* position = builder.getInt64(std::uint64_t(from));
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = builder.CreateExtractVector(full, arguments[i], position);
    const Results some = call_full(builder, isa, op, type, full, parts);
    for (std::size_t k = 0; k < some.size() && some[k] != nullptr; ++k) {
      if (from == 0) results[k] = llvm::PoisonValue::get(given);
      results[k] = builder.CreateInsertVector(given, results[k], some[k], position);
    }
  }
  return results;
}

/// On vectors or scalars.
Results call(llvm::IRBuilder<>& builder, VectorIsa isa, ir::Op op, ir::Type type,
             const std::vector<llvm::Value*>& arguments) {
  if (arguments.front()->getType()->isVectorTy()) return call_vectors(builder, isa, op, type, arguments);
  const auto width = unsigned(register_bytes(isa) / ir::bytes(type));
  std::vector<llvm::Value*> vectors;
  for (llvm::Value* x : arguments) vectors.push_back(builder.CreateVectorSplat(width, x));
  Results results = call_vectors(builder, isa, op, type, vectors);
  for (llvm::Value*& result : results)
    if (result != nullptr) result = builder.CreateExtractElement(result, std::uint64_t{0});
  return results;
}

}  // namespace

bool is_vector_function(ir::Op op) { return find(op) != nullptr; }

std::string vector_function_name(VectorIsa isa, ir::Op op, ir::Type type) {
  const Row& row = at(op);
  return std::string("Sleef_") + row.function + (type == ir::Type::f32 ? "f" : "d") +
         std::to_string(register_bytes(isa) / ir::bytes(type)) + "_" + row.accuracy + suffix(isa);
}

std::optional<ir::Op> computed_beside(ir::Op op) {
  const Row& row = at(op);
  for (const Row& other : kRows)
    if (row.result >= 0 && other.op != op && std::string_view(other.function) == row.function) return other.op;
  return std::nullopt;
}

int result_of_vector_function(ir::Op op) { return at(op).result; }

FunctionEmitter sleef(VectorIsa isa) {
  // What a function gave beside what it was called for, until its block ends.
  struct Known {
    const llvm::BasicBlock* block = nullptr;
    std::map<std::pair<std::string, const llvm::Value*>, Results> results;
  };
  return [isa, known = std::make_shared<Known>()](llvm::IRBuilder<>& builder, ir::Op op, ir::Type type,
                                                  const std::vector<llvm::Value*>& arguments) {
    const int result = at(op).result;
    if (result < 0) return call(builder, isa, op, type, arguments)[0];
    if (std::exchange(known->block, builder.GetInsertBlock()) != builder.GetInsertBlock()) known->results.clear();
    const auto [entry, is_new] =
        known->results.try_emplace({vector_function_name(isa, op, type), arguments.front()}, Results{});
    if (is_new) entry->second = call(builder, isa, op, type, arguments);
    return entry->second[std::size_t(result)];
  };
}

FunctionEmitter libdevice() {
  return [](llvm::IRBuilder<>& builder, ir::Op op, ir::Type type,
            const std::vector<llvm::Value*>& arguments) -> llvm::Value* {
    llvm::Type* word = arguments.front()->getType()->getScalarType();
    const std::string name = std::string("__nv_") + ir::name(op) + (type == ir::Type::f32 ? "f" : "");
    const llvm::SmallVector<llvm::Type*> types(arguments.size(), word);
    llvm::Module* module = builder.GetInsertBlock()->getModule();
    llvm::FunctionCallee function = module->getOrInsertFunction(name, llvm::FunctionType::get(word, types, false));
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(arguments.front()->getType());
    if (!vector) return builder.CreateCall(function, arguments);
    llvm::Value* result = llvm::PoisonValue::get(arguments.front()->getType());
    for (std::uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
      std::vector<llvm::Value*> words;
      for (llvm::Value* x : arguments) words.push_back(builder.CreateExtractElement(x, lane));
      result = builder.CreateInsertElement(result, builder.CreateCall(function, words), lane);
    }
    return result;
  };
}

std::vector<std::pair<std::string, void*>> vector_function_symbols() {
  std::vector<std::pair<std::string, void*>> symbols;
#if defined(__x86_64__)
#define TESSERA_SYMBOL(name) symbols.emplace_back(#name, reinterpret_cast<void*>(&name));
#define TESSERA_ROW(op, function, accuracy, result)                                                                    \
  TESSERA_SYMBOL(Sleef_##function##f4_##accuracy##sse4)                                                                \
  TESSERA_SYMBOL(Sleef_##function##d2_##accuracy##sse4)                                                                \
  TESSERA_SYMBOL(Sleef_##function##f8_##accuracy##avx2)                                                                \
  TESSERA_SYMBOL(Sleef_##function##d4_##accuracy##avx2)                                                                \
  TESSERA_SYMBOL(Sleef_##function##f16_##accuracy##avx512f)                                                            \
  TESSERA_SYMBOL(Sleef_##function##d8_##accuracy##avx512f)
  TESSERA_SLEEF(TESSERA_ROW)
#undef TESSERA_ROW
#undef TESSERA_SYMBOL
  std::ranges::sort(symbols);
  symbols.erase(std::ranges::unique(symbols).begin(), symbols.end());  // two operations may share a function
#endif
  return symbols;
}

}  // namespace jit
