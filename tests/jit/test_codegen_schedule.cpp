// The order of emission: complete, operands first, few values alive at a time, stores after the loads they overwrite.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "jit/codegen/schedule.hpp"

using namespace jit::ir;
using jit::Schedule;
using jit::Step;

namespace {

Value push(Kernel& k, Node n) {
  k.nodes.push_back(n);
  return Value(k.nodes.size()) - 1;
}
Value load(Kernel& k, int leaf, int component, int stride = 0) {
  return push(k, {.op = Op::load,
                  .type = Type::f32,
                  .place = {std::int16_t(leaf), 0, std::int16_t(component), std::int16_t(stride)}});
}
Value apply(Kernel& k, Op op, Value a, Value b, Value c = kNone) {
  return push(k, {.op = op, .type = Type::f32, .a = a, .b = b, .c = c});
}
void store(Kernel& k, int leaf, int component, Value v, int stride = 0) {
  k.stores.push_back({{std::int16_t(leaf), 0, std::int16_t(component), std::int16_t(stride)}, v});
}

/// out = sum over terms of (matrix m x m) * (matrix m x columns), as a front end makes it: product by product, in full.
Kernel sum_of_products(int terms, int m, int columns) {
  Kernel k;
  const auto words = [](int n) { return std::int16_t(n); };
  for (int t = 0; t < terms; ++t) {
    k.leaves.push_back({Type::f32, words(m * m), true, false});
    k.leaves.push_back({Type::f32, words(m * columns), true, false});
  }
  k.leaves.push_back({Type::f32, words(m * columns), false, true});
  std::vector<Value> total;
  for (int t = 0; t < terms; ++t) {
    std::vector<Value> u, x, product;
    for (int i = 0; i < m * m; ++i) u.push_back(load(k, 2 * t, i));
    for (int i = 0; i < m * columns; ++i) x.push_back(load(k, 2 * t + 1, i));
    for (int s = 0; s < columns; ++s)
      for (int a = 0; a < m; ++a) {
        Value z = kNone;
        for (int b = 0; b < m; ++b) {
          const Value l = u[std::size_t(a * m + b)], r = x[std::size_t(s * m + b)];
          z = b == 0 ? apply(k, Op::mul, l, r) : apply(k, Op::fma, l, r, z);
        }
        product.push_back(z);
      }
    for (std::size_t i = 0; i < product.size(); ++i) {
      if (t == 0)
        total.push_back(product[i]);
      else
        total[i] = apply(k, Op::add, total[i], product[i]);
    }
  }
  for (std::size_t i = 0; i < total.size(); ++i) store(k, 2 * terms, int(i), total[i]);
  verify(k);
  return k;
}

std::vector<Step> steps(const Schedule& s) {
  std::vector<Step> all = s.once;
  all.insert(all.end(), s.each.begin(), s.each.end());
  return all;
}

/// Most values alive at once if every value sits in a register from its step to its last use.
int pressure(const Kernel& k, const std::vector<Step>& order) {
  std::vector<int> last(k.nodes.size(), -1);
  const auto use = [&](Value v, int at) {
    if (v != kNone) last[std::size_t(v)] = at;
  };
  for (int i = 0; i < int(order.size()); ++i) {
    const Step& s = order[std::size_t(i)];
    if (s.kind == Step::Kind::store) use(k.stores[std::size_t(s.number)].value, i);
    if (s.kind == Step::Kind::reduction) use(k.reductions[std::size_t(s.number)].value, i);
    if (s.kind == Step::Kind::node)
      for (Value v :
           {k.nodes[std::size_t(s.number)].a, k.nodes[std::size_t(s.number)].b, k.nodes[std::size_t(s.number)].c})
        use(v, i);
  }
  int alive = 0, most = 0;
  std::vector<int> ends(order.size(), 0);
  for (int at : last)
    if (at >= 0) ++ends[std::size_t(at)];
  for (std::size_t i = 0; i < order.size(); ++i) {
    alive -= ends[i];
    alive += order[i].kind == Step::Kind::node;
    most = std::max(most, alive);
  }
  return most;
}

/// Every live node and store once, operands before users.
bool complete(const Kernel& k, const std::vector<Step>& order, std::size_t nodes) {
  std::vector<bool> done(k.nodes.size(), false);
  std::size_t count = 0, stores = 0;
  for (const Step& s : order) {
    if (s.kind == Step::Kind::store) {
      ++stores;
      if (!done[std::size_t(k.stores[std::size_t(s.number)].value)]) return false;
    }
    if (s.kind != Step::Kind::node) continue;
    ++count;
    const Node& n = k.nodes[std::size_t(s.number)];
    for (Value v : {n.a, n.b, n.c})
      if (v != kNone && !done[std::size_t(v)]) return false;
    if (done[std::size_t(s.number)]) return false;
    done[std::size_t(s.number)] = true;
  }
  return count == nodes && stores == k.stores.size();
}

int position(const std::vector<Step>& order, Step::Kind kind, int number) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i].kind == kind && order[i].number == number) return int(i);
  return -1;
}

}  // namespace

TEST_CASE("what is unpacked and projected waits in memory until it is multiplied") {
  constexpr int kWords = 12, kHalf = kWords;  // two numbers in a word; as many of their sums
  const auto rows = [&](bool packed) {
    Kernel k;
    k.leaves = {{packed ? Type::i32 : Type::f32, std::int16_t(packed ? kWords : 2 * kWords), true, false},
                {Type::f32, 6 * kHalf, true, false},
                {Type::f32, kHalf, false, true}};
    std::vector<Value> numbers, sums;
    if (packed) {
      const auto of_bits = [&](Op op, Value a, std::int64_t b) {
        const Value with = push(k, {.op = Op::constant, .type = Type::i32, .integer = b});
        return push(k, {.op = op, .type = Type::i32, .a = a, .b = with});
      };
      for (int i = 0; i < kWords; ++i) {
        const Value word = push(k, {.op = Op::load, .type = Type::i32, .place = {0, 0, std::int16_t(i), 0}});
        for (const Value half : {of_bits(Op::and_, word, 0xFFFF), of_bits(Op::shr, word, 16)})
          numbers.push_back(push(k, {.op = Op::bitcast, .type = Type::f32, .a = of_bits(Op::or_, half, 0x4B000000)}));
      }
    } else {
      for (int i = 0; i < 2 * kWords; ++i) numbers.push_back(load(k, 0, i));
    }
    for (int i = 0; i < kHalf; ++i)
      sums.push_back(apply(k, Op::add, numbers[std::size_t(i)], numbers[std::size_t(i + kHalf)]));
    for (int i = 0; i < kHalf; ++i) {
      Value z = kNone;
      for (int j = 0; j < 6; ++j) {
        const Value u = load(k, 1, 6 * i + j), x = sums[std::size_t(i / 6 * 6 + j)];
        z = j == 0 ? apply(k, Op::mul, u, x) : apply(k, Op::fma, u, x, z);
      }
      store(k, 2, i, z);
    }
    verify(k);
    return k;
  };
  for (const bool packed : {false, true}) {
    const Kernel k = rows(packed);
    const auto order = steps(jit::schedule(k));
    CHECK(complete(k, order, k.nodes.size()));
    CHECK(pressure(k, order) <= 6 + 8);  // the sums of one half; in the given order they are 12, and numbers 24
  }
}

TEST_CASE("products are added row by row: what is alive hardly grows with the number of terms") {
  const Kernel one = sum_of_products(1, 6, 2), eight = sum_of_products(8, 6, 2);
  const auto a = steps(jit::schedule(one)), b = steps(jit::schedule(eight));
  CHECK(complete(one, a, one.nodes.size()));
  CHECK(complete(eight, b, eight.nodes.size()));
  CHECK(pressure(eight, b) <=
        12 + 12 + 8);  // results, one operand, a row in work; 96 values are alive in the given order
  std::vector<Step> given;
  for (std::size_t i = 0; i < eight.nodes.size(); ++i) given.push_back({Step::Kind::node, int(i)});
  for (std::size_t i = 0; i < eight.stores.size(); ++i) given.push_back({Step::Kind::store, int(i)});
  CHECK(pressure(eight, given) > 2 * pressure(eight, b));
}

TEST_CASE("what is stored as it was loaded, permuted or given is stored once") {
  for (int trips : {1, 2}) {
    CAPTURE(trips);
    Kernel k;
    k.trips = trips;
    k.leaves = {{Type::f32, 8, true, false}, {Type::f32, 8, false, true}, {Type::f32, 8, true, true}};
    k.arguments = {Type::f32};
    k.slots.push_back({0, false, 8});
    k.slots.push_back({1, false, 4});
    const int stride = trips == 1 ? 0 : 4;
    const Value copied = load(k, 0, 0, stride), own = load(k, 2, 1);
    const Value far = push(k, {.op = Op::load, .type = Type::f32, .place = {0, 2, 3}});
    const Value near = push(k, {.op = Op::permute, .type = Type::f32, .a = far, .integer = 2});
    const Value here = push(k, {.op = Op::permute, .type = Type::f32, .a = near, .integer = 1});
    const Value zero = push(k, {.op = Op::constant, .type = Type::f32});
    const Value given = push(k, {.op = Op::argument, .type = Type::f32});
    const Value sum = apply(k, Op::add, copied, here);
    int component = 0;
    for (const Value v : {copied, here, zero, given, sum, own, copied, zero})
      if (component < 4 || stride == 0) store(k, 1, component++, v, stride);
    store(k, 2, 1, here);
    verify(k);
    const std::size_t dead = stride == 0 ? 0 : 2;  // the last ones of those that are not stored
    CHECK(complete(k, steps(jit::schedule(k)), k.nodes.size() - dead));
  }
}

TEST_CASE("what is loaded and permuted moves down to its first use, as what is loaded does") {
  Kernel k = sum_of_products(1, 6, 2);
  k.slots.push_back({0, false, 8});
  Kernel moved = k;
  moved.nodes.clear();
  std::vector<Value> now(k.nodes.size());
  for (std::size_t i = 0; i < k.nodes.size(); ++i) {
    Node n = k.nodes[i];
    for (Value* v : {&n.a, &n.b, &n.c})
      if (*v != kNone) *v = now[std::size_t(*v)];
    if (n.op == Op::load) n.place.slot = 1;
    now[i] = push(moved, n);
    if (n.op == Op::load) now[i] = push(moved, {.op = Op::permute, .type = n.type, .a = now[i], .integer = 1});
  }
  for (Store& s : moved.stores) s.value = now[std::size_t(s.value)];
  verify(moved);
  const auto plain = steps(jit::schedule(k)), order = steps(jit::schedule(moved));
  CHECK(complete(moved, order, moved.nodes.size()));
  CHECK(pressure(moved, order) <= pressure(k, plain) + 1);
}

TEST_CASE("results are stored as soon as they are there: long vectors need few registers") {
  Kernel k;
  k.leaves = {{Type::f32, 288, true, false}, {Type::f32, 288, true, false}, {Type::f32, 288, false, true}};
  std::vector<Value> x, y, sum;
  for (int i = 0; i < 288; ++i) x.push_back(load(k, 0, i));
  for (int i = 0; i < 288; ++i) y.push_back(load(k, 1, i));
  for (std::size_t i = 0; i < 288; ++i) sum.push_back(apply(k, Op::add, x[i], y[i]));
  for (int i = 0; i < 288; ++i) store(k, 2, i, sum[std::size_t(i)]);
  const auto order = steps(jit::schedule(k));
  CHECK(complete(k, order, k.nodes.size()));
  CHECK(pressure(k, order) <= 3);
}

TEST_CASE("a store waits for all loads of what it overwrites") {
  Kernel k;  // (x0, x1) <- (x1, x0 + x1)
  k.leaves = {{Type::f32, 2, true, true}};
  const Value x0 = load(k, 0, 0), x1 = load(k, 0, 1);
  const Value sum = apply(k, Op::add, x0, x1);
  store(k, 0, 0, x1);
  store(k, 0, 1, sum);
  const auto order = steps(jit::schedule(k));
  CHECK(complete(k, order, 3));
  CHECK(position(order, Step::Kind::store, 0) > position(order, Step::Kind::node, x0));
  CHECK(position(order, Step::Kind::store, 1) > position(order, Step::Kind::node, x1));
}

TEST_CASE("a store waits for loads of what it may overwrite when the kernel runs, though their numbers differ") {
  // (x_(i), x_(i+1)) <- (2 x_(j), x_(j+1)^2) with i and j moved by different arguments, or in trips or rounds by
  // different strides or leaps: one word of x may be that of another in any of these ways.
  struct Way {
    std::string what;
    Place from, to;
  };
  for (const Way& way :
       {Way{"arguments", {.shifted_by = 1}, {.shifted_by = 0}}, Way{"one argument", {}, {.shifted_by = 0}},
        Way{"strides", {.stride = 1}, {.stride = 2}}, Way{"leaps", {.leap = 1}, {.leap = 2}}}) {
    CAPTURE(way.what);
    Kernel k;
    k.trips = k.rounds = 2;
    k.leaves = {{Type::f32, 8, true, true}};
    k.arguments = {Type::i32, Type::i32};
    std::vector<Value> loads;
    for (std::int16_t c = 0; c < 2; ++c) {
      Place from = way.from, to = way.to;
      from.component = to.component = c;
      loads.push_back(push(k, {.op = Op::load, .type = Type::f32, .place = from}));
      k.stores.push_back({to, apply(k, c == 0 ? Op::add : Op::mul, loads.back(), loads.back())});
    }
    verify(k);
    const auto order = steps(jit::schedule(k));
    CHECK(complete(k, order, 4));
    for (int s = 0; s < 2; ++s)
      for (const Value x : loads) CHECK(position(order, Step::Kind::store, s) > position(order, Step::Kind::node, x));
  }
}

TEST_CASE("of two stores to one place the later one stays the later one") {
  Kernel k;
  k.leaves = {{Type::f32, 2, true, false}, {Type::f32, 1, false, true}};
  const Value x = load(k, 0, 0);
  const Value y = apply(k, Op::mul, x, load(k, 0, 1));
  store(k, 1, 0, y);
  store(k, 1, 0, x);
  const auto order = steps(jit::schedule(k));
  CHECK(position(order, Step::Kind::store, 0) < position(order, Step::Kind::store, 1));
}

TEST_CASE("what nobody needs is left out") {
  Kernel k = sum_of_products(1, 2, 1);
  const std::size_t live = k.nodes.size();
  apply(k, Op::mul, 0, 1);
  CHECK(complete(k, steps(jit::schedule(k)), live));
}

TEST_CASE("what does not depend on the trip is computed once, but not what earlier trips may have written") {
  Kernel k;
  k.trips = 3;
  k.leaves = {{Type::f32, 4, true, false}, {Type::f32, 4, true, true}};
  const Value fixed = load(k, 0, 3), moving = load(k, 0, 0, 1), own = load(k, 1, 3);
  const Value square = apply(k, Op::mul, fixed, fixed);
  const Value result = apply(k, Op::fma, square, moving, own);
  store(k, 1, 0, result, 1);
  const Schedule s = jit::schedule(k);
  CHECK(position(s.once, Step::Kind::node, fixed) >= 0);
  CHECK(position(s.once, Step::Kind::node, square) >= 0);
  CHECK(position(s.each, Step::Kind::node, moving) >= 0);
  CHECK(position(s.each, Step::Kind::node, own) >= 0);
  CHECK(position(s.each, Step::Kind::node, result) >= 0);
  CHECK(s.once.size() == 2);
}
