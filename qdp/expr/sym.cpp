#include "qdp/expr/sym.hpp"

#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/site_function.hpp"

namespace QDP {

namespace detail {
/// A tensor of IR values, or a number that has not met one yet.
struct SymValue {
  Algebra* algebra = nullptr;
  Tensor tensor;
  double number = 0;
};

namespace {
Tensor as_tensor(const Sym& x, Algebra& algebra, Type word) {
  const SymValue& v = x.value();
  if (v.algebra) return v.tensor;
  return v.number == 0 ? Tensor(Shape{.word = word}) : algebra.constant(v.number, 0, word, false);
}

/// Where the operands live, and the widest of their words.
struct Common {
  Algebra* algebra = nullptr;
  Type word = Type::b1;
};
Common common(const char* operation, const Sym* x, int n) {
  Common c;
  for (int i = 0; i < n; ++i)
    if (const SymValue& v = x[i].value(); v.algebra) {
      c.algebra = v.algebra;
      if (v.tensor.shape.word != Type::b1) c.word = promote(c.word, v.tensor.shape.word);
    }
  if (!c.algebra)
    throw jit::UserError(std::string("site function: ") + operation +
                         " of constants only; compute it as a number outside");
  if (c.word == Type::b1) c.word = Type::f64;
  return c;
}
[[noreturn]] void throw_undefined(const char* operation, std::span<const Tensor> x) {
  std::string what;
  for (const Tensor& t : x) what += (what.empty() ? "" : ", ") + describe(t.shape);
  throw jit::UserError(std::string("site function: ") + operation + " is not defined for (" + what + ")");
}
}  // namespace

Sym sym_apply(Op op, std::uint64_t attribute, const Sym* x, int n) {
  const auto [algebra, word] = common(name(op), x, n);
  std::vector<Tensor> t;
  Shape s[3];
  for (int i = 0; i < n; ++i) t.push_back(as_tensor(x[i], *algebra, word)), s[i] = t.back().shape;
  Shape r = result_shape(op, s[0], s[1], s[2]);
  if (!r.valid) throw_undefined(name(op), t);
  return Sym(SymValue{algebra, algebra->apply(op, r, attribute, t), 0});
}

Sym sym_zero(const Sym& like, Shape shape) {
  const SymValue& v = like.value();
  return Sym(SymValue{v.algebra, Tensor(shape.with_word(v.tensor.shape.word)), 0});
}

SymBody::~SymBody() = default;

std::uint64_t make_site_function(const char* name, std::shared_ptr<const SymBody> body) {
  return register_site_function({name, [body = std::move(body)](Algebra& algebra, std::span<const Tensor> x) {
                                   std::vector<Sym> symbols;
                                   for (const Tensor& t : x) symbols.emplace_back(SymValue{&algebra, t, 0});
                                   const Sym r = (*body)(symbols.data());
                                   return as_tensor(r, algebra, x[0].shape.word);
                                 }});
}
}  // namespace detail

using detail::Op;
using detail::SymValue;

Sym::Sym() : Sym(0.0) {}
Sym::Sym(double x) : value_(std::make_unique<SymValue>()) { value_->number = x; }
Sym::Sym(SymValue value) : value_(std::make_unique<SymValue>(std::move(value))) {}
Sym::Sym(const Sym& x) : value_(std::make_unique<SymValue>(*x.value_)) {}
Sym::Sym(Sym&&) noexcept = default;
Sym& Sym::operator=(const Sym& x) {
  *value_ = *x.value_;
  return *this;
}
Sym& Sym::operator=(Sym&&) noexcept = default;
Sym::~Sym() = default;

detail::Shape Sym::shape() const { return value_->tensor.shape; }

Sym Sym::color(int i, int j) const {
  return detail::sym1(Op::peek_color, *this,
                      detail::component(shape().color, i, j, shape().color.kind == detail::Kind::matrix, "Sym::color"));
}
Sym Sym::spin(int s, int t) const {
  return detail::sym1(Op::peek_spin, *this,
                      detail::component(shape().spin, s, t, shape().spin.kind == detail::Kind::matrix, "Sym::spin"));
}
Sym Sym::real() const { return detail::sym1(Op::real, *this); }
Sym Sym::imag() const { return detail::sym1(Op::imag, *this); }
void Sym::set_color(int i, int j, const Sym& x) {
  const Sym pair[] = {*this, x};
  *this = detail::sym_apply(Op::poke_color, detail::component(shape().color, i, j, true, "Sym::set_color"), pair, 2);
}
void Sym::set_spin(int s, int t, const Sym& x) {
  const Sym pair[] = {*this, x};
  *this = detail::sym_apply(Op::poke_spin, detail::component(shape().spin, s, t, true, "Sym::set_spin"), pair, 2);
}
void Sym::set(int s, int t, int i, int j, const Sym& x) {
  Sym colors = spin(s, t);
  colors.set_color(i, j, x);
  set_spin(s, t, colors);
}
Sym& Sym::operator+=(const Sym& x) { return *this = *this + x; }
Sym& Sym::operator-=(const Sym& x) { return *this = *this - x; }
Sym& Sym::operator*=(const Sym& x) { return *this = *this * x; }

Sym zero_like(const Sym& a) { return detail::sym_zero(a, a.shape()); }

Sym fma(const Sym& x, const Sym& y, const Sym& z) {
  const Sym operands[] = {x, y, z};
  const auto [algebra, word] = detail::common("fma", operands, 3);
  std::vector<detail::Tensor> t;
  detail::Shape shape{.word = word};
  bool components = is_float(word);
  for (const Sym& s : operands) {
    t.push_back(detail::as_tensor(s, *algebra, word));
    components = components && t.back().shape.scalar_levels();
    shape.complex = shape.complex || t.back().shape.complex;
  }
  if (!components) detail::throw_undefined("fma", t);
  const auto component = [&](std::size_t i) { return algebra->convert(t[i].at(0, 0), word); };
  detail::Tensor r(shape);
  r.set(0, 0, algebra->madd(component(0), component(1), component(2)));
  return Sym(detail::SymValue{algebra, std::move(r), 0});
}

}  // namespace QDP
