#include "jit/support/hash.hpp"

#include <algorithm>
#include <cstring>

namespace jit {
namespace {

// Odd constants with balanced bits: digits of pi.
constexpr std::uint64_t kMulA = 0xa4093822299f31d1;
constexpr std::uint64_t kMulB = 0x082efa98ec4e6c89;

/// Folds the full 128-bit product: every input bit reaches every output bit.
std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Bijective finaliser (multiply-xorshift, constants of splitmix64).
std::uint64_t finish(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t load(const unsigned char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

std::string Hash128::hex() const {
  static const char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = digits[(a >> (4 * i)) & 15];
    text[31 - i] = digits[(b >> (4 * i)) & 15];
  }
  return text;
}

void Hasher::absorb(std::uint64_t low, std::uint64_t high) {
  // The sums keep the state moving where a zero factor would make the folded product vanish.
  a_ = fold(a_ ^ low, kMulA ^ high) + (b_ << 23 | b_ >> 41);
  b_ = fold(b_ + high, kMulB + low) ^ a_;
}

Hasher& Hasher::bytes(const void* data, std::size_t size) {
  const auto* next = static_cast<const unsigned char*>(data);
  std::size_t held = size_ % 16;
  size_ += size;
  while (size > 0) {
    const std::size_t take = std::min<std::size_t>(size, 16 - held);
    std::memcpy(pending_ + held, next, take);
    next += take;
    size -= take;
    held += take;
    if (held == 16) {
      absorb(load(pending_), load(pending_ + 8));
      held = 0;
    }
  }
  return *this;
}

Hasher& Hasher::text(std::string_view text) {
  return value<std::uint64_t>(text.size()).bytes(text.data(), text.size());
}

Hash128 Hasher::result() const {
  Hasher last = *this;
  const std::size_t held = size_ % 16;
  std::memset(last.pending_ + held, 0, 16 - held);
  last.absorb(load(last.pending_), load(last.pending_ + 8));
  last.absorb(size_, ~size_);
  return {finish(last.a_ + kMulB), finish(last.b_ ^ (last.a_ << 32 | last.a_ >> 32))};
}

Hash128 hash_bytes(const void* data, std::size_t size) { return Hasher().bytes(data, size).result(); }
Hash128 hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

}  // namespace jit
