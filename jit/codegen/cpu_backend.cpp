// The CPU as a target: the vector emitter, LLVM's code generation for this machine, linking into this process.
#include <cmath>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/cpu_target.hpp"
#include "jit/codegen/kernel_emitter.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

constexpr int kGeneratorVersion = 4;

class CpuBackend : public Target {
 public:
  const std::string& description() const override { return target_.description(); }
  int generator_version() const override { return kGeneratorVersion; }

  std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                    BuildNotes& notes) override {
    llvm::LLVMContext context;
    llvm::Module module(symbol, context);
    emit(module, kernel, symbol, options);
    if (notes.wants("llvm")) notes.stage("llvm", text_of(module));
    if (env().check || options.check) {
      const std::string objection = verify_module(module);
      if (!objection.empty()) throw InternalError({.what = "LLVM's verifier", .got = objection});
    }
    if (notes.wants("asm")) {
      llvm::LLVMContext other;
      llvm::Module copy(symbol, other);
      emit(copy, kernel, symbol, options);
      notes.stage("asm", target_.compile(copy, true));
    }
    notes.emitted();
    std::string object = target_.compile(module, false);
    if (notes.wants("opt")) notes.stage("opt", text_of(module));  // as the code generator's own passes left it
    return object;
  }

  KernelCode load(const std::string& object, const std::string& symbol, KernelResources&) override {
    return linker_.link(object, symbol);
  }

 private:
  void emit(llvm::Module& module, const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options) const {
    emit_kernel(module, symbol, kernel, options, target_.isa());
    target_.adopt(module);
  }

  CpuTarget target_;
  ObjectLinker linker_{callable_symbols()};
};

}  // namespace

std::vector<std::pair<std::string, void*>> callable_symbols() {
  auto symbols = vector_function_symbols();
  const auto add = [&](const char* name, auto* function) {
    symbols.emplace_back(name, reinterpret_cast<void*>(function));
  };
  add("tessera_sum_slow", &tessera_sum_slow);
  add("fma", static_cast<double (*)(double, double, double)>(&std::fma));
  add("fmaf", static_cast<float (*)(float, float, float)>(&std::fma));
  add("floor", static_cast<double (*)(double)>(&std::floor));
  add("floorf", static_cast<float (*)(float)>(&std::floor));
  add("ceil", static_cast<double (*)(double)>(&std::ceil));
  add("ceilf", static_cast<float (*)(float)>(&std::ceil));
  return symbols;
}

std::unique_ptr<Target> make_cpu_target() { return std::make_unique<CpuBackend>(); }

int native_lanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 16;
  if (__builtin_cpu_supports("avx2")) return 8;
#endif
  return 4;
}

}  // namespace jit
