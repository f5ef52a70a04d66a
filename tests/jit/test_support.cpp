// jit/support: error texts, environment, log, hash, files.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/hash.hpp"
#include "jit/support/log.hpp"
#include "jit/support/owned.hpp"
#include "jit/support/spelling.hpp"
#include "tests/captured_log.hpp"

namespace {

/// Sets a variable, rereads the environment, and puts both back.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    ::setenv(name, value, 1);
  }
  ~WithVariable() {
    if (had_)
      ::setenv(name_, old_.c_str(), 1);
    else
      ::unsetenv(name_);
    jit::reload_env();
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

/// The log, with the topics that the environment has afterwards.
struct CapturedLog : tests::CapturedLog {
  ~CapturedLog() { jit::reload_env(); }
};

std::string reload_error() {
  try {
    jit::reload_env();
  } catch (const jit::UserError& e) {
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::filesystem::path scratch_folder() {
  const auto folder = std::filesystem::temp_directory_path() / ("tessera_test_support_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

TEST_CASE("error texts have what, expected, got, where, what now, and leave out what is empty") {
  CHECK(jit::format_error(
            {.what = "norm2", .expected = "0..1", .got = "2", .where = "set rb3", .what_now = "Use rb3[1]"}) ==
        "norm2: expected 0..1, got 2 (set rb3). Use rb3[1]");
  CHECK(jit::format_error({.what = "open", .got = "no such file"}) == "open: got no such file");
  CHECK(jit::format_error({.what = "open"}) == "open");
  CHECK_THROWS_AS(throw jit::UserError("x"), jit::Error);
  CHECK_THROWS_AS(throw jit::DeviceError({.what = "x"}), jit::Error);
  CHECK_THROWS_AS(throw jit::InternalError("x"), std::runtime_error);
}

TEST_CASE("every variable has a row of help") {
  std::set<std::string> names;
  for (const auto& variable : jit::env_table()) {
    names.insert(variable.name);
    CHECK(contains(jit::env_help(), variable.name));
    CHECK(contains(jit::env_help(), variable.help));
    CHECK(*variable.type != '\0');
  }
  CHECK(names.size() == jit::env_table().size());
  for (const char* name : {"TESSERA_LOG", "TESSERA_MEM_MAX"}) CHECK(names.contains(name));
}

TEST_CASE("variables are read as typed values") {
  WithVariable a("TESSERA_DUMP", "ir,ptx"), b("TESSERA_CACHE_MAX", "2GiB"), c("TESSERA_SYNC", "1"),
      d("TESSERA_DEVICE", "cuda:1,cpu"), e("TESSERA_LANES", "4"), f("TESSERA_STREAM", "0"),
      g("TESSERA_PREFETCH", "auto"), h("TESSERA_MEM_MAX", "512M"), j("TESSERA_TUNE", "eager");
  jit::reload_env();
  CHECK(jit::env().dumps("ir"));
  CHECK_FALSE(jit::env().dumps("asm"));
  CHECK(jit::env().cache_max == 2ull << 30);
  CHECK(jit::env().sync);
  CHECK(jit::env().device == std::vector<std::string>{"cuda:1", "cpu"});
  CHECK(jit::env().lanes == 4);
  CHECK(jit::env().stream == false);
  CHECK(jit::env().tune == jit::Env::Tune::eager);
  CHECK_FALSE(jit::env().prefetch.has_value());
  CHECK(jit::env().mem_max == 512ull << 20);
}

namespace {

/// Each value of Env as text, by the variable's name.
std::map<std::string, std::string> values_of(const jit::Env& e) {
  const auto list = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
    return text;
  };
  const auto number = [](auto n) { return std::to_string(n); };
  const auto maybe = [&](const auto& n) { return n ? number(static_cast<int>(*n)) : std::string("auto"); };
  return {{"TESSERA_LOG", e.log},
          {"TESSERA_DUMP", list(e.dump)},
          {"TESSERA_DUMP_DIR", e.dump_dir},
          {"TESSERA_CACHE_DIR", e.cache_dir},
          {"TESSERA_CACHE_MAX", number(e.cache_max)},
          {"TESSERA_CACHE", number(e.cache)},
          {"TESSERA_KERNEL_MAX", number(e.kernel_max)},
          {"TESSERA_SYNC", number(e.sync)},
          {"TESSERA_CHECK", number(e.check)},
          {"TESSERA_DEVICE", list(e.device)},
          {"TESSERA_PROFILE", e.profile},
          {"TESSERA_TUNE", number(static_cast<int>(e.tune))},
          {"TESSERA_ASSEMBLER", maybe(e.assembler)},
          {"TESSERA_STREAM", maybe(e.stream)},
          {"TESSERA_PREFETCH", maybe(e.prefetch)},
          {"TESSERA_LANES", maybe(e.lanes)},
          {"TESSERA_MEM_MAX", number(e.mem_max)},
          {"TESSERA_SPILL", number(e.spill)},
          {"TESSERA_LIBCUDA", e.libcuda},
          {"TESSERA_LIBDEVICE", e.libdevice},
          {"TESSERA_PTXAS", e.ptxas},
          {"TESSERA_SIM_MEMORY", number(e.sim_memory)},
          {"TESSERA_SIM_FAULT", e.sim_fault},
          {"TESSERA_SIM_DELAY", number(e.sim_delay)},
          {"TESSERA_FUSE", number(e.fuse)},
          {"TESSERA_TWO_ROWS", maybe(e.two_rows)},
          {"TESSERA_GATHER", maybe(e.gather)},
          {"TESSERA_OVERLAP", number(e.overlap)},
          {"TESSERA_KEEP_HALOS", number(e.keep_halos)},
          {"TESSERA_SHARE_MESSAGES", number(e.share_messages)},
          {"TESSERA_NUMA", number(e.numa)},
          {"TESSERA_MPI", maybe(e.mpi)},
          {"TESSERA_GPU_MPI", maybe(e.gpu_mpi)},
          {"TESSERA_MPI_LIBRARY", e.mpi_library},
          {"TESSERA_TIMEOUT", number(e.timeout)}};
}

}  // namespace

TEST_CASE("each variable sets its own value and no other; without it that is the table's default") {
  std::vector<std::unique_ptr<WithVariable>> unset;
  for (const auto& variable : jit::env_table()) unset.push_back(std::make_unique<WithVariable>(variable.name, ""));
  const WithVariable home("XDG_CACHE_HOME", "/var/me");
  jit::reload_env();
  const auto defaults = values_of(jit::env());
  REQUIRE(defaults.size() == jit::env_table().size());
  const std::map<std::string, std::string> as_numbers = {
      {"1GiB", "1073741824"}, {"256MiB", "268435456"}, {"64MiB", "67108864"}};
  for (const auto& variable : jit::env_table()) {
    CAPTURE(variable.name);
    std::string expected = variable.fallback;
    if (as_numbers.contains(expected)) expected = as_numbers.at(expected);
    if (std::string(variable.name) == "TESSERA_CACHE_DIR") expected = "/var/me/tessera";
    if (std::string(variable.name) == "TESSERA_DEVICE") expected = "";  // auto: no preference
    CHECK(defaults.at(variable.name) == expected);
  }
  CHECK(jit::env().timeout == 600);

  // One other value for each.
  std::map<std::string, std::pair<std::string, std::string>> others;  // what is set, and what that is
  int n = 3;
  for (const auto& variable : jit::env_table()) {
    const std::string type = variable.type, name = variable.name;
    std::string value = "other" + std::to_string(n), found;
    if (type.starts_with("bytes")) value = std::to_string(n) + "M", found = std::to_string(n << 20);
    if (type == "0|1" || type == "auto|0|1") value = std::string(variable.fallback) == "1" ? "0" : "1";
    if (name == "TESSERA_LOG") value = "error";
    if (name == "TESSERA_DUMP") value = "asm,ptx";
    if (name == "TESSERA_DEVICE") value = "sim,cuda:12";
    if (name == "TESSERA_TUNE") value = "eager", found = std::to_string(static_cast<int>(jit::Env::Tune::eager));
    if (name == "TESSERA_PREFETCH" || name == "TESSERA_LANES" || name == "TESSERA_TIMEOUT") value = std::to_string(n);
    others[name] = {value, found.empty() ? value : found};
    ++n;
  }
  for (const auto& [name, other] : others) {
    CAPTURE(name);
    const WithVariable set(name.c_str(), other.first.c_str());
    jit::reload_env();
    auto expected = defaults;
    expected[name] = other.second;
    CHECK(values_of(jit::env()) == expected);
  }
}

TEST_CASE("bytes may be given in each unit, bounds belong to what is allowed") {
  const std::pair<const char*, std::uint64_t> sizes[] = {{"0", 0},
                                                         {"7", 7},
                                                         {"7K", 7ull << 10},
                                                         {"7KiB", 7ull << 10},
                                                         {"7M", 7ull << 20},
                                                         {"7G", 7ull << 30},
                                                         {"7T", 7ull << 40},
                                                         {"7TiB", 7ull << 40},
                                                         {"18446744073709551615", UINT64_MAX},
                                                         {"16777215T", 16777215ull << 40}};
  for (const auto& [text, bytes] : sizes) {
    CAPTURE(text);
    WithVariable set("TESSERA_MEM_MAX", text);
    CHECK(reload_error() == "no error");
    CHECK(jit::env().mem_max == bytes);
  }
  for (const char* bad : {"7k", "7B", "7MB", "7iB", "M", "7 M", "16777216T", "18446744073709551616"}) {
    CAPTURE(bad);
    WithVariable set("TESSERA_MEM_MAX", bad);
    CHECK(contains(reload_error(), "TESSERA_MEM_MAX"));
  }
  for (const auto& [text, groups] : {std::pair{"0", 0}, std::pair{"64", 64}}) {
    WithVariable set("TESSERA_PREFETCH", text);
    jit::reload_env();
    CHECK(jit::env().prefetch == groups);
  }
  for (const auto& [text, seconds] : {std::pair{"0", 0}, std::pair{"2147483647", 2147483647}}) {
    WithVariable set("TESSERA_TIMEOUT", text);
    jit::reload_env();
    CHECK(jit::env().timeout == seconds);
  }
  WithVariable set("TESSERA_DEVICE", "cuda:999");
  CHECK(reload_error() == "no error");
}

TEST_CASE("an empty variable counts as not set") {
  WithVariable a("TESSERA_CACHE", ""), b("TESSERA_DEVICE", "");
  jit::reload_env();
  CHECK(jit::env().cache);
  CHECK(jit::env().device.empty());
}

TEST_CASE("a bad value names the variable and the valid values, and the old values stay") {
  const struct {
    const char* name;
    const char* value;
    const char* valid;
  } bad[] = {{"TESSERA_LOG", "loud", "error|warn|info"},
             {"TESSERA_DUMP", "ir,mlir", "asm"},
             {"TESSERA_CACHE", "yes", "0|1"},
             {"TESSERA_CACHE_MAX", "2GB", "GiB"},
             {"TESSERA_CACHE_MAX", "-1", "bytes"},
             {"TESSERA_DEVICE", "gpu", "cuda"},
             {"TESSERA_DEVICE", "cuda:", "cuda:<n>"},
             {"TESSERA_DEVICE", "cpu,cuda:1000", "cuda:<n>"},
             {"TESSERA_LANES", "0", "auto"},
             {"TESSERA_LANES", "4x", "auto"},
             {"TESSERA_STREAM", "2", "auto|0|1"},
             {"TESSERA_PREFETCH", "-1", "0 to 64"},
             {"TESSERA_MEM_MAX", "99999999999T", "bytes"},
             {"TESSERA_TUNE", "always", "0|1|eager"},
             {"TESSERA_PREFETCH", "2147483647", "0 to 64"},
             {"TESSERA_PREFETCH", "65", "0 to 64"}};
  for (const auto& [name, value, valid] : bad) {
    CAPTURE(name);
    CAPTURE(value);
    const std::string before = jit::env().log;
    WithVariable set(name, value);
    const std::string error = reload_error();
    CHECK(contains(error, name));
    CHECK(contains(error, valid));
    CHECK(jit::env().log == before);
  }
}

TEST_CASE("a misspelt variable is an error that names the one that was meant") {
  const std::pair<const char*, const char*> slips[] = {
      {"TESSERA_CASHE", "TESSERA_CACHE"},         {"TESSERA_DEVCIE", "TESSERA_DEVICE"},
      {"TESSERA_CACHEDIR", "TESSERA_CACHE_DIR"},  {"TESSERA_DEVICES", "TESSERA_DEVICE"},
      {"TESSERA_PERFETSH", "TESSERA_PREFETCH"},   {"TESERA_CACHE", "TESSERA_CACHE"},
      {"TESSERA_CACHE_DIRS", "TESSERA_CACHE_DIR"}};
  for (const auto& [slip, meant] : slips) {
    CAPTURE(slip);
    WithVariable set(slip, "0");
    const std::string error = reload_error();
    CHECK(contains(error, std::string(slip) + ": "));
    CHECK(contains(error, std::string("Did you mean ") + meant + "?"));
    ::unsetenv(slip);
  }
  CHECK(reload_error() == "no error");
}

TEST_CASE("names of others are no slips: those that begin with ours are told, and stay") {
  WithVariable a("TESSERA_LAYOUT", "0"), b("TESSERA_HOME", "/x"), c("TESSDATA_PREFIX", "/y"), d("TESSERA", "z");
  CHECK(reload_error() == "no error");
  auto names = jit::unknown_env_names();
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"TESSERA_HOME", "TESSERA_LAYOUT"});
}

TEST_CASE("distances between words") {
  CHECK(jit::edit_distance("", "") == 0);
  CHECK(jit::edit_distance("", "abc") == 3);
  CHECK(jit::edit_distance("abc", "abc") == 0);
  CHECK(jit::edit_distance("abc", "abd") == 1);
  CHECK(jit::edit_distance("abc", "acb") == 1);
  CHECK(jit::edit_distance("abc", "bca") == 2);
  CHECK(jit::edit_distance("kitten", "sitting") == 3);
  CHECK(jit::edit_distance("sitting", "kitten") == 3);
}

TEST_CASE("without a home there is no place for a kernel cache, least of all one that others can guess") {
  WithVariable place("TESSERA_CACHE_DIR", ""), xdg("XDG_CACHE_HOME", ""), home("HOME", "");
  for (const char* value : {"", "relative"}) {
    ::setenv("HOME", value, 1);
    jit::reload_env();
    CHECK(jit::env().cache_dir.empty());
  }
  ::setenv("HOME", "/home/me", 1);
  jit::reload_env();
  CHECK(jit::env().cache_dir == "/home/me/.cache/tessera");
  ::setenv("XDG_CACHE_HOME", "/var/me", 1);
  jit::reload_env();
  CHECK(jit::env().cache_dir == "/var/me/tessera");
}

TEST_CASE("log levels and topics decide what is told") {
  CapturedLog log;
  jit::configure_log("info,jit");
  jit::log_info("jit", "kernel ", "axpy", ' ', 3, " registers ", 1.5, " ", true);
  jit::log_info("cache", "not this");
  jit::log_debug("jit", "nor this");
  jit::log_warn("cache", "but this");
  CHECK(log.text() == "tessera info [jit]: kernel axpy 3 registers 1.5 true\ntessera warn [cache]: but this\n");
  log.clear();
  jit::set_log_rank(3);
  jit::log_warn("cache", "of one of several");
  jit::set_log_rank(-1);
  CHECK(log.text() == "tessera warn [cache] rank 3: of one of several\n");
  jit::configure_log("error");
  log.clear();
  jit::log_warn("cache", "silent");
  CHECK(log.lines().empty());
  CHECK_FALSE(jit::log_enabled(jit::LogLevel::warn));
  CHECK_THROWS_AS(jit::configure_log("all"), jit::UserError);
}

TEST_CASE("each level tells what it and those before it tell; topics hold back neither errors nor warnings") {
  CapturedLog log;
  const std::vector<std::string> levels = {"error", "warn", "info", "debug", "trace"};
  const auto all_levels = [](const char* topic) {
    jit::log_error(topic, "x");
    jit::log_warn(topic, "x");
    jit::log_info(topic, "x");
    jit::log_debug(topic, "x");
    jit::log_trace(topic, "x");
  };
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (const std::string topics : {"", ",a,b", ",,b,", ",ab"}) {
      CAPTURE(levels[level]);
      CAPTURE(topics);
      jit::configure_log(levels[level] + topics);
      std::string expected;
      log.clear();
      for (const char* topic : {"a", "b", "c"}) {
        const bool named = topics.empty() || (topics + ",").find("," + std::string(topic) + ",") != std::string::npos;
        for (std::size_t line = 0; line <= level; ++line)
          if (line < 2 || named) expected += "tessera " + levels[line] + " [" + topic + "]: x\n";
        all_levels(topic);
      }
      CHECK(log.text() == expected);
      for (std::size_t line = 0; line < levels.size(); ++line)
        CHECK(jit::log_enabled(static_cast<jit::LogLevel>(line)) == (line <= level && (line < 2 || topics.empty())));
    }
  jit::configure_log("info");
  log.clear();
  jit::set_log_rank(0);
  jit::log_info("", 1234567.0, " ", 0.1234567, " ", -7L, " ", ~0ull, " ", std::string("s"), false);
  jit::set_log_rank(-1);
  CHECK(log.text() == "tessera info rank 0: 1.23457e+06 0.123457 -7 18446744073709551615 sfalse\n");
}

TEST_CASE("the hash depends on the bytes, not on how they came") {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  const jit::Hash128 whole = jit::hash_text(text);
  for (std::size_t split = 0; split <= text.size(); ++split)
    CHECK(jit::Hasher().bytes(text.data(), split).bytes(text.data() + split, text.size() - split).result() == whole);
  CHECK(jit::Hasher().text("ab").text("c").result() != jit::Hasher().text("a").text("bc").result());
  CHECK(jit::hash_text("") != jit::hash_text(std::string(1, '\0')));
  CHECK(jit::hash_text(std::string(16, '\0')) != jit::hash_text(std::string(32, '\0')));
  CHECK(whole.hex().size() == 32);
  CHECK(whole.hex() != jit::hash_text("the quick brown fox jumps over the lazy cog").hex());
  CHECK(jit::Hash128{1, 0xab}.hex() == "000000000000000100000000000000ab");
}

TEST_CASE("hashes of similar keys do not collide and change about half of their bits") {
  std::set<std::string> seen;
  std::unordered_map<jit::Hash128, int> map;
  double flipped = 0;
  jit::Hash128 last;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const jit::Hash128 h = jit::Hasher().value(i).result();
    seen.insert(h.hex().substr(0, 16));
    seen.insert(h.hex().substr(16));
    map[h] = i;
    if (i > 0) flipped += __builtin_popcountll(h.a ^ last.a) + __builtin_popcountll(h.b ^ last.b);
    last = h;
  }
  CHECK(seen.size() == 2u * n);  // both halves on their own
  CHECK(map.size() == static_cast<std::size_t>(n));
  CHECK(flipped / (n - 1) == doctest::Approx(64).epsilon(0.01));
}

TEST_CASE("an owned object is destroyed once, by its last owner") {
  struct Counted {
    explicit Counted(int& destroyed) : destroyed_(&destroyed) {}
    Counted(const Counted&) = delete;
    ~Counted() { ++*destroyed_; }
    int* destroyed_;
  };
  int first = 0, second = 0;
  {
    jit::Owned<Counted> a = std::make_unique<Counted>(first), b = std::make_unique<Counted>(second), none;
    CHECK(none == nullptr);
    CHECK(a->destroyed_ == &first);
    const Counted* const object = a.get();
    jit::Owned<Counted> c = std::move(a);
    CHECK(a == nullptr);
    CHECK(c.get() == object);
    c = std::move(b);  // the first has no owner now
    CHECK(first == 1);
    CHECK(second == 0);
    CHECK(&(*c).destroyed_ != nullptr);
    CHECK(c->destroyed_ == &second);
    jit::Owned<Counted>& itself = c;
    c = std::move(itself);
    CHECK(second == 0);
    c = nullptr;
    CHECK(second == 1);
    CHECK_FALSE(c);
    b = std::make_unique<Counted>(first);
    b.reset();
    CHECK(first == 2);
    a = std::make_unique<Counted>(first);
  }
  CHECK(first == 3);
  CHECK(second == 1);
}

TEST_CASE("a file is replaced as a whole or not at all") {
  const auto folder = scratch_folder();
  const std::string path = (folder / "a").string();
  jit::write_atomically(path, "old");
  jit::write_atomically(path, std::string("new\0text", 8));
  CHECK(jit::read_file(path) == std::string("new\0text", 8));
  {
    jit::AtomicFile file(path);
    file.write("half", 4);
  }  // no commit
  CHECK(jit::read_file(path) == std::string("new\0text", 8));
  {
    jit::AtomicFile file(path);
    file.write("abcd", 4);
    file.write_at(1, "XY", 2);
    file.write("e", 1);
    file.commit();
    CHECK_THROWS_AS(file.write("x", 1), jit::InternalError);
  }
  CHECK(jit::read_file(path) == "aXYde");
  {
    jit::AtomicFile file(path);
    file.write("head", 4);
    CHECK(file.size() == 4);
    const std::string lent = file.lend();
    CHECK(jit::read_file(lent) == "head");
    std::ofstream(lent, std::ios::app) << "others";
    file.take_back(6);
    CHECK(file.size() == 10);
    file.write("tail", 4);
    file.write_at(0, "H", 1);
    file.commit();
  }
  CHECK(jit::read_file(path) == "Headotherstail");
  {
    jit::AtomicFile file(path);
    std::ofstream(file.lend()) << "five!";
    CHECK_THROWS_WITH_AS(file.take_back(6), doctest::Contains("6 bytes after all ranks have written theirs, got 5"),
                         jit::FileError);
  }
  CHECK(jit::read_file(path) == "Headotherstail");
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  CHECK(entries == 1);  // no temporary file is left
  std::filesystem::remove_all(folder);
}

TEST_CASE("what is no file is not replaced by one") {
  const auto folder = scratch_folder();
  const std::string fifo = (folder / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const auto& [path, kind] :
       std::map<std::string, std::string>{{fifo, "a FIFO"}, {folder.string(), "a folder"}, {"/dev/null", "a device"}}) {
    CAPTURE(path);
    std::string message = "no error";
    try {
      jit::write_atomically(path, "x");
    } catch (const jit::FileError& error) {
      message = error.what();
    }
    CHECK(contains(message, path));
    CHECK(contains(message, "got " + kind));
  }
  CHECK(std::filesystem::is_fifo(fifo));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("file errors name the file") {
  const auto folder = scratch_folder();
  const std::string missing = (folder / "none" / "x").string();
  try {
    jit::read_file(missing);
    FAIL("no error");
  } catch (const jit::FileError& e) {
    CHECK(contains(e.what(), missing));
    CHECK(e.code() == ENOENT);
  }
  CHECK_THROWS_AS(jit::write_atomically(missing, "x"), jit::FileError);
  CHECK_THROWS_AS(jit::read_file(folder.string()), jit::FileError);
  jit::make_directories((folder / "b" / "c").string());
  jit::make_directories((folder / "b" / "c").string());
  CHECK(std::filesystem::is_directory(folder / "b" / "c"));
  jit::write_atomically((folder / "file").string(), "x");
  CHECK_THROWS_AS(jit::make_directories((folder / "file" / "d").string()), jit::FileError);
  // In bytes, of the file system that the nearest folder is on. Others write at the same time.
  CHECK(static_cast<double>(jit::free_space((folder / "not" / "yet").string())) ==
        doctest::Approx(static_cast<double>(std::filesystem::space(folder).available)).epsilon(0.2));
  CHECK_THROWS_AS(jit::require_free_space(folder.string(), UINT64_MAX), jit::FileError);
  std::filesystem::remove_all(folder);
}
