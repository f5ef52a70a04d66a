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
  }
  return "?";
}

namespace detail {

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
  const Value is_nought = a.b.binary(jit::ir::Op::eq, length, a.b.constant(word, 0));
  const Cplx f = a.div(overlap, {length, kZero}, word);
  return {a.b.select(is_nought, a.b.constant(word, 1), a.word(f.re, word)),
          a.b.select(is_nought, a.b.constant(word, 0), a.word(f.im, word))};
}

}  // namespace

bool can_store(FieldStorage storage, Shape shape) {
  return storage == FieldStorage::plain || (is_float(shape.word) && shape.with_word(kLink.word) == kLink);
}

int stored_words(FieldStorage storage, Shape shape) {
  return storage == FieldStorage::plain ? shape.components() : kRows + words_of_factor(storage);
}

Tensor decode(Algebra& a, FieldStorage storage, Shape shape, std::span<const std::int32_t> words) {
  Tensor u(shape);
  if (storage == FieldStorage::plain) {
    u.v.assign(words.begin(), words.end());
    return u;
  }
  std::copy_n(words.begin(), kRows, u.v.begin());
  const int count = words_of_factor(storage);
  const Cplx f{count > 0 ? words[kRows] : kZero, count > 1 ? words[kRows + 1] : kZero};
  for (int c = 0; c < 3; ++c) {
    const Cplx w = third_row(a, u, c);
    u.set(0, 6 + c, count > 0 ? a.mul(f, w) : w);
  }
  return u;
}

std::vector<std::int32_t> encode(Algebra& a, FieldStorage storage, const Tensor& value) {
  Tensor u = value;
  for (Value& v : u.v) v = a.word(v, u.shape.word);
  std::vector<std::int32_t> words = u.v;
  if (storage == FieldStorage::plain) return words;
  words.resize(kRows);
  const int count = words_of_factor(storage);
  if (count == 0) return words;
  const Cplx f = factor_of(a, u);
  words.push_back(a.word(f.re, u.shape.word));
  if (count > 1) words.push_back(a.word(f.im, u.shape.word));
  return words;
}

}  // namespace detail
}  // namespace QDP
