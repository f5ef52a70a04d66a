#include "qdp/io/binary_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>

#include "jit/support/error.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

BinaryWriter::~BinaryWriter() = default;

bool BinaryWriter::writes_here() const { return isLocal() || io::is_primary(); }

void BinaryWriter::writeArrayPrimaryNode(const char* input, std::size_t size, std::size_t nmemb) {
  if (!writes_here()) return;
  std::ostream& stream = getOstream();
  constexpr std::size_t block_bytes = 1 << 16;  // swapped through a buffer of this size, the input stays as it is
  char block[block_bytes];
  const bool swap = size > 1 && !QDPUtil::big_endian();
  const std::size_t step = std::max<std::size_t>(1, block_bytes / std::max<std::size_t>(1, size));
  if (swap && size > block_bytes)
    throw jit::InternalError("BinaryWriter: element of " + std::to_string(size) + " bytes");
  for (std::size_t i = 0; i < nmemb; i += step) {
    const std::size_t count = std::min(step, nmemb - i);
    const char* source = input + i * size;
    if (swap) {
      std::memcpy(block, source, count * size);
      QDPUtil::byte_swap(block, size, count);
      source = block;
    }
    stream.write(source, static_cast<std::streamsize>(count * size));
    internalChecksum() = QDPUtil::crc32(internalChecksum(), source, count * size);
  }
  if (stream.fail())
    throw jit::UserError(
        {.what = "BinaryWriter: write to " + name(), .got = "a write error", .what_now = "check the free disk space"});
}

void BinaryWriter::writeArray(const char* input, std::size_t size, std::size_t nmemb) {
  if (isLocal()) return writeArrayPrimaryNode(input, size, nmemb);
  io::on_primary([&] { writeArrayPrimaryNode(input, size, nmemb); });
}

void BinaryWriter::writeDesc(const std::string& x) {
  if (x.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw jit::UserError(
        {.what = "BinaryWriter: writeDesc", .expected = "fewer than 2^31 characters", .got = std::to_string(x.size())});
  write(static_cast<int>(x.size()));
  writeArray(x.data(), 1, x.size());
}

void BinaryWriter::write(const std::string& x) {
  writeArray(x.data(), 1, x.size());
  write('\n');
}

void BinaryWriter::write(const char* x) { write(std::string(x)); }

bool BinaryWriter::fail() {
  bool failed = writes_here() && getOstream().fail();
  if (!isLocal()) io::broadcast(failed);
  return failed;
}

QDPUtil::n_uint32_t BinaryWriter::getChecksum() {
  QDPUtil::n_uint32_t checksum = internalChecksum();
  if (!isLocal()) io::broadcast(checksum);
  return checksum;
}

void BinaryWriter::resetChecksum() { internalChecksum() = 0; }

BinaryWriter::pos_type BinaryWriter::currentPosition() {
  off_type position = 0;
  if (writes_here()) position = getOstream().tellp();
  if (!isLocal()) io::broadcast(position);
  return position;
}

void BinaryWriter::seek(pos_type position) { seekBegin(position); }

void BinaryWriter::seekBegin(off_type offset) {
  if (writes_here()) getOstream().seekp(offset, std::ios_base::beg);
  resetChecksum();
}

void BinaryWriter::seekRelative(off_type offset) {
  if (writes_here()) getOstream().seekp(offset, std::ios_base::cur);
  resetChecksum();
}

void BinaryWriter::seekEnd(off_type offset) {
  if (writes_here()) getOstream().seekp(-offset, std::ios_base::end);
  resetChecksum();
}

void BinaryWriter::rewind() { seekBegin(0); }

BinaryBufferWriter::BinaryBufferWriter() : stream_(std::make_unique<std::ostringstream>(std::ios_base::binary)) {}
BinaryBufferWriter::BinaryBufferWriter(const std::string& bytes) : BinaryBufferWriter() { open(bytes); }
BinaryBufferWriter::~BinaryBufferWriter() = default;

void BinaryBufferWriter::open(const std::string& bytes) {
  stream_->clear();
  stream_->str("");
  if (isLocal() || io::is_primary()) stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  checksum_ = 0;
}

std::string BinaryBufferWriter::strPrimaryNode() const { return stream_->str(); }

std::string BinaryBufferWriter::str() const {
  std::string bytes = stream_->str();
  if (!isLocal()) io::broadcast(bytes);
  return bytes;
}

void BinaryBufferWriter::clear() { open({}); }

std::ostream& BinaryBufferWriter::getOstream() { return *stream_; }

BinaryFileWriter::BinaryFileWriter() : file_("BinaryFileWriter") {}
BinaryFileWriter::BinaryFileWriter(const std::string& path) : BinaryFileWriter() { open(path); }
BinaryFileWriter::~BinaryFileWriter() = default;

void BinaryFileWriter::open(const std::string& path) {
  file_.open(path, std::ios_base::out | std::ios_base::binary);
  checksum_ = 0;
}

void BinaryFileWriter::close() { file_.close(); }
void BinaryFileWriter::flush() { file_.flush(); }
std::ostream& BinaryFileWriter::getOstream() { return file_.stream(); }

}  // namespace QDP
