// Which operations on bits are one instruction together: those inside have no other user and are computed as often.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "codegen_kernels.hpp"
#include "jit/codegen/combinations.hpp"

using namespace lab;
using jit::BitInstructions;
using jit::Combination;
using Kind = jit::Combination::Kind;

namespace {

constexpr BitInstructions kAll = {.of_three = true, .splice = true};

Kernel words(int count, Type t = Type::i32, int trips = 1) {
  Kernel k;
  k.name = "bits";
  k.lanes = 8;
  k.trips = trips;
  k.leaves = {{t, std::int16_t(4 * count), true, false}, {t, 64, false, true}};
  for (int i = 0; i < count; ++i) load(k, 0, i);
  return k;
}
Value constant(Kernel& k, std::int64_t n) {
  return push(k, {.op = Op::constant, .type = k.leaves[0].word, .integer = n});
}
Value two(Kernel& k, Op op, Value a, Value b) { return apply(k, op, k.leaves[0].word, a, b); }
void keep(Kernel& k, Value v, int stride = 0) { store(k, 1, int(k.stores.size()), v, stride); }

std::vector<Combination> found(const Kernel& k, BitInstructions there_are = kAll) {
  jit::ir::verify(k);
  return jit::combinations(k, jit::schedule(k), there_are);
}
Kind kind(const std::vector<Combination>& c, Value v) { return c[std::size_t(v)].kind; }

/// (x >> by) & mask, with `above` joined to it.
struct Spliced {
  Kernel k = words(2);
  Value shifted, masked, joined;
  Spliced(int by, std::int64_t mask, Op op, auto&& above) {
    shifted = two(k, Op::shr, 0, constant(k, by));
    masked = two(k, Op::and_, shifted, constant(k, mask));
    joined = two(k, op, masked, above(k));
    keep(k, joined);
  }
};

}  // namespace

TEST_CASE("one bitwise operation upon another is a table of three bits") {
  const Op operations[] = {Op::and_, Op::or_, Op::xor_};
  const auto of = [](Op op, int a, int b) { return op == Op::and_ ? a & b : op == Op::or_ ? a | b : a ^ b; };
  for (const Op outer : operations)
    for (const Op first : operations)
      for (const bool behind : {false, true}) {
        Kernel k = words(3);
        const Value inner = two(k, first, 0, 1), whole = behind ? two(k, outer, 2, inner) : two(k, outer, inner, 2);
        keep(k, whole);
        const auto c = found(k);
        REQUIRE(kind(c, whole) == Kind::bits);
        CHECK(kind(c, inner) == Kind::inside);
        const Combination& how = c[std::size_t(whole)];
        CHECK(std::ranges::equal(how.of, std::array<Value, 3>{0, 1, 2}));
        for (int i = 0; i < 8; ++i) CHECK((how.how >> i & 1) == of(outer, of(first, i >> 2 & 1, i >> 1 & 1), i & 1));
        CHECK(kind(found(k, {}), whole) == Kind::none);
        CHECK(kind(found(k, {}), inner) == Kind::none);
      }
}

TEST_CASE("what has another user, or is computed less often, stays by itself") {
  Kernel k = words(3);
  const Value inner = two(k, Op::and_, 0, 1), whole = two(k, Op::or_, inner, 2);
  keep(k, whole);
  SUBCASE("a store") { keep(k, inner); }
  SUBCASE("an operation") { keep(k, two(k, Op::add, inner, 2)); }
  SUBCASE("the same one twice") {
    const Value twice = two(k, Op::xor_, inner, inner);
    k.stores[0].value = twice;
  }
  SUBCASE("in each trip") {
    k = words(2, Type::i32, 3);
    two(k, Op::and_, 0, 1);
    const Value other = load(k, 0, 2, 0, 1);
    keep(k, two(k, Op::or_, 2, other), 20);
  }
  const auto c = found(k);
  for (const Combination& n : c) CHECK(n.kind == Kind::none);
}

TEST_CASE("shifts with noughts from above, and with other bits there") {
  const auto upper = [](Kernel& k) { return constant(k, std::int64_t{0x4B00} << 16); };
  for (const Op op : {Op::or_, Op::xor_, Op::add}) {
    const Spliced s(16, 0xFFFF, op, upper);
    const auto c = found(s.k);
    REQUIRE(kind(c, s.joined) == Kind::splice);
    CHECK(c[std::size_t(s.joined)].upper == 0x4B00);
    CHECK(c[std::size_t(s.joined)].how == 16);
    CHECK(kind(c, s.masked) == Kind::inside);
    CHECK(kind(c, s.shifted) == Kind::inside);
    const auto without = found(s.k, {.of_three = true});
    CHECK(kind(without, s.joined) == Kind::none);
    CHECK(kind(without, s.masked) == Kind::shift);
  }
}

TEST_CASE("what lies above a shift is no instruction, unless somebody else wants it where it lies") {
  for (const bool has_other_user : {false, true}) {
    Kernel k = words(3);
    const Value above = two(k, Op::shl, 1, constant(k, 21));
    Value joined[2];
    for (const Value of : {0, 2}) {
      const Value masked = two(k, Op::and_, two(k, Op::shr, of, constant(k, 11)), constant(k, 0x1FFFFF));
      joined[of / 2] = two(k, Op::or_, masked, above);
      keep(k, joined[of / 2]);
    }
    if (has_other_user) keep(k, two(k, Op::add, above, 2));
    const auto c = found(k);
    for (const Value v : joined) {
      REQUIRE(kind(c, v) == Kind::splice);
      CHECK(c[std::size_t(v)].of[1] == 1);
    }
    CHECK(kind(c, above) == (has_other_user ? Kind::none : Kind::inside));
  }
}

TEST_CASE("what only looks like such a shift is none") {
  const auto upper = [](Kernel& k) { return constant(k, std::int64_t{0x4B00} << 16); };
  for (const std::int64_t mask : {0x7FFF, 0x1FFFF, 0xFF}) {
    const Spliced s(16, mask, Op::or_, upper);
    const auto c = found(s.k, {});
    for (const Combination& n : c) CHECK(n.kind == Kind::none);
  }
  const Spliced meets(16, 0xFFFF, Op::or_, [](Kernel& k) { return constant(k, (0x4B00 << 16) | 1); }),
      apart(16, 0xFFFF, Op::or_, [](Kernel& k) { return two(k, Op::shl, 1, constant(k, 17)); }),
      product(16, 0xFFFF, Op::and_, upper);
  for (const Spliced* s : {&meets, &apart, &product}) {
    CHECK(kind(found(s->k), s->joined) != Kind::splice);
    CHECK(kind(found(s->k), s->masked) == Kind::shift);
  }
  Kernel k = words(1, Type::i64);
  const Value masked = two(k, Op::and_, two(k, Op::shr, 0, constant(k, 16)), constant(k, 0xFFFF));
  keep(k, masked);
  for (const Combination& n : found(k)) CHECK(n.kind == Kind::none);  // of 64 bits, 48 are left
}
