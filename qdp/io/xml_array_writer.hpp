// XMLArrayWriter: an array of structures on top of another writer, one <elem> for each.
//
//   XMLArrayWriter mesons(xml, 16);
//   push(mesons, "Mesons");
//   for (...) { push(mesons); write(mesons, "gamma", i); pop(mesons); }
//   pop(mesons);
#pragma once

#include <string>

#include "qdp/io/xml_writer.hpp"

namespace QDP {

class XMLArrayWriter : public XMLWriter {
 public:
  /// `size` elements are required; -1 stands for any number.
  explicit XMLArrayWriter(XMLWriter& target, int size = -1);
  /// Closes an array that is still open.
  ~XMLArrayWriter() override;

  int size() const { return size_; }
  void close() { closeArray(); }

  void openArray(const std::string& tag);
  /// Throws XMLError if the number of elements is not size().
  void closeArray();
  /// The first call opens the array; then a call outside of an element opens an element, whatever the tag.
  void openStruct(const std::string& tag) override;
  void closeStruct() override;

 private:
  void emit(std::string_view text) override { target_.emit(text); }

  XMLWriter& target_;
  int size_;
  int written_ = 0;
  int depth_ = 0;  // structures open inside of the array
  bool open_ = false;
};

/// Opens and closes one element.
void push(XMLArrayWriter& xml);
void pop(XMLArrayWriter& xml);

}  // namespace QDP
