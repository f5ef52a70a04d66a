// From expression trees to kernel IR: the algebra, written once.
//
// A Tensor holds the IR values of a site's components. Structural zeros (gamma matrices, projectors, real numbers used as
// complex ones) are the Value kZero, which arithmetic drops; they never reach the IR unless stored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/builder.hpp"
#include "qdp/expr/node.hpp"

namespace QDP::detail {

using jit::ir::Value;

constexpr Value kZero = -2;  ///< structural zero

struct Cplx {
  Value re = kZero, im = kZero;
};

struct Tensor {
  Shape shape;
  std::vector<Value> v;  ///< [spin][colour][re, im], kZero allowed

  Tensor() = default;
  explicit Tensor(Shape s) : shape(s), v(static_cast<std::size_t>(s.components()), kZero) {}
  /// Complex component of spin index s (row * n + column for matrices) and colour index c.
  Cplx at(int s, int c) const;
  void set(int s, int c, Cplx z);
};

/// Arithmetic of words and complex numbers with structural zeros.
class Algebra {
 public:
  explicit Algebra(jit::ir::Builder& builder) : b(builder) {}
  jit::ir::Builder& b;

  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value neg(Value x) { return x == kZero ? kZero : b.neg(x); }
  Value fma(Value x, Value y, Value z);  ///< x*y + z
  Value word(Value x, Type t);           ///< materialised zero if kZero
  Value convert(Value x, Type t) { return x == kZero ? kZero : b.convert(t, x); }

  Cplx add(Cplx x, Cplx y) { return {add(x.re, y.re), add(x.im, y.im)}; }
  Cplx sub(Cplx x, Cplx y) { return {sub(x.re, y.re), sub(x.im, y.im)}; }
  Cplx neg(Cplx x) { return {neg(x.re), neg(x.im)}; }
  Cplx conj(Cplx x) { return {x.re, neg(x.im)}; }
  Cplx times_i(Cplx x) { return {neg(x.im), x.re}; }
  Cplx mul(Cplx x, Cplx y) { return madd(x, y, {}); }
  Cplx madd(Cplx x, Cplx y, Cplx z);  ///< x*y + z, the order of additions is part of the language's definition
  Cplx div(Cplx x, Cplx y, Type t);
  Cplx convert(Cplx x, Type t) { return {convert(x.re, t), convert(x.im, t)}; }

  Tensor convert(const Tensor& a, Shape to);  ///< word, reality and scalar -> diagonal
  /// One operation of the table on operands; `shape` is the result's.
  Tensor apply(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x);
  /// A complex or real constant as a scalar tensor.
  Tensor constant(double re, double im, Type word, bool complex);

 private:
  Tensor algebraic(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x);
  Tensor structural(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x);
  Tensor spin(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x);
  Tensor contraction(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x);
  Tensor wordwise(Op op, Shape shape, std::span<const Tensor> x);
  Tensor compare(Op op, Shape shape, std::span<const Tensor> x);
};

}  // namespace QDP::detail
