// A 128-bit hash of bytes for cache keys: fast and well mixed, not cryptographic, the same on every run and machine.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace jit {

struct Hash128 {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  /// 32 hexadecimal digits, lower case.
  std::string hex() const;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// Incremental: the result depends on the bytes only, not on how they were split into calls.
class Hasher {
 public:
  Hasher& bytes(const void* data, std::size_t size);
  Hasher& text(std::string_view value);  ///< with its length, so that ("ab","c") differs from ("a","bc")

  /// Integers, enumerations, bool and floating point: their bytes (-0.0 differs from 0.0).
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Hasher& value(T x) {
    return bytes(&x, sizeof x);
  }

  /// The hash of all bytes so far; more may follow.
  Hash128 result() const;

 private:
  void absorb(std::uint64_t low, std::uint64_t high);

  std::uint64_t a_ = 0x243f6a8885a308d3;  // fractional digits of pi
  std::uint64_t b_ = 0x13198a2e03707344;
  std::uint64_t size_ = 0;
  unsigned char pending_[16] = {};
};

Hash128 hash_bytes(const void* data, std::size_t size);
Hash128 hash_text(std::string_view text);

}  // namespace jit

template <>
struct std::hash<jit::Hash128> {
  std::size_t operator()(const jit::Hash128& h) const noexcept { return h.a ^ (h.b * 0x9e3779b97f4a7c15); }
};
