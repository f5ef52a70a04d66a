// A field's place in the ring of those with a device side: jit/memory/residency.
#pragma once

#include <cstdint>

namespace jit {

class Field;

struct ResidencyPlace {
  Field* field = nullptr;
  ResidencyPlace *older = nullptr, *newer = nullptr;  ///< nullptr: not in the ring
  std::uint64_t statement = 0;                        ///< that used it last; 0: none
};

}  // namespace jit
