// Things numbered in the order in which they come, against a list that is looked through.
#include "qdp/expr/numbering.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <random>
#include <utility>
#include <vector>

using QDP::detail::Numbering;
using QDP::detail::PairHash;

namespace {

struct ThreeHashes {  // many things from few places on
  std::size_t operator()(int k) const { return static_cast<std::size_t>(k % 3); }
};

template <class K, class Hash>
void check_same(const Numbering<K, Hash>& numbering, const std::vector<K>& list) {
  REQUIRE(numbering.list() == list);
  for (std::size_t i = 0; i < list.size(); ++i) REQUIRE(numbering.find(list[i]) == static_cast<int>(i));
}

/// Things made from numbers below `different`; every `steps_to_shrink`-th step forgets some of them.
template <class K, class Hash>
void compare(std::uint64_t seed, int different, int steps_to_shrink, K (*make)(int)) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Numbering<K, Hash> numbering;
  std::vector<K> list;
  for (int step = 0; step < 20000; ++step) {
    if (below(static_cast<std::size_t>(steps_to_shrink)) == 0) {
      list.resize(below(3) == 0 ? 0 : below(list.size() + 1));
      list.empty() ? numbering.clear() : numbering.shrink(list.size());
      check_same(numbering, list);
      continue;
    }
    const K k = make(static_cast<int>(below(static_cast<std::size_t>(different))));
    const auto at = std::ranges::find(list, k);
    const int found = at == list.end() ? -1 : static_cast<int>(at - list.begin());
    REQUIRE(numbering.find(k) == found);
    if (found >= 0) continue;
    REQUIRE(numbering.add(k) == static_cast<int>(list.size()));
    list.push_back(k);
  }
  const Numbering<K, Hash> copy = numbering;  // statements are copied
  numbering.clear();
  check_same(copy, list);
}

}  // namespace

TEST_CASE("things are found by the number that they were given, whatever was forgotten in between") {
  const auto number = [](int k) { return 64 * k; };
  for (const std::uint64_t seed : {1, 2, 3}) {
    compare<int, std::hash<int>>(seed, 20, 40, number);     // about as many as are looked through
    compare<int, std::hash<int>>(seed, 900, 2000, number);  // a table that grows
    compare<int, ThreeHashes>(seed, 100, 40, number);
    compare<std::pair<int, int>, PairHash>(seed, 900, 500, [](int k) { return std::pair(k % 30, k / 30); });
  }
  Numbering<int> many;
  for (int k = 0; k < 100000; ++k) REQUIRE(many.add(-k) == k);
  for (int k = 0; k < 100000; ++k) REQUIRE(many.find(-k) == k);
  CHECK(many.find(1) == -1);
}

namespace {

/// An address, which counts how often two are compared.
struct Counted {
  std::uint64_t address;
  static inline std::int64_t comparisons = 0;
  bool operator==(const Counted& other) const {
    ++comparisons;
    return address == other.address;
  }
};
struct CountedHash {
  std::size_t operator()(const Counted& k) const { return std::hash<std::uint64_t>()(k.address); }
};

}  // namespace

TEST_CASE("addresses at even distances are found with few comparisons") {
  for (std::uint64_t distance = 16; distance <= 4096; distance += 16)
    for (const int count : {17, 60, 120, 250, 1000}) {
      Numbering<Counted, CountedHash> numbering;
      for (int i = 0; i < count; ++i) numbering.add({0x7F1234560000 + distance * static_cast<std::uint64_t>(i)});
      Counted::comparisons = 0;
      for (int i = 0; i < count; ++i)
        REQUIRE(numbering.find({0x7F1234560000 + distance * static_cast<std::uint64_t>(i)}) == i);
      CAPTURE(distance);
      CAPTURE(count);
      CHECK(Counted::comparisons < 3 * count);
    }
}

namespace {

/// Memory is short for copies of it.
struct Scarce {
  int value = 0;
  static inline int copies = 1 << 30;  ///< that there is memory for
  Scarce() = default;
  explicit Scarce(int v) : value(v) {}
  Scarce(const Scarce& other) : value(other.value) {
    if (copies-- == 0) throw std::bad_alloc();
  }
  Scarce& operator=(const Scarce&) = default;
  bool operator==(const Scarce& other) const { return value == other.value; }
};
struct ScarceHash {
  std::size_t operator()(const Scarce& k) const { return static_cast<std::size_t>(k.value); }
};

}  // namespace

TEST_CASE("where memory is short nothing has happened") {
  for (const int count : {3, 16, 17, 31, 32, 33, 64}) {
    Numbering<Scarce, ScarceHash> numbering;
    for (int i = 0; i < count; ++i) numbering.add(Scarce(i));
    Scarce::copies = 0;
    CHECK_THROWS_AS(numbering.add(Scarce(count)), std::bad_alloc);
    Scarce::copies = 1 << 30;
    REQUIRE(numbering.list().size() == static_cast<std::size_t>(count));
    CHECK(numbering.find(Scarce(count)) == -1);
    for (int i = 0; i < count; ++i) CHECK(numbering.find(Scarce(i)) == i);
    CHECK(numbering.add(Scarce(count)) == count);
    numbering.shrink(static_cast<std::size_t>(count) / 2);
    CHECK(numbering.find(Scarce(count)) == -1);
  }
}
