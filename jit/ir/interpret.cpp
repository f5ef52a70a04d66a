// The kernel IR for one site, one node after the other: host arithmetic on scalars, and the reference for the
// compilers.
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "jit/ir/ir.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/trips.hpp"
#include "jit/ir/words.hpp"
#include "jit/support/error.hpp"

namespace jit::ir {

void not_an_operation(Op op, const char* on) {
  throw InternalError({.what = std::string("interpret ") + name(op), .expected = std::string("an operation on ") + on});
}

namespace {

/// A value: its bits in the low bytes, the rest zero. b1: 0 or 1.
using Word = std::uint64_t;

template <class T>
T get(Word w) {
  T x;
  std::memcpy(&x, &w, sizeof x);
  return x;
}

template <class T>
Word put(T x) {
  Word w = 0;
  std::memcpy(&w, &x, sizeof x);
  return w;
}

Word evaluate(const Kernel& kernel, const Node& n, const Word* values) {
  const Word a = n.a == kNone ? 0 : values[n.a], b = n.b == kNone ? 0 : values[n.b], c = n.c == kNone ? 0 : values[n.c];
  switch (n.op) {
    case Op::select:
      return get<bool>(a) ? b : c;
    case Op::permute:
      return a;
    case Op::lt:
    case Op::le:
    case Op::eq:
    case Op::ne:
      return with_type(kernel.nodes[std::size_t(n.a)].type,
                       [&](auto t) { return put(compare(n.op, get<decltype(t)>(a), get<decltype(t)>(b))); });
    case Op::convert:
      return with_type(kernel.nodes[std::size_t(n.a)].type, [&](auto from) {
        return with_type(n.type, [&](auto to) { return put(convert<decltype(to)>(get<decltype(from)>(a))); });
      });
    case Op::bitcast:
      return a;
    default:
      break;
  }
  switch (n.type) {
    case Type::b1:
      return put(logical(n.op, get<bool>(a), get<bool>(b)));
    case Type::i32:
      return put(integer(n.op, get<std::int32_t>(a), get<std::int32_t>(b)));
    case Type::i64:
      return put(integer(n.op, get<std::int64_t>(a), get<std::int64_t>(b)));
    case Type::f32:
      return put(floating(n.op, get<float>(a), get<float>(b), get<float>(c)));
    case Type::f64:
      return put(floating(n.op, get<double>(a), get<double>(b), get<double>(c)));
  }
  return 0;
}

}  // namespace

std::uint64_t bits_of_constant(const Node& n) {
  switch (n.type) {
    case Type::b1:
      return put(n.integer != 0);
    case Type::i32:
      return put(static_cast<std::int32_t>(n.integer));
    case Type::i64:
      return put(n.integer);
    case Type::f32:
      return put(static_cast<float>(n.real));
    case Type::f64:
      return put(n.real);
  }
  return 0;
}

void interpret(const Kernel& kernel, void* const* fields, const std::uint64_t* scalars, double* results) {
  constexpr std::size_t kOnStack = 512;
  Word small[kOnStack];
  std::unique_ptr<Word[]> large;
  if (kernel.nodes.size() > kOnStack) large = std::make_unique<Word[]>(kernel.nodes.size());
  Word* const values = large ? large.get() : small;

  for (std::size_t r = 0; r < kernel.reductions.size(); ++r) {
    const auto kind = kernel.reductions[r].kind;
    const double infinity = std::numeric_limits<double>::infinity();
    results[r] = kind == Reduction::Kind::sum ? 0.0 : kind == Reduction::Kind::max ? -infinity : infinity;
  }
  for (int run = 0; run < runs(kernel); ++run) {
    const int trip = run % kernel.trips, round = run / kernel.trips;
    const auto address = [&](const Place& p) {
      const std::size_t size = std::size_t(bytes(kernel.leaves[std::size_t(p.leaf)].word));
      const int moved = p.shifted_by < 0 ? 0 : get<std::int32_t>(scalars[p.shifted_by]);
      return static_cast<char*>(fields[p.leaf]) + std::size_t(component_in(p, trip, round) + moved) * size;
    };
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      const Node& n = kernel.nodes[i];
      Word& w = values[i];
      w = 0;
      switch (n.op) {
        case Op::constant:
          w = bits_of_constant(n);
          break;
        case Op::argument:
          std::memcpy(&w, &scalars[n.integer], std::size_t(bytes(n.type)));
          break;
        case Op::load:
          std::memcpy(&w, address(n.place), std::size_t(bytes(n.type)));
          break;
        default:
          w = evaluate(kernel, n, values);
      }
      if (n.type == Type::b1) w = w != 0;
    }
    for (const Store& s : kernel.stores)
      std::memcpy(address(s.place), &values[s.value], std::size_t(bytes(kernel.nodes[std::size_t(s.value)].type)));
    for (std::size_t r = 0; r < kernel.reductions.size(); ++r) {
      const double x = get<double>(values[kernel.reductions[r].value]);
      double& result = results[r];
      switch (kernel.reductions[r].kind) {
        case Reduction::Kind::sum:
          result += x;
          break;
        case Reduction::Kind::max:
          result = x > result ? x : result;
          break;
        case Reduction::Kind::min:
          result = x < result ? x : result;
          break;
      }
    }
  }
}

}  // namespace jit::ir
