// The value of a reduction from the parts that were found apart: accumulators, bins, numbers.
#pragma once

#include "jit/ir/sum.hpp"

template <class... Parts>
double reduced(jit::ir::Reduction::Kind kind, const Parts&... parts) {
  jit::ReductionValue found(kind);
  (found.add(parts), ...);
  return found.value();
}
