// Launches need memory beside fields, for the stacks of kernels: fields leave the GPU for it. A process of its own, because
// the simulated GPU is made at the start.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Type;

namespace {

constexpr std::int64_t kSites = 16384;
constexpr std::size_t kField = kSites * sizeof(double);
constexpr std::size_t kMemory = 16 * kField, kStack = 5 * kField;

Runtime& runtime() {
  static const bool ready = [] {
    setenv("TESSERA_DEVICE", "sim", 1);
    setenv("TESSERA_SIM_MEMORY", std::to_string(kMemory).c_str(), 1);
    setenv("TESSERA_SIM_FAULT", ("stack:" + std::to_string(kStack)).c_str(), 1);
    unsetenv("TESSERA_SPILL");
    unsetenv("TESSERA_MEM_MAX");
    reload_env();
    return true;
  }();
  (void)ready;
  return Runtime::instance();
}

/// The first leaf is the sum of all.
KernelHandle* sum_of(int leaves) {
  ir::Kernel kernel;
  kernel.name = "sum_of_" + std::to_string(leaves);
  kernel.lanes = 32;
  kernel.leaves.assign(static_cast<std::size_t>(leaves), {Type::f64, 1, true, false});
  kernel.leaves[0].written = true;
  ir::Builder b(kernel);
  ir::Value sum = b.load({0, 0, 0, 0});
  for (int i = 1; i < leaves; ++i) sum = b.add(sum, b.load({static_cast<std::int16_t>(i), 0, 0, 0}));
  kernel.stores.push_back({{0, 0, 0, 0}, sum});
  b.finish();
  const std::string text = ir::print(kernel);
  const TableKey key = table_key(text);
  KernelHandle* known = runtime().find(key);
  return known != nullptr ? known : runtime().add(key, kernel);
}

struct Fields {
  explicit Fields(int n) {
    for (int i = 0; i < n; ++i) {
      fields.push_back(std::make_unique<Field>(order, Type::f64, 1));
      auto* words = static_cast<double*>(fields.back()->host_overwrite());
      for (std::int64_t s = 0; s < kSites; ++s) words[s] = static_cast<double>(100 * i + s % 7);
    }
  }
  double at(int i, std::int64_t site) {
    return static_cast<const double*>(fields[static_cast<std::size_t>(i)]->host_read())[site];
  }
  void add(const std::vector<int>& which) {
    std::vector<Field*> operands;
    for (const int i : which) operands.push_back(fields[static_cast<std::size_t>(i)].get());
    const Domain domain = tests::everything(*order);
    const Launch launch{.kernel = sum_of(static_cast<int>(which.size())),
                        .fields = operands,
                        .maps = {},
                        .scalars = {},
                        .domain = &domain};
    runtime().run({{&launch, 1}, domain.whole, {}});
  }

  Runtime& ready = runtime();
  std::shared_ptr<const SiteOrder> order = tests::random_order(32, kSites);
  std::vector<std::unique_ptr<Field>> fields;
};

}  // namespace

TEST_CASE("fields leave the GPU when a launch finds no memory for its stacks, and the results are right") {
  Fields f(20);
  Residency& residency = Residency::instance();
  residency.reset_transfers();
  std::vector<double> expected;  // at site 3
  for (int i = 0; i < 20; ++i) expected.push_back(100 * i + 3);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 20; ++i) {
      f.add({i, (i + 7) % 20, (i + 1) % 20});
      expected[static_cast<std::size_t>(i)] +=
          expected[static_cast<std::size_t>((i + 7) % 20)] + expected[static_cast<std::size_t>((i + 1) % 20)];
    }
  CHECK(residency.transfers().spilled > 0);
  CHECK(residency.resident_fields() * static_cast<std::int64_t>(kField) <= static_cast<std::int64_t>(kMemory - kStack));
  for (int i = 0; i < 20; ++i) CHECK(f.at(i, 3) == expected[static_cast<std::size_t>(i)]);
}

TEST_CASE("blocks that are kept for reuse go first") {
  {
    Fields f(6);
    f.add({0, 1, 2, 3, 4, 5});
  }  // six blocks are free, and kept
  CHECK(Memory::instance().kept_bytes() > 0);
  Fields f(6);
  Residency::instance().reset_transfers();
  f.add({0, 1, 2, 3, 4, 5});
  CHECK(Residency::instance().transfers().spilled == 0);
  CHECK(f.at(0, 3) == 1518);
}

TEST_CASE("a statement that leaves no memory for its own stacks is an error, and the next goes on") {
  Fields f(14);
  std::vector<int> most(13);
  for (int i = 0; i < 13; ++i) most[static_cast<std::size_t>(i)] = i;
  CHECK_THROWS_WITH_AS(f.add(most), doctest::Contains("bytes for the stacks of a kernel"), DeviceError);
  CHECK(f.at(0, 3) == 3);
  f.add({0, 1});
  CHECK(f.at(0, 3) == 106);
  CHECK(f.at(12, 3) == 1203);
}
