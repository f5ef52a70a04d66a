#include "jit/codegen/codegen.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "jit/cache/kernel_cache.hpp"
#include "jit/codegen/cpu_target.hpp"
#include "jit/codegen/kernel_emitter.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/log.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#include <llvm/Support/raw_ostream.h>
#pragma GCC diagnostic pop

namespace jit {
namespace {

/// Raise it with every change of the code that is made from the same IR and options.
constexpr int kGeneratorVersion = 4;

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Everything a kernel may call: sums, elementary functions, and what LLVM calls on processors without the instruction.
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

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

struct CpuCompiler::State {
  CpuTarget target;
  ObjectLinker linker{callable_symbols()};
  std::optional<KernelCache> cache = KernelCache::from_environment();
  std::unordered_map<std::string, CompiledKernel> loaded;  ///< by hash

  std::string dump_path(const CompiledKernel& kernel, const char* stage) const {
    std::string name = kernel.name.empty() ? "kernel" : kernel.name;
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
    name.resize(std::min<std::size_t>(name.size(), 80));
    return (env().dump_dir.empty() ? "." : env().dump_dir) + "/" + name + "_" + kernel.hash + "." + stage;
  }

  /// Writes one stage; never fails the run.
  std::string dump(const CompiledKernel& kernel, const char* stage, const std::string& text) const {
    const std::string path = dump_path(kernel, stage);
    try {
      if (!env().dump_dir.empty()) make_directories(env().dump_dir);
      write_atomically(path, text, /*durable=*/false);
    } catch (const FileError& error) {
      log_warn("codegen", "no dump: ", error.what());
    }
    return path;
  }

  std::string make_object(const ir::Kernel& kernel, const std::string& ir_text, CompiledKernel& result) {
    llvm::LLVMContext context;
    llvm::Module module(result.hash, context);
    Stopwatch watch;
    try {
      emit_kernel(module, symbol(result), kernel, result.options, target.isa());
      target.adopt(module);
      if (env().dumps("llvm")) dump(result, "llvm", text_of(module));
      if (env().check || result.options.check) {
        const std::string objection = verify_module(module);
        if (!objection.empty()) throw InternalError({.what = "LLVM's verifier", .got = objection});
      }
      result.codegen_seconds = watch.lap();
      if (env().dumps("asm")) {
        llvm::LLVMContext other;
        llvm::Module copy(result.hash, other);
        emit_kernel(copy, symbol(result), kernel, result.options, target.isa());
        target.adopt(copy);
        dump(result, "asm", target.compile(copy, true));
        watch.lap();
      }
      std::string object = target.compile(module, false);
      result.compile_seconds = watch.lap();
      if (env().dumps("opt")) dump(result, "opt", text_of(module));  // as the code generator's own passes left it
      return object;
    } catch (const InternalError& error) {
      throw InternalError({.what = "compile kernel " + result.name,
                           .got = error.what(),
                           .where = dump(result, "ir", ir_text),
                           .what_now = "Please report it with that file"});
    }
  }

  static std::string symbol(const CompiledKernel& kernel) { return "kernel_" + kernel.hash; }
};

CpuCompiler::CpuCompiler() : state_(std::make_unique<State>()) {}
CpuCompiler::~CpuCompiler() = default;

const std::string& CpuCompiler::target_description() const { return state_->target.description(); }

int CpuCompiler::native_lanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 16;
  if (__builtin_cpu_supports("avx2")) return 8;
#endif
  return 4;
}

CompiledKernel CpuCompiler::compile(const ir::Kernel& kernel, const CodeOptions& options) {
  CompiledKernel result;
  result.name = kernel.name;
  result.options = options;
  const KernelKey key{ir::print(kernel), state_->target.description(), options, kGeneratorVersion};
  const std::string key_text = key.text();
  result.hash = hash_text(key_text).hex();
  if (const auto found = state_->loaded.find(result.hash); found != state_->loaded.end()) {
    CompiledKernel again = found->second;
    again.name = kernel.name;
    return again;
  }
  if (env().dumps("ir")) state_->dump(result, "ir", key.ir);

  std::optional<std::string> object;
  if (state_->cache) object = state_->cache->load(key_text);
  result.from_cache = object.has_value();
  if (!object) {
    ir::verify(kernel);
    object = state_->make_object(kernel, key.ir, result);
    if (state_->cache) state_->cache->store(key_text, *object);
  }
  Stopwatch watch;
  result.function = reinterpret_cast<KernelFunction>(state_->linker.link(*object, State::symbol(result)));
  result.code_bytes = object->size();
  result.load_seconds = watch.lap();
  log_info("codegen", "kernel ", result.name, " ", result.hash, ": ", kernel.nodes.size(), " nodes, ",
           result.code_bytes, " bytes, ", result.from_cache ? "hit" : "miss", ", IR ", 1e3 * result.codegen_seconds,
           " ms, compile ", 1e3 * result.compile_seconds, " ms, load ", 1e3 * result.load_seconds, " ms");
  state_->loaded.emplace(result.hash, result);
  return result;
}

}  // namespace jit
