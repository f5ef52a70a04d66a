// The disk cache of kernels: a second compiler compiles nothing, and nothing on disk can make a run fail or go wrong.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "codegen_lab.hpp"
#include "jit/cache/kernel_cache.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "tests/jit/settings.hpp"

namespace fs = std::filesystem;
using jit::KernelCache;
using tests::Folder;
using tests::Setting;

namespace {

lab::Kernel sample(double factor) {
  lab::Kernel k;
  k.name = "sample";
  k.leaves = {{lab::Type::f32, 1, true, false}, {lab::Type::f32, 1, false, true}};
  k.nodes = {{.op = lab::Op::load, .type = lab::Type::f32},
             {.op = lab::Op::constant, .type = lab::Type::f32, .real = factor},
             {.op = lab::Op::mul, .type = lab::Type::f32, .a = 0, .b = 1}};
  k.stores = {{{1, 0, 0, 0}, 2}};
  return k;
}

/// A GPU's driver as far as code goes: binaries are numbered texts.
struct Assembler final : jit::GpuLoader {
  explicit Assembler(std::string version = "CUDA 12.8") : version_(std::move(version)) {}

  std::string assemble(const std::string&, int, std::string&) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (refuses_ptx) throw jit::InternalError("ptxas error : no such instruction");
    return "binary " + std::to_string(++assembled) + '\0' + version_;
  }
  std::string assembler() const override { return version_; }
  void unload(jit::KernelCode) noexcept override {}
  jit::KernelCode load(const std::string& binary, const std::string&, jit::KernelResources& resources) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (refused_loads > 0 && refused_loads-- > 0) throw jit::InternalError("no binary for this GPU");
    loaded = binary;
    resources.registers = 40;
    return this;
  }

  bool refuses_ptx = false;
  int refused_loads = 0;
  double seconds = 0;  ///< that each call takes
  int assembled = 0;
  std::string loaded;

 private:
  std::string version_;
};

jit::CompiledKernel compile_on_gpu(Assembler& assembler, int sm = 90) {
  jit::Compiler compiler(jit::make_nvptx_target(sm, &assembler));
  return compiler.compile(sample(2.5), {});
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int entries(const fs::path& folder) {
  int n = 0;
  if (fs::exists(folder))
    for (const auto& e : fs::directory_iterator(folder)) n += e.path().extension() == ".kernel";
  return n;
}

}  // namespace

TEST_CASE("what was stored is loaded, under its own key only") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  CHECK(!cache.load("key"));
  cache.store("key", std::string("object\0with zero", 16));
  CHECK(cache.load("key") == std::string("object\0with zero", 16));
  CHECK(!cache.load("other"));
  CHECK(KernelCache(folder.path, 1 << 20).load("key").has_value());
}

TEST_CASE("every member of the key shapes it") {
  const jit::KernelKey key{"ir", "cpu", {}, 1};
  jit::KernelKey other = key;
  CHECK(other.text() == key.text());
  other.ir = "ir2";
  CHECK(other.hash() != key.hash());
  for (int i = 0; i < 7; ++i) {
    other = key;
    if (i == 0) other.target = "gpu";
    if (i == 1) other.generator = 2;
    if (i == 2) other.options.streaming = true;
    if (i == 3) other.options.prefetch = 2;
    if (i == 4) other.options.check = true;
    if (i == 5) other.options.registers = 64;
    if (i == 6) other.options.sites = 2;
    CHECK(other.hash() != key.hash());
  }
}

TEST_CASE("a damaged entry is a miss and is deleted") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  const std::string key = "some key", object(1000, 'x');
  cache.store(key, object);
  const std::string name = cache.path(key), good = jit::read_file(name);
  for (std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{30}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] ^= 1;
    jit::write_atomically(name, bad);
    CHECK(!cache.load(key));
    CHECK(!fs::exists(name));
  }
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() - 1}) {
    jit::write_atomically(name, good.substr(0, size));
    CHECK(!cache.load(key));
    CHECK(!fs::exists(name));
  }
  jit::write_atomically(name, good);
  CHECK(cache.load(key) == object);
}

TEST_CASE("an entry of another key under this key's name is a miss and is deleted") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  cache.store("key a", "object a");
  fs::copy_file(cache.path("key a"), cache.path("key b"));
  CHECK(!cache.load("key b"));
  CHECK(!fs::exists(cache.path("key b")));
  CHECK(cache.load("key a") == "object a");
}

TEST_CASE("an entry that cannot be read is a miss and stays") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  fs::create_directories(cache.path("key"));  // reading a folder fails for every user, root too
  CHECK(!cache.load("key"));
  CHECK(fs::exists(cache.path("key")));
}

TEST_CASE("the least recently used entries go when the bound is reached") {
  Folder folder;
  const std::string object(1000, 'x');
  KernelCache cache(folder.path, 5000);
  for (const char* key : {"a", "b", "c", "d"}) {
    cache.store(key, object);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(cache.load("a"));  // used again: now "b" is the oldest
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  cache.store("e", object);
  CHECK(!cache.load("b"));
  CHECK(cache.load("a"));
  CHECK(cache.load("e"));
  cache.store("huge", std::string(10000, 'x'));
  CHECK(!cache.load("huge"));
  CHECK(entries(folder.path) <= 4);
}

TEST_CASE("a folder that cannot be made costs the entry, not the run") {
  Folder folder;
  fs::create_directories(folder.path);
  std::ofstream(folder.path / "file") << "in the way";
  KernelCache cache(folder.path / "file" / "cache", 1 << 20);
  CHECK_NOTHROW(cache.store("key", "object"));
  CHECK(!cache.load("key"));
}

TEST_CASE("a second compiler finds the kernels of the first and they compute the same") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  for (bool again : {false, true}) {
    jit::Compiler compiler(jit::make_cpu_target());
    const jit::CompiledKernel kernel = compiler.compile(sample(2.5), {});
    CHECK(kernel.from_cache == again);
    CHECK(kernel.code_bytes > 0);
    CHECK(lab::Lab(sample(2.5), 1).disagreements(compiler) == 0);
    CHECK(compiler.compile(sample(3.5), {}).from_cache == again);
  }
  CHECK(entries(folder.path) == 2);
  jit::Compiler compiler(jit::make_cpu_target());
  CHECK(!compiler.compile(sample(2.5), {.streaming = true}).from_cache);
}

TEST_CASE("a kernel asked for twice is compiled once") {
  Setting off("TESSERA_CACHE", "0");
  jit::Compiler compiler(jit::make_cpu_target());
  const auto first = compiler.compile(sample(4), {});
  CHECK((compiler.compile(sample(4), {}).code == first.code));
}

TEST_CASE("TESSERA_CACHE=0 leaves the disk alone") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), off("TESSERA_CACHE", "0");
  jit::Compiler compiler(jit::make_cpu_target());
  CHECK(!compiler.compile(sample(5), {}).from_cache);
  CHECK(entries(folder.path) == 0);
}

TEST_CASE("dumps are written per stage and named after kernel and hash") {
  Folder folder;
  Setting off("TESSERA_CACHE", "0"), where("TESSERA_DUMP_DIR", folder.path), what("TESSERA_DUMP", "ir,llvm,opt,asm");
  jit::Compiler compiler(jit::make_cpu_target());
  const auto kernel = compiler.compile(sample(6), {});
  for (const char* stage : {"ir", "llvm", "opt", "asm"}) {
    const fs::path file = folder.path / ("sample_" + kernel.hash + "." + stage);
    CAPTURE(file.string());
    CHECK(fs::exists(file));
  }
}

// ---- code for GPUs, which their driver finishes ----------------------------------------------------------------------

TEST_CASE("a second process loads the GPU's binary and assembles nothing") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  Assembler assembler;
  const jit::CompiledKernel first = compile_on_gpu(assembler);
  CHECK(!first.from_cache);
  CHECK(first.resources.registers == 40);
  CHECK(assembler.loaded.starts_with("binary 1"));
  const std::string binary = std::exchange(assembler.loaded, "");

  const jit::CompiledKernel second = compile_on_gpu(assembler);
  CHECK(second.from_cache);
  CHECK(second.hash == first.hash);
  CHECK(second.resources.registers == 40);
  CHECK(assembler.assembled == 1);
  CHECK(assembler.loaded == binary);
}

TEST_CASE("a binary is for the GPU and the assembler that it was made with, even where the PTX is the same") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  Assembler present, newer("CUDA 13.0");
  CHECK(!compile_on_gpu(present, 100).from_cache);
  CHECK(!compile_on_gpu(present, 120).from_cache);
  CHECK(!compile_on_gpu(newer, 100).from_cache);
  CHECK(compile_on_gpu(present, 120).from_cache);
  CHECK(entries(folder.path) == 3);
}

TEST_CASE("a cached binary that the driver refuses is made anew") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  Assembler assembler;
  compile_on_gpu(assembler);
  assembler.refused_loads = 1;
  CHECK(!compile_on_gpu(assembler).from_cache);
  CHECK(assembler.assembled == 2);
  CHECK(compile_on_gpu(assembler).from_cache);
  CHECK(assembler.loaded.starts_with("binary 2"));
}

TEST_CASE("PTX that is refused is kept and named, though no dump was asked for") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path / "cache"), on("TESSERA_CACHE", "1");
  Setting where("TESSERA_DUMP_DIR", folder.path), nothing("TESSERA_DUMP", "");
  Assembler assembler;
  SUBCASE("by the assembler") { assembler.refuses_ptx = true; }
  SUBCASE("by the loader") { assembler.refused_loads = 1; }
  const std::string reason = assembler.refuses_ptx ? "no such instruction" : "no binary for this GPU";
  std::string message;
  try {
    compile_on_gpu(assembler);
  } catch (const jit::InternalError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find(reason) != std::string::npos);
  int kept = 0;
  for (const auto& entry : fs::directory_iterator(folder.path))
    if (entry.is_regular_file()) {
      ++kept;
      CHECK(message.find(entry.path().string()) != std::string::npos);
      if (entry.path().extension() == ".ptx") CHECK(text_of(entry.path()).find(".visible .entry") != std::string::npos);
    }
  CHECK(kept == 2);  // the IR and the PTX
  CHECK(entries(folder.path / "cache") == 0);
}

TEST_CASE("the time to compile a GPU's kernel includes its driver's part") {
  Setting off("TESSERA_CACHE", "0");
  Assembler assembler;
  assembler.seconds = 0.05;
  const jit::CompiledKernel kernel = compile_on_gpu(assembler);
  CHECK(kernel.compile_seconds >= 0.05);
  CHECK(kernel.load_seconds >= 0.05);
}
