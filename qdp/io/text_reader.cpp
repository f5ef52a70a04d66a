#include "qdp/io/text_reader.hpp"

#include <memory>
#include <sstream>
#include <utility>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

TextReader::~TextReader() { log_unasked(); }

bool TextReader::fail() {
  unasked_ = nullptr;
  bool failed = io::is_primary() && getIstream().fail();
  io::broadcast(failed);
  return failed;
}

void TextReader::throw_unasked() {
  io::on_primary([&] {
    if (const std::exception_ptr failure = std::exchange(unasked_, nullptr)) std::rethrow_exception(failure);
  });
}

void TextReader::log_unasked() noexcept {
  try {
    if (const std::exception_ptr failure = std::exchange(unasked_, nullptr)) std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    jit::log_error("text", e.what());
  }
}

template <class T>
void TextReader::read_word(T& x) {
  io::on_primary([&] {
    std::istream& stream = getIstream();
    if (stream.fail()) return;
    const auto begin = stream.rdbuf()->pubseekoff(0, std::ios_base::cur, std::ios_base::in);
    if (stream >> x) return;
    // From its begin: what could be the begin of a number has been taken off.
    stream.clear();
    stream.rdbuf()->pubseekpos(begin, std::ios_base::in);
    std::string word;
    stream >> word;
    stream.setstate(std::ios_base::failbit);
    unasked_ = std::make_exception_ptr(jit::UserError(
        {.what = "TextReader: read",
         .expected = std::is_same_v<T, std::string> || std::is_same_v<T, char> ? "more text" : "a number",
         .got = word.empty() ? "the end" : "\"" + word + "\"",
         .where = name(),
         .what_now = "ask fail() where this may happen"}));
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
  log_unasked();
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

TextFileReader::TextFileReader() : file_("TextFileReader") {}
TextFileReader::TextFileReader(const std::string& path) : TextFileReader() { open(path); }
TextFileReader::~TextFileReader() = default;

void TextFileReader::open(const std::string& path) {
  log_unasked();
  file_.open(path, std::ios_base::in);
}

void TextFileReader::close() {
  file_.close();
  throw_unasked();
}

std::istream& TextFileReader::getIstream() { return file_.stream(); }

}  // namespace QDP
