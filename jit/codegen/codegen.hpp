// From kernel IR to something that a device can launch.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Everything besides the IR that shapes code; part of the cache key. Each target reads what concerns it.
struct CodeOptions {
  bool streaming = false;  ///< what is touched once passes the caches by: non-temporal stores (CPU), cache hints (GPU)
  int prefetch =
      0;  ///< steps ahead (a step is a block of lanes: half a group if a field has 8-byte words), 0 = none; range domains (CPU)
  bool passing = false;    ///< prefetches go to the nearest cache, those of what is touched once past the others (CPU)
  bool check = false;      ///< TESSERA_CHECK: LLVM verifies the module (bounds and NaN are checked by jit/runtime)
  int registers = 0;       ///< most registers per thread, 0: as many as the assembler likes (GPU)
  int sites = 1;           ///< neighbouring sites per thread: 1, 2 or 4, in kernels of range domains (GPU)
  bool optimised = false;  ///< by LLVM, also where the target assembles kernels itself
  bool operator==(const CodeOptions&) const = default;
};

/// Everything that shapes the machine code of a kernel, as one text: the kernel cache compares it whole.
struct KernelKey {
  std::string ir;      ///< ir::print(kernel)
  std::string target;  ///< processor, features, compiler version
  CodeOptions options;
  std::string generator;  ///< generator_digest()

  std::string text() const;
};

/// A digest of the sources of jit/ir and jit/codegen, made when they are compiled (cmake/GeneratorDigest.cmake): other
/// sources, other code.
const char* generator_digest();

/// What a kernel takes of a GPU's multiprocessor, as its driver tells. On other devices nothing.
struct KernelResources {
  int registers = 0;      ///< per thread
  int spill_bytes = 0;    ///< local memory per thread
  int shared_bytes = 0;   ///< per block
  int largest_block = 0;  ///< threads per block that the kernel can be launched with
};

/// What became of a kernel.
struct CompiledKernel {
  std::string name, hash;
  KernelCode code = nullptr;
  CodeOptions options;
  KernelResources resources;
  double codegen_seconds = 0, compile_seconds = 0, load_seconds = 0;
  bool from_cache = false;
  std::size_t code_bytes = 0;
};

/// Takes notes while a kernel is built: text of a stage ("llvm", "opt", "asm", "ptx"), seconds since the last lap.
class BuildNotes {
 public:
  virtual ~BuildNotes() = default;
  virtual bool wants(const char* stage) const = 0;
  /// A stage that was not wanted may be told all the same: what comes next may refuse the text, and whoever is told so
  /// wants to see it.
  virtual void stage(const char* stage, const std::string& text) = 0;
  virtual void emitted() = 0;  ///< code generation is over, compilation begins
};

/// What differs between processors: from IR to an object (what the disk cache keeps), from an object to code in place.
class Target {
 public:
  virtual ~Target() = default;
  /// Processor, features and versions, for logs and the cache key: "znver4 +avx512f ..., LLVM 19.1.7".
  virtual const std::string& description() const = 0;
  /// Whether the target makes the code without LLVM, in a hundredth of the time.
  virtual bool assembles(const ir::Kernel&, const CodeOptions&) const { return false; }
  /// Whether builds wait for each other, whatever thread they are in, and launches for builds.
  virtual bool builds_alone() const { return false; }
  /// Throws InternalError with the compiler's message.
  virtual std::string build(const ir::Kernel& kernel, const std::string& symbol, const CodeOptions& options,
                            BuildNotes& notes) = 0;
  /// The code stays until unload(), or as long as the target. Throws InternalError (DeviceError: no memory for it).
  virtual KernelCode load(const std::string& object, const std::string& symbol, KernelResources& resources) = 0;
  /// Frees code that load() has returned. Nothing runs it any more.
  virtual void unload(KernelCode code) noexcept = 0;
};

/// This machine's processor.
std::unique_ptr<Target> make_cpu_target();

/// Lanes of 4-byte words that fill one register of this machine's processor: 16 with AVX-512, 8 with AVX2, 4 otherwise.
int native_lanes();

/// The code that a GPU's threads run, compiled for this machine's processor: for the simulated device.
/// A loaded kernel is a SimtFunction (abi.hpp).
std::unique_ptr<Target> make_simt_host_target();

/// What the CUDA target asks of the driver.
class GpuLoader {
 public:
  virtual ~GpuLoader() = default;
  /// PTX to a binary for this GPU, with at most `registers` registers per thread (0: no bound). `log` receives what the
  /// assembler says about resources. Throws InternalError with the assembler's errors. From any thread, at the same time.
  virtual std::string assemble(const std::string& ptx, int registers, std::string& log) = 0;
  /// What assembles, with its version; part of the cache key.
  virtual std::string assembler() = 0;
  /// As Target::builds_alone(), of this assembler.
  virtual bool assembles_alone() = 0;
  virtual KernelCode load(const std::string& binary, const std::string& symbol, KernelResources& resources) = 0;
  virtual void unload(KernelCode code) noexcept = 0;
};

/// NVIDIA GPUs of compute capability `sm` (75, 80, 90, ...). `loader` must outlive the target; nullptr: load() throws and
/// build() returns PTX.
std::unique_ptr<Target> make_nvptx_target(int sm, GpuLoader* loader);

/// An object, and what is known of it before it is loaded.
struct BuiltKernel {
  CompiledKernel kernel;
  KernelKey key;
  std::string object;
  std::string last_stage, last_text;  ///< that the target has told of: what is refused later is shown with it
};

/// Builds with a target that nobody else uses meanwhile: neither cache nor loading, on any thread. Throws what
/// Compiler::compile() throws.
BuiltKernel build_kernel(Target& target, const ir::Kernel& kernel, const CodeOptions& options);

/// Compiles kernels for one target, through the disk cache, with dumps and log lines. Not thread safe.
class Compiler {
 public:
  explicit Compiler(std::unique_ptr<Target> target);
  ~Compiler();
  /// Throws InternalError (dump kept and named in the message) when the kernel is refused.
  /// Equal kernels under equal options share code, which stays until release() has been called as often, or as long as the
  /// compiler.
  CompiledKernel compile(const ir::Kernel& kernel, const CodeOptions& options);
  /// compile() if nothing must be built: this process, another rank or the disk cache has it. Else empty. `hash`, if it is
  /// given: what compile() calls the code.
  std::optional<CompiledKernel> find(const ir::Kernel& kernel, const CodeOptions& options, std::string* hash = nullptr);
  /// Loads what build_kernel() has made for this target, and keeps it for others, as compile() does.
  CompiledKernel adopt(const ir::Kernel& kernel, BuiltKernel built);
  /// Whether it falls to this rank to build the kernel: the first of those of its machine that asks. The others find() it later.
  bool claim(const ir::Kernel& kernel, const CodeOptions& options);
  bool assembles(const ir::Kernel& kernel, const CodeOptions& options) const;
  bool builds_alone() const;
  /// Gives code up that compile() has returned. Nothing runs it any more.
  void release(KernelCode code) noexcept;
  /// What compile() will call the code, without making it: a digest of everything that shapes the code.
  std::string hash(const ir::Kernel& kernel, const CodeOptions& options) const;
  const std::string& target_description() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jit
