// What decides the width of registers, and SLEEF's names.
#pragma once

#include <cstdint>

namespace jit {

enum class VectorIsa : std::uint8_t { sse4, avx2, avx512 };

/// Bytes of a register.
constexpr int register_bytes(VectorIsa isa) { return isa == VectorIsa::avx512 ? 64 : isa == VectorIsa::avx2 ? 32 : 16; }

}  // namespace jit
