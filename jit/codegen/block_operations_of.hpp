// Source of block_operation() for one kind of processor: TESSERA_PROCESSOR is the namespace. Included by one source for each, which
// is compiled for it; so nothing here may be shared by the linker with what is compiled for others.
#pragma once

#include <cstdint>
#include <cstring>

#include "jit/codegen/block_operations.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/words.hpp"

#ifndef TESSERA_PROCESSOR
#define TESSERA_PROCESSOR portable
#endif

namespace jit::TESSERA_PROCESSOR {
namespace {

using ir::Op;
using ir::Type;
using ir::with_type;

/// result[i] = f(a[i], b[i], c[i])
template <class Result, class A, class B, class C, class F>
[[gnu::always_inline]] inline void for_each_word(void* result, const void* a, const void* b, const void* c, int words,
                                                 F f) {
  auto* const __restrict r = static_cast<Result*>(__builtin_assume_aligned(result, 64));
  const auto* const x = static_cast<const A*>(__builtin_assume_aligned(a, 64));
  const auto* const y = static_cast<const B*>(__builtin_assume_aligned(b, 64));
  const auto* const z = static_cast<const C*>(__builtin_assume_aligned(c, 64));
  for (int i = 0; i < words; i += kBlockWords)
    for (int j = i; j < i + kBlockWords; ++j) r[j] = f(x[j], y[j], z[j]);
}

template <class T>
[[gnu::always_inline]] inline T apply(Op op, T a, T b, T c) {
  if constexpr (std::is_same_v<T, bool>)
    return ir::logical(op, a, b);
  else if constexpr (std::is_integral_v<T>)
    return ir::integer(op, a, b);
  else
    return ir::floating(op, a, b, c);
}

template <Op op, class T>
void arithmetic(void* __restrict r, const void* a, const void* b, const void* c, int words) {
  for_each_word<T, T, T, T>(r, a, b, c, words, [](T x, T y, T z) { return apply<T>(op, x, y, z); });
}

template <Op op, class T>
void comparison(void* __restrict r, const void* a, const void* b, const void*, int words) {
  for_each_word<bool, T, T, T>(r, a, b, a, words, [](T x, T y, T) { return ir::compare(op, x, y); });
}

template <class T>
void selection(void* __restrict r, const void* a, const void* b, const void* c, int words) {
  for_each_word<T, bool, T, T>(r, a, b, c, words, [](bool x, T y, T z) { return x ? y : z; });
}

template <class To, class From>
void conversion(void* __restrict r, const void* a, const void*, const void*, int words) {
  for_each_word<To, From, From, From>(r, a, a, a, words, [](From x, From, From) { return ir::convert<To>(x); });
}

template <int bytes>
void copy(void* r, const void* a, const void*, const void*, int words) {
  for (int i = 0; i < words; i += kBlockWords)
    std::memcpy(static_cast<char*>(r) + i * bytes, static_cast<const char*>(a) + i * bytes, kBlockWords * bytes);
}

BlockOperation copy_of(Type type) {
  switch (ir::bytes(type)) {
    case 1:
      return copy<1>;
    case 4:
      return copy<4>;
    default:
      return copy<8>;
  }
}

constexpr bool is_comparison(Op op) { return op == Op::lt || op == Op::le || op == Op::eq || op == Op::ne; }

/// What is computed word by word from operands of the result's type, without a library.
template <class T>
constexpr bool is_arithmetic(Op op) {
  constexpr Type type = std::is_same_v<T, bool>        ? Type::b1
                        : !std::is_floating_point_v<T> ? Type::i64
                                                       : Type::f64;  // the width makes no difference
  return op >= Op::add && op <= Op::shr && !is_comparison(op) && !ir::is_elementary(op) && ir::applies_to(op, type);
}

template <Op op>
BlockOperation operation_of(Type type, Type typical) {
  if constexpr (is_comparison(op)) {
    return with_type(typical, [](auto t) -> BlockOperation { return comparison<op, decltype(t)>; });
  } else {
    return with_type(type, [](auto t) -> BlockOperation {
      if constexpr (is_arithmetic<decltype(t)>(op))
        return arithmetic<op, decltype(t)>;
      else
        return nullptr;
    });
  }
}

}  // namespace

BlockOperation block_operation(Op op, Type type, Type typical) {
  if (op == Op::select) return with_type(type, [](auto t) -> BlockOperation { return selection<decltype(t)>; });
  if (op == Op::bitcast || (op == Op::convert && type == typical)) return copy_of(type);
  if (op == Op::convert)
    return with_type(type, [&](auto to) {
      return with_type(typical, [](auto from) -> BlockOperation { return conversion<decltype(to), decltype(from)>; });
    });
  switch (op) {
#define TESSERA_ROW(name, arity)                                                                                       \
  case Op::name:                                                                                                       \
    return operation_of<Op::name>(type, typical);
    TESSERA_IR_OPS(TESSERA_ROW)
#undef TESSERA_ROW
  }
  return nullptr;
}

}  // namespace jit::TESSERA_PROCESSOR
