// Words of the kernel IR.
#pragma once

#include <cstdint>

namespace jit::ir {

/// b1 is a truth value: a mask in registers, one byte in memory. In promotion order.
enum class Type : std::uint8_t { b1, i32, i64, f32, f64 };

constexpr int bytes(Type t) { return t == Type::b1 ? 1 : t == Type::i32 || t == Type::f32 ? 4 : 8; }
constexpr bool is_float(Type t) { return t == Type::f32 || t == Type::f64; }
constexpr bool is_int(Type t) { return t == Type::i32 || t == Type::i64; }
const char* name(Type t);

}  // namespace jit::ir
