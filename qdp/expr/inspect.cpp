#include "qdp/expr/inspect.hpp"

#include "jit/memory/field.hpp"
#include "jit/memory/sites.hpp"
#include "qdp/expr/lowering.hpp"
#include "qdp/expr/statement.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {
Inspected inspect(Statement& statement, const Grouping& grouping, const Purpose& purpose) {
  const jit::TableKey key = statement.identify(grouping, purpose);
  return {{key.bytes.begin(), key.bytes.end()},
          lower_statement(statement.identified()).kernel,
          statement.fields(),
          statement.maps(),
          statement.scalars()};
}
}  // namespace

Inspected inspect_assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs) {
  rhs = make_convert(std::move(rhs), shape);
  Statement statement;
  statement.clear(lattice_of(*dest), dest.get());
  statement.walk(*rhs);
  return inspect(statement, {.lanes = dest->order().lanes, .listed = domain.listed}, {.dest = shape});
}

Inspected inspect_reduce(const Expr& rhs, const jit::Domain& domain, Reduce kind, int count) {
  const LatticeState& lattice = lattice_of(*rhs);
  Statement statement;
  statement.clear(lattice);
  statement.walk(*rhs);
  return inspect(statement, {.lanes = lattice.lanes, .listed = domain.listed},
                 {.dest = {}, .reduction = static_cast<int>(kind), .count = count});
}

}  // namespace QDP::detail
