// XMLReader: values of an XML document, addressed by XPath.
//
//   XMLReader xml("in.xml");
//   XMLReader top(xml, "/Params");          // paths of top start at <Params>
//   int n; read(top, "HMCTrj/n_steps", n);
//   multi1d<int> nrow; read(top, "HMCTrj/nrow", nrow);
//
// Paths are XPath 1.0: "a/b" and "./a/b" from the reader's element (the root element, or that of a derived reader),
// "/a/b" from the document, "elem[3]" the third elem. The primary process reads the file, all parse it, so every query
// answers alike everywhere without further messages.
// Errors: XMLError (also a std::string) with the path, the file and line, what was expected and what was found.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "jit/support/owned.hpp"
#include "qdp/io/xml_error.hpp"
#include "qdp/io/xml_token.hpp"

namespace QDP {

class XMLBufferWriter;

using xml::append_token;  // for built-in types; a user's own are found by their namespace
using xml::describe_token;
using xml::parse_token;

class XMLReader {
 public:
  XMLReader();
  explicit XMLReader(const std::string& filename);
  explicit XMLReader(std::istream& is);
  explicit XMLReader(const XMLBufferWriter& buffer);
  /// Shares the document of `old`; `xpath` must match one element.
  XMLReader(const XMLReader& old, const std::string& xpath);
  ~XMLReader();
  XMLReader(XMLReader&&) noexcept;
  XMLReader& operator=(XMLReader&&) noexcept;

  void open(const std::string& filename);
  void open(std::istream& is);
  void open(const XMLBufferWriter& buffer);
  void open(const XMLReader& old, const std::string& xpath);
  void close();
  bool is_open() const;
  bool is_derived() const;

  /// The text of the one element that matches; it may have no child elements.
  void get(const std::string& xpath, std::string& result) const;
  /// The text as one value; white space around it does not count.
  template <class T>
  requires xml::IsToken<T>::value void get(const std::string& xpath, T& result) const;
  /// The text as a list: add(word) takes each word in turn and returns false for one it cannot use.
  template <class T, class Add>
  void get_list(const std::string& xpath, Add add) const {
    const std::string text = element_text(xpath);
    std::string_view rest = text, word;
    while (xml::next_word(rest, word)) {
      T value{};
      if (!parse_token(word, value)) fail_value(xpath, "a list, each word " + describe_token(value), std::string(word));
      add(value);
    }
  }

  /// The attribute of the one element that matches.
  void getAttribute(const std::string& xpath, const std::string& name, std::string& result) const;
  template <class T>
  requires xml::IsToken<T>::value
  void getAttribute(const std::string& xpath, const std::string& name, T& result) const {
    std::string text;
    getAttribute(xpath, name, text);
    std::string_view rest = text, word, more;
    if (!xml::next_word(rest, word) || xml::next_word(rest, more) || !parse_token(word, result))
      fail_value(xpath + "/@" + name, describe_token(result), text);
  }

  /// Replaces the text of the one element that matches, in this document and for all readers derived from it.
  void set(const std::string& xpath, const std::string& text);
  template <class T>
  requires xml::IsToken<T>::value void set(const std::string& xpath, const T& value) {
    std::string text;
    append_token(text, value);
    set(xpath, text);
  }
  /// Of a real scalar.
  template <class T>
  requires(!xml::IsToken<T>::value && requires(const T& x) { toWordType(x); })
  void set(const std::string& xpath, const T& value) {
    set(xpath, toWordType(value));
  }

  /// Number of nodes that match.
  int count(const std::string& xpath) const;
  /// Line of the document in which the one element that matches begins, for messages.
  int line(const std::string& xpath) const;

  /// Writes the reader's element.
  void print(std::ostream& os) const;
  /// Writes the children of a derived reader's element, or the root element of the document.
  void printCurrentContext(std::ostream& os) const;

  /// Makes `prefix` usable in the paths of this reader and of those derived from it later.
  void registerNamespace(const std::string& prefix, const std::string& uri);

 private:
  struct Impl;
  void load(const std::string& text, const std::string& name);
  std::string element_text(const std::string& xpath) const;
  [[noreturn]] void fail_value(const std::string& xpath, const std::string& expected, const std::string& got) const;

  jit::Owned<Impl> impl_;
};

// Outside of the class, so that it is not inline and need not be compiled where these types are read.
template <class T>
requires xml::IsToken<T>::value void XMLReader::get(const std::string& xpath, T& result) const {
  const std::string text = element_text(xpath);
  std::string_view rest = text, word, more;
  if (!xml::next_word(rest, word) || xml::next_word(rest, more) || !parse_token(word, result))
    fail_value(xpath, describe_token(result), text);
}
extern template void XMLReader::get(const std::string&, bool&) const;
extern template void XMLReader::get(const std::string&, int&) const;
extern template void XMLReader::get(const std::string&, unsigned&) const;
extern template void XMLReader::get(const std::string&, long&) const;
extern template void XMLReader::get(const std::string&, unsigned long&) const;
extern template void XMLReader::get(const std::string&, float&) const;
extern template void XMLReader::get(const std::string&, double&) const;

template <class T>
requires xml::IsToken<T>::value void read(XMLReader& xml, const std::string& xpath, T& value) {
  xml.get(xpath, value);
}
void read(XMLReader& xml, const std::string& xpath, std::string& value);
/// The first character of the text.
void read(XMLReader& xml, const std::string& xpath, char& value);

}  // namespace QDP
