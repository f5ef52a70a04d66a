#include "jit/codegen/codegen.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include "jit/cache/kernel_cache.hpp"
#include "jit/cache/shared_kernels.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/hash.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

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

std::string dump_path(const CompiledKernel& kernel, const char* stage) {
  std::string name = kernel.name.empty() ? "kernel" : kernel.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  name.resize(std::min<std::size_t>(name.size(), 80));
  return (env().dump_dir.empty() ? "." : env().dump_dir) + "/" + name + "_" + kernel.hash + "." + stage;
}

/// Writes one stage; never fails the run.
std::string dump(const CompiledKernel& kernel, const char* stage, const std::string& text) {
  const std::string path = dump_path(kernel, stage);
  try {
    if (!env().dump_dir.empty()) make_directories(env().dump_dir);
    write_atomically(path, text, /*durable=*/false);
  } catch (const FileError& error) {
    log_warn("codegen", "no dump: ", error.what());
  }
  return path;
}

/// The notes of one kernel: dumps and times. Writing dumps is not counted. The last stage told is kept for the case that
/// the kernel is refused.
class KernelNotes : public BuildNotes {
 public:
  explicit KernelNotes(CompiledKernel& kernel) : kernel_(kernel) {}

  bool wants(const char* stage) const override { return env().dumps(stage); }
  void stage(const char* stage, const std::string& text) override {
    spent_ += watch_.lap();
    last_stage_ = stage;
    last_text_ = text;
    if (wants(stage)) dump(kernel_, stage, text);
    watch_.lap();
  }
  void emitted() override {
    kernel_.codegen_seconds = spent_ + watch_.lap();
    spent_ = 0;
  }
  void finished() { kernel_.compile_seconds = spent_ + watch_.lap(); }
  /// Writes the last stage, wanted or not; ", <its file>" for a message, empty if there was none.
  std::string dump_last() const {
    return last_stage_.empty() ? "" : ", " + dump(kernel_, last_stage_.c_str(), last_text_);
  }

 private:
  CompiledKernel& kernel_;
  Stopwatch watch_;
  double spent_ = 0;
  std::string last_stage_, last_text_;
};

}  // namespace

std::string KernelKey::text() const {
  return "generator " + generator + "\ntarget " + target + "\nstreaming " + std::to_string(options.streaming) +
         "\nprefetch " + std::to_string(options.prefetch) + "\ncheck " + std::to_string(options.check) +
         "\nregisters " + std::to_string(options.registers) + "\nsites " + std::to_string(options.sites) + "\n" + ir;
}

struct Compiler::State {
  struct Loaded {
    CompiledKernel kernel;
    int uses = 1;
  };

  std::unique_ptr<Target> target;
  std::optional<KernelCache> cache = KernelCache::from_environment();
  SharedKernels* const shared = SharedKernels::of_process();
  std::unordered_map<std::string, Loaded> loaded;           ///< by text of the key
  std::unordered_map<KernelCode, const std::string*> keys;  ///< of what is loaded

  KernelKey key(const ir::Kernel& kernel, const CodeOptions& options) const {
    return {ir::print(kernel), target->description(), options, generator_digest()};
  }

  /// Builds and loads; the object, for the cache.
  std::string make(const ir::Kernel& kernel, const std::string& ir_text, CompiledKernel& result) {
    KernelNotes notes(result);
    try {
      std::string object = target->build(kernel, symbol(result), result.options, notes);
      notes.finished();
      load(object, result);
      return object;
    } catch (const InternalError& error) {
      throw InternalError({.what = "compile kernel " + result.name,
                           .got = error.what(),
                           .where = dump(result, "ir", ir_text) + notes.dump_last(),
                           .what_now = "Please report it with what is named there"});
    }
  }

  void load(const std::string& object, CompiledKernel& result) {
    Stopwatch watch;
    result.code = target->load(object, symbol(result), result.resources);
    result.code_bytes = object.size();
    result.load_seconds = watch.lap();
  }

  /// True if another rank of this machine, or the cache, has the kernel and the device takes it.
  bool load_finished(const std::string& key, CompiledKernel& result) {
    std::optional<std::string> object = shared != nullptr ? shared->find(key) : std::nullopt;
    const bool of_rank = object.has_value();
    if (!of_rank && cache) object = cache->load(key);
    if (!object) return false;
    try {
      load(*object, result);
      if (!of_rank && shared != nullptr) shared->publish(key, *object);
      return true;
    } catch (const InternalError& error) {
      log_warn("codegen", "kernel ", result.name, " ", result.hash, " of ",
               of_rank ? "another rank" : "the kernel cache", " is made anew: ", error.what());
      if (!of_rank) cache->remove(key);
      result.resources = {};
      return false;
    }
  }

  static std::string symbol(const CompiledKernel& kernel) { return "kernel_" + kernel.hash; }
};

Compiler::Compiler(std::unique_ptr<Target> target) : state_(std::make_unique<State>()) {
  state_->target = std::move(target);
}
Compiler::~Compiler() = default;

const std::string& Compiler::target_description() const { return state_->target->description(); }

std::string Compiler::hash(const ir::Kernel& kernel, const CodeOptions& options) const {
  return hash_text(state_->key(kernel, options).text()).hex();
}

CompiledKernel Compiler::compile(const ir::Kernel& kernel, const CodeOptions& options) {
  CompiledKernel result;
  result.name = kernel.name;
  result.options = options;
  const KernelKey key = state_->key(kernel, options);
  const std::string key_text = key.text();
  result.hash = hash_text(key_text).hex();
  if (const auto found = state_->loaded.find(key_text); found != state_->loaded.end()) {
    ++found->second.uses;
    CompiledKernel again = found->second.kernel;
    again.name = kernel.name;
    return again;
  }
  if (env().dumps("ir")) dump(result, "ir", key.ir);

  {
    std::optional<SharedKernels::Turn> turn;
    if (state_->shared != nullptr) turn.emplace(state_->shared->take_turn(key_text));
    result.from_cache = state_->load_finished(key_text, result);
    if (!result.from_cache) {
      ir::verify(kernel);
      const std::string object = state_->make(kernel, key.ir, result);
      if (state_->shared != nullptr) state_->shared->publish(key_text, object);
      if (state_->cache) state_->cache->store(key_text, object);
    }
  }
  const KernelResources& uses = result.resources;
  log_info("codegen", "kernel ", result.name, " ", result.hash, ": ", kernel.nodes.size(), " nodes, ",
           result.code_bytes, " bytes, ", result.from_cache ? "hit" : "miss", ", IR ", 1e3 * result.codegen_seconds,
           " ms, compile ", 1e3 * result.compile_seconds, " ms, load ", 1e3 * result.load_seconds, " ms",
           uses.registers == 0
               ? std::string()
               : ", " + std::to_string(uses.registers) + " registers, " + std::to_string(uses.spill_bytes) +
                     " bytes spilled, at most " + std::to_string(uses.largest_block) + " threads per block");
  state_->keys[result.code] = &state_->loaded.emplace(key_text, State::Loaded{result}).first->first;
  return result;
}

void Compiler::release(KernelCode code) noexcept {
  const auto key = state_->keys.find(code);
  if (key == state_->keys.end()) return;
  const auto found = state_->loaded.find(*key->second);
  if (--found->second.uses > 0) return;
  state_->target->unload(code);
  state_->keys.erase(key);
  state_->loaded.erase(found);
}

}  // namespace jit
