// The parts that change with LLVM's version: the host's target machine, object files from modules, and their linking
// into this process. Everything else uses the IR builder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/llvm.hpp"
#include "jit/codegen/quick_fma.hpp"
#include "jit/codegen/vector_math.hpp"

namespace llvm {
class TargetMachine;
}

namespace jit {

/// Before anything else that uses LLVM, as often as one likes: its options, and its fatal errors as InternalError.
void initialise_llvm();

/// Throws InternalError: `what` was refused, with the message.
[[noreturn]] void refuse(const std::string& what, const std::string& message);

/// Collects the first error that LLVM reports while it works on a module.
class ModuleErrors {
 public:
  explicit ModuleErrors(llvm::Module& module);
  /// Throws InternalError if there was one.
  void check(const char* what) const;

 private:
  struct Handler;
  const Handler* handler_;  // the module's context owns it
};

/// This machine's processor as LLVM knows it.
class CpuTarget {
 public:
  CpuTarget();  ///< Throws InternalError if LLVM was built without this processor.
  ~CpuTarget();

  VectorIsa isa() const { return isa_; }
  const std::string& description() const { return description_; }
  /// Gives the module this target's triple and data layout, and its functions the processor's name and features.
  void adopt(llvm::Module& module) const;
  /// Whether fused multiply-adds can be written as QuickFma does.
  bool makes_quick_fmas() const { return isa_ != VectorIsa::sse4; }

  enum class Code : std::uint8_t { object, assembly };
  /// Machine code as an object file, or as assembly text; `quick`: without optimisation, in a part of the time. Throws
  /// InternalError with LLVM's message.
  std::string compile(llvm::Module& module, Code kind, bool quick) { return generate(module, kind, quick, nullptr); }
  /// Quick code of a module for the quick selection of instructions. Empty if other instructions came of what QuickFma
  /// wrote than `counts`.
  std::optional<std::string> compile_selected(llvm::Module& module, Code kind, QuickCounts counts);

 private:
  std::string generate(llvm::Module& module, Code kind, bool quick, QuickCounts* found);

  std::unique_ptr<llvm::TargetMachine> machine_;
  VectorIsa isa_;
  std::string description_;
};

/// Objects linked into this process, each into a library of its own: none sees another's symbols, and one that is refused
/// leaves nothing behind.
class ObjectLinker {
 public:
  /// `symbols`: what objects may refer to besides what they define.
  explicit ObjectLinker(const std::vector<std::pair<std::string, void*>>& symbols);
  ~ObjectLinker();
  /// Address of `symbol` defined by `object`. Throws InternalError with LLVM's message.
  void* link(const std::string& object, const std::string& symbol);
  /// Frees the object of an address that link() has returned.
  void unlink(const void* address) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Name and address of everything that kernels on this machine may call: sums, elementary functions, and what LLVM calls on
/// processors without the instruction.
std::vector<std::pair<std::string, void*>> callable_symbols();

/// Instructions of this machine's processor as text.
std::string disassembly(std::span<const std::byte> instructions);

/// The module as LLVM prints it.
std::string text_of(const llvm::Module& module);

/// What LLVM objects to in the module; empty if nothing.
std::string verify_module(const llvm::Module& module);

std::string llvm_version();

}  // namespace jit
