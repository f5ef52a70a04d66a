// What a kernel's values are to the assembler: which are instructions, in which order, and when each is needed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "jit/codegen/combinations.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/ir/ir.hpp"
#include "jit/ir/nodes.hpp"

namespace jit {

class KernelValues {
 protected:
  using Node = ir::Node;
  using Op = ir::Op;
  using Place = ir::Place;
  using Type = ir::Type;

  /// `lanes`: of a step. `parts`: of its doubles, each of which is the value of some of the lanes.
  KernelValues(const ir::Kernel& kernel, int lanes, int parts, BitInstructions there_are)
      : kernel_(kernel),
        lanes_(lanes),
        parts_(parts),
        order_(schedule(kernel)),
        combinations_(combinations(kernel, order_, there_are)) {
    find_orders();
    resolve();
    find_uses();
  }

  static constexpr int kNever = std::numeric_limits<int>::max();

  /// A value is another one, or that with the other sign: such nodes have no instruction.
  struct Alias {
    int root = -1;
    bool negative = false;
  };

  /// Where the words of a value can be read again. Permuted: as those of a cell, with their lanes in this order.
  struct Home {
    enum class Kind : std::uint8_t { none, cell, stack, pool, permuted } kind = Kind::none;
    int cell = 0;         ///< that holds the address, to which `at` is added
    std::int32_t at = 0;  ///< cell, stack, permuted: bytes; pool: number of the constant
    int order = -1;       ///< permuted: order_of()
  };

  struct Word {
    Home home;
    int reg = -1;
    int next = 0, end = 0;  ///< in uses_: those that are to come
    int bytes = 0;          ///< all lanes
    bool held = false;      ///< computed ahead of the trips and used in them
    bool slot = false;      ///< home is a slot of the stack, to be given back
  };

  static std::array<ir::Value, 3> operands(const Node& n) { return {n.a, n.b, n.c}; }
  const Node& node(int i) const { return kernel_.nodes[std::size_t(i)]; }
  Word& word_of(int i) { return words_[std::size_t(i)]; }
  const Word& word_of(int i) const { return words_[std::size_t(i)]; }
  Alias alias(ir::Value v) const { return alias_[std::size_t(v)]; }
  int root(ir::Value v) const { return alias_[std::size_t(v)].root; }
  /// Which lane of its operand each lane of a permute is: what the exchanges of these slots come to, the nearest one last.
  struct LaneOrder {
    std::vector<std::size_t> slots;
    int word_bytes = 4;  ///< truth values are spread over words of four bytes
    auto operator<=>(const LaneOrder&) const = default;
  };
  /// A pseudo-value: the order of a permute's lanes; -1 if all stay where they are.
  int order_of(int permute) const { return order_of_[std::size_t(permute)]; }
  const std::map<LaneOrder, int>& lane_orders() const { return orders_; }

  template <class F>
  void for_steps(F&& f) const {
    int now = 0;
    for (const Step& s : order_.once) f(s, now++);
    for (const Step& s : order_.each) f(s, now++);
  }

  static bool takes_signs(const Node& n) {
    return ir::is_float(n.type) && (n.op == Op::fma || n.op == Op::add || n.op == Op::sub || n.op == Op::mul);
  }

  /// Changes of sign go into the instructions that use them, if all users are such.
  void resolve() {
    const std::size_t count = kernel_.nodes.size();
    std::vector<bool> signs_are_taken(count, true);
    for_steps([&](const Step& s, int) {
      if (s.kind == Step::Kind::node) {
        const Node& n = node(s.number);
        if (!takes_signs(n))
          for (ir::Value v : operands(n))
            if (v != ir::kNone) signs_are_taken[std::size_t(v)] = false;
      } else {
        signs_are_taken[std::size_t(s.kind == Step::Kind::store ? kernel_.stores[std::size_t(s.number)].value
                                                                : kernel_.reductions[std::size_t(s.number)].value)] =
            false;
      }
    });
    alias_.assign(count, Alias{});
    for_steps([&](const Step& s, int) {
      if (s.kind != Step::Kind::node) return;
      const Node& n = node(s.number);
      Alias& result = alias_[std::size_t(s.number)];
      result = {s.number, false};
      const bool may_be_negative = signs_are_taken[std::size_t(s.number)];
      if (n.op == Op::bitcast || (n.op == Op::convert && node(n.a).type == n.type) ||
          (n.op == Op::permute && order_of(s.number) < 0))
        result = alias(n.a);
      else if (n.op == Op::neg && ir::is_float(n.type) && may_be_negative)
        result = {root(n.a), !alias(n.a).negative};
      else if (n.op == Op::mul && ir::is_float(n.type) && may_be_negative)
        result.negative = alias(n.a).negative != alias(n.b).negative;
    });
  }

  LaneExchange exchange_in(std::size_t slot) const { return kernel_.slots[slot].exchange.within(lanes_); }
  void find_orders() {
    order_of_.assign(kernel_.nodes.size(), -1);
    for_steps([&](const Step& step, int) {
      if (step.kind != Step::Kind::node || node(step.number).op != Op::permute) return;
      const Node& n = node(step.number);
      LaneOrder order{{}, ir::bytes(n.type) == 8 ? 8 : 4};
      ir::for_slots_left(kernel_, n, [&](std::size_t s) {
        if (!exchange_in(s).is_none()) order.slots.push_back(s);
      });
      if (!order.slots.empty())
        order_of_[std::size_t(step.number)] =
            orders_.try_emplace(std::move(order), int(kernel_.nodes.size() + orders_.size())).first->second;
    });
  }
  bool is_alias(int i) const { return root(i) != i; }
  const Combination& combination(int i) const { return combinations_[std::size_t(i)]; }

  /// f(value) for what a step reads.
  template <class F>
  void for_sources(const Step& s, F&& f) const {
    if (s.kind == Step::Kind::store) return f(root(kernel_.stores[std::size_t(s.number)].value));
    if (s.kind == Step::Kind::reduction) return f(root(kernel_.reductions[std::size_t(s.number)].value));
    const Combination::Kind kind = combination(s.number).kind;
    if (is_alias(s.number) || kind == Combination::Kind::inside) return;
    const Node& n = node(s.number);
    for (ir::Value v : kind == Combination::Kind::none ? operands(n) : combination(s.number).of)
      if (v != ir::kNone) f(root(v));
    if (n.op == Op::permute) f(order_of(s.number));
  }

  void find_uses() {
    const std::size_t count = kernel_.nodes.size() + orders_.size();
    words_.assign(count, Word{});
    for_steps([&](const Step& s, int) { for_sources(s, [&](int v) { ++word_of(v).end; }); });
    int total = 0;
    for (Word& w : words_) w.next = total, total += std::exchange(w.end, total);
    uses_.resize(std::size_t(total));
    const int first_in_trips = int(order_.once.size());
    std::vector<bool> ahead(count, false);
    for (std::size_t v = kernel_.nodes.size(); v < count; ++v) ahead[v] = true;
    for (const Step& s : order_.once)
      if (s.kind == Step::Kind::node) ahead[std::size_t(s.number)] = true;
    for_steps([&](const Step& s, int now) {
      for_sources(s, [&](int v) {
        uses_[std::size_t(word_of(v).end++)] = now;
        if (now >= first_in_trips && ahead[std::size_t(v)]) word_of(v).held = true;
      });
    });
    for (std::size_t i = 0; i < kernel_.nodes.size(); ++i) {
      const Type type = kernel_.nodes[i].type;
      words_[i].bytes = (type == Type::f64 ? doubles() : lanes_) * ir::bytes(type);
    }
    for (const auto& [order, number] : orders_) word_of(number).bytes = lanes_ * order.word_bytes;
  }

  int next_use(const Word& w) const { return w.next < w.end ? uses_[std::size_t(w.next)] : kNever; }
  int last_use(const Word& w) const { return w.next < w.end ? uses_[std::size_t(w.end) - 1] : -1; }
  /// Uses up to the present step are over.
  void pass_uses(Word& w) const {
    while (w.next < w.end && uses_[std::size_t(w.next)] <= now_) ++w.next;
  }
  /// The next use after the present step.
  int later_use(const Word& w) const {
    int i = w.next;
    while (i < w.end && uses_[std::size_t(i)] <= now_) ++i;
    return i < w.end ? uses_[std::size_t(i)] : kNever;
  }

  /// Lanes of a double.
  int doubles() const { return lanes_ / parts_; }

  const ir::Kernel& kernel_;
  const int lanes_, parts_;
  const Schedule order_;
  const std::vector<Combination> combinations_;  ///< [node]
  int now_ = 0;                                  ///< number of the present step

 private:
  std::vector<Alias> alias_;
  std::map<LaneOrder, int> orders_;  ///< their numbers come after those of the nodes
  std::vector<int> order_of_;        ///< [node]
  std::vector<Word> words_;          ///< of the nodes, then of the orders of lanes
  std::vector<int> uses_;
};

}  // namespace jit
