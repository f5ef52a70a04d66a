// Arithmetic with structural zeros, and the operations by family. Conventions of the formulas: s, t spin; a, b, c colour.
#include "qdp/expr/lower.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "jit/support/error.hpp"
#include "qdp/expr/gamma.hpp"
#include "qdp/expr/site_function.hpp"
#include "qdp/expr/storage.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

Cplx Tensor::at(int s, int c) const {
  auto i = static_cast<std::size_t>((s * shape.color.size() + c) * shape.reals());
  return {v[i], shape.complex ? v[i + 1] : kZero};
}
void Tensor::set(int s, int c, Cplx z) {
  auto i = static_cast<std::size_t>((s * shape.color.size() + c) * shape.reals());
  v[i] = z.re;
  if (shape.complex) v[i + 1] = z.im;
}

Value Algebra::add(Value x, Value y) { return x == kZero ? y : y == kZero ? x : b.add(x, y); }
Value Algebra::sub(Value x, Value y) { return y == kZero ? x : x == kZero ? b.neg(y) : b.sub(x, y); }
Value Algebra::mul(Value x, Value y) { return x == kZero || y == kZero ? kZero : b.mul(x, y); }
Value Algebra::fma(Value x, Value y, Value z) {
  if (x == kZero || y == kZero) return z;
  return z == kZero ? b.mul(x, y) : b.fma(x, y, z);
}
Value Algebra::word(Value x, Type t) { return x == kZero ? b.constant(t, 0) : b.convert(t, x); }

Cplx Algebra::madd(Cplx x, Cplx y, Cplx z) {
  Value re = fma(x.re, y.re, z.re), im = fma(x.re, y.im, z.im);
  return {fma(neg(x.im), y.im, re), fma(x.im, y.re, im)};
}

Cplx Algebra::div(Cplx x, Cplx y, Type t) {
  if (y.im == kZero) {
    Value d = word(y.re, t);
    return {x.re == kZero ? kZero : b.div(x.re, d), x.im == kZero ? kZero : b.div(x.im, d)};
  }
  Cplx n = mul(x, conj(y));
  Value d = word(fma(y.re, y.re, mul(y.im, y.im)), t);
  return {n.re == kZero ? kZero : b.div(n.re, d), n.im == kZero ? kZero : b.div(n.im, d)};
}

Tensor Algebra::constant(double re, double im, Type t, bool complex) {
  Tensor r(Shape{.complex = complex, .word = t});
  r.v[0] = b.constant(t, re);
  if (complex) r.v[1] = im == 0 ? kZero : b.constant(t, im);
  return r;
}

Tensor Algebra::convert(const Tensor& a, Shape to) {
  if (a.shape == to) return a;
  Tensor r(to);
  if (to.color.kind == Kind::seed &&
      a.shape.color.kind != Kind::seed) {  // the limbs of an integer, 12 bits each; the last stays zero
    const Value x = word(a.v[0], to.word), mask = b.constant_int(to.word, 4095);
    for (std::size_t i = 0; i < 3; ++i)
      r.v[i] =
          b.binary(ir::Op::and_, b.binary(ir::Op::shr, x, b.constant_int(to.word, 12 * static_cast<int>(i))), mask);
    return r;
  }
  const int ns = to.spin.kind == Kind::matrix ? to.spin.n : 1, nc = to.color.kind == Kind::matrix ? to.color.n : 1;
  const bool spread_spin = a.shape.spin != to.spin, spread_color = a.shape.color != to.color;
  for (int s = 0; s < to.spin.size(); ++s)
    for (int c = 0; c < to.color.size(); ++c) {
      if ((spread_spin && s / ns != s % ns) || (spread_color && c / nc != c % nc)) continue;  // off-diagonal: zero
      r.set(s, c, convert(a.at(spread_spin ? 0 : s, spread_color ? 0 : c), to.word));
    }
  return r;
}

namespace {

// Rows and columns of one level: scalar 1x1 (a multiple of 1), vector n x 1, matrix n x n.
struct Extent {
  int rows, cols;
  bool scalar;
};
Extent extent(Level l) {
  switch (l.kind) {
    case Kind::matrix:
      return {l.n, l.n, false};
    case Kind::vector:
      return {l.n, 1, false};
    case Kind::seed:
      return {4, 1, false};
    default:
      return {1, 1, true};
  }
}

/// The component that component i of a level's transpose comes from.
int flipped(Extent e, int i) { return e.cols == 1 ? i : i % e.cols * e.cols + i / e.cols; }

/// Of a level's sum: component i of a (first) and b (second), -1 where it is zero.
std::array<int, 2> sum_terms(Level a, Level b, int i) {
  auto pick = [i](Level own, Level other) {
    if (own == other || !own.is_scalar()) return i;
    return i / other.n == i % other.n ? 0 : -1;
  };
  return {pick(a, b), pick(b, a)};
}

[[noreturn]] void unknown(Op op) {
  throw jit::InternalError(std::string("lowering: no rule for operation ") + name(op));
}

constexpr std::array<std::array<int, 4>, 6> kEpsilon{
    {{0, 1, 2, 1}, {1, 2, 0, 1}, {2, 0, 1, 1}, {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}}};

}  // namespace

Tensor Algebra::apply(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::plus:
    case Op::neg:
    case Op::times_i:
    case Op::times_minus_i:
    case Op::where:
      return algebraic(op, shape, attribute, x);
    case Op::adj:
    case Op::conj:
    case Op::transpose:
    case Op::transpose_color:
    case Op::transpose_spin:
    case Op::trace:
    case Op::trace_color:
    case Op::trace_spin:
    case Op::real:
    case Op::imag:
    case Op::cmplx:
    case Op::peek_color:
    case Op::peek_spin:
    case Op::poke_color:
    case Op::poke_spin:
      return structural(op, shape, attribute, x);
    case Op::spin_project:
    case Op::spin_reconstruct:
    case Op::chiral_project:
    case Op::gamma_left:
    case Op::gamma_right:
      return spin(op, shape, attribute, x);
    case Op::outer_product:
    case Op::local_inner_product:
    case Op::local_inner_product_real:
    case Op::local_color_inner_product:
    case Op::color_vector_contract:
    case Op::color_cross_product:
    case Op::quark_contract:
    case Op::color_contract:
    case Op::local_norm2:
      return contraction(op, shape, attribute, x);
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::ne:
      return compare(op, shape, x);
    case Op::convert:
      return convert(x[0], shape);
    case Op::kept: {
      const auto storage = static_cast<FieldStorage>(attribute);
      return decode(*this, storage, shape, encode(*this, storage, x[0]));
    }
    case Op::zero:
      return Tensor(shape);
    case Op::site_function:
      return replay(*this, site_program(attribute), shape, x);
    case Op::shift:
    case Op::field:
    case Op::value:
      unknown(op);
    default:
      return wordwise(op, shape, x);
  }
}

// ---- sums, products, scaling ---------------------------------------------------------------------------------------

Tensor Algebra::algebraic(Op op, Shape shape, std::uint64_t, std::span<const Tensor> x) {
  Tensor r(shape);
  const Type w = shape.word;
  const int ns = shape.spin.size(), nc = shape.color.size();
  auto in = [&](std::size_t i, int s, int c) { return convert(x[i].at(s, c), w); };
  for (int s = 0; s < ns; ++s)
    for (int c = 0; c < nc; ++c) {
      Cplx z;
      switch (op) {
        case Op::add:
        case Op::sub:
        case Op::where: {
          const std::size_t first = op == Op::where ? 1 : 0;
          const auto ts = sum_terms(x[first].shape.spin, x[first + 1].shape.spin, s);
          const auto tc = sum_terms(x[first].shape.color, x[first + 1].shape.color, c);
          Cplx p, q;
          if (ts[0] >= 0 && tc[0] >= 0) p = in(first, ts[0], tc[0]);
          if (ts[1] >= 0 && tc[1] >= 0) q = in(first + 1, ts[1], tc[1]);
          if (op == Op::where) {
            const Value m = word(x[0].at(0, 0).re, Type::b1);
            auto choose = [&](Value u, Value v) {
              return u == kZero && v == kZero ? kZero : b.select(m, word(u, w), word(v, w));
            };
            z = {choose(p.re, q.re), choose(p.im, q.im)};
          } else {
            z = op == Op::add ? add(p, q) : sub(p, q);
          }
          break;
        }
        case Op::mul: {
          const Terms ts = product_terms(x[0].shape.spin, x[1].shape.spin, s),
                      tc = product_terms(x[0].shape.color, x[1].shape.color, c);
          for (int i = 0; i < ts.n; ++i)
            for (int j = 0; j < tc.n; ++j) {
              const auto p = ts.pair(i), q = tc.pair(j);
              z = madd(in(0, p.left, q.left), in(1, p.right, q.right), z);
            }
          break;
        }
        case Op::div:
          z = div(in(0, s, c), in(1, 0, 0), w);
          break;
        case Op::plus:
          z = in(0, s, c);
          break;
        case Op::neg:
          z = neg(in(0, s, c));
          break;
        case Op::times_i:
          z = times_i(in(0, s, c));
          break;
        case Op::times_minus_i:
          z = neg(times_i(in(0, s, c)));
          break;
        default:
          unknown(op);
      }
      r.set(s, c, z);
    }
  return r;
}

// ---- rearrangements ------------------------------------------------------------------------------------------------

Tensor Algebra::structural(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x) {
  const Tensor& a = x[0];
  Tensor r(shape);
  const Extent es = extent(a.shape.spin), ec = extent(a.shape.color);
  const int row = static_cast<int>(attribute & 0xFFFF), column = static_cast<int>(attribute >> 16);
  auto index = [&](Extent e) { return e.cols == 1 ? row : row * e.cols + column; };
  const bool all = op == Op::adj || op == Op::transpose;
  for (int s = 0; s < shape.spin.size(); ++s)
    for (int c = 0; c < shape.color.size(); ++c) {
      Cplx z;
      switch (op) {
        case Op::adj:
        case Op::transpose:
        case Op::transpose_color:
        case Op::transpose_spin:
          z = a.at(all || op == Op::transpose_spin ? flipped(es, s) : s,
                   all || op == Op::transpose_color ? flipped(ec, c) : c);
          if (op == Op::adj) z = conj(z);
          break;
        case Op::conj:
          z = conj(a.at(s, c));
          break;
        case Op::trace:
        case Op::trace_color:
        case Op::trace_spin: {
          const bool over_s = op != Op::trace_color && a.shape.spin.kind == Kind::matrix;
          const bool over_c = op != Op::trace_spin && a.shape.color.kind == Kind::matrix;
          for (int i = 0; i < (over_s ? es.rows : 1); ++i)
            for (int j = 0; j < (over_c ? ec.rows : 1); ++j)
              z = add(z, a.at(over_s ? i * es.cols + i : s, over_c ? j * ec.cols + j : c));
          break;
        }
        case Op::real:
          z.re = a.at(s, c).re;
          break;
        case Op::imag:
          z.re = a.at(s, c).im;
          break;
        case Op::cmplx:
          z = {convert(a.at(s, c).re, shape.word), convert(x[1].at(s, c).re, shape.word)};
          break;
        case Op::peek_color:
          z = a.at(s, index(ec));
          break;
        case Op::peek_spin:
          z = a.at(index(es), c);
          break;
        case Op::poke_color:
          z = c == index(ec) ? convert(convert(x[1], shape.with_levels(shape.spin, {})).at(s, 0), shape.word)
                             : a.at(s, c);
          break;
        case Op::poke_spin:
          z = s == index(es) ? convert(convert(x[1], shape.with_levels({}, shape.color)).at(0, c), shape.word)
                             : a.at(s, c);
          break;
        default:
          unknown(op);
      }
      r.set(s, c, z);
    }
  return r;
}

// ---- gamma matrices ------------------------------------------------------------------------------------------------

Tensor Algebra::spin(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x) {
  const Tensor& a = x[0];
  Tensor r(shape);
  const int columns_in = extent(a.shape.spin).cols, columns = extent(shape.spin).cols;
  auto phase = [this](Cplx z, int power) {
    if (power & 1) z = times_i(z);
    return power & 2 ? neg(z) : z;
  };
  const int rows = extent(shape.spin).rows;
  for (int s = 0; s < rows; ++s)
    for (int t = 0; t < columns; ++t)
      for (int c = 0; c < shape.color.size(); ++c) {
        auto in = [&](int row, int col) { return a.at(row * columns_in + col, c); };
        Cplx z;
        switch (op) {
          case Op::gamma_left: {
            const SparseGamma g = gamma_matrix(attribute);
            auto i = static_cast<std::size_t>(s);
            z = phase(in(g.column[i], t), g.power[i]);
            break;
          }
          case Op::gamma_right: {  // (x g)_{st} = sum_m x_{sm} g_{mt}
            const SparseGamma g = gamma_matrix(attribute);
            for (std::size_t m = 0; m < 4; ++m)
              if (g.column[m] == t) z = phase(in(s, static_cast<int>(m)), g.power[m]);
            break;
          }
          case Op::chiral_project:  // (1 +- gamma_5)/2: the upper or lower half
            if ((s < 2) == (attribute == 0)) z = in(s, t);
            break;
          case Op::spin_project: {  // rows 0, 1 of (1 + sign gamma_mu) x
            const SparseGamma g = gamma_matrix(1u << (attribute >> 1));
            auto i = static_cast<std::size_t>(s);
            z = phase(in(g.column[i], t), g.power[i] + 2 * static_cast<int>(attribute & 1));
            z = add(in(s, t), z);
            break;
          }
          case Op::spin_reconstruct: {  // h = rows 0, 1 of phi = sign gamma_mu phi
            if (s < 2) {
              z = in(s, t);
              break;
            }
            const SparseGamma g = gamma_matrix(1u << (attribute >> 1));
            auto i = static_cast<std::size_t>(s);
            z = phase(in(g.column[i], t), g.power[i] + 2 * static_cast<int>(attribute & 1));
            break;
          }
          default:
            unknown(op);
        }
        r.set(s * columns + t, c, z);
      }
  return r;
}

// ---- contractions --------------------------------------------------------------------------------------------------

namespace {
/// A sum of many terms, in some sums side by side that do not wait for each other's additions. How many follows from the number of terms
/// alone, and with it the rounding.
class LongSum {
 public:
  explicit LongSum(int terms) : parts_(static_cast<std::size_t>(std::clamp(terms / 2, 1, 4))) {}

  /// The one that takes the next term.
  Cplx& next() { return sums_[next_++ % parts_]; }
  Cplx total(Algebra& algebra) const {
    return algebra.add(algebra.add(sums_[0], sums_[1]), algebra.add(sums_[2], sums_[3]));
  }

 private:
  std::size_t parts_, next_ = 0;
  std::array<Cplx, 4> sums_;
};
}  // namespace

Tensor Algebra::contraction(Op op, Shape shape, std::uint64_t attribute, std::span<const Tensor> x) {
  Tensor r(shape);
  const Type w = shape.word;
  auto in = [&](std::size_t i, int s, int c) { return convert(x[i].at(s, c), w); };
  const int ns = x[0].shape.spin.size(), nc = x[0].shape.color.size();
  switch (op) {
    case Op::local_norm2: {
      LongSum sum(ns * nc);
      for (int s = 0; s < ns; ++s)
        for (int c = 0; c < nc; ++c) {
          const Cplx z = in(0, s, c);
          Value& part = sum.next().re;
          part = fma(z.im, z.im, fma(z.re, z.re, part));
        }
      r.set(0, 0, sum.total(*this));
      break;
    }
    case Op::local_inner_product:
    case Op::local_inner_product_real: {
      const Shape &l = x[0].shape, &m = x[1].shape;  // a number beside a matrix is that multiple of one
      const Level spins = both(l.spin, m.spin), colors = both(l.color, m.color);
      LongSum sum(spins.size() * colors.size());
      for (int s = 0; s < spins.size(); ++s)
        for (int c = 0; c < colors.size(); ++c) {
          const auto p = sum_terms(l.spin, m.spin, s), q = sum_terms(l.color, m.color, c);
          if (p[0] < 0 || p[1] < 0 || q[0] < 0 || q[1] < 0) continue;
          Cplx& part = sum.next();
          part = madd(conj(in(0, p[0], q[0])), in(1, p[1], q[1]), part);
        }
      r.set(0, 0, sum.total(*this));
      break;
    }
    case Op::local_color_inner_product:
    case Op::color_vector_contract: {  // over spin adj(x) y and x y
      const bool adjoint = op == Op::local_color_inner_product;
      const Extent es = extent(x[0].shape.spin);
      for (int s = 0; s < shape.spin.size(); ++s) {
        Cplx sum;
        const Terms ts = product_terms(x[0].shape.spin, x[1].shape.spin, s);
        for (int i = 0; i < ts.n; ++i)
          for (int c = 0; c < nc; ++c) {
            const auto [p, q] = ts.pair(i);
            const Cplx l = in(0, adjoint ? flipped(es, p) : p, c);
            sum = madd(adjoint ? conj(l) : l, in(1, q, c), sum);
          }
        r.set(s, 0, sum);
      }
      break;
    }
    case Op::outer_product: {  // x_i conj(y_j) at every level
      const int bs = x[1].shape.spin.size(), bc = x[1].shape.color.size();
      for (int s = 0; s < shape.spin.size(); ++s)
        for (int c = 0; c < shape.color.size(); ++c)
          r.set(s, c, mul(in(0, s / bs, c / bc), conj(in(1, s % bs, c % bc))));
      break;
    }
    case Op::color_cross_product:  // d^i = eps^ijk x^j y^k
      for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        r.set(0, i, madd(neg(in(0, 0, k)), in(1, 0, j), mul(in(0, 0, j), in(1, 0, k))));
      }
      break;
    case Op::color_contract: {
      const Shape pair = shape.with_levels(product(x[0].shape.spin, x[1].shape.spin), {});
      auto contract = [&](auto component) {  // sums eps eps' x y z over colour, spin by the product rule
        for (int s = 0; s < shape.spin.size(); ++s) {
          const Terms outer_terms = product_terms(pair.spin, x[2].shape.spin, s);
          Cplx sum;
          for (int o = 0; o < outer_terms.n; ++o) {
            const auto [l, m] = outer_terms.pair(o);
            const Terms inner_terms = product_terms(x[0].shape.spin, x[1].shape.spin, l);
            for (int i = 0; i < inner_terms.n; ++i) {
              const auto [p, q] = inner_terms.pair(i);
              sum = add(sum, component(p, q, m));
            }
          }
          r.set(s, 0, sum);
        }
      };
      if (x[0].shape.color.kind == Kind::vector)
        contract([&](int p, int q, int m) {
          Cplx sum;
          for (auto [i, j, k, sign] : kEpsilon) {
            Cplx l = sign > 0 ? in(0, p, i) : neg(in(0, p, i));
            sum = madd(mul(l, in(1, q, j)), in(2, m, k), sum);
          }
          return sum;
        });
      else
        contract([&](int p, int q, int m) {
          Cplx sum;
          for (auto [i, j, k, sign] : kEpsilon)
            for (auto [i2, j2, k2, sign2] : kEpsilon) {
              Cplx l = sign * sign2 > 0 ? in(0, p, 3 * i + i2) : neg(in(0, p, 3 * i + i2));
              sum = madd(mul(l, in(1, q, 3 * j + j2)), in(2, m, 3 * k + k2), sum);
            }
          return sum;
        });
      break;
    }
    case Op::quark_contract: {
      // colour: d^{k'k} = eps^{ijk} eps^{i'j'k'} x^{ii'} y^{jj'};  spin by attribute, n = 4
      const int n = shape.spin.n;
      auto colors = [&](auto left, auto right, int k2, int k, Cplx sum) {
        for (auto [i, j, e, sign] : kEpsilon)
          for (auto [i2, j2, e2, sign2] : kEpsilon) {
            if (e != k || e2 != k2) continue;
            const Cplx l = left(3 * i + i2);
            sum = madd(sign * sign2 > 0 ? l : neg(l), right(3 * j + j2), sum);
          }
        return sum;
      };
      auto component = [&](std::size_t i, int s) { return [&in, i, s](int c) { return in(i, s, c); }; };
      if (attribute == 12 || attribute == 34) {  // one operand is traced over spin
        const std::size_t traced = attribute == 12 ? 0 : 1;
        std::array<Cplx, 9> trace_of;
        for (int c = 0; c < 9; ++c)
          for (int k = 0; k < n; ++k)
            trace_of[static_cast<std::size_t>(c)] =
                add(trace_of[static_cast<std::size_t>(c)], in(traced, k * n + k, c));
        auto trace_component = [&](int c) { return trace_of[static_cast<std::size_t>(c)]; };
        for (int s = 0; s < n * n; ++s)
          for (int c = 0; c < 9; ++c)
            r.set(s, c,
                  traced == 0 ? colors(trace_component, component(1, s), c / 3, c % 3, {})
                              : colors(component(0, s), trace_component, c / 3, c % 3, {}));
        break;
      }
      const bool left_row = attribute == 23 || attribute == 24,
                 right_row = attribute == 14 || attribute == 24;  // free index first
      for (int s = 0; s < n; ++s)
        for (int t = 0; t < n; ++t)
          for (int c = 0; c < 9; ++c) {
            Cplx sum;
            for (int k = 0; k < n; ++k)
              sum = colors(component(0, left_row ? s * n + k : k * n + s),
                           component(1, right_row ? t * n + k : k * n + t), c / 3, c % 3, sum);
            r.set(s * n + t, c, sum);
          }
      break;
    }
    default:
      unknown(op);
  }
  return r;
}

// ---- word by word --------------------------------------------------------------------------------------------------

Tensor Algebra::compare(Op op, Shape shape, std::span<const Tensor> x) {
  const Type w = promote(promote(x[0].shape.word, x[1].shape.word), Type::i32);
  Tensor r(shape);
  Value all = ir::kNone;
  for (std::size_t i = 0; i < x[0].v.size(); ++i) {  // one component, or the four of a seed
    const Value l = word(x[0].v[i], w), m = word(x[1].v[i], w);
    Value one;
    switch (op) {
      case Op::lt:
        one = b.binary(ir::Op::lt, l, m);
        break;
      case Op::le:
        one = b.binary(ir::Op::le, l, m);
        break;
      case Op::gt:
        one = b.binary(ir::Op::lt, m, l);
        break;
      case Op::ge:
        one = b.binary(ir::Op::le, m, l);
        break;
      case Op::eq:
        one = b.binary(ir::Op::eq, l, m);
        break;
      default:
        one = b.binary(ir::Op::ne, l, m);
        break;
    }
    all = all == ir::kNone ? one : b.binary(op == Op::ne ? ir::Op::or_ : ir::Op::and_, all, one);
  }
  r.v[0] = all;
  return r;
}

Tensor Algebra::wordwise(Op op, Shape shape, std::span<const Tensor> x) {
  const Type w = shape.word;
  auto in = [&](std::size_t i) { return word(x[i].v[0], w); };
  auto f1 = [&](ir::Op o) { return b.unary(o, in(0)); };
  auto f2 = [&](ir::Op o) { return b.binary(o, in(0), in(1)); };
  Value z = ir::kNone;
  switch (op) {
    case Op::mod:
      z = f2(is_float(w) ? ir::Op::fmod : ir::Op::rem);
      break;
    case Op::bit_and:
    case Op::logical_and:
      z = f2(ir::Op::and_);
      break;
    case Op::bit_or:
    case Op::logical_or:
      z = f2(ir::Op::or_);
      break;
    case Op::bit_xor:
      z = f2(ir::Op::xor_);
      break;
    case Op::shl:
      z = f2(ir::Op::shl);
      break;
    case Op::shr:
      z = f2(ir::Op::shr);
      break;
    case Op::logical_not:
    case Op::bit_not:
      z = f1(ir::Op::not_);
      break;
    case Op::pow:
      z = f2(ir::Op::pow);
      break;
    case Op::atan2:
      z = f2(ir::Op::atan2);
      break;
    case Op::fmod:
      z = f2(ir::Op::fmod);
      break;
    case Op::ldexp:
      z = b.mul(in(0), b.binary(ir::Op::pow, b.constant(w, 2), in(1)));
      break;
    case Op::fabs:
      z = f1(ir::Op::abs);
      break;
    case Op::ceil:
      z = f1(ir::Op::ceil);
      break;
    case Op::floor:
      z = f1(ir::Op::floor);
      break;
    case Op::sqrt:
      z = f1(ir::Op::sqrt);
      break;
    case Op::sin:
      z = f1(ir::Op::sin);
      break;
    case Op::cos:
      z = f1(ir::Op::cos);
      break;
    case Op::tan:
      z = f1(ir::Op::tan);
      break;
    case Op::asin:
      z = f1(ir::Op::asin);
      break;
    case Op::acos:
      z = f1(ir::Op::acos);
      break;
    case Op::atan:
      z = f1(ir::Op::atan);
      break;
    case Op::sinh:
      z = f1(ir::Op::sinh);
      break;
    case Op::cosh:
      z = f1(ir::Op::cosh);
      break;
    case Op::tanh:
      z = f1(ir::Op::tanh);
      break;
    case Op::exp:
      z = f1(ir::Op::exp);
      break;
    case Op::log:
      z = f1(ir::Op::log);
      break;
    case Op::log10:
      z = f1(ir::Op::log10);
      break;
    default:
      unknown(op);
  }
  Tensor r(shape);
  r.v[0] = z;
  return r;
}

}  // namespace QDP::detail
