#include "qdp/io/scidac_checksum.hpp"

#include "qdp/io/site_stream.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace QDP::io {

namespace {

using CrcTable = std::array<std::array<std::uint32_t, 256>, 8>;

/// table[k][b]: the effect of byte b followed by k zero bytes, so that eight bytes go in one step.
constexpr CrcTable make_crc_table() {
  CrcTable table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0u);
    table[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 255];
  return table;
}

constexpr CrcTable kCrcTable = make_crc_table();

}  // namespace

std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t previous) {
  const auto& t = kCrcTable;
  const auto* next = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~previous;
  for (; bytes >= 8; bytes -= 8, next += 8) {
    std::uint32_t low, high;
    std::memcpy(&low, next, 4);
    std::memcpy(&high, next + 4, 4);
    if constexpr (std::endian::native == std::endian::big) {
      low = __builtin_bswap32(low);
      high = __builtin_bswap32(high);
    }
    low ^= crc;
    crc = t[7][low & 255] ^ t[6][(low >> 8) & 255] ^ t[5][(low >> 16) & 255] ^ t[4][low >> 24] ^  //
          t[3][high & 255] ^ t[2][(high >> 8) & 255] ^ t[1][(high >> 16) & 255] ^ t[0][high >> 24];
  }
  for (; bytes > 0; --bytes, ++next) crc = (crc >> 8) ^ t[0][(crc ^ *next) & 255];
  return ~crc;
}

void SiteChecksum::add_site(std::uint64_t rank, const void* data, std::size_t bytes) {
  const std::uint32_t crc = crc32(data, bytes);
  suma ^= std::rotl(crc, static_cast<int>(rank % 29));
  sumb ^= std::rotl(crc, static_cast<int>(rank % 31));
}

void SiteChecksum::combine(const SiteChecksum& other) {
  suma ^= other.suma;
  sumb ^= other.sumb;
}

std::string SiteChecksum::text() const { return hex32(suma) + " " + hex32(sumb); }

}  // namespace QDP::io
