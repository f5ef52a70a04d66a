// Byte order and CRC-32, with the names of QDP++'s QDPUtil.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace QDPUtil {

using n_uint16_t = std::uint16_t;
using n_uint32_t = std::uint32_t;
using n_uint64_t = std::uint64_t;

/// CRC-32 of IEEE 802.3 (polynomial 0xEDB88320 reflected, as in zlib): crc is the value of the bytes before, 0 at first,
/// so that crc32(crc32(0, a), b) is the value of a followed by b.
n_uint32_t crc32(n_uint32_t crc, const unsigned char* bytes, std::size_t size);
n_uint32_t crc32(n_uint32_t crc, const char* bytes, std::size_t size);

/// True if this machine stores the most significant byte first.
bool big_endian();

/// Reverses the bytes of each of nmemb elements of `size` bytes, in place.
void byte_swap(void* data, std::size_t size, std::size_t nmemb);

/// fread and fwrite of big-endian elements; return the number of complete elements, as fread does.
std::size_t bfread(void* data, std::size_t size, std::size_t nmemb, std::FILE* stream);
std::size_t bfwrite(const void* data, std::size_t size, std::size_t nmemb, std::FILE* stream);

}  // namespace QDPUtil
