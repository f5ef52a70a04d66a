#include "qdp/io/scidac.hpp"

#include "jit/support/error.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/io/scidac_xml.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace QDP::io {

namespace {

constexpr char kPrivateFile[] = "scidac-private-file-xml";
constexpr char kFile[] = "scidac-file-xml";
constexpr char kPrivateRecord[] = "scidac-private-record-xml";
constexpr char kRecord[] = "scidac-record-xml";
constexpr char kData[] = "scidac-binary-data";
constexpr char kChecksum[] = "scidac-checksum";
constexpr char kIldgFormat[] = "ildg-format";
constexpr char kIldgLfn[] = "ildg-data-lfn";
constexpr char kIldgData[] = "ildg-binary-data";
constexpr std::string_view kTypes[] = {kPrivateFile, kFile,     kSiteListRecord, kPrivateRecord, kRecord,
                                       kData,        kChecksum, kIldgFormat,     kIldgLfn,       kIldgData};

constexpr std::uint64_t kMaxOtherText = 64 << 10;
constexpr int kSingleFile = static_cast<int>(VolumeFormat::single);

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y UTC", &utc);
  return text;
}

/// The type of which `type` looks like a damaged copy: its beginning, the same letters in another order, or all but one
/// 32-bit word in place. Empty if there is none.
std::string_view resembled(std::string_view type) {
  std::string_view best;
  std::size_t most = type.size() > 4 ? type.size() - 4 : type.size();
  for (const std::string_view known : kTypes) {
    if (known.starts_with(type)) return known;
    if (known.size() != type.size()) continue;
    if (std::is_permutation(type.begin(), type.end(), known.begin())) return known;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < type.size(); ++i) equal += type[i] == known[i];
    if (equal < most) continue;
    best = known;
    most = equal + 1;
  }
  return best;
}

std::string encode_file_info(const SiteGeometry& geometry, VolumeFormat format) {
  const std::string inner = xml_element("version", "1.1") +
                            xml_element("spacetime", static_cast<std::int64_t>(geometry.extents.size())) +
                            xml_element("dims", geometry.extents) + xml_element("volfmt", static_cast<int>(format));
  return kXmlDeclaration + xml_element("scidacFile", inner);
}

std::string encode_record_info(const ScidacRecordInfo& info) {
  std::string inner = xml_element("version", "1.1") + xml_element("date", info.date.empty() ? utc_now() : info.date) +
                      xml_element("recordtype", static_cast<int>(info.kind));
  if (info.kind == RecordKind::hypercube)
    inner += xml_element("spacetime", static_cast<std::int64_t>(info.lower.size())) +
             xml_element("hyperlower", info.lower) + xml_element("hyperupper", info.upper);
  inner +=
      xml_element("datatype", info.datatype) + xml_element("precision", std::string(1, static_cast<char>(info.word)));
  // Where they mean nothing they are 0 and left out, as by QIO.
  if (info.colors > 0) inner += xml_element("colors", info.colors);
  if (info.spins > 0) inner += xml_element("spins", info.spins);
  inner += xml_element("typesize", static_cast<std::int64_t>(info.typesize)) + xml_element("datacount", info.datacount);
  return kXmlDeclaration + xml_element("scidacRecord", inner);
}

/// Four SU(3) matrices per site, on all sites or on those of a box.
bool is_of_links(const ScidacRecordInfo& info) {
  if (info.kind == RecordKind::global || info.datacount != 4) return false;
  const char* letter = info.word == Word::float32 ? "F3_ColorMatrix" : "D3_ColorMatrix";
  return (info.word == Word::float32 || info.word == Word::float64) &&
         info.typesize == kGaugeWordsPerSite / 4 * bytes_of(info.word) && info.datatype.ends_with(letter);
}

bool is_gauge_info(const ScidacRecordInfo& info) { return info.kind == RecordKind::field && is_of_links(info); }

/// The record a bare ILDG file would have had.
ScidacRecordInfo bare_gauge_info(Word word) {
  ScidacRecordInfo info = gauge_record_info(word);
  info.datatype = word == Word::float32 ? "USQCD_F3_ColorMatrix" : "USQCD_D3_ColorMatrix";
  return info;
}

Payload payload_of(const ScidacRecordInfo& info, const SiteGeometry& geometry) {
  return {.geometry = geometry,
          .lower = info.lower,
          .upper = info.upper,
          .site = {.word = info.word, .bytes = info.bytes()}};
}

/// Global data are a lattice of one site of rank 0, in the checksum as well.
Payload global_payload(const ScidacRecordInfo& info) {
  return {.geometry = {{1}}, .site = {.word = info.word, .bytes = info.bytes()}};
}

std::string corner_text(const std::vector<int>& corner) {
  std::string text;
  for (const int x : corner) text += (text.empty() ? "(" : ", ") + std::to_string(x);
  return text + ")";
}

/// Throws unless the box of a hypercube record lies in the lattice.
void check_box(const ScidacRecordInfo& info, const SiteGeometry& geometry, const std::string& what) {
  if (info.kind != RecordKind::hypercube) return;
  const std::size_t dims = geometry.extents.size();
  bool inside = info.lower.size() == dims && info.upper.size() == dims;
  for (std::size_t mu = 0; inside && mu < dims; ++mu)
    inside = 0 <= info.lower[mu] && info.lower[mu] <= info.upper[mu] && info.upper[mu] < geometry.extents[mu];
  if (!inside)
    throw jit::UserError({.what = what + ": hypercube",
                          .expected = "a box inside the lattice " + geometry.text(),
                          .got = "corners " + corner_text(info.lower) + " and " + corner_text(info.upper)});
}

}  // namespace

ScidacRecordInfo gauge_record_info(Word word) {
  ScidacRecordInfo info;
  info.word = word;
  info.datatype = word == Word::float32 ? "QDP_F3_ColorMatrix" : "QDP_D3_ColorMatrix";
  info.colors = 3;
  info.spins = 1;
  info.typesize = kGaugeWordsPerSite / 4 * bytes_of(word);
  info.datacount = 4;
  return info;
}

bool ScidacRecord::is_gauge_field() const { return !native || is_gauge_info(info); }

// ---------------------------------------------------------------------------------------------------- reading

ScidacReader::ScidacReader(const std::string& name) : lime_(first_volume(name)) {
  for (const LimeRecord& record : lime_.records()) attach(record);
  if (pending_ && pending_->native)
    throw_format_error(path(), lime_.records().back().data_offset, "SciDAC record " + pending_->info.datatype,
                       "its binary data", "the end of the file", "The file is truncated; copy it again");
  // Not "no records": a file that has only a header is a legal start for appending.
  if (records_.empty() && geometry_.extents.empty())
    throw_format_error(path(), 0, "LIME file", std::string("a record ") + kPrivateFile + " or " + kIldgData,
                       lime_.records().front().type, "This LIME file holds no field");
  settle_geometry();
  open_other_volumes();
}

std::string ScidacReader::where(const LimeRecord& record) const {
  return path() + ", byte " + std::to_string(record.data_offset) + ": " + record.type;
}

void ScidacReader::attach(const LimeRecord& record) {
  const auto is = [&](const char* type) { return record.type == type; };
  if (is(kPrivateFile)) {
    parse_file_info(record);
  } else if (is(kFile)) {
    file_xml_ = lime_.text(record);
  } else if (is(kSiteListRecord)) {
    if (!several_files_)
      throw_format_error(path(), record.header_offset, "SciDAC file", "no list of sites in a file that is one",
                         "a record " + record.type, "The file contradicts itself");
    site_list_ = record;
  } else if (is(kPrivateRecord)) {
    if (pending_ && pending_->native)
      throw_format_error(path(), record.header_offset, "SciDAC record " + pending_->info.datatype, "its binary data",
                         "the next record");
    pending_ = parse_record_info(record);
  } else if (is(kRecord)) {
    if (!pending_) pending_.emplace();
    pending_->xml = lime_.text(record);
  } else if (is(kIldgFormat)) {
    attach_format(record);
  } else if (is(kIldgLfn)) {
    const bool behind = !pending_ && !records_.empty() && records_.back().lfn.empty();
    if (!behind && !pending_) pending_.emplace();
    (behind ? records_.back() : *pending_).lfn = lime_.text(record);
  } else if (is(kData) || is(kIldgData)) {
    records_.push_back(pending_.value_or(ScidacRecord{}));
    records_.back().data = record;
    pending_.reset();
  } else if (is(kChecksum)) {
    const FlatXml elements(lime_.text(record), where(record));
    const auto suma = elements.find_hex32("suma");
    const auto sumb = elements.find_hex32("sumb");
    if (records_.empty()) return;
    if (suma && sumb) records_.back().checksum = SiteChecksum{*suma, *sumb};
    records_.back().checksum_unreadable = !suma || !sumb;
  } else if (const std::string_view known = resembled(record.type); !known.empty()) {
    throw_format_error(path(), record.header_offset, "LIME record type", std::string(known), "\"" + record.type + "\"",
                       "The file is damaged; copy it again");
  } else if (record.size <= kMaxOtherText) {
    other_texts_.emplace_back(record.type, lime_.text(record));
  }
}

/// The format record stands before the data or after; a native record knows which is its own.
void ScidacReader::attach_format(const LimeRecord& record) {
  const IldgFormat format = parse_ildg_format(lime_.text(record), where(record));
  const bool behind = !pending_ && !records_.empty() && !records_.back().native && !records_.back().ildg;
  if (!behind && !pending_) pending_.emplace();
  (behind ? records_.back() : *pending_).ildg = format;
}

void ScidacReader::parse_file_info(const LimeRecord& record) {
  const FlatXml elements(lime_.text(record), where(record));
  geometry_.extents = elements.get_ints("dims");
  const int spacetime = elements.get_int("spacetime", static_cast<int>(geometry_.extents.size()));
  const bool positive = std::all_of(geometry_.extents.begin(), geometry_.extents.end(), [](int l) { return l > 0; });
  if (geometry_.extents.empty() || !positive || spacetime != static_cast<int>(geometry_.extents.size()))
    throw_format_error(path(), record.data_offset, "lattice <dims> of the SciDAC file",
                       std::to_string(spacetime) + " positive extents", geometry_.text());
  // Version 1.0 files have a count of volumes instead.
  const int volumes = elements.get_int("multifile", 1);
  several_files_ = elements.get_int("volfmt", kSingleFile) != kSingleFile || volumes > 1;
}

void ScidacReader::open_other_volumes() {
  std::size_t fields = 0;
  for (ScidacRecord& record : records_)
    if (record.info.kind != RecordKind::global) record.number = fields++;
  if (!several_files_) return;
  if (!site_list_)
    throw_format_error(path(), 0, "first of several files of a field", "a record " + std::string(kSiteListRecord),
                       "none");
  others_.emplace(lime_, *site_list_, geometry_, fields);
}

ScidacRecord ScidacReader::parse_record_info(const LimeRecord& lime_record) const {
  const FlatXml elements(lime_.text(lime_record), where(lime_record));
  ScidacRecord record;
  record.native = true;
  ScidacRecordInfo& info = record.info;
  const int kind = elements.get_int("recordtype", elements.get_int("globaldata", 0));
  if (kind < 0 || kind > 2)
    throw_format_error(path(), lime_record.data_offset, "<recordtype>", "0 (field), 1 (global) or 2 (hypercube)",
                       std::to_string(kind));
  info.kind = static_cast<RecordKind>(kind);
  info.date = elements.find("date").value_or("");
  info.datatype = elements.get("datatype");
  const std::string precision = elements.get("precision");
  if (precision.size() != 1 || std::string("FDIU").find(precision) == std::string::npos)
    throw_format_error(path(), lime_record.data_offset, "<precision>", "F, D, I or U", "\"" + precision + "\"");
  info.word = static_cast<Word>(precision[0]);
  info.colors = elements.get_int("colors", 0);
  info.spins = elements.get_int("spins", 0);
  const int typesize = elements.get_int("typesize");
  info.datacount = elements.get_int("datacount");
  if (typesize < 0 || info.datacount < 0)
    throw_format_error(path(), lime_record.data_offset, "<typesize> and <datacount>", "counts",
                       std::to_string(typesize) + " and " + std::to_string(info.datacount));
  info.typesize = static_cast<std::size_t>(typesize);
  if (info.kind == RecordKind::hypercube) {
    info.lower = elements.get_ints("hyperlower");
    info.upper = elements.get_ints("hyperupper");
  }
  return record;
}

void ScidacReader::settle_geometry() {
  for (ScidacRecord& record : records_) {
    if (!record.ildg) continue;
    if (geometry_.extents.empty()) geometry_ = record.ildg->geometry;
    if (record.ildg->geometry != geometry_)
      throw_format_error(path(), record.data.header_offset, "lattice of the ildg-format record", geometry_.text(),
                         record.ildg->geometry.text(), "The file contradicts itself");
    if (!record.native) record.info = bare_gauge_info(record.ildg->word);
    if (record.is_gauge_field() && record.info.word != record.ildg->word)
      throw_format_error(path(), record.data.header_offset, "precision of the ildg-format record",
                         name_of(record.info.word), name_of(record.ildg->word), "The file contradicts itself");
  }
}

ScidacRecordInfo ScidacReader::checked_info(const ScidacRecord& record, const SiteGeometry& geometry) const {
  if (!geometry_.extents.empty() && geometry != geometry_)
    throw jit::UserError({.what = path() + ": lattice",
                          .expected = geometry.text(),
                          .got = geometry_.text(),
                          .where = "the program has, the file has",
                          .what_now = "Set the lattice of the program to that of the file, or take another file"});
  ScidacRecordInfo info = record.info;
  if (!record.native && !record.ildg)  // the size tells the precision, once the lattice is known
    info = bare_gauge_info(
        record.data.size == geometry.volume() * bare_gauge_info(Word::float32).bytes() ? Word::float32 : Word::float64);
  check_box(info, geometry, path() + ", record " + info.datatype);
  return info;
}

struct ScidacReader::Part {
  const LimeReader* lime;
  const LimeRecord* data;
  Payload payload;
};

/// Where the data of a field or box lie, all of the size that they should have.
std::vector<ScidacReader::Part> ScidacReader::parts_of(const ScidacRecord& record, const SiteGeometry& geometry) const {
  const ScidacRecordInfo info = checked_info(record, geometry);
  Payload payload = payload_of(info, geometry);
  std::vector<Part> parts;
  if (!others_) parts.push_back({&lime_, &record.data, payload});
  if (others_)
    for (const OtherVolumes::Part& part : others_->parts(lime_, record.data, record.number)) {
      payload.listed = part.sites;
      parts.push_back({part.lime, part.data, payload});
    }
  for (const auto& [lime, data, own] : parts)
    if (const std::uint64_t bytes = own.bytes(); data->size != bytes)
      throw_format_error(lime->path(), data->data_offset, "data of record " + info.datatype,
                         std::to_string(bytes) + " bytes for lattice " + geometry.text(), std::to_string(data->size));
  return parts;
}

std::vector<ScidacReader::Part> ScidacReader::part_of_global(const ScidacRecord& record) const {
  const Payload payload = global_payload(record.info);
  if (record.data.size != payload.bytes())
    throw_format_error(path(), record.data.data_offset, "data of record " + record.info.datatype,
                       std::to_string(payload.bytes()) + " bytes", std::to_string(record.data.size));
  return {{&lime_, &record.data, payload}};
}

/// Reads the data into `sink`, if there is one.
SiteChecksum ScidacReader::stream(const std::vector<Part>& parts, SiteSink* sink) {
  DataSums sums;
  for (const auto& [lime, data, payload] : parts) {
    const std::string what = "data of LIME record " + data->type;
    sums.combine(read_payload(lime->file(*data, data->size), data->data_offset, payload, what, sink));
  }
  return sums.sites;
}

ReadReport ScidacReader::report(const ScidacRecord& record, const SiteChecksum& computed) const {
  // A file without a checksum is legal. One that ends inside a message has lost what came then.
  if (!record.checksum && !record.checksum_unreadable && !lime_.records().back().message_end)
    throw_format_error(path(), lime_.records().back().data_offset, "LIME message", "its last record",
                       "the end of the file", "The file is truncated; copy it again");
  return make_report(path(), record.checksum ? record.checksum->text() : "", computed.text(),
                     !record.checksum_unreadable);
}

ReadReport ScidacReader::read_field(const ScidacRecord& record, const SiteGeometry& geometry, SiteSink& sink) const {
  if (record.info.kind == RecordKind::global)
    throw jit::UserError({.what = path() + ", record " + record.info.datatype,
                          .expected = "a lattice field",
                          .got = "global data",
                          .what_now = "Read it into a variable that is no lattice"});
  const std::vector<Part> parts = parts_of(record, geometry);
  check_site_format(parts[0].payload, sink.format(), path() + ", record " + checked_info(record, geometry).datatype);
  return report(record, stream(parts, &sink));
}

ReadReport ScidacReader::verify(const ScidacRecord& record, const SiteGeometry& geometry) const {
  const bool global = record.info.kind == RecordKind::global;
  return report(record, stream(global ? part_of_global(record) : parts_of(record, geometry), nullptr));
}

ReadReport ScidacReader::read_global(const ScidacRecord& record, Word word, void* words, std::size_t count) const {
  const ScidacRecordInfo& info = record.info;
  if (info.kind != RecordKind::global)
    throw jit::UserError({.what = path() + ", record " + info.datatype,
                          .expected = "global data",
                          .got = "a lattice field",
                          .what_now = "Read it into a lattice field"});
  const std::vector<Part> part = part_of_global(record);
  FunctionSink sink({word, count}, [&](std::uint64_t, std::uint64_t, const void* from) {
    std::memcpy(words, from, count * bytes_of(word));
  });
  check_site_format(part[0].payload, sink.format(), path() + ", record " + info.datatype);
  return report(record, stream(part, &sink));
}

// ---------------------------------------------------------------------------------------------------- writing

ScidacWriter::ScidacWriter(const std::string& path, const SiteGeometry& geometry, const std::string& file_xml,
                           ScidacMode mode, Volumes volumes)
    : volumes_(std::move(volumes)),
      lime_(volumes_.files.empty() ? path : volume_name(path, volumes_.files[0].number)),
      geometry_(geometry) {
  if (mode == ScidacMode::append) {
    const ScidacReader existing(path);
    if (existing.geometry() != geometry)
      throw jit::UserError({.what = path + ": lattice of the file to append to",
                            .expected = geometry.text(),
                            .got = existing.geometry().text()});
    if (existing.is_several_files() || !volumes_.files.empty())
      throw jit::UserError(
          {.what = path + ": file to append to",
           .expected = "one file, and SINGLEFILE asked for",
           .got = existing.is_several_files() ? "several, " + existing.path() + " and others" : "another volume format",
           .what_now = "Read its records and write them to one file"});
    lime_.copy_from(path);
    return;
  }
  if (!volumes_.files.empty()) open_volumes(path);
  lime_.text_record(kPrivateFile, encode_file_info(geometry, volumes_.format), LimePosition::first);
  if (!volumes_.files.empty()) write_site_list(lime_, volumes_.files[0].sites, LimePosition::middle);
  lime_.text_record(kFile, file_xml, LimePosition::last);
}

/// All but the first.
void ScidacWriter::open_volumes(const std::string& path) {
  require_no_other_volumes(path, volumes_.files);
  for (std::size_t i = 1; i < volumes_.files.size(); ++i) {
    others_.push_back(std::make_unique<LimeWriter>(volume_name(path, volumes_.files[i].number)));
    write_site_list(*others_.back(), volumes_.files[i].sites, LimePosition::only);
  }
}

void ScidacWriter::close() {
  if (!others_.empty()) remove_volume(lime_.path());
  for (const auto& lime : others_) lime->close();
  lime_.close();
}

const char* ScidacWriter::begin(const ScidacRecordInfo& info, const std::string& record_xml, std::uint64_t data_bytes) {
  lime_.text_record(kPrivateRecord, encode_record_info(info), LimePosition::first);
  lime_.text_record(kRecord, record_xml, LimePosition::middle);
  // As QIO: after a record of another type nothing in the file is ILDG.
  links_only_ = links_only_ && is_of_links(info) && geometry_.extents.size() == 4;
  const bool ildg = links_only_ && is_gauge_info(info);
  if (ildg) {
    lime_.text_record(kIldgFormat, encode_ildg_format({.word = info.word, .geometry = geometry_}),
                      LimePosition::middle);
    if (!lfn_.empty()) lime_.text_record(kIldgLfn, lfn_, LimePosition::middle);
  }
  const char* const type = ildg ? kIldgData : kData;
  lime_.begin_record(type, data_bytes, LimePosition::middle);
  return type;
}

void ScidacWriter::end(const SiteChecksum& checksum) {
  lime_.end_record();
  lime_.text_record(kChecksum, encode_checksum(checksum), LimePosition::last);
}

SiteChecksum ScidacWriter::write_field(const ScidacRecordInfo& info, const std::string& record_xml,
                                       SiteSource& source) {
  const std::string what = lime_.path() + ", record " + info.datatype;
  if (info.kind == RecordKind::global)
    throw jit::UserError({.what = what, .expected = "kind field or hypercube", .got = "global"});
  check_box(info, geometry_, what);
  Payload payload = payload_of(info, geometry_);
  check_site_format(payload, source.format(), what);
  jit::require_free_space(lime_.path(), payload.bytes());
  if (!volumes_.files.empty()) payload.listed = volumes_.files[0].sites;
  const char* const type = begin(info, record_xml, payload.bytes());
  DataSums sums = write_payload(lime_.file(), payload, source);
  for (std::size_t i = 0; i < others_.size(); ++i) {
    payload.listed = volumes_.files[i + 1].sites;
    others_[i]->begin_record(type, payload.bytes(), LimePosition::only);
    sums.combine(write_payload(others_[i]->file(), payload, source));
    others_[i]->end_record();
  }
  end(sums.sites);
  return sums.sites;
}

SiteChecksum ScidacWriter::write_global(ScidacRecordInfo info, const std::string& record_xml, Word word,
                                        const void* words, std::size_t count) {
  info.kind = RecordKind::global;
  FunctionSource source(
      {word, count}, [&](std::uint64_t, std::uint64_t, void* to) { std::memcpy(to, words, count * bytes_of(word)); });
  const Payload payload = global_payload(info);
  check_site_format(payload, source.format(), lime_.path() + ", record " + info.datatype);
  jit::require_free_space(lime_.path(), payload.bytes());
  begin(info, record_xml, payload.bytes());
  const SiteChecksum checksum = write_payload(lime_.file(), payload, source).sites;
  end(checksum);
  return checksum;
}

}  // namespace QDP::io
