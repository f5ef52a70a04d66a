#include "qdp/expr/storage_fit.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {

constexpr Shape kReal{.word = Type::f64}, kTruth{.word = Type::b1};

Expr number(double x) { return make_value(&x, kReal); }
Expr norm2(Expr x) { return make_node(Op::local_norm2, kReal, 0, std::move(x)); }
Expr both(Expr a, Expr b) { return make_node(Op::logical_and, kTruth, 0, std::move(a), std::move(b)); }
Expr is_not(Expr a) { return make_node(Op::logical_not, kTruth, 0, std::move(a)); }

/// Values of which it is asked whether a storage keeps them.
struct Question {
  Expr value;
  const jit::Domain& domain;
  FieldStorage storage;
  double tolerance;
  Expr where{};  ///< a mask; none: everywhere

  Expr deviation() const {
    const Expr kept = make_node(Op::kept, value->shape, static_cast<std::uint64_t>(storage), value);
    return norm2(make_node(Op::sub, value->shape, 0, value, kept));
  }
  /// Where the squares are numbers that tell, or the value is nought: others, and NaN, do not fit.
  Expr misfits() const {
    constexpr double kLeast = 1e-280, kMost = 1e300;
    const Expr square = norm2(value);
    const auto at_most = [](Expr a, Expr b) { return make_node(Op::le, kTruth, 0, std::move(a), std::move(b)); };
    const Expr bound = make_node(Op::mul, kReal, 0, number(tolerance * tolerance), square);
    Expr fit = both(at_most(deviation(), bound), both(at_most(number(kLeast), square), at_most(square, number(kMost))));
    const Shape wide = value->shape.with_word(Type::f64);
    const Expr magnified = norm2(make_node(Op::mul, wide, 0, number(kMost), value));
    fit = make_node(Op::logical_or, kTruth, 0, std::move(fit), make_node(Op::eq, kTruth, 0, magnified, number(0)));
    return where ? both(where, is_not(std::move(fit))) : is_not(std::move(fit));
  }
  double count_misfits() const {
    const jit::Domain* const one[] = {&domain};
    double count = 0;
    reduce(make_convert(misfits(), kReal), one, Reduce::sum, &count);
    return count;
  }
};

/// "1.5e-3 at site (1, 2, 3, 4)": of the worst here, and its relative deviation.
std::string worst_site(const Question& question) {
  const LatticeState& lattice = lattice_of(*question.value);
  const auto computed = [&](const Expr& x) {  // nought beside the domain
    auto field = new_field(kReal, lattice);
    assign(field, kReal, lattice.everything(), number(0));
    assign(field, kReal, question.domain, x);
    return field;
  };
  const auto bad = computed(make_convert(question.misfits(), kReal)),
             ratios = computed(make_node(Op::div, kReal, 0, question.deviation(), norm2(question.value)));
  const auto* is_bad = static_cast<const double*>(bad->host_read());
  const auto* ratio = static_cast<const double*>(ratios->host_read());
  std::int64_t worst = -1;
  for (std::int64_t site = 0; site < lattice.sites; ++site) {
    if (is_bad[site] == 0) continue;
    if (worst < 0 || !(ratio[site] <= ratio[worst])) worst = site;
    if (std::isnan(ratio[worst])) break;
  }
  if (worst < 0) return "more, at a site of another rank";
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", std::sqrt(ratio[worst]));
  std::string site = std::string(text) + " at site (";
  const Coord at = lattice.here().coord(worst);
  for (int mu = 0; mu < QDP_ND; ++mu) site += (mu > 0 ? ", " : "") + std::to_string(at[static_cast<std::size_t>(mu)]);
  return site + ")";
}

}  // namespace

bool fits(const Expr& value, const jit::Domain& domain, FieldStorage storage, double tolerance) {
  return Question{.value = value, .domain = domain, .storage = storage, .tolerance = tolerance}.count_misfits() == 0;
}

namespace {
/// Whether its words are those of fields kept so, and fit.
bool is_kept(const Node* n, FieldStorage storage) {
  while (n->op == Op::shift) n = n->kid[0].get();
  return n->op == Op::field && storage_of(*n->load.field) == storage;
}

/// A field whose words are the components of the value.
Expr computed(Expr value, Shape shape, const jit::Domain& domain, const LatticeState& lattice) {
  if (value->op == Op::field && value->load.field->encoding() == 0) return value;
  auto field = new_field(shape, lattice);
  assign(field, shape, domain, make_convert(std::move(value), shape));
  return make_field(std::move(field), shape);
}
}  // namespace

Expr fitting(Expr value, Shape shape, const jit::Domain& domain, FieldStorage storage, const LatticeState& lattice) {
  if (fits_all(storage) || is_kept(value.get(), storage)) return value;
  Question question{
      .value = {}, .domain = domain, .storage = storage, .tolerance = storage_tolerance(storage, shape.word)};
  Expr result;
  const bool chosen = value->op == Op::where;
  const bool first = chosen && is_kept(value->kid[1].get(), storage),
             second = chosen && is_kept(value->kid[2].get(), storage);
  if (first && second) return value;
  if (first || second) {  // where that is taken its words stay what they are, whatever they are
    question.where = first ? is_not(value->kid[0]) : value->kid[0];
    question.value = computed(value->kid[first ? 2 : 1], shape, domain, lattice);
    result = std::move(value);
  } else {
    result = question.value = computed(std::move(value), shape, domain, lattice);
  }
  const double count = question.count_misfits();
  if (count == 0) return result;
  char bound[32];
  std::snprintf(bound, sizeof bound, "%.2g", question.tolerance);
  throw jit::UserError(
      {.what = "assignment to a Lattice" + describe(shape) + " in storage " + name(storage),
       .expected = std::string("values x that are kept to |x - kept(x)| <= ") + bound + " |x|",
       .got = worst_site(question) + "; " + std::to_string(static_cast<long long>(count)) + " sites do not fit",
       .what_now = "assign to a plain field, or to one of a storage that keeps more"});
}

}  // namespace QDP::detail
