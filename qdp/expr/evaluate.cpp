#include "qdp/expr/evaluate.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "qdp/expr/lowering.hpp"
#include "qdp/expr/pieces.hpp"
#include "qdp/expr/site_function.hpp"
#include "qdp/expr/statement.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/layout/subset.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

void check_lattices(const Statement& statement) {
  const auto& fields = statement.fields();
  for (const jit::Field* f : fields)
    if (&f->order() != &fields[0]->order())
      throw jit::UserError({.what = "statement",
                            .expected = "operands on one lattice, as the first: " + describe(lattice_of(*fields[0])),
                            .got = "a field on another lattice, " + describe(lattice_of(*f)),
                            .what_now = "fields made before a second Layout::create() stay on their lattice; make them "
                                        "anew, or in a Layout::Scope"});
}

/// A destination that is read at other sites, or while its columns are being stored.
bool must_be_computed_aside(const Statement& statement, Shape dest) {
  if (statement.target_elsewhere()) return true;
  return statement.target_read() && columns_of(statement.records(), dest) != nullptr;
}

/// Of the statement at hand: one at a time is evaluated.
Statement& scratch() {
  static Statement* const statement = new Statement;  // never ends: fields need a run time to end in
  return *statement;
}

/// Statements that are evaluated in two steps: the record of the part that is computed aside, by the statement's bytes.
class Divisions {
 public:
  int find(const jit::TableKey& key) const {
    const auto [first, last] = known_.equal_range(key.hash);
    for (auto i = first; i != last; ++i)
      if (std::ranges::equal(i->second.bytes, key.bytes)) return i->second.part;
    return -1;
  }
  void add(const jit::TableKey& key, int part) {
    known_.emplace(key.hash, Division{{key.bytes.begin(), key.bytes.end()}, part});
  }

 private:
  struct Division {
    std::vector<std::byte> bytes;
    int part;
  };
  std::unordered_multimap<std::uint64_t, Division> known_;
};
Divisions& divisions() {
  static Divisions known;
  return known;
}

/// What is evaluated where.
struct Execution {
  Purpose purpose;
  jit::Field* dest;  ///< of an assignment
  const LatticeState& lattice;
  const jit::Domain& domain;
  double* results;
  int component = 0;  ///< of the fields, that the kernel takes for the first
};

void run(Statement& statement, const Execution& how);

/// The domain that a part of a statement is computed on: below shifts it is needed at other sites, so at all.
const jit::Domain& domain_of(const Record& part, const Execution& how) {
  return part.frame() == 0 ? how.domain : how.lattice.everything();
}

/// The statement with a part computed aside.
void run_divided(const Statement& statement, const Execution& how, int part) {
  const Statement whole = statement;  // which may be the scratch
  const Record& r = whole.records()[static_cast<std::size_t>(part)];
  const auto aside = new_field(r.shape(), how.lattice);
  const jit::Domain& domain = domain_of(r, how);
  Statement step;
  step.clear(how.lattice, aside.get());
  step.copy(whole, part, {});
  run(step, {{.dest = r.shape(), .lanes = how.purpose.lanes, .listed = domain.listed},
             aside.get(),
             how.lattice,
             domain,
             nullptr});
  step.clear(how.lattice, how.dest);
  step.copy(whole, whole.root(), {{part, aside}});
  run(step, how);
}

/// A long statement, piece by piece.
void run_in_pieces(const Statement& statement, const Execution& how, std::span<const int> cuts) {
  const Statement whole = statement;
  const std::vector<int> readers = last_readers(whole.records(), cuts);
  std::multimap<int, int> ends;  // pieces by their last reader
  Statement step;
  Statement::Asides asides;
  for (const int cut : cuts) {
    const Record& r = whole.records()[static_cast<std::size_t>(cut)];
    const auto aside = new_field(r.shape(), how.lattice);
    const jit::Domain& domain = domain_of(r, how);
    step.clear(how.lattice, aside.get());
    step.copy(whole, cut, asides);
    run(step, {{.dest = r.shape(), .lanes = how.purpose.lanes, .listed = domain.listed},
               aside.get(),
               how.lattice,
               domain,
               nullptr});
    const auto [first, last] = ends.equal_range(cut);
    for (auto i = first; i != last; ++i) asides.erase(i->second);
    asides.emplace(cut, aside);
    ends.emplace(readers[static_cast<std::size_t>(cut)], cut);
  }
  step.clear(how.lattice, how.dest);
  step.copy(whole, whole.root(), asides);
  run(step, how);
}

void run(Statement& statement, const Execution& how) {
  const std::size_t arguments = statement.fields().size() + statement.maps().size() + statement.scalars().size();
  if (const std::vector<int> cuts = pieces(statement.records(), arguments); !cuts.empty())
    return run_in_pieces(statement, how, cuts);
  jit::Runtime& rt = jit::Runtime::instance();
  const jit::TableKey key = statement.identify(how.purpose);
  jit::KernelHandle* kernel = rt.find(key);
  if (!kernel) {
    if (const int part = divisions().find(key); part >= 0) return run_divided(statement, how, part);
    Lowered lowered = lower_statement(statement.records());
    if (lowered.aside >= 0) {
      divisions().add(key, lowered.aside);
      return run_divided(statement, how, lowered.aside);
    }
    kernel = rt.add(key, std::move(lowered.kernel));
  }
  jit::Launch l;
  l.kernel = kernel;
  l.fields = statement.fields();
  l.maps = statement.maps();
  l.scalars = statement.scalars();
  l.domain = &how.domain;
  l.results = how.results;
  l.component = how.component;
  rt.launch(l);
}

}  // namespace

std::shared_ptr<jit::Field> new_field(Shape shape, const LatticeState& lattice) {
  return std::make_shared<jit::Field>(lattice.shared_from_this(), shape.word, shape.components());
}
std::shared_ptr<jit::Field> new_field(Shape shape) {
  return std::make_shared<jit::Field>(present_lattice("lattice field"), shape.word, shape.components());
}

const LatticeState& lattice_of(const Node& expression) {
  // Down the first operands, past a field beside them: trees without any field at their edge do not come up in practice.
  for (const Node* n = &expression; n != nullptr;) {
    if (n->op == Op::field) return lattice_of(*n->load.field);
    const Node* next = nullptr;
    for (const Expr& kid : n->kid) {
      if (!kid) break;
      if (kid->op == Op::field) return lattice_of(*kid->load.field);
      if (next == nullptr && kid->op != Op::value && kid->op != Op::zero) next = kid.get();
    }
    n = next;
  }
  return *present_lattice("expression");
}

void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs) {
  const jit::RuntimeLock lock;
  refuse_in_site_function("assigns to a field");
  rhs = make_convert(std::move(rhs), shape);
  Statement& statement = scratch();
  const LatticeState& lattice = lattice_of(*dest);
  statement.clear(lattice, dest.get());
  statement.walk(*rhs);
  check_lattices(statement);
  if (must_be_computed_aside(statement, shape)) {
    auto aside = new_field(shape, lattice);
    assign(aside, shape, domain, std::move(rhs));
    if (domain.whole)
      dest->swap(*aside);
    else
      assign(dest, shape, domain, make_field(aside, shape));
    return;
  }
  run(statement,
      {{.dest = shape, .lanes = dest->order().lanes, .listed = domain.listed}, dest.get(), lattice, domain, nullptr});
  statement.drop_spread();
}

namespace {
/// Sums in one kernel: those of a spinor. Each keeps seven registers of a GPU's thread, which has 255, and more make a
/// kernel slow to compile.
constexpr int kReductionsPerKernel = 24;
}  // namespace

void reduce(Expr rhs, const jit::Domain& domain, Reduce kind, double* results) {
  const jit::RuntimeLock lock;
  refuse_in_site_function("sums over the lattice");
  const Shape shape = rhs->shape;
  const int components = shape.components();
  const LatticeState& lattice = lattice_of(*rhs);
  if (components > kReductionsPerKernel && rhs->op != Op::field) {  // computed once, then summed in parts
    const auto aside = new_field(shape, lattice);
    assign(aside, shape, domain, std::move(rhs));
    rhs = make_field(aside, shape);
  }
  Statement& statement = scratch();
  statement.clear(lattice);
  statement.walk(*rhs);
  check_lattices(statement);
  // A field with more components than a kernel sums: one kernel, moved along it.
  for (int first = 0; first < components; first += kReductionsPerKernel)
    run(statement, {{.dest = {},
                     .lanes = lattice.lanes,
                     .listed = domain.listed,
                     .reduction = static_cast<int>(kind),
                     .count = std::min(kReductionsPerKernel, components - first)},
                    nullptr,
                    lattice,
                    domain,
                    results + first,
                    first});
  statement.drop_spread();
}

namespace {
/// One operation on host values: leaf 0 is the result, leaves 1.. the operands.
ir::Kernel host_program(Op op, Shape result, std::uint64_t attribute, std::span<const HostOperand> operands) {
  ir::Kernel k;
  k.lanes = 1;
  k.leaves.push_back({result.word, static_cast<std::int16_t>(result.components())});
  ir::Builder builder(k);
  Algebra algebra(builder);
  std::vector<Tensor> x;
  for (const HostOperand& o : operands) {
    if (!o.components) continue;
    const auto leaf = static_cast<std::int16_t>(k.leaves.size());
    k.leaves.push_back({o.shape.word, static_cast<std::int16_t>(o.shape.components())});
    Tensor t(o.shape);
    for (std::size_t i = 0; i < t.v.size(); ++i) t.v[i] = builder.load({leaf, 0, static_cast<std::int16_t>(i), 0});
    x.push_back(std::move(t));
  }
  const Tensor value = algebra.apply(op, result, attribute, x);
  for (std::size_t i = 0; i < value.v.size(); ++i)
    k.stores.push_back({{0, 0, static_cast<std::int16_t>(i), 0}, algebra.word(value.v[i], result.word)});
  builder.finish();
  k.leaves[0].written = true;
  return k;
}
}  // namespace

void host_apply(Op op, Shape result, std::uint64_t attribute, void* out, HostOperand a, HostOperand b, HostOperand c) {
  struct Key {
    std::uint64_t op, attribute, shapes[4];
    auto operator<=>(const Key&) const = default;
  };
  static std::map<Key, ir::Kernel> programs;
  static std::mutex guard;  // host loops over sites may run in the user's threads
  const HostOperand operands[3] = {a, b, c};
  if (op == Op::site_function) {
    Shape shapes[3];
    std::size_t count = 0;
    for (const HostOperand& o : operands)
      if (o.components) shapes[count++] = o.shape;
    attribute = site_program_number(attribute, result, std::span(shapes, count));
  }
  Key key{static_cast<std::uint64_t>(op), attribute, {pack(result), 0, 0, 0}};
  for (int i = 0; i < 3; ++i)
    if (operands[i].components) key.shapes[i + 1] = pack(operands[i].shape) | 1ull << 63;
  const ir::Kernel* program = nullptr;
  {
    std::lock_guard lock(guard);
    auto it = programs.find(key);
    if (it == programs.end()) it = programs.emplace(key, host_program(op, result, attribute, operands)).first;
    program = &it->second;
  }
  void* fields[4] = {out};
  int n = 1;
  for (const HostOperand& o : operands)
    if (o.components) fields[n++] = const_cast<void*>(o.components);
  ir::interpret(*program, fields, nullptr);
}

void throw_range(const char* what, int got, int limit, const char* where) {
  throw jit::UserError(std::string(where) + ": " + what + " out of range: expected 0.." + std::to_string(limit - 1) +
                       ", got " + std::to_string(got));
}

}  // namespace QDP::detail
