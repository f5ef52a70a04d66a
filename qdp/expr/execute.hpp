// Assignments, from a statement to launches: by one kernel, or in steps if it is too large for one.
#pragma once

#include <cstdint>
#include <span>

#include "jit/runtime.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/statement.hpp"

namespace QDP::detail {

/// Where the value of a statement goes, whose field 0 is the destination.
struct Assignment {
  jit::Field* dest;
  Shape shape;
  const LatticeState& lattice;
  const jit::Domain& domain;
  /// Whatever maps say, these sites need nothing from other ranks.
  bool inner = false;
  std::int64_t sites_of_all = 0;  ///< of the statement that this is a part of
};

/// The right-hand side may read the destination at the site itself, at other sites not. The statement may be used anew
/// afterwards.
void execute(Statement& statement, const Assignment& how);

/// Its components, as many as there are results, reduced over the domain.
void reduce(Statement& statement, const LatticeState& lattice, const jit::Domain& domain, Reduce kind,
            std::span<double> results);

/// A part of a statement in a field of its own. Below shifts it is needed at other sites, so at all.
std::shared_ptr<jit::Field> computed_aside(const Statement& whole, int part, const Statement::Asides& asides,
                                           const Assignment& how);
/// What is left of a statement when parts of it have been computed aside.
void execute_rest(const Statement& whole, const Statement::Asides& asides, const Assignment& how);

/// Whether one kernel would be too long to take all of it, whatever its purpose.
bool needs_pieces(const Statement& statement);

/// The kernel on the operands that the statement at hand refers to.
jit::Launch launch_of(jit::KernelHandle* kernel, const Statement& statement, const jit::Domain& domain);

}  // namespace QDP::detail
