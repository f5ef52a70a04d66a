// How a field keeps its sites (design D13): in fewer words than they have components, encoded where a kernel stores them and
// decoded where it loads them. Every expression works on every storage; a value has all its components.
//
//   two_rows          u2 = conj(u0 x u1)        SU(3): rows 0 and 1, 12 reals of 18
//   two_rows_scaled   u2 = f conj(u0 x u1)      a real multiple of such a matrix, also with another sign at each site: and f
//   two_rows_phased   u2 = f conj(u0 x u1)      U(3), complex multiples of SU(3): and f, a complex number
//   half              x_i = 2^(e-15) q_i        spinors, vectors, any field of few components: q_i of 16 bits, 2^(e-1) <= max |x_i| < 2^e
//   two_rows_half     and so on: rows as these, 16 bits for each of their reals
//
// Of a matrix c V, V in SU(3), f is 1/c; of e^(i a) V it is e^(3 i a).
//
// Sixteen bits: two q + 2^15 in a word of 32, then one word for 2^(e-15), as a float; rows of two_rows_half, none of which is beyond 1,
// are q / 2^15 and have no such word. f is a float. Rounded to the nearest, to even, within -32767..32767: the largest components
// to 2^-15 2^e, others to 2^-16 2^e. Encoding again what was decoded changes nothing. Sites of which some component is no number,
// or 2^118 or beyond, are NaN in all components; those with none at 2^-112 or beyond are nought.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qdp/expr/shape.hpp"

namespace QDP {

enum class FieldStorage : std::uint8_t {
  plain,
  two_rows,
  two_rows_scaled,
  two_rows_phased,
  half,
  two_rows_half,
  two_rows_scaled_half,
  two_rows_phased_half
};
const char* name(FieldStorage storage);

namespace detail {

class Algebra;
struct Tensor;

constexpr bool is_half(FieldStorage storage) { return storage >= FieldStorage::half; }
/// The same in words of the type's own kind.
constexpr FieldStorage without_half(FieldStorage storage) {
  return is_half(storage) ? static_cast<FieldStorage>(static_cast<int>(storage) - static_cast<int>(FieldStorage::half))
                          : storage;
}
constexpr FieldStorage with_half(FieldStorage storage) {
  return is_half(storage) ? storage
                          : static_cast<FieldStorage>(static_cast<int>(storage) + static_cast<int>(FieldStorage::half));
}
/// Whether it holds any value: as far as 16 bits can tell, if these are all there is to it.
constexpr bool fits_all(FieldStorage storage) { return without_half(storage) == FieldStorage::plain; }

/// Whether fields of such a site type can be kept so.
bool can_store(FieldStorage storage, Shape shape);
/// The words of a site, and their kind.
int stored_words(FieldStorage storage, Shape shape);
Type stored_word(FieldStorage storage, Shape shape);
/// A site's words in memory.
struct StoredShape {
  Shape shape;
  FieldStorage storage = FieldStorage::plain;
  int words() const { return stored_words(storage, shape); }
  Type word() const { return stored_word(storage, shape); }
  std::size_t bytes() const {
    return static_cast<std::size_t>(words()) * static_cast<std::size_t>(jit::ir::bytes(word()));
  }
};

/// The components that the words stand for, and the words of components.
Tensor decode(Algebra& algebra, FieldStorage storage, Shape shape, std::span<const std::int32_t> words);
std::vector<std::int32_t> encode(Algebra& algebra, FieldStorage storage, const Tensor& value);

/// The largest |x - decode(encode(x))| / |x| of a site that is accepted where x is assigned to a field kept so.
constexpr double storage_tolerance(FieldStorage storage, Type word) {
  return is_half(storage) ? 0x1p-10 : 256 * (word == Type::f32 ? 0x1p-23 : 0x1p-52);
}

}  // namespace detail
}  // namespace QDP
