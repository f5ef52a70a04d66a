#include "jit/codegen/host_backend.hpp"

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {

std::string HostBackend::build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                               BuildNotes& notes) {
  const auto fill = [&](llvm::Module& module) {
    emit(module, kernel, symbol, options);
    target_.adopt(module);
  };
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  fill(module);
  if (notes.wants("llvm")) notes.stage("llvm", text_of(module));
  if (env().check || options.check) {
    const std::string objection = verify_module(module);
    if (!objection.empty()) throw InternalError({.what = "LLVM's verifier", .got = objection});
  }
  if (notes.wants("asm")) {
    llvm::LLVMContext other;
    llvm::Module copy(symbol, other);
    fill(copy);
    notes.stage("asm", target_.compile(copy, true, options.quick));
  }
  tell_more(kernel, symbol, options, notes);
  notes.emitted();
  std::string object = target_.compile(module, false, options.quick);
  if (notes.wants("opt")) notes.stage("opt", text_of(module));  // as the code generator's own passes left it
  return object;
}

KernelCode HostBackend::load(const std::string& object, const std::string& symbol, KernelResources&) {
  return linker_.link(object, symbol);
}

}  // namespace jit
