// Kernels rolled into loops compute the same bits as before: through the interpreter, on the CPU, one thread per site.
// Kernels that are no loops stay as they are.
#include <doctest/doctest.h>

#include "codegen_kernels.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/ir/reroll.hpp"
#include "jit/ir/trips.hpp"

using namespace lab;
using jit::ir::Builder;
using jit::ir::reroll;

namespace {

jit::Compiler& cpu() {
  static jit::Compiler instance(jit::make_cpu_target());
  return instance;
}
jit::Compiler& simt() {
  static jit::Compiler instance(jit::make_simt_host_target());
  return instance;
}

/// Words in which the two kernels differ after a run from the same fields.
template <class Function>
int differences(jit::Compiler& compiler, const Kernel& a, const Kernel& b) {
  Lab first(a, 7), second(b, 7);
  first.run(code<Function>(compiler.compile(a, {})));
  second.run(code<Function>(compiler.compile(b, {})));
  return first.differences(second);
}

void check_same(const Kernel& unrolled, const Kernel& rolled) {
  jit::ir::verify(rolled);
  CHECK(Lab(unrolled, 3).disagreements(cpu()) == 0);  // with the interpreter
  CHECK(Lab(rolled, 3).disagreements(cpu()) == 0);
  CHECK(Lab(rolled, 3).disagreements<jit::SimtFunction>(simt(), {.sites = 2}) == 0);
  CHECK(differences<jit::KernelFunction>(cpu(), unrolled, rolled) == 0);
  CHECK(differences<jit::SimtFunction>(simt(), unrolled, rolled) == 0);
}

struct Complex {
  Value re, im;
};

/// c = a b of complex n x n matrices, as the front end writes it out; in place if c is a.
Kernel product(int n, bool in_place = false, bool adjoint = false) {
  Kernel k;
  k.name = "product";
  const std::int16_t words = std::int16_t(2 * n * n), result = in_place ? 0 : 2;
  k.leaves = {{Type::f64, words}, {Type::f64, words}, {Type::f64, words}};
  k.leaves[std::size_t(result)].written = true;
  Builder b(k);
  const auto load = [&](int leaf, int i, int j) {
    const auto word = [&](int part) {
      return b.load({.leaf = std::int16_t(leaf), .component = std::int16_t(2 * (n * i + j) + part)});
    };
    return Complex{word(0), word(1)};
  };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Complex z{};
      for (int m = 0; m < n; ++m) {
        Complex x = adjoint ? load(0, m, i) : load(0, i, m);
        if (adjoint) x.im = b.neg(x.im);
        const Complex y = load(1, m, j);
        z.re = m == 0 ? b.mul(x.re, y.re) : b.fma(x.re, y.re, z.re);
        z.im = m == 0 ? b.mul(x.re, y.im) : b.fma(x.re, y.im, z.im);
        z = {b.fma(b.neg(x.im), y.im, z.re), b.fma(x.im, y.re, z.im)};
      }
      store(k, result, 2 * (n * i + j), z.re);
      store(k, result, 2 * (n * i + j) + 1, z.im);
    }
  b.finish();
  return k;
}

/// A random program of one trip, written for each of `trips`; its loads walk by random steps.
Kernel random_loop(unsigned seed, int trips, bool small_words) {
  Kernel k;
  k.name = "random_loop_" + std::to_string(seed);
  k.lanes = 16;
  Dice dice(seed);
  const Type real = small_words ? Type::f32 : Type::f64, integer = small_words ? Type::i32 : Type::i64;
  for (int i = 0; i < 3; ++i) k.leaves.push_back({i == 2 ? integer : real, 64});
  k.leaves.push_back({real, std::int16_t(4 * trips), false, true});
  k.slots.push_back({0, false, 8});
  k.slots.push_back({1, false, 4});
  Builder b(k);
  const Value scalar = b.argument(real);
  for (int trip = 0; trip < trips; ++trip) {
    Dice choices(seed + 1000);  // the same in each trip
    std::vector<Value> reals, integers;
    const auto load = [&](int leaf, int slot) {
      const int step = choices.below(4) - 1;
      const int component = 32 + choices.below(8) + step * trip;
      return b.load({.leaf = std::int16_t(leaf), .slot = std::int16_t(slot), .component = std::int16_t(component)});
    };
    for (int i = 0; i < 6; ++i) reals.push_back(load(choices.below(2), 0)), integers.push_back(load(2, 0));
    reals.push_back(scalar);
    reals.push_back(b.constant(real, 1.5));
    const auto any = [&] { return reals[std::size_t(choices.below(int(reals.size())))]; };
    for (int i = 0; i < 40; ++i) {
      const Value x = any(), y = any(), z = any();
      switch (choices.below(9)) {
        case 0:
          reals.push_back(b.add(x, y));
          break;
        case 1:
          reals.push_back(b.sub(x, y));
          break;
        case 2:
          reals.push_back(b.mul(x, y));
          break;
        case 3:
          reals.push_back(b.fma(b.neg(x), y, z));
          break;
        case 4:
          reals.push_back(b.fma(x, y, z));
          break;
        case 5:
          reals.push_back(b.select(b.binary(Op::lt, x, y), z, b.neg(x)));
          break;
        case 6:
          reals.push_back(b.permute(1, b.mul(load(0, 1), b.permute(2, load(1, 2)))));
          break;
        case 7:
          reals.push_back(b.convert(real, b.binary(Op::and_, integers[0], integers[std::size_t(choices.below(6))])));
          break;
        default:
          reals.push_back(b.div(x, y));
          break;
      }
    }
    for (int c = 0; c < 4; ++c) store(k, 3, 4 * trip + c, reals[reals.size() - 1 - std::size_t(c)]);
  }
  b.finish();
  return k;
}

/// out[c] = f(c) of a field with 6 words.
template <class Of>
Kernel six_words(const Of& of) {
  Kernel k;
  k.leaves = {{Type::f32, 12}, {Type::f32, 6, false, true}};
  k.slots.push_back({0, false, 1});
  Builder b(k);
  for (int c = 0; c < 6; ++c) store(k, 1, c, of(b, c));
  b.finish();
  return k;
}

Value word(Builder& b, int component, int leaf = 0) {
  return b.load({.leaf = std::int16_t(leaf), .component = std::int16_t(component)});
}

}  // namespace

TEST_CASE("products of matrices become rounds and trips of the same bits") {
  for (const bool adjoint : {false, true}) {
    const Kernel unrolled = product(6, false, adjoint);
    Kernel rolled = unrolled;
    CAPTURE(adjoint);
    REQUIRE(unrolled.nodes.size() > 1000);
    REQUIRE(reroll(rolled, 150));
    CHECK(rolled.trips > 1);
    CHECK(rolled.rounds > 1);
    CHECK(rolled.nodes.size() <= 150);
    CHECK(rolled.stores.size() * std::size_t(rolled.trips * rolled.rounds) == unrolled.stores.size());
    check_same(unrolled, rolled);
  }
}

TEST_CASE("a kernel is rolled no further than asked for") {
  Kernel k = product(6);
  const std::size_t nodes = k.nodes.size();
  CHECK(!reroll(k, nodes));
  REQUIRE(reroll(k, nodes / 3));
  CHECK(k.rounds == 1);
  CHECK(k.nodes.size() <= nodes / 3);
  CHECK(k.nodes.size() > nodes / 7);
}

TEST_CASE("random programs written out for several trips are found again, with the same bits") {
  int found = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    const Kernel unrolled = random_loop(seed, 2 + int(seed % 4), seed % 2 == 0);
    CAPTURE(seed);
    jit::ir::verify(unrolled);
    Kernel rolled = unrolled;
    if (!reroll(rolled, 1)) continue;
    ++found;
    check_same(unrolled, rolled);
  }
  CHECK(found >= 20);
}

TEST_CASE("what is not the same program in every trip is left alone") {
  const auto rolls = [](Kernel k) {
    const std::string before = jit::ir::print(k);
    const bool changed = reroll(k, 1);
    if (!changed) CHECK(jit::ir::print(k) == before);
    return changed;
  };
  const auto square = [](Builder& b, int c) { return b.mul(word(b, c), word(b, c + 1)); };
  CHECK(rolls(six_words(square)));
  CHECK(!rolls(six_words([](Builder& b, int c) { return b.mul(word(b, c), b.constant(Type::f32, c * c)); })));
  CHECK(!rolls(six_words([&](Builder& b, int c) { return c == 4 ? b.neg(square(b, c)) : square(b, c); })));
  CHECK(!rolls(
      six_words([](Builder& b, int c) { return b.neg(b.load({.slot = std::int16_t(c == 3), .component = 0})); })));
  CHECK(!rolls(
      six_words([](Builder& b, int c) { return b.binary(c == 2 ? Op::min : Op::max, word(b, c), word(b, 7)); })));

  Kernel sums = six_words(square);
  sums.reductions.push_back({jit::ir::Reduction::Kind::sum, 0});
  CHECK(!rolls(sums));
  const auto shifted = [](Builder& b, int c, int by) {
    return b.neg(b.load({.component = std::int16_t(c), .shifted_by = std::int16_t(by)}));
  };
  const auto with_arguments = [](Kernel k) {
    k.arguments = {Type::i32, Type::i32};
    return k;
  };
  CHECK(rolls(with_arguments(six_words([&](Builder& b, int c) { return shifted(b, c, 0); }))));
  CHECK(!rolls(with_arguments(six_words([&](Builder& b, int c) { return shifted(b, c, c == 2); }))));
  Kernel two_shifts = with_arguments(six_words(square));
  for (std::size_t i = 0; i < two_shifts.stores.size(); ++i) two_shifts.stores[i].place.shifted_by = i == 1;
  CHECK(!rolls(two_shifts));
  Kernel two_fields = six_words(square);
  two_fields.leaves.push_back({Type::f32, 6, false, true});
  two_fields.stores.back().place.leaf = 2;
  CHECK(!rolls(two_fields));
}

TEST_CASE("a field is rolled in place only if no trip reads what another one has written") {
  const auto in_place = [](int from) {
    Kernel k;
    k.leaves = {{Type::f32, 12, false, true}};
    Builder b(k);
    for (int c = 0; c < 6; ++c) store(k, 0, c, b.mul(word(b, c + from), word(b, c + from)));
    b.finish();
    return k;
  };
  for (const int from : {0, 1, 6}) {
    const Kernel unrolled = in_place(from);
    Kernel rolled = unrolled;
    CAPTURE(from);
    REQUIRE(reroll(rolled, 1));
    check_same(unrolled, rolled);
  }
  Kernel elsewhere = in_place(0);  // word c from word c + n, which a trip before may have written
  elsewhere.arguments = {Type::i32};
  for (Node& n : elsewhere.nodes)
    if (n.op == Op::load) n.place.shifted_by = 0;
  CHECK(!reroll(elsewhere, 1));
  Kernel down = in_place(0);  // word c from word c - 1, which the trip before has written
  for (Node& n : down.nodes)
    if (n.op == Op::load) n.place.component = std::int16_t((n.place.component + 5) % 6);
  CHECK(!reroll(down, 1));
  Kernel matrices = product(6, true);  // every column reads all rows
  REQUIRE(reroll(matrices, 150) == true);
  check_same(product(6, true), matrices);
  CHECK(matrices.rounds == 1);  // rows only
}

TEST_CASE("few values that all trips need are kept, many are loaded again, but much work is not repeated") {
  const auto kernel = [](int fixed, Op op) {
    Kernel k;
    k.trips = 4;
    k.leaves = {{Type::f32, 200, true, false}, {Type::f32, 200, true, false}, {Type::f32, 200, false, true}};
    for (int c = 0; c < fixed; ++c) {
      const Value x = load(k, 0, c);
      const Value y = op == Op::load ? x : apply(k, op, Type::f32, x);
      store(k, 2, c, apply(k, Op::mul, Type::f32, y, load(k, 1, 0, 0, 1)), 50);
    }
    return k;
  };
  CHECK(!jit::schedule(kernel(10, Op::load)).once.empty());
  CHECK(jit::schedule(kernel(100, Op::load)).once.empty());
  CHECK(!jit::schedule(kernel(100, Op::exp)).once.empty());
  CHECK(jit::ir::work(kernel(100, Op::load)) > jit::ir::work(kernel(10, Op::load)));
}
