// Gauge fields in NERSC archive files, with QDP++'s interface.
#pragma once

#include <string>

#include "qdp/io/site_values.hpp"
#include "qdp/util/byte_order.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

/// The header of an archive file.
struct ArchivGauge_t {
  ArchivGauge_t();
  multi1d<int> nrow;         ///< lattice extents
  multi1d<int> boundary;     ///< 1 periodic, -1 antiperiodic
  Real w_plaq;               ///< average of Re tr U_p / 3
  Real link;                 ///< average of Re tr U / 3
  std::size_t mat_size;      ///< reals per link: 12 (two rows) or 18
  std::size_t float_size;    ///< bytes per real: 4 or 8
  QDPUtil::n_uint32_t checksum;
  int sequence_number;
  std::string ensemble_id, ensemble_label, creator, creator_hardware, creation_date, archive_date;
};

void read(XMLReader& xml, const std::string& path, ArchivGauge_t& header);
void write(XMLWriter& xml, const std::string& path, const ArchivGauge_t& header);

/// Sum modulo 2^32 of the links' words as a single-precision file of this matrix size would hold them.
QDPUtil::n_uint32_t computeChecksum(const multi1d<LatticeColorMatrix>& u, int mat_size);

/// Reads an archive file. Throws jit::UserError for a file that is cut short, of another lattice, or with a wrong checksum.
void readArchiv(ArchivGauge_t& header, multi1d<LatticeColorMatrix>& u, const std::string& file);
void readArchiv(XMLReader& xml, multi1d<LatticeColorMatrix>& u, const std::string& file);
void readArchiv(multi1d<LatticeColorMatrix>& u, const std::string& file);

/// Writes an archive file, all or nothing; the checksum is computed, plaquette and link trace are the caller's.
void writeArchiv(ArchivGauge_t& header, const multi1d<LatticeColorMatrix>& u, const std::string& file);
void writeArchiv(XMLBufferWriter& xml, const multi1d<LatticeColorMatrix>& u, const std::string& file);
void writeArchiv(const multi1d<LatticeColorMatrix>& u, const std::string& file);

}  // namespace QDP
