#pragma once
// NERSC archive files ("Gauge Connection"): a text header, then for every site and direction the link matrix.
//
// Header: BEGIN_HEADER, lines "NAME = value", END_HEADER. Data: sites lexicographic, x fastest; per site
// [mu][row][column][re, im] with all three rows (DATATYPE 4D_SU3_GAUGE_3x3) or the first two (4D_SU3_GAUGE), the third
// being the complex conjugate of their cross product. CHECKSUM is the sum modulo 2^32 of all 32-bit words of the
// data; a double counts as its two halves. Words that changed places have the same sum, so files written here carry
// SciDAC's checksum of the data as well, in a line SITE_CHECKSUM = <suma> <sumb> that other programs skip.

#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/site_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace QDP::io {

/// The header, with the field names of QDP++'s ArchivGauge_t.
struct NerscHeader {
  std::vector<int> nrow = {};                ///< lattice, x first
  std::vector<int> boundary = {1, 1, 1, 1};  ///< 1 periodic, -1 antiperiodic
  double w_plaq = 0;                         ///< average of Re tr U_p / 3
  double link = 0;                           ///< average of Re tr U / 3
  std::size_t mat_size = 12;                 ///< reals per link: 12 (two rows) or 18
  std::size_t float_size = 4;                ///< bytes per real: 4 or 8
  std::uint32_t checksum = 0;
  int sequence_number = 0;
  std::string ensemble_id = {};
  std::string ensemble_label = {};
  std::string creator = {};
  std::string creator_hardware = {};
  std::string creation_date = {};
  std::string archive_date = {};

  // What QDP++ does not keep.
  std::optional<SiteChecksum> site_checksum;
  double w_plaq_step = 0;  ///< half a unit of the last digit that the file gives
  double link_step = 0;
  bool has_checksum = false;
  bool has_plaquette = false;
  bool has_link_trace = false;
  std::string floating_point = "IEEE32BIG";  ///< as in the file
  ByteOrder byte_order = ByteOrder::big;
  std::uint64_t data_offset = 0;  ///< where the data start
};

/// That of the primary for all. Collective.
void broadcast(NerscHeader& header);

/// True if the file starts with BEGIN_HEADER.
bool is_nersc_file(const std::string& path);

/// Parses the header. Lines of unknown name, missing HDR_VERSION, BOUNDARY, CHECKSUM and the like are accepted.
/// FLOATING_POINT: IEEE32, IEEE32BIG, IEEE32LITTLE and the same with 64. Plain IEEE32 means either byte order in
/// practice; the one whose checksum fits is taken, big-endian if none does.
/// Errors: jit::UserError for no BEGIN_HEADER or END_HEADER, unknown DATATYPE or FLOATING_POINT, missing dimensions, values
/// that are not the number they should be.
NerscHeader read_nersc_header(const std::string& path);

/// Reads the links into `sink` (72 words per site). A wrong checksum is reported, not thrown.
/// Errors: jit::UserError for another lattice or a file that is cut short or too long.
ReadReport read_nersc(const std::string& path, const NerscHeader& header, const SiteGeometry& geometry, SiteSink& sink);

/// Compares the stored checksum with the data, delivering nothing.
ReadReport verify_nersc(const std::string& path, const NerscHeader& header);

/// Writes header and links, big-endian, with mat_size and float_size of the header. Sets checksums, floating_point and
/// data_offset in `header`; plaquette and link trace are the caller's. The file appears when it is complete.
/// Errors: jit::UserError for sizes, boundary or source that do not fit, jit::FileError from the disk.
void write_nersc(const std::string& path, NerscHeader& header, SiteSource& source);

/// CHECKSUM of a field (72 words per site) as a file with these sizes would have it.
std::uint32_t nersc_checksum(SiteSource& source, const SiteGeometry& geometry, std::size_t mat_size,
                             std::size_t float_size);

}  // namespace QDP::io
