#include "qdp/io/nersc.hpp"

#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "qdp/io/ildg.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/util/primary.hpp"
#include "qdp/util/trimmed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

namespace QDP::io {

namespace {

constexpr std::string_view kBegin = "BEGIN_HEADER";
constexpr std::string_view kEnd = "END_HEADER";
constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;
constexpr std::size_t kLinksPerSite = 4;

std::uint64_t bytes_per_site(const NerscHeader& header) { return kLinksPerSite * header.mat_size * header.float_size; }

/// Turns one header line after the other into fields.
class HeaderParser {
 public:
  HeaderParser(std::string path, NerscHeader& header) : path_(std::move(path)), header_(header) {}

  void line(std::uint64_t offset, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return;
    offset_ = offset;
    name_ = trimmed(text.substr(0, equals));
    value_ = trimmed(text.substr(equals + 1));
    assign();
  }

 private:
  template <class T>
  T number(int base = 10) const {
    T value{};
    std::from_chars_result result{};
    if constexpr (std::is_floating_point_v<T>)
      result = std::from_chars(value_.data(), value_.data() + value_.size(), value);
    else
      result = std::from_chars(value_.data(), value_.data() + value_.size(), value, base);
    if (result.ec != std::errc{} || result.ptr != value_.data() + value_.size()) fail("a number");
    return value;
  }

  /// 32 bits in hexadecimal off the front of the value.
  std::uint32_t take_hex32() {
    value_ = trimmed(value_);
    if (value_.starts_with("0x") || value_.starts_with("0X")) value_.remove_prefix(2);
    std::uint32_t value{};
    const auto result = std::from_chars(value_.data(), value_.data() + value_.size(), value, 16);
    if (result.ec != std::errc{}) fail("a number of 32 bits in hexadecimal");
    value_.remove_prefix(static_cast<std::size_t>(result.ptr - value_.data()));
    return value;
  }

  /// Half a unit of the last digit of a decimal number such as 0.5876 or 1.25e-03.
  double half_step() const {
    const auto exponent_at = value_.find_first_of("eE");
    const std::string_view digits = value_.substr(0, exponent_at);
    int exponent = 0;
    if (exponent_at != std::string_view::npos)
      std::from_chars(value_.data() + exponent_at + 1 + (value_[exponent_at + 1] == '+'), value_.data() + value_.size(),
                      exponent);
    const auto point = digits.find('.');
    if (point == std::string_view::npos) return 0;  // "0" or "1" is meant so
    const auto decimals = digits.size() - point - 1;
    return 0.5 * std::pow(10.0, exponent - static_cast<int>(decimals));
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw_format_error(path_, offset_, "NERSC header, " + std::string(name_), expected,
                       "\"" + std::string(value_) + "\"");
  }

  /// mu of a name such as DIMENSION_1.
  bool direction(std::string_view stem, std::size_t& mu) const {
    if (!name_.starts_with(stem)) return false;
    const std::string_view digits = name_.substr(stem.size());
    if (digits.size() != 1 || digits[0] < '1' || digits[0] > '4') fail("a direction 1 to 4 in the name");
    mu = static_cast<std::size_t>(digits[0] - '1');
    return true;
  }

  void assign() {
    std::size_t mu = 0;
    if (name_ == "DATATYPE") {
      if (value_ == "4D_SU3_GAUGE")
        header_.mat_size = 12;
      else if (value_ == "4D_SU3_GAUGE_3x3" || value_ == "4D_SU3_GAUGE_3X3")
        header_.mat_size = 18;
      else
        fail("4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3");
    } else if (name_ == "FLOATING_POINT") {
      floating_point();
    } else if (name_ == "CHECKSUM") {
      header_.checksum = take_hex32();
      if (!value_.empty()) fail("a number of 32 bits in hexadecimal");
      header_.has_checksum = true;
    } else if (name_ == "SITE_CHECKSUM") {
      header_.site_checksum.emplace();
      header_.site_checksum->suma = take_hex32();
      header_.site_checksum->sumb = take_hex32();
      if (!value_.empty()) fail("two numbers of 32 bits in hexadecimal");
    } else if (name_ == "PLAQUETTE") {
      header_.w_plaq = number<double>();
      header_.w_plaq_step = half_step();
      header_.has_plaquette = true;
    } else if (name_ == "LINK_TRACE") {
      header_.link = number<double>();
      header_.link_step = half_step();
      header_.has_link_trace = true;
    } else if (direction("DIMENSION_", mu)) {
      header_.nrow[mu] = number<int>();
      if (header_.nrow[mu] < 1) fail("an extent of 1 or more");
    } else if (direction("BOUNDARY_", mu)) {
      if (value_ == "PERIODIC")
        header_.boundary[mu] = 1;
      else if (value_ == "ANTIPERIODIC")
        header_.boundary[mu] = -1;
      else
        header_.boundary[mu] = number<int>();
    } else if (name_ == "SEQUENCE_NUMBER") {
      header_.sequence_number = value_.empty() ? 0 : number<int>();
    } else if (std::string* text = text_field()) {
      *text = value_;
    }
  }

  std::string* text_field() {
    if (name_ == "ENSEMBLE_ID") return &header_.ensemble_id;
    if (name_ == "ENSEMBLE_LABEL") return &header_.ensemble_label;
    if (name_ == "CREATOR") return &header_.creator;
    if (name_ == "CREATOR_HARDWARE" || name_ == "CREATOR_MACHINE") return &header_.creator_hardware;
    if (name_ == "CREATION_DATE") return &header_.creation_date;
    if (name_ == "ARCHIVE_DATE") return &header_.archive_date;
    return nullptr;
  }

  void floating_point() {
    std::string_view rest = value_;
    if (rest.starts_with("IEEE32"))
      header_.float_size = 4;
    else if (rest.starts_with("IEEE64"))
      header_.float_size = 8;
    else
      fail("IEEE32, IEEE32BIG, IEEE32LITTLE, IEEE64, IEEE64BIG or IEEE64LITTLE");
    rest.remove_prefix(6);
    if (rest == "LITTLE")
      header_.byte_order = ByteOrder::little;
    else if (!rest.empty() && rest != "BIG")
      fail("BIG or LITTLE after the number of bits");
    header_.floating_point = value_;
  }

  std::string path_;
  NerscHeader& header_;
  std::uint64_t offset_ = 0;
  std::string_view name_;
  std::string_view value_;
};

void check_gauge_format(const SiteFormat& format, const std::string& what) {
  if (!convertible(format.word, Word::float64) || format.word == Word::bytes ||
      format.words_per_site != kGaugeWordsPerSite)
    throw jit::UserError({.what = what,
                          .expected = std::to_string(kGaugeWordsPerSite) + " reals per site (four SU(3) links)",
                          .got = std::to_string(format.words_per_site) + " words, " + name_of(format.word)});
}

Payload nersc_payload(const NerscHeader& header, ByteOrder order) {
  return {.geometry = {header.nrow},
          .site = {.word = header.float_size == 4 ? Word::float32 : Word::float64,
                   .bytes = bytes_per_site(header),
                   .order = order,
                   .two_rows = header.mat_size == 12,
                   .word_sum = true}};
}

/// Reads the data into `sink`, if there is one.
DataSums read_links(const InputFile& file, const NerscHeader& header, ByteOrder order, SiteSink* sink) {
  const Payload payload = nersc_payload(header, order);
  const std::uint64_t bytes = payload.bytes();
  const std::uint64_t available = file.size() - header.data_offset;
  if (available < bytes)
    throw_format_error(file.path(), header.data_offset, "NERSC data of lattice " + payload.geometry.text(),
                       std::to_string(bytes) + " bytes", std::to_string(available) + " up to the end of the file",
                       "The file is truncated, or DATATYPE or FLOATING_POINT is wrong");
  if (available > bytes)
    throw_format_error(file.path(), header.data_offset + bytes, "NERSC data of lattice " + payload.geometry.text(),
                       "the end of the file", std::to_string(available - bytes) + " more bytes",
                       "Something was appended, or DATATYPE or FLOATING_POINT is wrong");
  return read_payload(file, header.data_offset, payload, "NERSC data", sink);
}

ReadReport report(const std::string& path, const NerscHeader& header, const DataSums& computed) {
  const auto report = make_report(path, header.has_checksum ? hex32(header.checksum) : "", hex32(computed.words));
  if (report.checksum != ChecksumStatus::verified || !header.site_checksum) return report;
  const auto sites = make_report(path, header.site_checksum->text(), computed.sites.text());
  return sites.good() ? report : sites;
}

void check_sizes(std::size_t mat_size, std::size_t float_size, const std::string& what) {
  if ((mat_size != 12 && mat_size != 18) || (float_size != 4 && float_size != 8))
    throw jit::UserError({.what = what,
                          .expected = "mat_size 12 or 18, float_size 4 or 8",
                          .got = std::to_string(mat_size) + " and " + std::to_string(float_size)});
}

std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

/// A value must stay on its line, or a label could end the header.
std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string header_text(const NerscHeader& header) {
  std::string text;
  const auto line = [&text](const std::string& name, const std::string& value) { text += name + " = " + value + "\n"; };
  text += std::string(kBegin) + "\n";
  line("HDR_VERSION", "1.0");
  line("DATATYPE", header.mat_size == 12 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3");
  line("STORAGE_FORMAT", "1.0");
  for (std::size_t mu = 0; mu < 4; ++mu) line("DIMENSION_" + std::to_string(mu + 1), std::to_string(header.nrow[mu]));
  line("LINK_TRACE", decimal(header.link));
  line("PLAQUETTE", decimal(header.w_plaq));
  for (std::size_t mu = 0; mu < 4; ++mu)
    line("BOUNDARY_" + std::to_string(mu + 1), header.boundary[mu] == 1 ? "PERIODIC" : "ANTIPERIODIC");
  line("CHECKSUM", hex32(header.checksum));
  line("SITE_CHECKSUM", header.site_checksum.value_or(SiteChecksum{}).text());
  line("ENSEMBLE_ID", one_line(header.ensemble_id));
  line("ENSEMBLE_LABEL", one_line(header.ensemble_label));
  line("SEQUENCE_NUMBER", std::to_string(header.sequence_number));
  line("CREATOR", one_line(header.creator));
  line("CREATOR_HARDWARE", one_line(header.creator_hardware));
  line("CREATION_DATE", one_line(header.creation_date));
  line("ARCHIVE_DATE", one_line(header.archive_date));
  line("FLOATING_POINT", header.floating_point);
  return text + std::string(kEnd) + "\n";
}

NerscHeader parse_header(const InputFile& file) {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kMaxHeaderBytes)), '\0');
  file.read_at(0, text.data(), text.size(), "NERSC header");
  const std::string_view all = text;
  if (!all.starts_with(kBegin))
    throw_format_error(file.path(), 0, "NERSC header", std::string(kBegin), "other bytes", "This is not a NERSC file");

  NerscHeader header;
  header.nrow.assign(4, 0);
  header.mat_size = 18;  // without DATATYPE, as QDP++
  HeaderParser parser(file.path(), header);
  std::size_t at = 0;
  for (std::string_view line; line != kEnd;) {
    const std::size_t end = all.find('\n', at);
    if (end == std::string_view::npos)
      throw_format_error(file.path(), at, "NERSC header", std::string(kEnd),
                         "no such line in the first " + std::to_string(all.size()) + " bytes");
    line = trimmed(all.substr(at, end - at));
    parser.line(at, line);
    at = end + 1;
  }
  header.data_offset = at;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (header.nrow[mu] == 0)
      throw_format_error(file.path(), 0, "NERSC header", "DIMENSION_" + std::to_string(mu + 1), "none");
  return header;
}

}  // namespace

void broadcast(NerscHeader& h) {
  broadcast_all(h.nrow, h.boundary, h.w_plaq, h.link, h.mat_size, h.float_size, h.checksum, h.sequence_number,
                h.ensemble_id, h.ensemble_label, h.creator, h.creator_hardware, h.creation_date, h.archive_date,
                h.site_checksum, h.w_plaq_step, h.link_step, h.has_checksum, h.has_plaquette, h.has_link_trace,
                h.floating_point, h.byte_order, h.data_offset);
}

bool is_nersc_file(const std::string& path) {
  const InputFile file(path);
  if (file.size() < kBegin.size()) return false;
  std::string start(kBegin.size(), '\0');
  file.read_at(0, start.data(), start.size(), "first bytes");
  return start == kBegin;
}

NerscHeader read_nersc_header(const std::string& path) {
  const InputFile file(path);
  NerscHeader header = parse_header(file);
  const bool order_is_open = header.floating_point == "IEEE32" || header.floating_point == "IEEE64";
  if (order_is_open && header.has_checksum &&
      read_links(file, header, ByteOrder::big, nullptr).words != header.checksum &&
      read_links(file, header, ByteOrder::little, nullptr).words == header.checksum)
    header.byte_order = ByteOrder::little;
  return header;
}

ReadReport read_nersc(const std::string& path, const NerscHeader& header, const SiteGeometry& geometry,
                      SiteSink& sink) {
  const SiteGeometry in_file{header.nrow};
  if (in_file != geometry)
    throw jit::UserError({.what = path + ": lattice",
                          .expected = geometry.text(),
                          .got = in_file.text(),
                          .where = "the program has, the file has",
                          .what_now = "Set the lattice of the program to that of the file, or take another file"});
  check_gauge_format(sink.format(), path + ": NERSC gauge field");
  return report(path, header, read_links(InputFile(path), header, header.byte_order, &sink));
}

ReadReport verify_nersc(const std::string& path, const NerscHeader& header) {
  return report(path, header, read_links(InputFile(path), header, header.byte_order, nullptr));
}

void write_nersc(const std::string& path, NerscHeader& header, SiteSource& source) {
  check_sizes(header.mat_size, header.float_size, path + ": NERSC header");
  check_gauge_format(source.format(), path + ": NERSC gauge field");
  const bool dimensions = header.nrow.size() == 4 && header.boundary.size() == 4;
  if (!dimensions || std::any_of(header.boundary.begin(), header.boundary.end(), [](int b) { return b * b != 1; }))
    throw jit::UserError({.what = path + ": NERSC header",
                          .expected = "four entries in nrow and boundary, boundary 1 or -1",
                          .got = "nrow " + SiteGeometry{header.nrow}.text() + ", " +
                                 std::to_string(header.boundary.size()) + " boundaries"});
  header.floating_point = header.float_size == 4 ? "IEEE32BIG" : "IEEE64BIG";
  header.byte_order = ByteOrder::big;
  header.has_checksum = header.has_plaquette = header.has_link_trace = true;
  header.checksum = 0;
  header.site_checksum.reset();

  const Payload payload = nersc_payload(header, ByteOrder::big);
  const std::string placeholder = header_text(header);
  header.data_offset = placeholder.size();
  jit::require_free_space(path, placeholder.size() + payload.bytes());
  jit::AtomicFile file(path);
  file.write(placeholder.data(), placeholder.size());
  const DataSums sums = write_payload(file, payload, source);
  header.checksum = sums.words;
  header.site_checksum = sums.sites;
  // INVARIANT: the checksums have a fixed width, so the header keeps its length.
  const std::string final_text = header_text(header);
  file.write_at(0, final_text.data(), final_text.size());
  commit(file);
}

std::uint32_t nersc_checksum(SiteSource& source, const SiteGeometry& geometry, std::size_t mat_size,
                             std::size_t float_size) {
  check_sizes(mat_size, float_size, "NERSC checksum");
  check_gauge_format(source.format(), "NERSC checksum");
  NerscHeader header;
  header.mat_size = mat_size;
  header.float_size = float_size;
  header.nrow = geometry.extents;
  return sums_of_payload(nersc_payload(header, ByteOrder::big), source).words;
}

}  // namespace QDP::io
