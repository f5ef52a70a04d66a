// Statements: from an expression tree to a launch. Every assignment and reduction of the language goes through here.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "qdp/expr/node.hpp"
#include "qdp/expr/storage.hpp"

namespace jit {
struct Domain;
}

namespace QDP::detail {

class LatticeState;

/// A new field on a lattice, and on the present one. The latter throws UserError before Layout::create.
std::shared_ptr<jit::Field> new_field(Shape shape, const LatticeState& lattice);
/// Throws UserError if there is no such storage of the type.
std::shared_ptr<jit::Field> new_field(Shape shape, const LatticeState& lattice, FieldStorage storage);
FieldStorage storage_of(const jit::Field& field);
/// The contents of a field, if it has any, in another storage. Throws UserError if they do not fit.
std::shared_ptr<jit::Field> stored_field(const std::shared_ptr<jit::Field>& field, Shape shape, FieldStorage storage);
/// The field itself, or a plain one with its contents.
inline std::shared_ptr<jit::Field> plain_field(const std::shared_ptr<jit::Field>& field, Shape shape) {
  return storage_of(*field) == FieldStorage::plain ? field : stored_field(field, shape, FieldStorage::plain);
}
/// The storage of fewest words that the values of a field fit: |x - kept(x)| <= tolerance |x| at each site. Collective.
FieldStorage fitting_storage(const std::shared_ptr<jit::Field>& field, Shape shape, double tolerance);
/// What a storage leaves of the contents of a plain field: in that storage, or in a plain one.
std::shared_ptr<jit::Field> reduced_field(const std::shared_ptr<jit::Field>& field, Shape shape, FieldStorage storage,
                                          bool in_plain);
std::shared_ptr<jit::Field> new_field(Shape shape);

/// The lattice of an expression: that of the first of its fields that is found, the present one if it has none.
const LatticeState& lattice_of(const Node& expression);
/// Moves a field that nothing has been assigned to yet to the lattice of its first value, if that has one.
void adopt_lattice(jit::Field& field, const Node& value);

/// dest = rhs on the sites of `domain`. The right-hand side may contain the destination, shifted or not. Throws UserError
/// if the operands do not share one lattice, or if a value does not fit the storage of the destination, which is then as it was.
void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs);

enum class Reduce { sum, max, min };
/// results[d][c] = sum (max, min) of component c over the sites of domain d, in double precision: one step of the run
/// time for all domains. Sums are the same bits for any number of threads, lanes or ranks.
void reduce(Expr rhs, std::span<const jit::Domain* const> domains, Reduce kind, double* results);

/// A sum, maximum or minimum that was asked for, and may have been found or not.
struct PendingSum {
  static constexpr int kMost = 24;  ///< components that one kernel sums
  int count = 0;
  bool done = false;
  double values[kMost] = {};
  std::exception_ptr failure = {};  ///< why there are none

  void set(std::span<const double> results) {
    double* to = values;
    for (double x : results) *to++ = x;
    done = true;
  }
};
/// reduce() over one domain, which may wait for statements after it; and its end, which throws what the statements threw that it
/// depends on.
std::shared_ptr<PendingSum> reduce_later(Expr rhs, const jit::Domain& domain, Reduce kind);
void finish(PendingSum& sum);

/// How many computations are carried on in turn from now on (queue.hpp). Throws nothing that the statements throw which wait.
void alongside(int computations) noexcept;
/// Of so many computations that need `bytes` of fields each, those that the memory of every rank has room for; at least one. Collective.
int with_room_for(int computations, double bytes);
class Rounds;
std::shared_ptr<Rounds> rounds(int computations);
int next_round(Rounds& rounds, int under_way);

struct HostProgram;
/// A place of a program that applies an operation of the table to host scalars of certain shapes. It remembers how that is done.
struct HostPlace {
  Op op;
  Shape result;
  int count;
  Shape operands[3];
  std::atomic<HostProgram*> known{nullptr};
};
/// fields[0] = operation(fields[1], ...): values of the shapes that the place says. From any thread.
void host_apply(HostPlace& place, std::uint64_t attribute, void* const* fields);
/// Compiles what has been applied in this process and is still interpreted, as it happens to what is applied often; the number of
/// programs. For tests: nothing else changes.
int compile_host_programs();

/// A site type in short, for logs and messages: "ColorMatrixD".
std::string describe(Shape shape);

/// Throws UserError: a component number outside the type, a gamma matrix outside 0..15, ...
[[noreturn]] void throw_range(const char* what, int got, int limit, const char* where);

}  // namespace QDP::detail
