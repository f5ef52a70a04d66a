// The text form of a kernel, which is also its identity: the hash is the hash of this text.
//
//   kernel lanes=16 trips=1 domain=range
//   leaf 0 f32[24] read
//   slot 1 parent=0 structured xor=8      LaneExchange::flip; ring=3+1: LaneExchange::ring and ::step
//   argument 0 f64
//   %0 = load f32 leaf0[3+2t] @1          word 3 + 2 * trip of leaf 0, in the frame of slot 1; +72r: 72 * round; of @2: Place::frame
//   %1 = constant f32 0x1.8p+0            hexadecimal, so that no digit is lost
//   %2 = permute f32 %0 @1
//   %3 = mul f32 %2 %1
//   store leaf1[0] %3
//   sum %7
#include <charconv>
#include <cmath>
#include <cstring>

#include "jit/ir/ir.hpp"

namespace jit::ir {
namespace {

class Printer {
 public:
  Printer& operator<<(const char* text) {
    out_ += text;
    return *this;
  }
  Printer& operator<<(std::int64_t x) {
    char buffer[24];
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, x).ptr);
    return *this;
  }
  Printer& operator<<(double x) {
    char buffer[40];
    if (std::signbit(x)) out_ += '-';
    if (std::isnan(x)) {  // with its payload
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      out_ += "nan:";
      out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, bits & ~(1ull << 63), 16).ptr);
    } else if (std::isinf(x)) {
      out_ += "inf";
    } else {
      out_ += "0x";
      out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, std::fabs(x), std::chars_format::hex).ptr);
    }
    return *this;
  }
  Printer& place(const Place& p) {
    *this << "leaf" << std::int64_t{p.leaf} << "[" << std::int64_t{p.component};
    if (p.stride != 0) *this << "+" << std::int64_t{p.stride} << "t";
    if (p.leap != 0) *this << "+" << std::int64_t{p.leap} << "r";
    if (p.shifted_by >= 0) *this << "+a" << std::int64_t{p.shifted_by};
    *this << "]";
    if (p.slot != 0) *this << " @" << std::int64_t{p.slot};
    if (p.frame >= 0) *this << " of @" << std::int64_t{p.frame};
    return *this;
  }
  Printer& exchange(const LaneExchange& lanes) {
    *this << " xor=" << std::int64_t{lanes.flip};
    return lanes.ring == 0 ? *this : *this << " ring=" << std::int64_t{lanes.ring} << "+" << std::int64_t{lanes.step};
  }
  Printer& value(Value v) { return *this << "%" << std::int64_t{v}; }
  std::string take() { return std::move(out_); }
  void reserve(std::size_t size) { out_.reserve(size); }

 private:
  std::string out_;
};

void print_node(Printer& out, Value number, const Node& node) {
  out.value(number) << " = " << name(node.op) << " " << name(node.type);
  switch (node.op) {
    case Op::constant:
      if (is_float(node.type))
        out << " " << node.real;
      else
        out << " " << node.integer;
      break;
    case Op::argument:
      out << " " << node.integer;
      break;
    case Op::load:
      (out << " ").place(node.place);
      break;
    default:
      for (Value operand : {node.a, node.b, node.c})
        if (operand != kNone) (out << " ").value(operand);
      if (node.op == Op::permute) out << " @" << node.integer;
      if (node.ancestor >= 0) out << ">" << std::int64_t{node.ancestor};
  }
  out << "\n";
}

const char* name(Reduction::Kind kind) {
  switch (kind) {
    case Reduction::Kind::sum:
      return "sum ";
    case Reduction::Kind::max:
      return "max ";
    case Reduction::Kind::min:
      return "min ";
  }
  return "?";
}

}  // namespace

std::string print(const Kernel& kernel) {
  Printer out;
  out.reserve(64 + 36 * kernel.nodes.size());
  out << "kernel lanes=" << std::int64_t{kernel.lanes} << " trips=" << std::int64_t{kernel.trips};
  if (kernel.rounds != 1) out << " rounds=" << std::int64_t{kernel.rounds};
  out << (kernel.listed ? " domain=list\n" : " domain=range\n");
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i) {
    const Leaf& leaf = kernel.leaves[i];
    out << "leaf " << std::int64_t(i) << " " << name(leaf.word) << "[" << std::int64_t{leaf.components} << "]"
        << (leaf.read ? " read" : "") << (leaf.written ? " written" : "") << (leaf.host_order ? " host order" : "")
        << "\n";
  }
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    out << "argument " << std::int64_t(i) << " " << name(kernel.arguments[i]) << "\n";
  for (std::size_t i = 1; i < kernel.slots.size(); ++i) {
    const Slot& slot = kernel.slots[i];
    out << "slot " << std::int64_t(i) << " parent=" << std::int64_t{slot.parent};
    if (slot.gathered)
      out << " gathered\n";
    else
      (out << " structured").exchange(slot.exchange) << "\n";
  }
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) print_node(out, Value(i), kernel.nodes[i]);
  for (const Store& store : kernel.stores) ((out << "store ").place(store.place) << " ").value(store.value) << "\n";
  for (const Reduction& reduction : kernel.reductions) (out << name(reduction.kind)).value(reduction.value) << "\n";
  return out.take();
}

Hash128 hash(const Kernel& kernel) { return Hasher().text(print(kernel)).result(); }

}  // namespace jit::ir
