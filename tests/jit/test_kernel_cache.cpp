// The disk cache of kernels: a second compiler compiles nothing, and nothing on disk can make a run fail or go wrong.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "codegen_lab.hpp"
#include "jit/cache/kernel_cache.hpp"
#include "jit/support/env.hpp"
#include "jit/support/file.hpp"

namespace fs = std::filesystem;
using jit::KernelCache;

namespace {

/// A folder of its own that goes away.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("tessera_cache_test_" + std::to_string(std::random_device{}()))) {}
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

/// Sets an environment variable for jit::env() and puts it back.
struct Setting {
  Setting(const char* name, const std::string& value)
      : name_(name), had_(std::getenv(name) != nullptr), old_(had_ ? std::getenv(name) : "") {
    ::setenv(name, value.c_str(), 1);
    jit::reload_env();
  }
  ~Setting() {
    had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_);
    jit::reload_env();
  }
  const char* name_;
  bool had_;
  std::string old_;
};

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
  for (int i = 0; i < 5; ++i) {
    other = key;
    if (i == 0) other.target = "gpu";
    if (i == 1) other.generator = 2;
    if (i == 2) other.options.streaming = true;
    if (i == 3) other.options.prefetch = 2;
    if (i == 4) other.options.check = true;
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
