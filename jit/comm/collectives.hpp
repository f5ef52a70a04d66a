// Typed operations over the ranks of a job. All are collective.
#pragma once

#include <sched.h>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/ir/sum.hpp"

namespace jit {

/// Every rank gets values[i] of all ranks joined by `join`, a function of two values without captures that is associative
/// and commutative to the bit and does not throw.
template <class T, class Function>
requires std::is_trivially_copyable_v<T> && std::is_empty_v<Function> && std::invocable<Function, T, T>
void combine(Communicator& ranks, std::span<T> values, Function) {
  ranks.combine(values.data(), sizeof(T), values.size(), [](void* into, const void* from, std::size_t count) {
    auto* to = static_cast<std::byte*>(into);
    const auto* more = static_cast<const std::byte*>(from);
    for (std::size_t i = 0; i < count; ++i, to += sizeof(T), more += sizeof(T)) {
      T a, b;
      std::memcpy(&a, to, sizeof(T));
      std::memcpy(&b, more, sizeof(T));
      a = Function{}(a, b);
      std::memcpy(to, &a, sizeof(T));
    }
  });
}

/// What each rank has found becomes what all have found.
void combine(Communicator& ranks, std::span<ReductionValue> found);

/// Sums, the largest or the smallest over ranks, element by element. Those of doubles are reductions like those over a
/// lattice (sum.hpp): exact, rounded once, NaN neither largest nor smallest; so nothing depends on who has which number.
void reduce(Communicator& ranks, std::span<double> values, ReductionValue::Kind kind);
void reduce(Communicator& ranks, std::span<float> values, ReductionValue::Kind kind);
/// Sums of integers wrap around.
template <std::integral T>
requires(!std::same_as<T, bool>) void reduce(Communicator& ranks, std::span<T> values, ReductionValue::Kind kind) {
  using Kind = ReductionValue::Kind;
  if (kind == Kind::sum)
    combine(ranks, values, [](T a, T b) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    });
  else if (kind == Kind::max)
    combine(ranks, values, [](T a, T b) { return a < b ? b : a; });
  else
    combine(ranks, values, [](T a, T b) { return b < a ? b : a; });
}

/// Whether it is true on all ranks; on any.
bool all_of(Communicator& ranks, bool here);
bool any_of(Communicator& ranks, bool here);

/// Every rank gets the text of `root`. Throws UserError if there is no such rank.
void broadcast(Communicator& ranks, std::string& text, int root);

/// Throws UserError on every rank unless all pass the same text, naming two of them and what they have. `what` it is, and `what_now` to do
/// about it.
void require_same_on_all_ranks(Communicator& ranks, const std::string& what, const std::string& mine,
                               const std::string& what_now);

/// [rank] its machine, by the lowest rank there.
std::vector<int> hosts_of(Communicator& ranks);

/// A machine, and the place of a rank among those that run on it.
struct Host {
  std::string name;
  int rank = 0;   ///< ranks of lower number there
  int ranks = 1;  ///< all there
  int first = 0;  ///< the lowest of them
};
Host place_on_host(Communicator& ranks);
/// The same by what hosts_of() has told.
Host place_on_host(const Communicator& ranks, std::span<const int> hosts);

/// [rank] the processors that the system lets it use.
std::vector<cpu_set_t> processors_of(Communicator& ranks);

/// How many processor cores this rank has for itself: those that the system lets it use, each divided by the ranks of this machine that
/// may use it too.
double cores_of_rank(Communicator& ranks);

}  // namespace jit
