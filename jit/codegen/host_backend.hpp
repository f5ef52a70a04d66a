// A target whose code runs in this process: what the CPU's vectors and the simulated GPU's threads have in common.
#pragma once

#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/cpu_target.hpp"

namespace jit {

class HostBackend : public Target {
 public:
  const std::string& description() const override { return target_.description(); }
  std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                    BuildNotes& notes) override;
  KernelCode load(const std::string& object, const std::string& symbol, KernelResources& resources) override;
  void unload(KernelCode code) noexcept override { linker_.unlink(code); }

 protected:
  VectorIsa isa() const { return target_.isa(); }
  /// Adds the function `symbol` to the module. `quick`: for LLVM's quick selection of instructions; returns what make_quick_fma_pass()
  /// must find.
  virtual QuickCounts emit(llvm::Module& module, const ir::Kernel& kernel, const std::string& symbol,
                           const CodeOptions& options, bool quick) const = 0;
  /// Whether LLVM's quick selection makes the code: what it takes to make counts, not how fast it is.
  virtual bool is_quick() const { return false; }
  /// Stages that are not on the way to this machine's code.
  virtual void tell_more(const ir::Kernel&, const std::string&, const CodeOptions&, BuildNotes&) {}

 private:
  struct Emitted;

  CpuTarget target_;
  ObjectLinker linker_{callable_symbols()};
};

}  // namespace jit
