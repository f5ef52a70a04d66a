// Random programs: each statement gives the bits that it would give alone, whatever ran before it in the process.
#include "sketches.hpp"

#include <cstring>
#include <vector>

using namespace tests;
using namespace QDP;
using detail::Inspected;

namespace {

constexpr Extents kExtents{2, 2, 2, 2};

/// The components of a field on all sites.
std::vector<double> contents(jit::Field& field) {
  const auto* words = static_cast<const double*>(field.host_read());
  return {words,
          words + static_cast<std::size_t>(Layout::sitesOnNode()) * static_cast<std::size_t>(field.components())};
}

/// The statements of all programs: a few, and for each some that are nearly the same, so that kernels are few and close.
std::vector<SketchStatement> statements() {
  std::vector<SketchStatement> all;
  for (int i = 0; i < 24; ++i) {
    SketchStatement s = random_statement(1 + any(3));
    for (int k = 0; k < 5; ++k, s = changed(s)) all.push_back(s);
  }
  return all;
}

}  // namespace

TEST_CASE("200 programs of 20 statements give the bits of each statement by itself") {
  reference::seed_random(20264);
  create_lattice(kExtents);
  const Places places(kExtents);
  const Subset scattered = subsets(kExtents)[6].subset;
  const SketchFields fields(places, false);
  std::vector<std::vector<double>> start[3];
  for (int kind = 0; kind < 3; ++kind)
    for (int n = 0; n < kFieldsOfAKind; ++n) start[kind].push_back(contents(*fields.field(static_cast<Kind>(kind), n)));
  const std::vector<SketchStatement> known = statements();
  int wrong = 0;
  for (int program = 0; program < 200; ++program) {
    for (int kind = 0; kind < 3; ++kind)
      for (int n = 0; n < kFieldsOfAKind; ++n) {
        jit::Field& f = *fields.field(static_cast<Kind>(kind), n);
        const std::vector<double>& x = start[kind][static_cast<std::size_t>(n)];
        std::memcpy(f.host_write(), x.data(), x.size() * sizeof(double));
      }
    for (int line = 0; line < 20; ++line) {
      const SketchStatement& s = known[static_cast<std::size_t>(any(static_cast<int>(known.size())))];
      const detail::Shape shape = SketchFields::shape(s.rhs->kind);
      const jit::Domain& domain = s.scattered ? scattered.domain() : all.domain();
      const detail::Expr rhs = fields.expression(s.rhs);
      const auto& dest = fields.field(s.rhs->kind, s.dest);
      const auto n = static_cast<std::size_t>(shape.components());
      if (s.reduction) {
        // Sums of doubles have their own arithmetic: the bits are those of the summands stored, which are checked above.
        const auto aside = detail::new_field(shape);
        detail::assign(aside, shape, all.domain(), rhs);
        double got[8], expected[8];
        detail::reduce(rhs, domain, static_cast<detail::Reduce>(s.reduction - 1), got);
        detail::reduce(detail::make_field(aside, shape), domain, static_cast<detail::Reduce>(s.reduction - 1),
                       expected);
        wrong += std::memcmp(got, expected, n * sizeof(double)) != 0;
      } else {
        const Inspected alone = detail::inspect_assign(dest, shape, domain, rhs);
        const PlainKernel plain(alone.kernel);
        std::vector<double> expected = contents(*dest);
        for (int site = 0; site < Layout::sitesOnNode(); ++site) {
          const Extents& x = places.at(static_cast<std::size_t>(site));
          if (s.scattered && (x[0] + 2 * x[1] + x[2] * x[3]) % 3 != 0) continue;
          plain.run(alone, site, &expected[static_cast<std::size_t>(site) * n], nullptr);
        }
        detail::assign(dest, shape, domain, rhs);
        const std::vector<double> got = contents(*dest);
        const bool same = std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)) == 0;
        CHECK_MESSAGE(same, "program ", program, ", line ", line, ": ", alone.kernel.name);
        wrong += !same;
      }
    }
  }
  CHECK(wrong == 0);
}
