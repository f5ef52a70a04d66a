// Kernel IR: the text is the identity, the verifier finds what does not fit, the interpreter computes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <variant>

#include "jit/ir/builder.hpp"
#include "jit/ir/ir.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/support/error.hpp"

using namespace jit::ir;

namespace {

/// out[0] = a * psi[0](neighbour) + psi[1]; sum of out[0]^2.
Kernel sample() {
  Kernel k;
  k.name = "sample";
  k.leaves = {{Type::f64, 2, true, false}, {Type::f64, 1, false, true}};
  k.arguments = {Type::f64};
  k.slots.push_back({0, false, 8});
  k.nodes = {
      {.op = Op::argument, .type = Type::f64, .integer = 0},
      {.op = Op::load, .type = Type::f64, .place = {0, 1, 0, 0}},
      {.op = Op::permute, .type = Type::f64, .a = 1, .integer = 1},
      {.op = Op::load, .type = Type::f64, .place = {0, 0, 1, 0}},
      {.op = Op::fma, .type = Type::f64, .a = 0, .b = 2, .c = 3},
      {.op = Op::mul, .type = Type::f64, .a = 4, .b = 4},
  };
  k.stores = {{{1, 0, 0, 0}, 4}};
  k.reductions = {{Reduction::Kind::sum, 5}};
  return k;
}

std::string objection(const std::function<void(Kernel&)>& spoil) {
  Kernel k = sample();
  spoil(k);
  try {
    verify(k);
  } catch (const jit::InternalError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Word = std::variant<std::int32_t, std::int64_t, float, double>;
constexpr Type kWords[] = {Type::i32, Type::i64, Type::f32, Type::f64};  // in the order of Word

/// One operation as C++ does it; integers wrap around.
template <class T>
T as_written(Op op, T a, T b, T c) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = U(a), y = U(b), count = y % (8 * sizeof(T));
    return T(op == Op::neg    ? 0 - x
             : op == Op::add  ? x + y
             : op == Op::sub  ? x - y
             : op == Op::and_ ? x & y
             : op == Op::or_  ? x | y
             : op == Op::xor_ ? x ^ y
             : op == Op::shl  ? x << count
             : op == Op::shr  ? U(a >> count)
                              : x * y + (op == Op::fma ? U(c) : 0));
  } else {
    return op == Op::neg   ? -a
           : op == Op::add ? a + b
           : op == Op::sub ? a - b
           : op == Op::mul ? a * b
           : op == Op::div ? a / b
           : op == Op::abs ? std::fabs(a)
                           : std::fma(a, b, c);
  }
}

/// A random program through the builder, and beside each of its values what C++ computes operation by operation.
class Program {
 public:
  explicit Program(unsigned seed) : dice_(seed), builder_(kernel_) {
    for (Type type : kWords) kernel_.leaves.push_back({type, kGiven, true, false});
    for (Type type : kWords) kernel_.leaves.push_back({type, kSteps, false, true});
    for (std::size_t w = 0; w < 4; ++w)
      for (int i = 0; i < kGiven; ++i) {
        given_[w].push_back(any(w));
        pool_[w].push_back({builder_.load({std::int16_t(w), 0, std::int16_t(i), 0, 0}), given_[w].back()});
        const Word constant = any(w);
        pool_[w].push_back({std::visit(
                                [&](auto x) {
                                  return std::is_integral_v<decltype(x)>
                                             ? builder_.constant_int(kWords[w], std::int64_t(x))
                                             : builder_.constant(kWords[w], double(x));
                                },
                                constant),
                            constant});
      }
    for (int step = 0; step < kSteps; ++step) {
      const std::size_t w = below(4);
      stored_[w].push_back(pool_[w].emplace_back(next(w)));
    }
  }

  /// How many values the program has and C++ does not, to the bit.
  int differences() {
    for (std::size_t w = 0; w < 4; ++w)
      for (std::size_t i = 0; i < stored_[w].size(); ++i)
        kernel_.stores.push_back({{std::int16_t(4 + w), 0, std::int16_t(i), 0, 0}, stored_[w][i].value});
    builder_.finish();
    verify(kernel_);
    std::vector<std::uint64_t> memory[8];
    void* fields[8];
    for (std::size_t w = 0; w < 8; ++w) {
      memory[w].resize(std::max(kGiven, kSteps));
      fields[w] = memory[w].data();
      if (w >= 4) continue;
      char* to = reinterpret_cast<char*>(memory[w].data());
      for (const Word& x : given_[w])
        std::visit([&](auto v) { to = static_cast<char*>(std::memcpy(to, &v, sizeof v)) + sizeof v; }, x);
    }
    interpret(kernel_, fields, nullptr);
    int count = 0;
    for (std::size_t w = 0; w < 4; ++w) {
      const char* from = static_cast<const char*>(fields[4 + w]);
      for (const Known& known : stored_[w])
        std::visit(
            [&](auto expected) {
              auto got = expected;
              std::memcpy(&got, from, sizeof got);
              from += sizeof got;
              const bool both_nan = got != got && expected != expected;
              count += !both_nan && std::memcmp(&got, &expected, sizeof got) != 0;
            },
            known.word);
    }
    return count;
  }
  std::string text() const { return print(kernel_); }

 private:
  struct Known {
    Value value;
    Word word;
  };
  static constexpr int kGiven = 3, kSteps = 12;

  std::size_t below(std::size_t n) { return dice_() % n; }
  /// Often a number that rules of algebra know.
  Word any(std::size_t w) {
    const double special[] = {0, -0.0, 1, -1}, others[] = {2, -3, 0.75, -1e-3, 1e30};
    const double x = below(3) ? special[below(4)] : others[below(5)];
    const bool least = below(8) == 0;
    switch (w) {
      case 0:
        return least ? std::numeric_limits<std::int32_t>::min() : std::int32_t(std::clamp(x, -1e6, 1e6));
      case 1:
        return least ? std::numeric_limits<std::int64_t>::min() : std::int64_t(std::clamp(x, -1e6, 1e6));
      case 2:
        return float(x);
    }
    return x;
  }
  /// The latest more often than the first: operations on operations.
  const Known& operand(std::size_t w) {
    const std::vector<Known>& all = pool_[w];
    return below(2) ? all[all.size() - 1 - below(std::min<std::size_t>(all.size(), 3))] : all[below(all.size())];
  }
  Known next(std::size_t w) {
    const Known a = operand(w), b = operand(w), c = operand(w);
    switch (below(10)) {
      case 0: {
        const std::size_t from = w < 2 ? below(2) : below(4);  // numbers that are no integers stay what they are
        const Known x = operand(from);
        const Word y = std::visit(
            [&](auto v) -> Word {
              switch (w) {
                case 0:
                  return std::int32_t(v);
                case 1:
                  return std::int64_t(v);
                case 2:
                  return float(v);
              }
              return double(v);
            },
            x.word);
        return {builder_.convert(kWords[w], x.value), y};
      }
      case 1: {
        const bool constant = below(2), holds = constant ? below(2) == 1 : a.word < b.word;
        const Value condition =
            constant ? builder_.constant_int(Type::b1, holds) : builder_.binary(Op::lt, a.value, b.value);
        return {builder_.select(condition, b.value, c.value), holds ? b.word : c.word};
      }
      case 2: {  // the same bits; of those of a NaN processors choose some
        const Known x = operand(w ^ 2);
        const bool is_nan = std::visit([](auto v) { return v != v; }, x.word);
        Word same = any(w);
        std::visit(
            [](auto& to, auto from) {
              if constexpr (sizeof to == sizeof from) std::memcpy(&to, &from, sizeof to);
            },
            same, x.word);
        if (!is_nan) return {builder_.bitcast(kWords[w], x.value), same};
      }
    }
    constexpr Op kOfAll[] = {Op::neg, Op::neg, Op::add, Op::sub, Op::mul, Op::fma};
    constexpr Op kOfFloats[] = {Op::div, Op::abs}, kOfIntegers[] = {Op::and_, Op::or_, Op::xor_, Op::shl, Op::shr};
    const std::size_t number = below(std::size(kOfAll) + (w < 2 ? std::size(kOfIntegers) : std::size(kOfFloats)));
    const Op op = number < std::size(kOfAll) ? kOfAll[number]
                  : w < 2                    ? kOfIntegers[number - std::size(kOfAll)]
                                             : kOfFloats[number - std::size(kOfAll)];
    const Value value = op == Op::neg || op == Op::abs ? builder_.unary(op, a.value)
                        : op == Op::fma                ? builder_.fma(a.value, b.value, c.value)
                                                       : builder_.binary(op, a.value, b.value);
    const Word word = std::visit(
        [&](auto x) -> Word {
          using T = decltype(x);
          return as_written(op, x, std::get<T>(b.word), std::get<T>(c.word));
        },
        a.word);
    return {value, word};
  }

  std::mt19937 dice_;
  Kernel kernel_;
  Builder builder_;
  std::vector<Word> given_[4];
  std::vector<Known> pool_[4], stored_[4];
};

}  // namespace

TEST_CASE("the text of a kernel says everything but its name") {
  CHECK(print(sample()) ==
        "kernel lanes=16 trips=1 domain=range\n"
        "leaf 0 f64[2] read\n"
        "leaf 1 f64[1] written\n"
        "argument 0 f64\n"
        "slot 1 parent=0 structured xor=8\n"
        "%0 = argument f64 0\n"
        "%1 = load f64 leaf0[0] @1\n"
        "%2 = permute f64 %1 @1\n"
        "%3 = load f64 leaf0[1]\n"
        "%4 = fma f64 %0 %2 %3\n"
        "%5 = mul f64 %4 %4\n"
        "store leaf1[0] %4\n"
        "sum %5\n");
  Kernel renamed = sample();
  renamed.name = "other";
  CHECK(hash(renamed) == hash(sample()));
}

TEST_CASE("a value is permuted once on its way through several frames, and signs are left outside") {
  Kernel k;
  k.leaves = {{Type::f64, 2, true, false}, {Type::f64, 2, false, true}};
  for (const std::int16_t parent : {0, 1, 2}) k.slots.push_back({parent, false, 8});
  Builder b(k);
  const Value far = b.load({0, 3, 0});
  const Value once = b.permute(1, b.neg(b.permute(2, b.permute(3, far))));
  const Value sum = b.permute(1, b.permute(2, b.add(b.permute(3, far), b.load({0, 2, 1}))));
  k.stores = {{{1, 0, 0}, once}, {{1, 0, 1}, sum}};
  b.finish();
  verify(k);
  const std::string text = print(k);
  CHECK(text.substr(text.find("%0")) ==
        "%0 = load f64 leaf0[0] @3\n"
        "%1 = permute f64 %0 @3\n"
        "%2 = permute f64 %0 @3>0\n"
        "%3 = neg f64 %2\n"
        "%4 = load f64 leaf0[1] @2\n"
        "%5 = add f64 %1 %4\n"
        "%6 = permute f64 %5 @2>0\n"
        "store leaf1[0] %3\n"
        "store leaf1[1] %6\n");
  for (const int to : {2, 3, 4}) {  // its parent, itself, none
    Kernel spoilt = k;
    spoilt.nodes[2].ancestor = std::int16_t(to);
    CHECK_THROWS_AS(verify(spoilt), jit::InternalError);
  }
  Kernel other = k;
  other.nodes[2].ancestor = 1;
  CHECK(hash(other) != hash(k));
}

TEST_CASE("any change of what is computed changes the hash") {
  const std::function<void(Kernel&)> changes[] = {
      [](Kernel& k) { k.lanes = 8; },
      [](Kernel& k) { k.trips = 2; },
      [](Kernel& k) { k.rounds = 2; },
      [](Kernel& k) { k.listed = true; },
      [](Kernel& k) { k.leaves[0].components = 3; },
      [](Kernel& k) { k.leaves[0].written = true; },
      [](Kernel& k) { k.arguments.push_back(Type::f32); },
      [](Kernel& k) { k.slots[1].exchange.flip = 4; },
      [](Kernel& k) { k.slots[1].exchange = {0, 3, 1}; },
      [](Kernel& k) { k.slots[1].exchange = {0, 3, 3}; },
      [](Kernel& k) { k.slots[1].exchange = {0, 6, 2}; },
      [](Kernel& k) { k.slots[1] = {0, true, 0}; },
      [](Kernel& k) { k.nodes[1].place.component = 1; },
      [](Kernel& k) { k.nodes[1].place.stride = 1; },
      [](Kernel& k) { k.nodes[1].place.leap = 1; },
      [](Kernel& k) { k.nodes[1].place.shifted_by = 0; },
      [](Kernel& k) { k.nodes[1].place.shifted_by = 1; },
      [](Kernel& k) { k.stores[0].place.shifted_by = 0; },
      [](Kernel& k) { k.nodes[1].place.frame = 1; },
      [](Kernel& k) { k.stores[0].place.frame = 1; },
      [](Kernel& k) { k.nodes[5].op = Op::add; },
      [](Kernel& k) { k.nodes[5].b = 3; },
      [](Kernel& k) { k.stores[0].place.stride = 1; },
      [](Kernel& k) { k.reductions[0].kind = Reduction::Kind::max; },
      [](Kernel& k) { k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = 0.0}; },
      [](Kernel& k) { k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = -0.0}; },
      [](Kernel& k) { k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = 0.1}; },
      [](Kernel& k) { k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = std::nextafter(0.1, 1.0)}; },
      [](Kernel& k) { k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = std::nan("")}; },
      [](Kernel& k) {
        k.nodes[0] = {.op = Op::constant, .type = Type::f64, .real = std::numeric_limits<double>::infinity()};
      },
  };
  std::vector<jit::Hash128> seen{hash(sample())};
  for (const auto& change : changes) {
    Kernel k = sample();
    change(k);
    for (const jit::Hash128& other : seen) CHECK(hash(k) != other);
    seen.push_back(hash(k));
  }
}

TEST_CASE("what the builder makes of an expression has the bits of the expression as it was written") {
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    Program program(seed);
    const int differences = program.differences();
    CAPTURE(seed);
    CAPTURE(program.text());
    CHECK(differences == 0);
    if (differences) break;
  }
}

TEST_CASE("the verifier accepts the sample and names what is wrong in its variants") {
  CHECK(objection([](Kernel&) {}) == "");
  CHECK(contains(objection([](Kernel& k) { k.nodes[4].c = 5; }), "operands that come earlier"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[5].b = kNone; }), "operands that come earlier"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[2].b = 0; }), "1 operands"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[4].b = 1; }), "operands of one frame"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[2].a = 3; }), "operands of one frame") == false);
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].place.slot = 2; }), "a slot below 2"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].place.leaf = 2; }), "a leaf below 2"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].place.component = 2; }), "components below 2"));
  CHECK(contains(objection([](Kernel& k) {
                   k.nodes[3].place.stride = 1;
                   k.trips = 2;
                 }),
                 "components below 2"));
  CHECK(contains(objection([](Kernel& k) {
                   k.nodes[3].place.leap = -2;
                   k.rounds = 2;
                 }),
                 "-1 to 1"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].place.shifted_by = 1; }), "an argument below 1"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].place.shifted_by = 0; }), "an argument i32"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[3].type = Type::f32; }), "type f64 of its leaf"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[5].type = Type::f32; }), "operands of type f32"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[5].op = Op::shl; }), "a type that the operation knows"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[0].integer = 1; }), "an argument below 1"));
  CHECK(contains(objection([](Kernel& k) { k.leaves[0].read = false; }), "a leaf that is read"));
  CHECK(contains(objection([](Kernel& k) { k.leaves[1].written = false; }), "a leaf that is written"));
  CHECK(contains(objection([](Kernel& k) { k.stores[0].value = 1; }), "a value of the site's frame"));
  CHECK(contains(objection([](Kernel& k) { k.stores[0].place.slot = 1; }), "slot 0"));
  CHECK(contains(objection([](Kernel& k) { k.nodes[1].place.frame = 1; }), "kept at the site"));
  CHECK(contains(objection([](Kernel& k) {
                   k.nodes[1].place.slot = 0;
                   k.nodes[1].place.frame = 2;
                 }),
                 "a slot below 2"));
  CHECK(objection([](Kernel& k) {
          k.nodes[1].place.slot = 0;
          k.nodes[1].place.frame = 1;
        }) == "");
  CHECK(contains(objection([](Kernel& k) { k.stores[0].place.frame = 1; }), "a value of slot 1"));
  CHECK(objection([](Kernel& k) {
          k.stores[0].value = 1;
          k.stores[0].place.frame = 1;
        }) == "");
  CHECK(contains(objection([](Kernel& k) { k.lanes = 12; }), "a power of two"));
  CHECK(contains(objection([](Kernel& k) { k.slots[1].exchange.flip = 16; }), "an exchange of lanes"));
  for (const jit::LaneExchange& ring : {jit::LaneExchange{0, 5, 1}, {0, 1, 1}})
    CHECK(contains(objection([&](Kernel& k) { k.slots[1].exchange = ring; }), "two or more consecutive bits"));
  CHECK(contains(objection([](Kernel& k) { k.slots[1].exchange = {0, 12, 4}; }), "a ring within half a group"));
  for (const jit::LaneExchange& ring : {jit::LaneExchange{0, 6, 1}, {0, 3, 0}, {0, 0, 1}})
    CHECK(contains(objection([&](Kernel& k) { k.slots[1].exchange = ring; }), "a step of the ring"));
  CHECK(contains(objection([](Kernel& k) { k.slots[1].exchange = {2, 3, 1}; }), "bits that are not flipped"));
  CHECK(
      contains(objection([](Kernel& k) { k.slots[1] = {0, true, {0, 3, 1}}; }), "no exchange of lanes in a gathered"));
  CHECK(contains(objection([](Kernel& k) { k.slots[1].parent = 1; }), "a parent with a smaller number"));
  CHECK(contains(objection([](Kernel& k) {
                   k.slots[1] = {0, true, 0};
                   k.slots.push_back({1, false, 0});
                 }),
                 "a structured parent"));
}

TEST_CASE("the interpreter computes one site, with strides from trip to trip") {
  Kernel k;
  k.leaves = {{Type::f64, 4, true, false}, {Type::f64, 2, false, true}};
  k.trips = 2;
  k.nodes = {
      {.op = Op::load, .type = Type::f64, .place = {0, 0, 0, 2}},
      {.op = Op::load, .type = Type::f64, .place = {0, 0, 1, 2}},
      {.op = Op::sub, .type = Type::f64, .a = 0, .b = 1},
  };
  k.stores = {{{1, 0, 0, 1}, 2}};
  k.reductions = {{Reduction::Kind::sum, 2}, {Reduction::Kind::max, 2}, {Reduction::Kind::min, 2}};
  verify(k);
  double in[] = {10, 3, 4, 6}, out[2] = {}, results[3];
  void* fields[] = {in, out};
  interpret(k, fields, nullptr, results);
  CHECK(out[0] == 7);
  CHECK(out[1] == -2);
  CHECK(results[0] == 5);
  CHECK(results[1] == 7);
  CHECK(results[2] == -2);
}

TEST_CASE("the interpreter shifts places by arguments") {
  Kernel k;
  k.leaves = {{Type::f64, 5, true, true}};
  k.arguments = {Type::i32, Type::i32};
  k.trips = 2;
  k.nodes = {{.op = Op::load, .type = Type::f64, .place = {.component = 1, .stride = 1, .shifted_by = 1}}};
  k.stores = {{{.stride = 1, .shifted_by = 0}, 0}};
  verify(k);
  double field[] = {10, 11, 12, 13, 14};
  void* fields[] = {field};
  const std::uint64_t scalars[] = {3, 1};  // words 3 and 4 become words 2 and 3, one after the other
  interpret(k, fields, scalars);
  CHECK(field[2] == 12);
  CHECK(field[3] == 12);
  CHECK(field[4] == 12);
}

TEST_CASE("the interpreter has room for long kernels") {
  Kernel k;
  k.leaves = {{Type::i32, 1, true, true}};
  k.nodes = {{.op = Op::load, .type = Type::i32}};
  for (int i = 0; i < 2000; ++i) k.nodes.push_back({.op = Op::add, .type = Type::i32, .a = i, .b = 0});
  k.stores = {{{0, 0, 0, 0}, 2000}};
  std::int32_t x = 3;
  void* fields[] = {&x};
  interpret(k, fields, nullptr);
  CHECK(x == 3 * 2001);
}

TEST_CASE("device order: blocks of lanes, two blocks per group for large words") {
  CHECK(jit::block_lanes(16, Type::f32) == 16);
  CHECK(jit::block_lanes(16, Type::f64) == 8);
  CHECK(jit::block_lanes(1, Type::f64) == 1);
  // position 21 = group 1, lane 5
  CHECK(jit::word_index(16, Type::f32, 3, 21, 2) == (1 * 3 + 2) * 16 + 5);
  CHECK(jit::word_index(16, Type::f64, 3, 21, 2) == (2 * 3 + 2) * 8 + 5);
  CHECK(jit::word_index(16, Type::f64, 3, 29, 2) == (3 * 3 + 2) * 8 + 5);
}

TEST_CASE("all trips run in every round") {
  Kernel k;
  k.leaves = {{Type::f64, 6, true, false}, {Type::f64, 6, false, true}};
  k.trips = 3;
  k.rounds = 2;
  k.nodes = {{.op = Op::load, .type = Type::f64, .place = {0, 0, 0, 1, 3}}};
  k.stores = {{{1, 0, 0, 2, 1}, 0}};  // transposed
  k.reductions = {{Reduction::Kind::sum, 0}};
  verify(k);
  CHECK(contains(print(k), "trips=3 rounds=2"));
  CHECK(contains(print(k), "leaf0[0+1t+3r]"));
  double in[] = {1, 2, 3, 4, 5, 6}, out[6] = {}, results[1];
  void* fields[] = {in, out};
  interpret(k, fields, nullptr, results);
  const double expected[] = {1, 4, 2, 5, 3, 6};
  for (int i = 0; i < 6; ++i) CHECK(out[i] == expected[i]);
  CHECK(results[0] == 21);
}
