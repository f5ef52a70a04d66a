#include "qdp/expr/evaluate.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/memory/residency.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/execute.hpp"
#include "qdp/expr/kernels.hpp"
#include "qdp/expr/queue.hpp"
#include "qdp/expr/site_function.hpp"
#include "qdp/expr/statement.hpp"
#include "qdp/expr/storage_fit.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"

namespace QDP::detail {

namespace {

/// Of the sum at hand: one at a time is evaluated.
Statement& scratch() {
  static Statement* const statement = new Statement;  // never ends: fields need a run time to end in
  return *statement;
}

}  // namespace

std::shared_ptr<jit::Field> new_field(Shape shape, const LatticeState& lattice) {
  return std::make_shared<jit::Field>(lattice.shared_from_this(), shape.word, shape.components());
}
std::shared_ptr<jit::Field> new_field(Shape shape, const LatticeState& lattice, FieldStorage storage) {
  if (storage == FieldStorage::plain) return new_field(shape, lattice);
  if (!can_store(storage, shape))
    throw jit::UserError(
        {.what = std::string("a Lattice") + describe(shape) + " in storage " + name(storage),
         .expected = fits_all(storage) ? "single or double precision, no spin matrix, no matrix of more than 16 colours"
                                       : "ColorMatrix of three colours, single or double precision",
         .got = std::string("Lattice") + describe(shape)});
  return std::make_shared<jit::Field>(lattice.shared_from_this(), stored_word(storage, shape),
                                      stored_words(storage, shape), jit::Residency::instance(),
                                      static_cast<std::uint8_t>(storage));
}
FieldStorage storage_of(const jit::Field& field) { return static_cast<FieldStorage>(field.encoding()); }

std::shared_ptr<jit::Field> stored_field(const std::shared_ptr<jit::Field>& field, Shape shape, FieldStorage storage) {
  const LatticeState& lattice = lattice_of(*field);
  auto stored = new_field(shape, lattice, storage);
  const jit::RuntimeLock lock;
  if (field->ever_written())
    assign(stored, shape, lattice.everything(), make_field(field, shape));
  else
    field->device_read();  // an error if a statement that should have written it has failed
  return stored;
}

std::shared_ptr<jit::Field> reduced_field(const std::shared_ptr<jit::Field>& field, Shape shape, FieldStorage storage,
                                          bool in_plain) {
  // Encoded anew even if it is kept so: the same bits either way.
  const auto given = plain_field(field, shape);
  if (!in_plain) return stored_field(given, shape, storage);
  const LatticeState& lattice = lattice_of(*field);
  auto plain = new_field(shape, lattice);
  assign(plain, shape, lattice.everything(),
         make_node(Op::kept, shape, static_cast<std::uint64_t>(storage), make_field(given, shape)));
  return plain;
}

FieldStorage fitting_storage(const std::shared_ptr<jit::Field>& field, Shape shape, double tolerance) {
  for (const FieldStorage storage :
       {FieldStorage::two_rows, FieldStorage::two_rows_scaled, FieldStorage::two_rows_phased})
    if (can_store(storage, shape) &&
        fits(make_field(field, shape), lattice_of(*field).everything(), storage, tolerance))
      return storage;
  return FieldStorage::plain;
}
std::shared_ptr<jit::Field> new_field(Shape shape) {
  return std::make_shared<jit::Field>(present_lattice("lattice field"), shape.word, shape.components());
}

namespace {

/// The lattice of some field of the tree, nullptr if there is none.
const LatticeState* lattice_of_fields(const Node& expression) {
  // Down the first operands, past a field beside them: where nearly every tree has one, found without a list.
  for (const Node* n = &expression; n != nullptr;) {
    if (n->op == Op::field) return &lattice_of(*n->load.field);
    const Node* next = nullptr;
    for (const Expr& kid : n->kid) {
      if (!kid || kid->op == Op::value || kid->op == Op::zero) continue;
      if (kid->op == Op::field) return &lattice_of(*kid->load.field);
      if (next == nullptr) next = kid.get();
    }
    n = next;
  }
  std::vector<const Node*> waiting{&expression};
  while (!waiting.empty()) {
    const Node* n = waiting.back();
    waiting.pop_back();
    if (n->op == Op::field) return &lattice_of(*n->load.field);
    for (const Expr& kid : n->kid)
      if (kid) waiting.push_back(kid.get());
  }
  return nullptr;
}

}  // namespace

const LatticeState& lattice_of(const Node& expression) {
  const LatticeState* found = lattice_of_fields(expression);
  return found != nullptr ? *found : *present_lattice("expression");
}

void adopt_lattice(jit::Field& field, const Node& value) {
  const LatticeState* lattice = lattice_of_fields(value);
  if (lattice != nullptr && lattice != &field.order()) field.reorder(lattice->shared_from_this());
}

void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs) {
  const jit::RuntimeLock lock;
  refuse_in_site_function("assigns to a field");
  rhs = make_convert(std::move(rhs), shape);
  if (dest->encoding() != 0) [[unlikely]]
    rhs = fitting(std::move(rhs), shape, domain, storage_of(*dest), lattice_of(*dest));
  if (Queue::instance().assign(dest, shape, domain, *rhs)) return;
  auto aside = new_field(shape, lattice_of(*dest), storage_of(*dest));
  assign(aside, shape, domain, std::move(rhs));
  if (domain.whole)
    dest->swap(*aside);
  else
    assign(dest, shape, domain, make_field(aside, shape));
}

namespace {
/// Sums in one kernel: those of a spinor. Each keeps seven registers of a GPU's thread, which has 255, and more make a
/// kernel slow to compile.
constexpr int kReductionsPerKernel = PendingSum::kMost;

/// One step of the run time for all domains, to the results or what is found of the plan; false, and nothing has happened, if
/// the value must be computed first.
bool reduce_at_once(Statement& statement, const LatticeState& lattice, std::span<const jit::Domain* const> domains,
                    Reduce kind, int components, jit::Plan plan, std::int64_t sites_of_all = 0) {
  static std::vector<jit::Launch> parts;  // one statement at a time
  if (needs_pieces(statement)) return false;
  parts.clear();
  for (std::size_t d = 0; d < domains.size(); ++d)
    // A field with more components than a kernel sums: one kernel, moved along it.
    for (int first = 0; first < components; first += kReductionsPerKernel) {
      const int count = std::min(kReductionsPerKernel, components - first);
      const Way way = way_of(statement, {.lanes = lattice.lanes, .listed = domains[d]->listed},
                             {.dest = {}, .reduction = static_cast<int>(kind), .count = count});
      if (way.kernel == nullptr) return false;
      jit::Launch& part = parts.emplace_back(launch_of(way.kernel, statement, *domains[d]));
      part.sites_of_all = sites_of_all;
      part.component = first;
      part.result = static_cast<int>(d) * components + first;
    }
  plan.parts = parts;
  jit::Runtime::instance().run(plan);
  return true;
}
}  // namespace

void reduce(Statement& statement, const Place& place, Reduce kind, std::span<jit::ReductionValue> found) {
  const jit::Domain* const one[] = {&place.domain};
  const int count = static_cast<int>(found.size());
  const auto at_once = [&](Statement& s) {
    return reduce_at_once(s, place.lattice, one, kind, count, {.parts = {}, .results = {}, .found = found},
                          place.sites_of_all);
  };
  if (at_once(statement)) return;
  const Shape shape = statement.records()[static_cast<std::size_t>(statement.root())].shape();
  const auto value = computed_aside(statement, statement.root(), {},
                                    {.dest = nullptr,
                                     .shape = shape,
                                     .lattice = place.lattice,
                                     .domain = place.domain,
                                     .inner = place.inner,
                                     .sites_of_all = place.sites_of_all});
  Statement sum;
  sum.clear(place.lattice);
  sum.walk(*make_field(value, shape));
  if (!at_once(sum))
    throw jit::InternalError(
        {.what = "sum of a field", .expected = "one kernel", .got = "a part to be computed aside"});
}

namespace {
/// False, and nothing has happened: it is better, or has to be, stored before it is summed.
bool reduce_with_messages(Statement& statement, const LatticeState& lattice, const jit::Domain& domain,
                          const Purpose& purpose, std::span<double> results) {
  if (jit::Runtime::instance().waits_for_sums()) return false;
  statement.become_program(purpose);
  const auto sent = send_values(statement, lattice, domain);
  if (sent == nullptr) {
    statement.go_back_to_value();
    return false;
  }
  std::vector<jit::ReductionValue> found = nothing_found(statement);
  sent->compute(found);
  jit::Runtime::finish_sums(found, results);
  return true;
}
}  // namespace

std::shared_ptr<PendingSum> reduce_later(Expr rhs, const jit::Domain& domain, Reduce kind) {
  const jit::RuntimeLock lock;
  refuse_in_site_function("sums over the lattice");
  auto sum = std::make_shared<PendingSum>(PendingSum{.count = rhs->shape.components()});
  if (sum->count <= PendingSum::kMost && Queue::instance().reduce_later(*rhs, domain, kind, sum)) return sum;
  if (sum->count > PendingSum::kMost)
    throw jit::UserError({.what = "a sum that waits",
                          .expected = "at most " + std::to_string(PendingSum::kMost) + " components",
                          .got = std::to_string(sum->count)});
  const jit::Domain* const one[] = {&domain};
  reduce(std::move(rhs), one, kind, sum->values);
  sum->done = true;
  return sum;
}

void finish(PendingSum& sum) {
  const jit::RuntimeLock lock;
  if (!sum.done && !sum.failure) {
    try {
      Queue::instance().finish_sums();
    } catch (...) {  // whose failure it is, says it when it is asked
      if (!sum.done && !sum.failure) throw;
    }
  }
  if (sum.failure) std::rethrow_exception(sum.failure);
  if (!sum.done)
    throw jit::InternalError(
        {.what = "a sum that waits", .expected = "that it is computed when it is asked for", .got = "nothing"});
}

void alongside(int computations) noexcept {
  const jit::RuntimeLock lock;
  Queue::instance().alongside(computations);
}

void reduce(Expr rhs, std::span<const jit::Domain* const> domains, Reduce kind, double* results) {
  const jit::RuntimeLock lock;
  refuse_in_site_function("sums over the lattice");
  if (domains.empty()) return;
  const Shape shape = rhs->shape;
  const LatticeState& lattice = lattice_of(*rhs);
  Queue& queue = Queue::instance();
  if (domains.size() > 1 || shape.components() > kReductionsPerKernel)
    queue.run_before(*rhs);
  else if (queue.reduce(*rhs, *domains[0], kind, results))
    return;
  if (shape.components() <= kReductionsPerKernel || rhs->op == Op::field) {
    Statement& statement = scratch();
    statement.clear(lattice);
    statement.walk(*rhs);
    statement.check_lattice();
    check_same_on_all_ranks(statement);
    const std::size_t count = domains.size() * static_cast<std::size_t>(shape.components());
    const bool done =
        needs_messages(statement, lattice)
            ? domains.size() == 1 &&
                  reduce_with_messages(statement, lattice, *domains[0],
                                       {.dest = {}, .reduction = static_cast<int>(kind), .count = shape.components()},
                                       {results, count})
            : reduce_at_once(statement, lattice, domains, kind, shape.components(),
                             {.parts = {}, .results = {results, count}});
    statement.drop_spread();
    if (done) return;
  }
  const auto value = new_field(shape, lattice);
  for (const jit::Domain* domain : domains) assign(value, shape, *domain, rhs);
  reduce(make_field(value, shape), domains, kind, results);
}

void throw_range(const char* what, int got, int limit, const char* where) {
  throw jit::UserError(std::string(where) + ": " + what + " out of range: expected 0.." + std::to_string(limit - 1) +
                       ", got " + std::to_string(got));
}

}  // namespace QDP::detail
