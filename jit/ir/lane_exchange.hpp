// How the lanes of a group stand in for each other where a neighbourhood leaves a sub-lattice (design D2).
#pragma once

#include <cstdint>

namespace jit {

/// Lane l takes what lane source(l) has. In a direction cut in two the lanes of the halves are exchanged: `flip`. In one
/// cut in four or more the pieces are counted in consecutive bits of the lane, and the next one or the one before, around,
/// is taken: `ring` and `step`. None of the lanes is left as it is, or all of them are.
struct LaneExchange {
  std::uint8_t flip = 0;  ///< bits that are inverted
  std::uint8_t ring = 0;  ///< bits that are a number of which so many bits are kept,
  std::uint8_t step = 0;  ///< when this is added to it: bits of `ring`

  constexpr int source(int lane) const { return ((lane & ~ring) | ((lane + step) & ring)) ^ flip; }
  constexpr bool is_none() const { return (flip | ring) == 0; }
  /// Whether some lanes would come from another stretch of `lanes` lanes, and some would not.
  constexpr bool straddles(int lanes) const { return (ring & (lanes - 1)) != 0 && (ring & ~(lanes - 1)) != 0; }
  /// What happens within stretches of `lanes` lanes, which the ring does not straddle; and to the stretches.
  constexpr LaneExchange within(int lanes) const { return masked(lanes - 1); }
  constexpr LaneExchange beyond(int lanes) const { return masked(~(lanes - 1)); }

  bool operator==(const LaneExchange&) const = default;

 private:
  constexpr LaneExchange masked(int bits) const {
    return {static_cast<std::uint8_t>(flip & bits), static_cast<std::uint8_t>(ring & bits),
            static_cast<std::uint8_t>(step & bits)};
  }
};

}  // namespace jit
