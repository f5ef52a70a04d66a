// The pages of a HashFile as words, and the numbers of their format (hash_file.hpp); internal to this folder.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "qdp/io/hash_file.hpp"
#include "qdp/util/byte_order.hpp"

namespace QDP::io {

namespace hash_format {

inline constexpr std::uint32_t kNoPage = 0xffffffff;
inline constexpr std::uint32_t kHashMagic = 0xcece3434, kPageSignature = 0xe0f1a2b9;
inline constexpr std::uint32_t kHashVersion = 6, kOldHashVersion = 5;
inline constexpr std::uint32_t kHeaderSize = 332, kSmallEndian = 1234;
inline constexpr std::uint32_t kMostPageSize = 1u << 20, kLeastPageSize = 512;
inline constexpr std::uint32_t kUserInfo = 4000;
inline constexpr std::size_t kHashCache = std::size_t{128} << 20;

enum PageType : std::uint32_t { kBucketPage = 0x1001, kDataPage = 0x2001, kUserPage = 0x4001, kConfigPage = 0x5001 };
enum PageWord : std::uint32_t { kNumber = 0, kBefore = 4, kBehind = 8, kSignature = 12, kPageCrc = 20, kFree = 24 };
inline constexpr std::uint32_t kEntries = 16, kType = 18;  // 16 bits each
inline constexpr std::uint32_t kKeysAt = 28, kWordsPerKey = 12, kPointerBytes = 16;
inline constexpr std::uint32_t kFirstDatum = 28, kDataAt = 32, kDatumHeader = 20;
inline constexpr std::uint32_t kConfigBytes = 148;

inline constexpr std::uint32_t kLowOffset = 0xfffff;  // of what also has bits of a length
inline std::uint32_t high_bits(std::uint64_t length) { return static_cast<std::uint32_t>(length >> 32 & 0xff) << 20; }
inline std::uint64_t whole_length(std::uint32_t low, std::uint32_t with_high) {
  return static_cast<std::uint64_t>(with_high >> 20 & 0xff) << 32 | low;
}
inline std::uint32_t valid_status(std::uint32_t version) {
  return version == kOldHashVersion ? 0xffeeffee : 0x0000ffee;
}
inline std::uint32_t invalid_status(std::uint32_t version) {
  return version == kOldHashVersion ? 0x11221122 : 0x00001122;
}

/// Fowler, Noll and Vo, beginning with 0.
inline std::uint32_t hash_of_key(const char* key, std::size_t size) {
  std::uint32_t h = 0;
  for (std::size_t i = 0; i < size; ++i) h = h * 16777619u ^ static_cast<unsigned char>(key[i]);
  return h;
}
/// What the header has of this text tells whether the hash is this one.
inline constexpr char kHashProbe[] = "%$sniglet^&";

inline std::uint32_t log2_above(std::uint32_t n) {
  return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}
inline std::uint32_t aligned_up(std::uint32_t n) { return (n + 3) & ~3u; }

inline std::string hex_of(std::uint32_t n) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%x", n);
  return text;
}

}  // namespace hash_format

/// A page in memory; words are of the small byte order.
class HashFile::Page {
 public:
  explicit Page(std::uint32_t size) : bytes_(size, '\0') {}
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  char* data() { return bytes_.data(); }

  std::uint32_t word(std::uint32_t at) const { return number<4>(at); }
  std::uint32_t half(std::uint32_t at) const { return number<2>(at); }
  void set_word(std::uint32_t at, std::uint32_t value) { set_number<4>(at, value); }
  void set_half(std::uint32_t at, std::uint32_t value) { set_number<2>(at, value); }

  std::uint32_t number_of() const { return word(hash_format::kNumber); }
  std::uint32_t behind() const { return word(hash_format::kBehind); }
  std::uint32_t entries() const { return half(hash_format::kEntries); }
  std::uint32_t type() const { return half(hash_format::kType); }
  bool in_use() const { return word(hash_format::kSignature) == hash_format::kPageSignature; }

  std::uint32_t crc() const {
    const std::uint32_t before = QDPUtil::crc32(0, bytes_.data(), hash_format::kPageCrc);
    return QDPUtil::crc32(before, bytes_.data() + hash_format::kFree, bytes_.size() - hash_format::kFree);
  }

  bool dirty = false;

 private:
  template <std::uint32_t n> std::uint32_t number(std::uint32_t at) const {
    std::uint32_t value = 0;
    for (std::uint32_t i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  template <std::uint32_t n> void set_number(std::uint32_t at, std::uint32_t value) {
    for (std::uint32_t i = 0; i < n; ++i) bytes_[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
    dirty = true;
  }

  std::string bytes_;
};

}  // namespace QDP::io
