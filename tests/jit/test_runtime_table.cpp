// The table of kernels is bounded: many different statements, of which those not used for long go, and come back right. A process
// of its own, because the bound is small.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/runtime.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/support/env.hpp"
#include "tests/jit/settings.hpp"
#include "tests/jit/site_orders.hpp"
#include "tests/process_memory.hpp"

using namespace jit;
using ir::Type;

namespace {

constexpr std::size_t kMost = std::size_t{3} << 20;

Runtime& runtime() {
  static const tests::Folder folder;  // an own kernel cache, so that what comes back is known to come from there
  static const bool ready = [] {
    setenv("TESSERA_CACHE_DIR", folder.path.c_str(), 1);
    setenv("TESSERA_CACHE", "1", 1);
    setenv("TESSERA_TUNE", "0", 1);
    setenv("TESSERA_ASSEMBLER", "0", 1);  // code that takes memory, and time to make
    if (std::getenv("TABLE_BENCH") == nullptr) setenv("TESSERA_KERNEL_MAX", std::to_string(kMost).c_str(), 1);
    reload_env();
    return true;
  }();
  (void)ready;
  return Runtime::instance();
}

/// y = x + number, `nodes` additions of it.
ir::Kernel plus(int number, int additions) {
  ir::Kernel kernel;
  kernel.name = "plus_" + std::to_string(number);
  kernel.lanes = 8;
  kernel.leaves = {{Type::f64, 1, true, false}, {Type::f64, 1, false, true}};
  ir::Builder b(kernel);
  ir::Value sum = b.load({0, 0, 0, 0});
  for (int i = 0; i < additions; ++i) sum = b.add(sum, b.constant(Type::f64, number + i));
  kernel.stores.push_back({{1, 0, 0, 0}, sum});
  b.finish();
  return kernel;
}

struct Statements {
  Runtime& ready = runtime();
  std::shared_ptr<const SiteOrder> order = tests::random_order(8, 64);
  Field x{order, Type::f64, 1}, y{order, Type::f64, 1};
  Domain domain = tests::everything(*order);

  Statements() { std::fill_n(static_cast<double*>(x.host_overwrite()), 64, 0.5); }

  /// Runs statement `number`, made as the language makes it; its result at the last site.
  double run(int number, int additions = 1) {
    const std::string name = "plus " + std::to_string(number) + " " + std::to_string(additions);
    KernelHandle* kernel = ready.find(table_key(name));
    if (kernel == nullptr) kernel = ready.add(table_key(name), plus(number, additions));
    Field* fields[] = {&x, &y};
    const Launch launch{.kernel = kernel, .fields = fields, .maps = {}, .scalars = {}, .domain = &domain};
    ready.run({{&launch, 1}, domain.whole, {}});
    return static_cast<const double*>(y.host_read())[63];
  }
};

}  // namespace

TEST_CASE("many different statements: few kernels stay, and one that has gone is right when it is used again") {
  Statements s;
  constexpr int kMany = 600;
  for (int i = 0; i < 200; ++i) REQUIRE(s.run(i) == i + 0.5);
  const std::int64_t mapped = tests::mappings();
  for (int i = 200; i < kMany; ++i) REQUIRE(s.run(i) == i + 0.5);
  CHECK(tests::mappings() <= mapped + 200);  // the code of 400 kernels would be 800 more
  const std::size_t kept = runtime().kernels().size();
  CHECK(kept < 300);
  CHECK(kept >= KernelTable::kLeast);

  const std::int64_t compiled = runtime().compilations(), launches = runtime().launches();
  for (int i = 0; i < 40; ++i) CHECK(s.run(i) == i + 0.5);              // these went
  for (int i = kMany - 10; i < kMany; ++i) CHECK(s.run(i) == i + 0.5);  // these did not
  CHECK(runtime().compilations() == compiled);                          // they came from the disk
  int known = 0;
  for (const KernelInfo& info : runtime().kernels()) {
    if (!info.name.starts_with("plus_")) continue;
    const int number = std::stoi(info.name.substr(5));
    CAPTURE(number);
    if (number >= 40 && number < kMany - 10) continue;
    ++known;
    CHECK(info.from_cache == (number < 40));
    CHECK(info.variants == 1);
    CHECK(info.calls == (number < 40 ? 1 : 2));
    CHECK(info.compile_seconds > 0);
    CHECK(info.compile_seconds < 10);
  }
  CHECK(known == 50);
  CHECK(runtime().launches() >= launches + 50);
}

TEST_CASE("the profile counts the calls of kernels that are no longer kept") {
  Statements s;
  runtime().reset_profile();
  runtime().set_profiling(true);  // GPUs take times only if asked to
  const auto calls = [] {
    std::int64_t all = 0;
    for (const KernelInfo& info : runtime().kernels()) all += info.calls;
    return all;
  };
  CHECK(calls() == 0);
  const std::int64_t before = runtime().launches();
  for (int i = 1000; i < 1300; ++i) s.run(i);
  CHECK(calls() == runtime().launches() - before);
  double bytes = 0, flops = 0, seconds = 0, build = 0, build_of_gone = 0;
  for (const KernelInfo& info : runtime().kernels()) {
    bytes += info.bytes;
    flops += info.flops;
    seconds += info.seconds;
    build += info.name.starts_with("plus_1") && info.name.size() == 9 ? info.compile_seconds : 0;
    if (info.name != "(no longer kept)") continue;
    build_of_gone += info.compile_seconds;
    CHECK(info.calls > 0);
    CHECK(info.bytes == static_cast<double>(info.calls) * 64 * 2 * 8);
    CHECK(info.flops == static_cast<double>(info.calls) * 64);
    CHECK(info.seconds > 0);
  }
  CHECK(bytes == 300 * 64 * 2 * 8);
  CHECK(flops == 300 * 64);
  CHECK(seconds > 0);
  CHECK(seconds < 10);
  CHECK(build > 0);
  // More have gone than are left of these, at about the same cost each.
  CHECK(build_of_gone > 0.1 * build);
  CHECK(runtime().profile_report().find("(no longer kept)") != std::string::npos);
  runtime().set_profiling(false);
}

TEST_CASE("what was found last stays, what was found least recently goes, and all others are found") {
  KernelTable table;
  const auto key = [](int i) { return "key " + std::to_string(i); };
  for (int i = 0; i < 1000; ++i) table.add(table_key(key(i)), plus(i, 1));
  for (int i = 0; i < 100; ++i) CHECK(table.find(table_key(key(i))) != nullptr);  // used again
  std::size_t all = 0;
  for (const auto& handle : table.handles()) all += handle->memory();
  CHECK(table.shed(all).empty());
  while (table.handles().size() % KernelTable::kLeast != 0)
    table.add(table_key(key(static_cast<int>(table.handles().size()))), plus(0, 1));
  for (int i = 1024; table.handles().size() < 1100; ++i) table.add(table_key(key(i)), plus(i, 1));
  const auto dropped = table.shed(all / 2);
  CHECK(dropped.size() > 600);
  CHECK(dropped.size() + table.handles().size() == 1100);
  for (const auto& handle : dropped) {
    const std::string name(reinterpret_cast<const char*>(handle->key.data()), handle->key.size());
    CHECK(std::stoi(name.substr(4)) >= 100);
    CHECK(table.find(table_key(name)) == nullptr);
  }
  for (int i = 0; i < 100; ++i) CHECK(table.find(table_key(key(i))) != nullptr);
  for (int i = 1090; i < 1100; ++i) CHECK(table.find(table_key(key(i))) != nullptr);

  for (int i = 2000; i < 2300; ++i) table.add(table_key(key(i)), plus(i, 1));
  CHECK(!table.shed(0).empty());
  CHECK(table.handles().size() == KernelTable::kLeast);  // whatever they take
  for (int i = 2300 - static_cast<int>(KernelTable::kLeast); i < 2300; ++i)
    CHECK(table.find(table_key(key(i))) != nullptr);
}

// TABLE_BENCH=<statements>,<additions>: what a kernel really takes, beside the table's own estimate.
TEST_CASE("memory of kernels" * doctest::skip(std::getenv("TABLE_BENCH") == nullptr)) {
  int statements = 0, additions = 0;
  REQUIRE(std::sscanf(std::getenv("TABLE_BENCH"), "%d,%d", &statements, &additions) == 2);
  Statements s;
  for (int i = 0; i < 20; ++i) s.run(i, additions);
  const std::int64_t before = tests::resident_bytes();
  for (int i = 20; i < 20 + statements; ++i) s.run(i, additions);
  MESSAGE("KiB per statement: ", static_cast<double>(tests::resident_bytes() - before) / 1024 / statements,
          ", mappings ", tests::mappings());
}
