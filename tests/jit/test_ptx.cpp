// PTX of all kinds of kernels: the assembler takes it for every supported GPU, nothing is fused or rounded otherwise
// than the IR says, and large kernels stay in registers.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "codegen_kernels.hpp"
#include "jit/codegen/libdevice.hpp"
#include "jit/gpu/ptxas.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "tests/paths.hpp"
#include "tests/skip.hpp"

using namespace lab;
using Kind = jit::ir::Reduction::Kind;

namespace {

std::string ptx_of(jit::Target& target, const Kernel& kernel, const std::string& symbol, int sites = 1,
                   bool streaming = false) {
  jit::ir::verify(kernel);
  NoNotes notes;
  return target.build(kernel, symbol, {.streaming = streaming, .check = true, .sites = sites}, notes);
}

/// Path of ptxas, empty if there is none.
std::string find_assembler() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream stream(path);
    for (std::string folder; std::getline(stream, folder, ':');) folders.push_back(folder);
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders)
    if (const std::string file = folder + "/ptxas"; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

struct Usage {
  int registers = 0, spilled = 0;
};

/// What ptxas says about some kernels.
struct Assembly {
  bool accepted = false;
  std::string log;
  std::map<std::string, Usage> usage;  ///< by kernel
};

/// One call of ptxas for many modules: they become one, without all headers but the first.
Assembly assemble(const std::vector<std::string>& modules, int sm) {
  const auto folder = std::filesystem::temp_directory_path() / ("tessera_ptx_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string source = (folder / "kernels.ptx").string(), log = (folder / "log").string();
  {
    std::ofstream file(source);
    const std::regex header("\\.(version|target|address_size)[^\n]*\n");
    for (std::size_t i = 0; i < modules.size(); ++i)
      file << (i == 0 ? modules[i] : std::regex_replace(modules[i], header, ""));
  }
  const std::string command =
      find_assembler() + " -v -arch=sm_" + std::to_string(sm) + " -o /dev/null " + source + " 2> " + log;
  Assembly result;
  result.accepted = std::system(command.c_str()) == 0;
  std::ifstream file(log);
  std::string kernel;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    result.log += line + "\n";
    if (std::regex_search(line, found, std::regex("entry function '([^']*)'"))) kernel = found[1];
    if (std::regex_search(line, found, std::regex("([0-9]+) bytes spill stores")))
      result.usage[kernel].spilled = std::stoi(found[1]);
    if (std::regex_search(line, found, std::regex("Used ([0-9]+) registers")))
      result.usage[kernel].registers = std::stoi(found[1]);
  }
  std::filesystem::remove_all(folder);
  return result;
}

int count(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  return int(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

/// The operation without those that call functions.
Kernel exact_operations(Type t) {
  Kernel k = all_operations(t, 32);
  for (Node& n : k.nodes)
    if (n.op >= Op::sin && n.op <= Op::fmod) {
      if (arity(n.op) == 2) n.b = jit::ir::kNone;
      n.op = Op::neg;
    }
  return k;
}

/// By Op::convert, or by Op::bitcast to those types that have as many bytes.
Kernel conversions_from(Type from, Op op = Op::convert) {
  Kernel k;
  k.name = jit::ir::name(op);
  k.lanes = 32;
  k.leaves = {{from, 1, true, false}};
  const Value x = load(k, 0, 0);
  for (Type to : kTypes) {
    if (op == Op::bitcast && !casts(from, to)) continue;
    k.leaves.push_back({to, 1, false, true});
    store(k, int(k.leaves.size()) - 1, 0, apply(k, op, to, x));
  }
  return k;
}

/// Every kind of kernel that calls no elementary function.
std::vector<Kernel> exact_kernels() {
  std::vector<Kernel> kernels;
  for (Type t : kTypes) kernels.push_back(exact_operations(t));
  for (Type t : kTypes) kernels.push_back(conversions_from(t));
  for (Type t : {Type::i32, Type::i64, Type::f32, Type::f64}) kernels.push_back(conversions_from(t, Op::bitcast));
  for (int lanes : {64, 32, 2, 1}) kernels.push_back(trips(lanes));
  kernels.push_back(halves(32, {.flip = 4}));
  kernels.push_back(wilson_hop(Type::f32, 32));
  kernels.push_back(wilson_hop(Type::f64, 32));
  for (unsigned seed = 1; seed <= 20; ++seed) kernels.push_back(random_kernel(seed, 32, seed % 2 == 0));
  for (unsigned seed = 21; seed <= 24; ++seed) kernels.push_back(random_kernel(seed, 4, false));
  return kernels;
}

/// Puts a variable of the environment back.
struct Restore {
  std::string name;
  std::string old;
  bool was_set;
  explicit Restore(const char* variable) : name(variable), was_set(std::getenv(variable) != nullptr) {
    if (was_set) old = std::getenv(variable);
  }
  ~Restore() {
    was_set ? setenv(name.c_str(), old.c_str(), 1) : unsetenv(name.c_str());
    jit::reload_env();
  }
};

}  // namespace

TEST_CASE("the assembler takes every kind of kernel for every supported architecture") {
  if (find_assembler().empty()) TESSERA_SKIP("no ptxas");
  const std::vector<Kernel> kernels = exact_kernels();
  for (int sm : {75, 80, 90})
    for (int sites : {1, sm == 80 ? 2 : 4}) {
      const auto target = jit::make_nvptx_target(sm, nullptr);
      std::vector<std::string> modules;
      for (std::size_t i = 0; i < kernels.size(); ++i)
        modules.push_back(ptx_of(*target, kernels[i], "kernel_" + std::to_string(i), sites, sites != 1));
      const Assembly result = assemble(modules, sm);
      CAPTURE(sm);
      CAPTURE(sites);
      CHECK_MESSAGE(result.accepted, result.log);
      CHECK(result.usage.size() == kernels.size());
    }
}

TEST_CASE("kernels of hundreds of fields are assembled, as newer PTX") {
  if (find_assembler().empty()) TESSERA_SKIP("no ptxas");
  const auto sum_of = [](int fields) {
    Kernel k;
    k.name = "sum";
    k.lanes = 32;
    k.leaves = {{Type::f32, 1, false, true}, {Type::f32, 1, true, false}};
    Value sum = load(k, 1, 0);
    for (int leaf = 2; leaf < fields; ++leaf) {
      k.leaves.push_back({Type::f32, 1, true, false});
      sum = apply(k, Op::add, Type::f32, sum, load(k, leaf, 0));
    }
    store(k, 0, 0, sum);
    return k;
  };
  constexpr int kMost = 4096 / 8 - 2;  // beside begin and end
  for (int sm : {75, 80, 90}) {
    CAPTURE(sm);
    const auto target = jit::make_nvptx_target(sm, nullptr);
    for (int fields : {kMost, kMost + 1, 1000}) {
      CAPTURE(fields);
      const std::string ptx = ptx_of(*target, sum_of(fields), "sum");
      const Assembly result = assemble({ptx}, sm);
      CHECK_MESSAGE(result.accepted, result.log);
      const bool newer = ptx.find(".version 8.1") != std::string::npos;
      CHECK(newer == (fields > kMost));
    }
  }
}

TEST_CASE("a newer GPU than LLVM knows gets the PTX of the newest that it knows") {
  const auto newest = jit::make_nvptx_target(90, nullptr), newer = jit::make_nvptx_target(120, nullptr);
  CHECK(ptx_of(*newer, trips(32), "k") == ptx_of(*newest, trips(32), "k"));
  CHECK(newest->description() == newer->description());
  CHECK(ptx_of(*jit::make_nvptx_target(89, nullptr), trips(32), "k").find(".target sm_89") != std::string::npos);
  CHECK_THROWS_WITH_AS(jit::make_nvptx_target(70, nullptr), doctest::Contains("7.5 or higher"), jit::DeviceError);
}

TEST_CASE("additions and products are rounded one by one, fma is where the IR has it, denormals are kept") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  for (const Kernel& k : exact_kernels())
    for (int sites : {1, 4}) {
      CAPTURE(k.name);
      CAPTURE(sites);
      const std::string ptx = ptx_of(*target, k, "k", sites);
      int fused = 0;
      for (const Node& n : k.nodes) fused += n.op == Op::fma && is_float(n.type);
      CHECK(count(ptx, "\\b(fma|mad)\\.[a-z.]*f(32|64)") <= fused * sites);
      CHECK(count(ptx, "\\b(add|sub|mul)\\.f(32|64)") == 0);  // ptxas may fuse these; not add.rn
      CHECK(count(ptx, "\\b(div|sqrt|rcp)\\.(approx|full)") == 0);
      CHECK(count(ptx, "\\.ftz") == 0);
    }
  const std::string hop = ptx_of(*target, wilson_hop(Type::f32, 32), "hop");
  CHECK(count(hop, "fma\\.rn\\.f32") > 500);
  CHECK(count(hop, "(add|sub)\\.rn\\.f32") > 100);
}

TEST_CASE("what a kernel only reads comes through the read-only cache, with constant offsets") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  Kernel k;
  k.name = "axpy";
  k.lanes = 32;
  k.leaves = {{Type::f32, 24, true, false}, {Type::f32, 24, true, true}};
  k.slots.push_back({0, false, 4});
  k.listed = true;
  for (int c = 0; c < 24; ++c)
    store(k, 1, c, apply(k, Op::add, Type::f32, permute(k, 1, load(k, 0, c, 1)), load(k, 1, c)));
  const std::string ptx = ptx_of(*target, k, "k");
  CHECK(count(ptx, "ld\\.global\\.nc\\.f32") == 24);
  CHECK(count(ptx, "ld\\.global\\.f32") == 24);
  CHECK(count(ptx, "ld\\.global\\.nc\\.[bu](32|64)") == 3);  // list, mask, table
  CHECK(count(ptx, "st\\.global\\.f32") == 24);
  CHECK(count(ptx, "(ld|st)\\.(f32|b32|u32)") == 0);  // no generic address
  CHECK(count(ptx, "\\+2944\\]") == 3);               // component 23 of blocks of 32 floats
  // all loads before the first store, which ptxas could not move them across
  CHECK(ptx.rfind("ld.global") < ptx.find("st.global"));
}

TEST_CASE("the words of a thread's sites come and go by one instruction where they lie side by side") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  /// A sum of a leaf here and a leaf in a slot.
  const auto kernel = [](Type t, int lanes, jit::ir::Slot slot) {
    Kernel k;
    k.name = "sum";
    k.lanes = lanes;
    k.leaves = {{t, 3, true, false}, {t, 3, true, false}, {t, 3, false, true}};
    k.slots.push_back(slot);
    const Op op = t == Type::b1 ? Op::or_ : Op::add;
    for (int c = 0; c < 3; ++c) store(k, 2, c, apply(k, op, t, load(k, 0, c), permute(k, 1, load(k, 1, c, 1))));
    return k;
  };
  const jit::ir::Slot neighbour{0, false, 0}, gathered{0, true, 0};
  struct Case {
    Type type;
    int lanes, sites;
    jit::ir::Slot slot;
    const char* word;  ///< what one instruction moves
    int loads, stores, selections;
  };
  const Case cases[] = {
      {Type::f32, 32, 1, neighbour, "\\.f32", 6, 3, 0},
      {Type::f32, 32, 2, neighbour, "\\.v2\\.f32", 6, 3, 0},
      {Type::f32, 32, 4, neighbour, "\\.v4\\.f32", 6, 3, 0},
      {Type::f64, 32, 2, neighbour, "\\.v2\\.f64", 6, 3, 0},
      {Type::f64, 32, 4, neighbour, "\\.v2\\.f64", 12, 6, 0},  // PTX has no v4.f64
      {Type::i32, 32, 4, neighbour, "\\.v4\\.[bu]32", 6, 3, 0},
      {Type::i64, 32, 2, neighbour, "\\.v2\\.[bu]64", 6, 3, 0},
      {Type::b1, 32, 4, neighbour, "\\.[bu]32", 6 + 1, 3, 0},  // and the table's entry
      {Type::f32, 32, 2, {0, false, 1}, "\\.v2\\.f32", 6, 3, 6},
      {Type::f32, 32, 4, {0, false, 2}, "\\.v4\\.f32", 6, 3, 12},
      {Type::f32, 32, 4, {0, false, 4}, "\\.v4\\.f32", 6, 3, 0},  // another address, no exchange
      {Type::f32, 32, 4, {0, false, 16}, "\\.v4\\.f32", 6, 3, 0},
      {Type::f64, 32, 2, {0, false, 16}, "\\.v2\\.f64", 6, 3, 0},
      {Type::f32, 32, 4, {0, false, {0, 3, 1}}, "\\.v4\\.f32", 6, 3, 12},
      {Type::f32, 32, 4, {0, false, {0, 12, 4}}, "\\.v4\\.f32", 6, 3, 0},
      {Type::f32,
       32,
       2,
       {0, false, {0, 3, 3}},
       "\\.f32",
       6,
       3,
       0},  // one site per thread: its neighbours are not neighbours
      {Type::f32, 32, 4, {0, false, {0, 6, 2}}, "\\.v2\\.f32", 6, 3, 0},
      {Type::f32, 32, 4, gathered, "\\.f32", 12, 0, 0},
      {Type::f32, 2, 4, neighbour, "\\.v2\\.f32", 6, 3, 0},
      {Type::f64, 4, 4, neighbour, "\\.v2\\.f64", 12, 6, 0},  // in two blocks
      {Type::f64, 2, 2, neighbour, "\\.f64", 12, 6, 0},
      {Type::f64, 1, 4, neighbour, "\\.f64", 6, 3, 0},
  };
  for (const Case& c : cases) {
    const std::string ptx = ptx_of(*target, kernel(c.type, c.lanes, c.slot), "k", c.sites);
    CAPTURE(jit::ir::name(c.type));
    CAPTURE(c.lanes);
    CAPTURE(c.sites);
    CAPTURE(c.slot.exchange.flip);
    CAPTURE(c.slot.exchange.ring);
    CHECK(count(ptx, (std::string("ld\\.global\\.nc") + c.word).c_str()) == c.loads);
    CHECK(count(ptx, (std::string("st\\.global") + c.word).c_str()) == c.stores);
    CHECK(count(ptx, "selp\\.f") == c.selections);
  }
  Kernel listed = kernel(Type::f32, 32, neighbour), host = listed;
  listed.listed = true;
  for (jit::ir::Leaf& leaf : host.leaves) leaf.host_order = true;
  for (const Kernel& k : {listed, host}) CHECK(count(ptx_of(*target, k, "k", 4), "\\.v[24]\\.") == 0);
  CHECK(ptx_of(*target, listed, "k", 4) == ptx_of(*target, listed, "k", 1));
}

TEST_CASE("streaming: what is touched once is evicted first, and what neighbours share is not") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  const std::string hop = ptx_of(*target, wilson_hop(Type::f32, 32), "k", 1, true);
  CHECK(count(hop, "ld\\.global\\.cs\\.nc\\.f32") == 8 * 18);  // links, in two slots
  CHECK(count(hop, "ld\\.global\\.nc\\.f32") == 8 * 24);       // spinors
  CHECK(count(hop, "st\\.global\\.cs\\.f32") == 24);
  CHECK(count(hop, "st\\.global\\.f32") == 0);

  Kernel k;
  k.name = "axpy";
  k.lanes = 32;
  k.leaves = {{Type::f64, 24, true, false}, {Type::f64, 24, true, true}};
  for (int c = 0; c < 24; ++c) store(k, 1, c, apply(k, Op::add, Type::f64, load(k, 0, c), load(k, 1, c)));
  const std::string axpy = ptx_of(*target, k, "k", 2, true);
  CHECK(count(axpy, "ld\\.global\\.cs\\.nc\\.v2\\.f64") == 24);
  CHECK(count(axpy, "ld\\.global\\.v2\\.f64") == 24);  // what is written is in no read-only cache
  CHECK(count(axpy, "st\\.global\\.cs\\.v2\\.f64") == 24);
  CHECK(count(axpy, "\\+2944\\]") == 3);  // components 23 of blocks of 16 doubles
}

// Instructions that LLVM writes as text it knows less of: they must be the same ones, operands included.
TEST_CASE("streaming changes cache operators, and no instruction besides") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  const auto instructions = [&](const Kernel& k, int sites, bool streaming) {
    std::istringstream text(ptx_of(*target, k, "k", sites, streaming));
    const std::regex registers("%[a-z]+[0-9]+"), integers("\\.[bsu](32|64)");
    std::multiset<std::string> all;
    for (std::string line; std::getline(text, line);) {
      if (line.find("st.global") == std::string::npos && line.find("ld.global") == std::string::npos) continue;
      line = std::regex_replace(line, std::regex("\\.cs|^\\s+"), "");
      line = std::regex_replace(line, std::regex("\\+0\\]"), "]");
      line = std::regex_replace(line, integers, ".i$1");
      all.insert(std::regex_replace(std::regex_replace(line, registers, "%"), std::regex("\\s+"), " "));
    }
    return all;
  };
  std::vector<Kernel> kernels;  // without loops and superfluous stores, of which LLVM makes less where it may
  for (Type t : kTypes) kernels.push_back(exact_operations(t));
  for (Type t : kTypes) kernels.push_back(conversions_from(t));
  for (const jit::LaneExchange& exchange : {jit::LaneExchange{1}, {2}, {16}, {0, 3, 1}, {0, 12, 12}, {1, 6, 2}})
    kernels.push_back(halves(32, exchange));
  for (Type t : {Type::f32, Type::f64}) kernels.push_back(wilson_hop(t, 32));
  for (const Kernel& k : kernels)
    for (int sites : {1, 2, 4}) {
      CAPTURE(k.name);
      CAPTURE(sites);
      const bool same = instructions(k, sites, true) == instructions(k, sites, false);
      CHECK(same);
    }
}

TEST_CASE("only kernels with reductions have a loop over sites, and positions are 32 bits wide") {
  const auto target = jit::make_nvptx_target(90, nullptr);
  const std::string hop = ptx_of(*target, wilson_hop(Type::f64, 32), "hop");
  CHECK(count(hop, "\\bbra\\b") == 1);  // threads beyond the last site
  CHECK(count(hop, "nctaid") == 0);
  CHECK(count(hop, "setp\\.[a-z]+\\.[us]64|shr\\.u64") == 0);
  CHECK(count(ptx_of(*target, trips(32), "sums"), "nctaid") == 1);
}

// scripts/ptx-check assembles dumps, which are made for one architecture, for others as well.
TEST_CASE("PTX for older GPUs differs in its header only") {
  const std::regex other("\\.(version|target)[^\n]*|callseq [0-9]+");  // calls are counted throughout a process
  const auto body = [&](int sm, const Kernel& k) {
    const auto target = jit::make_nvptx_target(sm, nullptr);
    return std::regex_replace(ptx_of(*target, k, "k") + ptx_of(*target, k, "k", 2, true), other, "");
  };
  std::vector<Kernel> kernels = exact_kernels();
  try {
    jit::find_libdevice();
    for (Type t : {Type::f32, Type::f64}) kernels.push_back(all_operations(t, 32));
  } catch (const jit::DeviceError&) {  // those need it
  }
  for (const Kernel& k : kernels) {
    CAPTURE(k.name);
    const bool same = body(80, k) == body(90, k);  // a thousand lines are not for a message
    CHECK(same);
  }
}

TEST_CASE("sums go through shuffles and shared memory, and one kernel's parts do not clash with another's") {
  const auto target = jit::make_nvptx_target(80, nullptr);
  const std::string ptx = ptx_of(*target, trips(32), "sums");
  // In each warp, then of all warps: top, three digits of 64 bits; a minimum.
  CHECK(count(ptx, "shfl\\.sync\\.bfly") == 2 * (5 * (1 + 3 * 2) + 5 * 2));
  CHECK(count(ptx, "bar\\.sync") == 1 + 2);
  CHECK(count(ptx, "st\\.shared") == 4 + 1);
  CHECK(count(ptx, "ld\\.shared") == 4 + 1);
  CHECK(count(ptx, "atom\\.shared|red\\.shared") == 0);  // of 64 bits they are loops
  CHECK(ptx.find("sums_parts") != std::string::npos);
  CHECK(ptx_of(*target, wilson_hop(Type::f32, 32), "hop").find("bar.sync") == std::string::npos);
}

TEST_CASE(
    "sums are handed over behind fences: of the device around the count of blocks, of the system before the mark") {
  const std::string ptx = ptx_of(*jit::make_nvptx_target(80, nullptr), trips(32), "sums");
  std::size_t at = 0;
  for (const char* next :
       {"st.shared.", "bar.sync", "ld.shared.", "atom.global.add.", "bar.sync", "membar.gl", "atom.global.add.u64",
        "membar.gl", "bar.red.or.pred", "atom.global.exch.b64", "st.global.u64", "bar.sync", "st.global.u64",
        "membar.sys", "st.volatile.global.u64", "ret;"}) {
    CAPTURE(next);
    at = ptx.find(next, at);
    REQUIRE(at != std::string::npos);
    at += std::string(next).size();
  }
  CHECK(count(ptx, "membar|fence") == 3);
  CHECK(count(ptx, "ld\\.global\\.(nc\\.)?[bu]64") == 0);  // bins are read where they are added to, not in a cache
}

TEST_CASE("ptxas as a program makes binaries of all that the assembler is given, and says what they take") {
  if (find_assembler().empty()) TESSERA_SKIP("no ptxas");
  std::string why, log;
  const auto takes = [](const std::string&) { return true; };
  const auto program = jit::Ptxas::find(90, 99, takes, why);
  REQUIRE_MESSAGE(program, why);
  CHECK(program->name().starts_with("ptxas V"));
  const auto target = jit::make_nvptx_target(90, nullptr);
  for (const Kernel& k : {wilson_hop(Type::f32, 32), trips(32)}) {
    const auto binary = program->assemble(ptx_of(*target, k, "k"), 0, 3, log);
    REQUIRE_MESSAGE(binary, log);
    CHECK(
        binary->starts_with("\x7f"
                            "ELF"));
    CHECK(binary->find(".text.k") != std::string::npos);
    CHECK(log.find("registers") != std::string::npos);
  }
  CHECK_FALSE(program->assemble("no ptx", 0, 3, log));
  CHECK(log.find("error") != std::string::npos);
  // A bound that makes code spill.
  CHECK(program->assemble(ptx_of(*target, wilson_hop(Type::f64, 32), "k"), 64, 3, log));
  CHECK(log.find("Used 64 registers") != std::string::npos);
  CHECK_FALSE(jit::Ptxas::find(90, 5, takes, why));
  CHECK_FALSE(jit::Ptxas::find(12, 99, takes, why));
}

TEST_CASE("elementary functions come from libdevice, inlined or beside the kernel") {
  try {
    jit::find_libdevice();
  } catch (const jit::DeviceError& error) {
    TESSERA_SKIP(error.what());
  }
  if (find_assembler().empty()) TESSERA_SKIP("no ptxas");
  for (int sm : {75, 80, 90}) {
    const auto target = jit::make_nvptx_target(sm, nullptr);
    for (Type t : {Type::f32, Type::f64}) {
      CAPTURE(sm);
      for (int sites : {1, 2}) {
        const std::string ptx = ptx_of(*target, all_operations(t, 32), "k", sites);
        CHECK(count(ptx, "__nvvm_reflect") == 0);
        CHECK(count(ptx, "\\.extern \\.func") == 0);
        CHECK(count(ptx, "\\.visible \\.func") == 0);
        CHECK(count(ptx, "\\.(add|mul|fma|ex2|rcp|sqrt)[a-z.]*\\.ftz\\.f32") == 0);
        const Assembly result = assemble({ptx}, sm);
        REQUIRE_MESSAGE(result.accepted, result.log);
        CHECK(result.usage.at("k").spilled == 0);
      }
    }
  }
}

TEST_CASE("without libdevice a kernel that needs it is refused with every place looked at, and others are not") {
  const Restore restore[] = {Restore("TESSERA_LIBDEVICE"), Restore("CUDA_HOME"), Restore("CUDA_PATH")};
  setenv("CUDA_HOME", "/nonexistent/home", 1);
  setenv("CUDA_PATH", "/nonexistent/path", 1);
  unsetenv("TESSERA_LIBDEVICE");
  jit::reload_env();
  const std::vector<std::string> places = jit::libdevice_places();
  REQUIRE(places.size() >= 4);
  CHECK(places[0] == "/nonexistent/home/nvvm/libdevice/libdevice.10.bc");
  CHECK(places[1] == "/nonexistent/path/nvvm/libdevice/libdevice.10.bc");
  CHECK(places[2] == "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc");
  CHECK(places.back() == "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc");

  const auto target = jit::make_nvptx_target(90, nullptr);
  setenv("TESSERA_LIBDEVICE", "/nonexistent/libdevice.bc", 1);
  jit::reload_env();
  CHECK_NOTHROW(ptx_of(*target, trips(32), "k"));
  CHECK_THROWS_WITH_AS(ptx_of(*target, all_operations(Type::f32, 32), "k"),
                       doctest::Contains("no file /nonexistent/libdevice.bc"), jit::DeviceError);
  setenv("TESSERA_LIBDEVICE", (tests::source_folder() / "README.md").c_str(), 1);
  jit::reload_env();
  CHECK_THROWS_WITH_AS(ptx_of(*target, all_operations(Type::f32, 32), "k"), doctest::Contains("can read"),
                       jit::DeviceError);
}

TEST_CASE("large kernels stay in registers") {
  if (find_assembler().empty()) TESSERA_SKIP("no ptxas");
  for (int sm : {80, 90}) {
    const auto target = jit::make_nvptx_target(sm, nullptr);
    const Kernel single = wilson_hop(Type::f32, 32), twice = wilson_hop(Type::f64, 32);
    const Assembly result =
        assemble({ptx_of(*target, single, "hop_f32"), ptx_of(*target, twice, "hop_f64"),
                  ptx_of(*target, single, "hop_f32_streaming", 1, true),
                  ptx_of(*target, single, "hop_f32_two_sites", 2), ptx_of(*target, twice, "hop_f64_two_sites", 2)},
                 sm);
    REQUIRE_MESSAGE(result.accepted, result.log);
    for (const auto& [name, usage] : result.usage)
      std::printf("sm_%d %s: %d registers, %d bytes spilled\n", sm, name.c_str(), usage.registers, usage.spilled);
    for (const char* name : {"hop_f32", "hop_f32_streaming"}) CHECK(result.usage.at(name).registers <= 96);
    for (const char* name : {"hop_f64", "hop_f32_two_sites"}) CHECK(result.usage.at(name).registers <= 168);
    for (const char* name : {"hop_f32", "hop_f32_streaming", "hop_f64", "hop_f32_two_sites"})
      CHECK(result.usage.at(name).spilled == 0);
  }
}
