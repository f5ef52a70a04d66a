// From kernel IR to machine code.
#pragma once

#include <memory>
#include <string>

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Everything besides the IR that shapes code; part of the cache key.
struct CodeOptions {
  bool streaming = false;  ///< non-temporal stores
  int prefetch =
      0;  ///< steps ahead (a step is a block of lanes: half a group if 8-byte words are used), 0 = none; range domains
  bool check = false;  ///< TESSERA_CHECK: LLVM verifies the module (bounds and NaN are checked by jit/runtime)
  bool operator==(const CodeOptions&) const = default;
};

/// What became of a kernel.
struct CompiledKernel {
  std::string name, hash;
  KernelFunction function = nullptr;
  CodeOptions options;
  double codegen_seconds = 0, compile_seconds = 0, load_seconds = 0;
  bool from_cache = false;
  std::size_t code_bytes = 0;
};

/// Compiles for this machine's CPU, through the disk cache. Thread safe is not required. Objects live as long as the
/// compiler.
class CpuCompiler {
 public:
  CpuCompiler();
  ~CpuCompiler();
  /// Throws InternalError (dump kept and named in the message) when LLVM refuses the kernel.
  CompiledKernel compile(const ir::Kernel& kernel, const CodeOptions& options);
  /// "znver4 +avx512f ..., LLVM 19.1.7": for logs and the cache key.
  const std::string& target_description() const;
  /// Lanes of 4-byte words that fill one register: 16 with AVX-512, 8 with AVX2, 4 otherwise.
  static int native_lanes();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jit
