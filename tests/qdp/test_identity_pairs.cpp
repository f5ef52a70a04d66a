// Random pairs of statements that are nearly the same: equal keys are equal kernels, and these give what plain loops give.
#include "sketches.hpp"

#include <map>
#include <string>

using namespace tests;
using namespace QDP;
using detail::Inspected;

namespace {

struct Lattice {
  static constexpr Extents extents{2, 2, 2, 2};
  Lattice() : places((create_lattice(extents), extents)), fields(places, true), scattered(subsets(extents)[6].subset) {}
  Places places;
  SketchFields fields;
  Subset scattered;

  const jit::Domain& domain(const SketchStatement& s) const { return s.scattered ? scattered.domain() : all.domain(); }
  Inspected inspect(const SketchStatement& s) const {
    const detail::Expr rhs = fields.expression(s.rhs);
    const auto shape = SketchFields::shape(s.rhs->kind);
    if (s.reduction)
      return detail::inspect_reduce(rhs, domain(s), static_cast<detail::Reduce>(s.reduction - 1), shape.components());
    return detail::inspect_assign(fields.field(s.rhs->kind, s.dest), shape, domain(s), rhs);
  }
  /// What a kernel makes of a statement's operands at a site, against plain loops.
  std::string check(const jit::ir::Kernel& kernel, const SketchStatement& s, const Inspected& bound, int site) const {
    double got[8] = {}, sums[8] = {};
    PlainKernel(kernel).run(bound, site, s.reduction ? nullptr : got, sums);
    const SiteValue expected = fields.value(*s.rhs, static_cast<std::size_t>(site));
    const bool complex = s.rhs->kind != Kind::real;
    const double* y = s.reduction ? sums : got;
    for (const reference::Number& z : expected.components) {
      if (*y++ != z.re || (complex && *y++ != z.im))
        return "another value than plain loops, the first component is " + std::to_string(*(s.reduction ? sums : got));
    }
    return "";
  }
};

/// Without the frame of a statement that is computed aside first when it runs.
bool reads_target_elsewhere(const Inspected& s) {
  for (const jit::ir::Node& n : s.kernel.nodes)
    if (n.op == jit::ir::Op::load && n.place.slot != 0 &&
        s.kernel.leaves[static_cast<std::size_t>(n.place.leaf)].written)
      return true;
  return false;
}

}  // namespace

TEST_CASE("of 20000 pairs, those with equal keys have equal kernels, and few others do") {
  reference::seed_random(20261);
  const Lattice lattice;
  int equal_keys = 0, different_keys = 0, equal_kernels = 0;
  for (int i = 0; i < 20000; ++i) {
    const SketchStatement a = random_statement(1 + any(5));
    SketchStatement b = changed(a);
    if (any(3) == 0) b = changed(b);
    const Inspected x = lattice.inspect(a), y = lattice.inspect(b);
    const bool same_ir = print(x.kernel) == print(y.kernel);
    const int site = any(volume(Lattice::extents));
    if (x.key == y.key) {
      ++equal_keys;
      CHECK_MESSAGE(same_ir, "pair ", i);
      const std::string failure =
          lattice.check(x.kernel, b, y, site);  // the kernel that was there, with the other's operands
      CHECK_MESSAGE(failure.empty(), "pair ", i, ": ", failure);
    } else {
      ++different_keys;
      equal_kernels += same_ir;
      if (i % 4 == 0 && !reads_target_elsewhere(y)) {
        const std::string failure = lattice.check(y.kernel, b, y, site);
        CHECK_MESSAGE(failure.empty(), "pair ", i, " alone: ", failure);
      }
    }
  }
  MESSAGE(equal_keys, " pairs with equal keys, ", different_keys, " with different ones, of which ", equal_kernels,
          " have equal kernels");
  CHECK(equal_keys > 2000);
  CHECK(different_keys > 10000);
  CHECK(equal_kernels * 10 < different_keys);
}

TEST_CASE("over all of them, a key stands for one kernel") {
  reference::seed_random(20262);
  const Lattice lattice;
  std::map<std::vector<std::byte>, std::string> seen;
  int again = 0;
  for (int i = 0; i < 5000; ++i) {
    const Inspected x = lattice.inspect(random_statement(any(4)));
    const auto [known, fresh] = seen.try_emplace(x.key, print(x.kernel));
    again += !fresh;
    CHECK(known->second == print(x.kernel));
  }
  CHECK(again > 500);
}

TEST_CASE("a part held in a variable that occurs once does not change the key") {
  reference::seed_random(20263);
  const Lattice lattice;
  for (int i = 0; i < 2000; ++i) {
    SketchStatement s = random_statement(1 + any(6));
    s.rhs = written_out(s.rhs);
    const Inspected plain = lattice.inspect(s);
    const detail::Expr rhs = lattice.fields.expression(s.rhs);
    std::vector<detail::Expr> variables{rhs};  // hold nodes down one way
    while (variables.back()->kid[0]) variables.push_back(variables.back()->kid[0]);
    const auto shape = SketchFields::shape(s.rhs->kind);
    const Inspected held =
        s.reduction ? detail::inspect_reduce(rhs, lattice.domain(s), static_cast<detail::Reduce>(s.reduction - 1),
                                             shape.components())
                    : detail::inspect_assign(lattice.fields.field(s.rhs->kind, s.dest), shape, lattice.domain(s), rhs);
    CHECK(held.key == plain.key);
  }
}
