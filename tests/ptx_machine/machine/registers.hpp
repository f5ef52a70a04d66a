// Rows for virtual registers: liveness, then the first free row of the right width.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "code.hpp"

namespace ptx_machine {

/// An instruction whose operands are still virtual registers (>= 0) or constants (< 0).
struct Draft {
  Instruction instruction;
  std::vector<int> uses, defines;
};

/// Fills in code.instructions, its rows and specials. `registers`: bytes of a lane of each, 1 for predicates.
/// Registers that may be read before they are written get checks at run time.
void give_rows(std::vector<Draft>& drafts, std::vector<int>& registers, const std::map<std::string, int>& specials,
               Code& code);

}  // namespace ptx_machine
