#include "qdp/expr/queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "jit/comm/communicator.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/field.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/kernels.hpp"
#include "qdp/expr/rounds.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {

// What a program may have: its kernel is compiled whole, and its operands are streams.
constexpr std::size_t kMostStatements = 16, kMostRecords = 200, kMostFields = 32, kMostScalars = 300;
constexpr std::size_t kMostGroupsAlongside = 64;
// Groups side by side: their launches are prepared together, and each thread has accumulators for all.
constexpr std::size_t kMostBeside = 16;
// Computations that are timed to be carried on in the best way: on so many sites at least, and so many kinds of them.
constexpr std::size_t kFewSites = 64, kMostTurns = 256;
// Nodes of a tree that is looked through for what waits.
constexpr std::size_t kMostNodes = 400;

/// TESSERA_CHECK and TESSERA_SYNC are there to name the statement that is at fault.
bool statements_wait() {
  static const jit::Env& env = jit::env();
  return env.fuse && !env.check && !env.sync;
}

/// Collective if there is anything.
std::vector<double> rounded(std::span<jit::ReductionValue> found) {
  std::vector<double> results(found.size());
  if (!found.empty()) jit::Runtime::finish_sums(found, results);
  return results;
}

/// Whether a launch may have stored something before it failed, so that to do it again would be wrong: a device's error that is not one
/// of memory, or memory of the host that was too short to note how a launch went. Whatever else fails does so before the first launch.
bool may_have_begun(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  return dynamic_cast<const jit::DeviceError*>(&error) != nullptr &&
         dynamic_cast<const jit::OutOfMemory*>(&error) == nullptr;
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
  shapes.reserve(kMostStatements), sums.reserve(PendingSum::kMost);
  lattice_ = &lattice, domain_ = &domain;
  marked_ = finished_ = wanted_ = 0;
}

void Queue::Group::clear() {
  sent_.reset();
  shapes.clear();
  sums.clear();
  program.clear(*lattice_);  // and the fields that only it held
}

bool Queue::Group::goes_over(const LatticeState& lattice, const jit::Domain& domain) const {
  return &lattice == lattice_ && &domain == domain_;
}

bool Queue::Group::is_full() const { return shapes.size() >= kMostStatements; }

bool Queue::Group::has_room_for(const PendingSum& sum) const {
  if (has_messages() && jit::Runtime::instance().waits_for_sums()) return false;  // for each of its parts
  return !is_full() && number_of_results() + static_cast<std::size_t>(sum.count) <= PendingSum::kMost;
}

bool Queue::Group::stores(const jit::Field& field) const {
  const int n = number(field);
  return n >= 0 && program.is_stored(n);
}

bool Queue::Group::comes_before(const Group& later) const {
  return std::ranges::any_of(later.program.fields(), [&](const jit::Field* field) {
    return has(*field) && (stores(*field) || later.stores(*field));
  });
}

bool Queue::Group::shares_a_field_with(const Group& other) const {
  return std::ranges::any_of(program.fields(), [&](const jit::Field* field) { return other.has(*field); });
}

/// step(); if it fails, the last statement never was.
template <class Step>
auto Queue::Group::or_go_back(Step&& step) {
  try {
    return step();
  } catch (...) {
    program.go_back(before_);
    throw;
  }
}

void Queue::Group::add(const std::shared_ptr<jit::Field>* dest, const Node& rhs) {
  before_ = program.extent();
  or_go_back([&] {
    dest != nullptr ? program.begin(*dest) : program.begin_without_target();
    program.walk(rhs);
    program.check_lattice();
  });
}

void Queue::Group::add(const std::shared_ptr<jit::Field>& dest, const Statement& whole, int part,
                       const Statement::Asides& ready) {
  before_ = program.extent();
  program.begin(dest);
  program.copy(whole, part, ready);
}

bool Queue::Group::try_to_add(const std::shared_ptr<jit::Field>* dest, Shape shape, const Node& rhs) {
  add(dest, rhs);
  const bool fits =
      or_go_back([&] { return may_wait(shape) && !program.clashes() && !needs_messages(before_.records); });
  if (!fits) program.go_back(before_);
  return fits;
}

void Queue::Group::end(Shape dest) {
  or_go_back([&] { program.end({.dest = dest}); });
  shapes.push_back(dest);
  ++wanted_;
  mark_fields();
}

void Queue::Group::end(Reduce kind, std::shared_ptr<PendingSum> result) {
  or_go_back([&] { program.end({.dest = {}, .reduction = static_cast<int>(kind), .count = result->count}); });
  shapes.emplace_back();
  sums.push_back(std::move(result));
  ++wanted_;
  mark_fields();
}

bool Queue::Group::may_wait(Shape dest) const {
  return fits(program) && columns_of(program.records(), dest) == nullptr;
}

bool Queue::Group::needs_messages(std::size_t first) const {
  return detail::needs_messages(program, *lattice_) && moves_between_ranks(program, first);
}

bool Queue::Group::send() {
  if (!jit::process_communicator().serves_all_threads()) return false;  // whoever looks, computes it
  sent_ = send_values(program, *lattice_, *domain_);
  return sent_ != nullptr;
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

/// A sum that only the group holds nobody can ask for.
std::size_t Queue::Group::wanted_sums() const {
  return static_cast<std::size_t>(std::ranges::count_if(sums, [](const auto& sum) { return sum.use_count() != 1; }));
}

/// Nobody will read what only these hold, if none behind this one needs it.
bool Queue::Group::is_wanted(const std::shared_ptr<jit::Field>& field, const Groups& all, std::size_t number) const {
  long holders = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->has(*field)) continue;
    if (i > number && !all[i]->is_empty()) return true;
    ++holders;
  }
  return field.use_count() > holders;
}

void Queue::Group::drop_dead_stores(const Groups& all, std::size_t number, QueueCounters& counters) {
  wanted_ = wanted_sums();
  for (const int i : program.items()) {
    const Record& r = program.records()[static_cast<std::size_t>(i)];
    if (!is_stored(r)) continue;
    if (is_wanted(program.owner(field_of(r)), all, number))
      ++wanted_;
    else
      program.drop_store(i);
  }
  counters.dropped += static_cast<std::int64_t>(shapes.size() - wanted_);
}

bool Queue::Group::is_dead(const Groups& all, std::size_t number) const {
  return !has_messages() && wanted_sums() == 0 && std::ranges::none_of(program.items(), [&](int i) {
    const Record& r = program.records()[static_cast<std::size_t>(i)];
    return is_stored(r) && is_wanted(program.owner(field_of(r)), all, number);
  });
}

bool Queue::Group::as_launch(jit::Launch& launch, bool& whole) {
  if (has_messages()) return false;
  if (shapes.size() == 1 && needs_pieces(program)) return false;
  const Way way = way_of(program, grouping());
  if (way.kernel == nullptr) return false;
  launch = launch_of(way.kernel, program, *domain_);
  whole = domain_->whole;
  return true;
}

std::size_t Queue::Group::number_of_results() const {
  std::size_t count = 0;
  for (const auto& sum : sums) count += static_cast<std::size_t>(sum->count);
  return count;
}

void Queue::Group::set_sums(std::span<const double> results) {
  for (const auto& sum : sums) {
    sum->set(results.first(static_cast<std::size_t>(sum->count)));
    results = results.subspan(static_cast<std::size_t>(sum->count));
  }
}

void Queue::Group::describe(std::size_t& hash) const {
  constexpr std::size_t kOdd = 0x9E3779B97F4A7C15;
  for (const std::size_t part : {step, chain, sites(), program.records().size(), program.fields().size(), sums.size()})
    hash = (hash ^ part) * kOdd;
}

void Queue::Group::succeeded(std::span<const double> results, QueueCounters& counters) {
  finished_ = shapes.size();
  set_sums(results);
  if (shapes.size() == 1) return;
  ++counters.programs;
  counters.fused += static_cast<std::int64_t>(program.items().size());
}

void Queue::Group::run_one_by_one() {
  std::vector<jit::ReductionValue> found = nothing_found(program);
  execute_one_by_one(program, {.lattice = *lattice_, .domain = *domain_}, found, finished_);
  set_sums(rounded(found));
}

void Queue::Group::run_with_messages(QueueCounters& counters) {
  if (wanted_ == 0) return sent_->discard();
  std::vector<jit::ReductionValue> found = nothing_found(program);
  sent_->compute(found);
  succeeded(rounded(found), counters);
}

void Queue::Group::run_by_itself(QueueCounters& counters) {
  if (has_messages()) return run_with_messages(counters);
  if (shapes.size() == 1 && sums.empty()) {
    program.go_back_to_value();
    execute(shapes[0]);
    finished_ = 1;
    return;
  }
  ++counters.apart;
  run_one_by_one();
}

void Queue::Group::lose_the_rest(const std::exception_ptr& failure,
                                 const std::shared_ptr<const std::string>& reason) noexcept {
  for (const auto& sum : sums)
    if (!sum->done) sum->failure = failure;
  if (finished_ == shapes.size()) return;
  if (shapes.size() == 1 && sums.empty()) return program.owner(0)->lose(reason);  // the first that its statement names
  for (std::size_t i = finished_; i < shapes.size(); ++i)
    if (item(i).op() == kStore) program.owner(field_of(item(i)))->lose(reason);
}

// ---- the queue ------------------------------------------------------------------------------------------------------

Queue::Queue() {
  for (Groups* const list : {&groups_, &spare_}) list->reserve(kMostGroupsAlongside);
  for (std::vector<Group*>* const list : {&order_, &beside_}) list->reserve(kMostGroupsAlongside);
}

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
  shifts_ = false;
  std::size_t seen = 0;
  const auto look_at = [&](const Node& n) {
    ++seen;
    if (n.op == Op::field) {
      const jit::Field* field = n.load.field.get();
      if (field->is_awaited() && std::ranges::find(awaited_, field) == awaited_.end()) awaited_.push_back(field);
    } else if (!n.is_leaf()) {
      shifts_ |= n.op == Op::shift;
      open.push_back(&n);
    }
  };
  open.clear();
  look_at(root);
  while (!open.empty()) {
    if (seen > kMostNodes) return false;
    const Node& n = *open.back();
    open.pop_back();
    for (const Expr& kid : n.kid) {
      if (!kid) break;
      look_at(*kid);
    }
  }
  return true;
}

/// Whether the statement and the group both read at other sites, and have to do with each other by fields alone that both read.
bool Queue::stands_beside(const Group& group, const jit::Field* dest) const {
  return shifts_ && group.shifts() && !(dest != nullptr && group.has(*dest)) && !reads_what(group);
}

/// Writes a statement with the awaited operands into a group. The last one that has to come before it takes it, or a later one that shares
/// fields; or else an earlier one that has to come before it and before no other, and waits behind all then: `g = zero` until `g += ...`,
/// whatever is computed in between for the second. nullptr: none takes it, and nothing has happened.
template <class HasRoom>
Queue::Group* Queue::join(const LatticeState& lattice, const jit::Domain& domain,
                          const std::shared_ptr<jit::Field>* dest, Shape shape, const Node& rhs, HasRoom&& has_room) {
  bool depends = false;  // on one of those behind
  for (std::size_t i = groups_.size(); i-- > 0;) {
    Group& g = *groups_[i];
    const bool writes = dest != nullptr && g.has(**dest);
    const bool comes_before =
        writes || std::ranges::any_of(awaited_, [&](const jit::Field* f) { return g.stores(*f); });
    const bool shares = comes_before || std::ranges::any_of(awaited_, [&](const jit::Field* f) { return g.has(*f); });
    const bool suits =
        shares && g.goes_over(lattice, domain) && !stands_beside(g, dest ? dest->get() : nullptr) && has_room(g);
    if (suits && (!depends || (comes_before && may_wait_longer(i))) && g.try_to_add(dest, shape, rhs)) {
      if (depends)
        std::rotate(groups_.begin() + std::ptrdiff_t(i), groups_.begin() + std::ptrdiff_t(i) + 1, groups_.end());
      return &g;
    }
    depends |= comes_before;
  }
  return nullptr;
}

/// Whether none of those behind it needs it first.
bool Queue::may_wait_longer(std::size_t number) const {
  const Group& group = *groups_[number];
  return !group.has_messages() && std::none_of(groups_.begin() + std::ptrdiff_t(number) + 1, groups_.end(),
                                               [&](const auto& later) { return group.comes_before(*later); });
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
  if (!find_awaited(rhs))
    run();
  else if (dest->is_awaited() || !awaited_.empty())
    if (Group* const group = join(lattice, domain, &dest, shape, rhs, [](const Group& g) { return !g.is_full(); })) {
      group->end(shape);
      ++counters_.statements;
      return true;
    }
  if (groups_.size() >= most_groups_) run();
  std::unique_ptr<Group> own = new_group();
  own->begin(lattice, domain);
  own->add(&dest, rhs);
  if (must_be_computed_aside(own->program, shape)) {
    spare(std::move(own));
    return false;
  }
  const std::vector<int> cuts = pieces_of(own->program);
  if (!cuts.empty() && !own->needs_messages(0))
    assign_in_pieces(dest, shape, domain, std::move(own), cuts);
  else
    wait_or_execute(std::move(own), shape);
  return true;
}

/// One statement, as a new group or, if it may not wait, now.
void Queue::wait_or_execute(std::unique_ptr<Group> own, Shape shape) {
  if (own->may_wait(shape) && (!own->needs_messages(0) || send(*own))) {
    own->end(shape);
    groups_.push_back(std::move(own));
    jit::set_deferred_waiting(true);
    ++counters_.statements;
    return;
  }
  run();
  own->execute(shape);
  spare(std::move(own));
}

/// A statement too long for one kernel: each piece is a statement as any other, so the last of them may be one kernel with what follows.
void Queue::assign_in_pieces(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain,
                             std::unique_ptr<Group> whole, std::span<const int> cuts) {
  const Statement& statement = whole->program;
  const LatticeState& lattice = lattice_of(*dest);
  const auto add = [&](const std::shared_ptr<jit::Field>& to, Shape of, const jit::Domain& where, int part,
                       const Statement::Asides& ready) {
    if (groups_.size() >= most_groups_) run();
    std::unique_ptr<Group> own = new_group();
    own->begin(lattice, where);
    own->add(to, statement, part, ready);
    wait_or_execute(std::move(own), of);
  };
  const Statement::Asides ready = in_pieces(statement, cuts, [&](int part, const Statement::Asides& known) {
    auto aside = field_aside(statement, part, lattice);
    add(aside, statement.records()[static_cast<std::size_t>(part)].shape(),
        domain_of_part(statement, part, lattice, domain), part, known);
    return aside;
  });
  add(dest, shape, domain, statement.root(), ready);
  spare(std::move(whole));
}

void Queue::spare(std::unique_ptr<Group> group) noexcept {
  group->clear();
  try {
    spare_.push_back(std::move(group));
  } catch (const std::bad_alloc&) {  // the next one is made anew
  }
}

bool Queue::send(Group& group) {
  run(take([&](const Group& g) { return reads_what(g); }));
  return group.send();
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

/// For those that take() names: where memory is too short for it they still wait, and nothing has happened.
void Queue::make_room() { room_.reserve(kMostGroupsAlongside); }

/// The groups that `needs` names, and those that have to come before them.
template <class Needs>
Queue::Groups Queue::take(Needs&& needs) {
  make_room();
  std::array<bool, kMostGroupsAlongside> needed;
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

void Queue::alongside(int computations) noexcept {
  most_groups_ = std::min(kMostGroups * static_cast<std::size_t>(std::max(computations, 1)), kMostGroupsAlongside);
  if (groups_.size() > most_groups_) jit::run_deferred_noexcept();
}

void Queue::run() {
  run(take([](const Group&) { return true; }));
}

void Queue::run_before_look(const jit::Field& field) {
  run(take([&](const Group& group) { return group.has(field); }));
}

/// A kernel is new: so may be those that follow, whose code can be made at the same time.
void Queue::announce() {
  constexpr std::size_t kMost = 16;  // the run time remembers those of a plan beside so many
  announced_ = true;
  jit::Launch launch;
  bool whole = false;
  std::size_t announced = 0;
  for (auto i = order_.begin(); i != order_.end() && announced < kMost; ++i) {
    if ((*i)->is_empty() || std::ranges::find(beside_, *i) != beside_.end()) continue;
    try {
      if (!(*i)->as_launch(launch, whole)) continue;
      jit::Runtime::instance().expect(launch);
      ++announced;
    } catch (const std::exception&) {  // it will say so when it is its turn
    }
  }
}

/// Those of beside_, which are one kernel each; those behind one that is not are left for later, and it runs by itself if it is the
/// first.
void Queue::run_side_by_side() {
  parts_.resize(beside_.size());
  std::size_t count = 0;
  bool whole = false;
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    if (!beside_[i]->as_launch(parts_[i], whole)) {
      beside_.resize(std::max<std::size_t>(i, 1));
      if (i == 0) return beside_[0]->run_by_itself(counters_);
      parts_.resize(i);
      break;
    }
    parts_[i].result = static_cast<int>(count);
    count += beside_[i]->number_of_results();
  }
  if (results_.size() < count) results_.resize(count);
  jit::Runtime& runtime = jit::Runtime::instance();
  if (!announced_ && runtime.is_new(*parts_[0].kernel)) announce();
  try {
    runtime.run({.parts = parts_, .whole = whole, .results = {results_.data(), count}, .side_by_side = true});
  } catch (const jit::OutOfMemory&) {  // all of its fields at once are too many; those of one statement may not be
    if (beside_.size() > 1) throw;
    return beside_[0]->run_by_itself(counters_);
  }
  std::span<const double> found(results_.data(), count);
  for (Group* const group : beside_) {
    group->succeeded(found, counters_);
    found = found.subspan(group->number_of_results());
  }
  if (beside_.size() > 1) counters_.beside += static_cast<std::int64_t>(beside_.size());
}

/// What runs now does not wait, whatever looks at its fields; nor does, meanwhile, what stays.
void Queue::run(Groups groups) {
  if (groups.empty()) {
    room_ = std::move(groups);
    return;
  }
  jit::set_deferred_waiting(false);
  for (const auto& group : groups)
    for (jit::Field* field : group->program.fields()) field->wait_no_more();
  for (const auto& group : groups_) group->mark_fields_again();
  std::exception_ptr failure;
  try {
    failure = run_in_order(groups);
  } catch (const std::exception& error) {  // of none of them alone
    failure = std::current_exception();
    for (const auto& group : groups) group->lose_the_rest(failure, words_of(error));
  }
  for (auto& group : groups) spare(std::move(group));
  groups.clear();
  room_ = std::move(groups);
  drop_dead_groups();
  jit::set_deferred_waiting(!groups_.empty());
  if (failure) std::rethrow_exception(failure);
}

/// Those that stay although their results have died would hold the memory of their operands until the queue is full.
void Queue::drop_dead_groups() {
  const std::size_t before = groups_.size();
  for (std::size_t i = before; i-- > 0;) {
    if (!groups_[i]->is_dead(groups_, i)) continue;
    counters_.dropped += static_cast<std::int64_t>(groups_[i]->shapes.size());
    for (jit::Field* field : groups_[i]->program.fields()) field->wait_no_more();
    spare(std::move(groups_[i]));
    groups_.erase(groups_.begin() + std::ptrdiff_t(i));
  }
  if (groups_.size() != before)
    for (const auto& group : groups_) group->mark_fields_again();
}

/// What has to run before each, and which computation it carries on.
void Queue::find_chains(const Groups& groups) {
  order_.clear();
  chains_ = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group& group = *groups[i];
    order_.push_back(&group);
    group.bit = std::uint64_t{1} << i;
    group.after = 0;
    group.step = group.chain = 0;
    for (std::size_t j = 0; j < i; ++j)
      if (groups[j]->comes_before(group)) {
        group.after |= groups[j]->bit;
        group.step = std::max(group.step, groups[j]->step + 1);
        group.chain = std::max(group.chain, groups[j]->chain);
      }
    if (group.after == 0) group.chain = chains_++;
  }
}

/// How many of the computations at hand are best carried on in turn; nullptr: all of them, whatever the time.
jit::Turns* Queue::turns() {
  if (chains_ < 2 || order_[0]->sites() < kFewSites || !Rounds::choose()) return nullptr;
  std::size_t hash = chains_;
  for (const Group* const group : order_) group->describe(hash);
  if (turns_.size() >= kMostTurns && !turns_.contains(hash)) turns_.clear();
  return &turns_.try_emplace(hash, chains_).first->second;
}

std::exception_ptr Queue::run_in_order(const Groups& groups) {
  // From the last: what only those read that are left out is left out, too.
  for (std::size_t i = groups.size(); i-- > 0;) groups[i]->drop_dead_stores(groups, i, counters_);
  find_chains(groups);
  jit::Turns* const turns = this->turns();
  if (turns == nullptr) return run_in_order(chains_);
  if (!turns->trying()) return run_in_order(turns->at_once());
  jit::Runtime& runtime = jit::Runtime::instance();
  runtime.synchronize();
  const auto unlike_others = [&] { return runtime.compilations() + runtime.trials() + runtime.postponed(); };
  const std::int64_t before = unlike_others();
  const auto start = std::chrono::steady_clock::now();
  const std::exception_ptr failure = run_in_order(turns->at_once());
  runtime.synchronize();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!failure && unlike_others() == before) turns->record(taken.count());
  return failure;
}

/// The first that has not run, together with later ones that may run now, too: as they came, or of computations carried on in turn, so
/// many at once, all first steps, then all second ones. What does not depend on a failure goes on; the first failure.
std::exception_ptr Queue::run_in_order(std::size_t at_once) {
  if (most_groups_ > kMostGroups)
    std::ranges::stable_sort(order_, {}, [&](const Group* g) { return std::pair(g->chain / at_once, g->step); });
  const std::size_t most = std::min(at_once, kMostBeside);
  announced_ = false;
  std::uint64_t done = 0, failed = 0;
  std::exception_ptr failure;
  std::shared_ptr<const std::string> reason;
  const auto run_these = [&] {  // false: nothing has happened
    try {
      run_side_by_side();
      for (const Group* const group : beside_) done |= group->bit;
      return true;
    } catch (const std::exception& error) {
      if (beside_.size() > 1 && !may_have_begun(error)) return false;  // one of them, perhaps
      const std::shared_ptr<const std::string> words = words_of(error);
      if (!failure) failure = std::current_exception(), reason = words;
      for (Group* const group : beside_) {
        group->lose_the_rest(std::current_exception(), words);
        failed |= group->bit;
      }
      return true;
    }
  };
  for (auto next = order_.begin(); next != order_.end(); ++next) {
    Group& first = **next;
    if (((done | failed) & first.bit) != 0) continue;
    if ((first.after & failed) != 0) {
      first.lose_the_rest(failure, reason);
      failed |= first.bit;
      continue;
    }
    if (first.is_empty() && !first.has_messages()) {
      done |= first.bit;
      continue;
    }
    beside_.assign(1, &first);
    for (auto i = next + 1; i != order_.end() && beside_.size() < most && !first.has_messages(); ++i) {
      Group& later = **i;
      if (later.has_messages()) continue;
      const bool is_ready = ((done | failed) & later.bit) == 0 && (later.after & ~done) == 0;
      if (is_ready && !later.is_empty() && later.goes_over_the_same_as(first) && later.shares_a_field_with(first))
        beside_.push_back(&later);
    }
    if (run_these()) continue;
    beside_.assign(1, &first);
    run_these();
  }
  return failure;
}

/// What fields that a failure has left without contents will say.
std::shared_ptr<const std::string> Queue::words_of(const std::exception& error) const noexcept {
  try {
    return std::make_shared<const std::string>(error.what());
  } catch (const std::bad_alloc&) {
    return short_of_words_;
  }
}

bool Queue::reads_what(const Group& group) const {
  return std::ranges::any_of(awaited_, [&](const jit::Field* field) { return group.stores(*field); });
}

void Queue::run_before(const Node& value) {
  if (groups_.empty()) return;
  find_awaited(value) ? run(take([&](const Group& group) { return reads_what(group); })) : run();
}

/// False: the sum has to be computed by itself.
bool Queue::add_sum(const Node& rhs, const jit::Domain& domain, Reduce kind,
                    const std::shared_ptr<PendingSum>& result) {
  const LatticeState& lattice = lattice_of(rhs);
  const auto has_room = [&](const Group& g) { return g.has_room_for(*result); };
  if (Group* const group = join(lattice, domain, nullptr, {}, rhs, has_room)) {
    group->end(kind, result);
    return true;
  }
  if (groups_.size() >= most_groups_) run();
  std::unique_ptr<Group> own = new_group();
  own->begin(lattice, domain);
  own->add(nullptr, rhs);
  const bool waits =
      own->may_wait({}) && !own->needs_messages(0) && !own->program.fields().empty();  // which keep the lattice
  if (waits) {
    own->end(kind, result);
    groups_.push_back(std::move(own));
    jit::set_deferred_waiting(true);
  } else {
    spare(std::move(own));
  }
  return waits;
}

bool Queue::reduce_later(const Node& rhs, const jit::Domain& domain, Reduce kind,
                         const std::shared_ptr<PendingSum>& result) {
  // Not where ranks would have to combine it: a look on one rank alone would do that there.
  if (!statements_wait() || jit::process_communicator().size() > 1) return false;
  if (!find_awaited(rhs)) run();
  return find_awaited(rhs) && add_sum(rhs, domain, kind, result);
}

void Queue::finish_sums() {
  run(take([](const Group& group) { return !group.sums.empty(); }));
}

bool Queue::reduce(const Node& rhs, const jit::Domain& domain, Reduce kind, double* results) {
  if (groups_.empty()) return false;
  if (!find_awaited(rhs)) return run(), false;
  const auto last = std::find_if(groups_.rbegin(), groups_.rend(), [&](const auto& g) { return reads_what(*g); });
  if (last == groups_.rend()) return false;
  make_room();  // what runs has to run now: the sum is here only
  Group& group = **last;
  PendingSum sum{.count = rhs.shape.components()};
  const bool joins =
      group.goes_over(lattice_of(rhs), domain) && group.has_room_for(sum) && group.try_to_add(nullptr, {}, rhs);
  if (joins) group.end(kind, std::shared_ptr<PendingSum>(std::shared_ptr<void>(), &sum));
  run(take([&](const Group& g) { return reads_what(g); }));
  if (joins) std::copy_n(sum.values, sum.count, results);
  return joins;
}

}  // namespace QDP::detail
