#include "qdp/io/text_reader.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "jit/support/error.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

TextReader::~TextReader() = default;

bool TextReader::fail() {
  bool failed = io::is_primary() && getIstream().fail();
  io::broadcast(failed);
  return failed;
}

template <class T>
void TextReader::read_word(T& x) {
  io::on_primary([&] {
    std::istream& stream = getIstream();
    T value{};
    if (stream >> value) {
      x = value;
      return;
    }
    const bool at_end = stream.eof();
    stream.clear();
    std::string word;
    stream >> word;
    stream.setstate(std::ios_base::failbit);
    throw jit::UserError(
        {.what = "TextReader: read",
         .expected = std::is_same_v<T, std::string> || std::is_same_v<T, char> ? "more text" : "a number",
         .got = at_end && word.empty() ? "the end" : "\"" + word + "\"",
         .where = name()});
  });
  io::broadcast(x);
}

void TextReader::read(std::string& word) { read_word(word); }
void TextReader::read(char& x) { read_word(x); }
void TextReader::read(bool& x) { read_word(x); }
void TextReader::read(short& x) { read_word(x); }
void TextReader::read(unsigned short& x) { read_word(x); }
void TextReader::read(int& x) { read_word(x); }
void TextReader::read(unsigned int& x) { read_word(x); }
void TextReader::read(long& x) { read_word(x); }
void TextReader::read(unsigned long& x) { read_word(x); }
void TextReader::read(long long& x) { read_word(x); }
void TextReader::read(unsigned long long& x) { read_word(x); }
void TextReader::read(float& x) { read_word(x); }
void TextReader::read(double& x) { read_word(x); }

TextBufferReader::TextBufferReader() : stream_(std::make_unique<std::istringstream>()) {}
TextBufferReader::TextBufferReader(const std::string& text) : TextBufferReader() { open(text); }
TextBufferReader::~TextBufferReader() = default;

void TextBufferReader::open(const std::string& text) {
  stream_->clear();
  stream_->str(io::is_primary() ? text : std::string());
}

std::string TextBufferReader::strPrimaryNode() const { return stream_->str(); }

std::string TextBufferReader::str() const {
  std::string text = stream_->str();
  io::broadcast(text);
  return text;
}

std::istream& TextBufferReader::getIstream() { return *stream_; }

TextFileReader::TextFileReader() : stream_(std::make_unique<std::ifstream>()) {}
TextFileReader::TextFileReader(const std::string& path) : TextFileReader() { open(path); }
TextFileReader::~TextFileReader() = default;

void TextFileReader::open(const std::string& path) {
  close();
  path_ = path;
  io::on_primary([&] {
    stream_->open(path);
    if (!stream_->is_open())
      throw jit::UserError({.what = "TextFileReader: open \"" + path + "\"",
                            .got = std::strerror(errno),
                            .what_now = "check the name and the permissions"});
  });
  open_ = true;
}

void TextFileReader::close() {
  open_ = false;
  if (stream_->is_open()) stream_->close();
  stream_->clear();
}

std::istream& TextFileReader::getIstream() {
  if (!open_)
    throw jit::UserError(
        {.what = "TextFileReader", .expected = "an open file", .got = "a closed one", .what_now = "call open first"});
  return *stream_;
}

}  // namespace QDP
