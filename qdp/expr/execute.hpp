// Assignments, from a statement to launches: by one kernel, or in steps if it is too large for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

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
  bool whole = false;             ///< nothing is kept of the destination: what is not written now will be
  std::int64_t sites_of_all = 0;  ///< of the statement that this is a part of
};

/// The right-hand side may read the destination at the site itself, at other sites not. The statement may be used anew
/// afterwards.
void execute(Statement& statement, const Assignment& how);

/// Where the statements of a program are computed: on its domain, or on a part of that.
struct Place {
  const LatticeState& lattice;
  const jit::Domain& domain;
  bool inner = false, whole = false;  ///< as of an Assignment
  std::int64_t sites_of_all = 0;
};

/// Its components, as many as are found, reduced over the domain, on this rank.
void reduce(Statement& statement, const Place& place, Reduce kind, std::span<jit::ReductionValue> found);

/// What the sums of a program have found before they have seen any site: one for each component, in the order of the sums.
std::vector<jit::ReductionValue> nothing_found(const Statement& program);
/// A program without messages: in one kernel or, if that would be too large or need too much memory, one statement after the other.
void execute_program(Statement& program, const Place& place, std::span<jit::ReductionValue> found);
/// Each from what those before it have stored. `finished` counts those that have been.
void execute_one_by_one(const Statement& program, const Place& place, std::span<jit::ReductionValue> found,
                        std::size_t& finished);

/// A part of a statement in a field of its own.
std::shared_ptr<jit::Field> computed_aside(const Statement& whole, int part, const Statement::Asides& asides,
                                           const Assignment& how);
/// What is left of a statement when parts of it have been computed aside.
void execute_rest(const Statement& whole, const Statement::Asides& asides, const Assignment& how);

/// A field for a part of a statement, and the sites at which it is needed: below shifts, all.
std::shared_ptr<jit::Field> field_aside(const Statement& whole, int part, const LatticeState& lattice);
const jit::Domain& domain_of_part(const Statement& whole, int part, const LatticeState& lattice,
                                  const jit::Domain& domain);

/// Where a statement is cut that is too long for one kernel, whatever its purpose (pieces.hpp); none if it is not.
std::vector<int> pieces_of(const Statement& statement);
bool needs_pieces(const Statement& statement);
/// Computes, or has computed, a part of it with the parts that it reads.
using ComputeAside = std::function<std::shared_ptr<jit::Field>(int part, const Statement::Asides& ready)>;
/// All pieces in turn; those that the rest of the statement reads. A piece is held until its last reader is at work.
Statement::Asides in_pieces(const Statement& whole, std::span<const int> cuts, const ComputeAside& compute);

/// The kernel on the operands that the statement at hand refers to.
jit::Launch launch_of(jit::KernelHandle* kernel, const Statement& statement, const jit::Domain& domain);

}  // namespace QDP::detail
