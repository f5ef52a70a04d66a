// The kernels that every code generator is tested with: all operations, all conversions, frames, trips, random
// programs.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "codegen_lab.hpp"
#include "jit/ir/builder.hpp"
#include "jit/ir/nodes.hpp"

namespace lab {

using jit::ir::arity;
using jit::ir::is_float;
using jit::ir::is_int;

constexpr int kWidths[] = {32, 16, 8, 4, 2, 1};

inline Value push(Kernel& k, Node n) {
  k.nodes.push_back(n);
  return Value(k.nodes.size()) - 1;
}

inline Value load(Kernel& k, int leaf, int component, int slot = 0, int stride = 0, int leap = 0) {
  Node n{.op = Op::load, .type = k.leaves[std::size_t(leaf)].word};
  n.place = {std::int16_t(leaf), std::int16_t(slot), std::int16_t(component), std::int16_t(stride), std::int16_t(leap)};
  return push(k, n);
}

inline Value apply(Kernel& k, Op op, Type type, Value a, Value b = jit::ir::kNone, Value c = jit::ir::kNone) {
  return push(k, {.op = op, .type = type, .a = a, .b = b, .c = c});
}

inline Value permute(Kernel& k, int slot, Value v) {
  return push(k, {.op = Op::permute, .type = k.nodes[std::size_t(v)].type, .a = v, .integer = slot});
}

/// What was permuted before is permuted once, all the way.
inline Value permute_at_once(Kernel& k, int slot, Value v) {
  Node n = k.nodes[std::size_t(v)];
  if (n.op != Op::permute) return permute(k, slot, v);
  n.ancestor = k.slots[std::size_t(slot)].parent;
  return push(k, n);
}

inline void store(Kernel& k, int leaf, int component, Value v, int stride = 0, int leap = 0) {
  k.stores.push_back({{std::int16_t(leaf), 0, std::int16_t(component), std::int16_t(stride), std::int16_t(leap)}, v});
}

inline bool takes(Op op, Type t) {
  switch (op) {
    case Op::constant:
    case Op::argument:
    case Op::load:
    case Op::permute:
    case Op::convert:
    case Op::bitcast:
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

inline bool compares(Op op) { return op == Op::lt || op == Op::le || op == Op::eq || op == Op::ne; }

/// All operations on words of one type, with or without elementary functions, each stored in a leaf component of its own.
inline Kernel all_operations(Type t, int lanes, bool elementary = true, bool quotients = true) {
  Kernel k;
  k.name = std::string("all_") + jit::ir::name(t);
  k.lanes = lanes;
  k.leaves = {{t, 3, true, false}, {Type::b1, 1, true, false}, {t, 64, false, true}, {Type::b1, 8, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1), c = load(k, 0, 2), truth = load(k, 1, 0);
  int results = 0, truths = 0;
  for (int i = 0; i <= int(Op::convert); ++i) {
    const Op op = Op(i);
    if (!takes(op, t) || (!elementary && jit::ir::is_elementary(op))) continue;
    if (!quotients && jit::ir::is_int(t) && (op == Op::div || op == Op::rem)) continue;
    const Value v = apply(k, op, compares(op) ? Type::b1 : t, a, arity(op) > 1 ? b : -1, arity(op) > 2 ? c : -1);
    compares(op) ? store(k, 3, truths++, v) : store(k, 2, results++, v);
    if (op == Op::shl || op == Op::shr)
      for (const int count : {0, 5, 40, -1}) {
        const Value by = push(k, {.op = Op::constant, .type = t, .integer = count});
        store(k, 2, results++, apply(k, op, t, a, by));
      }
  }
  store(k, 2, results++, apply(k, Op::select, t, truth, a, b));
  return k;
}

/// More values at a time than there are registers, in random order: some read from memory again, some kept in registers until they
/// must go, since this kernel writes over where they came from. Summands and factors of all signs.
inline Kernel crowded(unsigned seed, Type t, int lanes, int trips) {
  constexpr int kWords = 40, kOperations = 400, kStores = 24;
  Dice dice(seed);
  Kernel k;
  k.name = "crowded_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = trips;
  k.leaves = {{t, kWords, true, false}, {t, 2 * kWords, true, true}, {t, 3 * kStores, false, true}};
  std::vector<Value> given, values;
  for (int i = 0; i < kWords; ++i) given.push_back(load(k, 0, i));
  for (int i = 0; i < kWords; ++i) values.push_back(load(k, 1, i, 0, trips > 1 ? i % 2 : 0));
  values.insert(values.end(), given.begin(), given.end());
  const auto any = [&](const std::vector<Value>& of) { return of[std::size_t(dice.below(int(of.size())))]; };
  for (int i = 0; i < kOperations; ++i) {
    const Value a = any(values), b = any(given), c = any(values);
    Value result = a;
    switch (dice.below(6)) {
      case 0:
        result = apply(k, Op::add, t, apply(k, Op::mul, t, a, b), c);
        break;
      case 1:
        result = apply(k, Op::sub, t, a, c);
        break;
      case 2:
        result = dice.below(2) == 0 ? apply(k, Op::mul, t, apply(k, Op::neg, t, a), b)
                                    : apply(k, Op::mul, t, a, apply(k, Op::neg, t, b));
        break;
      default:
        result = apply(k, Op::fma, t, dice.below(3) == 0 ? apply(k, Op::neg, t, a) : a, b,
                       dice.below(3) == 0 ? apply(k, Op::neg, t, c) : c);
    }
    values[std::size_t(dice.below(int(values.size())))] = result;
  }
  for (int i = 0; i < kStores; ++i) store(k, 2, i, any(values), trips > 1 ? kStores : 0);
  for (int i = 0; i < 4; ++i) store(k, 1, kWords + i, any(values));
  return k;
}

/// Words made of bits of others: one operation upon another, some of whose operands have other users, more of them than registers. Shifts
/// to the right whose upper bits are masked, whole words or not, and other bits above.
inline Kernel crowded_bits(unsigned seed, Type t, int lanes, int trips) {
  constexpr int kWords = 24, kOperations = 220, kStores = 40;
  const int width = 8 * jit::ir::bytes(t);
  Dice dice(seed);
  Kernel k;
  k.name = "crowded_bits_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = trips;
  k.leaves = {{t, kWords, true, false}, {t, 2 * kStores, false, true}};
  const auto constant = [&](std::uint64_t bits) {
    const auto number = width == 32 ? std::int64_t(std::int32_t(std::uint32_t(bits))) : std::int64_t(bits);
    return push(k, {.op = Op::constant, .type = t, .integer = number});
  };
  std::vector<Value> values;
  for (int i = 0; i < kWords; ++i) values.push_back(load(k, 0, i, 0, trips > 1 && i % 2 == 0 ? 1 : 0));
  values.resize(kWords - std::size_t(trips));  // which are read in no trip are dead
  const auto any = [&] { return values[std::size_t(dice.below(int(values.size())))]; };
  const auto operation = [&] { return dice.below(3) == 0 ? Op::and_ : dice.below(2) == 0 ? Op::or_ : Op::xor_; };
  const auto operand = [&] { return dice.below(4) == 0 ? constant(dice.word(t)) : any(); };
  for (int i = 0; i < kOperations; ++i) {
    Value result = any();
    if (dice.below(3) == 0) {
      const int by = 1 + dice.below(width - 1);
      const std::uint64_t ones = (~std::uint64_t{0} >> (64 - width)) >> by,
                          upper = ~ones << (64 - width) >> (64 - width);
      const Value mask = constant(dice.below(4) == 0 ? ones >> 1 : ones);
      result = apply(k, Op::shr, t, result, constant(std::uint64_t(by)));
      if (dice.below(8) == 0) values[0] = result;
      result = dice.below(2) == 0 ? apply(k, Op::and_, t, result, mask) : apply(k, Op::and_, t, mask, result);
      if (dice.below(8) == 0) values[1] = result;
      const Op join = dice.below(3) == 0 ? Op::add : dice.below(2) == 0 ? Op::or_ : Op::xor_;
      const int left = dice.below(8) == 0 ? by : width - by;
      if (dice.below(3) != 0) {
        const Value above = dice.below(2) == 0 ? constant(dice.below(4) == 0 ? dice.word(t) : dice.word(t) & upper)
                                               : apply(k, Op::shl, t, any(), constant(std::uint64_t(left)));
        result = dice.below(2) == 0 ? apply(k, join, t, result, above) : apply(k, join, t, above, result);
      }
    } else {
      const Value inner = apply(k, operation(), t, operand(), operand()),
                  other = dice.below(8) == 0 ? inner : operand();
      if (dice.below(8) == 0) values[2] = inner;
      result = dice.below(2) == 0 ? apply(k, operation(), t, inner, other) : apply(k, operation(), t, other, inner);
      if (dice.below(3) == 0) result = apply(k, operation(), t, result, operand());
    }
    values[std::size_t(dice.below(int(values.size())))] = result;
  }
  for (int i = 0; i < kStores; ++i) store(k, 1, i, any(), trips > 1 ? kStores : 0);
  return k;
}

/// Many fields, read in many frames, again and again: more addresses than registers for them, and some that are asked for after what they
/// are computed from has made room.
inline Kernel scattered(unsigned seed, Type t, int lanes, int trips, bool listed, bool gathers) {
  constexpr int kFields = 9, kSlots = 7, kWords = 48, kOperations = 150;
  Dice dice(seed);
  Kernel k;
  k.name = "scattered_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = trips;
  k.listed = listed;
  for (int f = 0; f < kFields; ++f) k.leaves.push_back({t, std::int16_t(f + 3), true, false});
  k.leaves.push_back({t, std::int16_t(8 * trips), false, true});
  for (int s = 1; s <= kSlots; ++s) {
    const int parent = dice.below(s);
    const bool is_gathered = gathers && (k.slots[std::size_t(parent)].gathered || dice.below(3) == 0);
    const int flip = is_gathered || dice.below(2) == 0 ? 0 : (1 << dice.below(4)) % lanes;
    k.slots.push_back({std::int16_t(parent), is_gathered, {.flip = std::uint8_t(flip)}});
  }
  std::vector<Value> values;
  for (int i = 0; i < kWords; ++i) {
    const int f = dice.below(kFields), word = dice.below(f + 1);
    int slot = dice.below(kSlots + 1);
    Value v = load(k, f, word, slot, trips > 1 ? dice.below(2) : 0);
    for (; slot != 0; slot = k.slots[std::size_t(slot)].parent) v = permute(k, slot, v);
    values.push_back(v);
  }
  const std::vector<Value> given = values;
  for (int i = 0; i < kOperations; ++i) {
    const Value a = given[std::size_t(dice.below(kWords))], b = given[std::size_t(dice.below(kWords))];
    Value& c = values[std::size_t(dice.below(kWords))];
    c = dice.below(3) == 0 ? apply(k, Op::sub, t, a, c) : apply(k, Op::fma, t, a, b, c);
  }
  for (int i = 0; i < 8; ++i) store(k, kFields, i, values[std::size_t(dice.below(kWords))], trips > 1 ? 8 : 0);
  return k;
}

/// Words of one and of eight bytes on some lanes only, stored after calls, which keep no mask in a register.
inline Kernel masked_after_calls(int lanes) {
  Kernel k;
  k.name = "masked_after_calls";
  k.lanes = lanes;
  k.listed = true;
  k.leaves = {{Type::f64, 2, true, true}, {Type::b1, 1, true, true}, {Type::f64, 2, true, false}};
  const Value x = apply(k, Op::abs, Type::f64, load(k, 2, 0)), y = load(k, 2, 1), truth = load(k, 1, 0);
  const Value tried =
      apply(k, Op::log, Type::f64, apply(k, Op::fma, Type::f64, x, apply(k, Op::exp, Type::f64, load(k, 0, 0)), x));
  const Value taken = apply(k, Op::select, Type::f64, truth, load(k, 0, 1), tried);
  store(k, 0, 0, taken);
  store(k, 1, 0,
        apply(k, Op::or_, Type::b1, truth, apply(k, Op::lt, Type::b1, apply(k, Op::mul, Type::f64, y, y), taken)));
  return k;
}

/// Sines and cosines, of the same values and of others, between which there are more values than registers; all kept to the end.
inline Kernel sines_and_cosines(unsigned seed, Type t, int lanes, int trips) {
  constexpr int kAngles = 4, kOthers = 40, kCalls = 16, kBetween = 20;
  Dice dice(seed);
  Kernel k;
  k.name = "sines_and_cosines_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = trips;
  k.leaves = {{t, 2 * (kAngles + kOthers), true, false}, {t, std::int16_t((kCalls + kOthers) * trips), false, true}};
  std::vector<Value> angles, others, results;
  for (int i = 0; i < kAngles + kOthers; ++i)
    (i < kAngles ? angles : others).push_back(load(k, 0, i, 0, trips > 1 ? dice.below(2) : 0));
  for (int call = 0; call < kCalls; ++call) {
    results.push_back(apply(k, dice.below(2) == 0 ? Op::sin : Op::cos, t, angles[std::size_t(dice.below(kAngles))]));
    for (int i = 0; i < kBetween; ++i) {
      Value& v = others[std::size_t(dice.below(kOthers))];
      v = apply(k, dice.below(2) == 0 ? Op::min : Op::max, t, v, others[std::size_t(dice.below(kOthers))]);
    }
  }
  results.insert(results.end(), others.begin(), others.end());
  for (int i = 0; i < kCalls + kOthers; ++i) store(k, 1, i, results[std::size_t(i)], trips > 1 ? kCalls + kOthers : 0);
  return k;
}

/// Whether the bits of one type may be taken for those of another.
inline bool casts(Type from, Type to) {
  return from != Type::b1 && to != Type::b1 && jit::ir::bytes(from) == jit::ir::bytes(to);
}

/// Two words of one type converted to another, and their bits taken for words of it where they are as many.
inline Kernel conversion(Type from, Type to, int lanes) {
  Kernel k;
  k.name = "convert";
  k.lanes = lanes;
  k.leaves = {{from, 2, true, false}, {to, 3, false, true}};
  store(k, 1, 0, apply(k, Op::convert, to, load(k, 0, 0)));
  store(k, 1, 1, apply(k, Op::convert, to, load(k, 0, 1)));
  store(k, 1, 2, apply(k, casts(from, to) ? Op::bitcast : Op::convert, to, load(k, 0, 1)));
  return k;
}

/// Integer quotient and remainder, a float made integer: three words of one site.
inline Kernel corners() {
  Kernel k;
  k.name = "corners";
  k.leaves = {{Type::i32, 2, true, false}, {Type::f64, 1, true, false}, {Type::i32, 3, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1);
  store(k, 2, 0, apply(k, Op::div, Type::i32, a, b));
  store(k, 2, 1, apply(k, Op::rem, Type::i32, a, b));
  store(k, 2, 2, apply(k, Op::convert, Type::i32, load(k, 1, 0)));
  return k;
}

/// Runs corners() by `disagreements` and compares what it gives with what the IR's meaning says.
template <class Disagreements>
void check_corners(const Disagreements& disagreements) {
  const Kernel k = corners();
  Lab bench(k, 1);
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  const std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  constexpr int kCases = 6;  // as many as the smallest lab has sites
  const std::int32_t dividends[kCases] = {7, lowest, lowest, -9, 7, -9}, divisors[kCases] = {0, -1, 0, 4, -1, -1},
                     quotients[kCases] = {0, lowest, 0, -2, -7, 9}, remainders[kCases] = {0, 0, 0, -1, 0, 0};
  const double reals[kCases] = {1e30, -1e30, std::nan(""), -2.9, 2147483647.5, -2147483648.5};
  const std::int32_t integers[kCases] = {highest, lowest, 0, -2, highest, lowest};
  for (int p = 0; p < bench.sites(); ++p) {
    std::uint64_t bits;
    std::memcpy(&bits, &reals[p % kCases], sizeof bits);
    bench.fields()[0].set(p, 0, std::uint32_t(dividends[p % kCases]));
    bench.fields()[0].set(p, 1, std::uint32_t(divisors[p % kCases]));
    bench.fields()[1].set(p, 0, bits);
  }
  CHECK(disagreements(bench) == 0);
  for (int p = 0; p < kCases; ++p) {
    CHECK(std::int32_t(bench.fields()[2].get(p, 0).bits) == quotients[p]);
    CHECK(std::int32_t(bench.fields()[2].get(p, 1).bits) == remainders[p]);
    CHECK(std::int32_t(bench.fields()[2].get(p, 2).bits) == integers[p]);
  }
}

/// a * b + c, rounded once and rounded twice.
inline Kernel rounding() {
  Kernel k;
  k.name = "rounding";
  k.leaves = {{Type::f64, 3, true, false}, {Type::f64, 2, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1), c = load(k, 0, 2);
  store(k, 1, 0, apply(k, Op::fma, Type::f64, a, b, c));
  store(k, 1, 1, apply(k, Op::add, Type::f64, apply(k, Op::mul, Type::f64, a, b), c));
  return k;
}

/// Runs rounding() by `run` where the two differ.
template <class Run>
void check_rounding(const Run& run) {
  const Kernel k = rounding();
  Lab bench(k, 1);
  const double x = 1 + std::ldexp(1.0, -30), z = -1 - std::ldexp(1.0, -29);
  for (int p = 0; p < bench.sites(); ++p)
    for (int i = 0; i < 3; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, i < 2 ? &x : &z, sizeof bits);
      bench.fields()[0].set(p, i, bits);
    }
  run(bench, k);
  CHECK(bench.fields()[1].get(5, 0).real() == std::ldexp(1.0, -60));
  CHECK(bench.fields()[1].get(5, 1).real() == 0);
}

/// Of two fused multiply-adds one is of a truth value that is known: 0 in any case. Computed in t, between fields in single precision.
inline Kernel known_truths(Type t, int lanes) {
  Kernel k;
  k.name = "known_truths";
  k.lanes = lanes;
  k.leaves = {{Type::f32, 1, true, false}, {Type::f32, 1, false, true}};
  const auto as = [&](Type type, Value x) {
    return k.nodes[std::size_t(x)].type == type ? x : apply(k, Op::convert, type, x);
  };
  const Value never = push(k, {.op = Op::constant, .type = Type::b1}), zero = as(t, never), x = as(t, load(k, 0, 0));
  const Value known = apply(k, Op::fma, t, apply(k, Op::select, t, never, x, zero), zero, zero);
  store(k, 1, 0, as(Type::f32, apply(k, Op::fma, t, x, apply(k, Op::add, t, x, known), x)));
  return k;
}

/// Quotients and sums of products beside fused multiply-adds of the same words, with signs and constants that both could be freed of.
/// With `last_op` select or sin, which LLVM's quick selection does not know on vectors and words, one word is computed by that behind all others.
inline Kernel products(Type t, int lanes, Op last_op) {
  Kernel k;
  k.name = "products";
  k.lanes = lanes;
  k.leaves = {{t, 3, true, false}, {t, 20, false, true}};
  const Value a = load(k, 0, 0), b = load(k, 0, 1), c = load(k, 0, 2);
  const auto number = [&](double x) { return push(k, {.op = Op::constant, .type = t, .real = x}); };
  const Value product = apply(k, Op::mul, t, a, b), fused = apply(k, Op::fma, t, a, b, c), three = number(3);
  store(k, 1, 0, apply(k, Op::div, t, product, c));
  store(k, 1, 1, fused);
  store(k, 1, 2, apply(k, Op::add, t, product, c));
  store(k, 1, 3, apply(k, Op::div, t, fused, b));
  store(k, 1, 4, apply(k, Op::div, t, apply(k, Op::mul, t, b, c), apply(k, Op::mul, t, c, a)));
  store(k, 1, 5, apply(k, Op::fma, t, product, three, apply(k, Op::div, t, a, three)));
  store(k, 1, 6, apply(k, Op::fma, t, number(-7), three, a));
  store(k, 1, 7, apply(k, Op::fma, t, apply(k, Op::neg, t, a), b, apply(k, Op::neg, t, product)));
  store(k, 1, 8, apply(k, Op::div, t, apply(k, Op::neg, t, a), number(0)));
  const auto minus = [&](Value x) { return apply(k, Op::neg, t, x); };
  int at = 9;
  const auto other = [&](Value x) {
    return apply(k, Op::add, t, x, number(at));
  };  // no two are alike: LLVM would leave those
  for (int first = 0; first < 4; ++first)
    for (int last = 0; last < 3; ++last) {
      const Value x = other(a), z = other(c);
      const Value factors[] = {x, minus(x), number(-2 - at), apply(k, Op::mul, t, x, number(-2 - at))},
                  summands[] = {minus(z), number(-3), number(7)};
      store(k, 1, at++, apply(k, Op::fma, t, factors[first], other(b), summands[last]));
    }
  store(k, 1, at++, apply(k, Op::div, t, minus(apply(k, Op::mul, t, a, b)), minus(c)));
  k.leaves[1].components = std::int16_t(at + 1);
  Value behind = a;
  if (last_op == Op::select) behind = apply(k, Op::select, t, apply(k, Op::lt, Type::b1, a, b), fused, c);
  if (last_op == Op::sin) behind = apply(k, Op::sin, t, fused);
  store(k, 1, at, behind);
  return k;
}

/// A fused multiply-add of doubles beside words of 4 bytes, whose vectors take two registers or more, and some by the numbers that
/// truth values are which are known when code is made.
inline Kernel fused_by_truth(int lanes, int by_truth) {
  Kernel k;
  k.name = "fused_by_truth";
  k.lanes = lanes;
  k.leaves = {
      {Type::f32, 3, true, false}, {Type::f32, std::int16_t(by_truth + 5), false, true}, {Type::b1, 1, true, false}};
  const Value truth = load(k, 2, 0);
  const auto wide = [&](Value x) { return apply(k, Op::convert, Type::f64, x); };
  const Value a = wide(load(k, 0, 0)), b = wide(load(k, 0, 1)), c = wide(load(k, 0, 2)),
              one = wide(push(k, {.op = Op::constant, .type = Type::b1, .integer = 1}));
  const auto store_fused = [&](int at, Value x, Value y, Value z) {
    store(k, 1, at, apply(k, Op::convert, Type::f32, apply(k, Op::fma, Type::f64, x, y, z)));
  };
  store_fused(by_truth, a, b, c);
  // By which signs could change places.
  const Value equal = push(k, {.op = Op::convert, .type = Type::f64, .a = apply(k, Op::eq, Type::b1, truth, truth)});
  int at = by_truth;
  for (const Value x : {one, equal}) {
    const Value minus = apply(k, Op::sub, Type::f64, apply(k, Op::sub, Type::f64, x, x), x);
    for (const Value y : {minus, c}) {
      const Value fused = apply(k, Op::fma, Type::f64, a, b, apply(k, Op::div, Type::f64, y, minus));
      store(k, 1, ++at, apply(k, Op::convert, Type::f32, apply(k, Op::sub, Type::f64, minus, fused)));
    }
  }
  for (int i = 0; i < by_truth; ++i)
    store_fused(i, apply(k, Op::add, Type::f64, a, push(k, {.op = Op::constant, .type = Type::f64, .real = i + 0.5})),
                one, one);
  return k;
}

/// A fused multiply-add whose sign could change places, were it seen that a quotient is by -1.
inline Kernel signs_by_truth(int lanes) {
  Kernel k;
  k.name = "signs_by_truth";
  k.lanes = lanes;
  k.leaves = {{Type::f64, 1, false, true}};
  const Value one = apply(k, Op::convert, Type::f64, push(k, {.op = Op::constant, .type = Type::b1, .integer = 1})),
              minus = apply(k, Op::sub, Type::f64, apply(k, Op::sub, Type::f64, one, one), one),
              fused = apply(k, Op::fma, Type::f64, one, one, apply(k, Op::div, Type::f64, minus, minus));
  store(k, 0, 0, apply(k, Op::sub, Type::f64, minus, fused));
  return k;
}

/// Five trips: loads and stores with strides, reductions over the trips.
inline Kernel trips(int lanes) {
  Kernel k;
  k.name = "trips";
  k.lanes = lanes;
  k.trips = 5;
  k.leaves = {{Type::f32, 10, true, false}, {Type::f64, 5, false, true}};
  const Value x = load(k, 0, 0, 0, 2), y = load(k, 0, 9);
  const Value z = apply(k, Op::convert, Type::f64, apply(k, Op::mul, Type::f32, x, y));
  store(k, 1, 4, z, -1);
  k.reductions = {{jit::ir::Reduction::Kind::sum, z}, {jit::ir::Reduction::Kind::min, z}};
  return k;
}

/// Three rounds of four trips: rows and columns.
inline Kernel rounds(int lanes) {
  Kernel k;
  k.name = "rounds";
  k.lanes = lanes;
  k.trips = 4;
  k.rounds = 3;
  k.leaves = {{Type::f32, 12, true, false}, {Type::f64, 12, false, true}};
  const Value x = load(k, 0, 0, 0, 1, 4), y = load(k, 0, 9, 0, 0, -4), fixed = load(k, 0, 5);
  const Value z = apply(k, Op::convert, Type::f64, apply(k, Op::fma, Type::f32, x, y, fixed));
  store(k, 1, 0, z, 3, 1);
  k.reductions = {{jit::ir::Reduction::Kind::sum, z}, {jit::ir::Reduction::Kind::min, z}};
  return k;
}

/// Words of four bytes, of the site and of a neighbour, which are stored, and added up and compared in double precision.
inline Kernel reduced(int lanes, bool listed = false, int trips = 1) {
  Kernel k;
  k.name = "reduced";
  k.lanes = lanes;
  k.listed = listed;
  k.trips = trips;
  k.leaves = {{Type::f32, 8, true, false}, {Type::i32, 1, true, false}, {Type::f32, 8, false, true}};
  k.arguments = {Type::f64};
  k.slots.push_back({0, false, {.flip = std::uint8_t(lanes / 2)}});
  const Value two = push(k, {.op = Op::constant, .type = Type::f64, .real = 2}),
              factor = push(k, {.op = Op::argument, .type = Type::f64}),
              number = apply(k, Op::convert, Type::f64, load(k, 1, 0));
  Value sum = apply(k, Op::mul, Type::f64, number, factor), least = number, most = two;
  for (int c = 0; c < 4; ++c) {
    const Value x = load(k, 0, c, 0, trips > 1 ? 1 : 0), y = permute(k, 1, load(k, 0, c, 1));
    const Value z = apply(k, Op::sub, Type::f32, x, y);
    store(k, 2, c, z, trips > 1 ? 1 : 0);
    const Value wide = apply(k, Op::convert, Type::f64, z), other = apply(k, Op::convert, Type::f64, y);
    sum = c % 2 == 0 ? apply(k, Op::fma, Type::f64, wide, other, sum)
                     : apply(k, Op::sub, Type::f64, sum, apply(k, Op::mul, Type::f64, two, wide));
    least = apply(k, Op::min, Type::f64, least, apply(k, Op::neg, Type::f64, wide));
    most = apply(k, Op::max, Type::f64, most, apply(k, Op::abs, Type::f64, other));
  }
  using Kind = jit::ir::Reduction::Kind;
  k.reductions = {{Kind::sum, sum}, {Kind::min, least}, {Kind::max, most}, {Kind::sum, number}};
  return k;
}

/// Nested exchanges of lanes, the second one of the halves of a group, then a gathered slot.
inline Kernel halves(int lanes, jit::LaneExchange exchange) {
  Kernel k;
  k.name = "halves";
  k.lanes = lanes;
  k.leaves = {{Type::f64, 1, true, false}, {Type::f32, 1, true, false}, {Type::f64, 2, false, true}};
  k.slots.push_back({0, false, exchange});
  k.slots.push_back({1, false, {.flip = std::uint8_t(lanes / 2)}});
  k.slots.push_back({2, true, 0});
  store(k, 2, 0, permute(k, 1, load(k, 0, 0, 1)));
  const Value deep = permute(k, 3, apply(k, Op::convert, Type::f64, load(k, 1, 0, 3)));
  store(k, 2, 1, permute(k, 1, permute(k, 2, apply(k, Op::add, Type::f64, deep, load(k, 0, 0, 2)))));
  return k;
}

/// A product of four matrices of neighbours, up to three steps away, from the right; and the first of them once more.
inline Kernel product_of_neighbours(Type t, int lanes, jit::LaneExchange exchange, jit::LaneExchange other) {
  constexpr int kRows = 5;
  Kernel k;
  k.name = "product_of_neighbours";
  k.lanes = lanes;
  k.slots.push_back({0, false, exchange});
  k.slots.push_back({1, false, other});
  k.slots.push_back({2, false, exchange});
  k.slots.push_back({1, false, exchange});
  const auto times = [&](const std::vector<Value>& left, const std::vector<Value>& right) {
    std::vector<Value> sums;
    for (int c = 0; c < kRows * kRows; ++c)
      for (int b = 0; b < kRows; ++b) {
        const Value l = left[std::size_t(c / kRows * kRows + b)], r = right[std::size_t(b * kRows + c % kRows)];
        if (b == 0)
          sums.push_back(apply(k, Op::mul, t, l, r));
        else
          sums.back() = apply(k, Op::fma, t, l, r, sums.back());
      }
    return sums;
  };
  std::vector<Value> first, product;
  for (int leaf = 0; leaf < 4; ++leaf) {
    k.leaves.push_back({t, kRows * kRows, true, false});
    std::vector<Value> factor;
    for (int c = 0; c < kRows * kRows; ++c) {
      factor.push_back(load(k, leaf, c, leaf + 1));
      for (int slot = leaf + 1; slot != 0; slot = k.slots[std::size_t(slot)].parent)
        factor.back() = permute_at_once(k, slot, factor.back());
    }
    if (leaf == 0) first = factor;
    product = leaf == 0 ? factor : times(factor, product);
  }
  product = times(first, product);
  k.leaves.push_back({t, kRows * kRows, false, true});
  for (int c = 0; c < kRows * kRows; ++c) store(k, 4, c, product[std::size_t(c)]);
  return k;
}

/// A Wilson hopping term: for eight neighbours a half spinor times a link, 18 reals per link. Leaf 0: spinor [4][3][2],
/// leaves 1 to 4: links [3][3][2], leaf 5: result.
inline Kernel wilson_hop(Type t, int lanes) {
  Kernel k;
  k.name = std::string("hop_") + jit::ir::name(t);
  k.lanes = lanes;
  k.leaves.push_back({t, 24, true, false});
  for (int mu = 0; mu < 4; ++mu) k.leaves.push_back({t, 18, true, false});
  k.leaves.push_back({t, 24, false, true});
  jit::ir::Builder b(k);
  struct Complex {
    Value re, im;
  };
  const auto word = [&](int leaf, int slot, int c) {
    return b.load({std::int16_t(leaf), std::int16_t(slot), std::int16_t(c), 0});
  };
  const auto number = [&](int leaf, int slot, int c) {
    return Complex{word(leaf, slot, 2 * c), word(leaf, slot, 2 * c + 1)};
  };
  const auto add = [&](Complex x, Complex y) { return Complex{b.add(x.re, y.re), b.add(x.im, y.im)}; };
  const auto times_power_of_i = [&](Complex x, int power) {
    for (; power % 4 != 0; ++power) x = {x.im, b.neg(x.re)};  // times -i
    return x;
  };
  const auto multiply_add = [&](Complex x, bool conjugate, Complex y, Complex z) {  // x y + z
    const Value im = conjugate ? b.neg(x.im) : x.im;
    z.re = b.fma(x.re, y.re, b.fma(b.neg(im), y.im, z.re));
    z.im = b.fma(x.re, y.im, b.fma(im, y.re, z.im));
    return z;
  };
  // gamma_mu takes spin s (0, 1) to partner, times i^phase (DeGrand-Rossi)
  constexpr int kPartner[4][2] = {{3, 2}, {3, 2}, {2, 3}, {2, 3}}, kPhase[4][2] = {{1, 1}, {2, 0}, {1, 3}, {0, 0}};
  std::vector<Complex> out;
  for (int i = 0; i < 12; ++i) out.push_back({b.constant(t, 0), b.constant(t, 0)});
  for (int mu = 0; mu < 4; ++mu)
    for (const bool forward : {true, false}) {
      const int slot = int(k.slots.size());
      k.slots.push_back({0, false, {.flip = std::uint8_t((1 << mu) % lanes)}});
      Complex half[2][3], product[2][3];
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < 3; ++c) {
          const int phase = kPhase[mu][s] + (forward ? 2 : 0);
          half[s][c] =
              add(number(0, slot, 3 * s + c), times_power_of_i(number(0, slot, 3 * kPartner[mu][s] + c), phase));
          if (forward) half[s][c] = {b.permute(slot, half[s][c].re), b.permute(slot, half[s][c].im)};
        }
      for (int s = 0; s < 2; ++s)
        for (int a = 0; a < 3; ++a) {
          Complex z{b.constant(t, 0), b.constant(t, 0)};
          for (int c = 0; c < 3; ++c) {
            const Complex u = forward ? number(1 + mu, 0, 3 * a + c) : number(1 + mu, slot, 3 * c + a);
            z = multiply_add(u, !forward, half[s][c], z);
          }
          if (!forward) z = {b.permute(slot, z.re), b.permute(slot, z.im)};
          product[s][a] = z;
        }
      for (int s = 0; s < 2; ++s)
        for (int a = 0; a < 3; ++a) {
          Complex& low = out[std::size_t(3 * kPartner[mu][s] + a)];
          out[std::size_t(3 * s + a)] = add(out[std::size_t(3 * s + a)], product[s][a]);
          low = add(low, times_power_of_i(product[s][a], 4 - kPhase[mu][s] + (forward ? 2 : 0)));
        }
    }
  for (int i = 0; i < 12; ++i) {
    store(k, 5, 2 * i, out[std::size_t(i)].re);
    store(k, 5, 2 * i + 1, out[std::size_t(i)].im);
  }
  b.finish();
  return k;
}

/// What kernels can do: bits flipped, and rings of two or more bits within half a group that go around.
inline std::vector<jit::LaneExchange> every_exchange(int lanes) {
  std::vector<jit::LaneExchange> all;
  for (int flip = 1; flip < lanes; ++flip) all.push_back({.flip = std::uint8_t(flip)});
  for (int pieces = 4; pieces <= lanes / 2; pieces *= 2)
    for (int stride = 1; stride * pieces <= lanes / 2; stride *= 2)
      for (int steps = 1; steps < pieces; ++steps)
        for (int flip : {0, 1, lanes / 2})
          if (const int ring = (pieces - 1) * stride; (flip & ring) == 0)
            all.push_back({std::uint8_t(flip), std::uint8_t(ring), std::uint8_t(steps * stride)});
  return all;
}

/// What random programs may have.
struct Ingredients {
  bool rings = true;      ///< lanes may go round, else they are flipped only
  bool gathers = true;    ///< gathered slots
  bool quotients = true;  ///< of integers, and remainders
  bool truths = true;     ///< truth values
};

/// A random program: leaves and arguments of all types, nested structured and gathered slots, any operation.
inline Kernel random_kernel(unsigned seed, int lanes, bool small_words, const Ingredients& may_have = {}) {
  Dice dice(seed);
  Kernel k;
  k.name = "random_" + std::to_string(seed);
  k.lanes = lanes;
  k.trips = dice.below(3) == 0 ? 3 : 1;
  k.rounds = k.trips > 1 && dice.below(2) ? 2 : 1;
  k.listed = dice.below(2) == 0;
  const auto any_type = [&] {
    Type t = kTypes[dice.below(5)];
    while (t == Type::b1 && !may_have.truths) t = kTypes[dice.below(5)];
    return small_words && jit::ir::bytes(t) == 8 ? (t == Type::i64 ? Type::i32 : Type::f32) : t;
  };
  for (int i = 0; i < 4; ++i) k.leaves.push_back({any_type(), 6, true, false});
  for (int i = 0; i < 3; ++i) k.leaves.push_back({any_type(), 6, i == 2, true});
  for (int i = 0; i < 3; ++i) k.arguments.push_back(any_type());
  for (int i = 0; i < 2; ++i) k.arguments.push_back(Type::i32);  // by which places are shifted
  const auto shifted = [&](Place p) {
    if (dice.below(4) == 0) p.shifted_by = std::int16_t(3 + dice.below(2));
    return p;
  };
  const int slots = dice.below(5);
  auto exchanges = every_exchange(lanes);
  if (!may_have.rings) std::erase_if(exchanges, [](const jit::LaneExchange& exchange) { return exchange.ring != 0; });
  for (int i = 1; i <= slots; ++i) {
    const int parent = dice.below(i);
    const bool gathered = k.slots[std::size_t(parent)].gathered || (dice.below(4) == 0 && may_have.gathers);
    const std::size_t exchange = std::size_t(dice.below(int(exchanges.size()) + 1));
    k.slots.push_back({std::int16_t(parent), gathered,
                       gathered || exchange == exchanges.size() ? jit::LaneExchange{} : exchanges[exchange]});
  }
  std::vector<int> frame;  // of each node; -1: all
  const auto note = [&](int f, Value v) {
    frame.resize(std::size_t(v) + 1);
    frame[std::size_t(v)] = f;
    return v;
  };
  // Of a value of this frame; one that is the same in all may have been permuted out of another.
  const auto carry = [&](int f, Value v) {
    const bool at_once = frame[std::size_t(v)] == f && dice.below(2) == 0;
    return at_once ? permute_at_once(k, f, v) : permute(k, f, v);
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
    const int leap = leaf != 6 && k.rounds > 1 && component == 0 ? dice.below(2) : 0;
    const Value v = load(k, leaf, component, f, leaf == 6 ? 0 : stride(component), leap);
    k.nodes.back().place = shifted(k.nodes.back().place);
    return note(f, v);
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
      note(frame[std::size_t(v)] == -1 ? -1 : k.slots[std::size_t(f)].parent, carry(f, v));
      continue;
    }
    const Type t = any_type();
    // Not the bits of a float that was computed: which NaN it is may depend on the machine. Nor numbers whose sums overflow.
    if (t == Type::f32 && dice.below(4) == 0) {
      const Value v = operand(f, Type::i32);
      note(frame[std::size_t(v)], apply(k, Op::bitcast, t, v));
      continue;
    }
    Op op;
    do op = Op(int(Op::add) + dice.below(int(Op::select) - int(Op::add) + 1));
    while ((!takes(op, t) && op != Op::select) || (op >= Op::sin && op <= Op::fmod) ||
           (!may_have.quotients && is_int(t) && (op == Op::div || op == Op::rem)) ||
           (!may_have.truths && (op == Op::select || compares(op))));
    Node n{.op = op, .type = compares(op) ? Type::b1 : t};
    n.a = operand(f, op == Op::select ? Type::b1 : t);
    if (arity(op) > 1) n.b = operand(f, t);
    if (arity(op) > 2) n.c = operand(f, t);
    int result = -1;
    for (Value v : {n.a, n.b, n.c})
      if (v != jit::ir::kNone && frame[std::size_t(v)] != -1) result = f;
    note(result, push(k, n));
  }
  // What is stored is a value of the site's frame or one that came from any other, all the way.
  const auto from_afar = [&](Type t) {
    int f = dice.below(slots + 1);
    Value v = operand(f, t);
    while (f != 0 && frame[std::size_t(v)] != -1) {
      v = carry(f, v);
      f = k.slots[std::size_t(f)].parent;
      note(f, v);
    }
    return v;
  };
  for (int leaf = 4; leaf < 7; ++leaf)
    for (int c = 0; c < (k.trips > 1 ? 2 : 4); ++c) {
      const int s = k.trips > 1 && leaf != 6 ? 1 : 0;
      const Value v = from_afar(k.leaves[std::size_t(leaf)].word);
      store(k, leaf, c * (s ? 1 : 2) % 4, v, s, k.rounds > 1 && c == 0 && s);
      k.stores.back().place = shifted(k.stores.back().place);
    }
  if (!small_words)
    for (int kind = 0; kind < 3; ++kind)
      k.reductions.push_back({jit::ir::Reduction::Kind(kind), operand(0, Type::f64)});
  return k;
}

}  // namespace lab
