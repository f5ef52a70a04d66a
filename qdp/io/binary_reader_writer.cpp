#include "qdp/io/binary_reader_writer.hpp"

#include <memory>
#include <sstream>

#include "qdp/util/primary.hpp"

namespace QDP {

// A std::stringstream has a position for reading and one for writing; a file needs a seek between the two anyway.
std::istream& BinaryReaderWriter::getIstream() {
  std::iostream& stream = getIOstream();
  if (last_ == Last::write) {
    last_ = Last::read;
    stream.seekg(stream.tellp());
  }
  return stream;
}

std::ostream& BinaryReaderWriter::getOstream() {
  std::iostream& stream = getIOstream();
  if (last_ == Last::read) {
    last_ = Last::write;
    stream.clear();
    stream.seekp(stream.tellg());
  }
  return stream;
}

BinaryBufferReaderWriter::BinaryBufferReaderWriter()
    : stream_(std::make_unique<std::stringstream>(std::ios_base::in | std::ios_base::out | std::ios_base::binary)) {}
BinaryBufferReaderWriter::BinaryBufferReaderWriter(const std::string& bytes) : BinaryBufferReaderWriter() {
  open(bytes);
}
BinaryBufferReaderWriter::~BinaryBufferReaderWriter() = default;

void BinaryBufferReaderWriter::open(const std::string& bytes) {
  stream_->clear();
  stream_->str(io::is_primary() ? bytes : std::string());
  last_ = Last::read;
  resetChecksum();
}

std::string BinaryBufferReaderWriter::strPrimaryNode() const { return stream_->str(); }

std::string BinaryBufferReaderWriter::str() const {
  std::string bytes = stream_->str();
  io::broadcast(bytes);
  return bytes;
}

void BinaryBufferReaderWriter::clear() { open({}); }

std::iostream& BinaryBufferReaderWriter::getIOstream() { return *stream_; }

BinaryFileReaderWriter::BinaryFileReaderWriter() : file_("BinaryFileReaderWriter") {}
BinaryFileReaderWriter::BinaryFileReaderWriter(const std::string& path, std::ios_base::openmode mode)
    : BinaryFileReaderWriter() {
  open(path, mode);
}
BinaryFileReaderWriter::~BinaryFileReaderWriter() = default;

void BinaryFileReaderWriter::open(const std::string& path, std::ios_base::openmode mode) {
  file_.open(path, mode | std::ios_base::binary);
  last_ = Last::read;
  resetChecksum();
}

void BinaryFileReaderWriter::close() { file_.close(); }
void BinaryFileReaderWriter::flush() { file_.flush(); }
std::iostream& BinaryFileReaderWriter::getIOstream() { return file_.stream(); }

}  // namespace QDP
