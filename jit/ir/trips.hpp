// Kernels that run several times per group: what is computed once, ahead of the trips, and what in each of them.
#pragma once

#include <vector>

#include "jit/ir/ir.hpp"

namespace jit::ir {

inline int runs(const Kernel& kernel) { return kernel.trips * kernel.rounds; }
/// Whether a place is another word in other trips or rounds.
inline bool walks(const Place& place) { return place.stride != 0 || place.leap != 0; }
/// The component that a place names in a trip of a round.
inline int component_in(const Place& place, int trip, int round) {
  return place.component + trip * place.stride + round * place.leap;
}

/// Whether each node is computed in every trip. Values that are the same in all trips are computed once if few are
/// needed at a time; more than registers can hold would lie on the stack, and reading operands again costs no more than
/// that. Then only what makes a difference is computed once: scalars, or everything if it is much work. A kernel of one
/// trip computes everything in it; dead nodes do not count.
std::vector<bool> computed_in_each_trip(const Kernel& kernel);

/// What running a kernel on one site costs: nodes, elementary functions as many, over all trips.
double work(const Kernel& kernel);

}  // namespace jit::ir
