#include "qdp/expr/operand.hpp"

#include <vector>

#include "jit/memory/field.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/subset.hpp"

namespace QDP::detail {

Node* shifted(Operand x, const MapFamily& maps, int sign, int dir) {
  Expr source = to_expr(x);
  const auto& map = maps.on(lattice_of(*source), sign, dir);
  return make_shift_node(std::move(source), map).forget();
}

namespace {

const jit::Domain& everywhere(const jit::Field& field) {
  return lattice_of(field.order()).set(DefaultSet::all).subsets[0].domain;
}

Expr combination(const std::shared_ptr<jit::Field>& dest, Shape shape, Op op, Shape result, std::uint64_t attribute,
                 Operand x) {
  Expr own = make_field(dest, shape), other = to_expr(x);
  return Expr(new_node(op, result, attribute, own.forget(), other.forget(), nullptr));
}

}  // namespace

// ---- fields ----------------------------------------------------------------------------------------------------------

FieldOwner::FieldOwner(Shape shape) { own(new_field(shape)); }
FieldOwner::FieldOwner(Shape shape, const LatticeState& lattice) { own(new_field(shape, lattice)); }
FieldOwner::FieldOwner(Shape shape, const LatticeState& lattice, FieldStorage storage) {
  own(new_field(shape, lattice, storage));
}
FieldOwner::FieldOwner(Shape shape, Operand value) {
  const bool number = value.kind() == Operand::Kind::value || value.kind() == Operand::Kind::zero;
  Expr expression = to_expr(value);
  own(number ? new_field(shape) : new_field(shape, lattice_of(*expression)));
  detail::assign(field_, shape, everywhere(*field_), std::move(expression));
}
FieldOwner& FieldOwner::operator=(std::shared_ptr<jit::Field> field) noexcept {
  own(std::move(field));
  return *this;
}
FieldOwner::~FieldOwner() = default;

void FieldOwner::own(std::shared_ptr<jit::Field> field) const noexcept {
  field_ = std::move(field);
  side_ = field_ ? &field_->host_side() : &kNoHostSide;
}
void FieldOwner::make_again(Shape shape) const { own(new_field(shape)); }

void FieldOwner::assign(Shape shape, Operand value) {
  Expr expression = to_expr(value);
  const auto& field = get(shape);
  if (!field->ever_written()) [[unlikely]]
    adopt_lattice(*field, *expression);
  detail::assign(field, shape, everywhere(*field), std::move(expression));
}
void FieldOwner::combine(Shape shape, Op op, Shape result, std::uint64_t attribute, Operand x) {
  const auto& field = get(shape);
  detail::assign(field, shape, everywhere(*field), combination(field, shape, op, result, attribute, x));
}
void FieldOwner::take(FieldOwner& x, Shape shape) {
  if (field_ && x.field_ &&
      ((field_->ever_written() && &field_->order() != &x.field_->order()) ||  // an error
       field_->encoding() != x.field_->encoding()))
    return assign(shape, Operand::of(&x, Operand::Kind::field, shape));
  if (this != &x) std::swap(field_, x.field_), std::swap(side_, x.side_);
}

// ---- on subsets ------------------------------------------------------------------------------------------------------

void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const Subset& subset, Operand value) {
  Expr expression = to_expr(value);
  assign(dest, shape, subset.domain_for(dest->order()), std::move(expression));
}
void combine(const std::shared_ptr<jit::Field>& dest, Shape shape, const Subset& subset, Op op, Shape result,
             std::uint64_t attribute, Operand x) {
  assign(dest, shape, subset.domain_for(dest->order()), combination(dest, shape, op, result, attribute, x));
}

namespace {

template <class W> void round_to(const double* x, int count, void* words) {
  W* const to = static_cast<W*>(words);
  for (int c = 0; c < count; ++c)
    if constexpr (std::is_integral_v<W>)
      to[c] = static_cast<W>(static_cast<long long>(x[c]));  // wraps, as int does
    else
      to[c] = static_cast<W>(x[c]);
}
void round_to(const double* x, Type word, int count, void* words) {
  switch (word) {
    case Type::b1:
      return round_to<bool>(x, count, words);
    case Type::i32:
      return round_to<std::int32_t>(x, count, words);
    case Type::i64:
      return round_to<std::int64_t>(x, count, words);
    case Type::f32:
      return round_to<float>(x, count, words);
    case Type::f64:
      return round_to<double>(x, count, words);
  }
}

void reduce(Expr x, std::span<const jit::Domain* const> domains, Reduce kind, Shape result, void* words) {
  constexpr int kFew = 64;
  double few[kFew];
  std::vector<double> many;
  const int count = static_cast<int>(domains.size()) * result.components();
  if (count > kFew) many.resize(static_cast<std::size_t>(count));
  double* const found = count > kFew ? many.data() : few;
  detail::reduce(std::move(x), domains, kind, found);
  round_to(found, result.word, count, words);
}

}  // namespace

void reduce(Operand x, const Subset& subset, Reduce kind, Shape result, void* words) {
  Expr expression = to_expr(x);
  const jit::Domain* const one[] = {&subset.domain_for(lattice_of(*expression))};
  reduce(std::move(expression), one, kind, result, words);
}
void reduce(Operand x, const Set& set, Shape result, void* words) {
  Expr expression = to_expr(x);
  const LatticeState& lattice = lattice_of(*expression);
  std::vector<const jit::Domain*> domains;
  for (int k = 0; k < set.numSubsets(); ++k) domains.push_back(&set[k].domain_for(lattice));
  if (!domains.empty()) reduce(std::move(expression), domains, Reduce::sum, result, words);
}
std::shared_ptr<PendingSum> reduce_later(Operand x, const Subset& subset, Reduce kind) {
  Expr expression = to_expr(x);
  const jit::Domain& domain = subset.domain_for(lattice_of(*expression));
  return reduce_later(std::move(expression), domain, kind);
}
void finish(PendingSum& sum, Shape result, void* words) {
  finish(sum);
  round_to(sum.values, result.word, result.components(), words);
}

}  // namespace QDP::detail
