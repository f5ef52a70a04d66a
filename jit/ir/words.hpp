// What the operations of the IR mean for one word, in C++: for the interpreters, and for constants.
//
// Meanings that C++ leaves open are fixed here and in the code generators alike: integers wrap; x / 0 = x % 0 = 0;
// shift counts are taken modulo the width and >> keeps the sign; float -> integer truncates and saturates, NaN -> 0;
// min(a, b) = a < b ? a : b and max(a, b) = b < a ? a : b, also for NaN.
//
// Everything has internal linkage: sources that are compiled for other processors include this, too.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "jit/ir/ir.hpp"

namespace jit::ir {

/// Throws InternalError.
[[noreturn]] void not_an_operation(Op op, const char* on);

/// Calls f(T{}) with the C++ type of t.
template <class F>
static auto with_type(Type t, F&& f) {
  switch (t) {
    case Type::b1:
      return f(bool{});
    case Type::i32:
      return f(std::int32_t{});
    case Type::i64:
      return f(std::int64_t{});
    case Type::f32:
      return f(float{});
    default:
      return f(double{});
  }
}

template <class To, class From>
[[gnu::always_inline]] static inline To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const double limit = -static_cast<double>(std::numeric_limits<To>::min());
    if (x != x) return 0;
    if (x >= limit) return std::numeric_limits<To>::max();
    if (x < -limit) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
[[gnu::always_inline]] static inline T floating(Op op, T a, T b, T c) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::fma:
      return std::fma(a, b, c);
    case Op::neg:
      return -a;
    case Op::abs:
      return std::fabs(a);
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return b < a ? a : b;
    case Op::sqrt:
      return std::sqrt(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::log10:
      return std::log10(a);
    case Op::pow:
      return std::pow(a, b);
    case Op::atan2:
      return std::atan2(a, b);
    case Op::fmod:
      return std::fmod(a, b);
    default:
      break;
  }
  not_an_operation(op, "floats");
}

template <class T>
[[gnu::always_inline]] static inline T integer(Op op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const U count = ub & (8 * sizeof(T) - 1);
  switch (op) {
    case Op::add:
      return static_cast<T>(ua + ub);
    case Op::sub:
      return static_cast<T>(ua - ub);
    case Op::mul:
      return static_cast<T>(ua * ub);
    case Op::div:
      return b == 0 ? 0 : b == -1 ? static_cast<T>(-ua) : a / b;
    case Op::rem:
      return b == 0 || b == -1 ? 0 : a % b;
    case Op::neg:
      return static_cast<T>(-ua);
    case Op::abs:
      return a < 0 ? static_cast<T>(-ua) : a;
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return b < a ? a : b;
    case Op::and_:
      return a & b;
    case Op::or_:
      return a | b;
    case Op::xor_:
      return a ^ b;
    case Op::not_:
      return ~a;
    case Op::shl:
      return static_cast<T>(ua << count);
    case Op::shr:
      return a >> count;
    default:
      break;
  }
  not_an_operation(op, "integers");
}

[[gnu::always_inline]] static inline bool logical(Op op, bool a, bool b) {
  switch (op) {
    case Op::and_:
      return a && b;
    case Op::or_:
      return a || b;
    case Op::xor_:
      return a != b;
    case Op::not_:
      return !a;
    default:
      break;
  }
  not_an_operation(op, "truth values");
}

template <class T>
[[gnu::always_inline]] static inline bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::eq:
      return a == b;
    default:
      return a != b;
  }
}

}  // namespace jit::ir
