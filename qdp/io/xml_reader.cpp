// XMLReader on libxml2. Entities and network access are off: an input file cannot make the program read another one.
#include "qdp/io/xml_reader.hpp"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include <algorithm>
#include <atomic>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "qdp/io/input_file.hpp"
#include "qdp/io/xml_writer.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {
namespace {

const xmlChar* to_xml(const std::string& text) { return reinterpret_cast<const xmlChar*>(text.c_str()); }
std::string from_xml(const xmlChar* text) { return text != nullptr ? reinterpret_cast<const char*>(text) : ""; }

std::string take_string(xmlChar* text) {
  std::string result = from_xml(text);
  xmlFree(text);
  return result;
}

/// At most this much of a value in a message.
std::string shorten(std::string text) {
  constexpr std::size_t most = 60;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return "\"" + text + "\"";
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// The first error of a document: the later ones follow from it.
struct ParseError {
  int line = 1;
  std::string message;

  template <class Error>
  void take(const Error* error) {
    if (!message.empty() || error->level < XML_ERR_ERROR) return;
    line = error->line;
    message = error->message != nullptr ? trimmed(error->message) : "no root element";
  }
};

struct Document {
  Document(xmlDocPtr parsed, std::string source) : doc(parsed), name(std::move(source)) {}
  ~Document() { xmlFreeDoc(doc); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  xmlDocPtr doc;
  std::string name;
};

struct XPathContext {
  explicit XPathContext(xmlDocPtr doc) : pointer(xmlXPathNewContext(doc)) {
    if (pointer == nullptr) throw jit::InternalError("xmlXPathNewContext: out of memory");
    // The message of a wrong path goes into our exception, not to stderr.
    pointer->error = [](void* text, auto* e) {  // const or not, depending on the version of libxml2
      if (e->message != nullptr) *static_cast<std::string*>(text) = e->message;
    };
    pointer->userData = &error;
  }
  ~XPathContext() { xmlXPathFreeContext(pointer); }
  XPathContext(const XPathContext&) = delete;
  XPathContext& operator=(const XPathContext&) = delete;

  xmlXPathContextPtr pointer;
  std::string error;
};

struct XPathResult {
  explicit XPathResult(xmlXPathObjectPtr object) : pointer(object) {}
  ~XPathResult() { xmlXPathFreeObject(pointer); }
  XPathResult(const XPathResult&) = delete;
  XPathResult& operator=(const XPathResult&) = delete;

  bool is_nodes() const { return pointer->type == XPATH_NODESET; }
  int size() const { return is_nodes() && pointer->nodesetval != nullptr ? pointer->nodesetval->nodeNr : 0; }
  xmlNodePtr node(int i) const { return pointer->nodesetval->nodeTab[i]; }

  xmlXPathObjectPtr pointer;
};

std::string children_of(xmlNodePtr node) {
  constexpr int most = 12;
  std::string names;
  int count = 0;
  for (xmlNodePtr child = node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE || ++count > most) continue;
    names += (names.empty() ? "" : ", ") + from_xml(child->name);
  }
  if (count > most) names += ", ...";
  return names.empty() ? "no child elements" : "the children " + names;
}

bool has_child_elements(xmlNodePtr node) {
  for (xmlNodePtr child = node->children; child != nullptr; child = child->next)
    if (child->type == XML_ELEMENT_NODE) return true;
  return false;
}

/// The path without its last step ("a/b[x/y]" -> "a"), empty if there is none before it.
std::string parent_path(const std::string& path) {
  int depth = 0;
  for (std::size_t i = path.size(); i-- > 1;) {
    if (path[i] == ']') ++depth;
    if (path[i] == '[') --depth;
    if (path[i] == '/' && depth == 0 && path[i - 1] != '/') return path.substr(0, i);
  }
  return {};
}

}  // namespace

struct XMLReader::Impl {
  Impl(std::shared_ptr<Document> shared, xmlNodePtr element, bool from_reader)
      : document(std::move(shared)), node(element), derived(from_reader), context(document->doc) {}

  XPathResult evaluate(const std::string& xpath) {
    context.pointer->node = node;
    context.error.clear();
    xmlXPathObjectPtr object = xmlXPathEval(to_xml(xpath), context.pointer);
    if (object == nullptr)
      throw XMLError({.what = "XPath \"" + xpath + "\"",
                      .expected = "an XPath 1.0 expression",
                      .got = trimmed(context.error),
                      .where = here()});
    return XPathResult(object);
  }

  /// What paths of a derived reader begin at: an element, or the whole document.
  xmlNodePtr one_context(const std::string& xpath) {
    const XPathResult result = evaluate(xpath);
    return result.size() == 1 && result.node(0)->type == XML_DOCUMENT_NODE ? result.node(0) : one_element(xpath);
  }

  xmlNodePtr one_element(const std::string& xpath) {
    const XPathResult result = evaluate(xpath);
    if (result.size() == 1 && result.node(0)->type == XML_ELEMENT_NODE) return result.node(0);
    std::string got;
    if (!result.is_nodes())
      got = "a value that is no element";
    else if (result.size() == 0)
      got = "none";
    else if (result.size() == 1)
      got = "a node that is no element";
    else
      got =
          std::to_string(result.size()) + ", the first two at " + line(result.node(0)) + " and " + line(result.node(1));
    throw XMLError({.what = "XPath \"" + xpath + "\"",
                    .expected = "one element",
                    .got = got,
                    .where = here(),
                    .what_now = result.size() == 0 ? nearest(xpath) : ""});
  }

  /// What there is along the path to something missing.
  std::string nearest(const std::string& xpath) {
    for (std::string path = parent_path(xpath); !path.empty(); path = parent_path(path)) {
      const XPathResult result = evaluate(path);
      if (result.size() >= 1 && result.node(0)->type == XML_ELEMENT_NODE)
        return "\"" + path + "\" at " + line(result.node(0)) + " has " + children_of(result.node(0));
    }
    xmlNodePtr top = element_of(xpath.starts_with('/') ? xmlDocGetRootElement(document->doc) : node);
    return "<" + from_xml(top->name) + "> at " + line(top) + " has " + children_of(top);
  }

  /// The element to speak of, and to print: of a document its root.
  static xmlNodePtr element_of(xmlNodePtr node) {
    return node->type == XML_DOCUMENT_NODE ? xmlDocGetRootElement(node->doc) : node;
  }
  static std::string line(xmlNodePtr node) { return "line " + std::to_string(xmlGetLineNo(element_of(node))); }
  std::string here() const {
    return document->name + ", from " + take_string(xmlGetNodePath(node)) + " at " + line(node);
  }

  void print(std::ostream& os, xmlNodePtr element) const {
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlNodeDump(buffer, document->doc, element, 2, 1);
    os << from_xml(xmlBufferContent(buffer));
    xmlBufferFree(buffer);
  }

  std::shared_ptr<Document> document;
  xmlNodePtr node;
  bool derived;
  XPathContext context;
  std::vector<std::pair<std::string, std::string>> namespaces;
};

XMLReader::XMLReader() = default;
XMLReader::XMLReader(const std::string& filename) { open(filename); }
XMLReader::XMLReader(std::istream& is) { open(is); }
XMLReader::XMLReader(const XMLBufferWriter& buffer) { open(buffer); }
XMLReader::XMLReader(const XMLReader& old, const std::string& xpath) { open(old, xpath); }
XMLReader::~XMLReader() = default;
XMLReader::XMLReader(XMLReader&&) noexcept = default;
XMLReader& XMLReader::operator=(XMLReader&&) noexcept = default;

void XMLReader::open(const std::string& filename) {
  close();
  std::string text, failure;
  if (io::is_primary()) {
    try {
      text = io::read_text_file(filename);
    } catch (const jit::Error& e) {
      failure = e.what();
    }
  }
  io::broadcast(failure);
  if (!failure.empty()) throw XMLError("XMLReader: " + failure);
  io::broadcast(text);
  load(text, filename);
}

void XMLReader::open(std::istream& is) {
  close();
  std::string text;
  if (io::is_primary()) text.assign(std::istreambuf_iterator<char>(is), {});
  io::broadcast(text);
  load(text, "XML text");
}

void XMLReader::open(const XMLBufferWriter& buffer) {
  close();
  std::string text = buffer.str();
  io::broadcast(text);
  load(text, "XMLBufferWriter");
}

void XMLReader::open(const XMLReader& old, const std::string& xpath) {
  if (!old.is_open())
    throw XMLError({.what = "XMLReader(old, \"" + xpath + "\")", .expected = "an open reader", .got = "a closed one"});
  auto derived = std::make_unique<Impl>(old.impl_->document, old.impl_->one_context(xpath), true);
  for (const auto& [prefix, uri] : old.impl_->namespaces) {
    derived->namespaces.emplace_back(prefix, uri);
    xmlXPathRegisterNs(derived->context.pointer, to_xml(prefix), to_xml(uri));
  }
  impl_ = std::move(derived);
}

void XMLReader::load(const std::string& text, const std::string& name) {
  // Leading white space before <?xml is an error in XML, but QDP++ programs pass such strings around.
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const int first_line =
      static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  // Without the blanks between elements, as QDP++ reads documents: what is printed is indented anew. All but the first of a
  // process, in which it keeps them: programs copy their input to their output, and that stays as it was written.
  static std::atomic<bool> is_first{true};
  const int options =
      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | (is_first.load() ? 0 : XML_PARSE_NOBLANKS);
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  if (parser == nullptr) throw jit::InternalError("xmlNewParserCtxt: out of memory");
  ParseError first;
  parser->_private = &first;
  parser->sax->serror = [](void* self, auto* error) {
    static_cast<ParseError*>(static_cast<xmlParserCtxtPtr>(self)->_private)->take(error);
  };
  xmlDocPtr doc =
      xmlCtxtReadMemory(parser, text.data() + begin, static_cast<int>(text.size() - begin), nullptr, nullptr, options);
  if (doc == nullptr || xmlDocGetRootElement(doc) == nullptr) {
    xmlFreeDoc(doc);
    xmlFreeParserCtxt(parser);
    throw XMLError({.what = name + ":" + std::to_string(first_line + first.line),
                    .expected = "well-formed XML",
                    .got = begin == text.size() ? "no text" : first.message});
  }
  xmlFreeParserCtxt(parser);
  is_first = false;
  impl_ = std::make_unique<Impl>(std::make_shared<Document>(doc, name), xmlDocGetRootElement(doc), false);
}

void XMLReader::close() { impl_.reset(); }
bool XMLReader::is_open() const { return impl_ != nullptr; }
bool XMLReader::is_derived() const { return impl_ != nullptr && impl_->derived; }

namespace {

template <class Impl>
Impl& opened(const jit::Owned<Impl>& impl, const std::string& xpath) {
  if (impl == nullptr)
    throw XMLError({.what = "XPath \"" + xpath + "\"",
                    .expected = "an open XMLReader",
                    .got = "a closed one",
                    .what_now = "call open first"});
  return *impl;
}

}  // namespace

std::string XMLReader::element_text(const std::string& xpath) const {
  Impl& impl = opened(impl_, xpath);
  xmlNodePtr node = impl.one_element(xpath);
  if (has_child_elements(node))
    throw XMLError({.what = "XPath \"" + xpath + "\"",
                    .expected = "text",
                    .got = "<" + from_xml(node->name) + "> with " + children_of(node),
                    .where = impl.document->name + ", " + Impl::line(node)});
  return take_string(xmlNodeGetContent(node));
}

void XMLReader::get(const std::string& xpath, std::string& result) const { result = element_text(xpath); }

void XMLReader::fail_value(const std::string& xpath, const std::string& expected, const std::string& got) const {
  const XPathResult result = impl_->evaluate(xpath);
  throw XMLError({.what = "XPath \"" + xpath + "\"",
                  .expected = expected,
                  .got = shorten(got),
                  .where = impl_->document->name + ", " + (result.size() > 0 ? Impl::line(result.node(0)) : "")});
}

void XMLReader::getAttribute(const std::string& xpath, const std::string& name, std::string& result) const {
  Impl& impl = opened(impl_, xpath);
  xmlNodePtr node = impl.one_element(xpath);
  const XPathResult attribute = impl.evaluate(xpath + "/@" + name);
  if (attribute.size() == 1) {
    result = take_string(xmlNodeGetContent(attribute.node(0)));
    return;
  }
  std::string names;
  for (xmlAttrPtr other = node->properties; other != nullptr; other = other->next)
    names += (names.empty() ? "" : ", ") + from_xml(other->name);
  throw XMLError({.what = "XPath \"" + xpath + "\"",
                  .expected = "attribute " + name,
                  .got = names.empty() ? "no attributes" : "the attributes " + names,
                  .where = impl.document->name + ", " + Impl::line(node)});
}

void XMLReader::set(const std::string& xpath, const std::string& text) {
  Impl& impl = opened(impl_, xpath);
  xmlNodePtr node = impl.one_element(xpath);
  if (has_child_elements(node))
    throw XMLError({.what = "XMLReader::set(\"" + xpath + "\")",
                    .expected = "an element with text",
                    .got = "<" + from_xml(node->name) + "> with " + children_of(node),
                    .where = impl.document->name + ", " + Impl::line(node)});
  xmlNodeSetContent(node, nullptr);
  xmlNodeAddContent(node, to_xml(text));  // unlike xmlNodeSetContent, takes & and < as they are
}

int XMLReader::count(const std::string& xpath) const {
  const XPathResult result = opened(impl_, xpath).evaluate(xpath);
  if (!result.is_nodes())
    throw XMLError({.what = "XMLReader::count(\"" + xpath + "\")",
                    .expected = "a path",
                    .got = "an expression that selects no nodes",
                    .where = impl_->here()});
  return result.size();
}

int XMLReader::line(const std::string& xpath) const {
  return static_cast<int>(xmlGetLineNo(opened(impl_, xpath).one_element(xpath)));
}

void XMLReader::print(std::ostream& os) const {
  if (impl_ == nullptr) return;
  impl_->print(os, Impl::element_of(impl_->node));
  os << '\n';
}

void XMLReader::printCurrentContext(std::ostream& os) const {
  if (impl_ == nullptr) return;
  if (!impl_->derived) return impl_->print(os, xmlDocGetRootElement(impl_->document->doc));
  for (xmlNodePtr child = impl_->node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    impl_->print(os, child);
    os << '\n';
  }
}

void XMLReader::registerNamespace(const std::string& prefix, const std::string& uri) {
  Impl& impl = opened(impl_, prefix + ":");
  impl.namespaces.emplace_back(prefix, uri);
  if (xmlXPathRegisterNs(impl.context.pointer, to_xml(prefix), to_xml(uri)) != 0)
    throw XMLError(
        {.what = "registerNamespace", .got = "\"" + prefix + "\" = \"" + uri + "\"", .where = impl.document->name});
}

void read(XMLReader& xml, const std::string& xpath, std::string& value) { xml.get(xpath, value); }

void read(XMLReader& xml, const std::string& xpath, char& value) {
  std::string text;
  xml.get(xpath, text);
  if (text.empty()) throw XMLError({.what = "XPath \"" + xpath + "\"", .expected = "a character", .got = "no text"});
  value = text[0];
}

namespace xml {

bool is_balanced(const std::string& text) {
  const std::string wrapped = "<t>" + text + "</t>";
  xmlDocPtr doc = xmlReadMemory(wrapped.data(), static_cast<int>(wrapped.size()), nullptr, nullptr,
                                XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlFreeDoc(doc);
  return doc != nullptr;
}

}  // namespace xml

template void XMLReader::get(const std::string&, bool&) const;
template void XMLReader::get(const std::string&, int&) const;
template void XMLReader::get(const std::string&, unsigned&) const;
template void XMLReader::get(const std::string&, long&) const;
template void XMLReader::get(const std::string&, unsigned long&) const;
template void XMLReader::get(const std::string&, float&) const;
template void XMLReader::get(const std::string&, double&) const;

}  // namespace QDP
