// Site types as plain constants: Spin< Color< Reality< Word > > > with a kind and an extent per level.
//
// One description serves the C++ type system (results of operators are computed with it at compile time) and the
// compiler at run time. Components are stored spin slowest, then colour, then real/imaginary; matrices row-major.
#pragma once

#include <bit>
#include <cstdint>

#include "jit/ir/type.hpp"

namespace QDP::detail {

using jit::ir::Type;

enum class Kind : std::uint8_t { scalar, vector, matrix, seed };

struct Level {
  Kind kind = Kind::scalar;
  std::uint8_t n = 1;
  constexpr bool operator==(const Level&) const = default;
  constexpr int size() const {
    return kind == Kind::scalar ? 1 : kind == Kind::vector ? n : kind == Kind::matrix ? n * n : 4;
  }
  constexpr bool is_scalar() const { return kind == Kind::scalar; }
};

/// Eight bytes, so that it travels in a register: nodes are made and compared at every statement.
struct Shape {
  Level spin{}, color{};
  bool complex = false;
  Type word = Type::f64;
  std::uint8_t depth = 3;  ///< 3: a full site; 2: from colour inwards; 1: RScalar or RComplex (host primitives only)
  bool valid = true;

  constexpr bool operator==(const Shape&) const = default;
  constexpr int reals() const { return complex ? 2 : 1; }
  constexpr int components() const { return spin.size() * color.size() * reals(); }
  constexpr std::size_t bytes() const { return static_cast<std::size_t>(components()) * jit::ir::bytes(word); }
  constexpr bool scalar_levels() const { return spin.is_scalar() && color.is_scalar(); }
  constexpr Shape with_word(Type w) const {
    Shape s = *this;
    s.word = w;
    return s;
  }
  constexpr Shape with_levels(Level s, Level c) const {
    Shape r = *this;
    r.spin = s;
    r.color = c;
    return r;
  }
  constexpr Shape with_complex(bool c) const {
    Shape r = *this;
    r.complex = c;
    return r;
  }
};

constexpr Shape kInvalid{.valid = false};

/// The components that a site type may have: their numbers in kernels are 16 bits wide (jit/ir, Place).
constexpr long kMostComponents = 32767;

/// A level of a site type with N rows, checked by the C++ compiler.
template <int N>
constexpr Level level(Kind kind) {
  static_assert(N >= 1 && N <= 255, "a vector or matrix of a site type has 1 to 255 rows");
  return {kind, static_cast<std::uint8_t>(N)};
}

static_assert(sizeof(Shape) == 8);
/// A shape as 48 bits, and back. Not with its depth, which is the host's business, and as a valid one.
constexpr std::uint64_t pack(Shape s) {
  s.depth = 0, s.valid = false;
  return std::bit_cast<std::uint64_t>(s);
}
constexpr Shape unpack(std::uint64_t bits) {
  Shape s = std::bit_cast<Shape>(bits & ((std::uint64_t{1} << 48) - 1));
  s.depth = 3, s.valid = true;
  return s;
}
constexpr Shape kScalarShape{};

/// C++'s usual arithmetic promotion, words of the language only. Truth values act as integers in arithmetic.
constexpr Type promote(Type a, Type b) {
  return a > b ? a : b;
}  // the enumeration is ordered b1 < i32 < i64 < f32 < f64

}  // namespace QDP::detail
