// Things numbered in the order in which they come.
//
// Few are looked through, many are hashed: into a table of their numbers, each at the first free place from the one on that its hash
// names. A statement numbers thousands in microseconds, so nothing is allocated for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace QDP::detail {

struct PairHash {
  template <class A, class B>
  std::size_t operator()(const std::pair<A, B>& p) const {
    return std::hash<A>()(p.first) * 0x9E3779B97F4A7C15ull + std::hash<B>()(p.second);
  }
};

template <class K, class Hash = std::hash<K>>
class Numbering {
 public:
  const std::vector<K>& list() const { return list_; }
  /// -1: it has none.
  int find(const K& k) const {
    if (list_.size() <= kFew) {
      for (std::size_t i = 0; i < list_.size(); ++i)
        if (list_[i] == k) return static_cast<int>(i);
      return -1;
    }
    return find_in_table(k);
  }
  /// The number of a new one. If memory is short, nothing has happened.
  int add(const K& k) {
    if (list_.size() >= kFew) [[unlikely]]
      return add_to_table(k);
    list_.push_back(k);
    return static_cast<int>(list_.size()) - 1;
  }
  void clear() {
    if (list_.size() > kFew) [[unlikely]]
      return shrink(0);
    list_.clear();
  }
  /// Forgets all but the first `size`, at most as many as there are.
  void shrink(std::size_t size) {
    if (list_.size() > kFew)
      for (std::size_t i = size > kFew ? size : 0; i < list_.size(); ++i) {
        std::size_t at = place_of(list_[i]);
        while (table_[at] != static_cast<int>(i)) at = next(at);
        table_[at] = kNone;
      }
    list_.resize(size);
  }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr int kNone = -1;

  std::size_t next(std::size_t at) const { return (at + 1) & (table_.size() - 1); }
  /// Addresses lie at even distances, which one multiplication leaves even: there are two, and between them the upper half is folded
  /// down.
  std::size_t place_of(const K& k) const {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    std::uint64_t h = Hash()(k) * kOdd;
    h ^= h >> 32;
    return static_cast<std::size_t>(h * kOdd >> 32) & (table_.size() - 1);
  }
  // Apart, so that statements of few operands have short code: they are the most.
  [[gnu::noinline]] int find_in_table(const K& k) const {
    for (std::size_t at = place_of(k);; at = next(at))
      if (table_[at] < 0 || list_[static_cast<std::size_t>(table_[at])] == k) return table_[at];
  }
  [[gnu::noinline]] int add_to_table(const K& k) {
    make_room(list_.size() + 1);
    list_.push_back(k);
    const std::size_t last = list_.size() - 1;
    enter_from(last == kFew ? 0 : last);
    return static_cast<int>(last);
  }
  void enter_from(std::size_t i) {
    for (; i < list_.size(); ++i) {
      std::size_t at = place_of(list_[i]);
      while (table_[at] >= 0) at = next(at);
      table_[at] = static_cast<int>(i);
    }
  }
  void make_room(std::size_t things) {
    if (things <= kFew || 2 * things <= table_.size()) return;
    table_ = std::vector<std::int32_t>(std::bit_ceil(2 * things), kNone);
    if (list_.size() > kFew) enter_from(0);
  }

  std::vector<K> list_;
  // INVARIANT: of a power of two. If there are more than kFew, all numbers and else kNone, otherwise kNone only; at most half full, so
  // that searches end. What stands on the way from where a hash points to a number is of lower numbers: the last may go.
  std::vector<std::int32_t> table_;
};

}  // namespace QDP::detail
