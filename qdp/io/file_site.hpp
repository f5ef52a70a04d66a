#pragma once
// What the sites of a lattice look like in a file, and the checksums of the file's data.

#include <cstddef>
#include <cstdint>
#include <span>

#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/site_stream.hpp"

namespace QDP::io {

/// Plain data: the ranks of a job tell each other.
struct FileSite {
  Word word = Word::float64;
  std::size_t bytes = 0;  ///< of a site
  ByteOrder order = ByteOrder::big;
  bool two_rows = false;  ///< NERSC: SU(3) matrices without their third rows
  bool word_sum = false;  ///< NERSC: the words are summed

  /// `count` sites of memory to as many of the file. Changes `words`.
  void encode(const SiteFormat& format, char* words, char* raw, std::uint64_t count) const;
  /// The other way round.
  void decode(const char* raw, const SiteFormat& format, char* words, std::uint64_t count) const;
};

/// The checksums of a file's data, as they lie there. Those of parts combine, so each rank takes those of its own.
struct DataSums {
  SiteChecksum sites;
  std::uint32_t words = 0;  ///< sum of the 32-bit words modulo 2^32; 0 unless FileSite::word_sum

  /// The sites from `rank` on, which follow each other in the lattice.
  void add(const FileSite& site, std::uint64_t rank, std::uint64_t count, const char* raw);
  void add(const FileSite& site, std::span<const SiteRun> runs, const char* raw);
  /// Joins the sums of two disjoint sets of sites.
  void combine(const DataSums& other);
};

}  // namespace QDP::io
