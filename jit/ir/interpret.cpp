// The kernel IR for one site, one node after the other: host arithmetic on scalars, and the reference for the
// compilers.
//
// Meanings that C++ leaves open are fixed here and in the code generators alike: integers wrap; x / 0 = x % 0 = 0;
// shift counts are taken modulo the width and >> keeps the sign; float -> integer truncates and saturates, NaN -> 0;
// min(a, b) = a < b ? a : b and max(a, b) = b < a ? a : b, also for NaN.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "jit/ir/ir.hpp"
#include "jit/ir/trips.hpp"
#include "jit/support/error.hpp"

namespace jit::ir {
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

/// Calls f(T{}) with the C++ type of t.
template <class F>
Word with_type(Type t, F&& f) {
  switch (t) {
    case Type::b1:
      return f(bool{});
    case Type::i32:
      return f(std::int32_t{});
    case Type::i64:
      return f(std::int64_t{});
    case Type::f32:
      return f(float{});
    case Type::f64:
      return f(double{});
  }
  return 0;
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const double limit = -static_cast<double>(std::numeric_limits<To>::min());
    if (x != x) return 0;
    if (x >= limit) return std::numeric_limits<To>::max();
    if (x < -limit) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
T floating(Op op, T a, T b, T c) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::fma:
      return std::fma(a, b, c);
    case Op::neg:
      return -a;
    case Op::abs:
      return std::fabs(a);
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return b < a ? a : b;
    case Op::sqrt:
      return std::sqrt(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::log10:
      return std::log10(a);
    case Op::pow:
      return std::pow(a, b);
    case Op::atan2:
      return std::atan2(a, b);
    case Op::fmod:
      return std::fmod(a, b);
    default:
      break;
  }
  throw InternalError({.what = std::string("interpret ") + name(op), .expected = "an operation on floats"});
}

template <class T>
T integer(Op op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const U count = ub & (8 * sizeof(T) - 1);
  switch (op) {
    case Op::add:
      return static_cast<T>(ua + ub);
    case Op::sub:
      return static_cast<T>(ua - ub);
    case Op::mul:
      return static_cast<T>(ua * ub);
    case Op::div:
      return b == 0 ? 0 : b == -1 ? static_cast<T>(-ua) : a / b;
    case Op::rem:
      return b == 0 || b == -1 ? 0 : a % b;
    case Op::neg:
      return static_cast<T>(-ua);
    case Op::abs:
      return a < 0 ? static_cast<T>(-ua) : a;
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return b < a ? a : b;
    case Op::and_:
      return a & b;
    case Op::or_:
      return a | b;
    case Op::xor_:
      return a ^ b;
    case Op::not_:
      return ~a;
    case Op::shl:
      return static_cast<T>(ua << count);
    case Op::shr:
      return a >> count;
    default:
      break;
  }
  throw InternalError({.what = std::string("interpret ") + name(op), .expected = "an operation on integers"});
}

bool logical(Op op, bool a, bool b) {
  switch (op) {
    case Op::and_:
      return a && b;
    case Op::or_:
      return a || b;
    case Op::xor_:
      return a != b;
    case Op::not_:
      return !a;
    default:
      break;
  }
  throw InternalError({.what = std::string("interpret ") + name(op), .expected = "an operation on truth values"});
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::eq:
      return a == b;
    default:
      return a != b;
  }
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

Word constant(const Node& n) {
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

}  // namespace

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
          w = constant(n);
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
