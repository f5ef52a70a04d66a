// Plans: several launches that are one statement. On the simulated GPU, where every field that the statement at hand does
// not need leaves the device.
#include "jit/runtime.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Type;

namespace {

// Before anything opens the process's device.
[[maybe_unused]] const int simulated =
    setenv("TESSERA_DEVICE", "sim", 1) + setenv("TESSERA_SPILL", "1", 1) + setenv("TESSERA_MEM_MAX", "8M", 1);

Runtime& rt() { return Runtime::instance(); }

constexpr int kComponents = 2;
constexpr std::int64_t kSites = 1000;

ir::Place place(int leaf, int component) {
  return {static_cast<std::int16_t>(leaf), 0, static_cast<std::int16_t>(component), 0};
}

KernelHandle* handle(ir::Kernel kernel) {
  const std::string text = ir::print(kernel);
  const TableKey key = table_key(text);
  KernelHandle* known = rt().find(key);
  return known != nullptr ? known : rt().add(key, std::move(kernel));
}

/// y = 2 x + 1
KernelHandle* doubled(int lanes, bool listed) {
  ir::Kernel kernel;
  kernel.name = "doubled";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.leaves = {{Type::f64, kComponents, true, false}, {Type::f64, kComponents, false, true}};
  ir::Builder b(kernel);
  for (int c = 0; c < kComponents; ++c)
    kernel.stores.push_back(
        {place(1, c), b.fma(b.constant(Type::f64, 2), b.load(place(0, c)), b.constant(Type::f64, 1))});
  b.finish();
  return handle(std::move(kernel));
}

/// Sum, largest and smallest of the first components.
KernelHandle* statistics(int lanes, bool listed) {
  ir::Kernel kernel;
  kernel.name = "statistics";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.leaves = {{Type::f64, kComponents, true, false}};
  ir::Builder b(kernel);
  const ir::Value x = b.load(place(0, 0));
  using Kind = ir::Reduction::Kind;
  kernel.reductions = {{Kind::sum, x}, {Kind::max, x}, {Kind::min, x}};
  b.finish();
  return handle(std::move(kernel));
}

struct Lattice {
  std::shared_ptr<const SiteOrder> order = tests::random_order(rt().lanes(), kSites);
  Domain all = tests::everything(*order);
  std::mt19937_64 random{7};

  /// Every site in one of n parts, at random: as lists of groups with masks. Some parts may be empty.
  std::vector<Domain> split(int n) {
    std::vector<Domain> parts(static_cast<std::size_t>(n));
    for (Domain& part : parts) part.listed = true;
    for (std::int64_t g = 0; g < order->groups; ++g) {
      std::vector<std::uint64_t> masks(parts.size());
      for (int l = 0; l < order->lanes; ++l)
        if (order->host_index[static_cast<std::size_t>(g * order->lanes + l)] >= 0)
          masks[random() % parts.size()] |= std::uint64_t{1} << l;
      for (std::size_t p = 0; p < parts.size(); ++p)
        if (masks[p] != 0) {
          parts[p].groups.push_back(static_cast<std::int32_t>(g));
          parts[p].masks.push_back(masks[p]);
          parts[p].sites += std::popcount(masks[p]);
        }
    }
    for (Domain& part : parts) part.end = static_cast<std::int64_t>(part.groups.size());
    return parts;
  }

  std::unique_ptr<Field> field() const { return std::make_unique<Field>(order, Type::f64, kComponents); }
  /// Numbers of very different sizes, on the host.
  std::unique_ptr<Field> filled() {
    auto made = field();
    auto* x = static_cast<double*>(made->host_overwrite());
    for (std::int64_t i = 0; i < kSites * kComponents; ++i)
      x[i] = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 200) - 100);
    return made;
  }
};

std::vector<double> values_of(Field& field) {
  const auto* x = static_cast<const double*>(field.host_read());
  return {x, x + kSites * kComponents};
}

/// Launches of one kernel, a part for each domain.
std::vector<Launch> launches(std::span<Field* const> fields, const std::vector<Domain>& domains, auto&& kernel) {
  std::vector<Launch> parts;
  for (const Domain& domain : domains)
    parts.push_back({.kernel = kernel(domain.listed), .fields = fields, .maps = {}, .scalars = {}, .domain = &domain});
  return parts;
}

}  // namespace

TEST_CASE("parts that cover the lattice do what one launch does, and operands cross once") {
  Lattice lattice;
  const int lanes = rt().lanes();
  Residency& residency = Residency::instance();
  for (const int n : {1, 2, 5, 40}) {
    CAPTURE(n);
    const auto x = lattice.filled(), y = lattice.filled();
    const auto expected = values_of(*x);
    const std::vector<Domain> domains = lattice.split(n);
    Field* fields[] = {x.get(), y.get()};
    const auto parts = launches(fields, domains, [&](bool listed) { return doubled(lanes, listed); });
    residency.reset_transfers();
    const auto launched = rt().launches();
    rt().run({.parts = parts, .whole = true, .results = {}});
    CHECK(rt().launches() == launched + n);
    CHECK(residency.transfers().in == 1);  // x; what y held is written over
    CHECK(residency.transfers().spilled == 0);
    const auto got = values_of(*y);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == std::fma(2.0, expected[i], 1.0));
  }
}

TEST_CASE("parts that leave sites out keep what the host has there") {
  Lattice lattice;
  const int lanes = rt().lanes();
  Residency& residency = Residency::instance();
  for (const bool on_host : {true, false}) {
    const auto x = lattice.filled(), y = lattice.filled();
    const auto source = values_of(*x), before = values_of(*y);
    std::vector<Domain> domains = lattice.split(3);
    const Domain left_out = domains.back();
    domains.pop_back();
    if (!on_host) {  // the only valid copy is an image: it was driven out
      (void)y->device_write(true);
      std::memcpy(y->host_overwrite(), before.data(), y->host_bytes());
      Field* own[] = {y.get(), x.get()};
      const Launch other{.kernel = statistics(lanes, lattice.all.listed),
                         .fields = {own, 1},
                         .maps = {},
                         .scalars = {},
                         .domain = &lattice.all};
      double results[3];
      rt().run({.parts = {&other, 1}, .whole = false, .results = results});
    }
    Field* fields[] = {x.get(), y.get()};
    const auto parts = launches(fields, domains, [&](bool listed) { return doubled(lanes, listed); });
    residency.reset_transfers();
    rt().run({.parts = parts, .whole = false, .results = {}});
    CHECK(residency.transfers().in == (on_host ? 2 : 1));
    const auto got = values_of(*y);
    std::vector<bool> kept(kSites, false);
    for (std::size_t i = 0; i < left_out.groups.size(); ++i)
      for (int l = 0; l < lanes; ++l)
        if ((left_out.masks[i] >> l & 1) != 0)
          kept[static_cast<std::size_t>(
              lattice.order->host_index[static_cast<std::size_t>(left_out.groups[i] * lanes + l)])] = true;
    for (std::size_t s = 0; s < kSites; ++s)
      for (std::size_t c = 0; c < kComponents; ++c) {
        const std::size_t i = s * kComponents + c;
        CHECK(got[i] == (kept[s] ? before[i] : std::fma(2.0, source[i], 1.0)));
      }
  }
}

TEST_CASE("a part may read what a part before it wrote, for the first time or anew") {
  Lattice lattice;
  const int lanes = rt().lanes();
  const auto x = lattice.filled(), z = lattice.field();
  const auto source = values_of(*x);
  for (const bool fresh : {true, false}) {
    const auto y = fresh ? lattice.field() : lattice.filled();
    Field *first[] = {x.get(), y.get()}, *second[] = {y.get(), z.get()};
    const Launch parts[] = {{.kernel = doubled(lanes, lattice.all.listed),
                             .fields = first,
                             .maps = {},
                             .scalars = {},
                             .domain = &lattice.all},
                            {.kernel = doubled(lanes, lattice.all.listed),
                             .fields = second,
                             .maps = {},
                             .scalars = {},
                             .domain = &lattice.all}};
    rt().run({.parts = parts, .whole = true, .results = {}});
    const auto middle = values_of(*y), last = values_of(*z);
    for (std::size_t i = 0; i < source.size(); ++i) {
      CHECK(middle[i] == std::fma(2.0, source[i], 1.0));
      CHECK(last[i] == std::fma(2.0, middle[i], 1.0));
    }
  }
}

TEST_CASE("reductions of parts join with the bits of the whole, each in its own results or in those of another") {
  Lattice lattice;
  const int lanes = rt().lanes();
  const auto x = lattice.filled();
  Field* fields[] = {x.get()};
  const auto kernel = [&](bool listed) { return statistics(lanes, listed); };
  std::vector<double> whole(3);
  const std::vector<Domain> everything{lattice.all};
  const auto one = launches(fields, everything, kernel);
  rt().run({.parts = one, .whole = false, .results = whole});
  const auto values = values_of(*x);
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t s = 0; s < kSites; ++s) most = std::max(most, values[static_cast<std::size_t>(s * kComponents)]);
  CHECK(whole[1] == most);

  for (const int n : {2, 7, 64}) {
    const std::vector<Domain> domains = lattice.split(n);
    auto parts = launches(fields, domains, kernel);
    std::vector<double> joined(3);
    rt().run({.parts = parts, .whole = false, .results = joined});
    CHECK(joined == whole);

    // Apart, and the second half of the parts joined to the first half in turn.
    std::vector<double> apart(static_cast<std::size_t>(3 * n)), folded(static_cast<std::size_t>(3 * (n - n / 2)));
    for (int p = 0; p < n; ++p) parts[static_cast<std::size_t>(p)].result = 3 * p;
    rt().run({.parts = parts, .whole = false, .results = apart});
    for (int p = n - n / 2; p < n; ++p) parts[static_cast<std::size_t>(p)].result = 3 * (p - (n - n / 2));
    rt().run({.parts = parts, .whole = false, .results = folded});
    double largest = -std::numeric_limits<double>::infinity(), of_folded = largest;
    for (int p = 0; p < n; ++p) {
      const Launch& part = parts[static_cast<std::size_t>(p)];
      double alone[3];
      Launch single = part;
      single.result = 0;
      rt().run({.parts = {&single, 1}, .whole = false, .results = alone});
      for (int r = 0; r < 3; ++r) CHECK(apart[static_cast<std::size_t>(3 * p + r)] == alone[r]);
      largest = std::max(largest, alone[1]);
    }
    for (std::size_t p = 0; p < folded.size(); p += 3) of_folded = std::max(of_folded, folded[p + 1]);
    CHECK(largest == whole[1]);
    CHECK(of_folded == whole[1]);
  }
}

TEST_CASE("results that no part before has given, or that are not there, are refused before anything is lost") {
  Lattice lattice;
  const auto x = lattice.filled();
  Field* fields[] = {x.get()};
  const std::vector<Domain> everything{lattice.all};
  auto parts = launches(fields, everything, [&](bool listed) { return statistics(rt().lanes(), listed); });
  std::vector<double> results(3);
  parts[0].result = 1;
  CHECK_THROWS_WITH_AS(rt().run({.parts = parts, .whole = false, .results = results}), doctest::Contains("1..4"),
                       InternalError);
  parts[0].result = 0;
  CHECK_THROWS_AS(rt().run({.parts = parts, .whole = false, .results = {results.data(), 2}}), InternalError);
  CHECK_NOTHROW(rt().run({.parts = parts, .whole = false, .results = results}));
}

TEST_CASE("operands of all parts are needed at once: too little memory stops the plan before its first launch") {
  Lattice lattice;
  const int lanes = rt().lanes();
  const auto order = tests::random_order(lanes, 100000);
  const Domain all = tests::everything(*order);
  std::vector<std::unique_ptr<Field>> fields;  // 1.6 MB each
  std::vector<std::vector<Field*>> pairs;
  std::vector<Launch> parts;
  for (int i = 0; i < 8; ++i) {
    fields.push_back(std::make_unique<Field>(order, Type::f64, kComponents));
    std::fill_n(static_cast<double*>(fields.back()->host_overwrite()), 2 * 100000, i);
  }
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) pairs.push_back({fields[i].get(), fields[i + 1].get()});
  for (const auto& pair : pairs)
    parts.push_back({.kernel = doubled(lanes, all.listed), .fields = pair, .maps = {}, .scalars = {}, .domain = &all});
  const auto launched = rt().launches();
  CHECK_THROWS_WITH_AS(rt().run({.parts = parts, .whole = true, .results = {}}), doctest::Contains("operand"),
                       DeviceError);
  CHECK(rt().launches() == launched);
  for (int i = 0; i < 8; ++i)
    CHECK(static_cast<const double*>(fields[static_cast<std::size_t>(i)]->host_read())[77] == i);
  for (const Launch& part : parts)
    rt().run({.parts = {&part, 1}, .whole = true, .results = {}});  // one by one they fit
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(static_cast<const double*>(fields[i]->host_read())[77] == (i % 2 == 0 ? i : 2.0 * (i - 1) + 1));
}
