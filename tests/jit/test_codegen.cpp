// The compiled kernel and the interpreter mean the same: every operation, type, width, frame and domain.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "codegen_lab.hpp"
#include "jit/support/error.hpp"

using namespace lab;
using jit::CodeOptions;
using jit::CpuCompiler;
using jit::ir::arity;
using jit::ir::is_float;
using jit::ir::is_int;

namespace {

CpuCompiler& compiler() {
  static CpuCompiler instance;
  return instance;
}

constexpr int kWidths[] = {32, 16, 8, 4, 2, 1};

Value push(Kernel& k, Node n) {
  k.nodes.push_back(n);
  return Value(k.nodes.size()) - 1;
}

Value load(Kernel& k, int leaf, int component, int slot = 0, int stride = 0) {
  Node n{.op = Op::load, .type = k.leaves[std::size_t(leaf)].word};
  n.place = {std::int16_t(leaf), std::int16_t(slot), std::int16_t(component), std::int16_t(stride)};
  return push(k, n);
}

Value apply(Kernel& k, Op op, Type type, Value a, Value b = jit::ir::kNone, Value c = jit::ir::kNone) {
  return push(k, {.op = op, .type = type, .a = a, .b = b, .c = c});
}

Value permute(Kernel& k, int slot, Value v) {
  return push(k, {.op = Op::permute, .type = k.nodes[std::size_t(v)].type, .a = v, .integer = slot});
}

void store(Kernel& k, int leaf, int component, Value v, int stride = 0) {
  k.stores.push_back({{std::int16_t(leaf), 0, std::int16_t(component), std::int16_t(stride)}, v});
}

bool takes(Op op, Type t) {
  switch (op) {
    case Op::constant:
    case Op::argument:
    case Op::load:
    case Op::permute:
    case Op::convert:
    case Op::select:
      return false;
    case Op::eq:
    case Op::ne:
      return true;
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
      return !is_float(t);
    case Op::rem:
    case Op::shl:
    case Op::shr:
      return is_int(t);
    default:
      break;
  }
  if (op == Op::fma || op == Op::sqrt || op == Op::floor || op == Op::ceil || (op >= Op::sin && op <= Op::fmod))
    return is_float(t);
  return t != Type::b1;
}

bool compares(Op op) { return op == Op::lt || op == Op::le || op == Op::eq || op == Op::ne; }

/// All operations on words of one type, each stored in a leaf component of its own.
Kernel all_operations(Type t, int lanes) {
  Kernel k;
  k.name = std::string("all_") + jit::ir::name(t);
  k.lanes = lanes;
  k.leaves = {{t, 3, true, false}, {Type::b1, 1, true, false}, {t, 64, false, true}, {Type::b1, 8, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1), c = load(k, 0, 2), truth = load(k, 1, 0);
  int results = 0, truths = 0;
  for (int i = 0; i <= int(Op::convert); ++i) {
    const Op op = Op(i);
    if (!takes(op, t)) continue;
    const Value v = apply(k, op, compares(op) ? Type::b1 : t, a, arity(op) > 1 ? b : -1, arity(op) > 2 ? c : -1);
    compares(op) ? store(k, 3, truths++, v) : store(k, 2, results++, v);
  }
  store(k, 2, results++, apply(k, Op::select, t, truth, a, b));
  return k;
}

}  // namespace

TEST_CASE("every operation agrees with the interpreter, for every type and width") {
  for (Type t : kTypes)
    for (int lanes : kWidths) {
      CAPTURE(jit::ir::name(t));
      CAPTURE(lanes);
      const Kernel k = all_operations(t, lanes);
      jit::ir::verify(k);
      for (unsigned seed = 1; seed <= 5; ++seed) CHECK(Lab(k, seed).disagreements(compiler()) == 0);
    }
}

TEST_CASE("every conversion agrees with the interpreter") {
  for (Type from : kTypes)
    for (Type to : kTypes)
      for (int lanes : kWidths) {
        CAPTURE(jit::ir::name(from));
        CAPTURE(jit::ir::name(to));
        Kernel k;
        k.name = "convert";
        k.lanes = lanes;
        k.leaves = {{from, 2, true, false}, {to, 2, false, true}};
        store(k, 1, 0, apply(k, Op::convert, to, load(k, 0, 0)));
        store(k, 1, 1, apply(k, Op::convert, to, load(k, 0, 1)));
        CHECK(Lab(k, 3).disagreements(compiler()) == 0);
      }
}

TEST_CASE("integer division by zero gives 0, the smallest integer by -1 wraps, floats out of range saturate") {
  Kernel k;
  k.name = "corners";
  k.leaves = {{Type::i32, 2, true, false}, {Type::f64, 1, true, false}, {Type::i32, 3, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1);
  store(k, 2, 0, apply(k, Op::div, Type::i32, a, b));
  store(k, 2, 1, apply(k, Op::rem, Type::i32, a, b));
  store(k, 2, 2, apply(k, Op::convert, Type::i32, load(k, 1, 0)));
  Lab bench(k, 1);
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  const std::int32_t dividends[] = {7, lowest, lowest, -9}, divisors[] = {0, -1, 0, 4},
                     quotients[] = {0, lowest, 0, -2}, remainders[] = {0, 0, 0, -1};
  const double reals[] = {1e30, -1e30, std::nan(""), -2.9};
  const std::int32_t integers[] = {std::numeric_limits<std::int32_t>::max(), lowest, 0, -2};
  for (int p = 0; p < bench.sites(); ++p) {
    std::uint64_t bits;
    std::memcpy(&bits, &reals[p % 4], sizeof bits);
    bench.fields()[0].set(p, 0, std::uint32_t(dividends[p % 4]));
    bench.fields()[0].set(p, 1, std::uint32_t(divisors[p % 4]));
    bench.fields()[1].set(p, 0, bits);
  }
  CHECK(bench.disagreements(compiler()) == 0);
  for (int p = 0; p < 4; ++p) {
    CHECK(std::int32_t(bench.fields()[2].get(p, 0).bits) == quotients[p]);
    CHECK(std::int32_t(bench.fields()[2].get(p, 1).bits) == remainders[p]);
    CHECK(std::int32_t(bench.fields()[2].get(p, 2).bits) == integers[p]);
  }
}

TEST_CASE("fma rounds once and a product followed by a sum rounds twice") {
  Kernel k;
  k.name = "rounding";
  k.leaves = {{Type::f64, 3, true, false}, {Type::f64, 2, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1), c = load(k, 0, 2);
  store(k, 1, 0, apply(k, Op::fma, Type::f64, a, b, c));
  store(k, 1, 1, apply(k, Op::add, Type::f64, apply(k, Op::mul, Type::f64, a, b), c));
  Lab bench(k, 1);
  const double x = 1 + std::ldexp(1.0, -30), z = -1 - std::ldexp(1.0, -29);
  for (int p = 0; p < bench.sites(); ++p)
    for (int i = 0; i < 3; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, i < 2 ? &x : &z, sizeof bits);
      bench.fields()[0].set(p, i, bits);
    }
  bench.run(compiler().compile(k, {}).function);
  CHECK(bench.fields()[1].get(5, 0).real() == std::ldexp(1.0, -60));
  CHECK(bench.fields()[1].get(5, 1).real() == 0);
}

namespace {

/// A random program: leaves and arguments of all types, nested structured and gathered slots, any operation.
Kernel random_kernel(unsigned seed, int lanes, bool small_words) {
  Dice dice(seed);
  Kernel k;
  k.name = "random_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = dice.below(3) == 0 ? 3 : 1;
  k.listed = dice.below(2) == 0;
  const auto any_type = [&] {
    const Type t = kTypes[dice.below(5)];
    return small_words && jit::ir::bytes(t) == 8 ? (t == Type::i64 ? Type::i32 : Type::f32) : t;
  };
  for (int i = 0; i < 4; ++i) k.leaves.push_back({any_type(), 4, true, false});
  for (int i = 0; i < 3; ++i) k.leaves.push_back({any_type(), 4, i == 2, true});
  for (int i = 0; i < 3; ++i) k.arguments.push_back(any_type());
  const int slots = dice.below(5);
  for (int i = 1; i <= slots; ++i) {
    const int parent = dice.below(i);
    const bool gathered = k.slots[std::size_t(parent)].gathered || dice.below(4) == 0;
    k.slots.push_back({std::int16_t(parent), gathered, std::int16_t(gathered ? 0 : dice.below(lanes))});
  }
  std::vector<int> frame;  // of each node; -1: all
  const auto note = [&](int f, Value v) {
    frame.resize(std::size_t(v) + 1);
    frame[std::size_t(v)] = f;
    return v;
  };
  const auto stride = [&](int component) { return k.trips > 1 && component < 2 && dice.below(2) ? 1 : 0; };
  const auto leaf_value = [&](int f) -> Value {
    if (dice.below(5) == 0) {
      const int n = dice.below(3);
      return note(-1, push(k, {.op = Op::argument, .type = k.arguments[std::size_t(n)], .integer = n}));
    }
    if (dice.below(5) == 0) {
      const Type t = any_type();
      return note(-1, push(k, {.op = Op::constant,
                               .type = t,
                               .real = is_float(t) ? dice.below(9) - 4.25 : 0,
                               .integer = is_float(t)     ? 0
                                          : t == Type::b1 ? dice.below(2)
                                                          : dice.below(9) - 4}));
    }
    const int component = dice.below(4);
    // The read-and-written leaf is read in the site's frame only: neighbours may be overwritten already.
    const int leaf = f == 0 && dice.below(6) == 0 ? 6 : dice.below(4);
    return note(f, load(k, leaf, component, f, leaf == 6 ? 0 : stride(component)));
  };
  // A value of this type in this frame: one that exists, converted if need be.
  const auto operand = [&](int f, Type t) -> Value {
    for (int tries = 0; tries < 40 && !k.nodes.empty(); ++tries) {
      const Value v = dice.below(int(k.nodes.size()));
      if ((frame[std::size_t(v)] == f || frame[std::size_t(v)] == -1) && k.nodes[std::size_t(v)].type == t) return v;
    }
    const Value v = leaf_value(f);
    return k.nodes[std::size_t(v)].type == t ? v : note(frame[std::size_t(v)], apply(k, Op::convert, t, v));
  };
  for (int i = 0; i < 60; ++i) {
    const int f = dice.below(slots + 1);
    if (f != 0 && dice.below(3) == 0) {
      const Value v = operand(f, any_type());
      note(frame[std::size_t(v)] == -1 ? -1 : k.slots[std::size_t(f)].parent, permute(k, f, v));
      continue;
    }
    const Type t = any_type();
    Op op;
    do op = Op(int(Op::add) + dice.below(int(Op::select) - int(Op::add) + 1));
    while ((!takes(op, t) && op != Op::select) || (op >= Op::sin && op <= Op::fmod));
    Node n{.op = op, .type = compares(op) ? Type::b1 : t};
    n.a = operand(f, op == Op::select ? Type::b1 : t);
    if (arity(op) > 1) n.b = operand(f, t);
    if (arity(op) > 2) n.c = operand(f, t);
    int result = -1;
    for (Value v : {n.a, n.b, n.c})
      if (v != jit::ir::kNone && frame[std::size_t(v)] != -1) result = f;
    note(result, push(k, n));
  }
  for (int leaf = 4; leaf < 7; ++leaf)
    for (int c = 0; c < (k.trips > 1 ? 2 : 4); ++c) {
      const int s = k.trips > 1 && leaf != 6 ? 1 : 0;
      store(k, leaf, c * (s ? 1 : 2) % 4, operand(0, k.leaves[std::size_t(leaf)].word), s);
    }
  if (!small_words)
    for (int kind = 0; kind < 3; ++kind)
      k.reductions.push_back({jit::ir::Reduction::Kind(kind), operand(0, Type::f64)});
  return k;
}

}  // namespace

TEST_CASE("random programs agree with the interpreter to the bit") {
  for (int lanes : kWidths)
    for (unsigned seed = 1; seed <= 40; ++seed) {
      const Kernel k = random_kernel(seed, lanes, seed % 2 == 0);
      CAPTURE(lanes);
      CAPTURE(seed);
      jit::ir::verify(k);
      CHECK(Lab(k, seed).disagreements(compiler(), {.streaming = seed % 3 == 0, .prefetch = int(seed % 4)}) == 0);
    }
}

TEST_CASE("trips: loads and stores walk by their strides, reductions see every trip") {
  for (int lanes : kWidths) {
    Kernel k;
    k.name = "trips";
    k.lanes = lanes;
    k.trips = 5;
    k.leaves = {{Type::f32, 10, true, false}, {Type::f64, 5, false, true}};
    const Value x = load(k, 0, 0, 0, 2), y = load(k, 0, 9);
    const Value z = apply(k, Op::convert, Type::f64, apply(k, Op::mul, Type::f32, x, y));
    store(k, 1, 4, z, -1);
    k.reductions = {{jit::ir::Reduction::Kind::sum, z}, {jit::ir::Reduction::Kind::min, z}};
    CAPTURE(lanes);
    CHECK(Lab(k, 2).disagreements(compiler()) == 0);
  }
}

TEST_CASE("a shift across half a group takes the sister block, alone and nested") {
  for (int lanes : {16, 8, 2})
    for (int exchange = 1; exchange < lanes; exchange *= 2) {
      Kernel k;
      k.name = "halves";
      k.lanes = lanes;
      k.leaves = {{Type::f64, 1, true, false}, {Type::f32, 1, true, false}, {Type::f64, 2, false, true}};
      k.slots.push_back({0, false, std::int16_t(exchange)});
      k.slots.push_back({1, false, std::int16_t(lanes / 2)});
      k.slots.push_back({2, true, 0});
      store(k, 2, 0, permute(k, 1, load(k, 0, 0, 1)));
      const Value deep = permute(k, 3, apply(k, Op::convert, Type::f64, load(k, 1, 0, 3)));
      store(k, 2, 1, permute(k, 1, permute(k, 2, apply(k, Op::add, Type::f64, deep, load(k, 0, 0, 2)))));
      jit::ir::verify(k);
      CAPTURE(lanes);
      CAPTURE(exchange);
      for (unsigned seed = 1; seed < 5; ++seed) CHECK(Lab(k, seed).disagreements(compiler(), {.prefetch = 2}) == 0);
    }
}

TEST_CASE("sums in kernels have the same bits for every width and split") {
  Dice dice(5);
  std::vector<double> results;
  for (int lanes : {16, 8, 4, 1}) {
    Kernel k;
    k.name = "sum";
    k.lanes = lanes;
    k.leaves = {{Type::f64, 1, true, false}};
    k.reductions = {{jit::ir::Reduction::Kind::sum, load(k, 0, 0)}};
    Lab bench(k, 1);
    const int sites = 6;  // as many as the smallest lab has; the others are 0
    for (int p = 0; p < bench.sites(); ++p) {
      const double x = p < sites ? std::ldexp(1.0 + 0.1 * p, 40 * (p % 3) - 30) * (p % 2 ? -1 : 1) : 0;
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      bench.fields()[0].set(p, 0, bits);
    }
    bench.run(compiler().compile(k, {}).function);
    results.push_back(bench.reductions()[0]);
  }
  for (double r : results) CHECK(r == results[0]);
  CHECK(results[0] != 0);
}

TEST_CASE("elementary functions give the same bits in every lane, whatever shares the register") {
  for (Type t : {Type::f32, Type::f64}) {
    std::vector<std::uint64_t> seen;
    for (int lanes : {16, 4, 1}) {
      for (bool mixed : {false, true}) {
        Kernel k;
        k.name = "lanes";
        k.lanes = lanes;
        k.leaves = {{t, 1, true, false}, {t, 3, false, true}};
        if (mixed) k.leaves.push_back({Type::f64, 1, true, false});  // halves the lanes of a step
        const Value x = load(k, 0, 0);
        store(k, 1, 0, apply(k, Op::exp, t, x));
        store(k, 1, 1, apply(k, Op::sin, t, x));
        store(k, 1, 2, apply(k, Op::pow, t, apply(k, Op::abs, t, x), x));
        Lab bench(k, 1);
        for (int p = 0; p < bench.sites(); ++p) {
          const double x64 = p == bench.sites() - 1 ? 1.2345 : 700.0 * p / bench.sites() - 300;
          const float x32 = float(x64);
          std::uint64_t bits = 0;
          t == Type::f32 ? std::memcpy(&bits, &x32, sizeof x32) : std::memcpy(&bits, &x64, sizeof x64);
          bench.fields()[0].set(p, 0, bits);
        }
        bench.run(compiler().compile(k, {}).function);
        for (int c = 0; c < 3; ++c) seen.push_back(bench.fields()[1].get(bench.sites() - 1, c).bits);
      }
    }
    for (std::size_t i = 3; i < seen.size(); ++i) CHECK(seen[i] == seen[i % 3]);
  }
}

TEST_CASE("a kernel that does not verify is refused before it is compiled") {
  Kernel k;
  k.name = "wrong";
  k.leaves = {{Type::f32, 1, true, false}};
  k.reductions = {{jit::ir::Reduction::Kind::sum, load(k, 0, 0)}};
  CHECK_THROWS_WITH_AS(compiler().compile(k, {}), doctest::Contains("a summand f64"), jit::InternalError);
}

TEST_CASE("checked kernels pass LLVM's verifier and compute the same") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Kernel k = random_kernel(seed, 16, false);
    CHECK(Lab(k, seed).disagreements(compiler(), {.check = true}) == 0);
  }
}
