// TESSERA_CHECK=1 and TESSERA_PROFILE: what they find and write. A process of its own, because both are read at the start.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Type;

namespace {

const std::string profile_file =
    std::filesystem::temp_directory_path() / ("tessera_profile_" + std::to_string(getpid()));

Runtime& checked_runtime() {
  static const bool ready = [] {
    setenv("TESSERA_CHECK", "1", 1);
    setenv("TESSERA_PROFILE", profile_file.c_str(), 1);
    reload_env();
    return true;
  }();
  (void)ready;
  return Runtime::instance();
}

/// y = x / x, read in the frame of slot 1 if there is a map.
KernelHandle* quotient(bool shifted, bool gathered, bool listed) {
  ir::Kernel kernel;
  kernel.name = "quotient";
  kernel.lanes = 4;
  kernel.listed = listed;
  if (shifted) kernel.slots.push_back({0, gathered, 0});
  kernel.leaves = {{Type::f32, 2, true, false}, {Type::f32, 2, false, true}};
  ir::Builder b(kernel);
  for (std::int16_t c = 0; c < 2; ++c) {
    ir::Value x = b.load({0, static_cast<std::int16_t>(shifted), c, 0});
    if (shifted) x = b.permute(1, x);
    kernel.stores.push_back({{1, 0, c, 0}, b.div(x, x)});
  }
  b.finish();
  const std::string text = ir::print(kernel);
  const TableKey key = table_key(text);
  KernelHandle* known = checked_runtime().find(key);
  return known != nullptr ? known : checked_runtime().add(key, kernel);
}

void run(KernelHandle* kernel, Field& x, Field& y, const Domain& domain, const SiteMap* map = nullptr) {
  Field* fields[] = {&x, &y};
  const SiteMap* maps[] = {nullptr, map};
  const Launch launch{.kernel = kernel, .fields = fields, .maps = maps, .scalars = {}, .domain = &domain};
  checked_runtime().run({{&launch, 1}, domain.whole, {}});
}

}  // namespace

TEST_CASE("reading a field that was never written is an error that names operand and kernel") {
  checked_runtime();
  const auto order = tests::random_order(4, 32);
  Field x(order, Type::f32, 2), y(order, Type::f32, 2);
  CHECK_THROWS_WITH_AS(run(quotient(false, false, false), x, y, tests::everything(*order)),
                       doctest::Contains("never written (operand 0 (f32[2]) of kernel quotient)"), UserError);
  CHECK_FALSE(y.ever_written());
}

TEST_CASE("a result that is not a number is an error that names site and word, outside of the domain it is not") {
  checked_runtime();
  for (const std::int64_t sites : {32, 30}) {
    const auto order = tests::random_order(4, sites);
    Field x(order, Type::f32, 2), y(order, Type::f32, 2);
    auto* values = static_cast<float*>(x.host_overwrite());
    for (std::int64_t i = 0; i < 2 * sites; ++i) values[i] = 1;
    const Domain all = tests::everything(*order);
    CHECK_NOTHROW(run(quotient(false, false, all.listed), x, y, all));
    static_cast<float*>(x.host_write())[2 * 13 + 1] = 0;
    CHECK_THROWS_WITH_AS(run(quotient(false, false, all.listed), x, y, all),
                         doctest::Contains("operand 1 (f32[2]) of kernel quotient, site 13, word 1"), UserError);
    Domain others;
    others.listed = true;
    others.groups = {order->position[13] / 4};
    others.masks = {~(std::uint64_t{1} << (order->position[13] % 4))};
    others.end = 1;
    others.sites = 3;
    CHECK_NOTHROW(run(quotient(false, false, true), x, y, others));
  }
}

TEST_CASE("no word of any shape escapes") {
  checked_runtime();
  const auto order = tests::random_order(4, 30, 1);
  const Domain all = tests::everything(*order);
  for (const Type word : {Type::f32, Type::f64})
    for (const int components : {1, 2, 18, 24, 25, 72, 288}) {
      CAPTURE(components);
      ir::Kernel kernel;
      kernel.name = "double";
      kernel.lanes = 4;
      kernel.listed = true;
      kernel.trips = components;
      kernel.leaves = {{word, static_cast<std::int16_t>(components), true, false},
                       {word, static_cast<std::int16_t>(components), false, true}};
      ir::Builder b(kernel);
      const ir::Value loaded = b.load({0, 0, 0, 1});
      kernel.stores.push_back({{1, 0, 0, 1}, b.add(loaded, loaded)});
      b.finish();
      KernelHandle* twice = checked_runtime().add(table_key(ir::print(kernel)), kernel);
      Field x(order, word, components), y(order, word, components);
      const auto set = [&](std::int64_t site, int component, double value) {
        const auto i = static_cast<std::size_t>(site * components + component);
        if (word == Type::f32)
          static_cast<float*>(x.host_write())[i] = static_cast<float>(value);
        else
          static_cast<double*>(x.host_write())[i] = value;
      };
      for (std::int64_t site = 0; site < order->sites; ++site)
        for (int c = 0; c < components; ++c) set(site, c, c % 2 == 0 ? std::numeric_limits<double>::infinity() : -1);
      CHECK_NOTHROW(run(twice, x, y, all));
      for (int c = 0; c < components; ++c) {
        const std::int64_t site = (7 * c + 3) % order->sites;
        set(site, c, std::numeric_limits<double>::quiet_NaN());
        const std::string where = "site " + std::to_string(site) + ", word " + std::to_string(c);
        CHECK_THROWS_WITH_AS(run(twice, x, y, all), doctest::Contains(where.c_str()), UserError);
        set(site, c, 1);
      }
      CHECK_NOTHROW(run(twice, x, y, all));
    }
}

TEST_CASE("a NaN that is only moved was made by nobody; what arithmetic makes of it is reported") {
  checked_runtime();
  const auto order = tests::random_order(4, 32);
  const Domain all = tests::everything(*order);
  for (const bool arithmetic : {false, true}) {
    ir::Kernel kernel;
    kernel.name = "moves";
    kernel.lanes = 4;
    kernel.leaves = {{Type::f32, 1, true, false}, {Type::f64, 1, false, true}};
    ir::Builder b(kernel);
    const ir::Value x = b.load({0, 0, 0, 0}), zero = b.constant(Type::f32, 0);
    ir::Value moved = b.select(b.binary(ir::Op::lt, x, zero), zero, b.neg(x));
    if (arithmetic) moved = b.unary(ir::Op::abs, moved);
    kernel.stores.push_back({{1, 0, 0, 0}, b.convert(Type::f64, moved)});
    b.finish();
    Field from(order, Type::f32, 1), to(order, Type::f64, 1);
    auto* values = static_cast<float*>(from.host_overwrite());
    for (int i = 0; i < 32; ++i) values[i] = i == 5 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
    KernelHandle* handle = checked_runtime().add(table_key(ir::print(kernel)), kernel);
    if (arithmetic)
      CHECK_THROWS_WITH_AS(run(handle, from, to, all), doctest::Contains("site 5"), UserError);
    else
      CHECK_NOTHROW(run(handle, from, to, all));
  }
}

TEST_CASE("a table that leaves the lattice is found before it is used") {
  checked_runtime();
  const auto order = tests::random_order(4, 32);
  Field x(order, Type::f32, 2), y(order, Type::f32, 2);
  auto* values = static_cast<float*>(x.host_overwrite());
  for (int i = 0; i < 64; ++i) values[i] = 1;
  const auto run_with = [&](const SiteMap& map) {
    run(quotient(true, !map.is_structured(), false), x, y, tests::everything(*order), &map);
  };
  std::vector<std::int32_t> sources(32, 31), group_sources(8, 15);
  CHECK_NOTHROW(run_with(SiteMap::gathered(sources)));
  sources[7] = 32;
  CHECK_THROWS_WITH_AS(run_with(SiteMap::gathered(sources)), doctest::Contains("0..31, got 32"), InternalError);
  CHECK_NOTHROW(run_with(SiteMap::structured(group_sources, 4)));
  group_sources[3] = -1;
  CHECK_THROWS_WITH_AS(run_with(SiteMap::structured(group_sources, 4)), doctest::Contains("0..15, got -1"),
                       InternalError);
}

TEST_CASE("finalize writes the profile") {
  checked_runtime().finalize();
  const std::string text = read_file(profile_file);
  CHECK(text.find("quotient") != std::string::npos);
  CHECK(text.find("triad") != std::string::npos);
  std::filesystem::remove(profile_file);
}
