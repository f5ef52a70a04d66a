#include "qdp/io/text_writer.hpp"

#include <memory>
#include <sstream>

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

TextFileWriter::TextFileWriter() : file_("TextFileWriter") {}
TextFileWriter::TextFileWriter(const std::string& path) : TextFileWriter() { open(path); }
TextFileWriter::~TextFileWriter() = default;

void TextFileWriter::open(const std::string& path) { file_.open(path, std::ios_base::out); }
void TextFileWriter::close() { file_.close(); }
void TextFileWriter::flush() { file_.flush(); }
std::ostream& TextFileWriter::getOstream() { return file_.stream(); }

}  // namespace QDP
