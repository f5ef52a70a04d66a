// Operations on bits that are one instruction together. The IR has those of two values; processors have more.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jit/codegen/schedule.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// How a node is computed.
struct Combination {
  enum class Kind : std::uint8_t {
    none,    ///< by itself
    inside,  ///< with its user, in no instruction of its own
    bits,    ///< each bit from those of three values, as `how` has it: bit 4a + 2b + c of it
    shift,   ///< a value shifted right by `how` bits, with noughts from above
    splice,  ///< the same, with the low bits of a second value from above, or with those of `upper` if there is none
  };
  Kind kind = Kind::none;
  std::uint8_t how = 0;
  std::array<ir::Value, 3> of = {ir::kNone, ir::kNone, ir::kNone};
  std::uint32_t upper = 0;
};

/// Which of them there are.
struct BitInstructions {
  bool of_three = false, splice = false;
};

/// For each node of the kernel. What is computed inside another node has no other user, and is computed as often.
std::vector<Combination> combinations(const ir::Kernel& kernel, const Schedule& order, BitInstructions there_are);

}  // namespace jit
