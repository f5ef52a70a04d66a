// XML documents: what every element says as text, number, list and flag, and the document written and read again.

#include "qdp/io/xml_containers.hpp"
#include "qdp/io/xml_reader.hpp"
#include "qdp/io/xml_writer.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <sstream>

using namespace QDP;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  fuzz::accepted([&] {
    XMLReader xml(text);
    const int elements = std::min(xml.count("//*"), 50);
    for (int i = 1; i <= elements; ++i) {
      const std::string path = "(//*)[" + std::to_string(i) + "]";
      fuzz::accepted([&] {
        int x = 0;
        xml.get(path, x);
      });
      fuzz::accepted([&] {
        double x = 0;
        xml.get(path, x);
      });
      fuzz::accepted([&] {
        bool x = false;
        xml.get(path, x);
      });
      fuzz::accepted([&] {
        std::string x;
        xml.get(path, x);
      });
      fuzz::accepted([&] {
        multi1d<int> x;
        read(xml, path, x);
      });
      fuzz::accepted([&] {
        multi1d<double> x;
        read(xml, path, x);
      });
      fuzz::accepted([&] { xml.line(path); });
    }
    std::ostringstream out;
    xml.print(out);
    std::istringstream again(out.str());
    XMLReader copy(again);  // what is written can be read
    if (copy.count("//*") != xml.count("//*")) fuzz::fail("the document written has other elements");
  });
  return 0;
}
