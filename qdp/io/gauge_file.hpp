#pragma once
// Gauge fields from whatever file they are in: NERSC, SciDAC or ILDG, told apart by content.

#include "qdp/io/nersc.hpp"
#include "qdp/io/site_stream.hpp"

#include <optional>
#include <string>

namespace QDP::io {

enum class GaugeFormat { nersc, scidac, ildg };

const char* name_of(GaugeFormat format);

/// What a gauge file says of itself.
struct GaugeFileSummary {
  GaugeFormat format = GaugeFormat::ildg;
  SiteGeometry geometry;             ///< no extents if an ILDG file has no format record
  std::optional<Word> word;          ///< precision of the links; likewise
  std::optional<double> plaquette;   ///< stored: NERSC header, or xlf-info of tmLQCD; average Re tr U_p / 3
  std::optional<double> link_trace;  ///< stored: NERSC header; average Re tr U / 3
  std::string stored_checksum;       ///< hexadecimal, empty if none; SciDAC: "suma sumb"
  std::string file_xml;              ///< user XML of SciDAC files
  std::string record_xml;
  std::string lfn;  ///< logical file name of ILDG files
  std::optional<NerscHeader> nersc;

  /// One line for a log.
  std::string text() const;
};

/// Looks at headers only. Errors: jit::UserError if the file is in none of the formats, holds no gauge field, or is
/// cut short.
GaugeFileSummary inspect_gauge_file(const std::string& path);

/// Compares the stored checksum with the data, delivering nothing. Errors: as inspect_gauge_file(), and a bare ILDG
/// file without format record, whose lattice is unknown.
ReadReport verify_gauge_file(const std::string& path);

/// Reads the (first) gauge field of a file into `sink`: 72 words per site, [mu][row][column][re, im].
/// A wrong or absent checksum is reported with a warning, not thrown; the links have been delivered.
/// Errors: jit::UserError as above, or when the lattice is not `geometry`.
ReadReport read_gauge_file(const std::string& path, const SiteGeometry& geometry, SiteSink& sink);

}  // namespace QDP::io
