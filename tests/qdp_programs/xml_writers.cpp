// XML as one writes it: buffers in buffers, arrays element by element, attributes, prefixes, characters that need escaping.
#include "qdp.h"
using namespace QDP;

namespace {

void example_struct(XMLWriter& xml, int n) {
  push(xml, "inner");
  write(xml, "n", n);
  write(xml, "half", 0.5 * n);
  pop(xml);
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  XMLBufferWriter buffer;
  push(buffer, "numbers");
  write(buffer, "int", -3);
  write(buffer, "unsigned", 4000000000u);
  write(buffer, "short", (short)-12);
  write(buffer, "long", 123456789012L);
  write(buffer, "float", 0.1f);
  write(buffer, "double", 0.1);
  write(buffer, "tiny", 1.0e-300);
  write(buffer, "third", 1.0 / 3);
  write(buffer, "large", 123456789.0);
  write(buffer, "minus_zero", -0.0);
  write(buffer, "yes", true);
  write(buffer, "no", false);
  write(buffer, "char", 'x');
  write(buffer, "string", std::string("one \"two\" 'three', 4% of {five}\\ #6;"));
  write(buffer, "empty", "");
  write(buffer, "spaces", "  a  b ");
  write(buffer, "complex", std::complex<double>(1.5, -2));
  write(buffer, "Real", Real(2) / 3);
  write(buffer, "Complex", cmplx(Real(0.25), Real(-1e10)));
  write(buffer, "Boolean", Boolean(true));
  write(buffer, "Integer", Integer(-7));
  pop(buffer);
  QDPIO::cout << buffer.str() << std::endl;

  XMLBufferWriter types;
  push(types, "types");
  ColorVector v = zero;
  pokeColor(v, cmplx(Real(1), Real(2)), 1);
  write(types, "ColorVector", v);
  SpinVector s = zero;
  pokeSpin(s, Complex(-1), 3);
  write(types, "SpinVector", s);
  ColorMatrix m = 1.0;
  write(types, "ColorMatrix", m);
  multi1d<Complex> zs(2);
  zs[0] = 1;
  zs[1] = cmplx(Real(0), Real(1));
  write(types, "zs", zs);
  multi1d<std::string> words(3);
  words[0] = "a";
  words[2] = "b c";
  write(types, "words", words);
  multi1d<bool> flags(2);
  flags[0] = true;
  flags[1] = false;
  write(types, "flags", flags);
  multi1d<multi1d<int>> ragged(2);
  ragged[0].resize(2);
  ragged[0] = 1;
  write(types, "ragged", ragged);
  pop(types);

  XMLFileWriter file("out.xml");
  push(file, "document");
  XMLWriterAPI::AttributeList attributes;
  attributes.push_back(XMLWriterAPI::Attribute("name", std::string("value")));
  attributes.push_back(XMLWriterAPI::Attribute("n", 3));
  file.openTag("tagged", attributes);
  file.write(std::string("text"));
  file.closeTag();
  file.emptyTag("nothing", attributes);
  file.emptyTag("alone");
  file << buffer;
  write(file, "wrapped", types);
  XMLArrayWriter array(file, 3);
  push(array, "list");
  for (int i = 0; i < array.size(); ++i) {
    push(array);
    example_struct(array, i);
    pop(array);
  }
  pop(array);
  pop(file);
  file.flush();
  file.close();

  // What was written is read, and a reader goes into a writer.
  XMLReader in("out.xml");
  double third;
  std::string string, spaces;
  read(in, "/document/numbers/third", third);
  read(in, "/document/numbers/string", string);
  read(in, "/document/numbers/spaces", spaces);
  int n, attribute;
  read(in, "//list/elem[3]/inner/n", n);
  in.getAttribute("/document/tagged", "n", attribute);
  QDPIO::cout << (third == 1.0 / 3) << " [" << string << "] [" << spaces << "] " << n << attribute << std::endl;
  XMLReader part(in, "/document/list");
  XMLBufferWriter copy;
  push(copy, "copy");
  write(copy, "part", part);
  pop(copy);
  QDPIO::cout << copy.printCurrentContext() << std::endl;
  std::ostringstream printed;
  part.printCurrentContext(printed);
  QDPIO::cout << printed.str() << std::endl;

  QDP_finalize();
  return 0;
}
