#include "jit/codegen/vector_math.hpp"

#include "jit/support/error.hpp"

// X(operation, SLEEF's name, accuracy suffix)
// clang-format off
#define TESSERA_SLEEF(X)                                                                                               \
  X(sin, sin, u10) X(cos, cos, u10) X(tan, tan, u10) X(asin, asin, u10) X(acos, acos, u10) X(atan, atan, u10)          \
  X(sinh, sinh, u10) X(cosh, cosh, u10) X(tanh, tanh, u10) X(exp, exp, u10) X(log, log, u10) X(log10, log10, u10)      \
  X(pow, pow, u10) X(atan2, atan2, u10) X(fmod, fmod, )
// clang-format on

#if defined(__x86_64__)
// Only the addresses are taken here: the true types (vectors) need compiler flags that this file does not have.
extern "C" {
#define TESSERA_ROW(op, function, accuracy)                                                                            \
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
};

constexpr Row kRows[] = {
#define TESSERA_ROW(op, function, accuracy) {ir::Op::op, #function, #accuracy},
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

llvm::Value* call_vectors(llvm::IRBuilder<>& builder, VectorIsa isa, ir::Op op, ir::Type type,
                          const std::vector<llvm::Value*>& arguments) {
  const int width = register_bytes(isa) / ir::bytes(type);
  const auto* given = llvm::cast<llvm::FixedVectorType>(arguments.front()->getType());
  const int lanes = int(given->getNumElements());
  auto* full = llvm::FixedVectorType::get(given->getElementType(), unsigned(width));

  const std::string name = vector_function_name(isa, op, type);
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  const llvm::SmallVector<llvm::Type*> types(arguments.size(), full);
  llvm::FunctionCallee callee = module->getOrInsertFunction(name, llvm::FunctionType::get(full, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();

  if (lanes == width) return builder.CreateCall(callee, arguments);
  llvm::SmallVector<llvm::Value*> parts(arguments.size());
  if (lanes < width) {  // fill up with repetitions, so that no stray number costs a slow path
    llvm::SmallVector<int> repeat, low;
    for (int l = 0; l < width; ++l) repeat.push_back(l % lanes);
    for (int l = 0; l < lanes; ++l) low.push_back(l);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = builder.CreateShuffleVector(arguments[i], repeat);
    return builder.CreateShuffleVector(builder.CreateCall(callee, parts), low);
  }
  llvm::Value* result = llvm::PoisonValue::get(arguments.front()->getType());
  for (int from = 0; from < lanes; from += width) {
    llvm::Value* position = builder.getInt64(std::uint64_t(from));
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = builder.CreateExtractVector(full, arguments[i], position);
    result = builder.CreateInsertVector(result->getType(), result, builder.CreateCall(callee, parts), position);
  }
  return result;
}

}  // namespace

bool is_vector_function(ir::Op op) { return find(op) != nullptr; }

std::string vector_function_name(VectorIsa isa, ir::Op op, ir::Type type) {
  const Row& row = at(op);
  return std::string("Sleef_") + row.function + (type == ir::Type::f32 ? "f" : "d") +
         std::to_string(register_bytes(isa) / ir::bytes(type)) + "_" + row.accuracy + suffix(isa);
}

FunctionEmitter sleef(VectorIsa isa) {
  return [isa](llvm::IRBuilder<>& builder, ir::Op op, ir::Type type, const std::vector<llvm::Value*>& arguments) {
    if (arguments.front()->getType()->isVectorTy()) return call_vectors(builder, isa, op, type, arguments);
    const auto width = unsigned(register_bytes(isa) / ir::bytes(type));
    std::vector<llvm::Value*> vectors;
    for (llvm::Value* x : arguments) vectors.push_back(builder.CreateVectorSplat(width, x));
    return builder.CreateExtractElement(call_vectors(builder, isa, op, type, vectors), std::uint64_t{0});
  };
}

FunctionEmitter libdevice() {
  return [](llvm::IRBuilder<>& builder, ir::Op op, ir::Type type,
            const std::vector<llvm::Value*>& arguments) -> llvm::Value* {
    llvm::Type* word = arguments.front()->getType()->getScalarType();
    const std::string name = std::string("__nv_") + at(op).function + (type == ir::Type::f32 ? "f" : "");
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
#define TESSERA_ROW(op, function, accuracy)                                                                            \
  TESSERA_SYMBOL(Sleef_##function##f4_##accuracy##sse4)                                                                \
  TESSERA_SYMBOL(Sleef_##function##d2_##accuracy##sse4)                                                                \
  TESSERA_SYMBOL(Sleef_##function##f8_##accuracy##avx2)                                                                \
  TESSERA_SYMBOL(Sleef_##function##d4_##accuracy##avx2)                                                                \
  TESSERA_SYMBOL(Sleef_##function##f16_##accuracy##avx512f)                                                            \
  TESSERA_SYMBOL(Sleef_##function##d8_##accuracy##avx512f)
  TESSERA_SLEEF(TESSERA_ROW)
#undef TESSERA_ROW
#undef TESSERA_SYMBOL
#endif
  return symbols;
}

}  // namespace jit
