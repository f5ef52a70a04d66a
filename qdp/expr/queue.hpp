// Statements that wait for those after them (design D10): what shares fields over the same sites becomes one kernel, and what
// nobody will read is not stored.
//
// Those that will be one kernel are a group. A statement joins the last group that has to come before it, if their values can
// be computed side by side at each site; or else a later one that shares fields with it; or an earlier one that no other depends on, and
// that may as well wait until the statement's operands are there; or it opens a new group behind all. So
// `x += a * p;  r -= a * q;  c = norm2(r);  p = r + b * p;` are two kernels, r with its norm, and x with p.
//
// Statements that read at other sites, as hopping terms do, stay kernels of their own if they share no more than fields that
// both read: fused, their kernels were long and many. Groups over the same sites of which none has to come before another one
// are launched side by side instead: what they share, the links for many right-hand sides, they find in the caches of a CPU, and on
// a GPU the run time merges them.
//
// A statement that needs values of other ranks begins a group of its own. What it sends leaves at once, and others join it while that
// travels.
//
// A look at a field (jit/memory/deferred.hpp) runs the groups that its value depends on and those that read what the look may
// change, and the groups that these need. Where programs are cut follows from the sequence of statements and looks alone, so all
// ranks cut alike.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/runtime.hpp"
#include "jit/tune/turns.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/exchange.hpp"
#include "qdp/expr/execute.hpp"
#include "qdp/expr/statement.hpp"

namespace QDP::detail {

/// Since the start, for tests.
struct QueueCounters {
  std::int64_t statements = 0;  ///< that waited
  std::int64_t programs = 0;    ///< of more than one statement, run as one kernel
  std::int64_t fused = 0;       ///< statements and sums in those
  std::int64_t apart = 0;       ///< programs whose statements ran one by one
  std::int64_t dropped = 0;     ///< values that were not stored
  std::int64_t beside = 0;      ///< groups launched side by side with others
};

class Queue {
 public:
  /// That wait, of one computation.
  static constexpr std::size_t kMostGroups = 16;
  /// The process's.
  static Queue& instance();

  /// dest = rhs, whose type is the destination's. It runs now, or waits. False, and nothing has happened: it reads the destination
  /// at other sites, or in another order than it stores it, so its value has to be computed aside.
  bool assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, const Node& rhs);
  /// All components of rhs, reduced in one kernel with statements that wait. False: they cannot be; but what the value depends on
  /// has run.
  bool reduce(const Node& rhs, const jit::Domain& domain, Reduce kind, double* results);
  /// The same when it is wanted, by finish(), or with what waits. False: it has to be computed now.
  bool reduce_later(const Node& rhs, const jit::Domain& domain, Reduce kind, const std::shared_ptr<PendingSum>& result);
  /// Runs what has to be done before the sums that wait are known.
  void finish_sums();
  /// Runs all that wait. If a statement fails, its destination and those of later ones have no contents afterwards.
  void run();
  /// Runs what has to be done before the field may be read or written, and what the value of an expression depends on.
  void run_before_look(const jit::Field& field);
  void run_before(const Node& value);

  /// How many computations are carried on in turn from now on: as many groups more may wait.
  void alongside(int computations) noexcept;

  const QueueCounters& counters() const { return counters_; }

 private:
  /// Statements over the same sites that will be one kernel.
  class Group {
   public:
    void begin(const LatticeState& lattice, const jit::Domain& domain);
    /// Writes the records of one more statement, or of a sum.
    void add(const std::shared_ptr<jit::Field>* dest, const Node& rhs);
    /// Those of a part of a statement that keeps its operands.
    void add(const std::shared_ptr<jit::Field>& dest, const Statement& whole, int part, const Statement::Asides& ready);
    /// The same if it goes together with the others; otherwise the group is as it was. `shape`: of the destination, if there is one.
    bool try_to_add(const std::shared_ptr<jit::Field>* dest, Shape shape, const Node& rhs);
    void end(Shape dest);
    void end(Reduce kind, std::shared_ptr<PendingSum> result);
    /// It may be computed together with others: what is stored by columns may not, which is computed aside if it is read, too.
    bool may_wait(Shape dest) const;
    /// Whether the records from `first` on need values of other ranks.
    bool needs_messages(std::size_t first) const;
    /// What others need of the first statement leaves. False: its messages are for it alone, and it has to be computed at once.
    bool send();
    bool has_messages() const { return sent_ != nullptr; }
    bool goes_over(const LatticeState& lattice, const jit::Domain& domain) const;
    bool goes_over_the_same_as(const Group& other) const { return other.goes_over(*lattice_, *domain_); }
    bool is_full() const;
    bool has_room_for(const PendingSum& sum) const;
    bool shifts() const { return program.maps().size() > 1; }
    bool has(const jit::Field& field) const { return number(field) >= 0; }
    bool stores(const jit::Field& field) const;
    /// Whether it has to run before the other one, which came later.
    bool comes_before(const Group& later) const;
    bool shares_a_field_with(const Group& other) const;
    void mark_fields();
    void mark_fields_again();

    /// The one statement, whose destination nobody has claimed yet.
    void execute(Shape dest);
    /// Its launch, if it is one kernel; else it has to run by itself.
    bool as_launch(jit::Launch& launch, bool& whole);
    bool is_empty() const { return wanted_ == 0; }
    /// Changes the number by what is computed where, about.
    void describe(std::size_t& hash) const;
    std::size_t sites() const { return static_cast<std::size_t>(domain_->sites); }
    std::size_t number_of_results() const;
    void succeeded(std::span<const double> results, QueueCounters& counters);
    void run_by_itself(QueueCounters& counters);
    /// Leaves out what nobody will read. `all`: that run now, of which this is one; those behind it have done so.
    void drop_dead_stores(const std::vector<std::unique_ptr<Group>>& all, std::size_t number, QueueCounters& counters);
    /// Nobody will read anything of it, which waits with the others.
    bool is_dead(const std::vector<std::unique_ptr<Group>>& all, std::size_t number) const;
    /// After a failure: the destinations that nothing was stored in, and sums, have none.
    void lose_the_rest(const std::exception_ptr& failure, const std::shared_ptr<const std::string>& reason) noexcept;
    void clear();

    std::uint64_t bit = 0, after = 0;  ///< among those that run now: its own, and those that have to run before it
    std::size_t step = 0;              ///< behind theirs
    std::size_t chain = 0;             ///< the computation that it carries on
    Statement program;
    std::vector<Shape> shapes;                      ///< [statements and sums] of destinations
    std::vector<std::shared_ptr<PendingSum>> sums;  ///< in their order

   private:
    template <class Step>
    auto or_go_back(Step&& step);
    int number(const jit::Field& field) const { return program.number(field); }
    const Record& item(std::size_t i) const;
    bool is_wanted(const std::shared_ptr<jit::Field>& field, const std::vector<std::unique_ptr<Group>>& all,
                   std::size_t number) const;
    std::size_t wanted_sums() const;
    Grouping grouping() const;
    void run_one_by_one();
    void run_with_messages(QueueCounters& counters);
    void set_sums(std::span<const double> results);

    const LatticeState* lattice_ = nullptr;
    const jit::Domain* domain_ = nullptr;
    std::size_t marked_ = 0;         ///< fields that know that they are awaited
    std::size_t finished_ = 0;       ///< statements and sums of the present run
    std::size_t wanted_ = 0;         ///< of them, that are not dropped
    Statement::Extent before_ = {};  ///< the last statement
    std::unique_ptr<Sent> sent_;
  };
  using Groups = std::vector<std::unique_ptr<Group>>;

  Queue();
  bool assign_now(jit::Field& dest, Shape shape, const jit::Domain& domain, const Node& rhs);
  void assign_in_pieces(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain,
                        std::unique_ptr<Group> whole, std::span<const int> cuts);
  void wait_or_execute(std::unique_ptr<Group> own, Shape shape);
  void spare(std::unique_ptr<Group> group) noexcept;
  bool find_awaited(const Node& root);
  template <class HasRoom>
  Group* join(const LatticeState& lattice, const jit::Domain& domain, const std::shared_ptr<jit::Field>* dest,
              Shape shape, const Node& rhs, HasRoom&& has_room);
  bool may_wait_longer(std::size_t number) const;
  std::unique_ptr<Group> new_group();
  bool reads_what(const Group& group) const;
  bool stands_beside(const Group& group, const jit::Field* dest) const;
  bool add_sum(const Node& rhs, const jit::Domain& domain, Reduce kind, const std::shared_ptr<PendingSum>& result);
  void make_room();
  template <class Needs>
  Groups take(Needs&& needs);
  void run(Groups groups);
  void drop_dead_groups();
  void find_chains(const Groups& groups);
  jit::Turns* turns();
  std::exception_ptr run_in_order(const Groups& groups);
  std::exception_ptr run_in_order(std::size_t at_once);
  void run_side_by_side();
  void announce();
  std::shared_ptr<const std::string> words_of(const std::exception& error) const noexcept;
  bool send(Group& group);

  std::size_t most_groups_ = kMostGroups;
  Groups groups_;  ///< in the order in which they have to run
  Groups spare_;
  Groups room_;                              ///< an empty list, whose memory the next one to run takes
  Statement statement_;                      ///< of one that does not wait
  std::vector<const jit::Field*> awaited_;   ///< operands of the statement at hand that groups have to do with
  bool shifts_ = false;                      ///< it reads at other sites
  std::vector<Group*> order_;                ///< of those that run now
  std::size_t chains_ = 0;                   ///< of them
  std::map<std::size_t, jit::Turns> turns_;  ///< how they are best run, by what they look like
  std::vector<Group*> beside_;               ///< side by side
  bool announced_ = false;                   ///< what follows in this flush
  std::vector<jit::Launch> parts_;
  std::vector<double> results_;
  const std::shared_ptr<const std::string> short_of_words_ =
      std::make_shared<const std::string>("memory was too short to say why");
  QueueCounters counters_;
};

}  // namespace QDP::detail
