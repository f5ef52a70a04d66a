// The time that stands for several.
#pragma once

#include <algorithm>
#include <vector>

namespace jit {

/// Of at least one; of an even number, the upper one of the two in the middle.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace jit
