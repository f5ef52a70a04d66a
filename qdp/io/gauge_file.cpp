#include "qdp/io/gauge_file.hpp"

#include "jit/support/error.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/io/scidac.hpp"

#include <algorithm>
#include <charconv>

namespace QDP::io {

namespace {

enum class Container { lime, nersc };

Container container_of(const std::string& name) {
  const std::string path = first_volume(name);
  if (is_nersc_file(path)) return Container::nersc;
  const InputFile file(path);
  if (is_lime_file(file)) return Container::lime;
  throw_format_error(path, 0, "gauge file", "a NERSC header (BEGIN_HEADER) or LIME's magic number 456789ab",
                     file.size() == 0 ? "an empty file" : "other bytes",
                     "Known formats: NERSC archive, SciDAC and ILDG in LIME");
}

const ScidacRecord& gauge_record(const ScidacReader& file) {
  const auto found = std::find_if(file.records().begin(), file.records().end(),
                                  [](const ScidacRecord& record) { return record.is_gauge_field(); });
  if (found != file.records().end()) return *found;
  throw jit::UserError(
      {.what = file.path(),
       .expected = "a record with four SU(3) matrices per site",
       .got = file.records().empty() ? "no record" : "record of type " + file.records().front().info.datatype});
}

/// The number after "plaquette =" in the xlf-info record that tmLQCD writes.
std::optional<double> plaquette_of_xlf_info(const ScidacReader& file) {
  constexpr std::string_view kKey = "plaquette";
  for (const auto& [type, text] : file.other_texts()) {
    if (type != "xlf-info") continue;
    const auto key = text.find(kKey);
    if (key == std::string::npos) continue;
    const auto start = text.find_first_not_of(" \t=", key + kKey.size());
    if (start == std::string::npos) continue;
    double value = 0;
    if (std::from_chars(text.data() + start, text.data() + text.size(), value).ec == std::errc{}) return value;
  }
  return std::nullopt;
}

GaugeFileSummary summary_of_nersc(const std::string& path) {
  GaugeFileSummary summary;
  const NerscHeader header = read_nersc_header(path);
  summary.format = GaugeFormat::nersc;
  summary.geometry.extents = header.nrow;
  summary.word = header.float_size == 4 ? Word::float32 : Word::float64;
  if (header.has_plaquette) summary.plaquette = header.w_plaq;
  if (header.has_link_trace) summary.link_trace = header.link;
  if (header.has_checksum) summary.stored_checksum = hex32(header.checksum);
  summary.nersc = header;
  return summary;
}

GaugeFileSummary summary_of_lime(const std::string& path) {
  GaugeFileSummary summary;
  const ScidacReader file(path);
  const ScidacRecord& record = gauge_record(file);
  summary.format = record.native ? GaugeFormat::scidac : GaugeFormat::ildg;
  summary.geometry = file.geometry();
  if (record.native || record.ildg) summary.word = record.info.word;
  summary.plaquette = plaquette_of_xlf_info(file);
  if (record.checksum) summary.stored_checksum = record.checksum->text();
  summary.file_xml = file.file_xml();
  summary.record_xml = record.xml;
  summary.lfn = record.lfn;
  return summary;
}

}  // namespace

const char* name_of(GaugeFormat format) {
  switch (format) {
    case GaugeFormat::nersc:
      return "NERSC";
    case GaugeFormat::scidac:
      return "SciDAC";
    default:
      return "ILDG";
  }
}

std::string GaugeFileSummary::text() const {
  std::string line = std::string(name_of(format)) + ", lattice " + geometry.text();
  if (word) line += std::string(", ") + name_of(*word);
  if (plaquette) line += ", plaquette " + std::to_string(*plaquette);
  line += stored_checksum.empty() ? ", no checksum" : ", checksum " + stored_checksum;
  return line;
}

GaugeFileSummary inspect_gauge_file(const std::string& path) {
  return container_of(path) == Container::nersc ? summary_of_nersc(path) : summary_of_lime(path);
}

ReadReport verify_gauge_file(const std::string& path) {
  if (container_of(path) == Container::nersc) return verify_nersc(path, read_nersc_header(path));
  const ScidacReader file(path);
  if (file.geometry().extents.empty())
    throw jit::UserError({.what = path + ": lattice", .expected = "an ildg-format record", .got = "none"});
  return file.verify(gauge_record(file), file.geometry());
}

ReadReport read_gauge_file(const std::string& path, const SiteGeometry& geometry, SiteSink& sink) {
  if (container_of(path) == Container::nersc) return read_nersc(path, read_nersc_header(path), geometry, sink);
  const ScidacReader file(path);
  return file.read_field(gauge_record(file), geometry, sink);
}

}  // namespace QDP::io
