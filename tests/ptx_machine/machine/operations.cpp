// The operations on registers, by their names in PTX; each runs on the 32 lanes of a warp at once. A name that is not
// here is refused when a module is loaded. Compiled without contraction: one rounding for each that PTX writes.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "code.hpp"

namespace ptx_machine {
namespace {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

/// How a register of type T lies in its row: small integers in 4 bytes.
template <class T>
using Stored = std::conditional_t<sizeof(T) == 8, u64, u32>;
template <class T>
T from(Stored<T> bits) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(bits);
  else
    return static_cast<T>(bits);
}
template <class T>
Stored<T> to(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<Stored<T>>(value);
  else
    return static_cast<Stored<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class S>
void blend(S* to, const S* from, u32 mask) {
  for (int l = 0; l < kWarp; ++l) to[l] = (mask >> l & 1) != 0 ? from[l] : to[l];
}

template <class F, class R, class... A>
struct Lanes {
  template <std::size_t... I>
  static void run(char* rows, const char* constants, const Instruction& i, u32 mask, std::index_sequence<I...>) {
    auto* d = reinterpret_cast<Stored<R>*>(rows + i.o[0]);
    const auto args = std::make_tuple(reinterpret_cast<const Stored<A>*>(operand(rows, constants, i.o[I + 1]))...);
    if (mask == kAllLanes) {
#pragma GCC ivdep
      for (int l = 0; l < kWarp; ++l) d[l] = to<R>(F{}(from<A>(std::get<I>(args)[l])...));
    } else {
      alignas(64) Stored<R> all[kWarp];
      for (int l = 0; l < kWarp; ++l) all[l] = to<R>(F{}(from<A>(std::get<I>(args)[l])...));
      blend(d, all, mask);
    }
  }
  static void operation(char* rows, const char* constants, const Instruction& i, u32 mask) {
    run(rows, constants, i, mask, std::index_sequence_for<A...>{});
  }
};

template <int Mode, class F, class R, class... A>
struct Rounded {
  static void operation(char* rows, const char* constants, const Instruction& i, u32 mask) {
    std::fesetround(Mode);
    Lanes<F, R, A...>::operation(rows, constants, i, mask);
    std::fesetround(FE_TONEAREST);
  }
};

using Table = std::unordered_map<std::string, OperationInfo>;
template <class T>
constexpr int kWidth = static_cast<int>(sizeof(Stored<T>));

template <class R, class... A, class F>
void add(Table& table, const std::string& name, F) {
  table[name] = {&Lanes<F, R, A...>::operation, {kWidth<R>, kWidth<A>...}};
}
/// name with .rn, .rz, .rm, .rp.
template <class R, class... A, class F>
void add_rounded(Table& table, const std::string& op, const std::string& type, F) {
  const std::vector<int> widths{kWidth<R>, kWidth<A>...};
  table[op + ".rn" + type] = {&Lanes<F, R, A...>::operation, widths};
  table[op + ".rz" + type] = {&Rounded<FE_TOWARDZERO, F, R, A...>::operation, widths};
  table[op + ".rm" + type] = {&Rounded<FE_DOWNWARD, F, R, A...>::operation, widths};
  table[op + ".rp" + type] = {&Rounded<FE_UPWARD, F, R, A...>::operation, widths};
}

template <class T>
struct Name;
#define TYPE_NAME(T)                                                                                                   \
  template <>                                                                                                          \
  struct Name<T> {                                                                                                     \
    static constexpr const char* text = "." #T;                                                                        \
  };
TYPE_NAME(u8)
TYPE_NAME(s8)
TYPE_NAME(u16)
TYPE_NAME(s16)
TYPE_NAME(u32)
TYPE_NAME(s32)
TYPE_NAME(u64)
TYPE_NAME(s64)
TYPE_NAME(f32)
TYPE_NAME(f64)
#undef TYPE_NAME
template <class T>
std::string name() {
  return Name<T>::text;
}
template <class T>
constexpr int kBits = 8 * static_cast<int>(sizeof(T));

/// High half of a product.
template <class T>
T high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, s64, u64>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> kBits<T>);
  }
}
/// Without the undefined behaviour of C++: arithmetic of PTX wraps around.
template <class T, class F>
T wrap(T a, T b, F f) {
  using U = std::conditional_t<(sizeof(T) < 4), u32, std::make_unsigned_t<T>>;
  return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
}
template <class T>
T sum(T a, T b) {
  return wrap(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
T difference(T a, T b) {
  return wrap(a, b, [](auto x, auto y) { return x - y; });
}
template <class T>
T product(T a, T b) {
  return wrap(a, b, [](auto x, auto y) { return x * y; });
}

template <class T>
void add_integers(Table& t) {
  const std::string n = name<T>();
  add<T, T, T>(t, "add" + n, [](T a, T b) { return sum(a, b); });
  add<T, T, T>(t, "sub" + n, [](T a, T b) { return difference(a, b); });
  add<T, T, T>(t, "mul.lo" + n, [](T a, T b) { return product(a, b); });
  add<T, T, T>(t, "mul.hi" + n, [](T a, T b) { return high(a, b); });
  add<T, T, T, T>(t, "mad.lo" + n, [](T a, T b, T c) { return sum(product(a, b), c); });
  add<T, T, T, T>(t, "mad.hi" + n, [](T a, T b, T c) { return sum(high(a, b), c); });
  add<T, T, T>(t, "min" + n, [](T a, T b) { return b < a ? b : a; });
  add<T, T, T>(t, "max" + n, [](T a, T b) { return a < b ? b : a; });
  // Counts of shifts above the width are the width.
  add<T, T, u32>(t, "shr" + n, [](T a, u32 n) {
    if (n >= kBits<T>) return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
    return static_cast<T>(a >> n);
  });
  if constexpr (std::is_signed_v<T>) {
    add<T, T>(t, "neg" + n, [](T a) { return difference(T{0}, a); });
    add<T, T>(t, "abs" + n, [](T a) { return a < 0 ? difference(T{0}, a) : a; });
  }
  if constexpr (sizeof(T) >= 4) {
    add<T, T, u32, u32>(t, "bfe" + n, [](T a, u32 p, u32 l) {
      const int position = p & 255, length = l & 255, top = kBits<T> - 1;
      const auto bit = [&](int k) { return static_cast<u64>(a) >> k & 1; };
      const bool sign = std::is_signed_v<T> && length != 0 && bit(std::min(position + length - 1, top)) != 0;
      std::make_unsigned_t<T> d = 0;
      for (int k = 0; k <= top; ++k) {
        const bool inside = k < length && position + k <= top;
        if (inside ? bit(position + k) != 0 : sign) d |= std::make_unsigned_t<T>{1} << k;
      }
      return static_cast<T>(d);
    });
    add<u32, T>(t, "bfind" + n, [](T a) {
      auto v = static_cast<std::make_unsigned_t<T>>(a);
      if (std::is_signed_v<T> && a < 0) v = ~v;
      return v == 0 ? ~u32{0} : static_cast<u32>(kBits<T> - 1 - std::countl_zero(v));
    });
  }
  if constexpr (sizeof(T) <= 4) {
    using W = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                                 std::conditional_t<std::is_signed_v<T>, s64, u64>>;
    add<W, T, T>(t, "mul.wide" + n, [](T a, T b) { return product<W>(a, b); });
    add<W, T, T, W>(t, "mad.wide" + n, [](T a, T b, W c) { return sum(product<W>(a, b), c); });
  }
}

template <class T>
void add_bits(Table& t, const std::string& n) {
  add<T, T, T>(t, "and" + n, [](T a, T b) { return static_cast<T>(a & b); });
  add<T, T, T>(t, "or" + n, [](T a, T b) { return static_cast<T>(a | b); });
  add<T, T, T>(t, "xor" + n, [](T a, T b) { return static_cast<T>(a ^ b); });
  add<T, T>(t, "not" + n, [](T a) { return static_cast<T>(~a); });
  add<T, T>(t, "cnot" + n, [](T a) { return static_cast<T>(a == 0); });
  add<T, T, u32>(t, "shl" + n, [](T a, u32 n) { return static_cast<T>(n >= kBits<T> ? 0 : a << n); });
  add<T, T, u32>(t, "shr" + n, [](T a, u32 n) { return static_cast<T>(n >= kBits<T> ? 0 : a >> n); });
  if constexpr (sizeof(T) >= 4) {
    add<u32, T>(t, "popc" + n, [](T a) { return static_cast<u32>(std::popcount(a)); });
    add<u32, T>(t, "clz" + n, [](T a) { return static_cast<u32>(std::countl_zero(a)); });
    add<T, T>(t, "brev" + n, [](T a) {
      T d = 0;
      for (int k = 0; k < kBits<T>; ++k) d = static_cast<T>(d << 1 | (a >> k & 1));
      return d;
    });
    add<T, T, T, u32, u32>(t, "bfi" + n, [](T a, T b, u32 p, u32 l) {
      T d = b;
      for (u32 k = 0; k < (l & 255) && (p & 255) + k < kBits<T>; ++k) {
        const T bit = T{1} << ((p & 255) + k);
        d = (a >> k & 1) != 0 ? d | bit : d & ~bit;
      }
      return d;
    });
  }
}

/// Predicates are masks of all lanes.
template <class F>
void predicates(char* rows, const char* constants, const Instruction& i, u32 mask) {
  const auto in = [&](int k) {
    u32 v = 0;
    if (i.o[k] != kNothing) std::memcpy(&v, operand(rows, constants, i.o[k]), 4);
    return v;
  };
  auto* d = reinterpret_cast<u32*>(rows + i.o[0]);
  *d = (*d & ~mask) | (F{}(in(1), in(2)) & mask);
}
template <class F>
void add_predicates(Table& t, const std::string& name, int count, F) {
  t[name] = {&predicates<F>, std::vector<int>(static_cast<std::size_t>(count) + 1, 1)};
}

template <class S>
void select(char* rows, const char* constants, const Instruction& i, u32 mask) {
  auto* d = reinterpret_cast<S*>(rows + i.o[0]);
  const auto* a = reinterpret_cast<const S*>(operand(rows, constants, i.o[1]));
  const auto* b = reinterpret_cast<const S*>(operand(rows, constants, i.o[2]));
  u32 p;
  std::memcpy(&p, operand(rows, constants, i.o[3]), 4);
  for (int l = 0; l < kWarp; ++l) {
    const S value = (p >> l & 1) != 0 ? a[l] : b[l];
    d[l] = (mask >> l & 1) != 0 ? value : d[l];
  }
}

/// With the carry flag (row 0): F(a, b, c, carry) returns a value with a carry bit above the width.
template <class T, bool In, bool Out, class F>
void carrying(char* rows, const char* constants, const Instruction& i, u32 mask) {
  u32& flags = *reinterpret_cast<u32*>(rows);
  auto* d = reinterpret_cast<T*>(rows + i.o[0]);
  const auto row = [&](int k) { return reinterpret_cast<const T*>(operand(rows, constants, i.o[k])); };
  const T *a = row(1), *b = row(2), *c = i.o[3] == kNothing ? b : row(3);
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) == 0) continue;
    const unsigned __int128 value = F{}(a[l], b[l], c[l], In ? flags >> l & 1 : 0u);
    if (Out) flags = (flags & ~(1u << l)) | static_cast<u32>(value >> kBits<T> & 1) << l;
    d[l] = static_cast<T>(value);
  }
}
template <class T, class F>
void add_carrying(Table& t, const std::string& op, const std::string& mode, const std::string& type, int count, F) {
  const std::vector<int> widths(static_cast<std::size_t>(count) + 1, kWidth<T>);
  t[op + mode + ".cc" + type] = {&carrying<T, false, true, F>, widths};
  t[op + "c" + mode + type] = {&carrying<T, true, false, F>, widths};
  t[op + "c" + mode + ".cc" + type] = {&carrying<T, true, true, F>, widths};
}

template <class T>
T minimum(T a, T b) {  // of a number and NaN: the number; -0 is below +0
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
f32 flushed(f32 a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
f32 saturated(f32 a) { return std::isnan(a) ? 0.0f : a < 0 ? 0.0f : a > 1 ? 1.0f : a; }
/// The gross approximations of 64 bits: nothing below the upper word.
f64 upper_word(f64 a) { return std::bit_cast<f64>(std::bit_cast<u64>(a) & 0xFFFFFFFF00000000ull); }

template <class T>
void add_floats(Table& t) {
  const std::string n = name<T>();
  using Bits = Stored<T>;
  constexpr Bits kSign = Bits{1} << (kBits<T> - 1);
  const auto sum = [](T a, T b) { return a + b; };
  const auto difference = [](T a, T b) { return a - b; };
  const auto product = [](T a, T b) { return a * b; };
  const auto fused = [](T a, T b, T c) { return std::fma(a, b, c); };
  add<T, T, T>(t, "add" + n, sum);
  add<T, T, T>(t, "sub" + n, difference);
  add<T, T, T>(t, "mul" + n, product);
  add_rounded<T, T, T>(t, "add", n, sum);
  add_rounded<T, T, T>(t, "sub", n, difference);
  add_rounded<T, T, T>(t, "mul", n, product);
  add_rounded<T, T, T, T>(t, "fma", n, fused);
  add_rounded<T, T, T, T>(t, "mad", n, fused);
  add_rounded<T, T, T>(t, "div", n, [](T a, T b) { return a / b; });
  add_rounded<T, T>(t, "rcp", n, [](T a) { return T{1} / a; });
  add_rounded<T, T>(t, "sqrt", n, [](T a) { return std::sqrt(a); });
  // neg and abs on the bits, so that NaNs keep theirs
  add<Bits, Bits>(t, "neg" + n, [](Bits a) { return a ^ kSign; });
  add<Bits, Bits>(t, "abs" + n, [](Bits a) { return a & ~kSign; });
  add<Bits, Bits, Bits>(t, "copysign" + n, [](Bits a, Bits b) { return (a & kSign) | (b & ~kSign); });
  add<T, T, T>(t, "min" + n, [](T a, T b) { return minimum(a, b); });
  add<T, T, T>(t, "max" + n, [](T a, T b) { return maximum(a, b); });
  for (const char* how : {".rni", ".rzi", ".rmi", ".rpi"}) {
    const std::string op = std::string("cvt") + how + n + n;
    if (how[2] == 'n') add<T, T>(t, op, [](T a) { return std::nearbyint(a); });
    if (how[2] == 'z') add<T, T>(t, op, [](T a) { return std::trunc(a); });
    if (how[2] == 'm') add<T, T>(t, op, [](T a) { return std::floor(a); });
    if (how[2] == 'p') add<T, T>(t, op, [](T a) { return std::ceil(a); });
  }
  add<T, T>(t, "cvt" + n + n, [](T a) { return a; });
}

/// Single precision with subnormals flushed to zero, and the approximations (here better than they need be).
void add_single(Table& t) {
  const auto both = [&t]<class F>(const std::string& op, F) {
    add<f32, f32>(t, op + ".f32", F{});
    add<f32, f32>(t, op + ".ftz.f32", [](f32 a) { return flushed(F{}(flushed(a))); });
  };
  both("rcp.approx", [](f32 a) { return 1 / a; });
  both("sqrt.approx", [](f32 a) { return std::sqrt(a); });
  both("rsqrt.approx", [](f32 a) { return static_cast<f32>(1 / std::sqrt(static_cast<f64>(a))); });
  both("ex2.approx", [](f32 a) { return static_cast<f32>(std::exp2(static_cast<f64>(a))); });
  both("lg2.approx", [](f32 a) { return static_cast<f32>(std::log2(static_cast<f64>(a))); });
  both("sin.approx", [](f32 a) { return static_cast<f32>(std::sin(static_cast<f64>(a))); });
  both("cos.approx", [](f32 a) { return static_cast<f32>(std::cos(static_cast<f64>(a))); });
  both("tanh.approx", [](f32 a) { return static_cast<f32>(std::tanh(static_cast<f64>(a))); });
  both("rcp.rn", [](f32 a) { return 1 / a; });
  both("sqrt.rn", [](f32 a) { return std::sqrt(a); });
  both("neg", [](f32 a) { return -a; });
  both("abs", [](f32 a) { return std::fabs(a); });
  const auto two = [&t]<class F>(const std::string& op, F) {
    add<f32, f32, f32>(t, op + ".f32", F{});
    add<f32, f32, f32>(t, op + ".ftz.f32", [](f32 a, f32 b) { return flushed(F{}(flushed(a), flushed(b))); });
    add<f32, f32, f32>(t, op + ".sat.f32", [](f32 a, f32 b) { return saturated(F{}(a, b)); });
    add<f32, f32, f32>(t, op + ".ftz.sat.f32", [](f32 a, f32 b) { return saturated(F{}(flushed(a), flushed(b))); });
  };
  two("div.approx", [](f32 a, f32 b) { return a / b; });
  two("div.full", [](f32 a, f32 b) { return a / b; });
  two("div.rn", [](f32 a, f32 b) { return a / b; });
  for (const char* rounding : {"", ".rn"}) {
    two(std::string("add") + rounding, [](f32 a, f32 b) { return a + b; });
    two(std::string("sub") + rounding, [](f32 a, f32 b) { return a - b; });
    two(std::string("mul") + rounding, [](f32 a, f32 b) { return a * b; });
  }
  two("min", [](f32 a, f32 b) { return minimum(a, b); });
  two("max", [](f32 a, f32 b) { return maximum(a, b); });
  for (const char* op : {"fma", "mad"}) {
    const std::string n = op + std::string(".rn");
    add<f32, f32, f32, f32>(t, n + ".ftz.f32",
                            [](f32 a, f32 b, f32 c) { return flushed(std::fma(flushed(a), flushed(b), flushed(c))); });
    add<f32, f32, f32, f32>(t, n + ".sat.f32", [](f32 a, f32 b, f32 c) { return saturated(std::fma(a, b, c)); });
    add<f32, f32, f32, f32>(t, n + ".ftz.sat.f32", [](f32 a, f32 b, f32 c) {
      return saturated(std::fma(flushed(a), flushed(b), flushed(c)));
    });
  }
  add<f32, f32>(t, "cvt.sat.f32.f32", [](f32 a) { return saturated(a); });
  add<f32, f32>(t, "cvt.ftz.f32.f32", [](f32 a) { return flushed(a); });
}

template <class D, class S>
void add_integer_conversion(Table& t) {
  const std::string n = name<D>() + name<S>();
  add<D, S>(t, "cvt" + n, [](S a) { return static_cast<D>(a); });
  add<D, S>(t, "cvt.sat" + n, [](S a) {
    const __int128 v = a, low = std::numeric_limits<D>::min(), top = std::numeric_limits<D>::max();
    return static_cast<D>(v < low ? low : v > top ? top : v);
  });
  // From a register of 64 bits, of which only the lowest count.
  if constexpr (sizeof(S) < 8)
    add<D, u64>(t, "cvt" + n + "@8", [](u64 a) { return static_cast<D>(static_cast<S>(a)); });
}
template <class D, class S>
D to_integer(S rounded) {
  if (std::isnan(rounded)) {
    if constexpr (sizeof(S) == 8 || sizeof(D) == 8)
      return static_cast<D>(std::make_unsigned_t<D>{1} << (kBits<D> - 1));
    else
      return 0;
  }
  const S low = static_cast<S>(std::numeric_limits<D>::min());
  const S end = std::ldexp(S{1}, std::is_signed_v<D> ? kBits<D> - 1 : kBits<D>);
  if (rounded < low) return std::numeric_limits<D>::min();
  if (rounded >= end) return std::numeric_limits<D>::max();
  return static_cast<D>(rounded);
}
template <class I, class F>
void add_float_conversion(Table& t) {
  add_rounded<F, I>(t, "cvt", name<F>() + name<I>(), [](I a) { return static_cast<F>(a); });
  for (const char* ftz : {"", ".ftz", ".sat", ".ftz.sat"}) {  // integers are clamped in any case
    if (sizeof(F) == 8 && std::strstr(ftz, "ftz") != nullptr) continue;
    const std::string n = ftz + name<I>() + name<F>();
    add<I, F>(t, "cvt.rni" + n, [](F a) { return to_integer<I>(std::nearbyint(a)); });
    add<I, F>(t, "cvt.rzi" + n, [](F a) { return to_integer<I>(std::trunc(a)); });
    add<I, F>(t, "cvt.rmi" + n, [](F a) { return to_integer<I>(std::floor(a)); });
    add<I, F>(t, "cvt.rpi" + n, [](F a) { return to_integer<I>(std::ceil(a)); });
  }
}
template <class D>
void add_conversions(Table& t) {
  [&]<class... S>(std::type_identity<std::tuple<S...>>) {
    (add_integer_conversion<D, S>(t), ...);
  }(std::type_identity<std::tuple<u8, s8, u16, s16, u32, s32, u64, s64>>{});
  add_float_conversion<D, f32>(t);
  add_float_conversion<D, f64>(t);
}

Table make_table() {
  Table t;
  add_integers<u16>(t), add_integers<s16>(t), add_integers<u32>(t), add_integers<s32>(t), add_integers<u64>(t),
      add_integers<s64>(t);
  add_bits<u16>(t, ".b16"), add_bits<u32>(t, ".b32"), add_bits<u64>(t, ".b64");
  add_floats<f32>(t), add_floats<f64>(t);
  add_single(t);
  add_conversions<u8>(t), add_conversions<s8>(t), add_conversions<u16>(t), add_conversions<s16>(t);
  add_conversions<u32>(t), add_conversions<s32>(t), add_conversions<u64>(t), add_conversions<s64>(t);
  add<f64, f32>(t, "cvt.f64.f32", [](f32 a) { return static_cast<f64>(a); });
  add<f64, f32>(t, "cvt.ftz.f64.f32", [](f32 a) { return static_cast<f64>(flushed(a)); });
  add_rounded<f32, f64>(t, "cvt", ".f32.f64", [](f64 a) { return static_cast<f32>(a); });
  add<f32, f64>(t, "cvt.rn.ftz.f32.f64", [](f64 a) { return flushed(static_cast<f32>(a)); });

  add<f64, f64>(t, "rcp.approx.ftz.f64", [](f64 a) { return upper_word(1 / a); });
  add<f64, f64>(t, "rsqrt.approx.ftz.f64", [](f64 a) { return upper_word(1 / std::sqrt(a)); });
  add<f64, f64>(t, "rsqrt.approx.f64", [](f64 a) { return 1 / std::sqrt(a); });

  for (const char* n : {".b16", ".u16", ".s16", ".b32", ".u32", ".s32", ".f32"}) {
    add<u32, u32>(t, std::string("mov") + n, [](u32 a) { return a; });
    t[std::string("selp") + n] = {&select<u32>, {4, 4, 4, 1}};
  }
  for (const char* n : {".b64", ".u64", ".s64", ".f64"}) {
    add<u64, u64>(t, std::string("mov") + n, [](u64 a) { return a; });
    t[std::string("selp") + n] = {&select<u64>, {8, 8, 8, 1}};
  }
  add_predicates(t, "mov.pred", 1, [](u32 a, u32) { return a; });
  add_predicates(t, "not.pred", 1, [](u32 a, u32) { return ~a; });
  add_predicates(t, "and.pred", 2, [](u32 a, u32 b) { return a & b; });
  add_predicates(t, "or.pred", 2, [](u32 a, u32 b) { return a | b; });
  add_predicates(t, "xor.pred", 2, [](u32 a, u32 b) { return a ^ b; });

  // Packing and taking apart: our names, for mov with braces.
  add<u64, u32, u32>(t, "pack.b64.2", [](u32 a, u32 b) { return u64{b} << 32 | a; });
  add<u32, u16, u16>(t, "pack.b32.2", [](u16 a, u16 b) { return u32{b} << 16 | a; });
  add<u64, u16, u16, u16, u16>(
      t, "pack.b64.4", [](u16 a, u16 b, u16 c, u16 d) { return u64{d} << 48 | u64{c} << 32 | u64{b} << 16 | a; });
  add<u32, u64>(t, "part.b64.2.0", [](u64 a) { return static_cast<u32>(a); });
  add<u32, u64>(t, "part.b64.2.1", [](u64 a) { return static_cast<u32>(a >> 32); });
  add<u16, u32>(t, "part.b32.2.0", [](u32 a) { return static_cast<u16>(a); });
  add<u16, u32>(t, "part.b32.2.1", [](u32 a) { return static_cast<u16>(a >> 16); });
  add<u16, u64>(t, "part.b64.4.0", [](u64 a) { return static_cast<u16>(a); });
  add<u16, u64>(t, "part.b64.4.1", [](u64 a) { return static_cast<u16>(a >> 16); });
  add<u16, u64>(t, "part.b64.4.2", [](u64 a) { return static_cast<u16>(a >> 32); });
  add<u16, u64>(t, "part.b64.4.3", [](u64 a) { return static_cast<u16>(a >> 48); });
  add<u64, u64>(t, "generic.shared", [](u64 a) { return a + kSharedWindow; });
  add<u64, u64>(t, "generic.local", [](u64 a) { return a + kLocalWindow; });
  add<u64, u64>(t, "from_generic.shared", [](u64 a) { return a - kSharedWindow; });
  add<u64, u64>(t, "from_generic.local", [](u64 a) { return a - kLocalWindow; });

  add<u32, u32, u32, u32>(t, "shf.l.wrap.b32",
                          [](u32 a, u32 b, u32 c) { return static_cast<u32>(((u64{b} << 32 | a) << (c & 31)) >> 32); });
  add<u32, u32, u32, u32>(t, "shf.r.wrap.b32",
                          [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) >> (c & 31)); });
  add<u32, u32, u32, u32>(t, "shf.l.clamp.b32", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>(((u64{b} << 32 | a) << std::min(c, 32u)) >> 32);
  });
  add<u32, u32, u32, u32>(t, "shf.r.clamp.b32",
                          [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) >> std::min(c, 32u)); });
  add<u32, u32, u32, u32, u32>(t, "lop3.b32", [](u32 a, u32 b, u32 c, u32 table) {
    u32 d = 0;
    for (int k = 0; k < 32; ++k) d |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
    return d;
  });
  add<u32, u32, u32, u32>(t, "prmt.b32", [](u32 a, u32 b, u32 selector) {
    const u64 both = u64{b} << 32 | a;
    u32 d = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 which = selector >> (4 * k) & 15;
      u32 byte = static_cast<u32>(both >> (8 * (which & 7)) & 255);
      if ((which & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      d |= byte << (8 * k);
    }
    return d;
  });

  const auto carrying_integers = [&t]<class T>(T, const std::string& type) {
    using Wide = unsigned __int128;
    add_carrying<T>(t, "add", "", type, 2, [](T a, T b, T, u32 in) { return Wide{a} + b + in; });
    add_carrying<T>(t, "sub", "", type, 2, [](T a, T b, T, u32 in) { return Wide{a} - b - in; });
    add_carrying<T>(t, "mad", ".lo", type, 3,
                    [](T a, T b, T c, u32 in) { return Wide{static_cast<T>(a * b)} + c + in; });
    add_carrying<T>(t, "mad", ".hi", type, 3, [](T a, T b, T c, u32 in) { return Wide{high<T>(a, b)} + c + in; });
  };
  for (const char* type : {".u32", ".s32", ".b32"}) carrying_integers(u32{}, type);
  for (const char* type : {".u64", ".s64", ".b64"}) carrying_integers(u64{}, type);
  for (const char* hi :
       {"mad.hi.cc.s32", "madc.hi.s32", "madc.hi.cc.s32", "mad.hi.cc.s64", "madc.hi.s64", "madc.hi.cc.s64"})
    t.erase(hi);  // their high halves are another number
  return t;
}

template <class T, class F>
void compare(char* rows, const char* constants, const Instruction& i, u32 mask) {
  const auto* a = reinterpret_cast<const Stored<T>*>(operand(rows, constants, i.o[2]));
  const auto* b = reinterpret_cast<const Stored<T>*>(operand(rows, constants, i.o[3]));
  alignas(64) u32 bit[kWarp];
#pragma GCC ivdep
  for (int l = 0; l < kWarp; ++l) bit[l] = static_cast<u32>(F{}(from<T>(a[l]), from<T>(b[l]))) << l;
  u32 p = 0;
  for (int l = 0; l < kWarp; ++l) p |= bit[l];
  u32 q = ~p;
  if (i.mode != 0) {
    u32 c;
    std::memcpy(&c, operand(rows, constants, i.o[4]), 4);
    if (i.not_c) c = ~c;
    p = i.mode == 1 ? p & c : i.mode == 2 ? p | c : p ^ c;
    q = i.mode == 1 ? q & c : i.mode == 2 ? q | c : q ^ c;
  }
  const auto put = [&](int where, u32 value) {
    if (where == kNothing) return;
    auto* d = reinterpret_cast<u32*>(rows + where);
    *d = (*d & ~mask) | (value & mask);
  };
  put(i.o[0], p);
  put(i.o[1], q);
}

using Comparisons = std::unordered_map<std::string, Operation>;
template <class T>
void add_comparisons(Comparisons& t, const std::string& n) {
  const auto add = [&t, &n]<class F>(const char* name, F) { t[name + n] = &compare<T, F>; };
  add("eq", [](T a, T b) { return a == b; });
  add("ne", [](T a, T b) { return std::is_integral_v<T> ? a != b : a < b || a > b; });
  if (n[1] == 'b') return;
  add("lt", [](T a, T b) { return a < b; });
  add("le", [](T a, T b) { return a <= b; });
  add("gt", [](T a, T b) { return a > b; });
  add("ge", [](T a, T b) { return a >= b; });
  if constexpr (std::is_floating_point_v<T>) {
    add("equ", [](T a, T b) { return !(a < b || a > b); });
    add("neu", [](T a, T b) { return a != b; });
    add("ltu", [](T a, T b) { return !(a >= b); });
    add("leu", [](T a, T b) { return !(a > b); });
    add("gtu", [](T a, T b) { return !(a <= b); });
    add("geu", [](T a, T b) { return !(a < b); });
    add("num", [](T a, T b) { return a == a && b == b; });
    add("nan", [](T a, T b) { return a != a || b != b; });
  } else if (std::is_unsigned_v<T>) {
    add("lo", [](T a, T b) { return a < b; });
    add("ls", [](T a, T b) { return a <= b; });
    add("hi", [](T a, T b) { return a > b; });
    add("hs", [](T a, T b) { return a >= b; });
  }
}

}  // namespace

const OperationInfo* find_operation(const std::string& name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

Operation find_comparison(const std::string& comparison, const std::string& type) {
  static const Comparisons table = [] {
    Comparisons t;
    add_comparisons<u16>(t, ".u16"), add_comparisons<s16>(t, ".s16"), add_comparisons<u16>(t, ".b16");
    add_comparisons<u32>(t, ".u32"), add_comparisons<s32>(t, ".s32"), add_comparisons<u32>(t, ".b32");
    add_comparisons<u64>(t, ".u64"), add_comparisons<s64>(t, ".s64"), add_comparisons<u64>(t, ".b64");
    add_comparisons<f32>(t, ".f32"), add_comparisons<f64>(t, ".f64");
    return t;
  }();
  const auto found = table.find(comparison + type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace ptx_machine
