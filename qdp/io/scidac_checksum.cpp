#include "qdp/io/scidac_checksum.hpp"

#include <bit>

#include "qdp/io/site_stream.hpp"
#include "qdp/util/byte_order.hpp"

namespace QDP::io {

void SiteChecksum::add_site(std::uint64_t rank, const void* data, std::size_t bytes) {
  const std::uint32_t crc = QDPUtil::crc32(0, static_cast<const unsigned char*>(data), bytes);
  suma ^= std::rotl(crc, static_cast<int>(rank % 29));
  sumb ^= std::rotl(crc, static_cast<int>(rank % 31));
}

void SiteChecksum::combine(const SiteChecksum& other) {
  suma ^= other.suma;
  sumb ^= other.sumb;
}

std::string SiteChecksum::text() const { return hex32(suma) + " " + hex32(sumb); }

}  // namespace QDP::io
