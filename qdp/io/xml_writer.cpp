#include "qdp/io/xml_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include "jit/support/log.hpp"
#include "qdp/io/xml_reader.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {
namespace {

constexpr const char* kPrologue = "<?xml version=\"1.0\"?>\n\n";
constexpr unsigned kIndent = 2;

}  // namespace

// ---- tags ----------------------------------------------------------------------------------------------------------

XMLWriter::~XMLWriter() = default;

void XMLWriter::start(unsigned indent) {
  tags_.clear();
  indent_ = indent;
  root_written_ = text_last_ = false;
}

void XMLWriter::new_line() { emit("\n" + std::string(kIndent * indent_, ' ')); }

void XMLWriter::put_tag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes, bool is_empty) {
  if (root_written_ && tags_.empty())
    throw XMLError({.what = "XMLWriter: tag <" + tag + ">",
                    .expected = "one root element",
                    .got = "a second one",
                    .what_now = "push a root before, or pop it after"});
  if (tag.empty()) throw XMLError({.what = "XMLWriter: tag", .expected = "a name", .got = "an empty string"});
  new_line();
  std::string text = "<" + tag;
  for (const auto& attribute : attributes) {
    if (attribute.isEmpty()) continue;
    std::string value;
    for (const char c : xml::escape(attribute.getValue()))
      value += c == '"' ? std::string("&quot;") : std::string(1, c);
    text += "  " + attribute.getName() + "=\"" + value + "\"";
  }
  emit(text + (is_empty ? "/>" : ">"));
  if (!is_empty) {
    tags_.push_back(tag);
    ++indent_;
  }
  root_written_ = true;
  text_last_ = false;
}

void XMLWriter::openTag(const std::string& tag) { put_tag(tag, {}, false); }
void XMLWriter::openTag(const std::string& prefix, const std::string& tag) { put_tag(prefix + ":" + tag, {}, false); }
void XMLWriter::openTag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes) {
  put_tag(tag, attributes, false);
}
void XMLWriter::openTag(const std::string& prefix, const std::string& tag,
                        const XMLWriterAPI::AttributeList& attributes) {
  put_tag(prefix + ":" + tag, attributes, false);
}
void XMLWriter::emptyTag(const std::string& tag) { put_tag(tag, {}, true); }
void XMLWriter::emptyTag(const std::string& prefix, const std::string& tag) { put_tag(prefix + ":" + tag, {}, true); }
void XMLWriter::emptyTag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes) {
  put_tag(tag, attributes, true);
}
void XMLWriter::emptyTag(const std::string& prefix, const std::string& tag,
                         const XMLWriterAPI::AttributeList& attributes) {
  put_tag(prefix + ":" + tag, attributes, true);
}

void XMLWriter::closeTag() {
  if (tags_.empty())
    throw XMLError({.what = "XMLWriter: pop",
                    .expected = "an open tag",
                    .got = "none",
                    .what_now = "compare the numbers of push and pop"});
  const std::string tag = std::move(tags_.back());
  tags_.pop_back();
  --indent_;
  if (!text_last_) new_line();
  emit("</" + tag + ">");
  text_last_ = false;
}

void XMLWriter::write(const std::string& text) {
  if (tags_.empty())
    throw XMLError({.what = "XMLWriter: value \"" + text.substr(0, 40) + "\"",
                    .expected = "an open tag",
                    .got = "none",
                    .what_now = "push a root before"});
  emit(text);
  text_last_ = true;
}

void XMLWriter::writeXML(const std::string& text) {
  emit(text);
  emit("\n");
}

// ---- buffer and file -----------------------------------------------------------------------------------------------

XMLBufferWriter::~XMLBufferWriter() = default;
XMLBufferWriter::XMLBufferWriter(const XMLBufferWriter&) = default;
XMLBufferWriter::XMLBufferWriter(XMLBufferWriter&&) noexcept = default;
XMLBufferWriter& XMLBufferWriter::operator=(const XMLBufferWriter&) = default;
XMLBufferWriter& XMLBufferWriter::operator=(XMLBufferWriter&&) = default;

void XMLBufferWriter::emit(std::string_view text) { text_ += text; }
void XMLBufferWriter::open(const std::string& text) {
  start(0);
  text_ = text;
}

std::string XMLBufferWriter::str() const { return kPrologue + text_ + "\n"; }

struct XMLFileWriter::File {
  std::string name;
  std::FILE* stream = nullptr;  // null on the processes that do not write
  bool failed = false;
};

XMLFileWriter::XMLFileWriter() = default;
XMLFileWriter::XMLFileWriter(const std::string& filename, bool write_prologue) { open(filename, write_prologue); }
XMLFileWriter::XMLFileWriter(XMLFileWriter&&) noexcept = default;

XMLFileWriter& XMLFileWriter::operator=(XMLFileWriter&& other) noexcept {
  XMLFileWriter old(std::move(*this));  // closes the file that was open here
  XMLWriter::operator=(other);
  file_ = std::move(other.file_);
  return *this;
}

XMLFileWriter::~XMLFileWriter() {
  // Without a word to other processes: they may have ended for a reason of their own.
  try {
    if (const std::string failure = finish(); !failure.empty()) jit::log_error("xml", failure);
  } catch (const std::exception& e) {
    jit::log_error("xml", e.what());
  }
}

void XMLFileWriter::open(const std::string& filename, bool write_prologue) {
  close();
  auto file = std::make_unique<File>();
  file->name = filename;
  std::string failure;
  if (io::is_primary()) {
    file->stream = std::fopen(filename.c_str(), "w");
    if (file->stream == nullptr)
      failure = jit::format_error({.what = "XMLFileWriter: open \"" + filename + "\"",
                                   .got = std::strerror(errno),
                                   .what_now = "check the folder and the permissions"});
  }
  io::broadcast(failure);
  if (!failure.empty()) throw XMLError(failure);
  file_ = std::move(file);
  start(0);
  if (write_prologue) emit(kPrologue);
}

bool XMLFileWriter::is_open() const { return file_ != nullptr; }

void XMLFileWriter::emit(std::string_view text) {
  if (file_ == nullptr)
    throw XMLError({.what = "XMLFileWriter: write",
                    .expected = "an open file",
                    .got = "a closed one",
                    .what_now = "call open first"});
  if (file_->stream != nullptr && std::fwrite(text.data(), 1, text.size(), file_->stream) != text.size())
    file_->failed = true;
}

void XMLFileWriter::flush() {
  if (file_ == nullptr) return;
  if (file_->stream != nullptr && std::fflush(file_->stream) != 0) file_->failed = true;
}

bool XMLFileWriter::fail() const {
  bool failed = file_ != nullptr && file_->failed;
  io::broadcast(failed);
  return failed;
}

void XMLFileWriter::close() {
  if (file_ == nullptr) return;
  std::string failure = finish();
  io::broadcast(failure);
  if (!failure.empty()) throw XMLError(failure);
}

std::string XMLFileWriter::finish() {
  if (file_ == nullptr) return {};
  if (has_open_tags()) jit::log_warn("xml", "\"", file_->name, "\" was closed with tags still open; they were closed");
  while (has_open_tags()) closeTag();
  start(0);
  const jit::Owned<File> file = std::move(file_);
  if (file->stream == nullptr) return {};
  if (std::fclose(file->stream) != 0) file->failed = true;
  return file->failed ? jit::format_error({.what = "XMLFileWriter: \"" + file->name + "\" is not complete",
                                           .got = "a write error",
                                           .what_now = "check the free disk space"})
                      : "";
}

// ---- values --------------------------------------------------------------------------------------------------------

void push(XMLWriter& xml, const std::string& tag) { xml.openStruct(tag); }
void pop(XMLWriter& xml) { xml.closeStruct(); }

namespace {

template <class T>
void write_value(XMLWriter& xml, const std::string& tag, const T& x) {
  xml.openTag(tag);
  xml.write(x);
  xml.closeTag();
}

}  // namespace

void write(XMLWriter& xml, const std::string& tag, const std::string& text) {
  const bool plain = text.find_first_of("&<>") == std::string::npos || xml::is_balanced(text);
  write_value(xml, tag, plain ? text : xml::escape(text));
}
void write(XMLWriter& xml, const std::string& tag, const char* text) { write(xml, tag, std::string(text)); }
void write(XMLWriter& xml, const std::string& tag, char x) { write(xml, tag, std::string(1, x)); }
void write(XMLWriter& xml, const std::string& tag, bool x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, short x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, unsigned short x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, int x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, unsigned int x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, long x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, unsigned long x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, long long x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, unsigned long long x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, float x) { write_value(xml, tag, x); }
void write(XMLWriter& xml, const std::string& tag, double x) { write_value(xml, tag, x); }

void write(XMLWriter& xml, const std::string& tag, const XMLReader& document) {
  xml.openTag(tag);
  xml << document;
  xml.closeTag();
}
void write(XMLWriter& xml, const std::string& tag, const XMLBufferWriter& document) {
  xml.openTag(tag);
  xml << document;
  xml.closeTag();
}

XMLWriter& operator<<(XMLWriter& xml, const XMLReader& document) {
  std::ostringstream text;
  document.printCurrentContext(text);
  xml.writeXML(text.str());
  return xml;
}
XMLWriter& operator<<(XMLWriter& xml, const XMLBufferWriter& document) {
  xml.writeXML(document.printCurrentContext());
  return xml;
}
XMLWriter& operator<<(XMLWriter& xml, const std::string& text) {
  xml.write(text);
  return xml;
}
XMLWriter& operator<<(XMLWriter& xml, const char* text) { return xml << std::string(text); }
XMLWriter& operator<<(XMLWriter& xml, char x) { return xml << std::string(1, x); }

namespace xml {

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

}  // namespace xml
}  // namespace QDP
