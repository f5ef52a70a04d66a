#pragma once
// ILDG gauge configurations: a LIME file whose record ildg-binary-data holds, for every site, the four links
// U_mu as [mu][row][column][re, im], big-endian, mu = x y z t. Record ildg-format gives precision and lattice.
//
// SciDAC files of gauge fields carry the same records (scidac.hpp), so one reader serves both; here are the format
// record and the writer of a plain ILDG file.

#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/site_stream.hpp"

#include <string>

namespace QDP::io {

/// Reals of the four links of a site: 4 directions, 3 x 3 complex.
inline constexpr std::size_t kGaugeWordsPerSite = 4 * 3 * 3 * 2;

struct IldgFormat {
  Word word = Word::float64;
  SiteGeometry geometry;  ///< four extents
  std::string field = "su3gauge";
};

/// The ildg-format record. Errors: jit::UserError naming `where` for absent or unreadable elements, a precision that
/// is neither 32 nor 64, and extents below 1.
IldgFormat parse_ildg_format(const std::string& xml, const std::string& where);
std::string encode_ildg_format(const IldgFormat& format);

/// Writes records ildg-format, ildg-binary-data, ildg-data-lfn (unless `lfn` is empty) and scidac-checksum.
/// `source` has 72 words per site. Returns the checksum that was stored. The file replaces an old one when it is
/// complete. Errors: jit::UserError (wrong number of words, lattice not four-dimensional), jit::FileError.
SiteChecksum write_ildg(const std::string& path, const SiteGeometry& geometry, Word word, const std::string& lfn,
                        SiteSource& source);

}  // namespace QDP::io
