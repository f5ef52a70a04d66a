#pragma once
// The checksum of SciDAC records: every site's CRC-32, rotated by the site's rank, all exclusive-or'ed.

#include <cstddef>
#include <cstdint>
#include <string>

namespace QDP::io {

/// suma = XOR over sites of rotl(crc(site), rank mod 29), sumb the same with mod 31; rank is the lexicographic rank in
/// the global lattice, the bytes are those of the file. Does not depend on the order of the sites.
struct SiteChecksum {
  std::uint32_t suma = 0;
  std::uint32_t sumb = 0;

  void add_site(std::uint64_t rank, const void* data, std::size_t bytes);
  /// Joins the checksums of two disjoint sets of sites.
  void combine(const SiteChecksum& other);
  /// "suma sumb" in hexadecimal, eight digits each.
  std::string text() const;
  bool operator==(const SiteChecksum&) const = default;
};

}  // namespace QDP::io
