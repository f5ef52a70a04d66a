#include "qdp/io/binary_reader.hpp"

#include <memory>
#include <sstream>

#include "jit/support/error.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

BinaryReader::~BinaryReader() = default;

void BinaryReader::read_bytes(char* output, std::size_t bytes) {
  std::istream& stream = getIstream();
  stream.read(output, static_cast<std::streamsize>(bytes));
  const auto got = static_cast<std::size_t>(stream.gcount());
  if (got == bytes) return;
  stream.clear(stream.rdstate() & ~std::ios_base::eofbit & ~std::ios_base::failbit);
  const auto end = static_cast<long long>(stream.tellg());
  stream.setstate(std::ios_base::failbit);
  throw jit::UserError(
      {.what = "BinaryReader: read of " + name(),
       .expected = std::to_string(bytes) + " bytes",
       .got = std::to_string(got) + " up to the end" + (end >= 0 ? " at byte " + std::to_string(end) : ""),
       .what_now = "the data are cut short or of another layout"});
}

void BinaryReader::readArrayPrimaryNode(char* output, std::size_t size, std::size_t nmemb) {
  if (!io::is_primary()) return;
  read_bytes(output, size * nmemb);
  internalChecksum() = QDPUtil::crc32(internalChecksum(), output, size * nmemb);
  if (!QDPUtil::big_endian()) QDPUtil::byte_swap(output, size, nmemb);
}

void BinaryReader::readArrayPrimaryNodeLittleEndian(char* output, std::size_t size, std::size_t nmemb) {
  if (!io::is_primary()) return;
  read_bytes(output, size * nmemb);
  if (QDPUtil::big_endian()) QDPUtil::byte_swap(output, size, nmemb);
}

void BinaryReader::readArray(char* output, std::size_t size, std::size_t nmemb) {
  io::on_primary([&] { readArrayPrimaryNode(output, size, nmemb); });
  io::broadcast(output, size * nmemb);
}

void BinaryReader::readArrayLittleEndian(char* output, std::size_t size, std::size_t nmemb) {
  io::on_primary([&] { readArrayPrimaryNodeLittleEndian(output, size, nmemb); });
  io::broadcast(output, size * nmemb);
}

void BinaryReader::readDesc(std::string& result) {
  int n = 0;
  read(n);
  if (n < 0)
    throw jit::UserError({.what = "BinaryReader: readDesc of " + name(),
                          .expected = "a length",
                          .got = std::to_string(n),
                          .what_now = "the data have another layout"});
  require(static_cast<std::size_t>(n));
  result.resize(static_cast<std::size_t>(n));
  readArray(result.data(), 1, result.size());
}

void BinaryReader::read(std::string& result, std::size_t maxBytes) {
  std::string line;
  io::on_primary([&] {
    std::istream& stream = getIstream();
    while (line.size() < maxBytes) {
      char c = 0;
      read_bytes(&c, 1);
      internalChecksum() = QDPUtil::crc32(internalChecksum(), &c, 1);
      if (c == '\n') return;
      line += c;
    }
    stream.setstate(std::ios_base::failbit);
    throw jit::UserError({.what = "BinaryReader: string in " + name(),
                          .expected = "fewer than " + std::to_string(maxBytes) + " characters",
                          .got = "\"" + line.substr(0, 40) + "...\"",
                          .what_now = "give a larger maximum"});
  });
  io::broadcast(line);
  result = line;
}

bool BinaryReader::fail() {
  bool failed = io::is_primary() && getIstream().fail();
  io::broadcast(failed);
  return failed;
}

QDPUtil::n_uint32_t BinaryReader::getChecksum() {
  QDPUtil::n_uint32_t checksum = internalChecksum();
  io::broadcast(checksum);
  return checksum;
}

void BinaryReader::resetChecksum() { internalChecksum() = 0; }

BinaryReader::pos_type BinaryReader::currentPosition() {
  off_type position = 0;
  if (io::is_primary()) position = getIstream().tellg();
  io::broadcast(position);
  return position;
}

void BinaryReader::seek(pos_type position) { seekBegin(position); }

void BinaryReader::seekBegin(off_type offset) {
  if (io::is_primary()) {
    getIstream().clear();
    getIstream().seekg(offset, std::ios_base::beg);
  }
  resetChecksum();
}

void BinaryReader::seekRelative(off_type offset) {
  if (io::is_primary()) {
    getIstream().clear();
    getIstream().seekg(offset, std::ios_base::cur);
  }
  resetChecksum();
}

void BinaryReader::seekEnd(off_type offset) {
  if (io::is_primary()) {
    getIstream().clear();
    getIstream().seekg(-offset, std::ios_base::end);
  }
  resetChecksum();
}

void BinaryReader::rewind() { seekBegin(0); }

void BinaryReader::require(std::size_t count) {
  constexpr std::size_t kNotWorthASeek = 1 << 16;
  if (count <= kNotWorthASeek) return;
  io::on_primary([&] {
    std::istream& stream = getIstream();
    const std::streamoff here = stream.tellg();
    if (here < 0) return;  // a pipe: reading will tell
    stream.seekg(0, std::ios_base::end);
    const std::streamoff left = stream.tellg() - std::streampos(here);
    stream.seekg(here);
    if (static_cast<std::size_t>(left) >= count) return;
    throw jit::UserError({.what = "BinaryReader: " + name() + " at byte " + std::to_string(here),
                          .expected = "at least " + std::to_string(count) + " more bytes",
                          .got = std::to_string(left),
                          .what_now = "the data are cut short or of another layout"});
  });
}

BinaryBufferReader::BinaryBufferReader() : stream_(std::make_unique<std::istringstream>(std::ios_base::binary)) {}
BinaryBufferReader::BinaryBufferReader(const std::string& bytes) : BinaryBufferReader() { open(bytes); }
BinaryBufferReader::~BinaryBufferReader() = default;

void BinaryBufferReader::open(const std::string& bytes) {
  stream_->clear();
  stream_->str(io::is_primary() ? bytes : std::string());
  checksum_ = 0;
}

std::string BinaryBufferReader::strPrimaryNode() const { return stream_->str(); }

std::string BinaryBufferReader::str() const {
  std::string bytes = stream_->str();
  io::broadcast(bytes);
  return bytes;
}

void BinaryBufferReader::clear() { open({}); }

std::istream& BinaryBufferReader::getIstream() { return *stream_; }

BinaryFileReader::BinaryFileReader() : file_("BinaryFileReader") {}
BinaryFileReader::BinaryFileReader(const std::string& path) : BinaryFileReader() { open(path); }
BinaryFileReader::~BinaryFileReader() = default;

void BinaryFileReader::open(const std::string& path) {
  file_.open(path, std::ios_base::in | std::ios_base::binary);
  checksum_ = 0;
}

void BinaryFileReader::close() { file_.close(); }
std::istream& BinaryFileReader::getIstream() { return file_.stream(); }

}  // namespace QDP
