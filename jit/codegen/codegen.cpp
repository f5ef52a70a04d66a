#include "jit/codegen/codegen.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

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
  explicit KernelNotes(BuiltKernel& built) : built_(built) {}

  bool wants(const char* stage) const override { return env().dumps(stage); }
  void stage(const char* stage, const std::string& text) override {
    spent_ += watch_.lap();
    built_.last_stage = stage;
    built_.last_text = text;
    if (wants(stage)) dump(built_.kernel, stage, text);
    watch_.lap();
  }
  void emitted() override {
    built_.kernel.codegen_seconds = spent_ + watch_.lap();
    spent_ = 0;
  }
  void finished() { built_.kernel.compile_seconds = spent_ + watch_.lap(); }

 private:
  BuiltKernel& built_;
  Stopwatch watch_;
  double spent_ = 0;
};

KernelKey key_of(const ir::Kernel& kernel, const CodeOptions& options, const Target& target) {
  return {ir::print(kernel), target.description(), options, generator_digest()};
}

CompiledKernel named(const ir::Kernel& kernel, const CodeOptions& options, const std::string& key) {
  CompiledKernel result;
  result.name = kernel.name;
  result.options = options;
  result.hash = hash_text(key).hex();
  return result;
}

std::string symbol(const CompiledKernel& kernel) { return "kernel_" + kernel.hash; }

/// Does a step of making the kernel. If it is refused, the IR and the last stage told are written, wanted or not, and the
/// error names the files.
template <class Step>
void make(const ir::Kernel& kernel, BuiltKernel& built, Step&& step) {
  try {
    step();
  } catch (const InternalError& error) {
    const std::string ir = dump(built.kernel, "ir", ir::print(kernel)),
                      last = built.last_stage.empty()
                                 ? ""
                                 : ", " + dump(built.kernel, built.last_stage.c_str(), built.last_text);
    throw InternalError({.what = "compile kernel " + built.kernel.name,
                         .got = error.what(),
                         .where = ir + last,
                         .what_now = "Please report it with what is named there"});
  }
}

}  // namespace

std::string KernelKey::text() const {
  return "generator " + generator + "\ntarget " + target + "\nstreaming " + std::to_string(options.streaming) +
         "\nprefetch " + std::to_string(options.prefetch) + "\npassing " + std::to_string(options.passing) +
         "\ncheck " + std::to_string(options.check) + "\nregisters " + std::to_string(options.registers) + "\nsites " +
         std::to_string(options.sites) + "\noptimised " + std::to_string(options.optimised) + "\n" + ir;
}

namespace {

BuiltKernel build(Target& target, const ir::Kernel& kernel, const KernelKey& key) {
  BuiltKernel built;
  built.key = key;
  built.kernel = named(kernel, key.options, key.text());
  if (env().dumps("ir")) dump(built.kernel, "ir", key.ir);
  ir::verify(kernel);
  KernelNotes notes(built);
  make(kernel, built, [&] { built.object = target.build(kernel, symbol(built.kernel), key.options, notes); });
  notes.finished();
  return built;
}

}  // namespace

BuiltKernel build_kernel(Target& target, const ir::Kernel& kernel, const CodeOptions& options) {
  return build(target, kernel, key_of(kernel, options, target));
}

struct Compiler::State {
  struct Loaded {
    CompiledKernel kernel;
    int uses = 1;
  };

  std::unique_ptr<Target> target;
  std::optional<KernelCache> cache = KernelCache::from_environment();
  SharedKernels* const shared = SharedKernels::of_process();
  // Of a kernel many codes may be loaded: all of them share its text, which is what takes memory.
  std::unordered_map<std::string, std::vector<Loaded>> loaded;  ///< by IR; their options tell codes apart
  std::unordered_map<KernelCode, const std::string*> irs;       ///< of what is loaded

  KernelKey key(const ir::Kernel& kernel, const CodeOptions& options) const { return key_of(kernel, options, *target); }

  /// Code that is loaded already, used once more.
  std::optional<CompiledKernel> find_loaded(const KernelKey& key, const std::string& name) {
    const auto codes = loaded.find(key.ir);
    if (codes == loaded.end()) return std::nullopt;
    const auto found = std::ranges::find(codes->second, key.options, [](const Loaded& l) { return l.kernel.options; });
    if (found == codes->second.end()) return std::nullopt;
    ++found->uses;
    CompiledKernel again = found->kernel;
    again.name = name;
    return again;
  }

  /// Code that another rank or the disk cache has.
  std::optional<CompiledKernel> find_finished(const ir::Kernel& kernel, const KernelKey& key) {
    const std::string text = key.text();
    CompiledKernel found = named(kernel, key.options, text);
    found.from_cache = load_finished(text, found);
    if (!found.from_cache) return std::nullopt;
    if (env().dumps("ir")) dump(found, "ir", key.ir);
    return keep(kernel, key, found);
  }

  /// Loads what was built and hands it on.
  CompiledKernel take(const ir::Kernel& kernel, BuiltKernel built) {
    make(kernel, built, [&] { load(built.object, built.kernel); });
    if (shared != nullptr) shared->publish(built.key.text(), built.object);
    if (cache) cache->store(built.key.text(), built.object);
    return keep(kernel, built.key, built.kernel);
  }

  CompiledKernel keep(const ir::Kernel& kernel, const KernelKey& key, const CompiledKernel& made) {
    const KernelResources& uses = made.resources;
    log_info("codegen", "kernel ", made.name, " ", made.hash, ": ", kernel.nodes.size(), " nodes, ", made.code_bytes,
             " bytes, ", made.from_cache ? "hit" : "miss", made.options.optimised ? ", optimised" : "", ", IR ",
             1e3 * made.codegen_seconds, " ms, compile ", 1e3 * made.compile_seconds, " ms, load ",
             1e3 * made.load_seconds, " ms",
             uses.registers == 0
                 ? std::string()
                 : ", " + std::to_string(uses.registers) + " registers, " + std::to_string(uses.spill_bytes) +
                       " bytes spilled, at most " + std::to_string(uses.largest_block) + " threads per block");
    const auto codes = loaded.try_emplace(key.ir).first;
    codes->second.push_back({made});
    irs[made.code] = &codes->first;
    return made;
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
};

Compiler::Compiler(std::unique_ptr<Target> target) : state_(std::make_unique<State>()) {
  state_->target = std::move(target);
}
Compiler::~Compiler() = default;

const std::string& Compiler::target_description() const { return state_->target->description(); }

std::string Compiler::hash(const ir::Kernel& kernel, const CodeOptions& options) const {
  return hash_text(state_->key(kernel, options).text()).hex();
}

bool Compiler::assembles(const ir::Kernel& kernel, const CodeOptions& options) const {
  return state_->target->assembles(kernel, options);
}

bool Compiler::builds_alone() const { return state_->target->builds_alone(); }

std::optional<CompiledKernel> Compiler::find(const ir::Kernel& kernel, const CodeOptions& options, std::string* hash) {
  const KernelKey key = state_->key(kernel, options);
  if (hash != nullptr) *hash = hash_text(key.text()).hex();
  if (auto loaded = state_->find_loaded(key, kernel.name)) return loaded;
  return state_->find_finished(kernel, key);
}

CompiledKernel Compiler::compile(const ir::Kernel& kernel, const CodeOptions& options) {
  const KernelKey key = state_->key(kernel, options);
  if (auto loaded = state_->find_loaded(key, kernel.name)) return *loaded;
  std::optional<SharedKernels::Turn> turn;
  if (state_->shared != nullptr) turn.emplace(state_->shared->take_turn(key.text()));
  if (auto finished = state_->find_finished(kernel, key)) return *finished;
  return state_->take(kernel, build(*state_->target, kernel, key));
}

CompiledKernel Compiler::adopt(const ir::Kernel& kernel, BuiltKernel built) {
  if (auto loaded = state_->find_loaded(built.key, kernel.name)) return *loaded;
  return state_->take(kernel, std::move(built));
}

bool Compiler::claim(const ir::Kernel& kernel, const CodeOptions& options) {
  if (state_->shared == nullptr) return true;
  const std::string claimed = "claimed\n" + state_->key(kernel, options).text();
  const SharedKernels::Turn turn = state_->shared->take_turn(claimed);
  if (state_->shared->find(claimed)) return false;
  state_->shared->publish(claimed, "");
  return true;
}

void Compiler::release(KernelCode code) noexcept {
  const auto ir = state_->irs.find(code);
  if (ir == state_->irs.end()) return;
  const auto codes = state_->loaded.find(*ir->second);
  const auto found = std::ranges::find(codes->second, code, [](const State::Loaded& l) { return l.kernel.code; });
  if (--found->uses > 0) return;
  state_->target->unload(code);
  state_->irs.erase(ir);
  codes->second.erase(found);
  if (codes->second.empty()) state_->loaded.erase(codes);
}

}  // namespace jit
