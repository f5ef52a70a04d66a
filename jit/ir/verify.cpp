// The rules every kernel keeps: operands before users, one type per operation, one frame per operation.
#include <algorithm>
#include <bit>

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/support/error.hpp"

namespace jit::ir {
namespace {

/// Frame of a value that is the same in every frame: constants, arguments and what is made of them.
constexpr int kAnyFrame = -1;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel), frame_(kernel.nodes.size(), kAnyFrame) {}

  void run() {
    check(kernel_.lanes >= 1 && kernel_.lanes <= kMaxLanes && std::has_single_bit(unsigned(kernel_.lanes)), "lanes",
          "a power of two up to 64", std::to_string(kernel_.lanes));
    check(kernel_.trips >= 1, "trips", "1 or more", std::to_string(kernel_.trips));
    check(kernel_.rounds >= 1, "rounds", "1 or more", std::to_string(kernel_.rounds));
    slots();
    for (std::size_t i = 0; i < kernel_.nodes.size(); ++i) node(Value(i));
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i) store(i);
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) reduction(i);
  }

 private:
  void check(bool ok, const std::string& what, const std::string& expected, const std::string& got) const {
    if (ok) return;
    throw InternalError(
        {.what = "kernel " + kernel_.name + ": " + what,
         .expected = expected,
         .got = got,
         .where = "IR verifier",
         .what_now = "The front end built a wrong kernel; TESSERA_DUMP=ir shows the good ones. Please report"});
  }

  void slots() const {
    check(!kernel_.slots.empty() && kernel_.slots[0] == Slot{}, "slot 0", "the site itself", "another slot");
    for (std::size_t i = 1; i < kernel_.slots.size(); ++i) {
      const Slot& slot = kernel_.slots[i];
      const std::string what = "slot " + std::to_string(i);
      check(slot.parent >= 0 && slot.parent < int(i), what, "a parent with a smaller number",
            std::to_string(slot.parent));
      check(slot.gathered || !kernel_.slots[std::size_t(slot.parent)].gathered, what,
            "a structured parent of a structured slot", "gathered slot " + std::to_string(slot.parent));
      exchange(what, slot.exchange);
      check(!slot.gathered || slot.exchange.is_none(), what, "no exchange of lanes in a gathered slot",
            text(slot.exchange));
    }
  }

  static std::string text(const LaneExchange& exchange) {
    return "xor " + std::to_string(exchange.flip) + ", ring " + std::to_string(exchange.ring) + ", step " +
           std::to_string(exchange.step);
  }

  void exchange(const std::string& what, const LaneExchange& exchange) const {
    check(exchange.flip < kernel_.lanes, what, "an exchange of lanes of the group", text(exchange));
    const unsigned ring = exchange.ring, lowest = ring & (~ring + 1);
    check(ring == 0 || (std::has_single_bit(ring / lowest + 1) && !std::has_single_bit(ring)), what,
          "a ring of two or more consecutive bits", text(exchange));
    check(static_cast<int>(ring) < block_lanes(kernel_.lanes, Type::f64), what, "a ring within half a group",
          text(exchange));
    check((exchange.step & ~ring) == 0 && (exchange.step == 0) == (ring == 0), what, "a step of the ring",
          text(exchange));
    check((exchange.flip & ring) == 0, what, "a ring of bits that are not flipped", text(exchange));
  }

  void place(const std::string& what, const Place& p, Type type) const {
    check(p.leaf >= 0 && p.leaf < int(kernel_.leaves.size()), what,
          "a leaf below " + std::to_string(kernel_.leaves.size()), std::to_string(p.leaf));
    const Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
    check(type == leaf.word, what, std::string("type ") + name(leaf.word) + " of its leaf", name(type));
    check(p.slot >= 0 && p.slot < int(kernel_.slots.size()), what,
          "a slot below " + std::to_string(kernel_.slots.size()), std::to_string(p.slot));
    check(p.frame < int(kernel_.slots.size()) && (p.frame < 0 || p.slot == 0), what,
          "the frame of a slot below " + std::to_string(kernel_.slots.size()) + ", kept at the site",
          std::to_string(p.frame) + " at slot " + std::to_string(p.slot));
    if (p.shifted_by >= 0) {
      check(p.shifted_by < int(kernel_.arguments.size()), what,
            "an argument below " + std::to_string(kernel_.arguments.size()), std::to_string(p.shifted_by));
      const Type by = kernel_.arguments[std::size_t(p.shifted_by)];
      check(by == Type::i32, what, "an argument i32 to be shifted by", name(by));
    }
    const int by_trips = (kernel_.trips - 1) * p.stride, by_rounds = (kernel_.rounds - 1) * p.leap;
    const int first = p.component + std::min(by_trips, 0) + std::min(by_rounds, 0);
    const int last = p.component + std::max(by_trips, 0) + std::max(by_rounds, 0);
    check(first >= 0 && last < leaf.components, what, "components below " + std::to_string(leaf.components),
          std::to_string(first) + " to " + std::to_string(last));
  }

  void node(Value number) {
    const Node& n = kernel_.nodes[std::size_t(number)];
    const std::string what = "node %" + std::to_string(number) + " (" + name(n.op) + ")";
    const Value operands[3] = {n.a, n.b, n.c};
    int& frame = frame_[std::size_t(number)];
    for (int k = 0; k < 3; ++k) {
      const Value v = operands[k];
      if (k >= arity(n.op)) {
        check(v == kNone, what, std::to_string(arity(n.op)) + " operands", "more");
        continue;
      }
      check(v >= 0 && v < number, what, "operands that come earlier", "%" + std::to_string(v));
      const int f = frame_[std::size_t(v)];
      check(frame == kAnyFrame || f == kAnyFrame || f == frame, what, "operands of one frame",
            "slots " + std::to_string(frame) + " and " + std::to_string(f));
      if (f != kAnyFrame) frame = f;
    }
    const auto type_of = [&](int k) { return kernel_.nodes[std::size_t(operands[k])].type; };
    const auto same = [&](int first, Type t) {
      for (int k = first; k < arity(n.op); ++k)
        check(type_of(k) == t, what, std::string("operands of type ") + name(t), name(type_of(k)));
    };
    switch (n.op) {
      case Op::constant:
        break;
      case Op::argument:
        check(n.integer >= 0 && n.integer < std::int64_t(kernel_.arguments.size()), what,
              "an argument below " + std::to_string(kernel_.arguments.size()), std::to_string(n.integer));
        check(kernel_.arguments[std::size_t(n.integer)] == n.type, what,
              std::string("type ") + name(kernel_.arguments[std::size_t(n.integer)]), name(n.type));
        break;
      case Op::load:
        place(what, n.place, n.type);
        check(kernel_.leaves[std::size_t(n.place.leaf)].read, what, "a leaf that is read",
              "leaf " + std::to_string(n.place.leaf));
        frame = frame_of(n.place);
        break;
      case Op::permute: {
        same(0, n.type);
        check(n.integer >= 1 && n.integer < std::int64_t(kernel_.slots.size()), what,
              "a slot from 1 to " + std::to_string(kernel_.slots.size() - 1), std::to_string(n.integer));
        const int parent = kernel_.slots[std::size_t(n.integer)].parent;
        int to = parent;
        if (n.ancestor >= 0)
          while (to > n.ancestor) to = kernel_.slots[std::size_t(to)].parent;
        check(n.ancestor < 0 || (to == n.ancestor && to != parent), what,
              "an ancestor of slot " + std::to_string(n.integer) + " that is not its parent",
              "slot " + std::to_string(n.ancestor));
        if (frame == kAnyFrame) break;
        check(frame == n.integer, what, "a value of slot " + std::to_string(n.integer),
              "slot " + std::to_string(frame));
        frame = to;
        break;
      }
      case Op::lt:
      case Op::le:
      case Op::eq:
      case Op::ne:
        check(n.type == Type::b1, what, "result b1", name(n.type));
        check(applies_to(n.op, type_of(0)), what, "ordered operands", name(type_of(0)));
        same(0, type_of(0));
        break;
      case Op::select:
        check(type_of(0) == Type::b1, what, "a condition b1", name(type_of(0)));
        same(1, n.type);
        break;
      case Op::convert:
        break;
      case Op::bitcast:
        check(n.type != Type::b1 && type_of(0) != Type::b1 && bytes(type_of(0)) == bytes(n.type), what,
              std::string("an operand of as many bytes as ") + name(n.type), name(type_of(0)));
        break;
      default:
        check(applies_to(n.op, n.type), what, "a type that the operation knows", name(n.type));
        same(0, n.type);
    }
  }

  void value(const std::string& what, Value v, int frame = 0) const {
    check(v >= 0 && v < int(kernel_.nodes.size()), what, "a value below " + std::to_string(kernel_.nodes.size()),
          std::to_string(v));
    check(frame_[std::size_t(v)] == kAnyFrame || frame_[std::size_t(v)] == frame, what,
          frame == 0 ? "a value of the site's frame" : "a value of slot " + std::to_string(frame),
          "slot " + std::to_string(frame_[std::size_t(v)]));
  }

  void store(std::size_t i) const {
    const Store& s = kernel_.stores[i];
    const std::string what = "store " + std::to_string(i);
    value(what, s.value, frame_of(s.place));
    place(what, s.place, kernel_.nodes[std::size_t(s.value)].type);
    check(s.place.slot == 0, what, "slot 0", std::to_string(s.place.slot));
    check(kernel_.leaves[std::size_t(s.place.leaf)].written, what, "a leaf that is written",
          "leaf " + std::to_string(s.place.leaf));
  }

  void reduction(std::size_t i) const {
    const std::string what = "reduction " + std::to_string(i);
    value(what, kernel_.reductions[i].value);
    const Type t = kernel_.nodes[std::size_t(kernel_.reductions[i].value)].type;
    check(t == Type::f64, what, "a summand f64", name(t));
  }

  const Kernel& kernel_;
  std::vector<int> frame_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace jit::ir
