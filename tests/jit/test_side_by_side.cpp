// Launches of a kernel side by side as one kernel: its programs, against those of one launch, on the host and on the simulated GPU.
#include "jit/ir/side_by_side.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/memory/field.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Kernel;
using ir::Type;
using ir::Value;

namespace {

// Before anything opens the process's device. Without a cache, code of several sides has to be made.
[[maybe_unused]] const int simulated = setenv("TESSERA_DEVICE", "sim", 1) + setenv("TESSERA_CACHE", "0", 1);

constexpr int kWords = 3;
// What every side of a program has: two fields that are read, one that is read and written, one that is written; two numbers.
enum : std::int16_t { kRead, kAlsoRead, kChanged, kWritten };

ir::Place place(int leaf, int component) {
  return {static_cast<std::int16_t>(leaf), 0, static_cast<std::int16_t>(component), 0};
}

Kernel random_program(unsigned seed, int lanes) {
  std::mt19937 random(seed);
  Kernel kernel;
  kernel.name = "program " + std::to_string(seed);
  kernel.lanes = lanes;
  kernel.leaves = {{Type::f64, kWords, true, false},
                   {Type::f64, kWords, true, false},
                   {Type::f64, kWords, true, true},
                   {Type::f64, kWords, false, true}};
  ir::Builder b(kernel);
  std::vector<Value> values{b.argument(Type::f64), b.argument(Type::f64), b.constant(Type::f64, 0.75)};
  for (int c = 0; c < kWords; ++c)
    for (const int leaf : {kRead, kAlsoRead, kChanged}) values.push_back(b.load(place(leaf, c)));
  const auto any = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < 30; ++i) switch (random() % 3) {
      case 0:
        values.push_back(b.fma(any(), any(), any()));
        break;
      case 1:
        values.push_back(b.sub(any(), any()));
        break;
      default:
        values.push_back(b.mul(b.constant(Type::f64, 0.5), b.add(any(), any())));
    }
  const auto late = [&] { return values[values.size() - 1 - random() % 12]; };
  for (int c = 0; c < kWords; ++c) kernel.stores.push_back({place(kChanged, c), late()});
  for (int c = 0; c < kWords; ++c) kernel.stores.push_back({place(kWritten, c), late()});
  kernel.reductions = {{ir::Reduction::Kind::sum, late()}, {ir::Reduction::Kind::max, late()}};
  b.finish();
  return kernel;
}

/// One site of a side.
struct Side {
  double fields[4][kWords];
  double numbers[2];
  double results[2];
};

std::uint64_t bits(double x) {
  std::uint64_t word = 0;
  std::memcpy(&word, &x, sizeof x);
  return word;
}

int count(const Kernel& kernel, ir::Op op) {
  int number = 0;
  for (const ir::Node& node : kernel.nodes) number += node.op == op;
  return number;
}

}  // namespace

TEST_CASE("one kernel for several sides computes what each computes alone, whatever they share") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-2, 2);
  for (unsigned seed = 1; seed <= 60; ++seed)
    for (const int sides : {1, 2, 4, 5})
      for (unsigned sharing = 0; sharing < 4; ++sharing) {
        CAPTURE(seed);
        CAPTURE(sides);
        CAPTURE(sharing);
        const Kernel kernel = random_program(seed, 1);
        const std::vector<bool> shared{(sharing & 1) != 0, (sharing & 2) != 0, false, false};
        std::vector<Side> alone(static_cast<std::size_t>(sides));
        for (Side& side : alone) {
          for (auto& field : side.fields)
            for (double& word : field) word = number(random);
          for (double& one : side.numbers) one = number(random);
          for (const int leaf : {kRead, kAlsoRead})
            if (shared[static_cast<std::size_t>(leaf)])
              std::memcpy(side.fields[leaf], alone[0].fields[leaf], sizeof side.fields[leaf]);
        }
        std::vector<Side> together = alone;
        for (Side& side : alone) {
          void* fields[] = {side.fields[0], side.fields[1], side.fields[2], side.fields[3]};
          const std::uint64_t numbers[] = {bits(side.numbers[0]), bits(side.numbers[1])};
          interpret(kernel, fields, numbers, side.results);
        }

        const Kernel all = side_by_side(kernel, sides, shared);
        verify(all);
        std::vector<void*> fields;
        std::vector<std::uint64_t> numbers;
        for (std::size_t leaf = 0; leaf < 4; ++leaf)
          for (std::size_t side = 0; side < (shared[leaf] ? 1 : together.size()); ++side)
            fields.push_back(together[side].fields[leaf]);
        for (const std::size_t argument : {0, 1})
          for (const Side& side : together) numbers.push_back(bits(side.numbers[argument]));
        REQUIRE(all.leaves.size() == fields.size());
        REQUIRE(all.arguments.size() == numbers.size());
        std::vector<double> results(2 * together.size());
        interpret(all, fields.data(), numbers.data(), results.data());
        for (std::size_t side = 0; side < together.size(); ++side) {
          CHECK(std::memcmp(together[side].fields, alone[side].fields, sizeof alone[side].fields) == 0);
          CHECK(results[2 * side] == alone[side].results[0]);
          CHECK(results[2 * side + 1] == alone[side].results[1]);
        }

        int loads = 0;  // those of shared fields stand there once
        for (const ir::Node& node : kernel.nodes)
          if (node.op == ir::Op::load) loads += shared[static_cast<std::size_t>(node.place.leaf)] ? 1 : sides;
        CHECK(count(all, ir::Op::load) == loads);
        CHECK(count(all, ir::Op::constant) == count(kernel, ir::Op::constant));
      }
}

TEST_CASE("what is computed from shared fields alone is computed once; operations of the sides are beside each other") {
  Kernel kernel;
  kernel.name = "sketch";
  kernel.leaves = {{Type::f32, 2, true, false}, {Type::f32, 1, true, false}, {Type::f32, 1, false, true}};
  ir::Builder b(kernel);
  const Value common = b.mul(b.load(place(0, 0)), b.load(place(0, 1)));
  kernel.stores = {{place(2, 0), b.add(common, b.load(place(1, 0)))}};
  b.finish();
  const Kernel all = side_by_side(kernel, 3, {true, false, false});
  CHECK(count(all, ir::Op::mul) == 1);
  CHECK(count(all, ir::Op::add) == 3);
  std::size_t first = 0;
  while (all.nodes[first].op != ir::Op::add) ++first;
  CHECK(all.nodes[first + 1].op == ir::Op::add);
  CHECK(all.nodes[first + 2].op == ir::Op::add);
  CHECK(all.leaves.size() == 7);
  CHECK_THROWS_AS(side_by_side(kernel, 2, {false, false, true}), InternalError);
}

TEST_CASE("registers: the values that are needed later, at their most") {
  const auto sum_of = [](Type word, int terms, bool in_turn) {
    Kernel kernel;
    kernel.leaves = {{word, static_cast<std::int16_t>(terms), true, false}, {word, 1, false, true}};
    ir::Builder b(kernel);
    std::vector<Value> squares;
    Value sum = b.constant(word, 1);
    for (int i = 0; i < terms; ++i) {
      const Value x = b.load(place(0, i));
      in_turn ? sum = b.fma(x, x, sum) : (squares.push_back(b.mul(x, x)), sum);
    }
    for (const Value x : squares) sum = b.add(sum, x);
    kernel.stores = {{place(1, 0), sum}};
    b.finish();
    return most_registers(kernel);
  };
  CHECK(sum_of(Type::f32, 8, true) <= 2);
  CHECK(sum_of(Type::f64, 8, true) <= 4);
  CHECK(sum_of(Type::f32, 8, false) >= 8);
  CHECK(sum_of(Type::f32, 8, false) <= 9);
  CHECK(sum_of(Type::f64, 8, false) >= 16);
}

TEST_CASE("launches side by side become one launch when its code is made: the bits and sums of each alone") {
  Runtime& runtime = Runtime::instance();
  constexpr std::int64_t kSites = 777;
  const auto order = tests::random_order(runtime.lanes(), kSites);
  const Domain all = tests::everything(*order);
  Kernel kernel = random_program(3, runtime.lanes());
  kernel.listed = all.listed;
  const std::string text = print(kernel);
  KernelHandle* const handle = runtime.add(table_key(text), kernel);
  std::mt19937 random(5);
  const auto filled = [&] {
    auto made = std::make_unique<Field>(order, Type::f64, kWords);
    auto* x = static_cast<double*>(made->host_overwrite());
    for (std::int64_t i = 0; i < kSites * kWords; ++i) x[i] = std::uniform_real_distribution<double>(-2, 2)(random);
    return made;
  };
  const auto values = [](Field& field) {
    const auto* x = static_cast<const double*>(field.host_read());
    return std::vector<double>(x, x + kSites * kWords);
  };

  constexpr std::size_t kSides = 7;  // four, two and one
  const auto shared = filled();
  std::vector<std::unique_ptr<Field>> own;
  std::vector<std::vector<Field*>> fields;
  std::vector<std::vector<std::uint64_t>> numbers;
  for (std::size_t side = 0; side < kSides; ++side) {
    for (int i = 0; i < 3; ++i) own.push_back(filled());
    fields.push_back({shared.get(), own[3 * side].get(), own[3 * side + 1].get(), own[3 * side + 2].get()});
    numbers.push_back({bits(0.1 * static_cast<double>(side)), bits(-0.3)});
  }
  std::vector<std::vector<double>> start;
  for (const auto& field : own) start.push_back(values(*field));
  const auto launches_of = [&](std::size_t sides) {
    std::vector<Launch> parts;
    for (std::size_t side = 0; side < sides; ++side)
      parts.push_back({.kernel = handle,
                       .fields = fields[side],
                       .maps = {},
                       .scalars = numbers[side],
                       .domain = &all,
                       .result = static_cast<int>(2 * side)});
    return parts;
  };
  const auto run = [&](bool side_by_side) {
    for (std::size_t f = 0; f < own.size(); ++f)
      std::memcpy(own[f]->host_overwrite(), start[f].data(), start[f].size() * sizeof(double));
    const std::vector<Launch> parts = launches_of(kSides);
    std::vector<double> found(2 * kSides);
    const auto launches = runtime.launches();
    runtime.run({.parts = parts, .whole = true, .results = found, .side_by_side = side_by_side});
    const auto launched = runtime.launches() - launches;
    for (const auto& field : own) {
      const auto x = values(*field);
      found.insert(found.end(), x.begin(), x.end());
    }
    return std::pair(found, launched);
  };
  const auto [expected, launched] = run(false);
  CHECK(launched == kSides);
  const auto postponed = runtime.postponed();
  const auto begin = std::chrono::steady_clock::now();
  auto fewest = static_cast<std::int64_t>(kSides);
  while (fewest > 3 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) {
    const auto [got, launches] = run(true);
    CHECK(got == expected);
    fewest = std::min(fewest, launches);
  }
  CHECK(fewest == 3);
  CHECK(runtime.postponed() > postponed);  // before its code was made
  const auto then = runtime.postponed();
  CHECK(run(true) == std::pair(expected, std::int64_t{3}));
  CHECK(runtime.postponed() == then);

  // Not what shares nothing.
  const auto others = filled();
  fields[1][0] = others.get();
  const std::vector<Launch> parts = launches_of(2);
  std::vector<double> found(4);
  const auto before = runtime.launches();
  runtime.run({.parts = parts, .whole = true, .results = found, .side_by_side = true});
  CHECK(runtime.launches() == before + 2);
}
