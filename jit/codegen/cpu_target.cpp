#include "jit/codegen/cpu_target.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "jit/codegen/quick_fma.hpp"
#include "jit/support/error.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <llvm-c/Disassembler.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetLoweringObjectFile.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#pragma GCC diagnostic pop

namespace jit {
namespace {

/// LLVM's way out of "cannot select" and the like is to end the process; an exception is ours. What LLVM leaks then is
/// small.
void throw_fatal(void*, const char* reason, bool) { refuse("LLVM", reason); }

template <class T>
T take(const std::string& what, llvm::Expected<T> result) {
  if (!result) refuse(what, llvm::toString(result.takeError()));
  return std::move(*result);
}

void take(const std::string& what, llvm::Error error) {
  if (error) refuse(what, llvm::toString(std::move(error)));
}

}  // namespace

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(throw_fatal);
    // The scheduler compares each memory access with all before it. In shorter windows a kernel with 300 loads and 300
    // prefetches or stores takes 7 ms there instead of 130 ms, and its code is as fast.
    const char* const options[] = {"tessera", "-dag-maps-huge-region=48", "-dag-maps-reduction-size=24"};
    llvm::cl::ParseCommandLineOptions(3, options, "", &llvm::nulls());
  });
}

void refuse(const std::string& what, const std::string& message) {
  throw InternalError({.what = what, .expected = "LLVM to accept it", .got = message});
}

struct ModuleErrors::Handler : llvm::DiagnosticHandler {
  std::string message;
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !message.empty()) return true;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
};

ModuleErrors::ModuleErrors(llvm::Module& module) {
  auto handler = std::make_unique<Handler>();
  handler_ = handler.get();
  module.getContext().setDiagnosticHandler(std::move(handler));
}

void ModuleErrors::check(const char* what) const {
  if (!handler_->message.empty()) refuse(what, handler_->message);
}

CpuTarget::CpuTarget() {
  initialise_llvm();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) refuse("target " + triple, message);

  std::vector<std::string> features;
  bool avx2 = false, fma = false, avx512 = false;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
    if (feature.first() == "avx2") avx2 = feature.second;
    if (feature.first() == "fma") fma = feature.second;
    if (feature.first() == "avx512f") avx512 = feature.second;
  }
  std::sort(features.begin(), features.end());
  std::string list, present;
  for (const std::string& f : features) {
    list += (list.empty() ? "" : ",") + f;
    if (f[0] == '+') present += " " + f;
  }
  isa_ = avx512 ? VectorIsa::avx512 : avx2 && fma ? VectorIsa::avx2 : VectorIsa::sse4;  // SLEEF's for AVX2 use FMA

  const std::string cpu = llvm::sys::getHostCPUName().str();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.EmulatedTLS = false;
  machine_.reset(target->createTargetMachine(triple, cpu, list, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                             llvm::CodeGenOptLevel::Default));
  if (!machine_) refuse("target " + triple, "no machine for " + cpu);
  description_ = cpu + present + ", LLVM " + llvm_version();
}

CpuTarget::~CpuTarget() = default;

void CpuTarget::adopt(llvm::Module& module) const {
  module.setTargetTriple(machine_->getTargetTriple().str());
  module.setDataLayout(machine_->createDataLayout());
  for (llvm::Function& f : module) {
    f.addFnAttr("target-cpu", machine_->getTargetCPU());
    f.addFnAttr("target-features", machine_->getTargetFeatureString());
    // Vectors that find no register lie on the stack, which C aligns to 16 bytes only: most would cross a line of the cache.
    f.addFnAttr("stackrealign");
  }
}

std::optional<std::string> CpuTarget::compile_selected(llvm::Module& module, Code kind, QuickCounts counts) {
  QuickCounts found;
  std::string code = generate(module, kind, true, &found);
  return found == counts ? std::optional(std::move(code)) : std::nullopt;
}

/// `found` receives what became of QuickFma's instructions; nullptr: there are none.
std::string CpuTarget::generate(llvm::Module& module, Code kind, bool quick, QuickCounts* found) {
  const ModuleErrors errors(module);

  // What TargetMachine::addPassesToEmitFile does, but for the schedulers. The one before register allocation reorders
  // for latency what schedule.cpp has ordered for registers: without it a Wilson hopping term is 5 to 7% faster and
  // compiles in three quarters of the time. The one after allocation gives 12%; as a machine scheduler it is as good as
  // X86's default, a list scheduler, in half the time. Without optimisation there are no schedulers, and registers are given out
  // from one instruction to the next.
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
  machine.setOptLevel(quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);  // `passes` owns what is added
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::MachineSchedulerID);
  config->substitutePass(&llvm::PostRASchedulerID, &llvm::PostMachineSchedulerID);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses()) refuse("code generation", "no instruction selection for this target");
  if (found != nullptr) passes.add(make_quick_fma_pass(*found));
  config->addMachinePasses();
  config->setInitialized();
  const_cast<llvm::TargetLoweringObjectFile*>(machine.getObjFileLowering())
      ->Initialize(info->getMMI().getContext(), machine);
  const auto file = kind == Code::assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine.addAsmPrinter(passes, stream, nullptr, file, info->getMMI().getContext()))
    refuse("code generation", "this target cannot write objects");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  errors.check("code generation");
  return {bytes.begin(), bytes.end()};
}

struct ObjectLinker::State {
  llvm::orc::ExecutionSession session;
  llvm::orc::ObjectLinkingLayer layer;
  llvm::orc::JITDylib& callable;
  std::unordered_map<const void*, llvm::orc::JITDylib*> libraries;  // by the address of what is called
  std::uint64_t linked = 0;
  std::string told;  // by the linker, while it worked on an object

  State()
      : session(take("JIT session", llvm::orc::SelfExecutorProcessControl::Create())),
        layer(session, session.getExecutorProcessControl().getMemMgr()),
        callable(session.createBareJITDylib("callable")) {
    // What it tells besides the error that it returns would go to stderr.
    session.setErrorReporter([this](llvm::Error error) { told += "; " + llvm::toString(std::move(error)); });
  }
  ~State() { llvm::consumeError(session.endSession()); }

  void remove(llvm::orc::JITDylib& library) noexcept {
    llvm::consumeError(session.removeJITDylib(library));
    session.getSymbolStringPool()->clearDeadEntries();
  }
};

ObjectLinker::ObjectLinker(const std::vector<std::pair<std::string, void*>>& symbols) {
  initialise_llvm();
  state_ = std::make_unique<State>();
  llvm::orc::SymbolMap map;
  for (const auto& [name, address] : symbols)
    map[state_->session.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  take("JIT symbols", state_->callable.define(llvm::orc::absoluteSymbols(std::move(map))));
}

ObjectLinker::~ObjectLinker() = default;

void* ObjectLinker::link(const std::string& object, const std::string& symbol) {
  const std::string what = "link " + symbol;
  llvm::orc::JITDylib& library = state_->session.createBareJITDylib("object " + std::to_string(++state_->linked));
  state_->told.clear();
  std::string message;
  if (llvm::Error error = state_->layer.add(library, llvm::MemoryBuffer::getMemBufferCopy(object, symbol))) {
    message = llvm::toString(std::move(error));
  } else {
    library.addToLinkOrder(state_->callable);
    auto found = state_->session.lookup({&library}, symbol);
    if (found) {
      void* address = found->getAddress().toPtr<void*>();
      state_->libraries[address] = &library;
      return address;
    }
    message = llvm::toString(found.takeError());
  }
  state_->remove(library);
  refuse(what, message + state_->told);
}

void ObjectLinker::unlink(const void* address) noexcept {
  const auto found = state_->libraries.find(address);
  if (found == state_->libraries.end()) return;
  state_->remove(*found->second);
  state_->libraries.erase(found);
}

std::string disassembly(std::span<const std::byte> instructions) {
  static const bool initialised = !llvm::InitializeNativeTargetDisassembler();
  const std::unique_ptr<void, void (*)(void*)> context(
      initialised ? LLVMCreateDisasm(llvm::sys::getProcessTriple().c_str(), nullptr, 0, nullptr, nullptr) : nullptr,
      [](void* c) { LLVMDisasmDispose(c); });
  if (!context) refuse("disassembler", "none for " + llvm::sys::getProcessTriple());
  std::string text;
  auto* next = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(instructions.data()));
  for (std::size_t left = instructions.size(); left > 0;) {
    char line[256];
    const std::size_t length = LLVMDisasmInstruction(context.get(), next, left, 0, line, sizeof line);
    if (length == 0) break;
    text += line, text += '\n';
    next += length, left -= length;
  }
  return text;
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string verify_module(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  return llvm::verifyModule(module, &stream) ? message : std::string();
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace jit
