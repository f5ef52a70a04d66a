// Which cache lines a kernel asks for ahead, and when.
//
// A step asks for what the step CodeOptions::prefetch later will load, each line once. A core has a few dozen lines under way; what is
// asked for beyond that is late, or lost. All lines of one field in one frame come from the same place, as a rule: of the nine spinors of a
// hopping term one is in memory, the others are in caches. Asked for where they are loaded, they come in bursts. So those of each
// field in each frame are spread evenly over the steps, and those of different ones alternate. Measured on Zen 5, blocks of 48 lines in
// memory with 190 ns of arithmetic each: 320 ns if a block is asked for at once, 220 if that is spread, 470 without; hopping terms on
// twelve right-hand sides on 16^4 in double precision run at 1.35 times the speed, on one side at 1.12.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Which caches keep a line that was asked for.
enum class CacheLevel : std::uint8_t {
  second,   ///< and those behind it
  nearest,  ///< and these
  passed,   ///< the nearest alone
};

/// For the line that this word begins in.
struct Request {
  std::size_t step;  ///< number in its list, behind which it is sent
  ir::Place place;
  CacheLevel into;
};

/// None if nothing is to be asked for, or of what is gathered.
struct Requests {
  std::vector<Request> once, each;  ///< among the steps of the schedule's lists, in their order
  std::vector<Request> repeated;    ///< of what every trip reads again: between the two
};

Requests requests(const ir::Kernel& kernel, const CodeOptions& options, const Schedule& order);

}  // namespace jit
