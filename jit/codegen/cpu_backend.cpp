// The CPU as a target: the vector emitter, LLVM's code generation for this machine, linking into this process.
#include <cmath>

#include "jit/codegen/assembled_code.hpp"
#include "jit/codegen/assembler.hpp"
#include "jit/codegen/codegen.hpp"
#include "jit/codegen/host_backend.hpp"
#include "jit/codegen/kernel_emitter.hpp"

namespace jit {
namespace {

class CpuBackend : public HostBackend {
 public:
  bool assembles(const ir::Kernel& kernel, const CodeOptions& options) const override {
    return !options.optimised && !options.check && can_assemble(kernel, isa());
  }
  std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                    BuildNotes& notes) override {
    if (!assembles(kernel, options)) return HostBackend::build(kernel, symbol, options, notes);
    notes.emitted();
    std::string object = assemble(kernel, symbol, options, isa());
    if (notes.wants("asm")) notes.stage("asm", disassembly(instructions_of(object)));
    return object;
  }
  KernelCode load(const std::string& object, const std::string& symbol, KernelResources& resources) override {
    return is_assembled(object) ? assembled_.load(object, symbol) : HostBackend::load(object, symbol, resources);
  }
  void unload(KernelCode code) noexcept override {
    if (!assembled_.unload(code)) HostBackend::unload(code);
  }

 private:
  QuickCounts emit(llvm::Module& module, const ir::Kernel& kernel, const std::string& symbol,
                   const CodeOptions& options, bool) const override {
    emit_kernel(module, symbol, kernel, options, isa());
    return {};
  }

  AssembledCode assembled_;
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
