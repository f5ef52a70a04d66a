#include "qdp/expr/storage_fit.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/layout/lattice.hpp"

namespace QDP::detail {

namespace {

constexpr Shape kReal{.word = Type::f64};

/// |x - kept(x)|^2 and |x|^2.
struct Squares {
  Expr deviation, value;
};
Squares squares(const Expr& x, FieldStorage storage) {
  const auto norm2 = [](Expr e) { return make_node(Op::local_norm2, kReal, 0, std::move(e)); };
  Expr kept = make_node(Op::kept, x->shape, static_cast<std::uint64_t>(storage), x);
  return {norm2(make_node(Op::sub, x->shape, 0, x, std::move(kept))), norm2(x)};
}

/// Sites at which it does not fit, those with NaN among them.
double misfits(const Expr& x, const jit::Domain& domain, FieldStorage storage, double tolerance) {
  const double bound = tolerance * tolerance;
  Squares s = squares(x, storage);
  constexpr Shape kTruth{.word = Type::b1};
  Expr fit =
      make_node(Op::le, kTruth, 0, s.deviation, make_node(Op::mul, kReal, 0, make_value(&bound, kReal), s.value));
  const jit::Domain* const one[] = {&domain};
  double count = 0;
  reduce(make_convert(make_node(Op::logical_not, kTruth, 0, std::move(fit)), kReal), one, Reduce::sum, &count);
  return count;
}

/// "at site (1, 2, 3, 4)" of the worst here, and its relative deviation; nothing on a rank that has none.
std::string worst_site(const Expr& x, const jit::Domain& domain, FieldStorage storage, double tolerance) {
  const LatticeState& lattice = lattice_of(*x);
  const Squares s = squares(x, storage);
  const auto computed = [&](const Expr& square) {  // nought beside the domain, which fits
    auto field = new_field(kReal, lattice);
    const double nothing = 0;
    assign(field, kReal, lattice.everything(), make_value(&nothing, kReal));
    assign(field, kReal, domain, square);
    return field;
  };
  const auto deviations = computed(s.deviation), values = computed(s.value);
  const auto* deviation = static_cast<const double*>(deviations->host_read());
  const auto* value = static_cast<const double*>(values->host_read());
  std::int64_t worst = -1;
  double largest = tolerance * tolerance;
  for (std::int64_t site = 0; site < lattice.sites; ++site)
    if (!(deviation[site] <= largest * value[site])) {
      worst = site, largest = deviation[site] / value[site];
      if (std::isnan(largest)) break;
    }
  if (worst < 0) return "more, at a site of another rank";
  char number[32];
  std::snprintf(number, sizeof number, "%.2g", std::sqrt(largest));
  std::string text = std::string(number) + " at site (";
  const Coord at = lattice.here().coord(worst);
  for (int mu = 0; mu < QDP_ND; ++mu) text += (mu > 0 ? ", " : "") + std::to_string(at[static_cast<std::size_t>(mu)]);
  return text + ")";
}

}  // namespace

bool fits(const Expr& value, const jit::Domain& domain, FieldStorage storage, double tolerance) {
  return misfits(value, domain, storage, tolerance) == 0;
}

namespace {
/// Whether its words are those of fields kept so: at all sites, or where a mask says.
bool is_kept(const Node* n, FieldStorage storage) {
  while (n->op == Op::shift) n = n->kid[0].get();
  return n->op == Op::field && storage_of(*n->load.field) == storage;
}
bool is_partly_kept(const Node& n, FieldStorage storage) {
  return n.op == Op::where && (is_kept(n.kid[1].get(), storage) || is_kept(n.kid[2].get(), storage));
}
}  // namespace

Expr fitting(Expr value, Shape shape, const jit::Domain& domain, FieldStorage storage, const LatticeState& lattice) {
  if (is_kept(value.get(), storage)) return value;
  const Expr given = is_partly_kept(*value, storage) ? value : Expr();
  if (value->op != Op::field || value->load.field->encoding() != 0) {
    auto computed = new_field(shape, lattice);
    assign(computed, shape, domain, std::move(value));
    value = make_field(std::move(computed), shape);
  }
  const double tolerance = storage_tolerance(shape.word);
  const double count = misfits(value, domain, storage, tolerance);
  if (count == 0) return given ? given : value;  // whose words stay what they are
  char bound[32];
  std::snprintf(bound, sizeof bound, "%.2g", tolerance);
  throw jit::UserError({.what = "assignment to a Lattice" + describe(shape) + " in storage " + name(storage),
                        .expected = std::string("values x that are kept to |x - kept(x)| <= ") + bound + " |x|",
                        .got = worst_site(value, domain, storage, tolerance) + "; " +
                               std::to_string(static_cast<long long>(count)) + " sites do not fit",
                        .what_now = "assign to a plain field, or to one of a storage that keeps more"});
}

}  // namespace QDP::detail
