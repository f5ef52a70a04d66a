// The kernel IR: what one block of lattice sites computes, word by word.
//
// A kernel is a straight-line program in single static assignment over *words* (one real number per lane). Everything
// above (spin, colour, complex numbers, gamma matrices, projectors) has been resolved by the front end into loads,
// arithmetic and stores of single components; everything below (vectors, threads, registers) is the target's business.
// CPU, GPU and the host interpreter run the same program, so a rule of algebra exists once.
//
// A field in device order is `[group][component][lane]`: groups of `lanes` sites share one instruction. A kernel is
// evaluated in *frames*: frame 0 is the site itself, every shift opens a further frame (Slot). Loads name the frame
// they read in; `permute` carries a value from a slot's frame back to that of the slot's parent, or of one farther up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/ir/lane_exchange.hpp"
#include "jit/ir/type.hpp"
#include "jit/support/hash.hpp"

namespace jit::ir {

/// X(name, operands). All operands of an operation have the node's type, except: comparisons (result b1), select
/// (first operand b1), convert (any -> node's type), bitcast (any of as many bytes, the same bits), shifts by a constant second
/// operand.
/// Floating point is IEEE with exactly these roundings: fma(a,b,c) = a*b+c rounded once, mul and add are never contracted.
// clang-format off
#define TESSERA_IR_OPS(X)                                                                                              \
  X(constant, 0) X(argument, 0) X(load, 0) X(permute, 1)                                                               \
  X(add, 2) X(sub, 2) X(mul, 2) X(div, 2) X(rem, 2) X(fma, 3) X(neg, 1) X(abs, 1) X(min, 2) X(max, 2)                  \
  X(sqrt, 1) X(floor, 1) X(ceil, 1)                                                                                    \
  X(sin, 1) X(cos, 1) X(tan, 1) X(asin, 1) X(acos, 1) X(atan, 1) X(sinh, 1) X(cosh, 1) X(tanh, 1)                      \
  X(exp, 1) X(log, 1) X(log10, 1) X(pow, 2) X(atan2, 2) X(fmod, 2)                                                     \
  X(lt, 2) X(le, 2) X(eq, 2) X(ne, 2)                                                                                  \
  X(and_, 2) X(or_, 2) X(xor_, 2) X(not_, 1) X(shl, 2) X(shr, 2)                                                       \
  X(select, 3) X(convert, 1) X(bitcast, 1)
// clang-format on

enum class Op : std::uint8_t {
#define TESSERA_ROW(op, arity) op,
  TESSERA_IR_OPS(TESSERA_ROW)
#undef TESSERA_ROW
};
const char* name(Op op);
int arity(Op op);

using Value = std::int32_t;  ///< index into Kernel::nodes
constexpr Value kNone = -1;

/// What a load reads: word `component + trip * stride + round * leap` of field `leaf`, in frame `slot` (0 = the site itself);
/// further on by the i32 that argument number `shifted_by` holds, if there is one (-1: none). A field may keep in the site's group what
/// is in the group that a slot leads to, lanes as they are there: then `frame` is that slot, where it is stored and where it is loaded
/// (-1: `slot`).
struct Place {
  std::int16_t leaf = 0, slot = 0, component = 0, stride = 0, leap = 0, shifted_by = -1, frame = -1;
  bool operator==(const Place&) const = default;
};
/// The slot whose frame the word belongs to.
constexpr int frame_of(const Place& p) { return p.frame >= 0 ? p.frame : p.slot; }

struct Node {
  Op op{};
  Type type{};
  Value a = kNone, b = kNone, c = kNone;
  /// constant: `real` for floats, `integer` otherwise (b1: 0 or 1). argument: `integer` = number of the scalar.
  /// permute: `integer` = slot, `ancestor` = the one whose frame the value is carried to (-1: the parent). load: `place`.
  double real = 0;
  std::int64_t integer = 0;
  Place place{};
  std::int16_t ancestor = -1;
  bool operator==(const Node&) const = default;
};

/// A field operand.
struct Leaf {
  Type word{};
  std::int16_t components = 1;
  bool read = false, written = false;
  bool host_order = false;  ///< words lie [position][component], as on the host; kernels of one thread per site only
  bool operator==(const Leaf&) const = default;
};

/// A frame. Slot 0 is the site. Structured: the neighbours of a group are a group, with lanes exchanged
/// where the neighbourhood leaves a sub-lattice; table[g] = 2 * neighbour_group + wraps. Gathered: table[p] is the
/// neighbour's position, p = group * lanes + lane; loads gather and `permute` does nothing. A structured slot has a
/// structured parent (or the site).
struct Slot {
  std::int16_t parent = -1;
  bool gathered = false;
  LaneExchange exchange = {};
  bool operator==(const Slot&) const = default;
};

struct Store {
  Place place;  // slot 0; the value is of the site's frame, or of place.frame
  Value value = kNone;
};

/// One global reduction: the result is over all sites of the domain, in f64. Sums are exact in order (see sum.hpp).
struct Reduction {
  enum class Kind : std::uint8_t { sum, max, min } kind = Kind::sum;
  Value value = kNone;  // type f64
};

struct Kernel {
  std::string name;         ///< for people: logs, dumps, profile; not part of the hash
  std::vector<Node> nodes;  ///< operands precede their users
  std::vector<Leaf> leaves;
  std::vector<Type> arguments;  ///< scalars, passed by value
  std::vector<Slot> slots{Slot{}};
  std::vector<Store> stores;
  std::vector<Reduction> reductions;
  int lanes = 16;       ///< sites per group
  int trips = 1;        ///< the program runs `trips` times per group, for place.stride,
  int rounds = 1;       ///< and all trips `rounds` times, for place.leap
  bool listed = false;  ///< domain: a list of groups with lane masks, otherwise a range of whole groups
};

/// Text form, one line per node; a complete description (two kernels print alike iff they compute alike, name aside).
std::string print(const Kernel& kernel);
Hash128 hash(const Kernel& kernel);
/// Throws InternalError if operands, types, slots or leaves do not fit together.
void verify(const Kernel& kernel);

/// Runs a kernel of slot 0 for one site on host memory. `fields[leaf]` points to the site's components in host order
/// (words of Leaf::word, b1 as one byte); reductions are written to `results`.
void interpret(const Kernel& kernel, void* const* fields, const std::uint64_t* scalars, double* results = nullptr);

}  // namespace jit::ir
