// How far a computed number may be from the reference.
#pragma once

#include <limits>

namespace reference {

/// Relative error allowed after n_ops roundings in words of type W. Integers and truth values must be exact.
template <class W>
constexpr double tol(int n_ops) {
  if constexpr (std::numeric_limits<W>::is_integer)
    return 0;
  else
    return n_ops * static_cast<double>(std::numeric_limits<W>::epsilon());
}

}  // namespace reference
