#include "qdp/expr/kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/runtime.hpp"
#include "qdp/expr/lowering.hpp"

namespace QDP::detail {

namespace {

/// Statements that are computed in two steps: the record of the part that is computed aside, by the statement's bytes.
class Divisions {
 public:
  /// -1: the statement is not known.
  int find(const jit::TableKey& key) const {
    const auto [first, last] = known_.equal_range(key.hash);
    for (auto i = first; i != last; ++i)
      if (std::ranges::equal(i->second.bytes, key.bytes)) return i->second.part;
    return -1;
  }
  void add(const jit::TableKey& key, int part) {
    if (known_.size() >= kMost) known_.clear();  // they are found again when they are needed
    known_.emplace(key.hash, Division{{key.bytes.begin(), key.bytes.end()}, part});
  }

 private:
  static constexpr std::size_t kMost = 10000;
  struct Division {
    std::vector<std::byte> bytes;
    int part;
  };
  std::unordered_multimap<std::uint64_t, Division> known_;
};
Divisions& divisions() {
  static Divisions known;
  return known;
}

}  // namespace

namespace {
Way way_of(const Statement& statement, const jit::TableKey& key) {
  jit::Runtime& rt = jit::Runtime::instance();
  if (jit::KernelHandle* known = rt.find(key)) return {.kernel = known};
  if (const int part = divisions().find(key); part >= 0) return {.aside = part};
  Lowered lowered = lower_statement(statement.identified());
  if (lowered.aside >= 0) {
    divisions().add(key, lowered.aside);
    return {.aside = lowered.aside};
  }
  return {.kernel = rt.add(key, std::move(lowered.kernel))};
}
}  // namespace

Way way_of(Statement& value, const Grouping& grouping, const Purpose& purpose) {
  return way_of(value, value.identify(grouping, purpose));
}
Way way_of(Statement& program, const Grouping& grouping) { return way_of(program, program.identify(grouping)); }

}  // namespace QDP::detail
