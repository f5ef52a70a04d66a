#include "jit/codegen/host_backend.hpp"

#include <memory>
#include <utility>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {

/// The kernel in LLVM's IR, in a context of its own.
struct HostBackend::Emitted {
  llvm::LLVMContext context;
  llvm::Module module;
  QuickCounts quick_counts;

  Emitted(const HostBackend& backend, const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
          bool for_quick_selection)
      : module(symbol, context), quick_counts(backend.emit(module, kernel, symbol, options, for_quick_selection)) {
    backend.target_.adopt(module);
  }
};

std::string HostBackend::build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                               BuildNotes& notes) {
  const bool quick = is_quick();
  const auto emitted = [&](bool for_quick_selection) {
    return std::make_unique<Emitted>(*this, kernel, symbol, options, for_quick_selection);
  };
  bool for_quick_selection = quick && target_.makes_quick_fmas();
  std::unique_ptr<Emitted> code = emitted(for_quick_selection);
  if (notes.wants("llvm")) notes.stage("llvm", text_of(code->module));
  if (env().check || options.check) {
    const std::string objection = verify_module(code->module);
    if (!objection.empty()) throw InternalError({.what = "LLVM's verifier", .got = objection});
  }
  tell_more(kernel, symbol, options, notes);
  notes.emitted();
  const auto compile = [&](CpuTarget::Code kind) {
    if (for_quick_selection)
      if (auto selected = target_.compile_selected(code->module, kind, code->quick_counts)) return *std::move(selected);
    if (std::exchange(for_quick_selection, false)) {
      log_info("codegen", "kernel ", kernel.name,
               ": LLVM's quick selection has not made the instructions that were written");
      code = emitted(false);
    }
    return target_.compile(code->module, kind, quick);
  };
  std::string object = compile(CpuTarget::Code::object);
  if (notes.wants("opt")) notes.stage("opt", text_of(code->module));  // as the code generator's own passes left it
  if (notes.wants("asm")) {
    code = emitted(for_quick_selection);
    notes.stage("asm", compile(CpuTarget::Code::assembly));
  }
  return object;
}

KernelCode HostBackend::load(const std::string& object, const std::string& symbol, KernelResources&) {
  return linker_.link(object, symbol);
}

}  // namespace jit
