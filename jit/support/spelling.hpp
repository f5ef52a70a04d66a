// How far a word is from another: for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace jit {

/// The least number of letters left out, put in, changed or exchanged with their neighbour that makes one word of the other,
/// no place touched twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace jit
