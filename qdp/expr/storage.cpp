#include "qdp/expr/storage.hpp"

#include <algorithm>

#include "qdp/expr/lower.hpp"

namespace QDP {

const char* name(FieldStorage storage) {
  switch (storage) {
    case FieldStorage::plain:
      return "plain";
    case FieldStorage::two_rows:
      return "two_rows";
    case FieldStorage::two_rows_scaled:
      return "two_rows_scaled";
    case FieldStorage::two_rows_phased:
      return "two_rows_phased";
    case FieldStorage::half:
      return "half";
    case FieldStorage::two_rows_half:
      return "two_rows_half";
    case FieldStorage::two_rows_scaled_half:
      return "two_rows_scaled_half";
    case FieldStorage::two_rows_phased_half:
      return "two_rows_phased_half";
  }
  return "?";
}

namespace detail {

namespace ir = jit::ir;

namespace {

constexpr Shape kLink{.color = {Kind::matrix, 3}, .complex = true};
constexpr int kRows = 2 * 3 * 2;  // words of two rows

int words_of_factor(FieldStorage storage) {
  return storage == FieldStorage::two_rows_scaled ? 1 : storage == FieldStorage::two_rows_phased ? 2 : 0;
}

/// conj(u0 x u1), component c.
Cplx third_row(Algebra& a, const Tensor& u, int c) {
  const auto first = [&](int i) { return u.at(0, i); };
  const auto second = [&](int i) { return u.at(0, 3 + i); };
  const int i = (c + 1) % 3, j = (c + 2) % 3;
  return a.conj(a.madd(first(i), second(j), a.neg(a.mul(first(j), second(i)))));
}

/// What row 2 is of w = conj(u0 x u1): sum_c conj(w_c) u2_c / |w|^2; 1 where w is nought.
Cplx factor_of(Algebra& a, const Tensor& u) {
  const Type word = u.shape.word;
  Cplx overlap;
  Value norm = kZero;
  for (int c = 0; c < 3; ++c) {
    const Cplx w = third_row(a, u, c);
    overlap = a.madd(a.conj(w), u.at(0, 6 + c), overlap);
    norm = a.fma(w.re, w.re, a.fma(w.im, w.im, norm));
  }
  const Value length = a.word(norm, word);
  const Value is_nought = a.b.binary(ir::Op::eq, length, a.b.constant(word, 0));
  const Cplx f = a.div(overlap, {length, kZero}, word);
  return {a.b.select(is_nought, a.b.constant(word, 1), a.word(f.re, word)),
          a.b.select(is_nought, a.b.constant(word, 0), a.word(f.im, word))};
}

// ---- sixteen bits

constexpr int kMostHalfColors = 16;  // of larger matrices kernels take single columns

/// Of the words of a site without their factor, those that halfs are packed in.
int packed_words(int components) { return (components + 1) / 2; }
int components_of_rows(FieldStorage rows, Shape shape) {
  return rows == FieldStorage::plain ? shape.components() : kRows;
}
bool has_scale(FieldStorage storage) { return storage != FieldStorage::two_rows_half; }

/// Arithmetic of floats and of their bits.
struct Halves {
  Algebra& a;

  Value real(double x) const { return a.b.constant(Type::f32, x); }
  Value whole(std::int64_t n) const { return a.b.constant_int(Type::i32, n); }
  Value of(ir::Op op, Value x, Value y) const { return a.b.binary(op, x, y); }
  Value bits(Value x) const { return a.b.bitcast(Type::i32, x); }
  Value number(Value bits) const { return a.b.bitcast(Type::f32, bits); }

  static constexpr double kMost = 32767, kOffset = 32768;
  // Of a float's exponent, as in its bits: sites from kLeast to below kTooLarge have numbers in 16 bits, also 2^23 times as large.
  static constexpr int kMantissa = 23, kBias = 127, kLeast = 15, kTooLarge = kBias + 118;

  /// The bits of q + kOffset end those of a float whose last bit stands for the scale 2^n. It is (2^23 + kOffset + q) 2^n, from which
  /// (2^23 + kOffset) 2^n is subtracted. No conversion, of which GPUs have few units, and no multiplication, of which hopping terms have
  /// enough.
  std::vector<Value> unpack(std::span<const Value> words, int components, Value scale) const {
    const Value exponent = of(ir::Op::add, scale, whole(kMantissa << kMantissa)),  // in the upper half of the word
        upper = of(ir::Op::shl, upper_half(exponent), whole(16)),
                base = a.b.mul(number(scale), real(0x1p23 + kOffset));  // NaN if the site is
    const auto component = [&](Value half) {
      return of(ir::Op::sub, number(of(ir::Op::or_, half, upper)), base);  // exact
    };
    std::vector<Value> x(static_cast<std::size_t>(components));
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const Value word = words[i / 2];
      if (i + 1 < x.size())
        x[i + 1] = component(upper_half(word));  // first: the other one may take the word's register
      x[i] = component(of(ir::Op::and_, word, whole(0xFFFF)));
    }
    return x;
  }
  Value upper_half(Value word) const { return of(ir::Op::and_, of(ir::Op::shr, word, whole(16)), whole(0xFFFF)); }
  /// kOffset + the nearest integer in -32767..32767, which end the bits. NaN: 32767.
  Value rounded(Value x, Value scale) const {
    constexpr double kShift = 0x1p23 + kOffset;
    const Value q = of(ir::Op::min, a.b.fma(x, scale, real(kShift)), real(kShift + kMost));
    return bits(of(ir::Op::max, q, real(kShift - kMost)));
  }
  std::vector<Value> pack(std::span<const Value> x, Value scale) const {
    std::vector<Value> words;
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const Value low = of(ir::Op::and_, rounded(x[i], scale), whole(0xFFFF));
      words.push_back(i + 1 == x.size() ? low
                                        : of(ir::Op::or_, low, of(ir::Op::shl, rounded(x[i + 1], scale), whole(16))));
    }
    return words;
  }

  /// 2^(15-e), by which x are multiplied, and the word of 2^(e-15); of nought: 0 and that of the least scale.
  struct Scale {
    Value up, word;
  };
  Scale scale_of(std::span<const Value> x) const {
    std::vector<Value> most;  // of bits: those of numbers are ordered as these, NaN last
    for (const Value v : x) most.push_back(bits(a.b.unary(ir::Op::abs, v)));
    for (; most.size() > 1; most.resize((most.size() + 1) / 2))
      for (std::size_t i = 0; i < most.size() / 2; ++i) most[i] = of(ir::Op::max, most[i], most[most.size() - 1 - i]);
    const Value exponent = of(ir::Op::shr, most[0], whole(kMantissa));
    const Value is_number = of(ir::Op::lt, exponent, whole(kTooLarge));
    const Value tells = of(ir::Op::and_, is_number, of(ir::Op::le, whole(kLeast), exponent));
    const auto power = [&](Value biased) { return of(ir::Op::shl, biased, whole(kMantissa)); };
    const Value down = power(of(ir::Op::sub, exponent, whole(14))),
                up = power(of(ir::Op::sub, whole(2 * kBias + 14), exponent));
    const Value nan = whole(0x7FC00000);
    return {number(a.b.select(tells, up, whole(0))),
            a.b.select(tells, down, a.b.select(is_number, whole(1 << kMantissa), nan))};
  }
};

}  // namespace

bool can_store(FieldStorage storage, Shape shape) {
  if (storage == FieldStorage::plain) return true;
  if (!is_float(shape.word)) return false;
  if (storage == FieldStorage::half)
    return shape.spin.kind != Kind::matrix && (shape.color.kind != Kind::matrix || shape.color.n <= kMostHalfColors);
  return shape.with_word(kLink.word) == kLink;
}

int stored_words(FieldStorage storage, Shape shape) {
  const FieldStorage rows = without_half(storage);
  const int components = components_of_rows(rows, shape);
  return (is_half(storage) ? packed_words(components) + (has_scale(storage) ? 1 : 0) : components) +
         words_of_factor(rows);
}

Type stored_word(FieldStorage storage, Shape shape) { return is_half(storage) ? Type::i32 : shape.word; }

namespace {

Tensor decode_words(Algebra& a, FieldStorage rows, Shape shape, std::span<const Value> words) {
  Tensor u(shape);
  if (rows == FieldStorage::plain) {
    u.v.assign(words.begin(), words.end());
    return u;
  }
  std::copy_n(words.begin(), kRows, u.v.begin());
  const int count = words_of_factor(rows);
  const Cplx f{count > 0 ? words[kRows] : kZero, count > 1 ? words[kRows + 1] : kZero};
  for (int c = 0; c < 3; ++c) {
    const Cplx w = third_row(a, u, c);
    u.set(0, 6 + c, count > 0 ? a.mul(f, w) : w);
  }
  return u;
}

std::vector<Value> encode_words(Algebra& a, FieldStorage rows, const Tensor& u) {
  std::vector<Value> words = u.v;
  if (rows == FieldStorage::plain) return words;
  words.resize(kRows);
  const int count = words_of_factor(rows);
  if (count == 0) return words;
  const Cplx f = factor_of(a, u);
  words.push_back(a.word(f.re, u.shape.word));
  if (count > 1) words.push_back(a.word(f.im, u.shape.word));
  return words;
}

}  // namespace

Tensor decode(Algebra& a, FieldStorage storage, Shape shape, std::span<const Value> words) {
  if (!is_half(storage)) return decode_words(a, storage, shape, words);
  const FieldStorage rows = without_half(storage);
  const int components = components_of_rows(rows, shape);
  const Halves halves{a};
  auto rest = words.subspan(static_cast<std::size_t>(packed_words(components)));
  Value scale = halves.bits(halves.real(1 / Halves::kOffset));
  if (has_scale(storage)) {
    scale = rest[0];
    rest = rest.subspan(1);
  }
  std::vector<Value> whole = halves.unpack(words, components, scale);
  for (const Value factor : rest) whole.push_back(halves.number(factor));
  for (Value& v : whole) v = a.convert(v, shape.word);
  return decode_words(a, rows, shape, whole);
}

std::vector<Value> encode(Algebra& a, FieldStorage storage, const Tensor& value) {
  Tensor u = value;
  for (Value& v : u.v) v = a.word(v, u.shape.word);
  const FieldStorage rows = without_half(storage);
  std::vector<Value> whole = encode_words(a, rows, u);
  if (!is_half(storage)) return whole;
  for (Value& v : whole) v = a.convert(v, Type::f32);
  const auto components = static_cast<std::size_t>(components_of_rows(rows, u.shape));
  const auto packed = std::span<const Value>(whole).first(components);
  const Halves halves{a};
  const Halves::Scale scale =
      has_scale(storage) ? halves.scale_of(packed) : Halves::Scale{halves.real(Halves::kOffset), kZero};
  std::vector<Value> words = halves.pack(packed, scale.up);
  if (has_scale(storage)) words.push_back(scale.word);
  for (std::size_t i = components; i < whole.size(); ++i) words.push_back(halves.bits(whole[i]));
  return words;
}

}  // namespace detail
}  // namespace QDP
