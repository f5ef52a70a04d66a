#include "qdp/expr/execute.hpp"

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/kernels.hpp"
#include "qdp/expr/pieces.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {

void execute_divided(const Statement& statement, int part, const Assignment& how) {
  const Statement whole = statement;  // which others may use while this is at work
  execute_rest(whole, {{part, {computed_aside(whole, part, {}, how)}}}, how);
}

}  // namespace

std::vector<int> pieces_of(const Statement& statement) {
  return pieces(statement.records(), statement.fields().size() + statement.maps().size() + statement.scalars().size());
}

Statement::Asides in_pieces(const Statement& whole, std::span<const int> cuts, const ComputeAside& compute) {
  const std::vector<int> readers = last_readers(whole.records(), cuts);
  std::multimap<int, int> ends;  // pieces by their last reader
  Statement::Asides asides;
  for (const int cut : cuts) {
    auto aside = compute(cut, asides);
    const auto [first, last] = ends.equal_range(cut);
    for (auto i = first; i != last; ++i) asides.erase(i->second);
    asides.emplace(cut, Statement::Aside{std::move(aside)});
    ends.emplace(readers[static_cast<std::size_t>(cut)], cut);
  }
  return asides;
}

std::shared_ptr<jit::Field> field_aside(const Statement& whole, int part, const LatticeState& lattice) {
  const Record& r = whole.records()[static_cast<std::size_t>(part)];
  return new_field(r.shape(), lattice, storage_of_value(whole.records(), part));
}

const jit::Domain& domain_of_part(const Statement& whole, int part, const LatticeState& lattice,
                                  const jit::Domain& domain) {
  return whole.records()[static_cast<std::size_t>(part)].frame() == 0 ? domain : lattice.everything();
}

std::shared_ptr<jit::Field> computed_aside(const Statement& whole, int part, const Statement::Asides& asides,
                                           const Assignment& how) {
  const Record& r = whole.records()[static_cast<std::size_t>(part)];
  auto aside = field_aside(whole, part, how.lattice);
  Statement step;
  step.clear(how.lattice, aside.get());
  step.copy(whole, part, asides);
  execute(step, {.dest = aside.get(),
                 .shape = r.shape(),
                 .lattice = how.lattice,
                 .domain = domain_of_part(whole, part, how.lattice, how.domain),
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
  if (const std::vector<int> cuts = pieces_of(statement); !cuts.empty()) {
    const Statement whole = statement;  // which others may use while this is at work
    const auto aside = [&](int part, const Statement::Asides& ready) {
      return computed_aside(whole, part, ready, how);
    };
    return execute_rest(whole, in_pieces(whole, cuts, aside), how);
  }
  const Way way = way_of(statement, {.lanes = how.lattice.lanes, .listed = how.domain.listed}, {.dest = how.shape});
  if (way.kernel == nullptr) return execute_divided(statement, way.aside, how);
  jit::Launch launch = launch_of(way.kernel, statement, how.domain);
  launch.sites_of_all = how.sites_of_all;
  jit::Runtime::instance().run({.parts = {&launch, 1}, .whole = how.whole || how.domain.whole, .results = {}});
}

std::vector<jit::ReductionValue> nothing_found(const Statement& program) {
  std::vector<jit::ReductionValue> found;
  for (const int item : program.items())
    if (const Record& r = program.records()[static_cast<std::size_t>(item)]; r.op() == kReduce) {
      const Purpose purpose = purpose_of(r);
      const auto kind = static_cast<jit::ReductionValue::Kind>(purpose.reduction);
      found.insert(found.end(), static_cast<std::size_t>(purpose.count), jit::ReductionValue(kind));
    }
  return found;
}

void execute_program(Statement& program, const Place& place, std::span<jit::ReductionValue> found) {
  const bool alone = program.items().size() == 1;
  if (!alone || !needs_pieces(program)) {
    const Way way = way_of(program, {.lanes = place.lattice.lanes, .listed = place.domain.listed});
    if (way.kernel != nullptr) {
      jit::Launch launch = launch_of(way.kernel, program, place.domain);
      launch.sites_of_all = place.sites_of_all;
      try {
        return jit::Runtime::instance().run(
            {.parts = {&launch, 1}, .whole = place.whole || place.domain.whole, .results = {}, .found = found});
      } catch (const jit::OutOfMemory&) {  // all of its fields at once are too many; those of one statement may not be
        if (alone) throw;
      }
    }
  }
  std::size_t finished = 0;
  execute_one_by_one(program, place, found, finished);
}

void execute_one_by_one(const Statement& program, const Place& place, std::span<jit::ReductionValue> found,
                        std::size_t& finished) {
  Statement::Asides stored;
  for (const int item : program.items()) {
    const Record& r = program.records()[static_cast<std::size_t>(item)];
    const Purpose purpose = purpose_of(r);
    jit::Field* const dest = r.op() == kStore ? program.fields()[field_of(r)] : nullptr;
    Statement one;
    one.clear(place.lattice, dest);
    one.copy(program, r.operand(0), stored);
    if (dest == nullptr) {
      const auto count = static_cast<std::size_t>(purpose.count);
      reduce(one, place, static_cast<Reduce>(purpose.reduction), found.first(count));
      found = found.subspan(count);
    } else {
      execute(one, {.dest = dest,
                    .shape = purpose.dest,
                    .lattice = place.lattice,
                    .domain = place.domain,
                    .inner = place.inner,
                    .whole = place.whole,
                    .sites_of_all = place.sites_of_all});
      stored.emplace(item, Statement::Aside{{std::shared_ptr<void>(), dest}});  // the program outlives it
    }
    ++finished;
  }
}

}  // namespace QDP::detail
