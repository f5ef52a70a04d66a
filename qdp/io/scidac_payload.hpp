#pragma once
// The data of SciDAC and ILDG records, streamed between file and source or sink; internal to this folder.

#include "qdp/io/lime.hpp"
#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/site_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace QDP::io {

/// Which sites a record holds, and what a site looks like in the file.
struct Payload {
  SiteGeometry geometry;
  std::vector<int> lower = {};  ///< box of sites, corners included; empty: the whole lattice
  std::vector<int> upper = {};
  Word word = Word::float64;
  std::size_t bytes_per_site = 0;

  std::uint64_t sites() const;
  /// Throws jit::UserError if that is no number of bytes that a file can have.
  std::uint64_t bytes() const;

  /// Calls f(rank, count) for runs of sites that are consecutive in the lattice and in the file, in file order.
  void for_each_run(const std::function<void(std::uint64_t rank, std::uint64_t count)>& f) const;
};

/// Throws jit::UserError unless sites of `format` are these sites in another precision. `what` names the field.
void check_site_format(const Payload& payload, const SiteFormat& format, const std::string& what);

/// Streams a record's data; `sink` may be null to compute the checksum alone.
SiteChecksum read_payload(const LimeReader& lime, const LimeRecord& record, const Payload& payload, SiteSink* sink);

/// Streams the data of the record that was begun.
SiteChecksum write_payload(LimeWriter& lime, const Payload& payload, SiteSource& source);

/// The text of a scidac-checksum record.
std::string encode_checksum(const SiteChecksum& checksum);

}  // namespace QDP::io
