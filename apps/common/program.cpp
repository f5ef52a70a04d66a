#include "apps/common/program.hpp"

#include "lib/io/program_info.hpp"

#include "qdp/init/about.hpp"

#include <exception>

namespace common {

void create_layout(const std::vector<int>& lattice) {
  QDP::multi1d<int> nrow(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) nrow[mu] = lattice.at(static_cast<std::size_t>(mu));
  QDP::Layout::setLattSize(nrow);
  QDP::Layout::create();
}

void print_header() { QDP::QDPIO::cout << QDP::describe(QDP::about_program()) << std::endl; }

Document::Document(const std::string& file, const std::string& root, const qcd::Input& input) : xml(file) {
  QDP::push(xml, root);
  QDP::push(xml, "Input");
  xml.writeXML("\n" + input.xml() + "\n");
  QDP::pop(xml);
  qcd::write_program_info(xml);
}

void Document::close() {
  QDP::pop(xml);
  xml.close();
}

int run_program(const std::string& name, int& argc, char**& argv, const std::function<int()>& body) {
  int status = 1;
  try {
    QDP::QDP_initialize(&argc, &argv);
    status = body();
  } catch (const std::exception& error) {
    QDP::QDPIO::cerr << name << ": " << error.what() << std::endl;
  } catch (const std::string& error) {  // what QDP++ readers throw
    QDP::QDPIO::cerr << name << ": " << error << std::endl;
  }
  if (QDP::QDP_isInitialized()) QDP::QDP_finalize();
  return status;
}

}  // namespace common
