// Sizes of memory for people.
#pragma once

#include <cstddef>
#include <string>

namespace jit {

/// "1.5 GiB": three digits at most and a binary unit.
std::string format_bytes(std::size_t bytes);

}  // namespace jit
