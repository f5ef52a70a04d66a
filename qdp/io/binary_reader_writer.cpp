#include "qdp/io/binary_reader_writer.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
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

BinaryFileReaderWriter::BinaryFileReaderWriter() : stream_(std::make_unique<std::fstream>()) {}
BinaryFileReaderWriter::BinaryFileReaderWriter(const std::string& path, std::ios_base::openmode mode)
    : BinaryFileReaderWriter() {
  open(path, mode);
}

BinaryFileReaderWriter::~BinaryFileReaderWriter() {
  if (!stream_->is_open()) return;
  stream_->close();
  if (stream_->fail()) jit::log_error("io", "\"", path_, "\" is not complete: write error");
}

void BinaryFileReaderWriter::open(const std::string& path, std::ios_base::openmode mode) {
  close();
  path_ = path;
  io::on_primary([&] {
    stream_->open(path, mode | std::ios_base::binary);
    if (!stream_->is_open())
      throw jit::UserError({.what = "BinaryFileReaderWriter: open \"" + path + "\"",
                            .got = std::strerror(errno),
                            .what_now = "check the name; a new file needs std::ios_base::trunc"});
  });
  last_ = Last::read;
  resetChecksum();
  open_ = true;
}

void BinaryFileReaderWriter::close() {
  if (!open_) return;
  open_ = false;
  io::on_primary([&] {
    stream_->clear();
    stream_->close();
    const bool failed = stream_->fail();
    stream_->clear();
    if (failed)
      throw jit::UserError({.what = "BinaryFileReaderWriter: \"" + path_ + "\" is not complete",
                            .got = "a write error",
                            .what_now = "check the free disk space"});
  });
}

void BinaryFileReaderWriter::flush() {
  if (stream_->is_open()) stream_->flush();
}

std::iostream& BinaryFileReaderWriter::getIOstream() {
  if (!open_)
    throw jit::UserError({.what = "BinaryFileReaderWriter",
                          .expected = "an open file",
                          .got = "a closed one",
                          .what_now = "call open first"});
  return *stream_;
}

}  // namespace QDP
