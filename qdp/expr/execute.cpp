#include "qdp/expr/execute.hpp"

#include <map>
#include <span>
#include <vector>

#include "jit/runtime.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/kernels.hpp"
#include "qdp/expr/pieces.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {

std::vector<int> pieces_of(const Statement& statement) {
  return pieces(statement.records(), statement.fields().size() + statement.maps().size() + statement.scalars().size());
}

void execute_divided(const Statement& statement, int part, const Assignment& how) {
  const Statement whole = statement;  // which others may use while this is at work
  execute_rest(whole, {{part, {computed_aside(whole, part, {}, how)}}}, how);
}

/// A long statement, piece by piece.
void execute_in_pieces(const Statement& statement, std::span<const int> cuts, const Assignment& how) {
  const Statement whole = statement;
  const std::vector<int> readers = last_readers(whole.records(), cuts);
  std::multimap<int, int> ends;  // pieces by their last reader
  Statement::Asides asides;
  for (const int cut : cuts) {
    auto aside = computed_aside(whole, cut, asides, how);
    const auto [first, last] = ends.equal_range(cut);
    for (auto i = first; i != last; ++i) asides.erase(i->second);
    asides.emplace(cut, Statement::Aside{std::move(aside)});
    ends.emplace(readers[static_cast<std::size_t>(cut)], cut);
  }
  execute_rest(whole, asides, how);
}

}  // namespace

std::shared_ptr<jit::Field> computed_aside(const Statement& whole, int part, const Statement::Asides& asides,
                                           const Assignment& how) {
  const Record& r = whole.records()[static_cast<std::size_t>(part)];
  auto aside = new_field(r.shape(), how.lattice, storage_of_value(whole.records(), part));
  Statement step;
  step.clear(how.lattice, aside.get());
  step.copy(whole, part, asides);
  execute(step, {.dest = aside.get(),
                 .shape = r.shape(),
                 .lattice = how.lattice,
                 .domain = r.frame() == 0 ? how.domain : how.lattice.everything(),
                 .inner = how.inner && r.frame() == 0});
  return aside;
}

void execute_rest(const Statement& whole, const Statement::Asides& asides, const Assignment& how) {
  Statement step;
  step.clear(how.lattice, how.dest);
  step.copy(whole, whole.root(), asides);
  execute(step, how);
}

bool needs_pieces(const Statement& statement) { return !pieces_of(statement).empty(); }

jit::Launch launch_of(jit::KernelHandle* kernel, const Statement& statement, const jit::Domain& domain) {
  return {.kernel = kernel,
          .fields = statement.fields(),
          .maps = statement.maps(),
          .scalars = statement.scalars(),
          .domain = &domain};
}

void execute(Statement& statement, const Assignment& how) {
  if (!how.inner && needs_messages(statement, how.lattice)) return execute_with_messages(statement, how);
  if (const std::vector<int> cuts = pieces_of(statement); !cuts.empty()) return execute_in_pieces(statement, cuts, how);
  const Way way = way_of(statement, {.lanes = how.lattice.lanes, .listed = how.domain.listed}, {.dest = how.shape});
  if (way.kernel == nullptr) return execute_divided(statement, way.aside, how);
  jit::Launch launch = launch_of(way.kernel, statement, how.domain);
  launch.sites_of_all = how.sites_of_all;
  jit::Runtime::instance().run({.parts = {&launch, 1}, .whole = how.domain.whole, .results = {}});
}

}  // namespace QDP::detail
