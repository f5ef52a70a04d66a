// The run time: launches against plain loops, threads, reductions, counters, overhead.
#include "jit/runtime.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/profile.hpp"
#include "jit/support/error.hpp"
#include "jit/tune/cost.hpp"
#include "tests/jit/settings.hpp"
#include "tests/jit/site_orders.hpp"
#include "tests/skip.hpp"

using namespace jit;
using ir::Type;

namespace {

Runtime& rt() { return Runtime::instance(); }

ir::Place place(int leaf, int slot, int component) {
  return {static_cast<std::int16_t>(leaf), static_cast<std::int16_t>(slot), static_cast<std::int16_t>(component), 0};
}

/// y = a x + y
ir::Kernel axpy(int lanes, int components, bool listed) {
  ir::Kernel kernel;
  kernel.name = "axpy";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.leaves = {{Type::f64, static_cast<std::int16_t>(components), true, false},
                   {Type::f64, static_cast<std::int16_t>(components), true, true}};
  ir::Builder b(kernel);
  const ir::Value a = b.argument(Type::f64);
  for (int c = 0; c < components; ++c)
    kernel.stores.push_back({place(1, 0, c), b.fma(a, b.load(place(0, 0, c)), b.load(place(1, 0, c)))});
  b.finish();
  return kernel;
}

/// Sum, maximum and minimum of all words.
ir::Kernel statistics(int lanes, int components, bool listed) {
  ir::Kernel kernel;
  kernel.name = "statistics";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.leaves = {{Type::f64, static_cast<std::int16_t>(components), true, false}};
  ir::Builder b(kernel);
  ir::Value sum = b.load(place(0, 0, 0)), most = sum, least = sum;
  for (int c = 1; c < components; ++c) {
    const ir::Value x = b.load(place(0, 0, c));
    sum = b.add(sum, x);
    most = b.binary(ir::Op::max, most, x);
    least = b.binary(ir::Op::min, least, x);
  }
  using Kind = ir::Reduction::Kind;
  kernel.reductions = {{Kind::sum, sum}, {Kind::max, most}, {Kind::min, least}};
  b.finish();
  return kernel;
}

/// y = x at the place that slot 1 names.
ir::Kernel shifted_copy(int lanes, bool gathered, LaneExchange exchange = {}) {
  ir::Kernel kernel;
  kernel.name = "shifted_copy";
  kernel.lanes = lanes;
  kernel.slots.push_back({0, gathered, exchange});
  kernel.leaves = {{Type::f64, 1, true, false}, {Type::f64, 1, false, true}};
  ir::Builder b(kernel);
  kernel.stores.push_back({place(1, 0, 0), b.permute(1, b.load(place(0, 1, 0)))});
  b.finish();
  return kernel;
}

KernelHandle* handle(ir::Kernel kernel) {
  const std::string text = ir::print(kernel);
  const TableKey key = table_key(text);
  KernelHandle* known = rt().find(key);
  return known != nullptr ? known : rt().add(key, std::move(kernel));
}

void run(KernelHandle* kernel, const std::vector<Field*>& fields, const Domain& domain,
         const std::vector<double>& scalars = {}, double* results = nullptr, const SiteMap* map = nullptr) {
  std::vector<std::uint64_t> words(scalars.size());
  if (!scalars.empty()) std::memcpy(words.data(), scalars.data(), 8 * scalars.size());
  const SiteMap* maps[] = {nullptr, map};
  const Launch launch{.kernel = kernel, .fields = fields, .maps = maps, .scalars = words, .domain = &domain};
  rt().run({{&launch, 1}, domain.whole, {results, results == nullptr ? 0 : kernel->ir.reductions.size()}});
}

std::vector<double> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(n);
  for (double& x : numbers) x = normal(random) * std::pow(10.0, static_cast<double>(random() % 7) - 3);
  return numbers;
}

std::unique_ptr<Field> field_of(const std::shared_ptr<const SiteOrder>& order, int components,
                                const std::vector<double>& values) {
  auto field = std::make_unique<Field>(order, Type::f64, components);
  std::memcpy(field->host_overwrite(), values.data(), field->host_bytes());
  return field;
}

std::vector<double> values_of(Field& field) {
  const auto* values = static_cast<const double*>(field.host_read());
  return {values, values + field.host_bytes() / sizeof(double)};
}

struct ThreadsGuard {
  int before = rt().threads();
  ~ThreadsGuard() { rt().set_threads(before); }
};

}  // namespace

TEST_CASE("axpy gives the host's numbers on ranges and on lists, for every number of lanes and threads") {
  ThreadsGuard guard;
  for (const int lanes : {1, 2, 8, 16})
    for (const std::int64_t sites : {1, 48, 4096, 20011}) {
      const auto order = tests::random_order(lanes, sites);
      const Domain domain = tests::everything(*order);
      const auto x = random_numbers(static_cast<std::size_t>(3 * sites), 1), y = random_numbers(x.size(), 2);
      for (const int threads : {1, 2, 3}) {
        rt().set_threads(threads);
        const auto fx = field_of(order, 3, x), fy = field_of(order, 3, y);
        run(handle(axpy(lanes, 3, domain.listed)), {fx.get(), fy.get()}, domain, {0.25});
        const auto got = values_of(*fy);
        bool equal = true;
        for (std::size_t i = 0; i < x.size(); ++i) equal = equal && got[i] == std::fma(0.25, x[i], y[i]);
        INFO("lanes ", lanes, " sites ", sites, " threads ", threads);
        CHECK(equal);
        CHECK(fx->host_pointer() != nullptr);  // only read: both sides stay
      }
    }
}

TEST_CASE("the same field may be read and written through different operands") {
  const auto order = tests::random_order(8, 64);
  const Domain domain = tests::everything(*order);
  const auto x = random_numbers(64, 3);
  const auto field = field_of(order, 1, x);
  run(handle(axpy(8, 1, false)), {field.get(), field.get()}, domain, {2.0});
  const auto got = values_of(*field);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(got[i] == std::fma(2.0, x[i], x[i]));
}

TEST_CASE("a list with masks touches its sites only") {
  const auto order = tests::random_order(16, 160);
  Domain domain;
  domain.listed = true;
  domain.groups = {7, 2};
  domain.masks = {0x8001, 0x00f0};
  domain.end = 2;
  domain.sites = 6;
  const auto x = random_numbers(160, 4), y = random_numbers(160, 5);
  const auto fx = field_of(order, 1, x), fy = field_of(order, 1, y);
  run(handle(axpy(16, 1, true)), {fx.get(), fy.get()}, domain, {3.0});
  const auto got = values_of(*fy);
  int changed = 0;
  for (std::size_t p = 0; p < order->host_index.size(); ++p) {
    const auto site = static_cast<std::size_t>(order->host_index[p]);
    const std::size_t group = p / 16, lane = p % 16;
    const bool inside = (group == 7 && (0x8001 >> lane & 1)) || (group == 2 && (0x00f0 >> lane & 1));
    CHECK(got[site] == (inside ? std::fma(3.0, x[site], y[site]) : y[site]));
    changed += inside;
  }
  CHECK(changed == 6);
}

TEST_CASE("a part of the lattice is written, the rest keeps what the host wrote") {
  const auto order = tests::random_order(8, 128);
  Domain domain;
  domain.begin = 8;
  domain.end = 16;
  domain.sites = 64;
  const auto x = random_numbers(128, 6), y = random_numbers(128, 7);
  const auto fx = field_of(order, 1, x), fy = field_of(order, 1, y);
  run(handle(axpy(8, 1, false)), {fx.get(), fy.get()}, domain, {-1.5});
  const auto got = values_of(*fy);
  for (std::size_t p = 0; p < 128; ++p) {
    const auto site = static_cast<std::size_t>(order->host_index[p]);
    CHECK(got[site] == (p >= 64 ? std::fma(-1.5, x[site], y[site]) : y[site]));
  }
}

TEST_CASE(
    "launches side by side are timed together: what all of them move is more than caches hold, what one moves is not; other code is tried of "
    "one kernel at a time") {
  if (!rt().has_caches()) return;
  const ThreadsGuard threads;
  rt().set_threads(1);
  const tests::Setting eager("TESSERA_TUNE", "eager"), assembled("TESSERA_ASSEMBLER", "1");
  const int lanes = rt().lanes();
  constexpr std::int64_t kSites = 8192;
  constexpr std::size_t kSides = 12;
  const auto order = tests::random_order(lanes, kSites);
  const Domain domain = tests::everything(*order);
  std::vector<std::int32_t> group_sources;
  const auto groups = static_cast<int>(kSites / lanes);
  for (int g = 0; g < groups; ++g) group_sources.push_back(2 * ((g + 5) % groups));
  const SiteMap map = SiteMap::structured(group_sources, lanes);
  const SiteMap* maps[] = {nullptr, &map};

  for (const std::size_t kernels : {1, 2}) {
    CAPTURE(kernels);
    std::vector<double> factors;
    std::vector<KernelHandle*> shifted;
    for (std::size_t k = 0; k < kernels; ++k) {
      ir::Kernel kernel = shifted_copy(lanes, false);
      kernel.stores.clear(), kernel.nodes.clear();
      ir::Builder b(kernel);
      factors.push_back(1 + std::random_device()() * 1e-10);  // no earlier run has tried this kernel
      kernel.stores.push_back(
          {place(1, 0, 0), b.mul(b.constant(Type::f64, factors.back()), b.permute(1, b.load(place(0, 1, 0))))});
      b.finish();
      shifted.push_back(handle(kernel));
    }
    std::vector<std::vector<double>> x;
    std::vector<std::unique_ptr<Field>> from, to;
    std::vector<std::vector<Field*>> fields;
    for (std::size_t side = 0; side < kSides; ++side) {
      x.push_back(random_numbers(kSites, static_cast<unsigned>(side)));
      from.push_back(field_of(order, 1, x.back()));
      to.push_back(std::make_unique<Field>(order, Type::f64, 1));
      fields.push_back({from.back().get(), to.back().get()});
    }
    const auto launch = [&](std::size_t sides) {
      std::vector<Launch> parts;
      for (std::size_t side = 0; side < sides; ++side)
        parts.push_back({.kernel = shifted[side % kernels],
                         .fields = fields[side],
                         .maps = maps,
                         .scalars = {},
                         .domain = &domain});
      const auto before = rt().trials();
      rt().run({.parts = parts, .whole = true, .results = {}, .side_by_side = sides > 1});
      return rt().trials() - before;
    };
    for (int i = 0; i < 30; ++i) CHECK(launch(1) == 0);
    constexpr int kRuns = 2000;
    const std::int64_t sides_of_one = kSides / kernels;
    int runs = 0, tried = 0;
    for (; runs < kRuns && (runs == 0 || tried == runs); ++runs) tried += launch(kSides) == sides_of_one;
    CHECK(tried > static_cast<int>(kernels) * 6 * 5);  // at least so many variants and launches of each
    CHECK(runs < kRuns);
    for (int i = 0; i < 30; ++i) CHECK(launch(kSides) == 0);
    for (int i = 0; i < 30; ++i) CHECK(launch(1) == 0);

    for (std::size_t side = 0; side < kSides; ++side) {
      const auto got = values_of(*to[side]);
      int wrong = 0;
      for (std::int64_t p = 0; p < kSites; ++p) {
        const auto source = static_cast<std::size_t>((p / lanes + 5) % groups * lanes + p % lanes);
        const auto site = static_cast<std::size_t>(order->host_index[static_cast<std::size_t>(p)]);
        wrong += got[site] != factors[side % kernels] * x[side][static_cast<std::size_t>(order->host_index[source])];
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("shifts follow their tables, gathered and in groups") {
  const int lanes = 8;
  const auto order = tests::random_order(lanes, 256);
  const Domain domain = tests::everything(*order);
  const auto x = random_numbers(256, 8);

  std::vector<std::int32_t> sources, group_sources;
  for (int p = 0; p < 256; ++p) sources.push_back((p * 37 + 11) % 256);
  for (int g = 0; g < 32; ++g) group_sources.push_back(2 * ((g + 5) % 32) + (g % 3 == 0));
  const SiteMap gather = SiteMap::gathered(sources);

  const auto check = [&](const SiteMap& map, bool gathered, auto&& source) {
    const auto from = field_of(order, 1, x);
    Field to(order, Type::f64, 1);
    run(handle(shifted_copy(lanes, gathered, gathered ? LaneExchange{} : map.exchange())), {from.get(), &to}, domain,
        {}, nullptr, &map);
    const auto got = values_of(to);
    for (int p = 0; p < 256; ++p)
      CHECK(got[static_cast<std::size_t>(order->host_index[static_cast<std::size_t>(p)])] ==
            x[static_cast<std::size_t>(order->host_index[static_cast<std::size_t>(source(p))])]);
  };
  check(gather, true, [](int p) { return (p * 37 + 11) % 256; });
  for (const LaneExchange& exchange : {LaneExchange{.flip = 4}, {.ring = 3, .step = 1}, {4, 3, 3}}) {
    const SiteMap structured = SiteMap::structured(group_sources, lanes, exchange);
    const auto from_groups = [&](int p) {
      const int g = p / 8, l = p % 8, low = (l + exchange.step) % 4;
      return (g + 5) % 32 * 8 + (g % 3 == 0 ? ((exchange.ring != 0 ? l / 4 * 4 + low : l) ^ exchange.flip) : l);
    };
    check(structured, false, from_groups);
    check(structured, true, from_groups);
  }
}

TEST_CASE("reductions have the same bits for every number of threads and lanes") {
  ThreadsGuard guard;
  const std::int64_t sites = 30000;
  const auto x = random_numbers(static_cast<std::size_t>(2 * sites), 9);
  double expected[3] = {};
  long double exact = 0;
  for (std::size_t i = 0; i < x.size(); i += 2) exact += x[i] + x[i + 1];
  bool first = true;
  for (const int lanes : {1, 4, 16}) {
    const auto order = tests::random_order(lanes, sites, 1, 11);  // one group of padding: a list
    const Domain domain = tests::everything(*order);
    for (const int threads : {1, 2, 5}) {
      rt().set_threads(threads);
      const auto field = field_of(order, 2, x);
      double results[3];
      run(handle(statistics(lanes, 2, domain.listed)), {field.get()}, domain, {}, results);
      if (first) std::memcpy(expected, results, sizeof results);
      first = false;
      CHECK(std::memcmp(expected, results, sizeof results) == 0);
    }
  }
  CHECK(expected[0] == doctest::Approx(static_cast<double>(exact)).epsilon(1e-12));
  CHECK(expected[1] == *std::max_element(x.begin(), x.end()));
  CHECK(expected[2] == *std::min_element(x.begin(), x.end()));
}

TEST_CASE("reductions over no site give the neutral elements") {
  const auto order = tests::random_order(8, 64);
  Domain nothing;
  nothing.begin = nothing.end = 3;
  const auto field = field_of(order, 1, random_numbers(64, 10));
  double results[3];
  run(handle(statistics(8, 1, false)), {field.get()}, nothing, {}, results);
  CHECK(results[0] == 0);
  CHECK(results[1] == -std::numeric_limits<double>::infinity());
  CHECK(results[2] == std::numeric_limits<double>::infinity());
}

TEST_CASE("a kernel is compiled once, found by its key, and counted") {
  ir::Kernel kernel = axpy(8, 5, false);
  kernel.name = "counted";
  const TableKey key = table_key("counted axpy");
  CHECK(rt().find(key) == nullptr);
  KernelHandle* made = rt().add(key, kernel);
  CHECK(rt().find(key) == made);
  CHECK_THROWS_WITH_AS(rt().add(key, kernel), doctest::Contains("new key"), InternalError);

  const auto order = tests::random_order(8, 1024);
  const Domain domain = tests::everything(*order);
  const auto x = field_of(order, 5, random_numbers(5 * 1024, 1)), y = field_of(order, 5, random_numbers(5 * 1024, 2));
  const auto launches = rt().launches(), compilations = rt().compilations();
  for (int i = 0; i < 7; ++i) run(made, {x.get(), y.get()}, domain, {1.0});
  CHECK(rt().launches() == launches + 7);
  CHECK(rt().compilations() <= compilations + 1);
  const auto info_of = [&] {
    for (const KernelInfo& info : rt().kernels())
      if (info.name == "counted") return info;
    return KernelInfo{};
  };
  CHECK(info_of().calls == 7);
  CHECK(info_of().bytes == 7.0 * 1024 * 5 * 3 * 8);
  CHECK(info_of().flops == 7.0 * 1024 * 5 * 2);
  CHECK(info_of().seconds > 0);
  CHECK(info_of().compile_seconds > 0);
  CHECK(info_of().hash.size() == 32);
  CHECK(rt().profile_report().find("counted") != std::string::npos);
  rt().reset_profile();
  CHECK(info_of().calls == 0);
  CHECK(rt().profile_report().find("counted") == std::string::npos);
}

TEST_CASE("a profile that is reset counts the same launches alike, number by number") {
  ir::Kernel kernel = axpy(8, 3, false);
  kernel.name = "counted again";
  KernelHandle* made = rt().add(table_key("axpy counted again"), kernel);
  const auto order = tests::random_order(8, 1024);
  const Domain domain = tests::everything(*order);
  const auto x = field_of(order, 3, random_numbers(3 * 1024, 1)), y = field_of(order, 3, random_numbers(3 * 1024, 2));
  const auto info_of = [&] {
    for (const KernelInfo& info : rt().kernels())
      if (info.name == "counted again") return info;
    return KernelInfo{};
  };
  for (int round = 0; round < 3; ++round) {
    rt().reset_profile();
    for (const KernelInfo& info : rt().kernels()) {
      CHECK(info.calls == 0);
      CHECK(info.seconds == 0);
      CHECK(info.bytes == 0);
      CHECK(info.flops == 0);
    }
    for (int i = 0; i < 5; ++i) run(made, {x.get(), y.get()}, domain, {1.0});
    CHECK(info_of().calls == 5);
    CHECK(info_of().bytes == 5.0 * 1024 * 3 * 3 * 8);
    CHECK(info_of().flops == 5.0 * 1024 * 3 * 2);
    CHECK(info_of().seconds > 0);
  }
}

TEST_CASE("the kernel table finds thousands of keys and no other") {
  KernelTable table;
  const ir::Kernel kernel = axpy(4, 1, false);
  std::vector<KernelHandle*> handles;
  const auto name = [](int i) { return "kernel " + std::to_string(i); };
  for (int i = 0; i < 3000; ++i) handles.push_back(table.add(table_key(name(i)), kernel));
  for (int i = 0; i < 3000; ++i) CHECK(table.find(table_key(name(i))) == handles[static_cast<std::size_t>(i)]);
  for (int i = 3000; i < 3100; ++i) CHECK(table.find(table_key(name(i))) == nullptr);
}

TEST_CASE("keys of one hash are told apart by their bytes") {
  KernelTable table;
  const ir::Kernel kernel = axpy(4, 1, false);
  std::vector<KernelHandle*> handles;
  const std::string texts[] = {"", "a", "b", "ab", "ba", std::string(1, '\0'), "a longer one", "a longer One"};
  const auto key = [](const std::string& text) { return TableKey{std::as_bytes(std::span(text)), 255}; };
  for (const std::string& text : texts) {
    CHECK(table.find(key(text)) == nullptr);
    handles.push_back(table.add(key(text), kernel));
  }
  for (std::size_t i = 0; i < handles.size(); ++i) CHECK(table.find(key(texts[i])) == handles[i]);
}

TEST_CASE("operands that do not fit the kernel are refused before anything is touched") {
  const auto order = tests::random_order(8, 64);
  const Domain domain = tests::everything(*order);
  const auto x = field_of(order, 1, random_numbers(64, 1));
  Field wrong_word(order, Type::f32, 1), wrong_components(order, Type::f64, 2),
      wrong_lanes(tests::random_order(4, 64), Type::f64, 1);
  KernelHandle* kernel = handle(axpy(8, 1, false));
  for (Field* wrong : {&wrong_word, &wrong_components, &wrong_lanes}) {
    CHECK_THROWS_WITH_AS(run(kernel, {x.get(), wrong}, domain, {1.0}),
                         doctest::Contains("operand 1 (f64[1]) of kernel axpy"), InternalError);
    CHECK_FALSE(wrong->ever_written());
  }
  Domain list;
  list.listed = true;
  CHECK_THROWS_WITH_AS(run(kernel, {x.get(), x.get()}, list, {1.0}), doctest::Contains("list"), InternalError);
}

TEST_CASE("running out of memory names the kernel and leaves every operand as it was") {
  const auto order = tests::random_order(16, 1 << 14);
  const Domain domain = tests::everything(*order);
  const auto x = random_numbers(1 << 14, 1), y = random_numbers(1 << 14, 2);
  const auto fx = field_of(order, 1, x), fy = field_of(order, 1, y);
  KernelHandle* kernel = handle(axpy(16, 1, false));
  Memory& memory = Memory::instance();
  memory.release_kept();
  memory.set_limit(memory.live_bytes() + fx->device_bytes());  // room for one of the two device sides
  CHECK_THROWS_WITH_AS(run(kernel, {fx.get(), fy.get()}, domain, {1.0}), doctest::Contains("of kernel axpy"),
                       DeviceError);
  memory.set_limit(0);
  CHECK(values_of(*fx) == x);
  CHECK(values_of(*fy) == y);
  run(kernel, {fx.get(), fy.get()}, domain, {1.0});
  CHECK(values_of(*fy)[5] == x[5] + y[5]);
}

TEST_CASE("a kernel in trips and rounds costs what it costs component by component") {
  // y_c = a x_c + y_c, and the sum of all x_c y_c
  const auto kernel = [](int chunk, int trips, int rounds) {
    const int components = chunk * trips * rounds;
    ir::Kernel made;
    made.lanes = 8;
    made.trips = trips;
    made.rounds = rounds;
    made.leaves = {{Type::f64, static_cast<std::int16_t>(components), true, false},
                   {Type::f64, static_cast<std::int16_t>(components), true, true}};
    ir::Builder b(made);
    const ir::Value a = b.argument(Type::f64);
    const auto walking = [&](int leaf, int c) {
      ir::Place p = place(leaf, 0, c);
      p.stride = static_cast<std::int16_t>(trips > 1 ? chunk : 0);
      p.leap = static_cast<std::int16_t>(rounds > 1 ? chunk * trips : 0);
      return p;
    };
    for (int c = 0; c < chunk; ++c) {
      const ir::Value x = b.load(walking(0, c)), y = b.load(walking(1, c));
      made.stores.push_back({walking(1, c), b.fma(a, x, y)});
      made.reductions.push_back({ir::Reduction::Kind::sum, b.mul(x, y)});
    }
    b.finish();
    return made;
  };
  const KernelCost plain = cost(kernel(12, 1, 1));
  CHECK(plain.flops == 12 * (2 + 1 + 1));
  CHECK(plain.bytes == 12 * 3 * 8);
  for (const auto& [chunk, trips, rounds] : {std::array{6, 2, 1}, {1, 12, 1}, {2, 2, 3}, {3, 1, 4}}) {
    CAPTURE(chunk);
    CAPTURE(trips);
    const KernelCost in_trips = cost(kernel(chunk, trips, rounds));
    CHECK(in_trips.flops == plain.flops);
    CHECK(in_trips.operations == plain.operations);
    CHECK(in_trips.bytes == plain.bytes);
    CHECK(in_trips.bytes_of_part == plain.bytes_of_part);
    CHECK(in_trips.stored == plain.stored);
  }
}

TEST_CASE("costs count operands once, neighbours of the other checkerboard apart, fma as two") {
  const KernelCost plain = cost(axpy(16, 3, false));
  CHECK(plain.bytes == 3 * 3 * 8);
  CHECK(plain.stored == 3 * 8);
  CHECK(plain.bytes_of_part == plain.bytes);
  CHECK(plain.flops == 6);
  CHECK(plain.reads_written);
  CHECK_FALSE(plain.structured);

  // y = x(here) * x(there): one field on the whole lattice, two checkerboards of it for one checkerboard of y.
  ir::Kernel kernel;
  kernel.slots.push_back({0, false, 0});
  kernel.leaves = {{Type::f32, 1, true, false}, {Type::f32, 1, false, true}};
  ir::Builder b(kernel);
  kernel.stores.push_back({place(1, 0, 0), b.mul(b.load(place(0, 0, 0)), b.permute(1, b.load(place(0, 1, 0))))});
  b.finish();
  CHECK(cost(kernel).bytes == 8);
  CHECK(cost(kernel).bytes_of_part == 12);
  CHECK(cost(kernel).stored == 4);
  CHECK(cost(kernel).flops == 1);
  CHECK(cost(kernel).structured);
  CHECK_FALSE(cost(kernel).shares_neighbours);

  // y = x(here) + x(there) + x(elsewhere): worth keeping.
  ir::Kernel shared;
  for (int i = 0; i < 2; ++i) shared.slots.push_back({0, false, 0});
  shared.leaves = {{Type::f32, 1, true, false}, {Type::f32, 1, false, true}};
  ir::Builder s(shared);
  ir::Value sum = s.load(place(0, 0, 0));
  for (int slot = 1; slot <= 2; ++slot) sum = s.add(sum, s.load(place(0, slot, 0)));
  shared.stores.push_back({place(1, 0, 0), sum});
  s.finish();
  CHECK(cost(shared).shares_neighbours);

  // y = (x_i + x_i) + x_j, components by number: those of two arguments are two words, one twice is one.
  ir::Kernel numbered;
  numbered.leaves = {{Type::f32, 4, true, false}, {Type::f32, 1, false, true}};
  ir::Builder n(numbered);
  n.argument(Type::i32), n.argument(Type::i32);
  const auto component = [&](std::int16_t argument) { return n.load({.leaf = 0, .shifted_by = argument}); };
  numbered.stores.push_back({place(1, 0, 0), n.add(n.add(component(0), component(0)), component(1))});
  n.finish();
  CHECK(cost(numbered).bytes == 12);
}

TEST_CASE("each operation costs what the table of costs says, on floating-point words only") {
  using enum ir::Op;
  ir::Kernel none;
  none.leaves = {{Type::f64, 1, true, false}, {Type::f64, 1, false, true}};
  none.nodes = {{.op = load, .type = Type::f64}};
  none.stores = {{place(1, 0, 0), 0}};
  const KernelCost empty = cost(none);
  CHECK(empty.flops == 0);
  CHECK(empty.operations == 2);  // a load and a store
  for (const auto& [op, flops] : std::vector<std::pair<ir::Op, double>>{
           {add, 1},  {sub, 1},     {mul, 1},    {div, 1},     {rem, 1},      {fma, 2},     {min, 1},
           {max, 1},  {sqrt, 1},    {floor, 1},  {ceil, 1},    {sin, 1},      {atan, 1},    {tanh, 1},
           {exp, 1},  {log10, 1},   {pow, 1},    {atan2, 1},   {fmod, 1},     {neg, 0},     {abs, 0},
           {load, 0}, {permute, 0}, {select, 0}, {convert, 0}, {constant, 0}, {argument, 0}}) {
    CAPTURE(static_cast<int>(op));
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
      ir::Kernel kernel = none;
      kernel.nodes.push_back({.op = op, .type = type, .a = 0, .b = 0, .c = 0});
      const KernelCost with = cost(kernel);
      CHECK(with.flops == (type == Type::i32 ? 0 : flops));
      CHECK(with.operations == empty.operations + (op == constant || op == argument ? 0 : 1));
    }
  }
  ir::Kernel summing = none;
  summing.reductions = {{ir::Reduction::Kind::sum, 0}, {ir::Reduction::Kind::max, 0}};
  CHECK(cost(summing).flops == 2);
  CHECK(cost(summing).operations == empty.operations + 2 * 6);
}

TEST_CASE("every number of a profile stands in its row, and what cannot be known is a dash") {
  const auto row = [](const char* name, std::int64_t calls, double seconds, double bytes, double flops, double build) {
    KernelInfo info;
    info.name = name;
    info.calls = calls;
    info.seconds = seconds;
    info.bytes = bytes;
    info.flops = flops;
    info.compile_seconds = build;
    return info;
  };
  std::vector<KernelInfo> kernels = {row("quick", 7, 0.125, 5e8, 1e9, 0.0015), row("slow", 3, 0.5, 1.5e9, 5e8, 0.25)};
  kernels[0].hash = "0123456789";
  const std::string head = "     calls     seconds      %      GB/s  /triad   GFLOP/s  build ms  kernel\n";
  CHECK(format_profile(kernels, 10e9, "title") ==
        "title\ntriad: 10.00 GB/s\n" + head +
            "         3    0.500000   80.0      3.00    0.30      1.00     250.0  slow\n"
            "         7    0.125000   20.0      4.00    0.40      8.00       1.5  quick 01234567\n"
            "        10    0.625000  100.0      3.20    0.32      2.40     251.5  all kernels\n");
  CHECK(format_profile({&kernels[1], 1}, 0, "t") ==
        "t\n" + head +
            "         3    0.500000  100.0      3.00       -      1.00     250.0  slow\n"
            "         3    0.500000  100.0      3.00       -      1.00     250.0  all kernels\n");
  CHECK(format_profile({}, 0, "t") ==
        "t\n" + head + "         0    0.000000    0.0      0.00       -      0.00       0.0  all kernels\n");
}

TEST_CASE("the profile is sorted by time and adds up") {
  const auto row = [](const char* name, std::int64_t calls, double seconds, double bytes, double flops) {
    KernelInfo info;
    info.name = name;
    info.hash = "0123456789";
    info.calls = calls;
    info.seconds = seconds;
    info.bytes = bytes;
    info.flops = flops;
    return info;
  };
  std::vector<KernelInfo> kernels = {row("short", 10, 0.25, 1e9, 2e9), row("idle", 0, 0, 0, 0),
                                     row("long", 2, 0.75, 3e9, 3e9)};
  kernels[2].configuration = "block 256, sites 2";
  kernels[0].compile_seconds = 0.0125, kernels[2].compile_seconds = 0.5;
  const std::string text = format_profile(kernels, 8e9, "title");
  CHECK(text.find("title") == 0);
  CHECK(text.find("long") < text.find("short 01234567"));
  CHECK(text.find("idle") == std::string::npos);
  CHECK(text.find("long 01234567 [block 256, sites 2]\n") != std::string::npos);
  CHECK(text.find("short 01234567\n") != std::string::npos);
  CHECK(text.find("75.0") != std::string::npos);                 // % of the time
  CHECK(text.find("0.50") != std::string::npos);                 // 4 of 8 GB/s
  CHECK(text.find("   12 ") != std::string::npos);               // calls in all
  CHECK(text.find(" 512.5  all kernels") != std::string::npos);  // ms of compilation
}

TEST_CASE("threads below one are refused") {
  const int before = rt().threads();
  CHECK_THROWS_WITH_AS(rt().set_threads(0), doctest::Contains("expected 1 to 4096, got 0"), UserError);
  CHECK(rt().threads() == before);
}

TEST_CASE("a launch on a tiny lattice costs less than twenty readings of the clock") {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  tests::note_skipped("times are of optimised builds without sanitizers");
#else
  if (Residency::instance().separate()) return tests::note_skipped("launches of GPUs cost what their drivers take");
  const auto order = tests::random_order(rt().lanes(), 16);
  Domain domain;
  domain.end = order->groups;
  domain.sites = 16;
  domain.whole = true;
  Field x(order, Type::f64, 6), y(order, Type::f64, 6);
  std::memset(x.host_overwrite(), 0, x.host_bytes());
  std::memset(y.host_overwrite(), 0, y.host_bytes());
  Field* fields[] = {&x, &y};
  const double a = 0.5;
  std::uint64_t scalar;
  std::memcpy(&scalar, &a, 8);
  const Launch launch{.kernel = handle(axpy(rt().lanes(), 6, false)),
                      .fields = fields,
                      .maps = {},
                      .scalars = {&scalar, 1},
                      .domain = &domain};
  const Plan plan{{&launch, 1}, true, {}};
  rt().run(plan);
  using Clock = std::chrono::steady_clock;
  auto best_launch = Clock::duration::max(), best_clock = best_launch;
  for (int batch = 0; batch < 50; ++batch) {
    auto start = Clock::now();
    for (int i = 0; i < 200; ++i) rt().run(plan);
    best_launch = std::min(best_launch, Clock::now() - start);
    start = Clock::now();
    for (int i = 0; i < 200; ++i) (void)Clock::now();
    best_clock = std::min(best_clock, Clock::now() - start);
  }
  INFO("launch ", best_launch.count() / 200, " ns, clock ", best_clock.count() / 200, " ns");
  CHECK(best_launch < 20 * best_clock);
#endif
}
