#include "jit/comm/collectives.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "jit/support/error.hpp"

namespace jit {
namespace {

template <class T>
void reduce_floats(Communicator& ranks, std::span<T> values, ReductionValue::Kind kind) {
  std::vector<ReductionValue> found(values.size(), ReductionValue(kind));
  for (std::size_t i = 0; i < values.size(); ++i) found[i].add(double{values[i]});
  combine(ranks, found);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(found[i].value());
}

}  // namespace

void combine(Communicator& ranks, std::span<ReductionValue> found) {
  combine(ranks, found, [](ReductionValue a, const ReductionValue& b) {
    a.add(b);
    return a;
  });
}

void reduce(Communicator& ranks, std::span<double> values, ReductionValue::Kind kind) {
  reduce_floats(ranks, values, kind);
}
void reduce(Communicator& ranks, std::span<float> values, ReductionValue::Kind kind) {
  reduce_floats(ranks, values, kind);
}

bool all_of(Communicator& ranks, bool here) {
  combine(ranks, std::span(&here, 1), [](bool a, bool b) { return a && b; });
  return here;
}

bool any_of(Communicator& ranks, bool here) {
  combine(ranks, std::span(&here, 1), [](bool a, bool b) { return a || b; });
  return here;
}

void broadcast(Communicator& ranks, std::string& text, int root) {
  std::uint64_t size = text.size();
  ranks.broadcast(&size, sizeof size, root);
  text.resize(size);
  ranks.broadcast(text.data(), size, root);
}

void require_same_on_all_ranks(Communicator& ranks, const std::string& what, const std::string& mine,
                               const std::string& what_now) {
  if (ranks.size() == 1) return;
  struct Said {
    char text[900];  // its beginning
    std::uint64_t hash;
    int rank;
    int order(const Said& other) const {
      if (const int by_text = std::memcmp(text, other.text, sizeof text)) return by_text;
      return hash < other.hash ? -1 : hash > other.hash ? 1 : 0;
    }
  };
  /// The first and the last of the texts that ranks have, with the lowest rank that has each.
  struct Range {
    Said first, last;
  };
  Range range{};
  mine.copy(range.first.text, sizeof range.first.text - 1);
  range.first.hash = std::hash<std::string>{}(mine);
  range.first.rank = ranks.rank();
  range.last = range.first;
  combine(ranks, std::span(&range, 1), [](const Range& a, const Range& b) {
    const auto chosen = [](const Said& x, const Said& y, int order) {
      return order < 0 || (order == 0 && x.rank < y.rank) ? x : y;
    };
    return Range{chosen(a.first, b.first, a.first.order(b.first)), chosen(a.last, b.last, b.last.order(a.last))};
  });
  if (range.first.order(range.last) == 0) return;
  const bool in_order = range.first.rank < range.last.rank;
  const Said& one = in_order ? range.first : range.last;
  const Said& other = in_order ? range.last : range.first;
  throw UserError({.what = what,
                   .expected = "the same on all ranks",
                   .got = std::string(one.text) + " on rank " + std::to_string(one.rank) + ", " + other.text +
                          " on rank " + std::to_string(other.rank),
                   .what_now = what_now});
}

std::vector<int> hosts_of(Communicator& ranks) {
  const std::string name = ranks.host();
  const auto size = static_cast<std::size_t>(ranks.size());
  std::uint64_t longest = name.size();
  reduce(ranks, std::span(&longest, 1), ReductionValue::Kind::max);
  std::string padded = name, all(size * longest, '\0');
  padded.resize(longest);
  ranks.gather(padded.data(), longest, all.data());
  std::map<std::string_view, int> first;
  std::vector<int> hosts(size);
  for (std::size_t r = 0; r < size; ++r)
    hosts[r] = first.try_emplace(std::string_view(all).substr(r * longest, longest), static_cast<int>(r)).first->second;
  return hosts;
}

Host place_on_host(Communicator& ranks) { return place_on_host(ranks, hosts_of(ranks)); }

Host place_on_host(const Communicator& ranks, std::span<const int> hosts) {
  const auto rank = hosts.begin() + ranks.rank();
  return {ranks.host(), static_cast<int>(std::count(hosts.begin(), rank, *rank)),
          static_cast<int>(std::count(hosts.begin(), hosts.end(), *rank)), *rank};
}

std::vector<cpu_set_t> processors_of(Communicator& ranks) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_SET(0, &mine);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks.size()));
  ranks.gather(&mine, sizeof mine, all.data());
  return all;
}

double cores_of_rank(Communicator& ranks) {
  const std::vector<int> hosts = hosts_of(ranks);
  const std::vector<cpu_set_t> all = processors_of(ranks);
  const auto rank = static_cast<std::size_t>(ranks.rank());
  double cores = 0;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all[rank])) continue;
    int users = 0;
    for (std::size_t r = 0; r < all.size(); ++r) users += hosts[r] == hosts[rank] && CPU_ISSET(cpu, &all[r]);
    cores += 1.0 / users;
  }
  return cores;
}

}  // namespace jit
