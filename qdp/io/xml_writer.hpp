// XMLWriter and its two kinds, to a buffer and to a file.
//
//   XMLFileWriter xml("out.xml");
//   push(xml, "hmc");
//   write(xml, "beta", 5.7);
//   pop(xml);
//
// Every tag is on its own line, indented by 2; text follows its opening tag directly, as in QDP++.
// Errors: XMLError for a second root, a pop too many, a value outside the root, a file that cannot be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jit/support/owned.hpp"
#include "qdp/io/xml_attribute.hpp"
#include "qdp/io/xml_error.hpp"
#include "qdp/io/xml_token.hpp"

namespace QDP {

class XMLReader;
class XMLBufferWriter;

class XMLWriter {
 public:
  XMLWriter() = default;
  virtual ~XMLWriter();

  virtual void openSimple(const std::string& tag) { openTag(tag); }
  virtual void closeSimple() { closeTag(); }
  virtual void openStruct(const std::string& tag) { openTag(tag); }
  virtual void closeStruct() { closeTag(); }

  void openTag(const std::string& tag);
  void openTag(const std::string& prefix, const std::string& tag);
  void openTag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes);
  void openTag(const std::string& prefix, const std::string& tag, const XMLWriterAPI::AttributeList& attributes);
  void closeTag();
  void emptyTag(const std::string& tag);
  void emptyTag(const std::string& prefix, const std::string& tag);
  void emptyTag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes);
  void emptyTag(const std::string& prefix, const std::string& tag, const XMLWriterAPI::AttributeList& attributes);

  /// The content of the open tag. Text goes out as it is, so that XML kept in a string can be passed through.
  void write(const std::string& text);
  template <xml::Number T>
  void write(const T& x) {
    std::string text;
    xml::append_token(text, x);
    write(text);
  }
  /// XML as it is, outside of the line and indentation rules.
  void writeXML(const std::string& text);

 protected:
  XMLWriter(const XMLWriter&) = default;
  XMLWriter& operator=(const XMLWriter&) = default;

  /// Takes the next piece of the document.
  virtual void emit(std::string_view text) = 0;
  /// Forgets the tags of an earlier document.
  void start(unsigned indent);
  unsigned indent() const { return indent_; }
  bool has_open_tags() const { return !tags_.empty(); }

 private:
  friend class XMLArrayWriter;
  void put_tag(const std::string& tag, const XMLWriterAPI::AttributeList& attributes, bool is_empty);
  void new_line();

  std::vector<std::string> tags_;
  unsigned indent_ = 0;
  bool root_written_ = false;
  bool text_last_ = false;
};

/// A document in memory. Every process keeps its own; an XMLReader takes that of the primary.
class XMLBufferWriter : public XMLWriter {
 public:
  XMLBufferWriter() = default;
  explicit XMLBufferWriter(const std::string& text) : text_(text) {}
  ~XMLBufferWriter() override;
  XMLBufferWriter(const XMLBufferWriter&);
  XMLBufferWriter(XMLBufferWriter&&) noexcept;
  XMLBufferWriter& operator=(const XMLBufferWriter&);
  XMLBufferWriter& operator=(XMLBufferWriter&&);

  void open(const std::string& text);
  /// The document with its XML declaration.
  std::string str() const;
  /// The document without declaration.
  std::string printCurrentContext() const { return text_; }
  void flush() {}
  bool fail() const { return false; }

 private:
  void emit(std::string_view text) override;

  std::string text_;
};

/// A file, written by the primary process as the calls come.
class XMLFileWriter : public XMLWriter {
 public:
  XMLFileWriter();
  explicit XMLFileWriter(const std::string& filename, bool write_prologue = true);
  /// Closes the file; a failure is logged, since destructors do not throw.
  ~XMLFileWriter() override;
  XMLFileWriter(XMLFileWriter&&) noexcept;
  XMLFileWriter& operator=(XMLFileWriter&&) noexcept;

  void open(const std::string& filename, bool write_prologue = true);
  bool is_open() const;
  /// Hands everything so far to the system, for a reader of the running program's output.
  void flush();
  bool fail() const;
  /// Closes tags that are still open, so that the file is well formed, and the file.
  void close();

 private:
  void emit(std::string_view text) override;
  /// Closes the file; what went wrong, on the process that writes.
  std::string finish();

  struct File;
  jit::Owned<File> file_;
};

void push(XMLWriter& xml, const std::string& tag);
void pop(XMLWriter& xml);

/// <tag>text</tag>. Text that is well-formed XML stays as it is; in other text & < > are escaped.
void write(XMLWriter& xml, const std::string& tag, const std::string& text);
void write(XMLWriter& xml, const std::string& tag, const char* text);
void write(XMLWriter& xml, const std::string& tag, char x);
void write(XMLWriter& xml, const std::string& tag, bool x);
void write(XMLWriter& xml, const std::string& tag, short x);
void write(XMLWriter& xml, const std::string& tag, unsigned short x);
void write(XMLWriter& xml, const std::string& tag, int x);
void write(XMLWriter& xml, const std::string& tag, unsigned int x);
void write(XMLWriter& xml, const std::string& tag, long x);
void write(XMLWriter& xml, const std::string& tag, unsigned long x);
void write(XMLWriter& xml, const std::string& tag, long long x);
void write(XMLWriter& xml, const std::string& tag, unsigned long long x);
void write(XMLWriter& xml, const std::string& tag, float x);
void write(XMLWriter& xml, const std::string& tag, double x);

/// Embeds what printCurrentContext() gives.
void write(XMLWriter& xml, const std::string& tag, const XMLReader& document);
void write(XMLWriter& xml, const std::string& tag, const XMLBufferWriter& document);
XMLWriter& operator<<(XMLWriter& xml, const XMLReader& document);
XMLWriter& operator<<(XMLWriter& xml, const XMLBufferWriter& document);

/// The content of the open tag; strings go out as they are.
XMLWriter& operator<<(XMLWriter& xml, const std::string& text);
XMLWriter& operator<<(XMLWriter& xml, const char* text);
XMLWriter& operator<<(XMLWriter& xml, char x);
template <xml::Number T>
XMLWriter& operator<<(XMLWriter& xml, const T& x) {
  xml.write(x);
  return xml;
}

namespace xml {

/// True if <t>text</t> is well-formed XML.
bool is_balanced(const std::string& text);
/// & < > as entities.
std::string escape(std::string_view text);

}  // namespace xml
}  // namespace QDP
