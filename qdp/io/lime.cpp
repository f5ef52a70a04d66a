#include "qdp/io/lime.hpp"

#include "jit/support/error.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/io/site_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace QDP::io {

namespace {

constexpr std::uint32_t kMagic = 0x456789AB;
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kMessageBegin = 0x8000;
constexpr std::uint16_t kMessageEnd = 0x4000;
constexpr std::size_t kHeaderBytes = 144;
constexpr std::size_t kTypeOffset = 16;
constexpr std::size_t kTypeBytes = 128;
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{64} << 20;

using Header = std::array<unsigned char, kHeaderBytes>;

template <class U>
U big_endian_at(const unsigned char* from) {
  U value = 0;
  for (std::size_t i = 0; i < sizeof(U); ++i) value = static_cast<U>((value << 8) | from[i]);
  return value;
}

template <class U>
void put_big_endian(unsigned char* to, U value) {
  for (std::size_t i = sizeof(U); i-- > 0; value = static_cast<U>(value >> 8))
    to[i] = static_cast<unsigned char>(value);
}

std::uint64_t padding_after(std::uint64_t size) { return (8 - size % 8) % 8; }

LimeRecord parse_header(const InputFile& file, std::uint64_t offset) {
  Header header;
  file.read_at(offset, header.data(), header.size(), "LIME record header");

  const auto magic = big_endian_at<std::uint32_t>(header.data());
  if (magic != kMagic)
    throw_format_error(
        file.path(), offset, "LIME record header", "magic number " + hex32(kMagic), hex32(magic),
        offset == 0 ? "This is not a LIME file" : "The record before has a wrong length, or bytes are missing");
  const auto version = big_endian_at<std::uint16_t>(header.data() + 4);
  if (version != kVersion)
    throw_format_error(file.path(), offset + 4, "LIME version", std::to_string(kVersion), std::to_string(version));

  LimeRecord record;
  const auto flags = big_endian_at<std::uint16_t>(header.data() + 6);
  record.message_begin = (flags & kMessageBegin) != 0;
  record.message_end = (flags & kMessageEnd) != 0;
  record.size = big_endian_at<std::uint64_t>(header.data() + 8);
  record.header_offset = offset;
  record.data_offset = offset + kHeaderBytes;

  const auto* type = reinterpret_cast<const char*>(header.data() + kTypeOffset);
  record.type.assign(type, std::find(type, type + kTypeBytes, '\0'));
  const auto strange = [](char c) { return c < 0x20 || c > 0x7e; };
  if (record.type.empty() || std::any_of(record.type.begin(), record.type.end(), strange))
    throw_format_error(file.path(), offset + kTypeOffset, "LIME record type", "printable characters",
                       record.type.empty() ? "none" : "control characters");

  const std::uint64_t available = file.size() - record.data_offset;
  if (record.size > available)
    throw_format_error(file.path(), record.data_offset, "data of LIME record " + record.type,
                       std::to_string(record.size) + " bytes", std::to_string(available) + " up to the end of the file",
                       "The file is truncated; copy it again");
  return record;
}

}  // namespace

bool is_lime_file(const InputFile& file) {
  if (file.size() < 4) return false;
  unsigned char magic[4];
  file.read_at(0, magic, 4, "magic number");
  return big_endian_at<std::uint32_t>(magic) == kMagic;
}

LimeReader::LimeReader(const std::string& path) : file_(path) {
  if (file_.size() == 0) throw_format_error(path, 0, "LIME file", "a record", "an empty file");
  for (std::uint64_t offset = 0; offset < file_.size();) {
    records_.push_back(parse_header(file_, offset));
    const LimeRecord& record = records_.back();
    offset = record.data_offset + record.size + padding_after(record.size);
  }
}

std::string LimeReader::text(const LimeRecord& record) const {
  if (record.size > kMaxTextBytes)
    throw_format_error(path(), record.data_offset, "text of LIME record " + record.type,
                       "at most " + std::to_string(kMaxTextBytes) + " bytes", std::to_string(record.size));
  std::string text(static_cast<std::size_t>(record.size), '\0');
  read(record, 0, text.data(), text.size());
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

const InputFile& LimeReader::file(const LimeRecord& record, std::uint64_t bytes) const {
  require(record, 0, bytes);
  return file_;
}

void LimeReader::require(const LimeRecord& record, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > record.size || bytes > record.size - offset)
    throw_format_error(path(), record.data_offset + offset, "data of LIME record " + record.type,
                       std::to_string(bytes) + " bytes",
                       std::to_string(record.size - std::min(offset, record.size)) + " in the record");
}

void LimeReader::read(const LimeRecord& record, std::uint64_t offset, void* to, std::size_t bytes) const {
  require(record, offset, bytes);
  file_.read_at(record.data_offset + offset, to, bytes, "data of LIME record " + record.type);
}

LimeWriter::LimeWriter(const std::string& path) : path_(path), file_(path) {}

void LimeWriter::copy_from(const std::string& existing) {
  const InputFile from(existing);
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < from.size();) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), from.size() - offset));
    from.read_at(offset, buffer.data(), bytes, "records to append to");
    file_.write(buffer.data(), bytes);
    offset += bytes;
  }
  const char zeros[8] = {};
  file_.write(zeros, static_cast<std::size_t>(padding_after(from.size())));  // the last record may lack its padding
}

void LimeWriter::begin_record(const std::string& type, std::uint64_t size, LimePosition position) {
  if (!type_.empty()) throw jit::InternalError(path_ + ": LIME record " + type + " begun inside " + type_);
  if (type.empty() || type.size() >= kTypeBytes)
    throw jit::UserError({.what = path_ + ": LIME record type \"" + type + "\"",
                          .expected = "1 to " + std::to_string(kTypeBytes - 1) + " characters",
                          .got = std::to_string(type.size())});
  std::uint16_t flags = 0;
  if (position == LimePosition::first || position == LimePosition::only) flags |= kMessageBegin;
  if (position == LimePosition::last || position == LimePosition::only) flags |= kMessageEnd;

  Header header{};
  put_big_endian(header.data(), kMagic);
  put_big_endian(header.data() + 4, kVersion);
  put_big_endian(header.data() + 6, flags);
  put_big_endian(header.data() + 8, size);
  std::memcpy(header.data() + kTypeOffset, type.data(), type.size());
  file_.write(header.data(), header.size());
  type_ = type;
  announced_ = size;
  begin_ = file_.size();
}

void LimeWriter::end_record() {
  if (const std::uint64_t written = file_.size() - begin_; type_.empty() || written != announced_)
    throw jit::InternalError({.what = path_ + ": LIME record " + type_,
                              .expected = std::to_string(announced_) + " bytes",
                              .got = std::to_string(written)});
  const char zeros[8] = {};
  file_.write(zeros, static_cast<std::size_t>(padding_after(announced_)));
  type_.clear();
}

void LimeWriter::text_record(const std::string& type, const std::string& text, LimePosition position) {
  // SciDAC's own library counts the terminating zero of its strings, and readers of old rely on it.
  begin_record(type, text.size() + 1, position);
  write(text.c_str(), text.size() + 1);
  end_record();
}

void LimeWriter::close() {
  if (!type_.empty()) throw jit::InternalError(path_ + ": closed inside LIME record " + type_);
  commit(file_);
}

std::uint64_t LimeWriter::bytes_of_record(std::uint64_t size) { return kHeaderBytes + size + padding_after(size); }

}  // namespace QDP::io
