// XML readers and writers: formats, round trips, paths, and the message of every wrong use.
#include "qdp/io/xml.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "jit/support/file.hpp"
#include "jit/support/log.hpp"
#include "qdp/io/map_obj.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;

namespace {

std::string read_file(const std::string& path) {
  return tests::together([&] { return jit::read_file(path); });
}

XMLReader parse(const std::string& text) {
  std::istringstream is(text);
  return XMLReader(is);
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const XMLError& e) {
    return e;
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Without white space, which libxml2 puts in where a document has none.
std::string squeezed(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

/// What write() puts between the tags.
template <class T>
std::string written(const T& x) {
  XMLBufferWriter xml;
  push(xml, "r");
  write(xml, "a", x);
  pop(xml);
  const std::string text = xml.printCurrentContext();
  const std::size_t begin = text.find("<a>") + 3;
  return text.substr(begin, text.find("</a>") - begin);
}

/// Read twice: the second time what is there already gives way.
template <class T>
T round_trip(const T& x) {
  XMLBufferWriter buffer;
  push(buffer, "r");
  write(buffer, "a", x);
  pop(buffer);
  XMLReader xml(buffer);
  T back{};
  for (int times = 0; times < 2; ++times) read(xml, "/r/a", back);
  return back;
}

}  // namespace

// A structure of a program, with overloads in its own namespace, as Chroma has many.
namespace program {

struct Source {
  std::string kind;
  multi1d<int> origin;
  bool operator==(const Source&) const = default;
};

void read(XMLReader& xml, const std::string& path, Source& s) {
  XMLReader top(xml, path);
  read(top, "kind", s.kind);
  read(top, "origin", s.origin);
}

void write(XMLWriter& xml, const std::string& tag, const Source& s) {
  push(xml, tag);
  write(xml, "kind", s.kind);
  write(xml, "origin", s.origin);
  pop(xml);
}

}  // namespace program

TEST_CASE("numbers: 7 digits for float, 15 for double, words for bool") {
  CHECK(written(3) == "3");
  CHECK(written(-3L) == "-3");
  CHECK(written(18446744073709551615ul) == "18446744073709551615");
  CHECK(written(1.0f / 3) == "0.3333333");
  CHECK(written(1.0 / 3) == "0.333333333333333");
  CHECK(written(0.1f) == "0.1");
  CHECK(written(1e-12) == "1e-12");
  CHECK(written(-8710.03760712626) == "-8710.03760712626");
  CHECK(written(123456789012345678.0) == "1.23456789012346e+17");
  CHECK(written(true) == "true");
  CHECK(written(false) == "false");
  CHECK(written('c') == "c");
  CHECK(written("text") == "text");
}

TEST_CASE("every simple type survives a round trip") {
  CHECK(round_trip(-5) == -5);
  CHECK(round_trip(4000000000u) == 4000000000u);
  CHECK(round_trip<short>(-300) == -300);
  CHECK(round_trip<unsigned short>(60000) == 60000);
  CHECK(round_trip(-1L << 60) == -1L << 60);
  CHECK(round_trip(18446744073709551615ul) == 18446744073709551615ul);
  CHECK(round_trip(-5LL) == -5LL);
  CHECK(round_trip(0.1f) == 0.1f);
  CHECK(round_trip(0.1) == 0.1);
  CHECK(round_trip(true) == true);
  CHECK(round_trip(false) == false);
  CHECK(round_trip('x') == 'x');
  CHECK(round_trip(std::string("two words")) == "two words");
  CHECK(round_trip(std::string()) == "");
  CHECK(std::isnan(round_trip(std::nan(""))));
  CHECK(std::isinf(round_trip(std::numeric_limits<double>::infinity())));
}

TEST_CASE("text with markup characters is escaped, text that is XML is passed through") {
  CHECK(written(std::string("a < b && c")) == "a &lt; b &amp;&amp; c");
  CHECK(round_trip(std::string("a < b && c > d")) == "a < b && c > d");
  CHECK(round_trip(std::string("</a>")) == "</a>");
  XMLBufferWriter buffer;
  push(buffer, "r");
  write(buffer, "Input", std::string("<n>4</n>"));
  buffer << std::string("<m>5</m>");
  pop(buffer);
  XMLReader xml(buffer);
  int n = 0, m = 0;
  read(xml, "/r/Input/n", n);
  read(xml, "/r/m", m);
  CHECK(n == 4);
  CHECK(m == 5);
}

TEST_CASE("the document has QDP++'s layout") {
  XMLBufferWriter xml;
  push(xml, "root");
  write(xml, "n", 1);
  push(xml, "group");
  multi1d<int> nrow(4);
  nrow = 4;
  write(xml, "nrow", nrow);
  pop(xml);
  pop(xml);
  CHECK(xml.printCurrentContext() == "\n<root>\n  <n>1</n>\n  <group>\n    <nrow>4 4 4 4</nrow>\n  </group>\n</root>");
  CHECK(xml.str() ==
        "<?xml version=\"1.0\"?>\n\n\n<root>\n  <n>1</n>\n  <group>\n    <nrow>4 4 4 4</nrow>\n  </group>\n</root>\n");
}

TEST_CASE("a reader of the whole document") {
  XMLReader xml = parse("<?xml version=\"1.0\"?>\n<!-- first -->\n<r><a>1</a></r>");
  XMLReader inner(xml, "a");
  for (const XMLReader* of : {&xml, &inner}) {
    XMLReader document(*of, "/");
    CHECK(document.is_derived());
    CHECK(document.count("r") == 1);
    CHECK(document.count("a") == 0);
    int a = 0;
    read(document, "r/a", a);
    CHECK(a == 1);
    XMLReader root(document, "r");
    CHECK(root.count("a") == 1);
    std::ostringstream whole, context, of_root;
    document.print(whole);
    document.printCurrentContext(context);
    root.print(of_root);
    CHECK(whole.str() == of_root.str());
    CHECK(context.str() == of_root.str());
    CHECK(contains(of_root.str(), "<a>1</a>"));
    CHECK_FALSE(contains(whole.str(), "<?xml"));
    CHECK(contains(error_of([&] { read(document, "s", a); }), "<r> at line 3"));
    CHECK(contains(error_of([&] { read(document, "/", a); }), "expected one element"));
  }
}

TEST_CASE("what is read is printed with indents of its own, as QDP++ does") {
  XMLReader first = parse("<first/>");  // that of a process keeps its blanks
  XMLReader xml = parse("<a>\n <fred> <d>1 2</d>\n\n<e> </e></fred></a>");
  XMLReader fred(xml, "/a/fred");
  std::ostringstream out;
  fred.print(out);
  CHECK(out.str() == "<fred>\n      <d>1 2</d>\n      <e> </e>\n    </fred>\n");
  std::string blank;
  read(fred, "e", blank);
  CHECK(blank == " ");
}

TEST_CASE("attributes, prefixes and empty tags") {
  XMLBufferWriter buffer;
  XMLWriterAPI::AttributeList attributes;
  attributes.push_back(XMLWriterAPI::Attribute("row", 2));
  attributes.push_back(XMLWriterAPI::Attribute("name", "a\"b<"));
  attributes.push_back(XMLWriterAPI::Attribute("xmlns", "q", "http://example.org/q"));
  buffer.openTag("r", attributes);
  buffer.openTag("q", "inner");
  buffer << 7;
  buffer.closeTag();
  buffer.emptyTag("nothing");
  buffer.closeTag();
  XMLReader xml(buffer);
  int row = 0;
  std::string name;
  xml.getAttribute("/r", "row", row);
  xml.getAttribute("/r", "name", name);
  CHECK(row == 2);
  CHECK(name == "a\"b<");
  CHECK(xml.count("nothing") == 1);
  xml.registerNamespace("p", "http://example.org/q");
  int inner = 0;
  read(xml, "/r/p:inner", inner);
  CHECK(inner == 7);
  XMLReader derived(xml, "/r");
  CHECK(derived.count("p:inner") == 1);
  CHECK(contains(error_of([&] { xml.getAttribute("/r", "col", row); }),
                 "expected attribute col, got the attributes row, name"));
  CHECK(contains(error_of([&] { xml.getAttribute("/r", "name", row); }), "an integer (int)"));
}

TEST_CASE("paths: absolute, relative to the root, relative to a derived reader, by position") {
  XMLReader xml = parse("<Params><a><b>1</b><b>2</b></a><elem>x</elem><elem>y</elem></Params>");
  int n = 0;
  read(xml, "/Params/a/b[2]", n);
  CHECK(n == 2);
  read(xml, "a/b[1]", n);
  CHECK(n == 1);
  XMLReader top(xml, "/Params/a");
  CHECK(top.is_derived());
  CHECK_FALSE(xml.is_derived());
  read(top, "./b[2]", n);
  CHECK(n == 2);
  read(top, "b[1]", n);
  CHECK(n == 1);
  read(top, "/Params/a/b[2]", n);
  CHECK(n == 2);
  read(top, "../a/b[1]", n);
  CHECK(n == 1);
  XMLReader b(top, "b[2]");
  read(b, ".", n);
  CHECK(n == 2);
  CHECK(top.count("b") == 2);
  CHECK(top.count("./c") == 0);
  CHECK(xml.count("/Params/elem") == 2);
  CHECK(xml.count("//b") == 2);
}

TEST_CASE("a derived reader outlives its parent") {
  auto xml = std::make_unique<XMLReader>(parse("<r><a>3</a></r>"));
  XMLReader top(*xml, "/r");
  xml.reset();
  int n = 0;
  read(top, "a", n);
  CHECK(n == 3);
  top.close();
  CHECK_FALSE(top.is_open());
  CHECK(contains(error_of([&] { read(top, "a", n); }), "open first"));
  CHECK(contains(error_of([&] { XMLReader again(top, "a"); }), "closed"));
}

TEST_CASE("booleans accept true false yes no, numbers accept signs and exponents") {
  XMLReader xml =
      parse("<r><t>true</t><f> false </f><y>yes</y><n>no</n><p>+3</p><e>1.5e-3</e><d>5.</d><tiny>1e-400</tiny></r>");
  bool b = false;
  read(xml, "t", b);
  CHECK(b);
  read(xml, "f", b);
  CHECK_FALSE(b);
  read(xml, "y", b);
  CHECK(b);
  read(xml, "n", b);
  CHECK_FALSE(b);
  int n = 0;
  read(xml, "p", n);
  CHECK(n == 3);
  double x = 0;
  read(xml, "e", x);
  CHECK(x == 1.5e-3);
  read(xml, "d", x);
  CHECK(x == 5);
  read(xml, "tiny", x);
  CHECK(x == 0);
}

TEST_CASE("a value of the wrong type throws, naming path, line, type and text, and leaves the variable alone") {
  XMLReader xml = parse(
      "<r>\n<n>four</n>\n<x>1.5</x>\n<two>1 2</two>\n<big>3000000000</big>\n<neg>-1</neg>\n<b>maybe</b>\n<e></e>\n<huge>1e400</huge></r>");
  int n = 42;
  const std::string e = error_of([&] { read(xml, "/r/n", n); });
  CHECK(contains(e, "\"/r/n\""));
  CHECK(contains(e, "an integer (int)"));
  CHECK(contains(e, "\"four\""));
  CHECK(contains(e, "line 2"));
  CHECK(n == 42);
  CHECK(contains(error_of([&] { read(xml, "x", n); }), "\"1.5\""));
  CHECK(contains(error_of([&] { read(xml, "two", n); }), "\"1 2\""));
  CHECK(contains(error_of([&] { read(xml, "big", n); }), "3000000000"));
  CHECK(contains(error_of([&] { read(xml, "e", n); }), "got \"\""));
  unsigned u = 0;
  CHECK(contains(error_of([&] { read(xml, "neg", u); }), "unsigned int"));
  bool b = false;
  CHECK(contains(error_of([&] { read(xml, "b", b); }), "true or false"));
  double x = 0;
  CHECK(contains(error_of([&] { read(xml, "huge", x); }), "double"));
}

TEST_CASE("a missing path throws and tells what is there") {
  XMLReader xml = parse(
      "<Params>\n <Cfg>\n  <cfg_type>DISORDERED</cfg_type>\n  <cfg_file>x</cfg_file>\n </Cfg>\n <e>1</e><e>2</e>\n</Params>");
  std::string s;
  const std::string e = error_of([&] { read(xml, "/Params/Cfg/type", s); });
  CHECK(contains(e, "\"/Params/Cfg/type\""));
  CHECK(contains(e, "expected one element, got none"));
  CHECK(contains(e, "\"/Params/Cfg\" at line 2 has the children cfg_type, cfg_file"));
  CHECK(contains(error_of([&] { read(xml, "/hmc/x", s); }), "<Params>"));
  CHECK(contains(error_of([&] { read(xml, "e", s); }), "got 2"));
  CHECK(contains(error_of([&] { read(xml, "Cfg", s); }), "expected text"));
  CHECK(contains(error_of([&] { XMLReader top(xml, "Cfg/None"); }), "cfg_type, cfg_file"));
  CHECK(contains(error_of([&] { XMLReader top(xml, "e"); }), "got 2"));
  CHECK(contains(error_of([&] { xml.count("a[["); }), "XPath"));
  CHECK(contains(error_of([&] { read(xml, "", s); }), "XPath"));
  CHECK(contains(error_of([&] { xml.count("1 + 1"); }), "selects no nodes"));
}

TEST_CASE("errors are caught as std::string, as jit::UserError and as std::exception") {
  XMLReader xml = parse("<r/>");
  int n = 0;
  bool caught = false;
  try {
    read(xml, "/r/none", n);
  } catch (const std::string& e) {
    caught = contains(e, "/r/none");
  }
  CHECK(caught);
  CHECK_THROWS_AS(read(xml, "/r/none", n), jit::UserError);
  try {
    read(xml, "/r/none", n);
  } catch (const std::exception& e) {
    CHECK(contains(e.what(), "/r/none"));
  }
}

TEST_CASE("XML that does not parse names the file and line") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("broken.xml");
  jit::write_atomically(path, "<?xml version=\"1.0\"?>\n<a>\n  <b>\n</a>\n");
  const std::string e = error_of([&] { XMLReader xml(path); });
  CHECK(contains(e, path + ":4"));
  CHECK(contains(e, "well-formed"));
  tests::once([&] { std::filesystem::remove(path); });
  CHECK(contains(error_of([&] { XMLReader xml(path); }), path));
  CHECK(contains(error_of([] { parse(""); }), "no text"));
  CHECK(contains(error_of([] { parse("plain words"); }), "well-formed"));
  CHECK(contains(error_of([] { parse("<a></a><b></b>"); }), "well-formed"));
  CHECK(contains(error_of([] { parse("\n\n<a>\n<b></a>"); }), ":4"));
}

TEST_CASE("an XML file cannot pull in another file") {
  const tests::TemporaryFolder folder;
  const std::string secret = folder.file("secret");
  jit::write_atomically(secret, "secret words");
  XMLReader xml = parse("<!DOCTYPE r [<!ENTITY x SYSTEM \"file://" + secret + "\">]><r><a>&x;</a></r>");
  std::string text;
  read(xml, "/r/a", text);
  CHECK_FALSE(contains(text, "secret words"));
}

TEST_CASE("arrays of numbers are words, of anything else elem children") {
  multi1d<int> n(3);
  n[0] = 4, n[1] = -5, n[2] = 6;
  CHECK(written(n) == "4 -5 6");
  CHECK(round_trip(n) == n);
  CHECK(round_trip(multi1d<int>()).size() == 0);

  multi1d<double> x(2);
  x[0] = 1.0 / 3, x[1] = 2;
  CHECK(written(x) == "0.333333333333333 2");
  multi1d<bool> b(3);
  b[1] = true;
  CHECK(written(b) == "0 1 0");  // as QDP++
  CHECK(round_trip(b) == b);

  multi1d<std::string> s(2);
  s[0] = "one", s[1] = "two words";
  CHECK(contains(written(s), "<elem>two words</elem>"));
  CHECK(round_trip(s) == s);

  multi1d<multi1d<int>> rows(2);
  rows[0] = n;
  rows[1].resize(1);
  CHECK(round_trip(rows)[0] == n);
  CHECK(round_trip(rows)[1].size() == 1);

  multi2d<double> table(2, 3);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i) table(j, i) = j + 0.25 * i;
  const multi2d<double> back = round_trip(table);
  CHECK(back.size2() == 2);
  CHECK(back(1, 2) == 1.5);

  CHECK(round_trip(std::vector<int>{1, 2}) == std::vector<int>{1, 2});
  CHECK(round_trip(std::vector<bool>{true, false}) == std::vector<bool>{true, false});
  CHECK(round_trip(std::vector<std::string>{"a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(round_trip(std::list<float>{1.5f, 2}) == std::list<float>{1.5f, 2});
  CHECK(round_trip(std::list<std::string>{"a"}) == std::list<std::string>{"a"});
  CHECK(round_trip(std::map<std::string, int>{{"a", 1}, {"b", 2}}) == std::map<std::string, int>{{"a", 1}, {"b", 2}});
  CHECK(round_trip(std::pair<int, std::string>{1, "x"}) == std::pair<int, std::string>{1, "x"});
  CHECK(round_trip(std::complex<double>(1, -2)) == std::complex<double>(1, -2));
  CHECK(contains(written(std::complex<double>(1, -2)), "<im>-2</im>"));
  const std::vector<std::vector<int>> nested{{1}, {2, 3}};
  CHECK(round_trip(nested) == nested);
  Array1dO<int> one_based(2);
  one_based[2] = 8;
  CHECK(round_trip(one_based)[2] == 8);
}

TEST_CASE("lists may spread over lines; a wrong word is named") {
  XMLReader xml = parse("<r><nrow>\n 4 4\n\t4 8 </nrow><bad>1 2 three</bad><flags>true no 1</flags></r>");
  multi1d<int> nrow;
  read(xml, "nrow", nrow);
  CHECK(nrow.size() == 4);
  CHECK(nrow[3] == 8);
  CHECK(contains(error_of([&] { read(xml, "bad", nrow); }), "\"three\""));
  CHECK(nrow.size() == 4);
  multi1d<bool> flags;
  read(xml, "flags", flags);
  CHECK(flags[0]);
  CHECK_FALSE(flags[1]);
  CHECK(flags[2]);
}

TEST_CASE("structures of a program work through their own overloads, alone and in arrays") {
  program::Source s{"POINT", multi1d<int>(2)};
  s.origin[1] = 3;
  CHECK(round_trip(s) == s);
  multi1d<program::Source> many(2);
  many[0] = s;
  CHECK(round_trip(many) == many);
  CHECK(round_trip(std::vector<program::Source>{s, s}).size() == 2);
  CHECK(round_trip(std::map<int, program::Source>{{3, s}}).at(3) == s);
  XMLReader xml = parse("<r><many><elem><kind>A</kind><origin>1</origin></elem><elem><kind>B</kind></elem></many></r>");
  CHECK(contains(error_of([&] { read(xml, "/r/many", many); }), "\"origin\""));
}

TEST_CASE("readers and buffers embed in writers") {
  XMLReader input = parse("<Params><n>1</n><m>2</m></Params>");
  XMLBufferWriter inner;
  push(inner, "Inner");
  write(inner, "x", 5);
  pop(inner);
  XMLBufferWriter out;
  push(out, "hmc");
  write(out, "Input", input);
  XMLReader params(input, "/Params");
  write(out, "Children", params);
  write(out, "Header", inner);
  out << inner;
  pop(out);
  CHECK(contains(squeezed(out.printCurrentContext()), "<Input><Params><n>1</n><m>2</m></Params></Input>"));
  XMLReader xml(out);
  int n = 0;
  read(xml, "/hmc/Input/Params/n", n);
  CHECK(n == 1);
  read(xml, "/hmc/Children/m", n);
  CHECK(n == 2);
  read(xml, "/hmc/Header/Inner/x", n);
  CHECK(n == 5);
  read(xml, "/hmc/Inner/x", n);
  CHECK(n == 5);
}

TEST_CASE("print gives the element, printCurrentContext the root or the children") {
  XMLReader xml = parse("<r><a><b>1</b><c/></a></r>");
  XMLReader top(xml, "/r/a");
  std::ostringstream whole, element, root, children;
  xml.print(whole);
  top.print(element);
  xml.printCurrentContext(root);
  top.printCurrentContext(children);
  CHECK(squeezed(whole.str()) == "<r><a><b>1</b><c/></a></r>");
  CHECK(squeezed(element.str()) == "<a><b>1</b><c/></a>");
  CHECK(squeezed(root.str()) == "<r><a><b>1</b><c/></a></r>");
  CHECK(children.str() == "<b>1</b>\n<c/>\n");
  // A printed group is read again, as Chroma does with parameter groups.
  XMLReader again = parse(element.str());
  int b = 0;
  read(again, "/a/b", b);
  CHECK(b == 1);
}

TEST_CASE("set replaces a value for all readers of the document") {
  XMLReader xml = parse("<r><n>1</n><s>old</s><g><x/></g></r>");
  XMLReader top(xml, "/r");
  top.set("n", 5);
  top.set("s", std::string("a < b & c"));
  int n = 0;
  std::string s;
  read(xml, "/r/n", n);
  read(xml, "/r/s", s);
  CHECK(n == 5);
  CHECK(s == "a < b & c");
  CHECK(contains(error_of([&] { xml.set("none", 1); }), "got none"));
  CHECK(contains(error_of([&] { xml.set("g", 1); }), "an element with text"));
}

TEST_CASE("a writer refuses what would not be XML") {
  XMLBufferWriter xml;
  CHECK(contains(error_of([&] { xml << 1; }), "push a root"));
  CHECK(contains(error_of([&] { pop(xml); }), "push and pop"));
  push(xml, "r");
  pop(xml);
  CHECK(contains(error_of([&] { push(xml, "second"); }), "one root"));
  CHECK(contains(error_of([&] { push(xml, ""); }), "root"));
}

TEST_CASE("a file writer is readable while it runs and complete after close") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("out.xml");
  XMLFileWriter xml(path);
  CHECK(xml.is_open());
  push(xml, "log");
  write(xml, "n", 1);
  xml.flush();
  CHECK(read_file(path) == "<?xml version=\"1.0\"?>\n\n\n<log>\n  <n>1</n>");
  pop(xml);
  xml.close();
  CHECK_FALSE(xml.is_open());
  // As QDP++ leaves it: without a line end.
  CHECK(read_file(path) == "<?xml version=\"1.0\"?>\n\n\n<log>\n  <n>1</n>\n</log>");
  CHECK(contains(error_of([&] { push(xml, "x"); }), "open"));
  int n = 0;
  XMLReader back(path);
  read(back, "/log/n", n);
  CHECK(n == 1);
  {
    XMLFileWriter again;
    again.open(path, false);
    push(again, "log");
    push(again, "left_open");
    jit::configure_log("error");  // the warning about the open tags is expected
  }
  jit::configure_log("warn");
  CHECK(read_file(path) == "\n<log>\n  <left_open>\n  </left_open>\n</log>");
  tests::once([&] { std::filesystem::remove(path); });
  CHECK(contains(error_of([] { XMLFileWriter none("/no/such/folder/x.xml"); }), "/no/such/folder/x.xml"));
}

TEST_CASE("a full disk is an error, not a short file") {
  if (!std::filesystem::exists("/dev/full")) return;
  XMLFileWriter xml("/dev/full");
  push(xml, "r");
  write(xml, "n", 1);
  xml.flush();
  CHECK(xml.fail());
  pop(xml);
  CHECK(contains(error_of([&] { xml.close(); }), "not complete"));
}

TEST_CASE("XMLArrayWriter makes elem children and nests") {
  XMLBufferWriter xml;
  push(xml, "r");
  {
    XMLArrayWriter array(xml, 2);
    CHECK(array.size() == 2);
    push(array, "Mesons");
    for (int i = 0; i < 2; ++i) {
      push(array);
      write(array, "gamma", i);
      XMLArrayWriter momenta(array, 1);
      push(momenta, "momenta");
      push(momenta);
      write(momenta, "p", 10 * i);
      pop(momenta);
      pop(momenta);
      pop(array);
    }
    pop(array);
  }
  pop(xml);
  CHECK(
      xml.printCurrentContext() ==
      "\n<r>\n  <Mesons>\n    <elem>\n      <gamma>0</gamma>\n      <momenta>\n        <elem>\n          <p>0</p>\n        </elem>"
      "\n      </momenta>\n    </elem>\n    <elem>\n      <gamma>1</gamma>\n      <momenta>\n        <elem>\n          <p>10</p>"
      "\n        </elem>\n      </momenta>\n    </elem>\n  </Mesons>\n</r>");
}

TEST_CASE("XMLArrayWriter wants as many elements as announced") {
  XMLBufferWriter xml;
  push(xml, "r");
  XMLArrayWriter array(xml, 2);
  push(array, "A");
  push(array);
  pop(array);
  CHECK(contains(error_of([&] { pop(array); }), "expected 2 elements, got 1"));
  // Each array that it writes has as many.
  XMLArrayWriter twice(xml, 1);
  for (const char* name : {"C", "D"}) {
    push(twice, name);
    push(twice);
    pop(twice);
    pop(twice);
  }
  XMLArrayWriter other(xml);
  CHECK(contains(error_of([&] { pop(other); }), "an open array"));
  {
    XMLArrayWriter left_open(xml);
    push(left_open, "B");
    push(left_open);
  }
  pop(xml);
  CHECK(XMLReader(xml).count("/r/B/elem") == 1);
}

TEST_CASE("MapObjectMemory finds keys by their binary form and goes to XML and back") {
  MapObjectMemory<multi1d<int>, std::string> map;
  multi1d<int> key(2);
  map.insert(key, "zero");
  key[1] = 1;
  map.insert(key, "one");
  map.insert(key, "uno");
  CHECK(map.size() == 2);
  std::string value;
  CHECK(map.get(key, value) == 0);
  CHECK(value == "uno");
  CHECK(map[key] == "uno");
  key[0] = 5;
  CHECK_FALSE(map.exist(key));
  CHECK(map.get(key, value) == 1);
  CHECK(value == "uno");
  CHECK_THROWS_AS(map[key], jit::UserError);
  CHECK(round_trip(map).size() == 2);
  std::vector<multi1d<int>> keys;
  std::vector<std::string> values;
  map.keysAndValues(keys, values);
  CHECK(keys.size() == 2);
  map.erase(keys[0]);
  CHECK(map.size() == 1);
  map.insertUserdata("about");
  CHECK(map.getUserdata(value) == 0);
  CHECK(value == "about");
  int seen = 0;
  for (auto i = map.begin(); i != map.end(); ++i) seen += i->second.empty() ? 0 : 1;
  CHECK(seen == 1);

  MapObjectNull<int, int> nothing;
  CHECK(nothing.insert(1, 2) == 1);
  CHECK_FALSE(nothing.exist(1));
  CHECK(nothing.size() == 0);
}

TEST_CASE("MapObjectMemory has what a map has, whatever was inserted, replaced, erased and cleared before") {
  MapObjectMemory<multi1d<int>, double> map;
  std::map<std::vector<int>, double> expected;
  const auto array = [](const std::vector<int>& v) {
    multi1d<int> a(static_cast<int>(v.size()));
    for (int i = 0; i < a.size(); ++i) a[i] = v[static_cast<std::size_t>(i)];
    return a;
  };
  const auto vector = [](const multi1d<int>& a) { return std::vector<int>(a.begin(), a.end()); };
  const auto check = [&](const MapObjectMemory<multi1d<int>, double>& m) {
    REQUIRE(m.size() == expected.size());
    std::map<std::vector<int>, double> seen, listed;
    for (const auto& [key, value] : m) seen[vector(key)] = value;
    CHECK(seen == expected);
    std::vector<multi1d<int>> keys(3), same_keys(1);
    std::vector<double> values(5);
    m.keys(keys);
    m.keysAndValues(same_keys, values);
    REQUIRE(keys.size() == expected.size());
    REQUIRE(same_keys.size() == expected.size());
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      CHECK(expected.contains(vector(keys[i])));
      listed[vector(same_keys[i])] = values[i];
    }
    CHECK(listed == expected);
  };
  unsigned state = 1;
  const auto random = [&state](int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 16) % static_cast<unsigned>(n));
  };
  for (int step = 0; step < 400; ++step) {
    std::vector<int> key(static_cast<std::size_t>(random(3)));
    for (int& k : key) k = random(3);
    switch (random(step % 100 == 99 ? 5 : 4)) {
      case 0:
        map.erase(array(key));
        expected.erase(key);
        break;
      case 4:
        map.clear();
        expected.clear();
        break;
      case 1:
        if (map.exist(array(key))) map[array(key)] = expected[key] = step;
        break;
      default:
        CHECK(map.insert(array(key), 0.5 * step) == 0);
        expected[key] = 0.5 * step;
    }
    CHECK(map.exist(array(key)) == expected.contains(key));
    double value = -1;
    CHECK(map.get(array(key), value) == (expected.contains(key) ? 0 : 1));
    CHECK(value == (expected.contains(key) ? expected[key] : -1));
    if (step % 50 == 0) check(map);
  }
  map.insert(array({7}), 1.5);
  expected[{7}] = 1.5;
  check(map);
  check(round_trip(map));
  MapObjectMemory<multi1d<int>, double> copied;
  CHECK(copied.insert(map.begin(), map.end()) == 0);
  CHECK(copied.insert({array({7}), 2.5}) == 0);
  expected[{7}] = 2.5;
  check(copied);
  CHECK(map[array({7})] == 1.5);
}

TEST_CASE("a writer or reader of XML that is opened again is like a new one") {
  const tests::TemporaryFolder folder;
  const std::string first = folder.file("first.xml"), second = folder.file("second.xml"),
                    fresh = folder.file("new.xml");
  const auto fill = [](XMLWriter& xml) {
    push(xml, "b");
    write(xml, "two", 2);
    push(xml, "inner");
    pop(xml);
    pop(xml);
  };
  {
    XMLFileWriter like_this(fresh);
    fill(like_this);
    XMLFileWriter file(first);
    push(file, "a");
    push(file, "open");
    write(file, "one", 1);
    jit::configure_log("error");  // the warning about the open tags is expected
    file.open(second);
    jit::configure_log("warn");
    fill(file);
  }
  CHECK(read_file(second) == read_file(fresh));
  XMLReader of_first(first);
  int n = 0;
  read(of_first, "/a/open/one", n);
  CHECK(n == 1);

  XMLBufferWriter like_this, buffer;
  fill(like_this);
  push(buffer, "a");
  write(buffer, "one", 1);
  buffer.open("");
  fill(buffer);
  CHECK(buffer.str() == like_this.str());

  XMLReader reader(of_first, "/a/open");
  read(reader, "one", n);
  reader.open(second);
  CHECK(reader.count("/a") == 0);
  CHECK(reader.count("one") == 0);
  read(reader, "/b/two", n);
  CHECK(n == 2);
  std::ostringstream again, anew;
  reader.print(again);
  XMLReader(second).print(anew);
  CHECK(again.str() == anew.str());
  CHECK(contains(error_of([&] { reader.open(folder.file("none.xml")); }), "none.xml"));
  CHECK_FALSE(reader.is_open());
}
