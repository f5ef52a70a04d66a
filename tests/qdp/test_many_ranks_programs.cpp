// Random programs on lattices shared out over ranks: every statement gives the bits of one rank.
#include "sketches.hpp"

#include <cmath>

#include "tests/qdp/many_ranks.hpp"

using namespace QDP;
using tests::any;
using tests::Extents;

namespace {

constexpr int kPrograms = 12, kStatements = 12;

struct Scattered : SetFunc {
  int operator()(const multi1d<int>& x) const override { return (x[0] + 2 * x[Nd - 1]) % 3; }
  int numSubsets() const override { return 3; }
};

/// Any numbers, by the site and the word: what the field held before does not count.
void fill(jit::Field& field, int number) {
  auto* words = static_cast<double*>(field.host_overwrite());
  for (int site = 0; site < Layout::sitesOnNode(); ++site) {
    const int global = local_site(Layout::siteCoords(Layout::nodeNumber(), site), Layout::lattSize());
    for (int c = 0; c < field.components(); ++c) *words++ = std::sin(1 + number + 17.0 * global + 0.7 * c);
  }
}

void programs(tests::Findings& find, unsigned seed) {
  const tests::Places places{tests::to_extents(Layout::lattSize())};
  const tests::SketchFields fields(places, false);
  reference::seed_random(seed);  // from here on the same on all ranks
  const Set scattered{Scattered()};
  for (int program = 0; program < kPrograms; ++program) {
    for (const tests::Kind kind : {tests::Kind::real, tests::Kind::complex, tests::Kind::matrix})
      for (int n = 0; n < tests::kFieldsOfAKind; ++n) fill(*fields.field(kind, n), 10 * static_cast<int>(kind) + n);
    for (int line = 0; line < kStatements; ++line) {
      const tests::SketchStatement s = tests::random_statement(1 + any(7));
      const detail::Shape shape = tests::SketchFields::shape(s.rhs->kind);
      const jit::Domain& domain = s.scattered   ? scattered[any(3)].domain()
                                  : any(2) == 0 ? rb[any(2)].domain()
                                                : all.domain();
      if (s.reduction == 0) {
        const auto& dest = fields.field(s.rhs->kind, s.dest);
        detail::assign(dest, shape, domain, fields.expression(s.rhs));
        find.field(*dest);
        continue;
      }
      std::vector<double> sums(static_cast<std::size_t>(shape.components()));
      const jit::Domain* const where = &domain;
      detail::reduce(fields.expression(s.rhs), {&where, 1}, static_cast<detail::Reduce>(s.reduction - 1), sums.data());
      for (const double sum : sums) find.sum(sum);
    }
  }
}

}  // namespace

TEST_CASE("random programs on lattices that are cut into lanes") {
  tests::check_same({4, 4, 4, 8}, {{2, 1, 1, 1}, {1, 2, 1, 1}, {2, 2, 1, 1}},
                    [](tests::Findings& find) { programs(find, 20265); });
}
TEST_CASE("random programs on boxes of odd extents") {
  tests::check_same({6, 6, 1, 3}, {{2, 1, 1, 1}, {2, 2, 1, 1}, {6, 1, 1, 1}},
                    [](tests::Findings& find) { programs(find, 20266); });
}
TEST_CASE("random programs on ranks with other lanes") {
  tests::check_same(
      {4, 4, 4, 8}, {{2, 1, 1, 1}, {2, 2, 1, 1}}, [](tests::Findings& find) { programs(find, 20267); },
      [](int rank) { setenv("TESSERA_LANES", rank % 2 == 0 ? "4" : "8", 1); });
}
