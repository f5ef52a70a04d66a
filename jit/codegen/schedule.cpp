#include "jit/codegen/schedule.hpp"

#include <algorithm>
#include <array>

#include "jit/ir/trips.hpp"

namespace jit {
namespace {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Place;
using ir::Value;

/// Of nodes: whether it is a load, or one with its lanes permuted: an instruction either way, and as easily read again.
std::vector<bool> find_reads(const Kernel& kernel) {
  std::vector<bool> reads(kernel.nodes.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Node& n = kernel.nodes[i];
    reads[i] = n.op == Op::load || (n.op == Op::permute && reads[std::size_t(n.a)]);
  }
  return reads;
}

class Scheduler {
 public:
  explicit Scheduler(const Kernel& kernel)
      : kernel_(kernel),
        nodes_(kernel.nodes.size()),
        reads_(find_reads(kernel)),
        each_trip_(ir::computed_in_each_trip(kernel)),
        stored_(kernel.stores.size(), false) {
    find_users();
    find_light();
  }

  Schedule run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].live && !is_source(Value(i)) && light_[i] == 0) require(Value(i));
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
      if (!stored_[i]) require(kernel_.stores[i].value);
      if (stored_[i]) continue;
      for (Value v : overwritten_loads(kernel_.stores[i].place)) require(v);
      store(int(i));
    }
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      require(kernel_.reductions[i].value);
      result_.each.push_back({Step::Kind::reduction, int(i)});
    }
    return std::move(result_);
  }

 private:
  struct State {
    std::vector<Value> users;  ///< nodes, in order; a user of both operands appears twice
    std::vector<int> stores;
    int uses = 0;  ///< uses not yet emitted, stores and reductions included
    bool live = false, done = false;
  };

  State& at(Value v) { return nodes_[std::size_t(v)]; }
  const Node& node(Value v) const { return kernel_.nodes[std::size_t(v)]; }
  static std::array<Value, 3> operands(const Node& n) { return {n.a, n.b, n.c}; }
  bool is_read(Value v) const { return reads_[std::size_t(v)]; }
  /// Available without other operations; takes no place in the backbone.
  bool is_source(Value v) const { return is_read(v) || node(v).op == Op::constant || node(v).op == Op::argument; }

  void find_users() {
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
      State& s = at(kernel_.stores[i].value);
      s.live = true;
      ++s.uses;
      s.stores.push_back(int(i));
    }
    for (const ir::Reduction& r : kernel_.reductions) {
      at(r.value).live = true;
      ++at(r.value).uses;
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!nodes_[i].live) continue;
      for (Value v : operands(kernel_.nodes[i]))
        if (v != ir::kNone) {
          at(v).live = true;
          ++at(v).uses;
          at(v).users.push_back(Value(i));
        }
    }
    for (State& s : nodes_) std::reverse(s.users.begin(), s.users.end());
  }

  /// What is made of one or two words that were read, and of values with so many uses that they are at hand anyway: it moves down to its
  /// first use, too, since the words wait in memory. So what is unpacked or projected is. Changes of sign do not: they are no
  /// instructions.
  void find_light() {
    constexpr int kAtHand = 8, kMostWords = 2;  // uses; words
    light_.assign(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].live || is_source(Value(i)) || node(Value(i)).op == Op::neg) continue;
      int own = 0;
      bool has_others = false;
      for (Value v : operands(kernel_.nodes[i])) {
        if (v == ir::kNone || node(v).op == Op::constant || node(v).op == Op::argument || at(v).uses >= kAtHand)
          continue;
        if (is_read(v) && at(v).uses <= (ir::is_int(node(v).type) ? 2 : 1))  // integers: two halves, perhaps
          ++own;
        else if (light_[std::size_t(v)] > 0 && at(v).uses == 1)
          own += light_[std::size_t(v)];
        else
          has_others = true;
      }
      if (!has_others && own <= kMostWords) light_[i] = own;
    }
  }

  /// Emits a node and what it needs. Explicit stack, since sums can be thousands of terms deep.
  void require(Value root) {
    std::vector<Value> stack{root};
    while (!stack.empty()) {
      const Value v = stack.back();
      bool ready = true;
      if (!at(v).done)
        for (Value o : operands(node(v)))
          if (o != ir::kNone && !at(o).done && !is_source(o)) {
            stack.push_back(o);
            ready = false;
          }
      if (!ready) continue;
      stack.pop_back();
      emit(v);
    }
  }

  /// Emits a node whose operands are done or sources, then everything that should follow at once.
  void emit(Value first) {
    std::vector<Value> queue{first};  // taken from the back: what a node enables comes before its siblings
    while (!queue.empty()) {
      const Value v = queue.back();
      queue.pop_back();
      if (at(v).done) continue;
      std::vector<Value> follow;
      for (Value o : operands(node(v)))
        if (o != ir::kNone && !at(o).done) {
          append_source(o);
          follow.push_back(o);
        }
      append_with_uses(v);

      std::vector<Value> next;
      for (Value u : at(v).users)
        if (!at(u).done && change_of_pressure(u) <= 0) next.push_back(u);
      for (Value o : follow)
        if (is_read(o))
          for (Value u : at(o).users)
            if (!at(u).done && at_hand(u, o)) next.push_back(u);
      queue.insert(queue.end(), next.rbegin(), next.rend());
    }
  }

  void append_with_uses(Value v) {
    append(v);
    for (Value o : operands(node(v)))
      if (o != ir::kNone) --at(o).uses;
  }

  /// With the load that it permutes, or several times.
  void append_source(Value v) {
    if (node(v).op == Op::permute && !at(node(v).a).done) append_source(node(v).a);
    append_with_uses(v);
  }

  /// Adds the step; a value that only waits for its store is stored, unless a later load would see it.
  void append(Value v) {
    at(v).done = true;
    (each_trip_[std::size_t(v)] ? result_.each : result_.once).push_back({Step::Kind::node, v});
    if (!each_trip_[std::size_t(v)]) return;
    for (int s : at(v).stores) {
      const Place& place = kernel_.stores[std::size_t(s)].place;
      if (stored_once(place) && overwritten_loads(place).empty()) store(s);
    }
  }

  void store(int s) {
    stored_[std::size_t(s)] = true;
    --at(kernel_.stores[std::size_t(s)].value).uses;
    result_.each.push_back({Step::Kind::store, s});
  }

  /// Whether u can follow now: all operands computed or loaded, or, beside `loaded`, loads that live longer than it.
  bool at_hand(Value u, Value loaded) {
    for (Value o : operands(node(u))) {
      if (o == ir::kNone || at(o).done) continue;
      if (!is_source(o) || (is_read(o) && at(o).uses <= at(loaded).uses)) return false;
    }
    return true;
  }

  /// A value of 8-byte words takes twice the registers of one of 4-byte words.
  int registers(Value v) const { return ir::bytes(node(v).type) == 8 ? 2 : 1; }

  /// Registers that emitting u now would add (negative: set free), if its operands are at hand or loads; else a large
  /// number.
  int change_of_pressure(Value u) {
    int change = registers(u);
    const auto list = operands(node(u));
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Value o = list[k];
      if (o == ir::kNone ||
          std::find(list.begin(), list.begin() + std::ptrdiff_t(k), o) != list.begin() + std::ptrdiff_t(k))
        continue;
      const int mine = int(std::count(list.begin(), list.end(), o));
      if (is_read(o) && !at(o).done)
        change += at(o).uses > mine ? registers(o) : 0;
      else if (is_source(o) && !is_read(o))
        continue;
      else if (!at(o).done)
        return 1000;
      else
        change -= at(o).uses == mine ? registers(o) : 0;
    }
    return change;
  }

  /// Whether two places may be the same word in some trips.
  static bool overlap(const Place& a, const Place& b) {
    return a.leaf == b.leaf &&
           (a.component == b.component || a.stride != b.stride || a.leap != b.leap || a.shifted_by != b.shifted_by);
  }

  /// Stores to one place keep their order.
  bool stored_once(const Place& place) const {
    return std::count_if(kernel_.stores.begin(), kernel_.stores.end(),
                         [&](const ir::Store& s) { return overlap(s.place, place); }) == 1;
  }

  /// Loads not yet emitted that a store to this place could overwrite.
  std::vector<Value> overwritten_loads(const Place& target) {
    std::vector<Value> loads;
    if (!kernel_.leaves[std::size_t(target.leaf)].read) return loads;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& n = kernel_.nodes[i];
      if (nodes_[i].live && !nodes_[i].done && n.op == Op::load && overlap(n.place, target)) loads.push_back(Value(i));
    }
    return loads;
  }

  const Kernel& kernel_;
  std::vector<State> nodes_;
  const std::vector<bool> reads_, each_trip_;
  std::vector<int> light_;  ///< of how many words; 0: it is not
  std::vector<bool> stored_;
  Schedule result_;
};

}  // namespace

Schedule schedule(const Kernel& kernel) { return Scheduler(kernel).run(); }

}  // namespace jit
