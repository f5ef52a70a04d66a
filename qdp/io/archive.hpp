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
  multi1d<int> nrow;       ///< lattice extents
  multi1d<int> boundary;   ///< 1 periodic, -1 antiperiodic
  Real w_plaq;             ///< average of Re tr U_p / 3
  Real link;               ///< average of Re tr U / 3
  std::size_t mat_size;    ///< reals per link: 12 (two rows) or 18
  std::size_t float_size;  ///< bytes per real: 4 or 8
  QDPUtil::n_uint32_t checksum;
  int sequence_number;
  std::string ensemble_id, ensemble_label, creator, creator_hardware, creation_date, archive_date;
};

void read(XMLReader& xml, const std::string& path, ArchivGauge_t& header);
void write(XMLWriter& xml, const std::string& path, const ArchivGauge_t& header);

/// Sum modulo 2^32 of the links' words as a single-precision file of this matrix size would hold them.
QDPUtil::n_uint32_t computeChecksum(const multi1d<LatticeColorMatrix>& u, int mat_size);

/// What to do with a file whose checksum, plaquette or link trace is missing, or is not that of the links.
enum class OnDamage { refuse, read };

/// Reads an archive file; returns "verified", or what is wrong if it is read all the same (a warning is printed then). The
/// checksum does not change when words change places, plaquette and link trace do: they may differ from the header's by
/// rounding, 1e-5 where single precision takes part and 1e-8 otherwise, and half a unit of the header's last digit.
/// Throws jit::UserError for a file that is cut short or of another lattice, and unless told otherwise a damaged one.
std::string readArchiv(ArchivGauge_t& header, multi1d<LatticeColorMatrix>& u, const std::string& file,
                       OnDamage on_damage = OnDamage::refuse);
std::string readArchiv(XMLReader& xml, multi1d<LatticeColorMatrix>& u, const std::string& file,
                       OnDamage on_damage = OnDamage::refuse);
std::string readArchiv(multi1d<LatticeColorMatrix>& u, const std::string& file, OnDamage on_damage = OnDamage::refuse);

/// Writes an archive file, all or nothing. Checksum, plaquette and link trace are those of `u`, also in `header` then.
void writeArchiv(ArchivGauge_t& header, const multi1d<LatticeColorMatrix>& u, const std::string& file);
void writeArchiv(XMLBufferWriter& xml, const multi1d<LatticeColorMatrix>& u, const std::string& file);
void writeArchiv(const multi1d<LatticeColorMatrix>& u, const std::string& file);

}  // namespace QDP
