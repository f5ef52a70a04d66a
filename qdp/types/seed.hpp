// Arithmetic of seeds: numbers modulo 2^47 in four limbs, of 12, 12, 12 and 11 bits, least significant first.
//
//   seed = seed << 12 | Seed(run);  seed = seed * multiplier;
//
// Of scalars, on the host. Words are as wide as an int at least; limbs that are too large carry over in products and shifts.
#pragma once

#include "qdp/types/typedefs.hpp"

#include <cstdint>

namespace QDP {

namespace detail {
constexpr int kLimbBits = 12;
constexpr int limb_mask(int limb) { return limb < 3 ? 4095 : 2047; }
}  // namespace detail

/// a b mod 2^47.
template <class W> PSeed<RScalar<W>> operator*(const PSeed<RScalar<W>>& a, const PSeed<RScalar<W>>& b) {
  PSeed<RScalar<W>> product;
  std::int64_t sum = 0;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i <= k; ++i) sum += std::int64_t{a.elem(i).elem()} * b.elem(k - i).elem();
    product.elem(k).elem() = static_cast<W>(sum & detail::limb_mask(k));
    sum >>= detail::kLimbBits;
  }
  return product;
}

/// Limb by limb.
template <class W> PSeed<RScalar<W>> operator|(const PSeed<RScalar<W>>& a, const PSeed<RScalar<W>>& b) {
  PSeed<RScalar<W>> either;
  for (int k = 0; k < 4; ++k) either.elem(k).elem() = a.elem(k).elem() | b.elem(k).elem();
  return either;
}
/// The number is the lowest limb.
template <class W> PSeed<RScalar<W>> operator|(const PSeed<RScalar<W>>& a, const PScalar<RScalar<W>>& b) {
  PSeed<RScalar<W>> either = a;
  either.elem(0).elem() |= b.elem().elem();
  return either;
}

/// a 2^bits mod 2^47, bits >= 0. QDP++ can do 12 bits at a time.
template <class W> PSeed<RScalar<W>> operator<<(const PSeed<RScalar<W>>& a, const PScalar<RScalar<W>>& bits) {
  std::uint64_t number = 0;
  for (int k = 0; k < 4; ++k) number += static_cast<std::uint64_t>(a.elem(k).elem()) << (detail::kLimbBits * k);
  number = bits.elem().elem() < 64 ? number << bits.elem().elem() : 0;
  PSeed<RScalar<W>> shifted;
  for (int k = 0; k < 4; ++k)
    shifted.elem(k).elem() = static_cast<W>(number >> (detail::kLimbBits * k) & detail::limb_mask(k));
  return shifted;
}

/// The state as a number in [0, 1): its four limbs behind the point, the last one first.
template <class W> PScalar<RScalar<REAL32>> seedToFloat(const PSeed<RScalar<W>>& seed) {
  REAL32 x = REAL32(1.0 / 4096.0) * static_cast<REAL32>(seed.elem(0).elem());
  x = REAL32(1.0 / 4096.0) * (static_cast<REAL32>(seed.elem(1).elem()) + x);
  x = REAL32(1.0 / 4096.0) * (static_cast<REAL32>(seed.elem(2).elem()) + x);
  x = REAL32(1.0 / 2048.0) * (static_cast<REAL32>(seed.elem(3).elem()) + x);
  return PScalar<RScalar<REAL32>>(RScalar<REAL32>(x));
}

// Of Seed itself; a built-in number is an Integer.
inline Seed operator*(const Seed& a, const Seed& b) { return Seed(Seed::Site(a.elem().elem() * b.elem().elem())); }
inline Seed operator|(const Seed& a, const Seed& b) { return Seed(Seed::Site(a.elem().elem() | b.elem().elem())); }
inline Seed operator|(const Seed& a, const Integer& b) { return Seed(Seed::Site(a.elem().elem() | b.elem().elem())); }
inline Seed operator|(const Seed& a, INTEGER32 b) { return a | Integer(b); }
inline Seed operator<<(const Seed& a, const Integer& bits) {
  return Seed(Seed::Site(a.elem().elem() << bits.elem().elem()));
}
inline Seed operator<<(const Seed& a, INTEGER32 bits) { return a << Integer(bits); }
inline RealF seedToFloat(const Seed& seed) { return RealF(RealF::Site(seedToFloat(seed.elem().elem()))); }

}  // namespace QDP
