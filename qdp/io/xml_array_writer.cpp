#include "qdp/io/xml_array_writer.hpp"

#include "jit/support/log.hpp"

namespace QDP {

XMLArrayWriter::XMLArrayWriter(XMLWriter& target, int size) : target_(target), size_(size) { start(target.indent_); }

XMLArrayWriter::~XMLArrayWriter() {
  try {
    while (depth_ > 0) closeStruct();
    if (open_) closeArray();
  } catch (const std::exception& e) {
    jit::log_error("xml", e.what());
  }
}

void XMLArrayWriter::openArray(const std::string& tag) {
  if (open_)
    throw XMLError({.what = "XMLArrayWriter::openArray",
                    .expected = "one array at a time",
                    .got = "<" + tag + "> inside of an array"});
  start(target_.indent_);
  openTag(tag);
  open_ = true;
  written_ = 0;
}

void XMLArrayWriter::closeArray() {
  if (!open_ || depth_ > 0)
    throw XMLError(
        {.what = "XMLArrayWriter: close", .expected = "an open array", .got = open_ ? "an open element" : "none"});
  open_ = false;
  closeTag();
  if (size_ > 0 && written_ != size_)
    throw XMLError({.what = "XMLArrayWriter: close",
                    .expected = std::to_string(size_) + " elements",
                    .got = std::to_string(written_)});
}

void XMLArrayWriter::openStruct(const std::string& tag) {
  if (!open_) return openArray(tag);
  openTag(depth_ == 0 ? "elem" : tag);
  ++depth_;
}

void XMLArrayWriter::closeStruct() {
  if (depth_ == 0) return closeArray();
  closeTag();
  if (--depth_ == 0) ++written_;
}

void push(XMLArrayWriter& xml) { xml.openStruct(""); }
void pop(XMLArrayWriter& xml) { xml.closeStruct(); }

}  // namespace QDP
