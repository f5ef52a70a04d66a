#include "qdp/io/text_writer.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace QDP {

TextWriter::~TextWriter() = default;

bool TextWriter::fail() {
  bool failed = io::is_primary() && getOstream().fail();
  io::broadcast(failed);
  return failed;
}

template <class T>
void TextWriter::write_value(const T& x) {
  std::ostream& stream = getOstream();  // on every process, so that all see a closed file
  if (io::is_primary()) stream << x;
}

void TextWriter::write(const std::string& text) { write_value(text); }
void TextWriter::write(const char* text) { write_value(text); }
void TextWriter::write(char x) { write_value(x); }
void TextWriter::write(bool x) { write_value(x); }
void TextWriter::write(short x) { write_value(x); }
void TextWriter::write(unsigned short x) { write_value(x); }
void TextWriter::write(int x) { write_value(x); }
void TextWriter::write(unsigned int x) { write_value(x); }
void TextWriter::write(long x) { write_value(x); }
void TextWriter::write(unsigned long x) { write_value(x); }
void TextWriter::write(long long x) { write_value(x); }
void TextWriter::write(unsigned long long x) { write_value(x); }
void TextWriter::write(float x) { write_value(x); }
void TextWriter::write(double x) { write_value(x); }

TextBufferWriter::TextBufferWriter() : stream_(std::make_unique<std::ostringstream>()) {}
TextBufferWriter::TextBufferWriter(const std::string& text) : TextBufferWriter() { open(text); }
TextBufferWriter::~TextBufferWriter() = default;

void TextBufferWriter::open(const std::string& text) {
  stream_->clear();
  stream_->str("");
  if (io::is_primary()) *stream_ << text;
}

std::string TextBufferWriter::strPrimaryNode() const { return stream_->str(); }

std::string TextBufferWriter::str() const {
  std::string text = stream_->str();
  io::broadcast(text);
  return text;
}

std::ostream& TextBufferWriter::getOstream() { return *stream_; }

TextFileWriter::TextFileWriter() : stream_(std::make_unique<std::ofstream>()) {}
TextFileWriter::TextFileWriter(const std::string& path) : TextFileWriter() { open(path); }

TextFileWriter::~TextFileWriter() {
  if (!stream_->is_open()) return;
  stream_->close();
  if (stream_->fail()) jit::log_error("io", "\"", path_, "\" is not complete: write error");
}

void TextFileWriter::open(const std::string& path) {
  close();
  path_ = path;
  io::on_primary([&] {
    stream_->open(path);
    if (!stream_->is_open())
      throw jit::UserError({.what = "TextFileWriter: open \"" + path + "\"",
                            .got = std::strerror(errno),
                            .what_now = "check the folder and the permissions"});
  });
  open_ = true;
}

void TextFileWriter::close() {
  if (!open_) return;
  open_ = false;
  io::on_primary([&] {
    stream_->close();
    const bool failed = stream_->fail();
    stream_->clear();
    if (failed)
      throw jit::UserError({.what = "TextFileWriter: \"" + path_ + "\" is not complete",
                            .got = "a write error",
                            .what_now = "check the free disk space"});
  });
}

void TextFileWriter::flush() {
  if (stream_->is_open()) stream_->flush();
}

std::ostream& TextFileWriter::getOstream() {
  if (!open_)
    throw jit::UserError(
        {.what = "TextFileWriter", .expected = "an open file", .got = "a closed one", .what_now = "call open first"});
  return *stream_;
}

}  // namespace QDP
