// The operation table: every operation of the language once, with its rule for the result's site type.
//
// A new operation costs one row here, one emit function (lower_*.cpp) and one reference in the tests.
#pragma once

#include "qdp/expr/shape.hpp"

namespace QDP::detail {

// ---- rules ---------------------------------------------------------------------------------------------------------

constexpr Level both(Level a, Level b) {  // level of a sum: a scalar is a multiple of the unit matrix
  if (a == b) return a;
  if (a.is_scalar() && b.kind == Kind::matrix) return b;
  if (b.is_scalar() && a.kind == Kind::matrix) return a;
  return {Kind::seed, 0};
}
constexpr Level product(Level a, Level b) {
  if (a.is_scalar()) return b;
  if (b.is_scalar()) return a;
  if (a.n != b.n || a.kind == Kind::seed || b.kind == Kind::seed) return {Kind::seed, 0};
  if (a.kind == Kind::matrix) return b;
  if (a.kind == Kind::vector && b.kind == Kind::vector) return a;  // component by component, as QDP++ tolerates
  return {Kind::seed, 0};
}
/// The terms of component i of a level's product, in the order in which they are added: pairs of component numbers (left, right),
/// each advancing by a constant.
struct Terms {
  int left, right, left_step = 0, right_step = 0, n = 1;
  struct Numbers {
    int left, right;
  };
  constexpr Numbers pair(int k) const { return {left + k * left_step, right + k * right_step}; }
};
constexpr Terms product_terms(Level a, Level b, int i) {
  if (a.is_scalar()) return {0, i};
  if (b.is_scalar()) return {i, 0};
  if (a.kind == Kind::vector) return {i, i};
  if (b.kind == Kind::vector) return {i * a.n, 0, 1, 1, a.n};
  return {i / a.n * a.n, i % a.n, 1, a.n, a.n};
}
constexpr bool bad(Level l) { return l.n == 0; }

constexpr std::uint8_t deeper(Shape a, Shape b) { return a.depth > b.depth ? a.depth : b.depth; }

constexpr Shape combine(Level s, Level c, Shape a, Shape b) {
  if (bad(s) || bad(c)) return kInvalid;
  return {s, c, a.complex || b.complex, promote(a.word, b.word), deeper(a, b), true};
}
constexpr bool numeric(Shape a) { return a.word != Type::b1; }
constexpr bool has_seed(Shape a) { return a.color.kind == Kind::seed; }
constexpr Shape arithmetic(Shape r) { return r.valid && r.word == Type::b1 ? r.with_word(Type::i32) : r; }

constexpr Shape rule_sum(Shape a, Shape b, Shape) {
  return has_seed(a) || has_seed(b) ? kInvalid
                                    : arithmetic(combine(both(a.spin, b.spin), both(a.color, b.color), a, b));
}
constexpr Shape rule_product(Shape a, Shape b, Shape) {
  return arithmetic(combine(product(a.spin, b.spin), product(a.color, b.color), a, b));
}
constexpr Shape rule_quotient(Shape a, Shape b, Shape) {
  return b.scalar_levels() ? arithmetic(combine(a.spin, a.color, a, b)) : kInvalid;
}
constexpr Shape rule_integer(Shape a, Shape b, Shape) {
  return a.scalar_levels() && b.scalar_levels() && !a.complex && !b.complex && !is_float(a.word) && !is_float(b.word)
             ? arithmetic(combine(a.spin, a.color, a, b))
             : kInvalid;
}
constexpr Shape rule_bits(Shape a, Shape b, Shape) {  // on truth values: logic
  return a.scalar_levels() && b.scalar_levels() && !a.complex && !b.complex && !is_float(a.word) && !is_float(b.word)
             ? combine(a.spin, a.color, a, b)
             : kInvalid;
}
constexpr Shape rule_modulo(Shape a, Shape b, Shape) {
  return a.scalar_levels() && b.scalar_levels() && !a.complex && !b.complex ? arithmetic(combine(a.spin, a.color, a, b))
                                                                            : kInvalid;
}
constexpr Shape rule_compare(Shape a, Shape b, Shape) {
  if (a.complex || b.complex) return kInvalid;
  if (has_seed(a) && has_seed(b)) return {.word = Type::b1, .depth = deeper(a, b)};
  return a.scalar_levels() && b.scalar_levels() ? Shape{.word = Type::b1, .depth = deeper(a, b)} : kInvalid;
}
constexpr Shape rule_logic(Shape a, Shape b, Shape) {
  return a.scalar_levels() && b.scalar_levels() && !a.complex && !b.complex
             ? combine(a.spin, a.color, a, b).with_word(Type::b1)
             : kInvalid;
}
constexpr Shape rule_cmplx(Shape a, Shape b, Shape) {
  return !a.complex && !b.complex && a.spin == b.spin && a.color == b.color
             ? arithmetic(combine(a.spin, a.color, a, b)).with_complex(true)
             : kInvalid;
}
constexpr Level outer(Level a, Level b) {
  if (a.is_scalar() && b.is_scalar()) return a;
  return a.kind == Kind::vector && b == a ? Level{Kind::matrix, a.n} : Level{Kind::seed, 0};
}
constexpr Shape rule_outer(Shape a, Shape b, Shape) {
  return arithmetic(combine(outer(a.spin, b.spin), outer(a.color, b.color), a, b));
}
constexpr Level inner(Level a, Level b) {
  return a.kind == Kind::seed ? Level{Kind::seed, 0} : bad(both(a, b)) ? both(a, b) : Level{};
}
constexpr Level same(Level a, Level b) { return a == b ? inner(a, b) : Level{Kind::seed, 0}; }
constexpr Shape widened(Shape a) {
  return a.word == Type::f32 ? a.with_word(Type::f64) : arithmetic(a);
}  // sums are at least double
constexpr Shape rule_inner(Shape a, Shape b, Shape) {
  return widened(combine(inner(a.spin, b.spin), inner(a.color, b.color), a, b));
}
constexpr Shape rule_inner_real(Shape a, Shape b, Shape c) { return rule_inner(a, b, c).with_complex(false); }
constexpr Shape rule_color_inner(Shape a, Shape b, Shape) {
  return widened(combine(product(a.spin, b.spin), same(a.color, b.color), a, b));
}
constexpr Shape rule_real_function2(Shape a, Shape b, Shape) {
  if (a.complex || b.complex || !a.scalar_levels() || !b.scalar_levels()) return kInvalid;
  Type w = promote(a.word, b.word);
  return combine(a.spin, a.color, a, b).with_word(is_float(w) ? w : Type::f64);
}
constexpr Shape rule_cross(Shape a, Shape b, Shape) {
  return a.color == Level{Kind::vector, 3} && b.color == a.color && a.spin.is_scalar() && b.spin.is_scalar()
             ? combine(a.spin, a.color, a, b)
             : kInvalid;
}
constexpr Shape rule_vector_contract(Shape a, Shape b, Shape) {
  return a.color.kind == Kind::vector && b.color == a.color ? combine(product(a.spin, b.spin), Level{}, a, b)
                                                            : kInvalid;
}
constexpr Shape rule_quark_contract(Shape a, Shape b, Shape) {
  constexpr Level c3{Kind::matrix, 3};
  return a.color == c3 && b.color == c3 && a.spin.kind == Kind::matrix && b.spin == a.spin
             ? combine(a.spin, c3, a, b).with_complex(true)
             : kInvalid;
}

constexpr Shape rule_same(Shape a, Shape, Shape) { return a; }
constexpr Shape rule_numeric(Shape a, Shape, Shape) { return has_seed(a) ? kInvalid : arithmetic(a); }
constexpr Shape rule_not(Shape a, Shape, Shape) {
  return a.scalar_levels() && !a.complex ? a.with_word(Type::b1) : kInvalid;
}
constexpr Shape rule_bit_not(Shape a, Shape, Shape) {
  return !is_float(a.word) && a.scalar_levels() && !a.complex ? a : kInvalid;
}
constexpr Shape rule_spin_transpose(Shape a, Shape, Shape) { return a.spin.kind == Kind::vector ? kInvalid : a; }
constexpr Shape rule_square(Shape a, Shape, Shape) {
  return has_seed(a) ? kInvalid : a;
}  // adj of a vector: conjugate, as QDP++ tolerates
constexpr Level traced(Level a) { return a.kind == Kind::matrix ? Level{} : a; }
constexpr Shape rule_trace(Shape a, Shape, Shape) { return a.with_levels(traced(a.spin), traced(a.color)); }
constexpr Shape rule_trace_color(Shape a, Shape, Shape) { return a.with_levels(a.spin, traced(a.color)); }
constexpr Shape rule_trace_spin(Shape a, Shape, Shape) { return a.with_levels(traced(a.spin), a.color); }
constexpr Shape rule_real(Shape a, Shape, Shape) { return a.with_complex(false); }
constexpr Shape rule_complex(Shape a, Shape, Shape) {
  return has_seed(a) ? kInvalid : arithmetic(a).with_complex(true);
}
constexpr Shape rule_norm2(Shape a, Shape, Shape) {
  return {.word = is_float(a.word) ? Type::f64 : arithmetic(a).word, .depth = a.depth};
}
constexpr Shape rule_real_function(Shape a, Shape, Shape) {
  return a.complex || !a.scalar_levels() ? kInvalid : is_float(a.word) ? a : a.with_word(Type::f64);
}
constexpr Shape rule_abs(Shape a, Shape, Shape) { return a.complex || !a.scalar_levels() ? kInvalid : arithmetic(a); }
constexpr Shape rule_spin_project(Shape a, Shape, Shape) {
  return a.complex && a.spin == Level{Kind::vector, 4} ? a.with_levels({Kind::vector, 2}, a.color) : kInvalid;
}
constexpr Shape rule_spin_reconstruct(Shape a, Shape, Shape) {
  return a.complex && a.spin == Level{Kind::vector, 2} ? a.with_levels({Kind::vector, 4}, a.color) : kInvalid;
}
constexpr Shape rule_four_spin(Shape a, Shape, Shape) {
  return a.spin.n == 4 && a.spin.kind != Kind::scalar ? a : kInvalid;
}
constexpr Shape rule_gamma(Shape a, Shape, Shape) {
  return rule_four_spin(a, a, a).with_complex(true).valid && a.spin.n == 4 ? a.with_complex(true) : kInvalid;
}
constexpr Shape rule_gamma_right(Shape a, Shape, Shape) {
  return a.spin == Level{Kind::matrix, 4} ? a.with_complex(true) : kInvalid;
}
constexpr Shape rule_peek_color(Shape a, Shape, Shape) {
  return a.color.is_scalar() ? kInvalid : a.with_levels(a.spin, {});
}
constexpr Shape rule_peek_spin(Shape a, Shape, Shape) {
  return a.spin.is_scalar() ? kInvalid : a.with_levels({}, a.color);
}
constexpr bool assignable_level(Level to, Level from) {
  return to == from || (to.kind == Kind::matrix && from.is_scalar());
}
/// Can a value of type `from` be assigned to a field of type `to`? Words convert freely; a scalar fills a diagonal; an
/// integer becomes a seed.
constexpr bool assignable(Shape to, Shape from) {
  if (has_seed(to) && !has_seed(from))
    return from.valid && from.scalar_levels() && !from.complex && !is_float(from.word);
  return from.valid && assignable_level(to.spin, from.spin) && assignable_level(to.color, from.color) &&
         (to.complex || !from.complex);
}
constexpr Shape rule_poke_color(Shape a, Shape b, Shape) {
  return !a.color.is_scalar() && b.color.is_scalar() && assignable(a.with_levels(a.spin, {}), b) ? a : kInvalid;
}
constexpr Shape rule_poke_spin(Shape a, Shape b, Shape) {
  return !a.spin.is_scalar() && b.spin.is_scalar() && assignable(a.with_levels({}, a.color), b) ? a : kInvalid;
}
constexpr Shape rule_where(Shape m, Shape a, Shape b) {
  if (m.complex || !m.scalar_levels() || !a.valid || !b.valid) return kInvalid;
  return combine(both(a.spin, b.spin), both(a.color, b.color), a, b);
}
constexpr Shape rule_color_contract(Shape a, Shape b, Shape c) {
  if (a.color != b.color || a.color != c.color || a.color.n != 3) return kInvalid;
  if (a.color.kind == Kind::matrix || a.color.kind == Kind::vector)
    return combine(product(product(a.spin, b.spin), c.spin), Level{},
                   rule_product(a.with_levels({}, {}), b.with_levels({}, {}), a), c);
  return kInvalid;
}

// ---- the table -----------------------------------------------------------------------------------------------------

/// X(name, operands, rule). `attribute` of a node: see the comments.
// clang-format off
#define QDP_OPERATIONS(X)                                                                                              \
  X(add, 2, rule_sum) X(sub, 2, rule_sum) X(mul, 2, rule_product) X(div, 2, rule_quotient)                             \
  X(mod, 2, rule_modulo) X(bit_and, 2, rule_bits) X(bit_or, 2, rule_bits) X(bit_xor, 2, rule_bits)                     \
  X(shl, 2, rule_integer) X(shr, 2, rule_integer)                                                                      \
  X(lt, 2, rule_compare) X(le, 2, rule_compare) X(gt, 2, rule_compare) X(ge, 2, rule_compare)                          \
  X(eq, 2, rule_compare) X(ne, 2, rule_compare) X(logical_and, 2, rule_logic) X(logical_or, 2, rule_logic)             \
  X(cmplx, 2, rule_cmplx) X(outer_product, 2, rule_outer)                                                              \
  X(local_inner_product, 2, rule_inner) X(local_inner_product_real, 2, rule_inner_real)                                \
  X(local_color_inner_product, 2, rule_color_inner) X(color_vector_contract, 2, rule_vector_contract)                  \
  X(color_cross_product, 2, rule_cross)                                                                                \
  X(quark_contract, 2, rule_quark_contract)      /* attribute: 13, 14, 23, 24, 12, 34 */                               \
  X(pow, 2, rule_real_function2) X(atan2, 2, rule_real_function2) X(fmod, 2, rule_real_function2)                      \
  X(ldexp, 2, rule_real_function2)                                                                                     \
  X(plus, 1, rule_numeric) X(neg, 1, rule_numeric) X(logical_not, 1, rule_not) X(bit_not, 1, rule_bit_not)             \
  X(adj, 1, rule_square) X(conj, 1, rule_same) X(transpose, 1, rule_square) X(transpose_color, 1, rule_square)         \
  X(transpose_spin, 1, rule_spin_transpose)                                                                            \
  X(trace, 1, rule_trace) X(trace_color, 1, rule_trace_color) X(trace_spin, 1, rule_trace_spin)                        \
  X(real, 1, rule_real) X(imag, 1, rule_real) X(times_i, 1, rule_complex) X(times_minus_i, 1, rule_complex)            \
  X(local_norm2, 1, rule_norm2)                                                                                        \
  X(fabs, 1, rule_abs) X(ceil, 1, rule_real_function) X(floor, 1, rule_real_function) X(sqrt, 1, rule_real_function)   \
  X(sin, 1, rule_real_function) X(cos, 1, rule_real_function) X(tan, 1, rule_real_function)                            \
  X(asin, 1, rule_real_function) X(acos, 1, rule_real_function) X(atan, 1, rule_real_function)                         \
  X(sinh, 1, rule_real_function) X(cosh, 1, rule_real_function) X(tanh, 1, rule_real_function)                         \
  X(exp, 1, rule_real_function) X(log, 1, rule_real_function) X(log10, 1, rule_real_function)                          \
  X(spin_project, 1, rule_spin_project)          /* attribute: 2 mu + (sign < 0): rows 0,1 of (1 + sign gamma_mu) x */ \
  X(spin_reconstruct, 1, rule_spin_reconstruct)  /* attribute: as above */                                             \
  X(chiral_project, 1, rule_four_spin)           /* attribute: 0 (1+gamma_5)/2, 1 (1-gamma_5)/2 */                     \
  X(gamma_left, 1, rule_gamma) X(gamma_right, 1, rule_gamma_right) /* attribute: n, + 16 Dirac-Pauli basis */          \
  X(peek_color, 1, rule_peek_color) X(peek_spin, 1, rule_peek_spin) /* attribute: row, column << 16 */                  \
  X(poke_color, 2, rule_poke_color) X(poke_spin, 2, rule_poke_spin) /* the first operand with a component replaced */  \
  X(where, 3, rule_where) X(color_contract, 3, rule_color_contract)                                                    \
  X(convert, 1, rule_same)                       /* to the node's own shape */                                         \
  X(kept, 1, rule_numeric)                       /* attribute: a FieldStorage; what is left of a value that is kept so */  \
  X(shift, 1, rule_same)                         /* through the node's map */                                          \
  X(site_function, 3, rule_same)                 /* attribute: number in the registry; up to three operands */         \
  X(field, 0, rule_same) X(value, 0, rule_same) X(zero, 0, rule_same) /* leaves: a field, a scalar by value, nought */
// clang-format on

enum class Op : std::uint8_t {
#define QDP_ROW(name, operands, rule) name,
  QDP_OPERATIONS(QDP_ROW)
#undef QDP_ROW
};

/// Type of an operation's result; !valid where the operation is not defined.
constexpr Shape result_shape(Op op, Shape a, Shape b = {}, Shape c = {}) {
  switch (op) {
#define QDP_ROW(name, operands, rule)                                                                                  \
  case Op::name:                                                                                                       \
    return rule(a, b, c);
    QDP_OPERATIONS(QDP_ROW)
#undef QDP_ROW
  }
  return kInvalid;
}

const char* name(Op op);

}  // namespace QDP::detail
