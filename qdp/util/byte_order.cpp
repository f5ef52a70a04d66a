#include "qdp/util/byte_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace QDPUtil {
namespace {

/// table[k][b]: the CRC of byte b followed by k zero bytes; eight tables take eight bytes in one step.
constexpr std::array<std::array<n_uint32_t, 256>, 8> make_tables() {
  std::array<std::array<n_uint32_t, 256>, 8> table{};
  for (n_uint32_t b = 0; b < 256; ++b) {
    n_uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
    table[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 255];
  return table;
}

constexpr auto kTable = make_tables();

template <class Word>
void swap_words(unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, bytes += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    std::memcpy(bytes, &word, sizeof word);
  }
}

}  // namespace

n_uint32_t crc32(n_uint32_t crc, const unsigned char* bytes, std::size_t size) {
  crc = ~crc;
  for (; size >= 8; bytes += 8, size -= 8) {
    const n_uint32_t low =
        crc ^ (bytes[0] | n_uint32_t(bytes[1]) << 8 | n_uint32_t(bytes[2]) << 16 | n_uint32_t(bytes[3]) << 24);
    crc = kTable[7][low & 255] ^ kTable[6][(low >> 8) & 255] ^ kTable[5][(low >> 16) & 255] ^ kTable[4][low >> 24] ^
          kTable[3][bytes[4]] ^ kTable[2][bytes[5]] ^ kTable[1][bytes[6]] ^ kTable[0][bytes[7]];
  }
  for (; size > 0; ++bytes, --size) crc = (crc >> 8) ^ kTable[0][(crc ^ *bytes) & 255];
  return ~crc;
}

n_uint32_t crc32(n_uint32_t crc, const char* bytes, std::size_t size) {
  return crc32(crc, reinterpret_cast<const unsigned char*>(bytes), size);
}

bool big_endian() { return std::endian::native == std::endian::big; }

void byte_swap(void* data, std::size_t size, std::size_t nmemb) {
  auto* bytes = static_cast<unsigned char*>(data);
  switch (size) {
    case 0:
    case 1:
      return;
    case 2:
      return swap_words<std::uint16_t>(bytes, nmemb);
    case 4:
      return swap_words<std::uint32_t>(bytes, nmemb);
    case 8:
      return swap_words<std::uint64_t>(bytes, nmemb);
    default:
      for (std::size_t i = 0; i < nmemb; ++i) std::reverse(bytes + i * size, bytes + (i + 1) * size);
  }
}

std::size_t bfread(void* data, std::size_t size, std::size_t nmemb, std::FILE* stream) {
  const std::size_t got = std::fread(data, size, nmemb, stream);
  if (!big_endian()) byte_swap(data, size, got);
  return got;
}

std::size_t bfwrite(const void* data, std::size_t size, std::size_t nmemb, std::FILE* stream) {
  if (big_endian()) return std::fwrite(data, size, nmemb, stream);
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> swapped(bytes, bytes + size * nmemb);
  byte_swap(swapped.data(), size, nmemb);
  return std::fwrite(swapped.data(), size, nmemb, stream);
}

}  // namespace QDPUtil
