// How a field keeps its sites (design D13): in fewer words than they have components, encoded where a kernel stores them and
// decoded where it loads them. Every expression works on every storage; a value has all its components.
//
//   two_rows          u2 = conj(u0 x u1)        SU(3): rows 0 and 1, 12 reals of 18
//   two_rows_scaled   u2 = f conj(u0 x u1)      a real multiple of such a matrix, also with another sign at each site: and f
//   two_rows_phased   u2 = f conj(u0 x u1)      U(3), complex multiples of SU(3): and f, a complex number
//
// Of a matrix c V, V in SU(3), f is 1/c; of e^(i a) V it is e^(3 i a).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qdp/expr/shape.hpp"

namespace QDP {

enum class FieldStorage : std::uint8_t { plain, two_rows, two_rows_scaled, two_rows_phased };
const char* name(FieldStorage storage);

namespace detail {

class Algebra;
struct Tensor;

/// Whether fields of such a site type can be kept so.
bool can_store(FieldStorage storage, Shape shape);
/// The words of a site, of the type's own kind.
int stored_words(FieldStorage storage, Shape shape);
/// A site's words in memory.
struct StoredShape {
  Shape shape;
  FieldStorage storage = FieldStorage::plain;
  int words() const { return stored_words(storage, shape); }
  std::size_t bytes() const {
    return static_cast<std::size_t>(words()) * static_cast<std::size_t>(jit::ir::bytes(shape.word));
  }
};

/// The components that the words stand for, and the words of components.
Tensor decode(Algebra& algebra, FieldStorage storage, Shape shape, std::span<const std::int32_t> words);
std::vector<std::int32_t> encode(Algebra& algebra, FieldStorage storage, const Tensor& value);

/// The largest |x - decode(encode(x))| / |x| of a site that is accepted where x is assigned to a field kept so.
constexpr double storage_tolerance(Type word) { return 256 * (word == Type::f32 ? 0x1p-23 : 0x1p-52); }

}  // namespace detail
}  // namespace QDP
