#include "qdp/expr/queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "jit/memory/deferred.hpp"
#include "jit/memory/field.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/kernels.hpp"
#include "qdp/layout/lattice.hpp"

namespace QDP::detail {

namespace {

// What a program may have: its kernel is compiled whole, and its operands are streams.
constexpr std::size_t kMostStatements = 16, kMostRecords = 200, kMostFields = 32, kMostScalars = 300;
constexpr std::size_t kMostGroups = 8;
// Nodes of a tree that is looked through for what waits.
constexpr std::size_t kMostNodes = 400;

/// TESSERA_CHECK and TESSERA_SYNC are there to name the statement that is at fault.
bool statements_wait() {
  static const jit::Env& env = jit::env();
  return env.fuse && !env.check && !env.sync;
}

bool fits(const Statement& program) {
  return program.records().size() <= kMostRecords && program.fields().size() <= kMostFields &&
         program.scalars().size() <= kMostScalars;
}

}  // namespace

// ---- a group --------------------------------------------------------------------------------------------------------

void Queue::Group::begin(const LatticeState& lattice, const jit::Domain& domain) {
  program.clear(lattice);
  program.keep_operands();
  lattice_ = &lattice, domain_ = &domain;
  marked_ = finished_ = 0;
}

void Queue::Group::clear() {
  shapes.clear();
  program.clear(*lattice_);  // and the fields that only it held
}

bool Queue::Group::goes_over(const LatticeState& lattice, const jit::Domain& domain) const {
  return &lattice == lattice_ && &domain == domain_;
}

bool Queue::Group::is_full() const { return shapes.size() >= kMostStatements; }

bool Queue::Group::stores(const jit::Field& field) const {
  const int n = number(field);
  return n >= 0 && program.is_stored(n);
}

bool Queue::Group::comes_before(const Group& later) const {
  return std::ranges::any_of(later.program.fields(), [&](const jit::Field* field) {
    return has(*field) && (stores(*field) || later.stores(*field));
  });
}

void Queue::Group::add(const std::shared_ptr<jit::Field>* dest, const Node& rhs) {
  const Statement::Extent before = program.extent();
  try {
    dest != nullptr ? program.begin(*dest) : program.begin_without_target();
    program.walk(rhs);
    program.check_lattice();
  } catch (...) {
    program.go_back(before);
    throw;
  }
}

bool Queue::Group::try_to_add(const std::shared_ptr<jit::Field>* dest, const Node& rhs) {
  const Statement::Extent before = program.extent();
  add(dest, rhs);
  if (fits(program) && !program.clashes() && !needs_messages(program, *lattice_)) return true;
  program.go_back(before);
  return false;
}

void Queue::Group::end(Shape dest) {
  program.end({.dest = dest});
  shapes.push_back(dest);
  mark_fields();
}

bool Queue::Group::may_wait(Shape dest) const {
  return fits(program) && columns_of(program.records(), dest) == nullptr && !needs_messages(program, *lattice_);
}

void Queue::Group::mark_fields_again() {
  marked_ = 0;
  mark_fields();
}

/// Those that are new know that statements wait for them.
void Queue::Group::mark_fields() {
  const auto& fields = program.fields();
  for (; marked_ < fields.size(); ++marked_) fields[marked_]->wait_for_reading();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (program.is_stored(static_cast<int>(i))) fields[i]->wait_for_writing();
}

const Record& Queue::Group::item(std::size_t i) const {
  return program.records()[static_cast<std::size_t>(program.items()[i])];
}

Grouping Queue::Group::grouping() const { return {.lanes = lattice_->lanes, .listed = domain_->listed}; }

void Queue::Group::execute(Shape dest) {
  detail::execute(program, {program.fields()[0], dest, *lattice_, *domain_});
  program.drop_spread();
}

/// What this queue alone still holds will not be read by anybody else.
void Queue::Group::drop_dead_stores() {
  for (const int i : program.items()) {
    const Record& r = program.records()[static_cast<std::size_t>(i)];
    if (is_stored(r) && program.owner(field_of(r)).use_count() == 1) program.drop_store(i);
  }
}

/// False, and nothing has happened: the program needs more memory for fields than there is, which its statements may not.
bool Queue::Group::run_together(jit::KernelHandle* kernel, std::span<double> results, QueueCounters& counters) {
  jit::Launch part = launch_of(kernel, program, *domain_);
  try {
    jit::Runtime::instance().run({.parts = {&part, 1}, .whole = domain_->whole, .results = results});
  } catch (const jit::OutOfMemory&) {
    return false;
  }
  finished_ = shapes.size();
  ++counters.programs;
  counters.fused += static_cast<std::int64_t>(program.items().size());
  return true;
}

/// In their order, each from what those before it have stored.
void Queue::Group::run_one_by_one() {
  Statement::Asides stored;
  for (; finished_ < shapes.size(); ++finished_) {
    const auto& dest = program.owner(field_of(item(finished_)));
    Statement one;
    one.clear(*lattice_, dest.get());
    one.copy(program, item(finished_).operand(0), stored);
    detail::execute(one, {dest.get(), shapes[finished_], *lattice_, *domain_});
    stored.emplace(program.items()[finished_], Statement::Aside{dest});
  }
}

void Queue::Group::run(QueueCounters& counters) {
  drop_dead_stores();
  std::size_t stored = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) stored += is_stored(item(i));
  counters.dropped += static_cast<std::int64_t>(shapes.size() - stored);
  if (stored == 0) return;
  if (shapes.size() == 1) {
    program.go_back_to_value();
    return execute(shapes[0]);
  }
  const Way way = way_of(program, grouping());
  if (way.kernel != nullptr && run_together(way.kernel, {}, counters)) return;
  ++counters.apart;
  run_one_by_one();
}

bool Queue::Group::run_with(Reduce kind, int count, double* results, const Statement::Extent& before,
                            QueueCounters& counters) {
  program.end({.dest = {}, .reduction = static_cast<int>(kind), .count = count});
  drop_dead_stores();
  const Way way = way_of(program, grouping());
  if (way.kernel != nullptr && run_together(way.kernel, {results, static_cast<std::size_t>(count)}, counters))
    return true;
  program.go_back(before);
  return false;
}

void Queue::Group::lose_the_rest(const std::string& reason) noexcept {
  if (shapes.size() == 1) return program.owner(0)->lose(reason);  // the first that its statement names
  for (std::size_t i = finished_; i < shapes.size(); ++i) program.owner(field_of(item(i)))->lose(reason);
}

// ---- the queue ------------------------------------------------------------------------------------------------------

Queue& Queue::instance() {
  // Never ends: fields need a run time to end in.
  static Queue* const queue = [] {
    jit::set_deferred(
        [](const jit::Field* look) { look != nullptr ? instance().run_before_look(*look) : instance().run(); });
    // Otherwise both processes ran them.
    pthread_atfork([] { jit::run_deferred_noexcept(); }, nullptr, nullptr);
    return new Queue;
  }();
  return *queue;
}

std::unique_ptr<Queue::Group> Queue::new_group() {
  if (spare_.empty()) return std::make_unique<Group>();
  std::unique_ptr<Group> group = std::move(spare_.back());
  spare_.pop_back();
  return group;
}

/// False: the tree is too large to look through.
bool Queue::find_awaited(const Node& root) {
  static std::vector<const Node*> open;  // one statement at a time
  awaited_.clear();
  open.assign(1, &root);
  for (std::size_t seen = 0; !open.empty(); ++seen) {
    if (seen == kMostNodes) return false;
    const Node& n = *open.back();
    open.pop_back();
    if (n.op == Op::field) {
      const jit::Field* field = n.load.field.get();
      if (field->is_awaited() && std::ranges::find(awaited_, field) == awaited_.end()) awaited_.push_back(field);
    }
    for (const Expr& kid : n.kid)
      if (kid) open.push_back(kid.get());
  }
  return true;
}

/// The group that a statement with the awaited operands should join; nullptr: none.
Queue::Group* Queue::group_for(const LatticeState& lattice, const jit::Domain& domain, const jit::Field* dest) const {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    Group& g = **group;
    const bool shares = (dest != nullptr && g.has(*dest)) ||
                        std::ranges::any_of(awaited_, [&](const jit::Field* f) { return g.has(*f); });
    if (!shares) continue;
    if (g.goes_over(lattice, domain) && !g.is_full()) return &g;
    const bool comes_before = (dest != nullptr && g.has(*dest)) ||
                              std::ranges::any_of(awaited_, [&](const jit::Field* f) { return g.stores(*f); });
    if (comes_before) return nullptr;
  }
  return nullptr;
}

namespace {
/// Its destination is read at other sites, or while its columns are being stored.
bool must_be_computed_aside(const Statement& statement, Shape dest) {
  if (statement.target_elsewhere()) return true;
  return statement.target_read() && columns_of(statement.records(), dest) != nullptr;
}
}  // namespace

bool Queue::assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, const Node& rhs) {
  if (!statements_wait()) {
    if (!groups_.empty()) run();
    return assign_now(*dest, shape, domain, rhs);
  }
  const LatticeState& lattice = lattice_of(*dest);
  if (groups_.size() >= kMostGroups || !find_awaited(rhs))
    run();
  else if (dest->is_awaited() || !awaited_.empty())
    if (Group* const group = group_for(lattice, domain, dest.get()); group && group->try_to_add(&dest, rhs)) {
      group->end(shape);
      ++counters_.statements;
      return true;
    }
  std::unique_ptr<Group> own = new_group();
  own->begin(lattice, domain);
  own->add(&dest, rhs);
  const bool aside = must_be_computed_aside(own->program, shape);
  if (!aside && own->may_wait(shape)) {
    own->end(shape);
    groups_.push_back(std::move(own));
    jit::set_deferred_waiting(true);
    ++counters_.statements;
    return true;
  }
  if (!aside) {
    run();
    own->execute(shape);
  }
  own->clear();
  spare_.push_back(std::move(own));
  return !aside;
}

bool Queue::assign_now(jit::Field& dest, Shape shape, const jit::Domain& domain, const Node& rhs) {
  const LatticeState& lattice = lattice_of(dest);
  statement_.clear(lattice, &dest);
  statement_.walk(rhs);
  statement_.check_lattice();
  if (must_be_computed_aside(statement_, shape)) return false;
  execute(statement_, {&dest, shape, lattice, domain});
  statement_.drop_spread();
  return true;
}

/// The groups that `needs` names, and those that have to come before them.
template <class Needs>
Queue::Groups Queue::take(Needs&& needs) {
  std::array<bool, kMostGroups> needed;
  for (std::size_t i = groups_.size(); i-- > 0;) {
    needed[i] = needs(*groups_[i]);
    for (std::size_t j = i + 1; j < groups_.size() && !needed[i]; ++j)
      needed[i] = needed[j] && groups_[i]->comes_before(*groups_[j]);
  }
  Groups now = std::exchange(room_, {});
  std::size_t left = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (needed[i])
      now.push_back(std::move(groups_[i]));
    else
      groups_[left++].swap(groups_[i]);
  groups_.resize(left);
  return now;
}

void Queue::run() {
  run(take([](const Group&) { return true; }));
}

void Queue::run_before_look(const jit::Field& field) {
  run(take([&](const Group& group) { return group.has(field); }));
}

void Queue::run(Groups groups) {
  run(std::move(groups), [&](Group& last) { last.run(counters_); });
}

/// What runs now does not wait, whatever looks at its fields; nor does, meanwhile, what stays.
template <class RunLast>
void Queue::run(Groups groups, RunLast&& run_last) {
  if (groups.empty()) {
    room_ = std::move(groups);
    return;
  }
  jit::set_deferred_waiting(false);
  for (const auto& group : groups)
    for (jit::Field* field : group->program.fields()) field->wait_no_more();
  for (const auto& group : groups_) group->mark_fields_again();
  std::exception_ptr failure;
  std::string reason;
  for (const auto& group : groups) {
    if (failure) {
      group->lose_the_rest(reason);
      continue;
    }
    try {
      group == groups.back() ? run_last(*group) : group->run(counters_);
    } catch (const std::exception& error) {
      failure = std::current_exception();
      reason = error.what();
      group->lose_the_rest(reason);
    }
  }
  for (auto& group : groups) {
    group->clear();
    spare_.push_back(std::move(group));
  }
  groups.clear();
  room_ = std::move(groups);
  jit::set_deferred_waiting(!groups_.empty());
  if (failure) std::rethrow_exception(failure);
}

bool Queue::reads_what(const Group& group) const {
  return std::ranges::any_of(awaited_, [&](const jit::Field* field) { return group.stores(*field); });
}

void Queue::run_before(const Node& value) {
  if (groups_.empty()) return;
  find_awaited(value) ? run(take([&](const Group& group) { return reads_what(group); })) : run();
}

bool Queue::reduce(const Node& rhs, const jit::Domain& domain, Reduce kind, int count, double* results) {
  if (groups_.empty()) return false;
  if (!find_awaited(rhs)) return run(), false;
  const auto last = std::find_if(groups_.rbegin(), groups_.rend(), [&](const auto& g) { return reads_what(*g); });
  if (last == groups_.rend()) return false;
  Group& group = **last;
  const Statement::Extent before = group.program.extent();
  const bool joins = group.goes_over(lattice_of(rhs), domain) && group.try_to_add(nullptr, rhs);
  bool done = false;
  // The last of those that have to run is the one that the sum has joined.
  run(take([&](const Group& g) { return reads_what(g); }), [&](Group& g) {
    done = joins && g.run_with(kind, count, results, before, counters_);
    if (!done) g.run(counters_);
  });
  return done;
}

}  // namespace QDP::detail
