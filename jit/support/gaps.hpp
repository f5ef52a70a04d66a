// Which parts of a stretch of memory are free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace jit {

/// Gaps that do not touch each other.
class Gaps {
 public:
  /// Where the first gap with room for so many bytes begins.
  std::optional<std::size_t> find(std::size_t bytes) const {
    const auto found = std::ranges::find_if(gaps_, [&](const auto& gap) { return gap.second >= bytes; });
    return found == gaps_.end() ? std::nullopt : std::optional(found->first);
  }

  /// The first bytes of the gap that begins there.
  void take(std::size_t first, std::size_t bytes) {
    const auto gap = gaps_.find(first);
    const std::size_t rest = gap->second - bytes;
    gaps_.erase(gap);
    if (rest > 0) gaps_[first + bytes] = rest;
  }

  /// What is in no gap becomes part of one.
  void give(std::size_t first, std::size_t bytes) {
    auto next = gaps_.lower_bound(first);
    if (next != gaps_.end() && next->first == first + bytes) {
      bytes += next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin())
      if (const auto previous = std::prev(next); previous->first + previous->second == first) {
        previous->second += bytes;
        return;
      }
    gaps_[first] = bytes;
  }

 private:
  std::map<std::size_t, std::size_t> gaps_;  ///< [first byte] bytes
};

}  // namespace jit
