#pragma once
// SciDAC files (the format of USQCD's QIO library), and bare ILDG files. In all of QIO's volume formats (scidac_volumes.hpp).
//
// LIME messages: scidac-private-file-xml, scidac-file-xml; then, for every record, scidac-private-record-xml,
// scidac-record-xml, [ildg-format, [ildg-data-lfn]], scidac-binary-data or ildg-binary-data, scidac-checksum.
// Data are big-endian; site order and words per site as in site_stream.hpp. A record is
//   field      `datacount` objects of `typesize` bytes on every site,
//   hypercube  the same on the box lower <= x <= upper, in lexicographic order within the box,
//   global     `datacount` objects once.
// Read as well: record version 1.0 (globaldata for recordtype), files without any SciDAC record (bare ILDG), with the
// format record after the data, without checksum, or without format record if the caller knows the lattice.

#include "qdp/io/ildg.hpp"
#include "qdp/io/lime.hpp"
#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/scidac_volumes.hpp"
#include "qdp/io/site_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace QDP::io {

enum class RecordKind { field = 0, global = 1, hypercube = 2 };

/// What scidac-private-record-xml says.
struct ScidacRecordInfo {
  RecordKind kind = RecordKind::field;
  std::string date = {};      ///< empty when writing: now
  std::string datatype = {};  ///< e.g. QDP_D3_ColorMatrix, USQCD_F3_DiracFermion, Lattice
  Word word = Word::float64;  ///< precision F, D, I or U
  int colors = 0;             ///< of a vector or matrix, else 1; 0: not said
  int spins = 0;
  std::size_t typesize = 0;     ///< bytes of one object
  int datacount = 1;            ///< objects per site (field, hypercube) or in all (global)
  std::vector<int> lower = {};  ///< hypercube: first corner
  std::vector<int> upper = {};  ///< hypercube: last corner, which belongs to the box

  /// Bytes per site, or of a whole global record.
  std::size_t bytes() const { return typesize * static_cast<std::size_t>(datacount); }
};

/// The record of a gauge field as QDP++ writes it: four QDP_F3_ColorMatrix or QDP_D3_ColorMatrix per site.
ScidacRecordInfo gauge_record_info(Word word);

/// A record of a file: what is known without touching the data.
struct ScidacRecord {
  ScidacRecordInfo info;
  bool native = false;             ///< has a SciDAC private record; false: bare ILDG
  std::string xml;                 ///< the user's record XML
  std::string lfn;                 ///< ildg-data-lfn
  std::optional<IldgFormat> ildg;  ///< ildg-format
  LimeRecord data;
  std::size_t number = 0;  ///< of a field or box: how many come before
  std::optional<SiteChecksum> checksum;
  bool checksum_unreadable = false;  ///< there is a checksum record, without the two numbers

  /// True for four SU(3) links per site.
  bool is_gauge_field() const;
};

/// Opens a file, or several (NAME.vol0000 ...), and reads everything but the data. Errors: jit::UserError with path, byte offset, expected and got; also for a
/// record type that looks like a damaged copy of one of the format, as ignoring it would drop a checksum.
class ScidacReader {
 public:
  explicit ScidacReader(const std::string& path);

  /// Of the first file.
  const std::string& path() const { return lime_.path(); }
  /// The lattice of the file; no extents if the file does not say.
  const SiteGeometry& geometry() const { return geometry_; }
  bool is_several_files() const { return several_files_; }
  /// The user's file XML.
  const std::string& file_xml() const { return file_xml_; }
  const std::vector<ScidacRecord>& records() const { return records_; }
  /// Text records that are not part of the format, e.g. xlf-info: (type, text), of those below 64 KiB.
  const std::vector<std::pair<std::string, std::string>>& other_texts() const { return other_texts_; }

  /// Reads a field or hypercube record into `sink`, converting precision. `geometry` is the lattice the caller has.
  /// A hypercube arrives in runs along x, with the sites' ranks in the global lattice.
  /// A wrong checksum is reported, not thrown: the data have been delivered, the caller decides.
  /// Errors: jit::UserError for another lattice, words per site or precision than the sink takes.
  ReadReport read_field(const ScidacRecord& record, const SiteGeometry& geometry, SiteSink& sink) const;

  /// Reads a global record into `words`, `count` words of host order.
  ReadReport read_global(const ScidacRecord& record, Word word, void* words, std::size_t count) const;

  /// Compares the stored checksum with the data, delivering nothing.
  ReadReport verify(const ScidacRecord& record, const SiteGeometry& geometry) const;

 private:
  void attach(const LimeRecord& record);
  std::string where(const LimeRecord& record) const;
  void parse_file_info(const LimeRecord& record);
  ScidacRecord parse_record_info(const LimeRecord& record) const;
  void attach_format(const LimeRecord& record);
  void settle_geometry();
  ScidacRecordInfo checked_info(const ScidacRecord& record, const SiteGeometry& geometry) const;
  void open_other_volumes();
  struct Part;
  std::vector<Part> parts_of(const ScidacRecord& record, const SiteGeometry& geometry) const;
  std::vector<Part> part_of_global(const ScidacRecord& record) const;
  static SiteChecksum stream(const std::vector<Part>& parts, SiteSink* sink);
  ReadReport report(const ScidacRecord& record, const SiteChecksum& computed) const;

  LimeReader lime_;
  SiteGeometry geometry_;
  std::string file_xml_;
  std::vector<ScidacRecord> records_;
  std::optional<ScidacRecord> pending_;  // a record whose data have not come yet
  bool several_files_ = false;
  std::optional<LimeRecord> site_list_;
  std::optional<OtherVolumes> others_;
  std::vector<std::pair<std::string, std::string>> other_texts_;
};

enum class ScidacMode { replace, append };

/// Writes a file of records; it appears at close(), all or nothing, also when appending to an existing one. Of several files the first
/// appears last, and an old one goes before the others come: they are never taken for a set with those of another.
/// Gauge fields (is_gauge_field(), four dimensions) before which nothing else was written get ildg-format and ildg-binary-data
/// records, so the file is an ILDG file as well. Errors: jit::UserError (info and source disagree), jit::FileError (disk).
class ScidacWriter {
 public:
  ScidacWriter(const std::string& path, const SiteGeometry& geometry, const std::string& file_xml,
               ScidacMode mode = ScidacMode::replace, Volumes volumes = {});

  /// Logical file name put with every gauge field; empty: none.
  void set_lfn(const std::string& lfn) { lfn_ = lfn; }

  /// Field or hypercube. `info.word` is the precision in the file; the source's is converted.
  /// A hypercube is asked for in runs along x, with the sites' ranks in the global lattice.
  SiteChecksum write_field(const ScidacRecordInfo& info, const std::string& record_xml, SiteSource& source);

  /// `words` of host order; info.kind is taken as global.
  SiteChecksum write_global(ScidacRecordInfo info, const std::string& record_xml, Word word, const void* words,
                            std::size_t count);

  void close();

 private:
  void open_volumes(const std::string& path);
  /// The type of the record of data.
  const char* begin(const ScidacRecordInfo& info, const std::string& record_xml, std::uint64_t data_bytes);
  void end(const SiteChecksum& checksum);

  Volumes volumes_;
  LimeWriter lime_;  ///< the file, or the first of several
  std::vector<std::unique_ptr<LimeWriter>> others_;
  SiteGeometry geometry_;
  std::string lfn_;
  bool links_only_ = true;  // no record of another type since the file was opened
};

}  // namespace QDP::io
