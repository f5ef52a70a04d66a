// The disk cache of kernels: a second compiler compiles nothing, and nothing on disk can make a run fail or go wrong.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "codegen_lab.hpp"
#include "jit/cache/kernel_cache.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/log.hpp"
#include "tests/captured_log.hpp"
#include "tests/child.hpp"
#include "tests/jit/settings.hpp"
#include "tests/process_memory.hpp"
#include "tests/skip.hpp"

namespace fs = std::filesystem;
using jit::KernelCache;
using tests::Folder;
using tests::in_child;
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

/// The same with a call of a function: sin.
lab::Kernel calling_sample() {
  lab::Kernel k = sample(0.5);
  k.nodes.push_back({.op = lab::Op::sin, .type = lab::Type::f32, .a = 2});
  k.stores = {{{1, 0, 0, 0}, 3}};
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
  std::string assembler() override { return version_; }
  bool assembles_alone() override { return false; }
  void unload(jit::KernelCode) noexcept override { ++unloaded; }
  jit::KernelCode load(const std::string& binary, const std::string&, jit::KernelResources& resources) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (refused_loads > 0 && refused_loads-- > 0) throw jit::InternalError("no binary for this GPU");
    loaded = binary;
    resources.registers = 40;
    return &places_[static_cast<std::size_t>(loads_++) % places_.size()];
  }

  bool refuses_ptx = false;
  int refused_loads = 0;
  double seconds = 0;  ///< that each call takes
  int assembled = 0, unloaded = 0;
  std::string loaded;

 private:
  std::string version_;
  std::array<char, 16> places_{};  ///< what is loaded is somewhere else each time
  int loads_ = 0;
};

jit::CompiledKernel compile_on_gpu(Assembler& assembler, int sm = 90) {
  jit::Compiler compiler(jit::make_nvptx_target(sm, &assembler));
  return compiler.compile(sample(2.5), {});
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr uid_t kStranger = 65534;

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
  const jit::KernelKey key{"ir", "cpu", {}, "digest"};
  jit::KernelKey other = key;
  CHECK(other.text() == key.text());
  other.ir = "ir2";
  CHECK(other.text() != key.text());
  for (int i = 0; i < 9; ++i) {
    other = key;
    if (i == 0) other.target = "gpu";
    if (i == 1) other.generator = "another";
    if (i == 2) other.options.streaming = true;
    if (i == 3) other.options.prefetch = 2;
    if (i == 4) other.options.check = true;
    if (i == 5) other.options.registers = 64;
    if (i == 6) other.options.sites = 2;
    if (i == 7) other.options.passing = true;
    if (i == 8) other.options.optimised = true;
    CHECK(other.text() != key.text());
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

// ---- what others may have put there -------------------------------------------------------------------------------

TEST_CASE("an entry that is not this user's own, or that others can write, is deleted and never used") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  cache.store("key", "object");
  const std::string name = cache.path("key"), elsewhere = folder.path / "elsewhere";
  REQUIRE(cache.load("key") == "object");
  std::string reason;
  SUBCASE("writable by the group") {
    REQUIRE(chmod(name.c_str(), 0620) == 0);
    reason = "mode 0620";
  }
  SUBCASE("writable by everybody") {
    REQUIRE(chmod(name.c_str(), 0602) == 0);
    reason = "mode 0602";
  }
  SUBCASE("another user's") {
    if (geteuid() != 0) TESSERA_SKIP("needs root, to give a file away");
    REQUIRE(chown(name.c_str(), kStranger, kStranger) == 0);
    reason = "of user 65534";
  }
  SUBCASE("a link to a sound entry") {
    fs::rename(name, elsewhere);
    fs::create_symlink(elsewhere, name), reason = "a symbolic link";
  }
  SUBCASE("a FIFO, which nobody writes to") {
    fs::remove(name);
    REQUIRE(mkfifo(name.c_str(), 0600) == 0);
    reason = "a FIFO";
  }
  tests::CapturedLog log;
  CHECK(!cache.load("key"));
  CHECK(!fs::exists(fs::symlink_status(name)));
  CHECK(log.says(name));
  CHECK(log.says(reason));
  cache.store("key", "object");
  CHECK(cache.load("key") == "object");
}

TEST_CASE("a folder that is not this user's own, or that others can write, is no cache, and the run says so once") {
  Folder folder;
  {
    KernelCache(folder.path, 1 << 20).store("key", "object");
  }
  const std::string name = folder.path;
  std::string reason;
  SUBCASE("writable by the group") {
    REQUIRE(chmod(name.c_str(), 0770) == 0);
    reason = "mode 0770";
  }
  SUBCASE("writable by everybody, like /tmp") {
    REQUIRE(chmod(name.c_str(), 01777) == 0);
    reason = "mode 1777";
  }
  SUBCASE("another user's") {
    if (geteuid() != 0) TESSERA_SKIP("needs root, to give a folder away");
    REQUIRE(chown(name.c_str(), kStranger, kStranger) == 0);
    reason = "of user 65534";
  }
  SUBCASE("another user's link to a folder of ours") {
    if (geteuid() != 0) TESSERA_SKIP("needs root, to give a link away");
    fs::rename(name, name + "_there");
    fs::create_symlink(name + "_there", name);
    REQUIRE(lchown(name.c_str(), kStranger, kStranger) == 0);
    reason = "a symbolic link of user 65534";
  }
  CHECK(in_child([&] {
    tests::CapturedLog log;
    KernelCache cache(name, 1 << 20), second(name, 1 << 20);
    const bool nothing = !cache.load("key") && !cache.load("key") && !second.load("key");
    cache.store("other", "object");
    const std::string text = log.text();
    const auto first = text.find("no kernel cache");
    return nothing && !cache.load("other") && first != std::string::npos && log.says(reason) && log.says(name) &&
           log.says("TESSERA_CACHE_DIR") && text.find("no kernel cache", first + 1) == std::string::npos;
  }));
  CHECK(entries(name) == 1);  // as it was
  fs::remove_all(name + "_there");
}

TEST_CASE("what the cache makes is for this user alone, whatever the umask") {
  Folder folder;
  const mode_t old = umask(0);
  KernelCache cache(folder.path / "a" / "b", 1 << 20);
  cache.store("key", "object");
  umask(old);
  CHECK(cache.load("key") == "object");
  const auto others = fs::perms::group_all | fs::perms::others_all;
  for (const fs::path& made : {folder.path, folder.path / "a", folder.path / "a" / "b", fs::path(cache.path("key"))})
    CHECK((fs::status(made).permissions() & others) == fs::perms::none);
}

TEST_CASE("a link of this user's own leads to the cache") {
  Folder folder;
  fs::create_directories(folder.path / "scratch");
  fs::permissions(folder.path / "scratch", fs::perms::owner_all);
  fs::create_symlink("scratch", folder.path / "home");
  KernelCache cache(folder.path / "home", 1 << 20);
  cache.store("key", "object");
  CHECK(cache.load("key") == "object");
  CHECK(entries(folder.path / "scratch") == 1);
}

TEST_CASE("without a folder that is ours there is no cache") {
  CHECK(in_child([] {
    Setting none("TESSERA_CACHE_DIR", ""), xdg("XDG_CACHE_HOME", ""), home("HOME", "");
    tests::CapturedLog log;
    return !KernelCache::from_environment() && log.says("no kernel cache");
  }));
}

TEST_CASE("the code of an entry that others could write does not run") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  {
    jit::Compiler(jit::make_cpu_target()).compile(sample(2.5), {});
  }
  for (const auto& entry : fs::directory_iterator(folder.path))
    fs::permissions(entry, fs::perms::group_write, fs::perm_options::add);
  jit::Compiler compiler(jit::make_cpu_target());
  CHECK(!compiler.compile(sample(2.5), {}).from_cache);
}

// ---- damage -----------------------------------------------------------------------------------------------------------

TEST_CASE("ten kinds of damage, at random places: none is taken for an object") {
  using Bytes = std::string;
  std::mt19937_64 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto noise = [&](std::size_t n) {
    Bytes text(n, ' ');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  const Bytes key = "generator x\ntarget y\n" + Bytes(3000, 'k'), object = noise(9000),
              other_key = "generator z\ntarget y\n" + Bytes(3000, 'k');

  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  cache.store(key, object);
  cache.store(other_key, noise(9000));
  const std::string name = cache.path(key);
  const Bytes good = jit::read_file(name), foreign = jit::read_file(cache.path(other_key));

  const std::vector<std::pair<const char*, std::function<void(Bytes&)>>> kinds = {
      {"a bit", [&](Bytes& b) { b[below(b.size())] ^= static_cast<char>(1 << below(8)); }},
      {"a byte", [&](Bytes& b) { b[below(b.size())] = static_cast<char>(random()); }},
      {"zeros",
       [&](Bytes& b) {
         const std::size_t at = below(b.size());
         std::fill_n(b.begin() + std::ptrdiff_t(at), std::min(b.size() - at, 1 + below(600)), '\0');
       }},
      {"a page of noise",
       [&](Bytes& b) {
         const std::size_t at = below(b.size() / 4096) * 4096;
         b.replace(at, 4096, noise(4096));
       }},
      {"the end cut off", [&](Bytes& b) { b.resize(below(b.size())); }},
      {"more at the end", [&](Bytes& b) { b += noise(1 + below(100)); }},
      {"a stretch missing", [&](Bytes& b) { b.erase(below(b.size()), 1 + below(100)); }},
      {"a stretch twice",
       [&](Bytes& b) {
         const std::size_t at = below(b.size());
         b.insert(at, b.substr(at, 1 + below(100)));
       }},
      {"two stretches exchanged",
       [&](Bytes& b) {
         const std::size_t n = 1 + below(64), half = b.size() / 2, a = below(half - n), c = half + below(half - n);
         for (std::size_t i = 0; i < n; ++i) std::swap(b[a + i], b[c + i]);
       }},
      {"the end of another entry", [&](Bytes& b) {
         const std::size_t at = below(b.size());
         b = b.substr(0, at) + foreign.substr(at);
       }}};
  REQUIRE(kinds.size() == 10);

  int tried = 0, silent = 0, unnamed = 0, left = 0;
  tests::CapturedLog log;
  for (const auto& [what, damage] : kinds)
    for (int i = 0; i < 60; ++i) {
      Bytes bad = good;
      while (bad == good) damage(bad);
      std::ofstream(name, std::ios::binary) << bad;
      log.clear();
      ++tried;
      silent += cache.load(key).has_value();
      unnamed += !log.says(name);
      left += fs::exists(name);
      jit::write_atomically(name, good);
      fs::permissions(name, fs::perms::owner_read | fs::perms::owner_write);
    }
  CHECK(tried == 600);
  CHECK(silent == 0);
  CHECK(unnamed == 0);
  CHECK(left == 0);
  CHECK(cache.load(key) == object);
}

TEST_CASE("what killed writers left is removed and counts until then") {
  Folder folder;
  fs::create_directories(folder.path);
  fs::permissions(folder.path, fs::perms::owner_all);
  const auto left_behind = [&](const char* name, std::chrono::minutes age) {
    std::ofstream(folder.path / name) << std::string(3000, 'x');
    fs::last_write_time(folder.path / name, fs::file_time_type::clock::now() - age);
    return folder.path / name;
  };
  const fs::path dead = left_behind("00ff.kernel.tmp-abc123", std::chrono::minutes(11)),
                 alive = left_behind("00ff.kernel.tmp-def456", std::chrono::minutes(9)),
                 other = left_behind("notes.tmp-abc123", std::chrono::minutes(600));
  KernelCache cache(folder.path, 5000);
  cache.store("a", std::string(500, 'x'));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  cache.store("b", std::string(500, 'x'));
  CHECK(!fs::exists(dead));
  CHECK(fs::exists(alive));
  CHECK(fs::exists(other));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  cache.store("c", std::string(1400, 'x'));  // 3000 + 2 * 500 + 1400 and what stands around them
  CHECK(!cache.load("a"));
  CHECK(cache.load("c"));
}

TEST_CASE("two processes at once: each finds whole objects or none") {
  Folder folder;
  const auto object = [](int n) {
    return std::string(static_cast<std::size_t>(100 + 37 * n), static_cast<char>('a' + n));
  };
  std::vector<pid_t> children;
  for (int seed = 0; seed < 2; ++seed) {
    const pid_t child = fork();
    if (child == 0) {
      std::mt19937 random(static_cast<unsigned>(seed));
      KernelCache cache(folder.path, 4000);  // entries come and go
      int wrong = 0;
      for (int i = 0; i < 2000; ++i) {
        const int n = static_cast<int>(random() % 20);
        const std::string key = "key " + std::to_string(n);
        if (const auto found = cache.load(key)) wrong += *found != object(n);
        if (i % 3 == 0) cache.store(key, object(n));
        if (i % 97 == 0) cache.remove(key);
      }
      _exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    CHECK(entry.path().extension() == ".kernel");  // no temporary file is left
    bytes += entry.file_size();
  }
  CHECK(bytes <= 8000);  // each process knows what it has written itself
}

TEST_CASE("a folder that is deleted under a running process is made anew") {
  Folder folder;
  KernelCache cache(folder.path, 1 << 20);
  cache.store("a", "object a");
  fs::remove_all(folder.path);
  CHECK(!cache.load("a"));
  cache.store("b", "object b");
  CHECK(cache.load("b") == "object b");
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

TEST_CASE("what is over the bound goes down to nine tenths of it") {
  Folder folder;
  KernelCache cache(folder.path, 10000);
  std::uintmax_t before = 0, shrunk = 0;
  for (int n = 0; n < 60 && shrunk == 0; ++n) {
    cache.store("key " + std::to_string(n), std::string(200, 'x'));
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder.path)) bytes += entry.file_size();
    CHECK(bytes <= 10000);
    if (bytes < before) shrunk = bytes;
    before = bytes;
  }
  CHECK(shrunk > 8000);
  CHECK(shrunk <= 9000);
}

TEST_CASE("an entry as large as the bound is kept, and goes for the next one; one byte more is none") {
  Folder folder;
  constexpr std::size_t kAround = 24 + 3 + 16;  // sizes, the key and the checksum
  KernelCache cache(folder.path, 1000);
  cache.store("one", std::string(1000 - kAround + 1, 'x'));
  CHECK(entries(folder.path) == 0);
  cache.store("one", std::string(1000 - kAround, 'x'));
  CHECK(fs::file_size(cache.path("one")) == 1000);
  CHECK(cache.load("one"));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  cache.store("two", "y");
  CHECK(!cache.load("one"));
  CHECK(cache.load("two") == "y");
  cache.remove("two");
  CHECK(!cache.load("two"));
  cache.remove("two");  // it is gone already
  CHECK(entries(folder.path) == 0);
}

TEST_CASE("what was stored again counts once") {
  Folder folder;
  KernelCache cache(folder.path, 5000);
  cache.store("kept", std::string(1000, 'k'));
  for (int i = 0; i < 20; ++i) cache.store("again", std::string(static_cast<std::size_t>(1000 + i), 'a'));
  CHECK(cache.load("kept"));
  CHECK(cache.load("again") == std::string(1019, 'a'));
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
  const auto check_stages = [&](const jit::CodeOptions& options, std::initializer_list<const char*> stages) {
    const auto kernel = compiler.compile(sample(6), options);
    for (const char* stage : stages) {
      const fs::path file = folder.path / ("sample_" + kernel.hash + "." + stage);
      CAPTURE(file.string());
      CHECK(fs::exists(file));
    }
  };
  check_stages({.optimised = true}, {"ir", "llvm", "opt", "asm"});
  check_stages({}, {"ir", "asm"});
}

// ---- entries that do not link, and code that goes ---------------------------------------------------------------------

/// Subcases: of code that begins so.
void check_wrong_objects(const jit::CodeOptions& options, const std::string& beginning) {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  jit::CompiledKernel made, other;
  {
    jit::Compiler compiler(jit::make_cpu_target());
    made = compiler.compile(calling_sample(), options);
    other = compiler.compile(sample(3.5), options);
  }
  const auto file_of = [&](const jit::CompiledKernel& kernel) {
    return text_of(folder.path / (kernel.hash + ".kernel"));
  };
  const auto object_of = [&](const jit::CompiledKernel& kernel) {
    const std::string file = file_of(kernel);  // its end: the object and 16 bytes of checksum
    return file.substr(file.size() - 16 - kernel.code_bytes, kernel.code_bytes);
  };

  // Sound entries, with the key of one kernel and what is no code for it.
  std::string wrong = object_of(made);
  REQUIRE(wrong.starts_with(beginning));
  SUBCASE("no object") { wrong = "no object at all"; }
  SUBCASE("nothing") { wrong.clear(); }
  SUBCASE("an object without its end") { wrong.resize(wrong.size() / 2); }
  SUBCASE("an object that defines another kernel") { wrong = object_of(other); }
  SUBCASE("an object that defines this kernel and calls what is not there") {
    const std::size_t name = wrong.find("Sleef_");
    REQUIRE(name != std::string::npos);
    wrong[name + 2] = 'u';
  }
  const std::string file = file_of(made);
  std::uint64_t key_bytes = 0;
  std::memcpy(&key_bytes, file.data() + 8, sizeof key_bytes);
  KernelCache(folder.path, 1 << 30).store(file.substr(24, key_bytes), wrong);

  tests::CapturedLog log;
  jit::Compiler compiler(jit::make_cpu_target());
  CHECK(!compiler.compile(calling_sample(), options).from_cache);
  CHECK(log.says("is made anew"));
  CHECK(lab::Lab(calling_sample(), 1).disagreements(compiler, options) == 0);
  CHECK(compiler.compile(sample(3.5), options).from_cache);
  log.clear();
  jit::Compiler next(jit::make_cpu_target());
  CHECK(next.compile(calling_sample(), options).from_cache);
  CHECK(log.lines().empty());
}

TEST_CASE("an entry whose object does not link is deleted and made anew, and is good from then on") {
  check_wrong_objects({.optimised = true}, "\177ELF");
}
TEST_CASE("so is one of the assembler's") {
  if (jit::make_cpu_target()->assembles(calling_sample(), {})) check_wrong_objects({}, "TSRASM01");
}

TEST_CASE("code goes when it has been released as often as it was asked for, and comes back") {
  Setting off("TESSERA_CACHE", "0");
  Assembler assembler;
  jit::Compiler compiler(jit::make_nvptx_target(90, &assembler));
  const auto first = compiler.compile(sample(2.5), {}), again = compiler.compile(sample(2.5), {});
  CHECK((first.code == again.code));
  compiler.release(first.code);
  CHECK(assembler.unloaded == 0);
  compiler.release(again.code);
  CHECK(assembler.unloaded == 1);
  compiler.release(again.code);  // nothing is known of it any more
  CHECK(assembler.unloaded == 1);
  compiler.compile(sample(2.5), {});
  CHECK(assembler.assembled == 2);
}

TEST_CASE("codes of one kernel with other options are others, and go one by one") {
  Setting off("TESSERA_CACHE", "0");
  Assembler assembler;
  jit::Compiler compiler(jit::make_nvptx_target(90, &assembler));
  const std::array<jit::CodeOptions, 3> options = {jit::CodeOptions{}, {.streaming = true}, {.registers = 64}};
  std::vector<jit::KernelCode> codes;
  for (const double number : {1.5, 2.5})
    for (const jit::CodeOptions& o : options) codes.push_back(compiler.compile(sample(number), o).code);
  CHECK(std::set(codes.begin(), codes.end()).size() == 6);
  CHECK(assembler.assembled == 6);
  const auto found = [&](double number, const jit::CodeOptions& o) {
    const auto again = compiler.find(sample(number), o);
    if (again) compiler.release(again->code);
    return again ? std::optional(again->code) : std::nullopt;
  };
  for (std::size_t released = 0; released < codes.size(); ++released) {
    compiler.release(codes[released]);
    CHECK(assembler.unloaded == static_cast<int>(released) + 1);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto code = found(i < 3 ? 1.5 : 2.5, options[i % 3]);
      CHECK((code == (i <= released ? std::nullopt : std::optional(codes[i]))));
    }
  }
}

TEST_CASE("released code gives its memory back, and what is compiled again computes the same") {
  Folder folder;
  Setting place("TESSERA_CACHE_DIR", folder.path), on("TESSERA_CACHE", "1");
  jit::Compiler compiler(jit::make_cpu_target());
  const auto kept = compiler.compile(sample(1.5), {});
  const std::int64_t before = tests::mappings();
  for (int i = 0; i < 300; ++i) compiler.release(compiler.compile(sample(2.5 + i % 3), {}).code);
  CHECK(tests::mappings() <= before + 10);
  CHECK((compiler.compile(sample(1.5), {}).code == kept.code));
  for (int i = 0; i < 3; ++i) CHECK(lab::Lab(sample(2.5 + i), 1).disagreements(compiler) == 0);
  CHECK(lab::Lab(sample(1.5), 1).disagreements(compiler) == 0);
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
