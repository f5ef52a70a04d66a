#include "qdp/io/qdp_file.hpp"

#include "jit/memory/field.hpp"
#include "qdp/io/field_stream.hpp"
#include "qdp/io/scidac.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/io/volume_sites.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <sstream>

namespace QDP {

namespace {

/// QDP++'s names: those of QIO for arrays of colour matrices and of fermions (of any length) and for one colour vector, not for
/// arrays of these or for one of those.
std::string type_name(const detail::RecordTarget& t) {
  using detail::Kind;
  using detail::Level;
  if (t.fields.empty()) return "Scalar";
  if (!t.shape.complex || t.shape.word < detail::Type::f32) return "Lattice";
  const char* precision = t.shape.word == detail::Type::f32 ? "F3_" : "D3_";
  const bool spinless = t.shape.spin.is_scalar();
  if (t.array && spinless && t.shape.color == Level{Kind::matrix, 3})
    return "QDP_" + (precision + std::string("ColorMatrix"));
  if (t.shape.color != Level{Kind::vector, 3}) return "Lattice";
  if (t.array && t.shape.spin == Level{Kind::vector, 4}) return "USQCD_" + (precision + std::string("DiracFermion"));
  if (!t.array && spinless) return "USQCD_" + (precision + std::string("ColorVector"));
  return "Lattice";
}

/// Rows of a vector or matrix, else 1: seeds as well.
int rows_of_level(const detail::Level& level) {
  using detail::Kind;
  return level.kind == Kind::vector || level.kind == Kind::matrix ? level.n : 1;
}

void zero_unwritten(const std::vector<jit::Field*>& fields) {
  for (jit::Field* f : fields)
    if (!f->ever_written()) std::memset(f->host_overwrite(), 0, f->host_bytes());
}

io::ScidacRecordInfo info_of(const detail::RecordTarget& t) {
  io::ScidacRecordInfo info;
  info.kind = t.fields.empty() ? io::RecordKind::global : io::RecordKind::field;
  info.datatype = type_name(t);
  info.word = io::file_word(t.shape.word);
  info.colors = rows_of_level(t.shape.color);
  info.spins = rows_of_level(t.shape.spin);
  info.typesize = t.shape.bytes();
  info.datacount = static_cast<int>(t.fields.empty() ? t.count : t.fields.size());
  return info;
}

/// User text that is not XML (other programs write what they like there) arrives as the content of <text>, with ? for
/// what no XML can hold. The primary's text counts.
void put_xml(XMLReader& xml, std::string text) {
  io::broadcast(text);
  xml.close();
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (text.empty()) return;
  std::istringstream in(text);
  try {
    xml.open(in);
  } catch (const XMLError&) {
    for (char& c : text)
      if (const auto byte = static_cast<unsigned char>(c);
          byte >= 0x7f || (byte < 0x20 && byte != '\n' && byte != '\t'))
        c = '?';
    std::istringstream plain("<text>" + xml::escape(text) + "</text>");
    xml.open(plain);
  }
}

std::string text_of(XMLBufferWriter& xml) {
  std::string text = xml.str();
  // LIME text records end with a null character, which users' XML may carry along.
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

// ---- reading

// The primary has the file; what it says of itself is broadcast where it is asked for.
struct QDPFileReader::File {
  explicit File(const std::string& name) : path(name) {
    io::on_primary([&] { scidac.emplace(path); });
    records = scidac ? scidac->records().size() : 0;
    io::broadcast(records);
  }
  /// Throws unless there is one more, everywhere.
  void require_next(const std::string& what) const {
    if (position >= records)
      throw jit::UserError({.what = "reading " + what + " from \"" + path + "\"",
                            .expected = "one more record",
                            .got = "the end of the file after " + std::to_string(position) + " records"});
  }
  /// On the primary.
  const io::ScidacRecord& next() const { return scidac->records()[position]; }
  /// Its XML, on the primary; then comes the one after it.
  std::string pass() {
    const std::string xml = scidac ? next().xml : "";
    ++position;
    return xml;
  }

  std::string path;
  std::optional<io::ScidacReader> scidac;
  std::size_t records = 0, position = 0;
};

QDPFileReader::QDPFileReader() = default;
QDPFileReader::~QDPFileReader() = default;
QDPFileReader::QDPFileReader(XMLReader& xml, const std::string& path, QDP_serialparallel_t serpar) {
  open(xml, path, serpar);
}

void QDPFileReader::open(XMLReader& xml, const std::string& path, QDP_serialparallel_t) {
  note(nullptr);
  file_ = std::make_unique<File>(path);
  put_xml(xml, file_->scidac ? file_->scidac->file_xml() : "");
}
void QDPFileReader::close() { file_.reset(); }

/// What the data of the last record said; nothing where no data were read.
void QDPFileReader::note(const io::ReadReport* report) {
  checksum_ = report ? report->computed : "";
  verdict_ = report ? report->verdict() : "";
  state_ = !report                                            ? QDPIO_goodbit
           : !report->good()                                  ? QDPIO_badbit
           : report->checksum == io::ChecksumStatus::verified ? QDPIO_goodbit
                                                              : QDPIO_failbit;
  if (report && !report->warning.empty()) QDPIO::cerr << "warning: " << report->warning << "\n";
}

bool QDPFileReader::eof() const { return !file_ || file_->position >= file_->records; }

int QDPFileReader::next_count(detail::Shape shape) const {
  if (!file_) throw jit::UserError({.what = "QDPFileReader::read", .expected = "an open file", .got = "none"});
  file_->require_next("an array");
  return io::once([&] {
    const io::ScidacRecord& record = file_->next();
    if (record.is_gauge_field()) return 4;
    const std::size_t object = static_cast<std::size_t>(shape.components()) * io::bytes_of(record.info.word);
    return static_cast<int>(std::max<std::size_t>(1, record.info.bytes() / object));
  });
}

void QDPFileReader::read_record(XMLReader& xml, const detail::RecordTarget& to) {
  if (!file_) throw jit::UserError({.what = "QDPFileReader::read", .expected = "an open file", .got = "none"});
  file_->require_next(type_name(to));
  io::ReadReport report;
  if (to.fields.empty()) {
    const std::size_t words = to.count * static_cast<std::size_t>(to.shape.components());
    const io::Word word = io::file_word(to.shape.word);
    io::on_primary([&] { report = file_->scidac->read_global(file_->next(), word, to.words, words); });
    io::broadcast(to.words, words * io::bytes_of(word));
  } else {
    // A box leaves the other sites alone. Those of fields without contents become zero, rather than what memory held.
    if (io::once([&] { return file_->next().info.kind == io::RecordKind::hypercube; })) zero_unwritten(to.fields);
    io::FieldSink sink(to.fields);
    io::on_primary_with(sink, [&] { report = file_->scidac->read_field(file_->next(), io::lattice_geometry(), sink); });
  }
  const std::string text = file_->pass();
  io::broadcast(report);
  note(&report);
  put_xml(xml, text);
}

void QDPFileReader::read(XMLReader& xml, BinaryBufferReader& bytes) {
  if (!file_) throw jit::UserError({.what = "QDPFileReader::read", .expected = "an open file", .got = "none"});
  file_->require_next("bytes");
  std::string text;
  io::ReadReport report;
  io::on_primary([&] {
    const io::ScidacRecord& record = file_->next();
    text.resize(record.info.bytes());
    report = file_->scidac->read_global(record, io::Word::bytes, text.data(), text.size());
  });
  const std::string record_xml = file_->pass();
  io::broadcast(report);
  note(&report);
  bytes.open(text);
  put_xml(xml, record_xml);
}

void QDPFileReader::read(XMLReader& xml) {
  if (!file_) throw jit::UserError({.what = "QDPFileReader::read", .expected = "an open file", .got = "none"});
  file_->require_next("a record");
  const std::string text = file_->pass();
  note(nullptr);
  put_xml(xml, text);
}

// ---- writing

static_assert(QDPIO_MULTIFILE == static_cast<int>(io::VolumeFormat::nodes) &&
              QDPIO_PARTFILE == static_cast<int>(io::VolumeFormat::parts));

struct QDPFileWriter::File {
  io::SiteGeometry geometry;
  std::optional<io::ScidacWriter> scidac;  ///< on the primary
};

QDPFileWriter::QDPFileWriter() = default;
QDPFileWriter::QDPFileWriter(XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t volfmt,
                             QDP_serialparallel_t serpar, QDP_filemode_t mode, const std::string& data_LFN) {
  open(xml, path, volfmt, serpar, mode, data_LFN);
}
QDPFileWriter::~QDPFileWriter() {
  // As in QDP++ the end of the object's life completes the file, but a file whose writing failed never appears.
  if (!file_ || std::uncaught_exceptions() > exceptions_) return;
  // Without a word to other ranks: they may have ended for a reason of their own.
  try {
    if (file_->scidac) file_->scidac->close();
  } catch (const std::exception& e) {
    QDPIO::cerr << e.what() << "\n";
  }
}

void QDPFileWriter::open(XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t volfmt, QDP_serialparallel_t,
                         QDP_filemode_t mode, const std::string& data_LFN) {
  file_.reset();
  auto file = std::make_unique<File>();
  file->geometry = io::lattice_geometry();
  io::on_primary([&] {
    file->scidac.emplace(path, file->geometry, text_of(xml),
                         mode == QDPIO_APPEND ? io::ScidacMode::append : io::ScidacMode::replace,
                         io::volumes_of_ranks(static_cast<io::VolumeFormat>(volfmt)));
    file->scidac->set_lfn(data_LFN);
  });
  file_ = std::move(file);
  checksum_.clear();
  exceptions_ = std::uncaught_exceptions();
}

void QDPFileWriter::close() {
  if (!file_) return;
  auto file = std::move(file_);
  io::on_primary([&] { file->scidac->close(); });
}

void QDPFileWriter::write_record(XMLBufferWriter& xml, const detail::RecordTarget& from, const multi1d<int>* lower,
                                 const multi1d<int>* upper) {
  if (!file_) throw jit::UserError({.what = "QDPFileWriter::write", .expected = "an open file", .got = "none"});
  io::ScidacRecordInfo info = info_of(from);
  if (from.fields.empty()) {
    return io::on_primary([&] {
      file_->scidac->write_global(info, text_of(xml), info.word, from.words,
                                  from.count * static_cast<std::size_t>(from.shape.components()));
    });
  }
  if (lower) {
    info.kind = io::RecordKind::hypercube;
    info.lower.assign(lower->slice(), lower->slice() + lower->size());
    info.upper.assign(upper->slice(), upper->slice() + upper->size());
  }
  io::FieldSource source(from.fields, file_->geometry);
  io::SiteChecksum checksum;
  io::on_primary_with(source, [&] { checksum = file_->scidac->write_field(info, text_of(xml), source); });
  io::broadcast(checksum);
  checksum_ = checksum.text();
}

void QDPFileWriter::write(XMLBufferWriter& xml, BinaryBufferWriter& bytes) {
  if (!file_) throw jit::UserError({.what = "QDPFileWriter::write", .expected = "an open file", .got = "none"});
  io::on_primary([&] {
    const std::string text = bytes.strPrimaryNode();
    io::ScidacRecordInfo info;
    info.kind = io::RecordKind::global;
    info.datatype = "char";
    info.word = io::Word::bytes;
    info.typesize = 1;
    info.datacount = static_cast<int>(text.size());
    file_->scidac->write_global(info, text_of(xml), io::Word::bytes, text.data(), text.size());
  });
}

}  // namespace QDP
