#include "jit/codegen/nvptx_target.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/cpu_target.hpp"
#include "jit/codegen/libdevice.hpp"
#include "jit/codegen/simt_emitter.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/IPO/Internalize.h>
#pragma GCC diagnostic pop

namespace jit {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

// The IR is free of common sub-expressions and ptxas optimises after us, so a few passes do: variables into registers,
// the reflections and branches of libdevice resolved and its functions inlined. LLVM's -O2 takes twice the time, and ptxas
// ends with the same registers (Dslash, f32 / f64: 64 / 128).
constexpr const char* kInlining = "function(nvvm-reflect,simplifycfg),always-inline,globaldce";
constexpr const char* kPasses = "function(sroa,simplifycfg,early-cse,simplifycfg)";

/// What LLVM 19 knows, and the oldest PTX that has it: an older PTX suits more drivers.
struct Architecture {
  int sm;
  const char* ptx;
};
constexpr Architecture kArchitectures[] = {{75, "+ptx63"}, {80, "+ptx70"}, {86, "+ptx71"},
                                           {87, "+ptx74"}, {89, "+ptx78"}, {90, "+ptx78"}};

constexpr const char* kManyParameters = "+ptx81";  // newer than all of these

const Architecture& architecture_for(int sm) {
  const Architecture* best = nullptr;
  for (const Architecture& a : kArchitectures)
    if (a.sm <= sm) best = &a;
  if (!best)
    throw DeviceError({.what = "GPU of compute capability " + std::to_string(sm / 10) + "." + std::to_string(sm % 10),
                       .expected = "7.5 or higher",
                       .what_now = "Use TESSERA_DEVICE=cpu on this machine"});
  return *best;
}

void initialise_nvptx() {
  initialise_llvm();
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

}  // namespace

NvptxTarget::NvptxTarget(int sm, Parameters parameters) {
  const Architecture& architecture = architecture_for(sm);
  initialise_nvptx();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, message);
  if (!target) refuse(std::string("target ") + kTriple, message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // add.rn and mul.rn: ptxas does not fuse these either
  const std::string cpu = "sm_" + std::to_string(architecture.sm);
  const char* ptx = parameters == Parameters::few ? architecture.ptx : kManyParameters;
  machine_.reset(target->createTargetMachine(kTriple, cpu, ptx, options, llvm::Reloc::PIC_, std::nullopt,
                                             llvm::CodeGenOptLevel::Default));
  if (!machine_) refuse(std::string("target ") + kTriple, "no machine for " + cpu);
  description_ = cpu + " " + (ptx + 1) + ", LLVM " + llvm_version();
}

NvptxTarget::~NvptxTarget() = default;

void NvptxTarget::adopt(llvm::Module& module) const {
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine_->createDataLayout());
}

void NvptxTarget::link_libdevice(llvm::Module& module) const {
  const auto calls_it = [](const llvm::Function& f) { return f.isDeclaration() && f.getName().starts_with("__nv_"); };
  if (std::none_of(module.begin(), module.end(), calls_it)) return;
  module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", std::uint32_t{0});  // denormals are kept
  const std::string path = find_libdevice();
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    throw DeviceError({.what = "read " + path, .got = file.getError().message(), .what_now = "Set TESSERA_LIBDEVICE"});
  auto library = llvm::getOwningLazyBitcodeModule(std::move(*file), module.getContext());
  if (!library)
    throw DeviceError({.what = "read " + path,
                       .expected = "a libdevice that LLVM " + llvm_version() + " can read",
                       .got = llvm::toString(library.takeError()),
                       .what_now = "Set TESSERA_LIBDEVICE to that of an older or newer CUDA toolkit"});
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  const ModuleErrors errors(module);
  const bool failed = llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::Flags::LinkOnlyNeeded,
                                                [](llvm::Module& linked, const llvm::StringSet<>& added) {
                                                  llvm::internalizeModule(linked, [&](const llvm::GlobalValue& v) {
                                                    return !v.hasName() || !added.count(v.getName());
                                                  });
                                                });
  errors.check("libdevice");
  if (failed) refuse("libdevice", "it does not link");
}

void NvptxTarget::optimise(llvm::Module& module) const {
  llvm::PassBuilder passes(machine_.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  for (const char* part : {kInlining, kPasses})
    if (auto error = passes.parsePassPipeline(pipeline, part)) refuse("passes", llvm::toString(std::move(error)));
  const ModuleErrors errors(module);
  pipeline.run(module, modules);
  errors.check("optimiser");
}

std::string NvptxTarget::compile(llvm::Module& module) const {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    refuse("code generation", "this target cannot write PTX");
  const ModuleErrors errors(module);
  passes.run(module);
  errors.check("code generation");
  return {text.begin(), text.end()};
}

namespace {

class NvptxBackend : public Target {
 public:
  NvptxBackend(int sm, GpuLoader* loader) : sm_(sm), loader_(loader), target_(sm), description_(target_.description()) {
    // The PTX may be that of an older GPU, the binary is this GPU's and this assembler's.
    if (loader_) description_ += ", sm_" + std::to_string(sm) + " by " + loader_->assembler();
  }

  const std::string& description() const override { return description_; }

  bool builds_alone() const override { return loader_ != nullptr && loader_->assembles_alone(); }

  std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                    BuildNotes& notes) override {
    const NvptxTarget& target = target_for(kernel);
    llvm::LLVMContext context;
    llvm::Module module(symbol, context);
    target.adopt(module);
    emit_simt_kernel(module, symbol, kernel, options, SimtMachine::nvptx, libdevice());
    if (notes.wants("llvm")) notes.stage("llvm", text_of(module));
    if (env().check || options.check) {
      const std::string objection = verify_module(module);
      if (!objection.empty()) throw InternalError({.what = "LLVM's verifier", .got = objection});
    }
    notes.emitted();
    target.link_libdevice(module);
    target.optimise(module);
    if (notes.wants("opt")) notes.stage("opt", text_of(module));
    const std::string ptx = target.compile(module);
    notes.stage("ptx", ptx);
    if (!loader_) return ptx;
    std::string log;
    std::string binary = loader_->assemble(ptx, options.registers, log);
    log_debug("codegen", kernel.name, ": ", log);
    return binary;
  }

  KernelCode load(const std::string& object, const std::string& symbol, KernelResources& resources) override {
    if (!loader_) throw InternalError({.what = "load " + symbol, .expected = "a GPU's driver", .got = "none"});
    return loader_->load(object, symbol, resources);
  }
  void unload(KernelCode code) noexcept override { loader_->unload(code); }

 private:
  const NvptxTarget& target_for(const ir::Kernel& kernel) {
    if (sizeof(std::uint64_t) * simt_parameters(kernel) <= kFewParameters) return target_;
    if (!roomy_) roomy_.emplace(sm_, NvptxTarget::Parameters::many);
    return *roomy_;
  }

  int sm_;
  GpuLoader* loader_;
  NvptxTarget target_;
  std::optional<NvptxTarget> roomy_;
  std::string description_;
};

}  // namespace

std::unique_ptr<Target> make_nvptx_target(int sm, GpuLoader* loader) {
  return std::make_unique<NvptxBackend>(sm, loader);
}

}  // namespace jit
